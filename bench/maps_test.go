package bench

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/eventlog"
)

// maps follows every slice of a few runs.
func (b *bench) maps() {
	for _, c := range []Cell{Networks[0].with(5), Networks[1].with(20), Networks[2].with(1)} {
		for _, p := range Ours() {
			b.result.Maps = append(b.result.Maps, follow(b.t, p, c))
		}
	}
}

// follow moves one block, and notes what happens to each slice.
func follow(t *testing.T, p Peer, c Cell) SliceMap {
	m := SliceMap{Cell: c.String(), Peer: p.Name}
	var mu sync.Mutex
	var start time.Time
	p = p.logged(func(e eventlog.Event) {
		slice, name := e.SliceID, ""
		switch e.Kind {
		case eventlog.SliceSent:
			name = sentAs(e)
		case eventlog.SliceAcked:
			name = "acked"
		case eventlog.SlicesCounted:
			slice, name = e.Have, "counted"
		default:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		m.Events = append(m.Events, SliceEvent{time.Since(start).Microseconds(), slice, name})
	})
	synctest.Test(t, func(t *testing.T) {
		way := newPath(c, 1)
		defer way.close()
		conn, err := p.Connect(t.Context(), way)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.close()
		start = time.Now()
		if r := transfer(conn, way, block, 1); r.Err != nil {
			t.Fatal(r.Err)
		}
	})
	return m
}

// sentAs returns what the map calls a slice that goes out.
func sentAs(e eventlog.Event) string {
	switch {
	case e.Times == 1 && e.Why != eventlog.First: // with repair: it is no source slice, or asks whether there is room
		return "repair"
	case e.Times > 1:
		return "resent"
	}
	return "sent"
}
