package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// scenarios are what is measured: the game's workload with a window of 2,048, unless its name
// says something else.
var scenarios = map[string]channel.Workload{
	"no loss":                   game(netsim.Path{}),
	"5 % loss":                  game(netsim.Path{Loss: 5}),
	"5 % loss, window 512":      window(512, game(netsim.Path{Loss: 5})),
	"5 % loss, read at frames":  window(512, atFrames(game(netsim.Path{Loss: 5}))),
	"20 % loss":                 game(netsim.Path{Loss: 20}),
	"20 % loss, window 1024":    window(1024, game(netsim.Path{Loss: 20})),
	"20 % loss, both ways":      bothWays(game(netsim.Path{Loss: 20})),
	"half 2 ms late":            game(late(50, 2)),
	"half 10 ms late":           game(late(50, 10)),
	"half 30 ms late":           game(late(50, 30)),
	"1 % 2 ms late":             game(late(1, 2)),
	"half 10 ms late, 5 % loss": game(lossy(5, late(50, 10))),
	"few, 5 % loss":             few(netsim.Path{Loss: 5}),
	"few, 20 % loss":            few(netsim.Path{Loss: 20}),
	"few, both ways, 20 % loss": bothWays(few(netsim.Path{Loss: 20})),
}

func game(path netsim.Path) channel.Workload {
	path.Delay = 50 * time.Millisecond
	return channel.Game(protocol.Unordered, 2048, path)
}

// few is one message every 50 ms.
func few(path netsim.Path) channel.Workload {
	w := game(path)
	w.PerFrame, w.Frames, w.Frame = 1, 400, 50*core.Millisecond
	return w
}

func window(size int, w channel.Workload) channel.Workload {
	w.Channel.Window = size
	return w
}

func atFrames(w channel.Workload) channel.Workload {
	w.ReadAtFrames = true
	return w
}

// bothWays lets the reader send a message a frame, too: packets in which a report can go.
func bothWays(w channel.Workload) channel.Workload {
	w.Back = 1
	return w
}

func late(percent float64, ms int) netsim.Path {
	return netsim.Path{Reorder: percent, ReorderDelay: time.Duration(ms) * time.Millisecond}
}

func lossy(percent float64, path netsim.Path) netsim.Path {
	path.Loss = percent
	return path
}

// variation is a change of the protocol, and where to look at it.
type variation struct {
	name  string
	edits []edit
	where []string
}

// edit replaces a text that is once in a file of package channel.
type edit struct{ file, is, becomes string }

// apply returns the files that a variation changes, by name.
func (v *variation) apply(dir string) (texts map[string]string, err error) {
	texts = map[string]string{}
	for _, e := range v.edits {
		text, ok := texts[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(dir, e.file))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.is); n != 1 {
			return nil, fmt.Errorf("%q is %d times in %s", e.is, n, e.file)
		}
		texts[e.file] = strings.Replace(text, e.is, e.becomes, 1)
	}
	return texts, nil
}

// constant gives a constant of config.go another value.
func constant(name, is, becomes string) edit {
	return edit{"config.go", "\t" + name + " = " + is + "\n", "\t" + name + " = " + becomes + "\n"}
}

var (
	losses = []string{"5 % loss", "20 % loss", "20 % loss, window 1024", "few, 5 % loss", "few, 20 % loss"}
	order  = []string{"1 % 2 ms late", "half 2 ms late", "half 10 ms late", "half 30 ms late", "half 10 ms late, 5 % loss"}
	all    = slices.Concat([]string{"no loss"}, losses, order)
	paced  = []string{"no loss", "5 % loss", "5 % loss, window 512", "5 % loss, read at frames", "20 % loss", "few, 5 % loss"}
	both   = []string{"20 % loss", "20 % loss, both ways", "few, both ways, 20 % loss"}
)

var variations = []variation{
	{"OVERTAKEN 1", []edit{constant("Overtaken", "2", "1")}, all},
	{"OVERTAKEN 3", []edit{constant("Overtaken", "2", "3")}, all},
	{"a resend is overtaken by OVERTAKEN, too", []edit{{"send.go", "by = 1 //", "by = Overtaken //"}}, losses},
	{"HOLD without patience", []edit{{
		"send.go", "age >= max(s.path.Patience, s.path.SRTT/2) && (ack-e.packet >= by || age >= s.path.hold())",
		"age >= max(s.path.Patience, s.path.SRTT/2) && ack-e.packet >= by || age >= s.path.hold()",
	}}, order},
	{"a mark does not wait for half a round trip", []edit{{"send.go", "age >= max(s.path.Patience, s.path.SRTT/2) &&", "age >= s.path.Patience &&"}}, all},
	{"no early probes", []edit{neverEarly}, losses},
	{"early probes with data", []edit{{"send.go", "if !s.probesEarly() {", "if true {"}}, losses},
	{"only progress ends backoff", []edit{onlyProgress}, losses},
	{"backoff from the first probe", []edit{{"send.go", "(max(s.backoff, 1) - 1)", "s.backoff"}}, losses},
	{"all of these as in the draft", []edit{
		neverEarly, onlyProgress, {"send.go", "by = 1 //", "by = Overtaken //"},
		{"send.go", "(max(s.backoff, 1) - 1)", "s.backoff"},
	}, losses},
	{"each report ends backoff", []edit{{"send.go", "if in.base > s.base || len(in.report.Groups) > 0 {", "if true {"}}, losses},
	{"probes without data", []edit{{"send.go", "if !s.probesEarly() {", "if false {"}}, losses},
	{"a report is overtaken by its base", []edit{{
		"sender.go", "case in.number <= s.heard:", "case s.space.UpTo(s.base+s.space.Size()/2, in.report.Sequence) < s.base:",
	}}, slices.Concat(order, []string{"20 % loss"})},
	{"SOON 1 ms", []edit{constant("ReportSpacing", "5 * machine.Millisecond", "1 * machine.Millisecond")}, paced},
	{"SOON 20 ms", []edit{constant("ReportSpacing", "5 * machine.Millisecond", "20 * machine.Millisecond")}, paced},
	{"REPORT_DELAY 5 ms", []edit{constant("ReportDelay", "20 * machine.Millisecond", "5 * machine.Millisecond")}, paced},
	{"REPORT_DELAY 50 ms", []edit{constant("ReportDelay", "20 * machine.Millisecond", "50 * machine.Millisecond")}, paced},
	{"REPORT_DELAY 100 ms", []edit{constant("ReportDelay", "20 * machine.Millisecond", "100 * machine.Millisecond")}, paced},
	{"reports repeat after srtt / 2", []edit{{"report.go", "max(v.path.SRTT, repeatLeast)", "max(v.path.SRTT/2, repeatLeast)"}}, both},
	{"reports do not repeat", []edit{{"report.go", "return v.lastReport + min(wait<<v.wait, v.path.longest())", "return v.lastReport + 1000*(min(wait<<v.wait, v.path.longest()))"}}, both},
	redundancy(1), redundancy(2), redundancy(3),
}

var onlyProgress = edit{"send.go", "if in.base > s.base || len(in.report.Groups) > 0 {", "if in.base > s.base {"}

var neverEarly = edit{"send.go", "return s.backoff == 0 && s.resent > s.base", "return false"}

// redundancy is how many copies of a report that names something go in the next packets that
// go out anyhow, which the draft of this protocol had.
func redundancy(copies int) variation {
	return variation{fmt.Sprint("REDUNDANCY ", copies), []edit{
		{"receiver.go", "	wait       uint\n", "	wait       uint\n	copies     int\n"},
		{"report.go", "	v.reportAt, v.lastReport = machine.Never, v.now\n", fmt.Sprintf("	v.reportAt, v.lastReport = machine.Never, v.now\n	if v.copies = 0; v.base < v.top {\n		v.copies = %d\n	}\n", copies)},
		{"compose.go", "	if len(m.payload) > len(dst) {\n		m.stats.Composed++", `	for _, c := range m.order {
		if v := c.receiver; len(m.payload) > len(dst) && v != nil && v.copies > 0 && v.lastReport < m.now && m.left >= reportSize {
			left, at, last := v.copies-1, v.reportAt, v.lastReport
			v.report(receiverInput{space: m.left})
			v.copies, v.reportAt, v.lastReport = left, at, last
			m.put(&v.out)
		}
	}
	if len(m.payload) > len(dst) {
		m.stats.Composed++`},
	}, both}
}
