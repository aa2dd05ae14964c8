package packets

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/packet"
)

// Judge watches two ends from outside, and knows the payloads that were sent. It checks the properties of
// section 11. Less than 65536 packets go each way, so that the wire has their numbers.
type Judge struct {
	ends   [2]judged
	forged bool // something came that the other end did not send: then all may be taken, and acked
}

// judged is what one end has sent, and what became of it.
type judged struct {
	judge     *Judge
	other     *judged
	now       int64
	next      uint16
	sent      map[uint16]*sentPacket
	datagrams map[conform.Bytes]bool
	unsettled []*sentPacket
	taken     int
	acked     int
}

type sentPacket struct {
	payload            conform.Bytes
	at                 int64
	quiet              bool
	taken, acked, lost bool
}

// newJudge returns the judge of two ends whose first packets have these numbers.
func newJudge(first0, first1 int64) *Judge {
	j := &Judge{}
	for i, first := range []int64{first0, first1} {
		j.ends[i] = judged{judge: j, other: &j.ends[1-i], next: uint16(first), sent: map[uint16]*sentPacket{}, datagrams: map[conform.Bytes]bool{}}
	}
	return j
}

// Saw judges what an end does.
func (e *judged) Saw(at int64, event conform.Event, step conform.Step) error {
	if _, is := event.(Above); is {
		return nil // no endpoint sees it, nor its time
	}
	s := step.(EndpointStep)
	e.now = max(e.now, at)
	for _, b := range s.Datagrams {
		e.datagrams[b] = true
	}
	switch event := event.(type) {
	case Send:
		e.sends(s, event.Payload, false)
	case Quiet:
		e.sends(s, event.Payload, true)
	case Receive:
		e.judge.forged = e.judge.forged || event.Datagram != "" && !e.other.datagrams[event.Datagram]
	case Poll:
		if len(s.Datagrams) > 1 {
			return fmt.Errorf("PKT-BND-1: %d ack-only packets at once", len(s.Datagrams))
		}
		if len(s.Datagrams) == 1 {
			e.sends(s, "\x00", true)
		}
	}
	if s.Delivered.Is {
		if err := e.takes(s.Delivered.V); err != nil {
			return err
		}
	}
	if err := e.settles(s); err != nil {
		return err
	}
	if _, is := event.(Poll); is {
		return e.polled()
	}
	return nil
}

func (e *judged) sends(s EndpointStep, payload conform.Bytes, quiet bool) {
	if s.Refused.Is {
		return
	}
	p := &sentPacket{payload: payload, at: e.now, quiet: quiet || payload == "\x00"}
	if e.sent[e.next] = p; !p.quiet {
		e.unsettled = append(e.unsettled, p)
	}
	e.next++
}

// takes is PKT-SAFE-1.
func (e *judged) takes(d Delivered) error {
	if e.judge.forged {
		return nil
	}
	p := e.other.sent[d.Sequence]
	switch {
	case p == nil:
		return fmt.Errorf("PKT-SAFE-1: %d is given up, which was never sent", d.Sequence)
	case p.payload != d.Payload:
		return fmt.Errorf("PKT-SAFE-1: other bytes are given up for %d", d.Sequence)
	case p.taken:
		return fmt.Errorf("PKT-SAFE-1: %d is given up twice", d.Sequence)
	}
	p.taken = true
	e.other.taken++
	return nil
}

// settles is PKT-SAFE-2 and PKL-1.
func (e *judged) settles(s EndpointStep) error {
	for i, n := range slices.Concat(s.Acked, s.Lost) {
		p, acked := e.sent[n], i < len(s.Acked)
		switch {
		case p == nil:
			return fmt.Errorf("PKT-SAFE-2: %d is settled, which was never sent", n)
		case acked && !p.taken && !e.judge.forged:
			return fmt.Errorf("PKT-SAFE-2: %d is acked, which was not taken", n)
		case p.acked, !acked && p.lost:
			return fmt.Errorf("PKL-1: %d is settled twice", n)
		case !acked && p.quiet:
			return fmt.Errorf("PKL-1: %d is lost, which asks for no ack", n)
		case acked:
			p.acked = true
			e.acked++
		default:
			p.lost = true
		}
	}
	return nil
}

// polled is PKT-LIVE-2.
func (e *judged) polled() error {
	for len(e.unsettled) > 0 && (e.unsettled[0].acked || e.unsettled[0].lost) {
		e.unsettled = e.unsettled[1:]
	}
	if len(e.unsettled) > 0 && e.now-e.unsettled[0].at >= int64(packet.LostAfter) {
		return fmt.Errorf("PKT-LIVE-2: a packet is not settled %d us after it was sent", e.now-e.unsettled[0].at)
	}
	return nil
}
