package main

import (
	"time"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim/channel"
)

// scenarios are what is measured.
var scenarios = map[string]channel.Workload{
	"5 % loss":                             game(2048, netsim.Path{Loss: 5}),
	"5 % loss, window 512":                 game(512, netsim.Path{Loss: 5}),
	"20 % loss":                            game(2048, netsim.Path{Loss: 20}),
	"20 % loss, window 1024":               game(1024, netsim.Path{Loss: 20}),
	"half 2 ms late":                       game(2048, netsim.Path{Reorder: 50, ReorderDelay: 2 * time.Millisecond}),
	"half 10 ms late":                      game(2048, netsim.Path{Reorder: 50, ReorderDelay: 10 * time.Millisecond}),
	"half 30 ms late":                      game(2048, netsim.Path{Reorder: 50, ReorderDelay: 30 * time.Millisecond}),
	"half 10 ms late, 5 % loss":            game(2048, netsim.Path{Reorder: 50, ReorderDelay: 10 * time.Millisecond, Loss: 5}),
	"no loss":                              game(2048, netsim.Path{}),
	"one message a frame, 5 %":             sparse(netsim.Path{Loss: 5}),
	"5 % loss, read at frames, window 512": atFrames(game(512, netsim.Path{Loss: 5})),
}

func game(window int, path netsim.Path) channel.Workload {
	path.Delay = 50 * time.Millisecond
	return channel.Game(protocol.Unordered, window, path)
}

// sparse is one message every 50 ms.
func sparse(path netsim.Path) channel.Workload {
	w := game(512, path)
	w.PerFrame, w.Frames, w.Frame = 1, 400, 50*machine.Millisecond
	return w
}

func atFrames(w channel.Workload) channel.Workload {
	w.ReadAtFrames = true
	return w
}

// variation is a change of the protocol, and where to look at it.
type variation struct {
	name  string
	edits []edit
	where []string
}

// edit replaces a text that is once in a file of package channel.
type edit struct{ file, is, becomes string }

var lossyScenarios = []string{"5 % loss", "20 % loss", "20 % loss, window 1024"}

var late = []string{"half 2 ms late", "half 10 ms late", "half 30 ms late", "half 10 ms late, 5 % loss"}

var (
	patientHold = edit{"send.go", "ack-e.packet >= Overtaken && age >= s.path.Patience || age >= s.path.hold()",
		"age >= s.path.Patience && (ack-e.packet >= Overtaken || age >= s.path.hold())"}
	resentField = edit{"sender.go", "	backoff uint\n", "	backoff uint\n\tresent seq.Number\n"}
	resentNote  = edit{"send.go", "		e.due = false\n		s.marked--\n		s.stats.Resent++", "		e.due = false\n		s.resent = max(s.resent, n+1)\n		s.marked--\n		s.stats.Resent++"}
	earlyProbe  = edit{"send.go", "	wait := (s.path.hold() + 20*machine.Millisecond) << s.backoff",
		"	wait := (s.path.hold() + 20*machine.Millisecond) << s.backoff\n\tif s.backoff == 0 && s.resent > s.base {\n\t\twait = 20*machine.Millisecond\n\t}"}
	earlyProbeB = edit{"send.go", "	wait := (s.path.hold() + 20*machine.Millisecond) << s.backoff",
		"	wait := (s.path.hold() + 20*machine.Millisecond) << (max(s.backoff, 1) - 1)\n\tif s.backoff == 0 && s.resent > s.base {\n\t\twait = 20*machine.Millisecond\n\t}"}
	backoffLater = edit{"send.go", "	wait := (s.path.hold() + 20*machine.Millisecond) << s.backoff",
		"	wait := (s.path.hold() + 20*machine.Millisecond) << (max(s.backoff, 1) - 1)"}
)

var (
	markResets = edit{"send.go", "		s.setDue(n)\n\t}\n}\n\n// setDue", "		s.setDue(n)\n\t\ts.backoff = 0\n\t}\n}\n\n// setDue"}
	onlyResent = edit{"send.go", "	for n := s.base; n < s.sent; n++ {\n\t\te := s.entries.at(n)", "	for n := s.base; n < s.sent; n++ {\n\t\te := s.entries.at(n)\n\t\tif s.backoff == 0 && s.resent > s.base && !e.again {\n\t\t\tcontinue\n\t\t}"}
	againField = edit{"sender.go", "	gone   bool           // its", "	again bool\n\tgone   bool           // its"}
	againNote  = edit{"send.go", "		e.due = false\n\t\ts.marked--\n\t\ts.stats.Resent++", "		e.due = false\n\t\ts.resent = max(s.resent, n+1)\n\t\te.again = true\n\t\ts.marked--\n\t\ts.stats.Resent++"}
	overAgain  = edit{"send.go", "ack-e.packet >= Overtaken && age", "(ack-e.packet >= Overtaken || e.again && ack > e.packet) && age"}
)

var variations = []variation{
	{"status, reset, later, over again", []edit{resentField, againField, againNote, earlyProbeB, markResets, overAgain, noData}, where},
	{"status, reset, later, over 1", []edit{resentField, resentNote, earlyProbeB, markResets, over1, noData}, where},
	{"early only resent, reset, later", []edit{resentField, againField, againNote, earlyProbeB, markResets, onlyResent}, where},
}

var _ = []any{patientHold, backoffLater, late}

var where = []string{"20 % loss", "20 % loss, window 1024", "one message a frame, 5 %", "5 % loss, window 512", "half 10 ms late, 5 % loss"}
var over1 = edit{"config.go", "Overtaken = 2", "Overtaken = 1"}
var noData = edit{"send.go", "	for n := s.base; n < s.sent; n++ {\n\t\te := s.entries.at(n)", "	for n := s.base; n < s.sent && (s.backoff > 0 || s.resent <= s.base); n++ {\n\t\te := s.entries.at(n)"}
