package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
)

// Trouble is what happens to a packet that does not simply arrive.
type Trouble uint8

// The troubles.
const (
	Lost    Trouble = iota
	Late            // it arrives later than it should
	Doubled         // it arrives in time, and once more as if it were late
	Outage          // it is lost, and all that goes out for a while after it
)

func (t Trouble) String() string { return [...]string{"lost", "late", "doubled", "outage"}[t] }

// Troubles tries every way to place troubles among the packets of a run: each packet
// arrives in time, but for a few that meet trouble. Whatever they were, the run must
// end within a bounded time after the last of them.
type Troubles[P any] struct {
	Delay  core.Micros // how long a packet takes
	Late   core.Micros // how much longer a late one takes
	Outage core.Micros // how long an outage lasts; there is one in a run at most
	Most   int         // troubles in a run
	Within core.Micros // from the last trouble, or the end of its outage, to the end

	// Run makes a world of new machines over this carrier and runs it. It returns
	// when all that had to happen has happened, or what is wrong.
	Run func(carry sim.Carrier[P]) (end core.Micros, err error)
	// Text returns a packet in words.
	Text func(from int, p P) string
}

// TroublesResult is what a search found.
type TroublesResult struct {
	Runs    int
	Slowest core.Micros // the longest time from the last trouble to the end
	Worst   string      // the troubles of that run
	Err     error       // nil if nothing is wrong
	Trace   string      // the run with a problem: what goes out, a line a packet
}

// String returns the figures in a line.
func (r *TroublesResult) String() string {
	return fmt.Sprintf("%d runs; the slowest ends after %d us: %s", r.Runs, r.Slowest, r.Worst)
}

// Search tries all ways, with no trouble first. It stops at the first problem.
func (x *Troubles[P]) Search() *TroublesResult {
	r := &TroublesResult{}
	for most := range x.Most + 1 {
		if x.try(r, troubles{}, -1, most); r.Err != nil {
			break
		}
	}
	return r
}

// troubles are those of a run, by the packet's place among those of both ends; what
// goes out in an outage is not counted.
type troubles map[int]Trouble

func (t troubles) String() string {
	var list []string
	for _, i := range slices.Sorted(maps.Keys(t)) {
		list = append(list, fmt.Sprintf("packet %d %v", i, t[i]))
	}
	return strings.Join(list, ", ")
}

// try runs with these troubles, of which the latest strikes the packet last, if they
// are as many as wanted; and else with one more, wherever it may strike.
func (x *Troubles[P]) try(result *TroublesResult, t troubles, last, more int) {
	r := run[P]{search: x, troubles: t}
	end, err := x.Run(r.carry)
	if more == 0 {
		result.Runs++
		x.judge(result, &r, end-r.over(last), err)
		return
	}
	for i := last + 1; i < len(r.sentAt) && result.Err == nil; i++ {
		for kind := Lost; kind <= Outage && result.Err == nil; kind++ {
			if kind == Outage && r.outUntil > 0 {
				continue
			}
			t[i] = kind
			x.try(result, t, i, more-1)
			delete(t, i)
		}
	}
}

// judge notes how a run ended.
func (x *Troubles[P]) judge(result *TroublesResult, r *run[P], took core.Micros, err error) {
	if err == nil && took > result.Slowest {
		result.Slowest, result.Worst = took, r.troubles.String()
	}
	if err == nil && took > x.Within {
		err = fmt.Errorf("%d us from the last trouble to the end, %d are allowed", took, x.Within)
	}
	if err == nil {
		return
	}
	again := run[P]{search: x, troubles: r.troubles, trace: &strings.Builder{}}
	_, _ = x.Run(again.carry)
	result.Err, result.Trace = err, again.trace.String()
}

// run is a run in which some packets meet trouble.
type run[P any] struct {
	search   *Troubles[P]
	troubles troubles
	sentAt   []core.Micros
	outUntil core.Micros
	trace    *strings.Builder // may be nil
}

// over returns when the trouble of a packet is over.
func (r *run[P]) over(packet int) core.Micros {
	switch {
	case packet < 0:
		return 0
	case r.troubles[packet] == Outage:
		return r.sentAt[packet] + r.search.Outage
	}
	return r.sentAt[packet]
}

// carry is a sim.Carrier of two ends.
func (r *run[P]) carry(now time.Duration, from int, p P, deliver func(at time.Duration, to int, p P)) {
	at := core.FromDuration(now)
	if at < r.outUntil {
		return
	}
	kind, struck := r.troubles[len(r.sentAt)]
	r.sentAt = append(r.sentAt, at)
	if !struck || kind == Doubled {
		deliver((at + r.search.Delay).Duration(), 1-from, p)
	}
	if struck && (kind == Late || kind == Doubled) {
		deliver((at + r.search.Delay + r.search.Late).Duration(), 1-from, p)
	}
	if struck && kind == Outage {
		r.outUntil = at + r.search.Outage
	}
	if r.trace != nil {
		r.note(at, from, p, kind, struck)
	}
}

func (r *run[P]) note(at core.Micros, from int, p P, kind Trouble, struck bool) {
	fate := ""
	if struck {
		fate = ": " + kind.String()
	}
	fmt.Fprintf(r.trace, "  %8d us  %s%s\n", at, r.search.Text(from, p), fate)
}
