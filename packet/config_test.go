package packet

import (
	"errors"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

func TestConfigurationsThatAreGood(t *testing.T) {
	for _, cfg := range []Config{
		{}, fragmenting,
		{Format: Format{1, 2}, FragmentAbove: 1, ReassemblyBytes: 2},
		{Format: Format{1160, 256}, FragmentAbove: 1160},
		{Received: 64, SentMax: 256, Reassembly: 32, ReassemblyPackets: 32},
		{Received: 64}, {Received: 16384, SentMax: 16384, Reassembly: 8192},
		{Reassembly: 1, ReassemblyPackets: 1}, {Reassembly: 4},
		{NextToSend: 1 << 32, NextToReceive: 1 << 32, Profile: ProfileArticle},
		{SequenceBits: 5, Received: 4, SentMax: 4}, {SequenceBits: 5, Received: 8, SentMax: 8},
	} {
		_, err := NewEndpoint(cfg)
		check.Same(t, "error", err, nil)
	}
}

// A field that is 0 has its default, which follows from the others.
func TestDefaults(t *testing.T) {
	for _, c := range []struct{ set, want Config }{
		{Config{}, Config{Format: Format{1024, 16}, FragmentAbove: 1160, Received: 256, SentMax: 8192,
			Reassembly: 64, ReassemblyPackets: 8, ReassemblyBytes: 32768, SequenceBits: 16}},
		{Config{Format: Format{FragmentSize: 100}, Received: 64}, Config{Format: Format{100, 16}, FragmentAbove: 1160, Received: 64, SentMax: 8192,
			Reassembly: 32, ReassemblyPackets: 8, ReassemblyBytes: 3200, SequenceBits: 16}},
		{Config{Format: Format{MaxFragments: 2}, Reassembly: 4}, Config{Format: Format{1024, 2}, FragmentAbove: 1160, Received: 256, SentMax: 8192,
			Reassembly: 4, ReassemblyPackets: 4, ReassemblyBytes: 4096, SequenceBits: 16}},
	} {
		got, err := c.set.complete()
		check.Same(t, "error", err, nil)
		check.Equal(t, "configuration", got, c.want)
	}
}

// What is not allowed is refused, and the error names the field.
func TestConfigurationsThatAreBad(t *testing.T) {
	for _, c := range []struct {
		field string
		Config
	}{
		{"FragmentSize", Config{Format: Format{FragmentSize: -1}}},
		{"FragmentSize", Config{Format: Format{FragmentSize: 1161}}},
		{"MaxFragments", Config{Format: Format{MaxFragments: 1}}},
		{"MaxFragments", Config{Format: Format{MaxFragments: 257}}},
		{"FragmentAbove", Config{FragmentAbove: 1023}},
		{"FragmentAbove", Config{FragmentAbove: 1161}},
		{"Received", Config{Received: 32}}, {"Received", Config{Received: 32768}}, {"Received", Config{Received: 255}}, {"Received", Config{Received: -256}},
		{"SentMax", Config{SentMax: 128}}, {"SentMax", Config{SentMax: 32768}}, {"SentMax", Config{SentMax: 300}},
		{"Reassembly", Config{Reassembly: 256}}, {"Reassembly", Config{Reassembly: 3}}, {"Reassembly", Config{Reassembly: -1}},
		{"ReassemblyPackets", Config{ReassemblyPackets: 65}}, {"ReassemblyPackets", Config{ReassemblyPackets: -1}},
		{"ReassemblyBytes", Config{ReassemblyBytes: 16383}},
		{"NextToSend", Config{NextToSend: -1}}, {"NextToSend", Config{NextToSend: 1<<32 + 1}},
		{"NextToReceive", Config{NextToReceive: -1}}, {"NextToReceive", Config{NextToReceive: 1<<32 + 1}},
		{"Profile", Config{Profile: 2}},
		{"SequenceBits", Config{SequenceBits: 4, Received: 4, SentMax: 4}}, {"SequenceBits", Config{SequenceBits: 17}},
		{"Received", Config{SequenceBits: 5, Received: 16, SentMax: 4}}, {"SentMax", Config{SequenceBits: 5, Received: 4, SentMax: 2}},
	} {
		e, err := NewEndpoint(c.Config)
		if e != nil || !errors.Is(err, core.ErrConfig) || !strings.Contains(err.Error(), "packet: "+c.field+" is ") {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}
