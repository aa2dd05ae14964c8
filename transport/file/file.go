package file

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Conn is what content can go over: transport.Peer.Chunks, or a *plain.Conn.
type Conn interface {
	Enqueue(ctx context.Context, chunk []byte) (*driver.Delivery, error)
	Recv(ctx context.Context) ([]byte, error)
	RecvAppend(ctx context.Context, dst []byte) ([]byte, error)
	RecvReady() <-chan struct{}
	Flush(ctx context.Context) error
	RemoteAddr() net.Addr
	Lanes() int
	SenderStats() statemachine.SenderStats
}

// What Send and Receive report, besides the connection's errors.
var (
	// ErrMismatch says that the content at this end differs from the announcement in
	// size, or, at the receiver, in SHA-256.
	ErrMismatch = errors.New("transport/file: size or hash of the content differ")

	// ErrConvention means that the data of the peer do not follow the file
	// convention: a first chunk that is no header, or an answer that is no receipt
	// or comes too early.
	ErrConvention = errors.New("transport/file: the peer does not follow the file convention")

	// ErrTooLarge says that the header announces more than ReceiveOptions.MaxSize.
	ErrTooLarge = errors.New("transport/file: the content is too large")

	// ErrPeerMismatch means that, by the receipt, the peer did not receive the content
	// that the header had announced.
	ErrPeerMismatch = errors.New("transport/file: the peer reports that size or hash differ")

	// ErrPeerRefused says that, by the receipt, the peer did not store the file.
	ErrPeerRefused = errors.New("transport/file: the peer did not store the file")
)

// Linger is for plain.Conn.Linger after Send: it exceeds the time after which a
// receipt whose ack was lost is sent again.
const Linger = 600 * time.Millisecond

// receiptLimit is how long the receiver waits until its receipt has arrived: as long as a
// chunk can be without progress by default. On a path that loses a third of all datagrams
// both ways, or between busy machines, a second or three are not always enough, and then
// the sender of a file that is stored has an error.
const receiptLimit = 10 * time.Second

// Info is what an end says of content: its size ahead (FIL-1), and its hash behind it (FIL-2).
type Info struct {
	Size   int64             // in bytes, not negative
	SHA256 [sha256.Size]byte // of the whole content; zeros until all of it was sent or received
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx    context.Context
	source io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, driver.Canceled(r.ctx)
	}
	return r.source.Read(b)
}

// nextChunk returns how many bytes the next chunk has when done are over, of the content
// and the hash behind it; 0 at the end (FIL-2).
func (info Info) nextChunk(done int64) int {
	if left := info.Size - done; left < codec.MaxChunkSize {
		return int(min(left+sha256.Size, codec.MaxChunkSize))
	}
	return codec.MaxChunkSize
}

// The two chunks of the convention that are not content.
const (
	headerMagic  = "CWF2"
	headerSize   = 4 + 8
	receiptMagic = "CWR1"
	receiptSize  = 4 + 1
)

// IsHeader reports whether a chunk is what content begins with (FIL-1).
func IsHeader(chunk []byte) bool {
	_, err := decodeHeader(chunk)
	return err == nil
}

// encode returns the header chunk (FIL-1).
func (info Info) encode() []byte {
	b := append(make([]byte, 0, headerSize), headerMagic...)
	return binary.LittleEndian.AppendUint64(b, uint64(info.Size))
}

// decodeHeader takes exactly what encode makes, of a size that can be stored
// (FIL-5).
func decodeHeader(chunk []byte) (Info, error) {
	if len(chunk) != headerSize || string(chunk[:4]) != headerMagic {
		return Info{}, fmt.Errorf("%w: a first chunk of %d bytes that is no header", ErrConvention, len(chunk))
	}
	size := binary.LittleEndian.Uint64(chunk[4:])
	if size > math.MaxInt64 {
		return Info{}, fmt.Errorf("%w: a size of %d bytes", ErrConvention, size)
	}
	return Info{Size: int64(size)}, nil
}

// receipt is what the receiver answers (FIL-4).
type receipt byte

const (
	receiptStored receipt = iota
	receiptMismatch
	receiptRefused
	numReceipts

	noReceipt receipt = 255
)

func (r receipt) encode() []byte { return append([]byte(receiptMagic), byte(r)) }

func decodeReceipt(chunk []byte) (receipt, error) {
	if len(chunk) != receiptSize || string(chunk[:4]) != receiptMagic || chunk[4] >= byte(numReceipts) {
		return 0, fmt.Errorf("%w: an answer of %d bytes that is no receipt", ErrConvention, len(chunk))
	}
	return receipt(chunk[4]), nil
}

// err returns what the receipt means to the sender.
func (r receipt) err() error {
	switch r {
	case receiptMismatch:
		return ErrPeerMismatch
	case receiptRefused:
		return ErrPeerRefused
	}
	return nil
}
