package transport

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/driver"
)

// Chunks is the service of a [Peer] for blocks of 1 byte to 256 KiB: each arrives
// whole, in order and once, or the connection ends with an error. For more bytes there
// is package transport/file.
//
// Its methods are
//
//	Send(ctx, chunk []byte) error            // returns nil when the peer has the chunk
//	SendEncoded(ctx, *erasure.Encoded) error // for a chunk that is sent to many
//	Enqueue(ctx, chunk []byte) (*Delivery, error)
//	EnqueueEncoded(ctx, *erasure.Encoded) (*Delivery, error)
//	Recv(ctx) ([]byte, error)
//	RecvAppend(ctx, dst []byte) ([]byte, error) // without an allocation, if dst has room
//	RecvReady() <-chan struct{}                 // for a select
//	Flush(ctx) error                            // until everything due was written to the socket
//	Done() <-chan struct{}
//	Err() error
//	LocalAddr() net.Addr
//	RemoteAddr() net.Addr
//	Lanes() int
//	SenderStats() statemachine.SenderStats
//	ReceiverStats() statemachine.ReceiverStats
//	Receiving() lanes.Progress
type Chunks = driver.ChunkQueue

// Delivery is a chunk on its way to the peer.
type Delivery = driver.Delivery

// MaxChunkSize is the largest chunk in bytes.
const MaxChunkSize = codec.MaxChunkSize
