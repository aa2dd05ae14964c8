package chunksim

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
)

// application is what uses an end: it has so many chunks to send, thinks between two of them, and reads the chunks that arrive, at
// once or not.
type application struct {
	chunks    int // still to be delivered
	sizes     int // of which kind they are
	thinks    core.Micros
	readDelay core.Micros
	content   []byte // of the chunk in flight
	reading   bool   // a read is planned
	buffer    []byte // that chunks are read into, one after the other
}

func (w *world) drawApplication() (a application) {
	a.sizes = w.IntN(6)
	if w.OneIn(2) {
		a.thinks = w.SpreadTime(core.Millisecond, 5*core.Second)
	}
	if w.OneIn(3) {
		a.readDelay = w.SpreadTime(core.Millisecond, 60*core.Second)
	}
	return a
}

// size draws the size of a chunk.
func (w *world) size(kind int) int {
	switch kind {
	case 0:
		return w.Between(1, 100)
	case 1: // at the edges of slices
		return max(1, 1024*int(w.Spread(1, 16))+w.Between(-1, 1))
	case 2:
		return int(w.Spread(1, codec.MaxChunkSize))
	case 3:
		return w.Between(1, 8*1024)
	case 4:
		return codec.MaxChunkSize - w.Between(0, 1)*w.Between(0, 1500)
	}
	return w.size(w.IntN(5)) // each time another kind
}

// later does something for the connection of now, if it still stands then.
func (e *end) later(most core.Micros, do func()) {
	sender := e.sender
	var act func()
	act = func() {
		switch {
		case e.sender != sender:
		case e.stopped:
			e.waiting = append(e.waiting, act)
		default:
			do()
		}
	}
	e.w.At(e.w.Now()+e.w.Time(0, most), act)
}

func (e *end) submitSoon() {
	if e.chunks > 0 {
		e.later(2*e.thinks, e.submit)
	}
}

// submit gives the sender a chunk, and at times what it must refuse.
func (e *end) submit() {
	w := e.w
	now := e.clock()
	if w.OneIn(16) {
		e.trySubmit(now, make([]byte, (codec.MaxChunkSize+1)*w.IntN(2)))
	}
	e.content = make([]byte, w.size(e.sizes))
	for i, more := 0, uint64(0); i < len(e.content); i, more = i+1, more>>8 {
		if i%8 == 0 {
			more = w.Uint64()
		}
		e.content[i] = byte(more)
	}
	e.trySubmit(now, e.content)
	if w.OneIn(16) {
		e.trySubmit(now, []byte{1}) // it is busy
	}
	w.Counts[Submitted]++
	e.note("submits chunk %d, %d bytes", e.sending.ID(), len(e.content))
	e.wake(w.Now())
}

// trySubmit submits, and gives the judge the result.
func (e *end) trySubmit(now core.Micros, chunk []byte) {
	err := e.sender.Submit(now, chunk)
	if err != nil {
		e.w.Counts[BadSubmits]++
	}
	e.report(e.sending.Submitted(e.since0(now), chunk, err == nil))
}

// delivered: the sender has reported that the peer has the chunk.
func (e *end) delivered() {
	e.w.Counts[Reported]++
	e.note("its chunk is delivered")
	e.chunks--
	clear(e.content) // it is the application's again
	e.submitSoon()
}

// noticeChunk plans to read a chunk that is complete.
func (e *end) noticeChunk() {
	if e.receiver.ReadSize() > 0 && !e.reading {
		e.reading = true
		e.later(2*e.readDelay, e.read)
	}
}

// ahead stands in the buffer before the chunk.
var ahead = []byte("ahead")

// read takes the chunk that waits, and then tries to take another.
func (e *end) read() {
	w := e.w
	e.reading = false
	now := e.clock()
	out, err := e.receiver.Read(now, append(e.buffer[:0], ahead...))
	if err != nil {
		e.report(e.receiving.Read(e.since0(now), nil, false))
		return
	}
	e.buffer = out
	content, found := bytes.CutPrefix(out, ahead)
	if !found {
		e.report(chunk.Violates("SAFE-1", "changed what stood ahead of a chunk"))
	}
	w.Counts[Read]++
	e.note("reads a chunk of %d bytes", len(content))
	mixed := e.receiving.Mixed()
	e.report(e.receiving.Read(e.since0(now), content, true))
	w.Counts[Mixed] += e.receiving.Mixed() - mixed
	if _, err := e.receiver.Read(now, nil); err == nil {
		e.report(chunk.Violates("SAFE-1", "delivered a chunk twice"))
	}
	e.wake(w.Now())
}
