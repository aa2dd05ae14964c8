package main

import (
	"bytes"
	"math/rand/v2"

	"github.com/chunkwire/chunkwire/statemachine"
)

// application is what uses an end: it has so many chunks to send, thinks between
// two of them, and reads what comes, at once or not.
type application struct {
	chunks    int // still to be delivered
	sizes     func(dice) int
	thinks    micros
	readDelay micros
	content   []byte // of the chunk in flight
	reading   bool   // a read is planned
	buffer    []byte // that chunks are read into, one after the other
}

// drawSizes draws what sizes of chunks an application has.
func drawSizes(d dice) func(dice) int {
	if d.oneIn(4) { // each time another kind
		return func(d dice) int { return drawSize(d, d.IntN(5)) }
	}
	kind := d.IntN(5)
	return func(d dice) int { return drawSize(d, kind) }
}

func drawSize(d dice, kind int) int {
	switch kind {
	case 0:
		return int(d.between(1, 100))
	case 1: // at the edges of slices
		return max(1, int(1024*d.spread(1, 16)+d.between(-1, 1)))
	case 2:
		return int(d.spread(1, maxChunk))
	case 3:
		return int(d.between(1, 8*1024))
	}
	return int(maxChunk - d.between(0, 1)*d.between(0, 1500))
}

// begin is the start of a connection.
func (e *end) begin() {
	e.content, e.reading = nil, false
	e.submitSoon()
}

// later does something for the connection of now, if it still stands then.
func (e *end) later(after micros, do func()) {
	sender := e.sender
	var act func()
	act = func() {
		switch {
		case e.sender != sender:
		case e.host.stopped:
			e.host.waking = append(e.host.waking, act)
		default:
			do()
		}
	}
	e.world.agenda.add(e.world.now+after, acting, act)
}

func (e *end) submitSoon() {
	if e.chunks > 0 {
		wait := micros(0)
		if e.thinks > 0 {
			wait = e.world.dice.between(0, 2*e.thinks)
		}
		e.later(wait, e.submit)
	}
}

// submit gives the sender a chunk, and at times what it must refuse.
func (e *end) submit() {
	w := e.world
	now := e.clock(&e.senderAt)
	if w.dice.oneIn(16) {
		e.trySubmit(now, make([]byte, (maxChunk+1)*w.dice.IntN(2)))
	}
	e.content = fill(w.dice, e.sizes(w.dice))
	e.trySubmit(now, e.content)
	if w.dice.oneIn(16) {
		e.trySubmit(now, []byte{1}) // it is busy
	}
	w.tally.submitted++
	if w.story.told() {
		e.tell("submits chunk %d, %d bytes", e.sending.id(), len(e.content))
	}
	e.wake(w.now)
}

// trySubmit submits, and lets the judge compare.
func (e *end) trySubmit(now statemachine.Micros, chunk []byte) {
	if err := e.sender.Submit(now, chunk); err != nil {
		e.world.tally.badSubmits++
		e.accuse(e.sending.refuses(len(chunk)))
		return
	}
	e.accuse(e.sending.submits(e.senderAt, chunk))
}

// fill makes a chunk's content.
func fill(d dice, size int) []byte {
	var seed [32]byte
	for i := range 4 {
		seed[i] = byte(d.Uint32())
	}
	content := make([]byte, size)
	_, _ = rand.NewChaCha8(seed).Read(content) // never fails
	return content
}

// delivered: the sender says that the peer has the chunk.
func (e *end) delivered() {
	w := e.world
	w.tally.reported++
	e.mark('D', uint64(e.chunks))
	if w.story.told() {
		e.tell("learns that the chunk is delivered")
	}
	if sent := e.sending.course.submitted; !bytes.Equal(e.content, sent[len(sent)-1]) {
		e.accuse(accuse("SND-18", "a machine has changed the application's chunk"))
	}
	e.chunks--
	clear(e.content) // it is the application's again
	e.content = nil
	e.submitSoon()
}

// noticeChunk plans to read a chunk that is complete.
func (e *end) noticeChunk() {
	if e.receiver.State() != statemachine.ReceiverReady || e.reading {
		return
	}
	e.reading = true
	wait := micros(0)
	if e.readDelay > 0 {
		wait = e.world.dice.between(0, 2*e.readDelay)
	}
	e.later(wait, e.read)
}

// ahead stands in the buffer before the chunk.
var ahead = []byte("ahead")

// read takes the chunk that waits, and then tries to take another.
func (e *end) read() {
	w := e.world
	e.reading = false
	now := e.clock(&e.receiverAt)
	out, err := e.receiver.Read(now, append(e.buffer[:0], ahead...))
	if err != nil {
		e.accuse(e.receiving.refuses())
		return
	}
	e.buffer = out
	chunk, found := bytes.CutPrefix(out, ahead)
	if !found {
		e.accuse(accuse("SAFE-1", "changed what stood ahead of a chunk"))
	}
	w.tally.delivered++
	e.mark('R', uint64(len(chunk)))
	if w.story.told() {
		e.tell("reads a chunk of %d bytes", len(chunk))
	}
	mixed := e.receiving.mixed
	e.accuse(e.receiving.delivers(chunk))
	w.tally.mixed += e.receiving.mixed - mixed
	if _, err := e.receiver.Read(now, nil); err == nil {
		e.accuse(accuse("SAFE-1", "delivered a chunk twice"))
	}
	e.wake(w.now)
}

// idle reports whether there is nothing more to send or to read.
func (e *end) idle() bool { return e.chunks == 0 && !e.receiving.isFull }
