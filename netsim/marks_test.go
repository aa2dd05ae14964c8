package netsim_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/netsim"
)

func TestMarksAboveAQueue(t *testing.T) {
	link := newLink(netsim.Path{Rate: 8000, Queue: 250, MarkAbove: 100, Duplicate: 100, Overhead: 10}, 1) // a byte a millisecond
	marked := func(i int) bool {
		a := link.Send(0, 40)
		if a.Len() != 2 {
			t.Fatalf("datagram %d: %d arrivals", i, a.Len())
		}
		return a.Marked()
	}
	for i, want := range []bool{false, false, false, true, true} { // 0, 50, 100, 150, 200 bytes before it
		if got := marked(i); got != want {
			t.Errorf("datagram %d: marked is %v", i, got)
		}
	}
	if a := link.Send(0, 40); a.Len() != 0 || a.Marked() {
		t.Error("the queue is full")
	}
	if link.Send(99*ms, 40).Marked() != true || link.Send(200*ms, 40).Marked() != false { // 200 and then 100 bytes
		t.Error("the queue has become shorter")
	}
	wantStats(t, link.Stats(), netsim.LinkStats{Sent: 8, SentBytes: 320, Delivered: 14, LostQueue: 1, Duplicated: 7, Marked: 3})
}

// Marks change nothing else.
func TestMarksChangeNoArrival(t *testing.T) {
	p := full
	p.PoliceRate, p.Rate, p.MarkAbove = 0, 20_000_000, 0
	plain := newLink(p, 1)
	p.MarkAbove = 20_000
	marking := newLink(p, 1)
	for i := range 20_000 {
		now := time.Duration(i) * 410 * time.Microsecond
		a, b := plain.Send(now, 1000), marking.Send(now, 1000)
		if a.Marked() || a.Len() != b.Len() || a.Len() > 0 && a.At(0) != b.At(0) {
			t.Fatalf("datagram %d: %v, %v with marks", i, times(a), times(b))
		}
	}
	if s := marking.Stats(); s.Marked == 0 || s.Marked == s.Delivered-s.Duplicated {
		t.Errorf("%d of %d are marked", s.Marked, s.Delivered)
	}
}
