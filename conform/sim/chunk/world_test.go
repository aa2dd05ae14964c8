package chunk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

func newWorld(roundTrip core.Micros) *chunk.World {
	return check.Must(chunk.NewWorld(
		statemachine.SenderConfig{FirstChunkID: firstID, Scheduler: check.Must(base.New(base.Fixed(0)))},
		statemachine.ReceiverConfig{FirstChunkID: firstID}, roundTrip))
}

func TestAWorldTransfersAndReads(t *testing.T) {
	w := newWorld(20)
	w.ReadTime = 500
	took, err := w.Transfer(block(3000))
	check.Same(t, "error", err, nil)
	check.Equal(t, "time", took, 20)
	check.Equal(t, "read at once", len(w.Delivered), 0)
	w.Finish()
	check.Equal(t, "delivered", w.Delivered, [][]byte{block(3000)})
	check.Equal(t, "submitted", w.Submitted, w.Delivered)
	check.Equal(t, "read at", w.Now(), 10+500)

	_, err = w.Transfer(nil)
	check.Same(t, "error of an empty chunk", err, statemachine.ErrChunkSize)
	w.Carry = func(time.Duration, int, codec.Packet, func(time.Duration, int, codec.Packet)) {}
	_, err = w.Transfer(block(1))
	check.Same(t, "error without a network", err, statemachine.ErrGaveUp)
}

func TestAWorldRefusesABadConfiguration(t *testing.T) {
	_, err := chunk.NewWorld(statemachine.SenderConfig{}, statemachine.ReceiverConfig{}, 0)
	check.That(t, errors.Is(err, core.ErrConfig), "a sender needs a scheduler")
	_, err = chunk.NewWorld(statemachine.SenderConfig{Scheduler: check.Must(base.New(base.Burst()))}, statemachine.ReceiverConfig{GiveUp: -1}, 0)
	check.That(t, errors.Is(err, core.ErrConfig), "the time to give up is checked")
}

// A receiver that is replaced while its chunk waits takes the chunk with it.
func TestAnEndCanBeReplaced(t *testing.T) {
	w := newWorld(20)
	w.ReadTime = 500
	_, err := w.Transfer(block(3000))
	check.Same(t, "error", err, nil)
	w.Receiver = check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{}))
	w.Finish()
	check.Equal(t, "delivered", len(w.Delivered), 0)
}

// brokenSender and brokenReceiver are machines with a mistake.
type brokenSender struct {
	chunk.SenderMachine
	mistake string
}

func (s *brokenSender) Submit(now core.Micros, data []byte) error {
	if s.mistake == "refuses" {
		return statemachine.ErrBusy
	}
	return s.SenderMachine.Submit(now, data)
}

func (s *brokenSender) HandleAck(now core.Micros, a codec.Ack) bool {
	if s.mistake == "does not report" {
		a.Acked.Remove(0)
	}
	return s.SenderMachine.HandleAck(now, a)
}

func (s *brokenSender) Poll(now core.Micros) (codec.Slice, bool) {
	slice, ok := s.SenderMachine.Poll(now)
	if ok && s.mistake == "sends other bytes" {
		slice.Data = make([]byte, len(slice.Data))
	}
	return slice, ok
}

func (s *brokenSender) Deadline() core.Micros {
	if s.mistake == "has a past deadline" && s.Vars().Sent.Count() > 1 {
		return 0
	}
	return s.SenderMachine.Deadline()
}

func (s *brokenSender) Err() error {
	if s.mistake == "gives up" {
		return statemachine.ErrGaveUp
	}
	return s.SenderMachine.Err()
}

type brokenReceiver struct {
	chunk.ReceiverMachine
	mistake string
}

func (r *brokenReceiver) HandleSlice(now core.Micros, s codec.Slice) bool {
	if r.mistake == "does not answer" {
		return true
	}
	return r.ReceiverMachine.HandleSlice(now, s)
}

func (r *brokenReceiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	got, err := r.ReceiverMachine.Read(now, dst)
	if r.mistake == "delivers other bytes" {
		got[0]++
	}
	return got, err
}

func (r *brokenReceiver) Poll(now core.Micros) (codec.Ack, bool) {
	a, ok := r.ReceiverMachine.Poll(now)
	if r.mistake == "acks what it has not" && ok {
		a.NumSlices++
	}
	return a, ok
}

func (r *brokenReceiver) Err() error {
	if r.mistake == "gives up" {
		return statemachine.ErrGaveUp
	}
	return r.ReceiverMachine.Err()
}

// What a machine does wrong reaches its judge, and fails.
func TestJudgedMachines(t *testing.T) {
	for mistake, rule := range map[string]string{
		"":                              "",
		"sender refuses":                "the sender violates S1",
		"sender does not report":        "the sender violates ",
		"sender sends other bytes":      "the sender violates ",
		"sender has a past deadline":    "the sender violates SCH-3",
		"sender gives up":               "the sender violates SND-9",
		"receiver does not answer":      "the receiver violates ",
		"receiver delivers other bytes": "the receiver violates ",
		"receiver acks what it has not": "the receiver violates ",
		"receiver gives up":             "the receiver violates ",
	} {
		w := newWorld(20)
		end, what, _ := strings.Cut(mistake, " ")
		if end == "sender" {
			w.Sender = &brokenSender{w.Sender, what}
		} else {
			w.Receiver = &brokenReceiver{w.Receiver, what}
		}
		first := ""
		w.Judge(chunk.BasePace(base.Fixed(0)), func(format string, args ...any) {
			if first == "" {
				first = fmt.Sprintf(format, args...)
			}
			panic(first)
		})
		func() {
			defer func() { _ = recover() }()
			_, _ = w.Transfer(block(3000))
			w.Finish()
		}()
		if (first == "") != (rule == "") || !strings.HasPrefix(first, rule) {
			t.Errorf("%q: %q, want %q", mistake, first, rule)
		}
	}
}

// A run among troubles ends with what is wrong, if anything is.
func TestTroubledRuns(t *testing.T) {
	x := explore.Troubles[codec.Packet]{Delay: 25_000, Late: 120_000, Outage: 6_000_000, Most: 1, Within: core.Second, Text: chunk.Text}
	for _, c := range []struct {
		scheduler func() (statemachine.Scheduler, error)
		pace      chunk.Pace
		data      []byte
		want      string
	}{
		{func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }, chunk.BasePace(base.Fixed(0)), block(2000), ""},
		{func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }, chunk.BasePace(base.Fixed(0)), nil, "a chunk has 1 to 262144 bytes"},
		{func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }, chunk.BasePace(base.Profile{Spacing: 85}), block(2000), "the sender violates SPC-2"},
		{func() (statemachine.Scheduler, error) { return nil, errors.New("no scheduler") }, chunk.Pace{}, nil, "no scheduler"},
	} {
		x.Run = chunk.Troubled(codec.Named, c.scheduler, c.pace, 0, c.data)
		r := x.Search()
		if (r.Err == nil) != (c.want == "") || r.Err != nil && !strings.Contains(r.Err.Error(), c.want) {
			t.Errorf("%v, want %q\n%s", r.Err, c.want, r.Trace)
		}
	}
	x.Run, x.Within = chunk.Troubled(codec.Named, func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }, chunk.Pace{}, 0, block(1)), 1
	check.Equal(t, "trace", x.Search().Trace, "         0 us  sender -- slice 0/1 of chunk 0\n     25000 us  receiver -- ack of 1 of 1 slices of chunk 0\n")
}
