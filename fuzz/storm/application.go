package main

import (
	"bytes"
	"github.com/chunkwire/chunkwire/conform/sim"
	"math/rand/v2"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
)

// application is what uses an end: it has so many chunks to send, thinks between
// two of them, and reads what comes, at once or not.
type application struct {
	chunks    int // still to be delivered
	sizes     func(sim.Draw) int
	thinks    core.Micros
	readDelay core.Micros
	content   []byte // of the chunk in flight
	reading   bool   // a read is planned
	buffer    []byte // that chunks are read into, one after the other
}

// drawSizes draws what sizes of chunks an application has.
func drawSizes(d sim.Draw) func(sim.Draw) int {
	if d.OneIn(4) { // each time another kind
		return func(d sim.Draw) int { return drawSize(d, d.IntN(5)) }
	}
	kind := d.IntN(5)
	return func(d sim.Draw) int { return drawSize(d, kind) }
}

func drawSize(d sim.Draw, kind int) int {
	switch kind {
	case 0:
		return d.Between(1, 100)
	case 1: // at the edges of slices
		return max(1, 1024*int(d.Spread(1, 16))+d.Between(-1, 1))
	case 2:
		return int(d.Spread(1, codec.MaxChunkSize))
	case 3:
		return d.Between(1, 8*1024)
	}
	return codec.MaxChunkSize - d.Between(0, 1)*d.Between(0, 1500)
}

// begin is the start of a connection.
func (e *end) begin() {
	e.content, e.reading = nil, false
	e.submitSoon()
}

// later does something for the connection of now, if it still stands then.
func (e *end) later(after core.Micros, do func()) {
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
	e.world.At(e.world.Now()+after, act)
}

func (e *end) submitSoon() {
	if e.chunks > 0 {
		wait := core.Micros(0)
		if e.thinks > 0 {
			wait = e.world.Time(0, 2*e.thinks)
		}
		e.later(wait, e.submit)
	}
}

// submit gives the sender a chunk, and at times what it must refuse.
func (e *end) submit() {
	w := e.world
	now := e.clock()
	if w.OneIn(16) {
		e.trySubmit(now, make([]byte, (codec.MaxChunkSize+1)*w.IntN(2)))
	}
	e.content = fill(w.Draw, e.sizes(w.Draw))
	e.trySubmit(now, e.content)
	if w.OneIn(16) {
		e.trySubmit(now, []byte{1}) // it is busy
	}
	w.Counts[Submitted]++
	if w.Log.Verbose() {
		e.note("submits chunk %d, %d bytes", e.sending.ID(), len(e.content))
	}
	e.wake(w.Now())
}

// trySubmit submits, and gives the judge the result.
func (e *end) trySubmit(now core.Micros, chunk []byte) {
	err := e.sender.Submit(now, chunk)
	if err != nil {
		e.world.Counts[BadSubmits]++
	}
	e.report(e.sending.Submitted(e.since0(now), chunk, err == nil))
}

// fill makes a chunk's content.
func fill(d sim.Draw, size int) []byte {
	var seed [32]byte
	for i := range 4 {
		seed[i] = byte(d.Uint32())
	}
	content := make([]byte, size)
	_, _ = rand.NewChaCha8(seed).Read(content) // never fails
	return content
}

// delivered: the sender has reported that the peer has the chunk.
func (e *end) delivered() {
	w := e.world
	w.Counts[Reported]++
	e.mark('D', uint64(e.chunks))
	if w.Log.Verbose() {
		e.note("the chunk is delivered")
	}
	e.chunks--
	clear(e.content) // it is the application's again
	e.content = nil
	e.submitSoon()
}

// noticeChunk plans to read a chunk that is complete.
func (e *end) noticeChunk() {
	if !e.receiver.Ready() || e.reading {
		return
	}
	e.reading = true
	wait := core.Micros(0)
	if e.readDelay > 0 {
		wait = e.world.Time(0, 2*e.readDelay)
	}
	e.later(wait, e.read)
}

// ahead stands in the buffer before the chunk.
var ahead = []byte("ahead")

// read takes the chunk that waits, and then tries to take another.
func (e *end) read() {
	w := e.world
	e.reading = false
	now := e.clock()
	out, err := e.receiver.Read(now, append(e.buffer[:0], ahead...))
	if err != nil {
		e.report(e.receiving.Read(e.since0(now), nil, false))
		return
	}
	e.buffer = out
	chunk, found := bytes.CutPrefix(out, ahead)
	if !found {
		e.violates("SAFE-1", "changed what stood ahead of a chunk")
	}
	w.Counts[Read]++
	e.mark('R', uint64(len(chunk)))
	if w.Log.Verbose() {
		e.note("reads a chunk of %d bytes", len(chunk))
	}
	mixed := e.receiving.Mixed()
	e.report(e.receiving.Read(e.since0(now), chunk, true))
	w.Counts[Mixed] += e.receiving.Mixed() - mixed
	if _, err := e.receiver.Read(now, nil); err == nil {
		e.violates("SAFE-1", "delivered a chunk twice")
	}
	e.wake(w.Now())
}

// idle reports whether there is nothing more to send or to read.
func (e *end) idle() bool { return e.chunks == 0 && !e.receiving.Full() }
