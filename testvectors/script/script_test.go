package script

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
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
	if read != 20 {
		t.Errorf("%d archives, want 20", read)
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

func TestWords(t *testing.T) {
	var w words
	if diff := cmp.Diff([]int64{10_000_000 - 1, 3_600_000_000, 1_030_007}, []int64{w.time("10s-1"), w.time("1h"), w.time("1s+30ms+7")}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{1_000, 1_500, 2_000}, w.times("1_000/500/3")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 5}, w.ids("0-2,5")); diff != "" {
		t.Error(diff)
	}
	if got := w.bits("1*3.0.1"); got != "11101" || w.err != nil {
		t.Errorf("%s, %v", got, w.err)
	}
	for _, text := range []string{"", "x", "1m", "1s+"} {
		var w words
		if w.time(text); w.err == nil {
			t.Errorf("%q is a time", text)
		}
	}
}

func TestLinesThatNoScriptHas(t *testing.T) {
	for _, text := range []string{
		"0 poll", "poll : S12", "x poll : S12", "0 submit : S1", "0 submit x : S1", "0 ack 1 : S9", "0 slice 0 : R1", "0 slice 0 x/2 : R1",
		"0 poll 0- : S14", "0 poll : S14 #x", "0 poll : S14 @x", "0 poll : S14 x", "0 ack 0 1*x : S9",
	} {
		if _, err := ParseTrace([]string{text}); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	for _, with := range []string{"with color=red", "with first=x", "with give_up=x", "with profile=1,2", "with profile=1,2,3,4,5,x"} {
		if _, err := ParseTrace([]string{with}); err == nil {
			t.Errorf("%q is read", with)
		}
	}
}

// Whatever a script says of a step is compared.
func TestCheck(t *testing.T) {
	sender := []string{
		"with give_up=1s first=7",
		"0 submit 1025 : S1 =00 #7 @1s", "0 poll 0,1 : S14 0/2:1024 1 =00", "1 ack 7 10 : S9 =10 @1s+1", "2/1/3 poll 1 : S14 1,1,1", "9 ack 7 01 : S10 #8 @never",
	}
	receiver := []string{"0 slice 0 0/2 : R2 =10", "1 slice 0 1/2 9 fill=3 : R6", "1 poll : R25 0:11", "2 read : R16 chunk=1033"}
	for _, c := range []struct {
		lines    []string
		old, new string // what is changed to be wrong
	}{
		{sender, "", ""},
		{sender, "S1 =00", "S2 =00"}, {sender, "=00 #7", "=01 #7"}, {sender, "#7 @1s", "#8 @1s"}, {sender, "@1s+1", "@1s+2"},
		{sender, "0/2:1024", "0/2:1023"}, {sender, " 1 =00", " =00"}, {sender, "1,1,1", "1,1"}, {sender, "@never", "@5s"}, {sender, "S14 0/2:1024 1", "S14 1 0/2:1024"},
		{receiver, "", ""},
		{receiver, "=10", "=11"}, {receiver, "0:11", "1:11"}, {receiver, "0:11", "0:10"}, {receiver, " 0:11", ""}, {receiver, "chunk=1033", "chunk=1034"}, {receiver, " chunk=1033", ""},
	} {
		text := strings.Replace(strings.Join(c.lines, "\n"), c.old, c.new, 1)
		tr, err := ParseTrace(strings.Split(text, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		op, config := chunks.Receiver, any(tr.Receiver())
		if c.lines[0] == sender[0] {
			op, config = chunks.Sender, tr.Config
		}
		request := check.Must(json.Marshal(map[string]any{"config": config, "events": tr.Events}))
		var q conform.Object
		var a contract.TraceResponse
		if err := json.Unmarshal(request, &q); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(conform.Response(check.Must(op.Answer(q, op.Product))), &a); err != nil {
			t.Fatal(err)
		}
		if err := tr.Check(a.Steps); (err != nil) != (c.old != "") {
			t.Errorf("%q for %q: %v", c.new, c.old, err)
		}
	}
}

func TestConversation(t *testing.T) {
	lines := []string{
		"with first=3", "S 0 submit 5 : S1 #3", "S 0 poll 0 : S14 0", "R 1 slice 3 0/1 5 : R1", "R 1 poll : R25 3:1", "!R 2 slice 4 0/1 5 : R13", "S 3 ack 3 1 : S10",
	}
	s, r, err := ParseConversation(lines)
	if err != nil || len(s.Events) != 3 || len(r.Events) != 3 || s.Config.FirstChunkID != 3 || r.Receiver().FirstChunkID != 3 {
		t.Fatalf("%+v, %+v, %v", s, r, err)
	}
	for i, line := range map[int]string{3: "R 1 slice 3 1/2 5 : R2", 5: "R 2 slice 4 0/1 5 : R13", 6: "S 3 ack 3 11 : S10", 1: "T 0 submit 5 : S1"} {
		changed := append([]string(nil), lines...)
		changed[i] = line
		if _, _, err := ParseConversation(changed); err == nil {
			t.Errorf("%q is read", line)
		}
	}
}

func TestSimulation(t *testing.T) {
	lines := []string{"with profile=free", "chunks 1 2", "delay 5ms", "read after 1s", "lose slices 2-3", "lose acks from 1ms until 2ms", ": 5ms ready 0", ": <1s read 0", ": 2-4 slices"}
	s, err := ParseSimulation(lines)
	if err != nil {
		t.Fatal(err)
	}
	want := &Simulation{
		Config: s.Config, Chunks: []int{1, 2}, DelayUS: 5_000, ReadUS: 1_000_000, LoseSlices: Loss{From: 2, To: 3}, LoseAcks: Loss{FromUS: 1_000, UntilUS: 2_000},
		milestones: []string{"5ms ready 0", "<1s read 0", "2-4 slices"},
	}
	if diff := cmp.Diff(want, s, cmp.AllowUnexported(Simulation{})); diff != "" {
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
	for i, line := range map[int]string{0: "with first=1", 1: "chunks x", 2: "delay 0", 3: "read 1s", 4: "lose slices 10%", 5: "lose time from 1", 6: ": soon ready 0", 7: ": x", 8: "wait"} {
		changed := append([]string(nil), lines...)
		changed[i] = line
		if _, err := ParseSimulation(changed); err == nil {
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
