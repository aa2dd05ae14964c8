package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors/live/reliable"
)

// config is what the flags say.
type config struct {
	packets   int // each way
	perSecond int
	path      netsim.Path
	seed      uint64
	first     int // number of the first packet, at both ends
	listen    func() (net.PacketConn, error)
}

func (c config) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unknown argument %q", rest[0])
	case c.packets < 1 || c.packets > 1_000_000:
		return errors.New("--packets must be 1 to 1000000")
	case c.perSecond < 1 || c.perSecond > 10_000:
		return errors.New("--per-second must be 1 to 10000")
	}
	return c.path.Validate()
}

// peer is either implementation, in what the exchange needs of it. Numbers are those of
// packets since the first, and have not wrapped.
type peer interface {
	// send returns the datagrams of a payload, and its number.
	send(now core.Micros, payload []byte) (datagrams [][]byte, number int)
	// receive takes a datagram. It returns the payload that it completes, if any, with its
	// number, and the numbers that were acked.
	receive(now core.Micros, datagram []byte) (number int, payload []byte, acked []int)
	// poll does what is due, and returns what to send, if anything.
	poll(now core.Micros) (datagram []byte, acked []int)
	deadline() core.Micros
	// figures returns a line about it, and how many datagrams did not decode.
	figures(now core.Micros) (line string, invalid int)
}

// ours is package packet.
type ours struct {
	*packet.Endpoint
	lost int
}

func (o *ours) send(now core.Micros, payload []byte) ([][]byte, int) {
	datagrams, number, err := o.Send(now, payload)
	if err != nil {
		panic(err) // no payload here is too large
	}
	return datagrams, int(number)
}

func (o *ours) receive(now core.Micros, datagram []byte) (number int, payload []byte, acked []int) {
	// What is refused shows in the counts.
	_ = o.Receive(now, datagram, func(d packet.Delivery) packet.Verdict {
		number, payload = int(d.Number), bytes.Clone(d.Payload)
		return packet.Take
	})
	return number, payload, o.acked()
}

func (o *ours) acked() (acked []int) {
	for _, e := range o.Events() {
		if e.Kind == packet.EventAcked {
			acked = append(acked, int(e.Number))
		} else {
			o.lost++
		}
	}
	return acked
}

func (o *ours) poll(now core.Micros) ([]byte, []int) {
	datagram, _ := o.Poll(now)
	return datagram, o.acked()
}

func (o *ours) deadline() core.Micros { return o.Deadline() }

func (o *ours) figures(now core.Micros) (string, int) {
	stats, known := o.Stats(), o.Estimates(now)
	bad := 0
	for _, code := range invalid {
		bad += int(stats.Refused(code))
	}
	return fmt.Sprintf("lost %d (%d acked later), ack-only packets %d, duplicates refused %d, round trip %.1f ms",
		o.lost, stats.Late, stats.AcksSent, stats.Refused(packet.CodeDuplicate)+stats.Refused(packet.CodeFragmentDuplicate),
		float64(known.SRTT)/1000), bad
}

// theirs is the stand-in for reliable. Its numbers of 16 bits are continued.
type theirs struct {
	*reliable.Endpoint
	sent, taken int // the newest numbers
}

func (t *theirs) send(now core.Micros, payload []byte) ([][]byte, int) {
	datagrams, number := t.Send(int64(now), payload)
	t.sent = near(t.sent, number)
	return datagrams, t.sent
}

func (t *theirs) receive(now core.Micros, datagram []byte) (int, []byte, []int) {
	number, payload, acks := t.Receive(int64(now), datagram)
	var acked []int
	for _, a := range acks {
		acked = append(acked, near(t.sent, a))
	}
	n := near(t.taken, number)
	if payload != nil {
		t.taken = max(t.taken, n)
	}
	return n, payload, acked
}

func (t *theirs) poll(core.Micros) ([]byte, []int) { return nil, nil }
func (t *theirs) deadline() core.Micros            { return core.Never }

func (t *theirs) figures(core.Micros) (string, int) {
	return fmt.Sprintf("stale or duplicate %d, round trip %.1f ms", t.Stale, t.RTT()/1000), t.Invalid
}

// near returns the number nearest to another whose low 16 bits are these.
func near(to int, low uint16) int { return to + int(int16(low-uint16(to))) }

// invalid are the codes of what no sound peer sends.
var invalid = []core.Code{
	packet.CodeTruncated, packet.CodeReservedBits, packet.CodeNotMinimal, packet.CodeEmptyPayload, packet.CodeTooLarge, packet.CodeTooManyFragments,
	packet.CodeSingleFragment, packet.CodeFragmentIDOutOfRange, packet.CodeSequenceMismatch, packet.CodeFragmentSize, packet.CodeFragmentCount,
}

// end is one of the two, with what its judge knows of it.
type end struct {
	name   string
	peer   peer
	far    *end
	socket net.PacketConn
	to     net.Addr // the second end learns it from the first datagram

	payloads map[int][]byte // by number; those that only ack are not here
	taken    map[int]bool   // numbers of the other end's payloads
	wasAcked map[int]bool   // own numbers
	sent     int
	counts   counts
	nextAt   core.Micros
}

type counts struct{ Sent, Fragmented, Delivered, Acked int }

// result is what came of it.
type result struct {
	ends [2]counts
	text [2]string
	bad  [2]int // datagrams that did not decode
	took time.Duration
}

// String returns the figures.
func (r result) String() (text string) {
	for i, name := range endNames {
		c := r.ends[i]
		text += fmt.Sprintf("%-8s  sent %d (%d in fragments), the other end took %d, acked %d; %s\n", name, c.Sent, c.Fragmented, r.ends[1-i].Delivered, c.Acked, r.text[i])
	}
	return text + fmt.Sprintf("took %.1f s\n", r.took.Seconds())
}

var endNames = [2]string{"packet", "reliable"}

// verdict returns why the counts are not those of two implementations that understand each
// other: all was sent, most arrived, nearly all of that is known to its sender, and
// nothing was refused but duplicates.
func (r result) verdict(cfg config) error {
	arrives := 1 - cfg.path.Loss/100
	for i, name := range endNames {
		c, taken := r.ends[i], r.ends[1-i].Delivered
		// One packet in eight has 2 to 16 fragments, so an eighth may be lost to that.
		least := int(float64(c.Sent)*arrives*7/8*9/10) - 10
		switch {
		case c.Sent != cfg.packets:
			return fmt.Errorf("%s sent %d packets, not %d", name, c.Sent, cfg.packets)
		case taken < least:
			return fmt.Errorf("of %d packets of %s %d arrived, fewer than %d", c.Sent, name, taken, least)
		case c.Acked > taken || c.Acked < taken*9/10-10:
			return fmt.Errorf("of %d packets of %s that arrived %d were acked", taken, name, c.Acked)
		case r.bad[i] > 0:
			return fmt.Errorf("%s refused %d datagrams as invalid", name, r.bad[i])
		}
	}
	return nil
}

type arrived struct {
	end      *end
	from     net.Addr
	datagram []byte
	err      error
}

// settle is for how long both go on after the last packet: each number is settled then.
const settle = packet.LostAfter + core.Second/2

// errLate means that not everything could be sent in far more time than it takes.
var errLate = errors.New("the two ends did not send everything in time")

// run lets both send all packets, and judges each event.
func run(ctx context.Context, cfg config) (r result, err error) {
	endpoint, err := packet.NewEndpoint(packet.Config{FragmentAbove: reliable.FragmentAbove, NextToSend: core.Number(cfg.first), NextToReceive: core.Number(cfg.first)})
	if err != nil {
		return r, err
	}
	ends := [2]*end{{name: endNames[0], peer: &ours{Endpoint: endpoint}}, {name: endNames[1], peer: &theirs{Endpoint: reliable.New(uint16(cfg.first)), sent: cfg.first - 1, taken: cfg.first - 1}}}
	ends[0].far, ends[1].far = ends[1], ends[0]
	arrivals, done := make(chan arrived, 256), make(chan struct{})
	var readers sync.WaitGroup
	var closers []func() error
	defer func() {
		close(done)
		for _, c := range closers {
			err = errors.Join(err, c())
		}
		readers.Wait()
	}()
	for _, e := range ends {
		e.payloads, e.taken, e.wasAcked = map[int][]byte{}, map[int]bool{}, map[int]bool{}
		if e.socket, err = cfg.listen(); err != nil {
			return r, err
		}
		closers = append(closers, e.socket.Close)
		readers.Go(func() { read(e, arrivals, done) })
	}
	front, err := cfg.listen()
	if err != nil {
		return r, err
	}
	ends[0].to = front.LocalAddr()
	relay, err := netsim.NewRelay(netsim.RelayConfig{Listen: front, Server: ends[1].socket.LocalAddr(), Dial: cfg.listen, Up: cfg.path, Down: cfg.path, Seed: cfg.seed})
	if err != nil {
		return r, errors.Join(err, front.Close())
	}
	closers = append(closers, relay.Close)

	limit := 30*time.Second + 2*time.Duration(cfg.packets)*time.Second/time.Duration(cfg.perSecond)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	start := time.Now()
	random := rand.New(rand.NewPCG(cfg.seed, 2))
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopAt := core.Never
	for {
		now := core.FromDuration(time.Since(start))
		wake := stopAt
		for _, e := range ends {
			at, err := e.drive(now, cfg, random)
			if err != nil {
				return r, err
			}
			wake = min(wake, at)
		}
		if stopAt == core.Never && ends[0].sent == cfg.packets && ends[1].sent == cfg.packets {
			stopAt = now + settle
			continue
		}
		if now >= stopAt {
			break
		}
		timer.Reset((wake - now).Duration())
		select {
		case a := <-arrivals:
			if a.err != nil {
				return r, a.err
			}
			if err := a.end.receive(core.FromDuration(time.Since(start)), a); err != nil {
				return r, err
			}
		case <-timer.C:
		case <-ctx.Done():
			return r, context.Cause(ctx)
		}
	}
	for i, e := range ends {
		r.ends[i] = e.counts
		r.text[i], r.bad[i] = e.peer.figures(stopAt)
	}
	r.took = time.Since(start)
	return r, nil
}

// read gives what arrives to the loop.
func read(e *end, arrivals chan<- arrived, done <-chan struct{}) {
	buf := make([]byte, 2*packet.MaxDatagram)
	for {
		n, from, err := e.socket.ReadFrom(buf)
		select {
		case arrivals <- arrived{e, from, bytes.Clone(buf[:n]), err}:
		case <-done:
			return
		}
		if err != nil {
			return
		}
	}
}

// behind is for how many packets an end makes up after a pause of the process.
const behind = 16

// drive lets an end do what is due, and returns when something is due next.
func (e *end) drive(now core.Micros, cfg config, random *rand.Rand) (core.Micros, error) {
	for {
		datagram, acked := e.peer.poll(now)
		if err := e.noteAcked(acked); err != nil {
			return 0, err
		}
		if datagram == nil {
			break
		}
		e.write(datagram)
	}
	at := e.peer.deadline()
	if e.to == nil || e.sent == cfg.packets {
		return at, nil
	}
	interval := core.Second / core.Micros(cfg.perSecond)
	e.nextAt = max(e.nextAt, now-behind*interval)
	for ; e.nextAt <= now && e.sent < cfg.packets; e.nextAt += interval {
		e.send(now, random)
	}
	return min(at, e.nextAt), nil
}

// send sends a payload of chance: one in eight is larger than a datagram.
func (e *end) send(now core.Micros, random *rand.Rand) {
	size := 2 + random.IntN(reliable.FragmentAbove-1)
	if random.IntN(8) == 0 {
		size = reliable.FragmentAbove + 1 + random.IntN(3*reliable.FragmentSize)
	}
	if random.IntN(200) == 0 {
		size = reliable.FragmentSize * reliable.MaxFragments // the largest
	}
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(random.Uint32())
	}
	datagrams, number := e.peer.send(now, payload)
	e.payloads[number] = payload
	e.sent++
	e.counts.Sent++
	if len(datagrams) > 1 {
		e.counts.Fragmented++
	}
	for _, d := range datagrams {
		e.write(d)
	}
}

// write sends a datagram. One that the system does not take is lost as any other.
func (e *end) write(datagram []byte) { _, _ = e.socket.WriteTo(datagram, e.to) }

func (e *end) receive(now core.Micros, a arrived) error {
	if e.to == nil {
		e.to, e.nextAt = a.from, now
	}
	number, payload, acked := e.peer.receive(now, a.datagram)
	if payload != nil {
		if err := e.noteTaken(number, payload); err != nil {
			return err
		}
	}
	return e.noteAcked(acked)
}

var errJudge = errors.New("not as it must be")

// noteTaken judges a payload that was delivered.
func (e *end) noteTaken(number int, payload []byte) error {
	if e.taken[number] {
		return fmt.Errorf("%w: %s delivered packet %d twice", errJudge, e.name, number)
	}
	e.taken[number] = true
	want, ok := e.far.payloads[number]
	switch {
	case !ok && bytes.Equal(payload, []byte{0}):
		return nil // it only acks
	case !ok:
		return fmt.Errorf("%w: %s delivered packet %d, which was not sent", errJudge, e.name, number)
	case !bytes.Equal(payload, want):
		return fmt.Errorf("%w: the payload of packet %d differs at %s", errJudge, number, e.name)
	}
	e.counts.Delivered++
	return nil
}

// noteAcked judges acks: of what the other end took, and once.
func (e *end) noteAcked(numbers []int) error {
	for _, n := range numbers {
		if !e.far.taken[n] || e.wasAcked[n] {
			return fmt.Errorf("%w: %s had an ack of packet %d, which %s did not take, or a second one", errJudge, e.name, n, e.far.name)
		}
		e.wasAcked[n] = true
		if e.payloads[n] != nil {
			e.counts.Acked++
		}
	}
	return nil
}
