package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// sliceMap keeps what the sender's observations tell of each slice of a chunk.
// It is safe for concurrent use: the transport tells, the screen asks.
type sliceMap struct {
	mu        sync.Mutex
	numSlices int
	sent      [codec.MaxSlices]int
	acked     [codec.MaxSlices]bool
	sums      sliceSums
}

// sliceSums are the map's totals.
type sliceSums struct {
	Sent, Resent, Acked, Spurious int
	RTT                           time.Duration // the latest sample
}

func newSliceMap(size int) *sliceMap { return &sliceMap{numSlices: codec.NumSlices(size)} }

// note takes an observation.
func (m *sliceMap) note(o statemachine.Observation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch o.Kind {
	case statemachine.Sent, statemachine.Resent:
		m.sums.Sent++
		if o.Kind == statemachine.Resent {
			m.sums.Resent++
		}
		m.sent[o.SliceID]++
	case statemachine.Acked:
		m.acked[o.SliceID] = true
		m.sums.Acked++
	case statemachine.Spurious:
		m.sums.Spurious++
	case statemachine.MeasuredRTT:
		m.sums.RTT = o.RTT.Duration()
	}
}

func (m *sliceMap) totals() sliceSums {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sums
}

const mapWidth = 64

// live draws where each slice stands: not sent, on its way, on its way again,
// arrived. With color it uses blocks.
func (m *sliceMap) live() []string {
	return m.draw(func(id int) string {
		switch {
		case m.acked[id]:
			return "\x1b[32m█\x1b[0m"
		case m.sent[id] > 1:
			return "\x1b[31m▓\x1b[0m"
		case m.sent[id] == 1:
			return "\x1b[33m▒\x1b[0m"
		}
		return "\x1b[2m·\x1b[0m"
	})
}

// times draws how often each slice was sent.
func (m *sliceMap) times() []string {
	return m.draw(func(id int) string {
		switch n := m.sent[id]; {
		case n == 1:
			return "·"
		case n > 9:
			return "+"
		default:
			return fmt.Sprint(n)
		}
	})
}

func (m *sliceMap) draw(cell func(id int) string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []string
	for from := 0; from < m.numSlices; from += mapWidth {
		var row strings.Builder
		for id := from; id < min(from+mapWidth, m.numSlices); id++ {
			row.WriteString(cell(id))
		}
		rows = append(rows, row.String())
	}
	return rows
}
