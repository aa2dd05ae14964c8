package statemachine

import (
	"bytes"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/codec"
)

// explorer visits all states of a scenario, breadth first, and keeps of each
// what the way back and the way forward need: how it was reached, and where it
// leads. The states themselves are kept only while they are to be expanded.
type explorer struct {
	scenario scenario
	chunks   [][]byte
	rows     [lastRow + 1]bool // rows taken

	index  map[exKey]uint32 // states by their key, numbered as they were found
	from   []origin         // how each was reached first
	kinds  []stateKind
	edges  []edge   // where each leads
	starts []uint32 // where its edges start; one more than there are states

	transitions int // edges, and moves that change nothing
	depth       int
	took        time.Duration
	problem     *problem

	// Scratch.
	sched   *anyScheduler
	options []option
	before  exState
	pages   []*[codec.SliceSize]byte // every content that a slice has had, once
	scratch [codec.SliceSize]byte
	level   []exState // the states that are expanded next
	parent  uint32

	keep map[uint32]exState // all states, if not nil
}

type origin struct {
	parent uint32
	move   exMove
}

// stateKind tells what is expected of a state.
type stateKind uint8

const (
	underWay stateKind = iota
	ended              // all is delivered and reported; or an end has failed, and neither waits
)

// edge is the number of the state that it leads to, and two bits.
type edge uint32

const (
	fairEdge edge = 1 << 31
	calmEdge edge = 1 << 30
	edgeTo        = calmEdge - 1
)

// problem is what is wrong, and where.
type problem struct {
	what   string
	parent uint32 // the state in which it shows, or before which
	move   *exMove
}

func newExplorer(sc scenario) *explorer {
	e := &explorer{scenario: sc, index: map[exKey]uint32{}, sched: &anyScheduler{}}
	for i, size := range sc.sizes {
		e.chunks = append(e.chunks, chunkOf(size, uint32(i+1)))
	}
	return e
}

// explore visits everything, or stops at the first problem.
func explore(sc scenario) *explorer {
	e := newExplorer(sc)
	started := time.Now()
	e.visitAll()
	if e.problem == nil {
		e.findStalls()
	}
	e.took = time.Since(started)
	return e
}

func (e *explorer) visitAll() {
	var start exState
	e.newSender(&start)
	e.newReceiver(&start)
	e.found(&start, e.key(&start), exMove{})
	for n := uint32(0); len(e.level) > 0; e.depth++ {
		level := e.level
		e.level = nil
		for i := range level {
			e.parent = n
			e.expand(&level[i])
			n++
			if e.problem != nil {
				return
			}
		}
	}
	e.starts = append(e.starts, uint32(len(e.edges)))
}

// expand makes each move that is possible in a state.
func (e *explorer) expand(st *exState) {
	e.starts = append(e.starts, uint32(len(e.edges)))
	e.findOptions(st)
	first := e.firstCalm()
	own := e.key(st)
	for _, o := range e.options {
		next := *st
		if what := e.apply(&next, o.move); what != "" {
			e.problem = &problem{what, e.parent, &o.move}
			return
		}
		e.transitions++
		key := e.key(&next)
		if o.move.kind < pokeSubmitNothing {
			e.edges = append(e.edges, edgeOf(e.numberOf(&next, key, o.move), o, first))
		} else if key != own {
			e.problem = &problem{"this should change nothing", e.parent, &o.move}
		}
		if e.problem != nil {
			return
		}
	}
}

// numberOf returns a state's number; if it is new it gets one.
func (e *explorer) numberOf(st *exState, key exKey, m exMove) uint32 {
	n, known := e.index[key]
	if !known {
		return e.found(st, key, m)
	}
	if e.keep != nil {
		e.compare(st, n, m)
	}
	return n
}

func edgeOf(to uint32, o option, firstCalm uint8) edge {
	ed := edge(to)
	if o.fair {
		ed |= fairEdge
	}
	if o.calm != 0 && o.calm == firstCalm {
		ed |= calmEdge
	}
	return ed
}

// firstCalm returns what is done first in calm weather.
func (e *explorer) firstCalm() (first uint8) {
	for _, o := range e.options {
		if o.calm != 0 && (first == 0 || o.calm < first) {
			first = o.calm
		}
	}
	return first
}

// found numbers a new state and checks it.
func (e *explorer) found(st *exState, key exKey, m exMove) uint32 {
	n := uint32(len(e.from))
	e.index[key] = n
	e.from = append(e.from, origin{e.parent, m})
	e.kinds = append(e.kinds, e.kindOf(st))
	e.level = append(e.level, *st)
	if e.keep != nil {
		e.keep[n] = *st
	}
	if what := e.checkState(st); what != "" {
		e.problem = &problem{what: what, parent: n}
	} else if int(n) >= e.scenario.limit {
		e.problem = &problem{what: fmt.Sprintf("more than %d states", e.scenario.limit), parent: n}
	}
	return n
}

// kindOf: a connection has ended when all is delivered and reported, or when an
// end has failed and the other waits for nothing.
func (e *explorer) kindOf(st *exState) stateKind {
	s, r, n := &st.sender, &st.receiver, len(e.chunks)
	failed := s.state == SenderFailed || r.state == ReceiverFailed || st.restarted != 0
	done := int(st.submitted) == n && int(st.reported) == n && int(st.delivered) == n
	senderDone := s.state == SenderFailed || s.state == SenderIdle && int(st.submitted) == n
	receiverDone := r.state == ReceiverFailed || r.state == ReceiverWaiting
	if senderDone && receiverDone && (failed || done) {
		return ended
	}
	return underWay
}

// page returns the one place where such content is kept.
func (e *explorer) page(content *[codec.SliceSize]byte) *[codec.SliceSize]byte {
	for _, p := range e.pages {
		if bytes.Equal(p[:], content[:]) {
			return p
		}
	}
	kept := *content
	e.pages = append(e.pages, &kept)
	return &kept
}

func (e *explorer) pageNumber(p *[codec.SliceSize]byte) int {
	for i, known := range e.pages {
		if known == p {
			return i + 1
		}
	}
	return 0
}

// genuine tells whether a packet could be a slice of a chunk of this connection.
func (e *explorer) genuine(p exPacket) bool {
	i := int(p.chunkID() - e.scenario.first)
	return i < len(e.chunks) && p.numSlices() == numSlicesOf(e.chunks[i]) && p.rest() < p.numSlices()
}

// slice returns a genuine packet as the slice that it is.
func (e *explorer) slice(p exPacket) codec.Slice {
	data := e.chunks[p.chunkID()-e.scenario.first][p.rest()*codec.SliceSize:]
	return codec.Slice{ChunkID: p.chunkID(), SliceID: p.rest(), NumSlices: p.numSlices(), Data: data[:min(len(data), codec.SliceSize)]}
}

func (e *explorer) forgedSlice(f forgery) codec.Slice {
	data := forgedData
	if f.id == f.numSlices-1 {
		data = data[:5]
	}
	return codec.Slice{ChunkID: e.scenario.first + uint16(f.chunk), SliceID: f.id, NumSlices: f.numSlices, Data: data}
}

var forgedData = chunkOf(codec.SliceSize, 99)
