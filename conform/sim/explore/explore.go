// Package explore visits every state that the machines of a protocol can reach
// together, breadth first, and checks each. It knows no protocol: a [World] says
// what can happen in a state and what must hold.
//
// The number of states must be finite. Sequence numbers that wrap make it so, and
// few packets in flight; what a machine keeps of times has to be folded into the few
// cases that its guards distinguish.
//
// A second engine, [Troubles], is for timers in their real time: it tries every way
// to place a few troubles among the packets of a run.
package explore

import (
	"errors"
	"fmt"
	"time"
)

// World is a protocol as the engine sees it. S is a state of the whole: the machines,
// the packets in flight, and what an observer of both ends has counted. It is copied
// by assignment, so a move must not write to what two copies share. M is a move, such
// as the arrival of the second packet in flight.
type World[S, M any] interface {
	// Start returns the first state.
	Start() S
	// Key returns the key of a state. States with one key must be the same in
	// everything that can make a difference.
	Key(s *S) Key
	// Options appends what can happen in a state to list.
	Options(s *S, list []Option[M]) []Option[M]
	// Apply makes a move. It returns what is wrong with the step, if anything is.
	Apply(s *S, m M) error
	// Check returns what is wrong with a state, if anything is.
	Check(s *S) error
	// Ended reports whether nothing more has to happen. A protocol that promises no
	// end returns true in every state.
	Ended(s *S) bool
	// Text returns a line about a move, for the trace that leads to a problem.
	Text(before, after *S, m M) string
	// Describe returns a line about a state.
	Describe(s *S) string
}

// Option is a move that is possible in a state.
type Option[M any] struct {
	Move M
	// Fair says that this happens sooner or later if nothing is lost any more.
	Fair bool
	// Benign is the rank of the move in a benign run, in which nothing goes wrong and
	// only moves of the lowest rank happen. 0: it does not happen there.
	Benign uint8
	// Idle says that this must change nothing.
	Idle bool
}

// Limits bound an exploration.
type Limits struct {
	States    int  // to reach more is a problem, so that a fault ends, too
	Livelocks bool // look for them; see Run
}

// Result is what an exploration found.
type Result struct {
	States      int
	Transitions int // moves made, those that change nothing among them
	Depth       int // moves to the state that is farthest from the start
	Took        time.Duration
	Err         error  // nil if nothing is wrong
	Trace       string // the shortest run that leads to the problem, a line a move
}

// String returns the figures in a line.
func (r *Result) String() string {
	return fmt.Sprintf("%d states, %d transitions, deepest %d, %.1f s", r.States, r.Transitions, r.Depth, r.Took.Seconds())
}

// Run visits everything, or stops at the first problem. Problems are what the world
// reports and, when all is visited:
//
//   - a stall: a state from which no end can be reached, with nothing lost any more;
//   - a livelock: a state from which a benign run can go on without end, though the
//     choices that it leaves open could lead to one.
func Run[S, M any](w World[S, M], limits Limits) *Result { return newExplorer(w, limits).run() }

// explorer keeps of each state what the way back and the way forward need: how it was
// reached, and where it leads. The states themselves are kept only until they are
// expanded.
type explorer[S, M any] struct {
	world  World[S, M]
	limits Limits

	index  map[Key]uint32 // states by their key, numbered as they were found
	from   []origin[M]    // how each was reached first
	ended  []bool
	edges  []edge   // where each leads
	starts []uint32 // where its edges start; one more than there are states

	transitions, depth int
	problem            *problem[M]
	next               []S // the states that are expanded next
	parent             uint32
	options            []Option[M]
	after              S // scratch

	same func(a, b *S) bool // if not nil, all states are kept and those with one key compared
	all  []S
}

type origin[M any] struct {
	parent uint32
	move   M
}

// problem is what is wrong, and where: in a state, or with a move from it.
type problem[M any] struct {
	err   error
	state uint32
	move  *M
}

func newExplorer[S, M any](w World[S, M], limits Limits) *explorer[S, M] {
	return &explorer[S, M]{world: w, limits: limits, index: map[Key]uint32{}}
}

func (e *explorer[S, M]) run() *Result {
	started := time.Now()
	e.visitAll()
	if e.problem == nil {
		e.findStalls()
	}
	r := &Result{States: len(e.from), Transitions: e.transitions, Depth: e.depth - 1, Took: time.Since(started)}
	if e.problem != nil {
		r.Err, r.Trace = e.problem.err, e.trace()
	}
	return r
}

func (e *explorer[S, M]) visitAll() {
	start := e.world.Start()
	var none M
	e.number(&start, e.world.Key(&start), none)
	for n := uint32(0); len(e.next) > 0 && e.problem == nil; e.depth++ {
		level := e.next
		e.next = nil
		for i := range level {
			e.parent = n
			if e.expand(&level[i]); e.problem != nil {
				return
			}
			n++
		}
	}
	e.starts = append(e.starts, uint32(len(e.edges)))
}

var errChanges = errors.New("this should change nothing")

// expand makes each move that is possible in a state.
func (e *explorer[S, M]) expand(s *S) {
	e.starts = append(e.starts, uint32(len(e.edges)))
	e.options = e.world.Options(s, e.options[:0])
	own, first := e.world.Key(s), firstRank(e.options)
	for i := range e.options {
		o := &e.options[i]
		e.after = *s
		err := e.world.Apply(&e.after, o.Move)
		e.transitions++
		key := e.world.Key(&e.after)
		if err == nil && o.Idle && key != own {
			err = errChanges
		}
		if err != nil {
			move := o.Move
			e.problem = &problem[M]{err, e.parent, &move}
			return
		}
		if !o.Idle {
			e.edges = append(e.edges, edgeTo(e.numberOf(&e.after, key, o.Move), o.Fair, o.Benign != 0 && o.Benign == first))
		}
		if e.problem != nil {
			return
		}
	}
}

// firstRank returns the lowest rank of a benign run; 0 if there is none.
func firstRank[M any](options []Option[M]) (first uint8) {
	for i := range options {
		if r := options[i].Benign; r != 0 && (first == 0 || r < first) {
			first = r
		}
	}
	return first
}

// numberOf returns a state's number; a new one gets the next.
func (e *explorer[S, M]) numberOf(s *S, key Key, m M) uint32 {
	n, known := e.index[key]
	if !known {
		return e.number(s, key, m)
	}
	if e.same != nil && !e.same(s, &e.all[n]) {
		e.problem = &problem[M]{fmt.Errorf("two states have the same key:\n%+v\n%+v", e.all[n], *s), e.parent, &m}
	}
	return n
}

// number gives a new state its number and checks it.
func (e *explorer[S, M]) number(s *S, key Key, m M) uint32 {
	n := uint32(len(e.from))
	e.index[key] = n
	e.from = append(e.from, origin[M]{e.parent, m})
	e.ended = append(e.ended, e.world.Ended(s))
	e.next = append(e.next, *s)
	if e.same != nil {
		e.all = append(e.all, *s)
	}
	if err := e.world.Check(s); err != nil {
		e.problem = &problem[M]{err: err, state: n}
	} else if int(n) >= e.limits.States {
		e.problem = &problem[M]{err: fmt.Errorf("more than %d states", e.limits.States), state: n}
	}
	return n
}
