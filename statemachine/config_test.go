package statemachine

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/acktimer"
)

// The parameters and their defaults (SND-21, RCV-20, RPX-1, RPR-1).
func TestConfigurations(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   SenderConfig
		field string // that the error names; empty: none
		want  core.Micros
	}{
		{"the default", SenderConfig{}, "", 10 * core.Second},
		{"the shortest time", SenderConfig{GiveUp: 1}, "", 1},
		{"the longest time", SenderConfig{GiveUp: 1 << 61}, "", 1 << 61},
		{"a longer one", SenderConfig{GiveUp: 1<<61 + 1}, "GiveUp", 0},
		{"a time below zero", SenderConfig{GiveUp: -1}, "GiveUp", 0},
		{"no scheduler", SenderConfig{Scheduler: nil}, "Scheduler", 0},
	} {
		for _, c.cfg.Kind = range kinds {
			if c.field != "Scheduler" {
				c.cfg.Scheduler = &inTurn{}
				r, err := NewReceiver(ReceiverConfig{Kind: c.cfg.Kind, GiveUp: c.cfg.GiveUp})
				checkConfig(t, c.name+", receiver", err, c.field)
				check.That(t, err != nil || r.giveUp == c.want && r.Deadline() == core.Never, "the receiver has the defaults")
				check.That(t, err != nil || r.Vars() == ReceiverVars{}, "it has no chunk")
			}
			s, err := NewSender(c.cfg)
			checkConfig(t, c.name+", sender", err, c.field)
			check.That(t, err != nil || s.giveUp == c.want && s.Deadline() == core.Never, "the sender has the defaults")
			check.That(t, err != nil || s.Vars() == SenderVars{}, "it has no chunk")
		}
	}
}

func checkConfig(t *testing.T, name string, err error, field string) {
	t.Helper()
	if field == "" && err != nil || field != "" && (!errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), field)) {
		t.Errorf("%s: %v, want an error about %q", name, err, field)
	}
}

// Whatever is called, its time counts for all that comes after, and a time before the
// last one counts as that (TIM-1).
func TestTimeDoesNotRunBackward(t *testing.T) {
	for name, call := range map[string]func(s *Sender){
		"submit": func(s *Sender) { _ = s.Submit(5*core.Second, nil) },
		"ack":    func(s *Sender) { s.HandleAck(5*core.Second, codec.Ack{}) },
		"poll":   func(s *Sender) { s.Poll(5 * core.Second) },
	} {
		s := newSender(codec.Named, 0, &inTurn{deadline: core.Never})
		call(s)
		_ = s.Submit(core.Second, []byte{1})
		check.Equal(t, name+": heard", s.heardAt, 5*core.Second)
		s.Poll(0)
		s.HandleAck(0, chunktest.Ack(0, "0"))
		check.Equal(t, name+": gives up", s.Deadline(), 5*core.Second+DefaultGiveUp)
	}
	for name, call := range map[string]func(r *Receiver){
		"slice": func(r *Receiver) { r.HandleSlice(5*core.Second, codec.Slice{}) },
		"read":  func(r *Receiver) { _, _ = r.Read(5*core.Second, nil) },
		"poll":  func(r *Receiver) { r.Poll(5 * core.Second) },
	} {
		r := newReceiver(codec.Named, 0)
		call(r)
		r.HandleSlice(core.Second, chunktest.Slice(0, 0, 3))
		check.Equal(t, name+": ack due", r.Deadline(), 5*core.Second)
		nextAck(t, r, 0)
		r.HandleSlice(0, chunktest.Slice(0, 1, 3))
		check.Equal(t, name+": next ack due", r.Deadline(), 5*core.Second+acktimer.Interval)
	}
}

func TestRatesOutsideTheirLimitsAreRefused(t *testing.T) {
	for rate, ok := range map[int64]bool{0: true, -1: false, MinRate - 1: false, MinRate: true, MaxRate: true, MaxRate + 1: false} {
		err := CheckRate("Rate", rate)
		checkConfig(t, "rate", err, map[bool]string{false: "Rate"}[ok])
	}
}

// The constants are the specification's (SPC-5, LIM-5).
func TestConstants(t *testing.T) {
	check.Same(t, "difference", tabletest.CheckConstants("../spec/protocol.json", map[string]int64{
		"ACK_INTERVAL": int64(acktimer.Interval), "ACK_EVERY": acktimer.Every, "DEFAULT_GIVE_UP": int64(DefaultGiveUp), "MAX_GIVE_UP": int64(MaxGiveUp),
	}), nil)
}
