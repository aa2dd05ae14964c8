package script

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
)

func TestNetworkScript(t *testing.T) {
	lines := []string{
		"with fragment_size=4", "send a 0/10ms/3 1,9", "send b 5ms/1ms/2 7", "delay 40ms", "jitter 5ms seed 3", "lose a 8% seed 22", "duplicate b 3-4", "end 2s",
		": a acked 2-3", ": b P6 1",
	}
	n, err := ParseNetwork(lines)
	if err != nil {
		t.Fatal(err)
	}
	want := &Network{
		Config: packets.EndpointConfig{FragmentSize: 4, MaxFragments: 16, FragmentAbove: 8},
		Sends:  [2][]Sending{{{0, 10_000, 3, []int{1, 9}}}, {{5_000, 1_000, 2, []int{7}}}},
		Carriage: Carriage{
			DelayUS: 40_000, JitterUS: 5_000, Seed: 3, EndUS: 2_000_000,
			Lose: [2]Loss{{Percent: 8, Seed: 22}}, Duplicate: [2]Loss{{}, {From: 3, To: 4}},
			names: [2]string{"a", "b"}, wanted: n.wanted,
		},
	}
	if diff := cmp.Diff(want, n, cmp.AllowUnexported(Carriage{}, wanted{})); diff != "" {
		t.Error(diff)
	}
	next := n.Jitter()
	for range 100 {
		if j := next(); j < 0 || j > 5_000 {
			t.Fatalf("%d", j)
		}
	}
	poll := []conform.Timed{{Event: packets.Poll{}}, {Event: packets.Receive{}}}
	steps := []conform.Step{
		packets.EndpointStep{Datagrams: []conform.Bytes{"\x00"}, Lost: []uint16{1}}, packets.EndpointStep{Acked: []uint16{1, 2}, Delivered: conform.Some(packets.Delivered{})},
	}
	for end, rows := range [][][]string{{{}, {}}, {{"P6"}, {}}} {
		if err := n.Check(end, steps, rows, poll); err != nil {
			t.Error(err)
		}
	}
	if err := n.Check(1, steps, [][]string{{"P6"}, {"P6"}}, poll); err == nil {
		t.Error("P6 twice passes")
	}
	if err := n.Check(0, steps[:1], [][]string{{}}, poll); err == nil {
		t.Error("no ack passes")
	}
	for i, line := range map[int]string{
		0: "with color=1", 1: "send c 0/1/2 3", 2: "send b 0 7", 3: "delay", 4: "jitter 5ms", 5: "lose a 8%", 6: "duplicate x 1", 7: "end soon", 8: ": a acked", 9: "wait 5",
	} {
		changed := append([]string(nil), lines...)
		changed[i] = line
		if _, err := ParseNetwork(changed); err == nil {
			t.Errorf("%q is read", line)
		}
	}
	if _, err := ParseNetwork(lines[:3]); err == nil {
		t.Error("a network without delay and end is read")
	}
}
