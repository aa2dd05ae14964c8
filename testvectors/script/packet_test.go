package script

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// plain is a codec without bits: a datagram is its fields as text.
var plain = Codec{
	Encode: func(d Datagram) []byte {
		return fmt.Appendf(nil, "%d %d/%d %d/%x %x", d.Sequence, d.ID, d.Count, d.Ack, d.AckBits, d.Data)
	},
	Describe: func(b []byte) string { return string(b) },
}

func TestContent(t *testing.T) {
	b := Content(3, 600)
	if b[0] != 22 || b[256] != byte(1+(256+31+21)%255) || bytes.IndexByte(b, 0) >= 0 {
		t.Errorf("%d, %d, %d", b[0], b[256], bytes.IndexByte(b, 0))
	}
}

// The events of a script of an endpoint.
func TestParseEndpoint(t *testing.T) {
	script, err := ParseEndpoint([]string{
		"with fragment_size=4 max_fragments=3 fragment_above=6 send=7 receive=9",
		"1ms send 3 : >7:65535/0",
		"2ms send pad : >8",
		"3/1/2 packet 65535-65536 2 ack=5 bits=1f : P6 =65535,0:2",
		"9 packet 4 pad : -",
		"10/5/2 fragment 6 0,2/3 1 ack=2 : P11",
		"20 bytes 0aff : P1 refused=truncated@3",
		"20 bytes - : P1 refused=truncated@0",
		"30 poll : L2 lost=1",
	}, plain)
	if err != nil {
		t.Fatal(err)
	}
	if want := (contract.EndpointConfig{FragmentSize: 4, MaxFragments: 3, FragmentAbove: 6, NextToSend: 7, NextToReceive: 9}); script.Config != want {
		t.Errorf("%+v", script.Config)
	}
	var got []string
	for _, e := range script.Events {
		what := ""
		if e.Payload != nil {
			what = *e.Payload
		}
		if e.Datagram != nil {
			b, err := hex.DecodeString(*e.Datagram)
			if err != nil {
				t.Fatal(err)
			}
			if what = string(b); e.At == 20 {
				what = *e.Datagram
			}
		}
		got = append(got, fmt.Sprintf("%d %s %s", e.At, e.Event, what))
	}
	whole := Content(6, 9)
	want := []string{
		fmt.Sprintf("1000 send %x", Content(0, 3)), "2000 send 00",
		fmt.Sprintf("3 receive 65535 0/0 5/1f %x", Content(65535, 2)), fmt.Sprintf("4 receive 0 0/0 5/1f %x", Content(0, 2)),
		"9 receive 4 0/0 65535/0 00",
		fmt.Sprintf("10 receive 6 0/3 2/0 %x", whole[:4]), fmt.Sprintf("15 receive 6 2/3 2/0 %x", whole[8:]),
		"20 receive 0aff", "20 receive ", "30 poll ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever a script says of a line is compared, and what it does not say must not come.
func TestCheckEndpoint(t *testing.T) {
	line := "0/1/2 send 1 : P6 L1 >5:1/3 >6 =7:2 =8 acked=2-0,9 lost=3"
	steps := []contract.EndpointStep{
		{Datagrams: []string{"353a312f33"}, Delivered: &contract.Delivered{Sequence: 7, Payload: "0102"}, Acked: []uint16{2, 1}, Lost: []uint16{3}}, // 5:1/3
		{Datagrams: []string{"363a392f39"}, Delivered: &contract.Delivered{Sequence: 8, Payload: "01"}, Acked: []uint16{0, 9}},                      // 6:9/9
	}
	rows := [][]string{{"P6", "L1", "L1"}, {"P6"}}
	check := func(line string, steps []contract.EndpointStep, rows [][]string) error {
		s, err := ParseEndpoint([]string{line}, plain)
		if err != nil {
			t.Fatal(err)
		}
		return s.Check(steps, rows)
	}
	if err := check(line, steps, rows); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ old, new string }{
		{"P6 L1", "P6"}, {"P6 L1", "L1 P6"}, {"P6 L1", "P6 L2"}, {">5:1/3", ">5:1/4"}, {">6", ">7"}, {" >6", ""}, {"=7:2", "=7:3"}, {"=8", "=9"}, {" =8", ""},
		{"2-0,9", "2-0"}, {"2-0,9", "0-2,9"}, {"lost=3", "lost=4"}, {" lost=3", ""}, {"lost=3", "lost=3 refused=stale"},
	} {
		if err := check(strings.Replace(line, c.old, c.new, 1), steps, rows); err == nil {
			t.Errorf("%q for %q passes", c.new, c.old)
		}
	}
	refused := []contract.EndpointStep{{Refused: &contract.Refused{Error: "stale", At: -1}}}
	for _, c := range []struct {
		want string
		ok   bool
	}{{"refused=stale", true}, {"refused=stale@0", false}, {"refused=dead", false}, {"", false}} {
		if err := check("0 poll : P2 "+c.want, refused, [][]string{{"P2"}}); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}

func TestEndpointLinesThatNoScriptHas(t *testing.T) {
	for _, text := range []string{
		"0 poll", "poll : -", "x poll : -", "0 send : -", "0 send x : -", "0 packet : -", "0 packet x : -", "0 packet 1 bits=xyz : -", "0 packet 1 size=2 : -",
		"0 fragment 1 : -", "0 fragment 1 0/x : -", "0 bytes 0 : -", "0 bytes xx : -", "0 poll : x", "0 poll : refused=stale@x", "0 poll : >x", "0 poll : acked=x", "with send=x", "with color=1",
	} {
		if _, err := ParseEndpoint([]string{text}, plain); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestCongestionScript(t *testing.T) {
	lines := []string{"with profile=default", "0/1/2 100ms : C6 C8 bad 4s", "9s none silent min=3 : C3 C3 C2 good 1s+1"}
	c, err := ParseCongestion(lines)
	if err != nil {
		t.Fatal(err)
	}
	srtt := int64(100_000)
	want := []contract.CongestionEvent{{At: 0, SRTT: &srtt}, {At: 1, SRTT: &srtt}, {At: 9_000_000, Silent: true, MinRTT: 3}}
	if diff := cmp.Diff(want, c.Events); diff != "" || c.Config.Profile != contract.ProfileDefault {
		t.Errorf("%s, %+v", diff, c.Config)
	}
	steps := []contract.CongestionStep{{Mode: "bad", Recovery: 4_000_000}, {Mode: "bad", Recovery: 4_000_000}, {Mode: "good", Recovery: 1_000_001}}
	rows := [][]string{{"C6"}, {"C8"}, {"C3", "C3", "C2"}}
	if err := c.Check(steps, rows); err != nil {
		t.Error(err)
	}
	for i, change := range []func(){
		func() { rows[2] = rows[2][1:] }, func() { rows[2] = []string{"C3", "C3", "C2"}; rows[0] = nil },
		func() { rows[0] = []string{"C6"}; steps[2].Mode = "bad" }, func() { steps[2].Mode = "good"; steps[1].Recovery = 1 },
	} {
		change()
		if err := c.Check(steps, rows); err == nil {
			t.Errorf("change %d passes", i)
		}
	}
	for _, line := range []string{"0 100ms", "0 : C6 bad 4s", "0 100ms : bad 4s", "0 100ms : X6 bad 4s", "0 100ms loud : C6 bad 4s", "0 fast : C6 bad 4s", "0 100ms : C6 bad soon", "with profile=best", "with limit=3"} {
		if _, err := ParseCongestion([]string{line}); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}

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
		Config: contract.EndpointConfig{FragmentSize: 4, MaxFragments: 16, FragmentAbove: 8},
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
	poll := []contract.EndpointEvent{{Event: contract.EventPoll}, {Event: contract.EventReceive}}
	steps := []contract.EndpointStep{{Datagrams: []string{"00"}, Lost: []uint16{1}}, {Acked: []uint16{1, 2}, Delivered: &contract.Delivered{}}}
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
