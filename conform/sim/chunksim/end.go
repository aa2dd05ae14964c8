package chunksim

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// end is one end: the machines under test, what drives them, and the judges who watch. A process may be stopped for a
// while: what arrives meanwhile waits in its socket's buffer, as far as there is room.
type end struct {
	w     *world
	index int
	peer  *end
	pace  pace

	giveUp    core.Micros
	tick      core.Micros // the driver looks at its clock only so often; 0: exactly
	stopped   bool
	resumedAt core.Micros
	room      int      // bytes in the buffer, at most
	buffered  int      // bytes in it
	waiting   []func() // what is to be done when it resumes

	// The connection. Another replaces all of it.
	epoch      int
	beganAt    core.Micros
	out, in    *chunk.Stream
	framer     codec.Framer
	sender     *statemachine.Sender
	receiver   *statemachine.Receiver
	sending    *chunk.SenderJudge
	receiving  *chunk.ReceiverJudge
	wentBackAt core.Micros // when a machine was last given a time that had gone back
	wakeAt     core.Micros // when they are polled next

	application
}

func (w *world) newEnd(index int, giveUp core.Micros) *end {
	e := &end{w: w, index: index, giveUp: giveUp, room: int(w.Spread(32_768, 1<<20)), wakeAt: core.Never, pace: w.drawPace(), application: w.drawApplication()}
	if w.OneIn(8) {
		e.giveUp = w.drawGiveUp() // against SND-17, which is only a SHOULD
	}
	if w.OneIn(2) {
		e.tick = w.SpreadTime(core.Millisecond, 50*core.Millisecond)
	}
	return e
}

// endless is a GIVE_UP that never passes.
const endless core.Micros = 1 << 61

// drawGiveUp draws a GIVE_UP that never passes on a network without troubles.
func (w *world) drawGiveUp() core.Micros {
	switch w.IntN(12) {
	case 0:
		return endless
	case 1, 2, 3, 4, 5:
		return 10 * core.Second
	}
	return w.SpreadTime(3*core.Second, 40*core.Second)
}

// connect begins a connection, with new machines at this end. If there is one of that epoch at this end already it
// breaks CON-5.
func (e *end) connect(epoch int) {
	w := e.w
	w.Counts[Connections]++
	e.epoch, e.beganAt, e.wentBackAt = epoch, w.Now(), 0
	e.out, e.in = w.stream(epoch, e.index), w.stream(epoch, 1-e.index)
	e.framer = w.kind.Framer(0x11223344 + uint32(epoch))
	scheduler, err := e.pace.scheduler()
	var err1, err2 error
	e.sender, err1 = statemachine.NewSender(statemachine.SenderConfig{Kind: w.kind, FirstChunkID: w.firstID, GiveUp: e.giveUp, Scheduler: scheduler})
	e.receiver, err2 = statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: w.kind, FirstChunkID: w.firstID, GiveUp: e.giveUp})
	if err := errors.Join(err, err1, err2); err != nil {
		panic(err) // the drawn configuration is valid
	}
	slack := e.tick + core.Millisecond
	e.sending = chunk.NewSenderJudge(w.kind, e.out, e.pace.Pace, e.giveUp, slack)
	e.receiving = chunk.NewReceiverJudge(w.kind, e.in, e.giveUp, slack)
	e.note("begins connection %d", epoch)
	e.content, e.reading = nil, false
	e.submitSoon()
}

// stream returns the stream that begins at an end in an epoch.
func (w *world) stream(epoch, from int) *chunk.Stream {
	key := [2]int{epoch, from}
	if w.streams[key] == nil {
		w.streams[key] = &chunk.Stream{FirstID: w.firstID}
	}
	return w.streams[key]
}

// abandon leaves a connection for a new one, and lets the peer know by other means, in a while, which may be longer
// than the peer's GIVE_UP.
func (e *end) abandon(why string) {
	w := e.w
	e.note("%s; leaves connection %d", why, e.epoch)
	e.connect(e.epoch + 1)
	epoch, delay := e.epoch, core.Micros(0)
	if !w.Good() {
		delay = w.Time(0, min(2*e.giveUp, longestSilence))
	}
	w.At(w.Now()+delay, func() {
		if e.peer.epoch < epoch {
			e.peer.connect(epoch)
		}
	})
}

// resume lets a process run again: it does what has waited, then what is due.
func (e *end) resume() {
	if !e.stopped {
		return
	}
	e.stopped, e.resumedAt, e.buffered, e.wakeAt = false, e.w.Now(), 0, e.w.Now()
	waiting := e.waiting
	e.waiting = nil
	for _, act := range waiting {
		act()
	}
}

// Handle: a datagram has reached the process.
func (e *end) Handle(_ core.Micros, d *datagram) {
	switch {
	case !e.stopped:
		e.take(d)
	case e.buffered == 0 || e.buffered+len(d.data) <= e.room:
		e.buffered += len(d.data)
		e.waiting = append(e.waiting, func() { e.take(d) })
	}
}

// take gives the machines a datagram. Only one that left the peer's machines of the same epoch, and was not changed, may
// be accepted, and as the packet that the peer's machine made.
func (e *end) take(d *datagram) {
	w := e.w
	w.inbox = append(w.inbox[:0], d.data...) // which the next datagram overwrites
	p, err := e.framer.Decode(w.inbox)
	switch genuine := d.genuine && d.epoch == e.epoch; {
	case (err == nil) != genuine:
		e.report(chunk.Violates("LAW-2", "decoding returns %v for a datagram of %d bytes that is genuine: %v", err, len(d.data), genuine))
		return
	case err != nil:
		w.Counts[soak.Refused]++
		return
	case !same(p, d.packet):
		e.report(chunk.Violates("LAW-2", "decodes %s as %s", describe(d.packet), describe(p)))
		return
	}
	w.Counts[Arrived]++
	e.note("<- %s", describe(p))
	if now := e.clock(); p.Type == codec.TypeSlice {
		e.receiving.Arrived(now-w.origin, d.packet.Slice)
		e.receiver.HandleSlice(now, p.Slice)
		e.noticeChunk()
	} else {
		was := e.isSending()
		e.sending.Acked(now-w.origin, d.packet.Ack)
		e.sender.HandleAck(now, p.Ack)
		is := was && !e.isSending() && e.sender.Err() == nil
		e.report(e.sending.Reported(is))
		if is {
			e.delivered()
		}
	}
	e.wake(w.Now())
}

func (e *end) isSending() bool { return e.sender.State() == statemachine.SenderSending }

func same(a, b codec.Packet) bool {
	data := bytes.Equal(a.Slice.Data, b.Slice.Data)
	a.Slice.Data, b.Slice.Data = nil, nil
	return data && reflect.DeepEqual(a, b)
}

func describe(p codec.Packet) string {
	if s := p.Slice; p.Type == codec.TypeSlice {
		return fmt.Sprintf("slice %d of chunk %d (%d slices, %d bytes)", s.SliceID, s.ChunkID, s.NumSlices, len(s.Data))
	}
	return fmt.Sprintf("ack of chunk %d, %d of %d slices, below %d", p.Ack.ChunkID, max(p.Ack.Acked.Count(), p.Ack.Have), p.Ack.NumSlices, p.Ack.Top)
}

// clock returns the time that a machine is given with an event: sometimes one that has gone back, which counts as the
// latest one (TIM-1).
func (e *end) clock() core.Micros {
	w := e.w
	now := w.Now()
	if !w.Good() && w.Chance(w.clockPPM) {
		w.Counts[Backward]++
		e.wentBackAt = now
		now = max(0, now-w.SpreadTime(1, 10*core.Second))
	}
	return now + w.origin
}

// since0 returns a machine's time as the world counts it.
func (e *end) since0(at core.Micros) core.Micros {
	if at == core.Never {
		return at
	}
	return at - e.w.origin
}

// wake plans to poll the machines.
func (e *end) wake(at core.Micros) {
	if e.tick > 0 && at < core.Never-e.tick {
		at = (at + e.tick - 1) / e.tick * e.tick
	}
	e.wakeAt = min(e.wakeAt, at)
}

// Deadline returns when the machines are polled next.
func (e *end) Deadline() core.Micros {
	if e.stopped {
		return core.Never
	}
	return e.wakeAt
}

// Poll returns the machines' next datagram, past the judges.
func (e *end) Poll(now core.Micros) (*datagram, bool) {
	if e.Deadline() > now || e.w.Failed() {
		return nil, false
	}
	given := now + e.w.origin
	if a, ok := e.receiver.Poll(given); ok {
		e.w.Counts[Acks]++
		e.report(e.receiving.Sent(now, a))
		return e.datagram(codec.Packet{Type: codec.TypeAck, Ack: a})
	}
	deadline := e.since0(e.sender.Deadline())
	if s, ok := e.sender.Poll(given); ok {
		if e.sending.IsExtra(s) {
			e.w.Counts[Extra]++
		}
		s.Data = bytes.Clone(s.Data) // they are the application's
		e.report(e.sending.Sent(now, s, s.DatagramSize(), deadline))
		return e.datagram(codec.Packet{Slice: s})
	}
	e.wakeAt = core.Never
	if !e.gaveUp(now) {
		e.report(e.receiving.Polled(now, e.since0(e.receiver.Deadline())))
		e.report(e.sending.Polled(now, e.since0(e.sender.Deadline())))
		e.wake(e.since0(min(e.sender.Deadline(), e.receiver.Deadline())))
	}
	return nil, false
}

func (e *end) datagram(p codec.Packet) (*datagram, bool) {
	data, err := e.framer.Append(nil, p)
	e.w.Check(err)
	e.note("-> %s", describe(p))
	return &datagram{data: data, packet: p, epoch: e.epoch, genuine: true}, err == nil
}

// gaveUp leaves a connection of which a machine has given up. None does so, once there are no troubles any more, on a
// connection that saw none, nor for a chunk that nothing was in the way of.
func (e *end) gaveUp(now core.Micros) bool {
	w, peer := e.w, e.peer
	sender, receiver := e.sender.Err() != nil, e.receiver.Err() != nil
	if !sender && !receiver {
		return false
	}
	w.Counts[GaveUp]++
	if receiver {
		e.report(e.receiving.GaveUp(now))
	}
	together := peer.epoch == e.epoch && e.out.Lawful()
	if sender {
		e.report(e.sending.GaveUp(now))
		if together && now-peer.beganAt >= e.giveUp && e.giveUp >= 10*core.Second && w.calmFor(e.giveUp) {
			e.report(chunk.Violates("LIVE-2", "chunk %d stalled: nothing was lost since %s", e.sending.ID(), soak.Clock(w.GoodAt)))
		}
	}
	if together && w.calmFor(now-min(e.beganAt, peer.beganAt)) {
		e.report(chunk.Violates("LIVE-2", "gave up on a connection that saw no fault"))
	}
	e.abandon("gives up")
	return true
}

func (e *end) report(v *chunk.Violation) {
	if v != nil {
		e.w.Check(fmt.Errorf("%s, end %d: %s", v.Rule, e.index, v.Text))
	}
}

func (e *end) note(format string, args ...any) {
	if e.w.Log.Verbose() {
		e.w.Note("end %d "+format, append([]any{e.index}, args...)...)
	}
}
