package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/simulation"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
)

// exchange is two ends of the packet layer, the relay between them, and the loop that
// drives both.
type exchange struct {
	flags    *packets
	view     packetView
	start    time.Time
	stopAt   core.Micros // when the ends send no more
	relay    *netsim.Relay
	ends     [2]*packetEnd // the client, the server
	arrivals chan packetArrival
	done     chan struct{}
	readers  sync.WaitGroup
}

// packetArrival is a datagram that came to an end, or why no more will come.
type packetArrival struct {
	end      *packetEnd
	from     net.Addr
	datagram []byte
	err      error
}

// packetEnd is an end with its socket, and what is remembered to judge it.
type packetEnd struct {
	endpoint *packet.Endpoint
	socket   net.PacketConn
	peer     net.Addr // the server learns it from the first datagram
	far      *packetEnd
	filler   []byte
	scratch  []byte

	payloads  uint64 // sent so far
	nextAt    core.Micros
	sent      map[core.Number]*sentPayload
	unsettled int // neither acked nor lost

	total, shown packetCounts // so far; at the latest line
	mode         packet.Mode
	modeAt, good core.Micros // since when it is so; time in GOOD before that
	changes      int         // of the mode
}

// sentPayload is what is remembered of a packet.
type sentPayload struct {
	payload            uint64 // which one
	taken, acked, lost bool
}

// remembered is for how many numbers: far more than a datagram can be late.
const remembered = 1 << 14

// packetCounts are of packets with a payload; those that only ack are not among them.
type packetCounts struct {
	Sent       int64 `json:"sent"`
	Fragmented int64 `json:"fragmented"` // of those sent
	Delivered  int64 `json:"delivered"`  // from the other end
	Acked      int64 `json:"acked"`
	Lost       int64 `json:"lost"`
	Late       int64 `json:"late"` // acked after they were lost
}

func (p *packets) setUp(view packetView) (_ *exchange, err error) {
	x := &exchange{flags: p, view: view, arrivals: make(chan packetArrival, 64), done: make(chan struct{})}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	x.stopAt = core.Never
	if p.duration > 0 {
		x.stopAt = core.FromDuration(p.duration)
	}
	for i := range x.ends {
		if x.ends[i], err = p.newEnd(p.seed + uint64(i)); err != nil {
			return nil, err
		}
	}
	client, server := x.ends[0], x.ends[1]
	client.far, server.far = server, client
	front, err := p.listen()
	if err != nil {
		return nil, err
	}
	client.peer = front.LocalAddr()
	x.relay, err = netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: server.socket.LocalAddr(), Dial: p.listen,
		Up: p.path(), Down: p.path(), Seed: p.seed,
	})
	if err != nil {
		return nil, errors.Join(err, front.Close())
	}
	return x, nil
}

func (p *packets) newEnd(seed uint64) (*packetEnd, error) {
	cfg, err := p.config()
	if err != nil {
		return nil, err
	}
	e := &packetEnd{
		filler: simulation.Pattern(int(max(p.size, p.large))+fillers, seed),
		sent:   map[core.Number]*sentPayload{},
	}
	if e.endpoint, err = packet.NewEndpoint(cfg); err != nil {
		return nil, err
	}
	e.socket, err = p.listen()
	return e, err
}

func (x *exchange) close() {
	close(x.done)
	if x.relay != nil {
		_ = x.relay.Close()
	}
	for _, e := range x.ends {
		if e != nil && e.socket != nil {
			_ = e.socket.Close()
		}
	}
	x.readers.Wait()
}

func (x *exchange) now() core.Micros { return core.FromDuration(time.Since(x.start)) }

// run drives both ends until all that they sent is settled.
func (x *exchange) run(ctx context.Context) error {
	x.start = time.Now()
	for _, e := range x.ends {
		x.readers.Go(func() { x.read(e) })
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	lines := 0
	for {
		now, at := x.now(), core.Micros(lines+1)*core.Second
		for _, e := range x.ends {
			wake, err := x.drive(e, now)
			if err != nil {
				return err
			}
			at = min(at, wake)
		}
		if now >= core.Micros(lines+1)*core.Second {
			lines++
			if err := x.view.second(lines, x); err != nil {
				return err
			}
			continue
		}
		if now >= x.stopAt && x.ends[0].unsettled+x.ends[1].unsettled == 0 {
			return nil
		}
		timer.Reset((at - now).Duration())
		select {
		case a := <-x.arrivals:
			if err := x.receive(a); err != nil {
				return err
			}
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// read gives what arrives to the loop.
func (x *exchange) read(e *packetEnd) {
	buf := make([]byte, 2*packet.MaxDatagram)
	for {
		n, from, err := e.socket.ReadFrom(buf)
		select {
		case x.arrivals <- packetArrival{e, from, bytes.Clone(buf[:n]), err}:
		case <-x.done:
			return
		}
		if err != nil {
			return
		}
	}
}

func (x *exchange) receive(a packetArrival) error {
	if a.err != nil {
		return a.err
	}
	e, now := a.end, x.now()
	if e.peer == nil {
		e.peer, e.nextAt = a.from, now
	}
	var mismatch error
	// A refusal is no failure: the relay doubles datagrams, and holds them back.
	_ = e.endpoint.Receive(now, a.datagram, func(d packet.Delivery) packet.Verdict {
		if len(d.Payload) < leastPayload {
			return packet.TakeQuietly
		}
		mismatch = e.compare(x.flags, d)
		return packet.Take
	})
	return errors.Join(mismatch, e.note())
}

// compare compares a payload with the one that was sent with its number.
func (e *packetEnd) compare(flags *packets, d packet.Delivery) error {
	sent := e.far.sent[d.Number]
	switch {
	case sent == nil:
		return fmt.Errorf("%w: packet %d was not sent", errMismatch, d.Number)
	case sent.taken:
		return fmt.Errorf("%w: packet %d was delivered twice", errMismatch, d.Number)
	case !bytes.Equal(d.Payload, e.far.payload(flags, sent.payload)):
		return fmt.Errorf("%w: packet %d", errMismatch, d.Number)
	}
	sent.taken = true
	e.total.Delivered++
	return nil
}

// fillers is how many different fillings there are.
const fillers = 251

// payload returns the payload n: its number, and bytes that depend on it. It is lent
// until the next call.
func (e *packetEnd) payload(flags *packets, n uint64) []byte {
	size := flags.size
	if flags.every > 0 && n%uint64(flags.every) == uint64(flags.every)-1 {
		size = flags.large
	}
	e.scratch = binary.LittleEndian.AppendUint64(e.scratch[:0], n)
	from := int64(n % fillers)
	e.scratch = append(e.scratch, e.filler[from:from+size-leastPayload]...)
	return e.scratch
}

// drive lets an end do what is due, and returns when something is due next.
func (x *exchange) drive(e *packetEnd, now core.Micros) (next core.Micros, err error) {
	for {
		datagram, ok := e.endpoint.Poll(now)
		if !ok {
			break
		}
		x.write(e, datagram)
	}
	next = core.Never
	if e.peer != nil && now < x.stopAt {
		if now >= e.due(x.flags) {
			if err := x.send(e, now); err != nil {
				return 0, err
			}
		}
		next = min(e.due(x.flags), x.stopAt)
	}
	err = e.note()
	// Once nothing is sent, a last packet that is lost makes the mode BAD: that says nothing
	// of the path.
	if mode := e.endpoint.Mode(); mode != e.mode && now < x.stopAt {
		e.good, e.mode, e.modeAt = e.timeInGood(now), mode, now
		e.changes++
	}
	return min(next, e.endpoint.Deadline()), err
}

// due returns when the next packet goes.
func (e *packetEnd) due(flags *packets) core.Micros {
	if flags.cadence {
		return e.endpoint.NextAt()
	}
	return e.nextAt
}

// timeInGood is up to now.
func (e *packetEnd) timeInGood(now core.Micros) core.Micros {
	if e.mode == packet.Good {
		return e.good + now - e.modeAt
	}
	return e.good
}

func (x *exchange) send(e *packetEnd, now core.Micros) error {
	datagrams, number, err := e.endpoint.Send(now, e.payload(x.flags, e.payloads))
	if err != nil {
		return err
	}
	for _, d := range datagrams {
		x.write(e, d)
	}
	e.sent[number] = &sentPayload{payload: e.payloads}
	delete(e.sent, number-remembered)
	e.payloads++
	e.unsettled++
	e.total.Sent++
	if len(datagrams) > 1 {
		e.total.Fragmented++
	}
	// After a pause of the process one packet is made up for, not all.
	interval := core.Second / core.Micros(x.flags.perSecond)
	e.nextAt = max(e.nextAt+interval, now-interval)
	return nil
}

// write sends a datagram. One that the system does not take is lost as any other.
func (x *exchange) write(e *packetEnd, datagram []byte) {
	if e.peer != nil {
		_, _ = e.socket.WriteTo(datagram, e.peer)
	}
}

// note takes what became of packets. An ack of what did not arrive is a mismatch.
func (e *packetEnd) note() error {
	for _, event := range e.endpoint.Events() {
		sent := e.sent[event.Number]
		if sent == nil {
			continue // it only acked
		}
		if !sent.acked && !sent.lost {
			e.unsettled--
		}
		switch {
		case event.Kind == packet.EventLost:
			sent.lost = true
			e.total.Lost++
		case !sent.taken || sent.acked:
			return fmt.Errorf("%w: an ack of packet %d, which did not arrive or was acked before", errMismatch, event.Number)
		default:
			sent.acked = true
			e.total.Acked++
			if sent.lost {
				e.total.Late++
			}
		}
	}
	return nil
}
