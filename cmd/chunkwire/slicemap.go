package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/eventlog"
)

// sliceMap keeps what the sender's observations say of each slice of a chunk. It is
// safe for concurrent use: the transport writes, the screen reads.
type sliceMap struct {
	mu        sync.Mutex
	numSlices int
	repair    bool // slices make up for each other, so that it counts how many there are
	sent      [codec.MaxSlices]int
	acked     [codec.MaxSlices]bool
	top       int // with repair: that many were sent up to the latest that arrived
	sums      sliceSums
}

// sliceSums are the map's totals.
type sliceSums struct {
	Sent, Resent, Repair, Acked, Spurious int
	RTT                                   time.Duration // the latest sample
}

func newSliceMap(size int, repair bool) *sliceMap {
	return &sliceMap{numSlices: codec.NumSlices(size), repair: repair}
}

// note takes an event.
func (m *sliceMap) note(e eventlog.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case eventlog.SliceSent:
		m.noteSent(e)
	case eventlog.SlicesCounted:
		m.sums.Acked, m.top = e.Have, e.Top
	case eventlog.SliceAcked:
		m.acked[e.SliceID] = true
		m.sums.Acked++
	case eventlog.SliceSpurious:
		m.sums.Spurious++
	case eventlog.RTTSampled:
		m.sums.RTT = e.RTT.Duration()
	}
}

func (m *sliceMap) noteSent(e eventlog.Event) {
	m.sums.Sent++
	switch {
	case m.repair && e.SliceID >= m.numSlices:
		m.sums.Repair++
		return
	case e.Times > 1:
		m.sums.Resent++
	}
	m.sent[e.SliceID]++
}

func (m *sliceMap) totals() sliceSums {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sums
}

// mapWidth is how many slices are in a row, unless the terminal is narrower.
const mapWidth = 64

// cell is what is drawn for a slice.
type cell struct {
	text  string
	color string // an SGR parameter, or none
}

var (
	cellUnsent  = cell{"·", "2"}
	cellSent    = cell{"▒", "33"}
	cellResent  = cell{"▓", "31"}
	cellArrived = cell{"█", "32"}
)

// legend explains what live draws.
func (m *sliceMap) legend() string {
	if m.repair {
		return "█ here, whichever they are  ▒ on the way  · to come"
	}
	return "█ arrived  ▒ on its way  ▓ sent again  · not sent yet"
}

// live draws where each slice stands; of repair slices, how many are here and on the way.
func (m *sliceMap) live(width int, colors bool) []string {
	return m.draw(width, colors, func(id int) cell {
		switch {
		case m.repair && id < m.sums.Acked:
			return cellArrived
		case m.repair && id < m.sums.Acked+m.sums.Sent-m.top:
			return cellSent
		case m.repair:
			return cellUnsent
		case m.acked[id]:
			return cellArrived
		case m.sent[id] > 1:
			return cellResent
		case m.sent[id] == 1:
			return cellSent
		}
		return cellUnsent
	})
}

// times draws how often each slice was sent.
func (m *sliceMap) times(width int) []string {
	return m.draw(width, false, func(id int) cell {
		switch n := m.sent[id]; {
		case n == 1:
			return cell{text: "·"}
		case n > 9:
			return cell{text: "+"}
		default:
			return cell{text: fmt.Sprint(n)}
		}
	})
}

func (m *sliceMap) draw(width int, colors bool, look func(id int) cell) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []string
	for from := 0; from < m.numSlices; from += width {
		var row strings.Builder
		color := ""
		for id := from; id < min(from+width, m.numSlices); id++ {
			c := look(id)
			if colors && c.color != color {
				color = c.color
				row.WriteString("\x1b[0;" + color + "m")
			}
			row.WriteString(c.text)
		}
		if color != "" {
			row.WriteString("\x1b[0m")
		}
		rows = append(rows, row.String())
	}
	return rows
}
