package recovery_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/recovery"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Every packet arrives after 25 ms, but for two or three that meet trouble. Every
// way to place the troubles is tried, and whatever they were, once they are over
// all is delivered within a bounded time (LIVE-2).

// trouble is what happens to a packet.
type trouble uint8

const (
	lost trouble = iota
	belated
	twice
	outageHere // it is lost, and all that goes out in the 6 s after it
	numTroubles
)

func (t trouble) String() string { return [...]string{"lost", "late", "doubled", "outage"}[t] }

const (
	oneWay = 25 * ms
	lateBy = 120 * ms
	outFor = 6 * statemachine.Second
)

// troubles are those of a run, by the packet's place among those of both ends;
// what goes out in an outage is not counted.
type troubles map[int]trouble

func (s troubles) String() (text string) {
	for _, i := range slices.Sorted(maps.Keys(s)) {
		text += fmt.Sprintf("packet %d %v; ", i, s[i])
	}
	return text
}

// Most take a few round trips. But an outage in the first chunk can leave a bound
// of 6 s for the round trip (EST-4), and so a timer of 3 s for the next chunk, if
// all of its slices are lost and none is left to overtake them. 4,000 bytes a
// second are 266 ms a slice.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		profile recovery.Profile
		slices  []int // of each chunk
		most    int   // troubles
		within  statemachine.Micros
	}{
		{recovery.Adaptive(), []int{1, 3}, 2, 400 * ms},
		{recovery.Adaptive(), []int{3, 2}, 3, 3200 * ms},
		{recovery.Adaptive(), []int{2, 1, 1}, 2, 3200 * ms},
		{recovery.Burst(), []int{3, 2}, 2, 400 * ms},
		{recovery.Redundant(), []int{3, 2}, 2, 400 * ms},
		{recovery.Fixed(4_000), []int{3, 2}, 2, 1600 * ms},
	} {
		x := &explorer{t: t, profile: c.profile, most: c.most, within: c.within}
		for i, n := range c.slices {
			x.chunks = append(x.chunks, bytes.Repeat([]byte{byte(i + 1)}, codec.SliceSize*n))
		}
		x.try(troubles{}, -1)
		t.Logf("%-9s %v slices: %d runs; the slowest, %d ms: %v", c.profile.Name, c.slices, x.runs, x.slowest/ms, x.worst)
	}
}

type explorer struct {
	t       *testing.T
	profile recovery.Profile
	chunks  [][]byte
	most    int                 // troubles
	within  statemachine.Micros // the time from the last trouble to the end
	runs    int
	slowest statemachine.Micros
	worst   string
}

// try runs with these troubles, of which the latest strikes the packet last, and
// then with one more, wherever it may strike.
func (x *explorer) try(s troubles, last int) {
	x.runs++
	r := x.newRun(s)
	r.toTheEnd()
	if took := r.since(last); took > x.slowest {
		x.slowest, x.worst = took, s.String()
		if took > x.within {
			x.t.Errorf("%s %v: %d us from the last trouble to the end", x.profile.Name, s, took)
		}
	}
	if len(s) == x.most {
		return
	}
	for i := last + 1; i < len(r.sentAt); i++ {
		for kind := range numTroubles {
			if kind == outageHere && r.outUntil > 0 {
				continue // two are longer than the time to give up
			}
			s[i] = kind
			x.try(s, i)
			delete(s, i)
		}
	}
}

// run is a conversation in which some packets meet trouble.
type run struct {
	*explorer
	troubles
	now       statemachine.Micros
	sender    *statemachine.Sender
	receiver  *statemachine.Receiver
	underway  []packet // by their time
	sentAt    []statemachine.Micros
	outUntil  statemachine.Micros
	delivered int
}

// packet is a slice, or an ack when slice.Data is nil.
type packet struct {
	at    statemachine.Micros
	slice codec.Slice
	ack   codec.Ack
}

func (x *explorer) newRun(s troubles) *run {
	return &run{
		explorer: x, troubles: s,
		sender:   statemachine.NewSender(statemachine.SenderConfig{Scheduler: recovery.New(x.profile)}),
		receiver: statemachine.NewReceiver(statemachine.ReceiverConfig{}),
	}
}

// since returns how long the run took after the trouble of a packet, or from the
// beginning.
func (r *run) since(packet int) statemachine.Micros {
	switch kind, struck := r.troubles[packet]; {
	case !struck:
		return r.now
	case kind == outageHere:
		return r.now - r.sentAt[packet] - outFor
	}
	return r.now - r.sentAt[packet]
}

func (r *run) toTheEnd() {
	for {
		r.poll()
		switch {
		case r.sender.State() == statemachine.SenderSending:
			r.wait()
		case r.delivered == len(r.chunks):
			return
		default:
			if err := r.sender.Submit(r.now, r.chunks[r.delivered]); err != nil {
				r.t.Fatalf("%s %v: %v", r.profile.Name, r.troubles, err)
			}
		}
	}
}

func (r *run) poll() {
	for s, ok := r.sender.Poll(r.now); ok; s, ok = r.sender.Poll(r.now) {
		r.mail(packet{slice: s})
	}
	for a, ok := r.receiver.Poll(r.now); ok; a, ok = r.receiver.Poll(r.now) {
		r.mail(packet{ack: a})
	}
}

func (r *run) mail(p packet) {
	if r.now < r.outUntil {
		return
	}
	kind, struck := r.troubles[len(r.sentAt)]
	r.sentAt = append(r.sentAt, r.now)
	if !struck || kind == twice {
		r.arrives(p, r.now+oneWay)
	}
	if struck && (kind == belated || kind == twice) {
		r.arrives(p, r.now+oneWay+lateBy)
	}
	if struck && kind == outageHere {
		r.outUntil = r.now + outFor
	}
}

func (r *run) arrives(p packet, at statemachine.Micros) {
	p.at = at
	i := len(r.underway)
	for i > 0 && r.underway[i-1].at > at {
		i--
	}
	r.underway = slices.Insert(r.underway, i, p)
}

// wait goes on to what happens next.
func (r *run) wait() {
	next := min(r.sender.Deadline(), r.receiver.Deadline())
	if len(r.underway) > 0 {
		next = min(next, r.underway[0].at)
	}
	if next <= r.now || next == statemachine.Never || r.receiver.Err() != nil {
		r.t.Fatalf("%s %v: at %d the next event is at %d (SCH-3), %v", r.profile.Name, r.troubles, r.now, next, r.receiver.Err())
	}
	r.now = next
	for len(r.underway) > 0 && r.underway[0].at <= r.now {
		p := r.underway[0]
		r.underway = r.underway[1:]
		if p.slice.Data == nil {
			r.sender.HandleAck(r.now, p.ack)
		} else {
			r.receiver.HandleSlice(r.now, p.slice)
		}
	}
	if r.receiver.State() == statemachine.ReceiverReady {
		got, err := r.receiver.Read(r.now, nil)
		if err != nil || !bytes.Equal(got, r.chunks[r.delivered]) {
			r.t.Fatalf("%s %v: chunk %d is read as %d bytes, %v", r.profile.Name, r.troubles, r.delivered, len(got), err)
		}
		r.delivered++
	}
}
