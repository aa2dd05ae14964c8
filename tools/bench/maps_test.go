package bench

import (
	"cmp"
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
	p = p.observed(func(o eventlog.Event) {
		slice, kind := o.SliceID, ""
		switch o.Kind {
		case eventlog.SliceSent:
			kind = map[string]string{eventlog.First: "sent", eventlog.Repair: "repair"}[o.Why]
			kind = cmp.Or(kind, "resent")
		case eventlog.SliceAcked:
			kind = "acked"
		case eventlog.SlicesCounted:
			slice, kind = o.Have, "counted"
		default:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		m.Events = append(m.Events, SliceEvent{time.Since(start).Microseconds(), slice, kind})
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
