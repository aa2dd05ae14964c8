package statemachine

import "github.com/chunkwire/chunkwire/codec"

// ReceiverStats counts what a receiver did since it was made.
type ReceiverStats struct {
	Chunks         int64  // chunks that were complete
	ChunkBytes     int64  // their bytes
	SlicesReceived int64  // slice packets handled
	SlicesStored   int64  // those of them that were new
	Duplicates     int64  // those that were here already, of the current or the previous chunk
	Held           int64  // those of the next chunk that came while one waited to be read
	Conflicts      int64  // those that disagreed with the pinned number of slices
	Repins         int64  // times that the number of slices was pinned anew
	Ignored        int64  // those of any other chunk
	AcksSent       int64  // acks sent
	LastChunkTime  Micros // from the first slice to the last new one, for the last complete chunk
}

// State returns what the receiver is doing.
func (r *Receiver) State() ReceiverState { return r.state }

// Row returns the transition that the last event took; 0 before the first.
func (r *Receiver) Row() Row { return r.row }

// Err returns ErrGaveUp once the receiver has failed (RCV-15).
func (r *Receiver) Err() error {
	if r.state == ReceiverFailed {
		return ErrGaveUp
	}
	return nil
}

// ChunkID returns the id of the chunk that is arriving, or of the next one. In
// READY that is the one after the chunk that waits to be read.
func (r *Receiver) ChunkID() uint16 { return r.chunkID }

// NumSlices returns the number of slices of the chunk that is arriving; 0 when
// none is.
func (r *Receiver) NumSlices() int { return r.numSlices }

// Received returns which slices of the chunk that is arriving are here.
func (r *Receiver) Received() codec.Bitset { return r.received }

// ReadSize returns the size in bytes of the chunk that waits to be read; 0 when
// none does.
func (r *Receiver) ReadSize() int { return r.readSize }

// Stats returns the counters.
func (r *Receiver) Stats() ReceiverStats { return r.stats }
