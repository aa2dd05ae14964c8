package fuzz

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/testvectors"
)

// machine is a target that gives events to a machine of the contract, most of them near to how it
// stands; its clock goes back. The oracle says what it must do at each. At last an honest peer
// comes, and the machine falls silent, or it has given up.
//
// An input is a configuration and events as package conform encodes them.
type machine struct {
	name, checks string
	op           *conform.Op
	most         int                               // events
	judge        func(*run) conform.Judge          // of what the oracle does not say; nil: none
	leaves       func(*run, conform.Event) bool    // out some of the events; nil: none
	peer         func(*run) error                  // lets the honest peer come
	seeds        func([]testvectors.File) [][]byte // nil: the traces of the machine
}

// The most events of an input: some stand for many.
const (
	maxOps     = 400
	mostPlayed = 4 * maxOps
)

// target returns the target.
func (m machine) target() *Target {
	if m.seeds == nil {
		m.seeds = func(files []testvectors.File) [][]byte { return m.op.Seeds(testvectors.Requests(files)) }
	}
	return newTarget(m.name, m.checks, m.run, m.seeds)
}

func (m machine) run(t T, data []byte) {
	in := &conform.Input{Left: data}
	p := m.op.Pair(t, m.op.Configure(in))
	if p == nil {
		return
	}
	r := &run{Pair: p}
	judges := []conform.Judge{r}
	if m.judge != nil {
		judges = append(judges, m.judge(r))
	}
	judge(p, judges...)
	for at, e := range m.op.Play(in, p.Config, p.Oracle, m.most) {
		if m.leaves == nil || !m.leaves(r, e) {
			p.Do(at, e)
		}
	}
	if err := m.peer(r); err != nil {
		p.Fail("%v", err)
	}
}

// run is a machine beside its oracle, and the latest time of its events.
type run struct {
	*conform.Pair
	now int64
}

// Saw is the judge who keeps the time.
func (r *run) Saw(at int64, _ conform.Event, _ conform.Step) error {
	r.now = max(r.now, at)
	return nil
}

// do lets something happen at the latest time.
func (r *run) do(e conform.Event) conform.Step { return r.Do(r.now, e) }

// wait goes on to a time.
func (r *run) wait(until int64) { r.now = min(max(r.now, until), conform.MostTime) }

// judge sets the judges of a run, and one that logs each event of a run that is watched.
func judge(p *conform.Pair, list ...conform.Judge) {
	if p.Judges = list; verbose() {
		p.Judges = append(p.Judges, logged{p})
	}
}

// judged is a function that is a judge.
type judged func(e conform.Event, s conform.Step) error

func (f judged) Saw(_ int64, e conform.Event, s conform.Step) error { return f(e, s) }

// logged logs what happens.
type logged struct{ *conform.Pair }

func (l logged) Saw(at int64, e conform.Event, s conform.Step) error {
	text := ""
	var rows []string
	if r, is := l.Oracle.(conform.Rower); is {
		rows = r.Took()
	} else if s != nil {
		rows = l.Op.Words.Step(l.Config, s).Rows
	}
	for _, row := range rows {
		text += " Row:" + row
	}
	l.T.Logf("at %d,%s : %T%+v: %+v", at, text, e, e, s)
	return nil
}
