package eventlog

import (
	"io"
	"sync"

	"github.com/chunkwire/chunkwire/core"
)

// Writer writes a file while connections run. Log never waits for the disk: a goroutine
// writes, and events that arrive while MaxPending bytes wait are dropped and counted.
type Writer struct {
	mu      sync.Mutex
	pending []byte
	dropped int64
	last    core.Micros // time of the latest event
	closed  bool
	err     error

	wake chan struct{} // something is pending, or the writer is closed
	done chan struct{}
}

// MaxPending is how many bytes can wait to be written.
const MaxPending = 4 << 20

// NewWriter returns a writer of a file with this header. Close it.
func NewWriter(out io.Writer, h Header) *Writer {
	w := &Writer{pending: AppendHeader(nil, h), wake: make(chan struct{}, 1), done: make(chan struct{})}
	w.wake <- struct{}{}
	go w.run(out)
	return w
}

// Log takes an event; it is a Log. It can be called by several goroutines.
func (w *Writer) Log(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = max(w.last, e.At)
	if w.closed || w.err != nil || len(w.pending) >= MaxPending {
		w.dropped++
		return
	}
	w.pending = Append(w.pending, &e)
	w.signal()
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes what is pending until the writer is closed.
func (w *Writer) run(out io.Writer) {
	defer close(w.done)
	var buffer []byte
	for range w.wake {
		w.mu.Lock()
		buffer, w.pending = w.pending, buffer[:0]
		closed := w.closed
		w.mu.Unlock()
		if len(buffer) > 0 {
			if _, err := out.Write(buffer); err != nil {
				w.fail(err)
				return
			}
		}
		if closed {
			return
		}
	}
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.pending = err, nil
}

// Close writes what is left and ends the file. If events were dropped, its last record says
// how many. It returns the first error of writing. What is logged from then on is lost.
func (w *Writer) Close() error {
	w.mu.Lock()
	if !w.closed && w.dropped > 0 {
		w.pending = Append(w.pending, &Event{Kind: LogDropped, At: w.last, Count: w.dropped})
	}
	w.closed = true
	w.signal()
	w.mu.Unlock()
	<-w.done
	return w.err
}

// Dropped returns how many events were not written.
func (w *Writer) Dropped() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dropped
}
