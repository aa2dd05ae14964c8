package channel

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// What is allowed is taken (CHP-1).
func TestConfigurationsThatAreGood(t *testing.T) {
	for _, cfg := range []Config{
		{}, small, unordered, {ID: 63, Priority: 255},
		{Format: Format{32, 1, 2}, SendQueue: 2}, {Format: Format{16384, 1024, 64}, SendQueue: 32768},
		{Format: Format{Window: 32, Group: 64}, SendQueue: 32},
		{GiveUp: core.Second, First: 1 << 32}, {GiveUp: 3600 * core.Second}, {QueueBytes: 19}, {QueueBytes: 1 << 24},
		{SequenceBits: 2, Fresh: 1, Format: Format{2, 1, 2}}, {SequenceBits: 3, Format: Format{4, 1024, 4}}, {SequenceBits: 15, Format: Format{Window: 16384}},
	} {
		_, err := NewSender(cfg)
		check.Same(t, "error", err, nil)
		_, err = NewReceiver(cfg)
		check.Same(t, "error", err, nil)
	}
	check.Equal(t, "largest messages", []int{Format{}.MaxMessage(), small.MaxMessage(), Format{Window: 32}.MaxMessage()}, []int{65536, 16, 32768})
}

// A field that is 0 has its default.
func TestDefaults(t *testing.T) {
	got, err := Config{}.complete()
	check.Same(t, "error", err, nil)
	check.Equal(t, "configuration", got, Config{Format: Format{1024, 1024, 64}, SendQueue: 4096, GiveUp: 10 * core.Second, QueueBytes: 65536, SequenceBits: 16, Fresh: 128})
}

// What is not allowed is refused, and the error names the field (CHP-2).
func TestConfigurationsThatAreBad(t *testing.T) {
	for _, c := range []struct {
		field string
		Config
	}{
		{"ID", Config{ID: 64}}, {"Kind", Config{Kind: 3}}, {"Kind", Config{Kind: Unreliable}},
		{"Priority", Config{Priority: -1}}, {"Priority", Config{Priority: 256}},
		{"Window", Config{Format: Format{Window: 16}}}, {"Window", Config{Format: Format{Window: 32768}}}, {"Window", Config{Format: Format{Window: 100}}}, {"Window", Config{Format: Format{Window: -512}}},
		{"Data", Config{Format: Format{Data: -1}}}, {"Data", Config{Format: Format{Data: 1025}}},
		{"Group", Config{Format: Format{Group: 1}}}, {"Group", Config{Format: Format{Group: 65}}},
		{"SendQueue", Config{SendQueue: 63}}, {"SendQueue", Config{SendQueue: 32769}}, {"SendQueue", Config{Format: Format{Window: 32}, SendQueue: 31}},
		{"GiveUp", Config{GiveUp: core.Second - 1}}, {"GiveUp", Config{GiveUp: 3600*core.Second + 1}},
		{"First", Config{First: -1}}, {"First", Config{First: 1<<32 + 1}},
		{"QueueBytes", Config{QueueBytes: 10}}, {"QueueBytes", Config{QueueBytes: 1<<24 + 1}},
		{"SequenceBits", Config{SequenceBits: 1}}, {"SequenceBits", Config{SequenceBits: 17}},
		{"Window", Config{SequenceBits: 3, Format: Format{Window: 8}}}, {"Window", Config{SequenceBits: 3, Format: Format{Window: 1}}},
		{"Fresh", Config{Fresh: 127}}, {"Fresh", Config{SequenceBits: 8, Fresh: 129}}, {"Fresh", Config{SequenceBits: 8, Fresh: -1}},
	} {
		s, err := NewSender(c.Config)
		v, err2 := NewReceiver(c.Config)
		for _, err := range []error{err, err2} {
			if s != nil || v != nil || !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), "channel: "+c.field+" is ") {
				t.Errorf("%s: %v", c.field, err)
			}
		}
	}
}

// A Mux needs channels that fit each other and the packet layer (CHN-6).
func TestConfigurationsOfAMux(t *testing.T) {
	for _, c := range []struct {
		field string
		MuxConfig
	}{
		{"", MuxConfig{}},
		{"", MuxConfig{Channels: []Config{{}}, Received: 1}},
		{"", MuxConfig{MaxPacket: 1160}},
		{"", MuxConfig{Channels: []Config{{ID: 1}, {ID: 2, Kind: Unreliable}}}},
		{"", MuxConfig{Channels: []Config{{Format: Format{Window: 16384}}}, Received: 257}},
		{"", MuxConfig{Channels: []Config{{Format: Format{Window: 512}}}, Received: 505}},
		{"", MuxConfig{Channels: []Config{{Kind: Unreliable, QueueBytes: 65553}}, MaxPacket: 296960}},
		{"MaxPacket", MuxConfig{MaxPacket: 1159}}, {"MaxPacket", MuxConfig{MaxPacket: 296961}},
		{"ID", MuxConfig{Channels: []Config{{ID: 1}, {ID: 1}}}},
		{"Data", MuxConfig{Channels: []Config{{Format: Format{Data: 1025}}}}},
		{"SequenceBits", MuxConfig{Channels: []Config{{SequenceBits: 15}}}},
		{"Received", MuxConfig{Channels: []Config{{Format: Format{Window: 16384}}}, Received: 258}},
		{"Received", MuxConfig{Channels: []Config{{Format: Format{Window: 512}}}, Received: 506}},
		{"Received", MuxConfig{Channels: []Config{{}}, Received: -1}},
		{"QueueBytes", MuxConfig{Channels: []Config{{Kind: Unreliable, QueueBytes: 16389}}}},
	} {
		m, err := NewMux(c.MuxConfig)
		if c.field == "" {
			check.That(t, err == nil && m != nil, "it is good")
		} else if m != nil || !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), "channel: "+c.field+" is ") {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}
