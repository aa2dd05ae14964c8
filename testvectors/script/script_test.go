package script

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Every archive of traces can be read.
func TestArchives(t *testing.T) {
	groups, err := testvectors.Groups()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, g := range groups {
		text, err := testvectors.Traces.ReadFile("traces/" + g.Name + ".txtar")
		if err != nil {
			continue // a group of packets
		}
		list, err := Read(text)
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d scripts, %v", g.Name, len(list), err)
		}
		read++
	}
	if read != 25 {
		t.Errorf("%d archives, want 25", read)
	}
}

const head = "comment: c\nflags: f g\nsentences: S1\n"

func TestRead(t *testing.T) {
	got, err := Read([]byte("A comment.\n-- one --\n# note\n" + head + "level: recommended\n\n0 poll : S12\n# note\n\n-- two --\n" + head + "\n1 poll : S12\n"))
	want := []Script{
		{"one", "c", []string{"f", "g"}, []string{"S1"}, testvectors.Recommended, []string{"0 poll : S12"}},
		{"two", "c", []string{"f", "g"}, []string{"S1"}, "", []string{"1 poll : S12"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		head + "remark: x\n\n0 poll : S12\n": `"remark: x"`,
		head + "word\n\n0 poll : S12\n":      `"word"`,
		head:                                 "no comment",
		"comment: c\nsentences: S1\n\n0 poll : S12\n":      "no comment",
		strings.Replace(head, "flags: f g\n", "", 1) + "x": `unknown line`,
	} {
		if _, err := Read([]byte("-- one --\n" + text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSimulation(t *testing.T) {
	lines := []string{`with profile={"rate":0,"cap":17056,"burst":0,"acks_pay":false,"spacing_us":0,"resend_delay_us":0}`, "chunks 1 2", "delay 5ms", "read after 1s", "lose slices 2-3", "lose acks from 1ms until 2ms", ": 5ms ready 0", ": <1s read 0", ": 2-4 slices"}
	s, err := ParseSimulation(chunks.Sender, lines)
	if err != nil {
		t.Fatal(err)
	}
	want := &Simulation{
		Op: chunks.Sender, Config: s.Config, Chunks: []int{1, 2}, DelayUS: 5_000, ReadUS: 1_000_000, LoseSlices: Loss{From: 2, To: 3}, LoseAcks: Loss{FromUS: 1_000, UntilUS: 2_000},
		milestones: []string{"5ms ready 0", "<1s read 0", "2-4 slices"},
	}
	if diff := cmp.Diff(want, s, cmp.AllowUnexported(Simulation{}), cmp.Comparer(func(a, b *conform.Op) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	log := []string{"5000 ready 0", "999999 read 0"}
	for _, c := range []struct {
		log  []string
		sent int
		ok   bool
	}{{log, 3, true}, {log, 5, false}, {log[:1], 3, false}, {[]string{"5001 ready 0", "9 read 0"}, 3, false}, {[]string{"5000 ready 0", "1000000 read 0"}, 3, false}, {[]string{"5000 ready 1", "9 read 0"}, 3, false}} {
		if err := s.Check(c.log, c.sent); (err == nil) != c.ok {
			t.Errorf("%v, %d slices: %v", c.log, c.sent, err)
		}
	}
	for i, line := range map[int]string{0: "with first_chunk_id=1", 1: "chunks x", 2: "delay 0", 3: "read 1s", 4: "lose slices 10%", 5: "lose time from 1", 6: ": soon ready 0", 7: ": x", 8: "wait"} {
		changed := append([]string(nil), lines...)
		changed[i] = line
		if _, err := ParseSimulation(chunks.Sender, changed); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}

func TestFate(t *testing.T) {
	lost := func(l Loss) (list []int) {
		fate := l.Fate()
		for n := 1; n <= 10; n++ {
			if fate(n, int64(10*n)) {
				list = append(list, n)
			}
		}
		return list
	}
	for _, c := range []struct {
		loss Loss
		want []int
	}{{Loss{}, nil}, {Loss{From: 2, To: 3}, []int{2, 3}}, {Loss{FromUS: 95, UntilUS: 1000}, []int{10}}} {
		if diff := cmp.Diff(c.want, lost(c.loss)); diff != "" {
			t.Errorf("%+v: %s", c.loss, diff)
		}
	}
	if n := len(lost(Loss{Percent: 50, Seed: 1})); n < 2 || n > 8 {
		t.Errorf("half of 10 is %d", n)
	}
}
