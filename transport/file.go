package transport

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/codec"
)

// FileInfo announces a file's content (FIL-1).
type FileInfo struct {
	Size   int64             // in bytes, not negative
	SHA256 [sha256.Size]byte // of the whole content
}

// FileLinger is for Conn.Linger, after SendFile: longer than it takes until a
// receipt whose ack was lost is sent again.
const FileLinger = 600 * time.Millisecond

// Describe reads r to its end and returns the FileInfo of what it read. It fails
// with the error of r, or with ErrCanceled between two reads if ctx ends first.
func Describe(ctx context.Context, r io.Reader) (FileInfo, error) {
	h := sha256.New()
	n, err := io.Copy(h, contextReader{ctx, r})
	if err != nil {
		return FileInfo{}, err
	}
	return FileInfo{n, [sha256.Size]byte(h.Sum(nil))}, nil
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx    context.Context
	source io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, canceled(r.ctx)
	}
	return r.source.Read(b)
}

// check compares content that was read or received (FIL-3, SEC-1).
func (info FileInfo) check(size int64, sum []byte) error {
	switch {
	case size != info.Size:
		return fmt.Errorf("%w: %d bytes of %d", ErrMismatch, size, info.Size)
	case [sha256.Size]byte(sum) != info.SHA256:
		return fmt.Errorf("%w: SHA-256 is %x, not %x", ErrMismatch, sum, info.SHA256)
	}
	return nil
}

// nextChunk returns how many bytes the next chunk of the content has when done
// are over; 0 at the end (FIL-2).
func (info FileInfo) nextChunk(done int64) int {
	return int(min(info.Size-done, codec.MaxChunkSize))
}

// The two chunks of the convention that are not content.
const (
	headerMagic  = "CWF1"
	headerSize   = 4 + 8 + sha256.Size
	receiptMagic = "CWR1"
	receiptSize  = 4 + 1
)

// IsFileHeader reports whether a chunk is what a file begins with (FIL-1).
func IsFileHeader(chunk []byte) bool {
	_, err := decodeHeader(chunk)
	return err == nil
}

// encode returns the header chunk (FIL-1).
func (info FileInfo) encode() []byte {
	b := append(make([]byte, 0, headerSize), headerMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(info.Size))
	return append(b, info.SHA256[:]...)
}

// decodeHeader takes exactly what encode makes.
func decodeHeader(chunk []byte) (FileInfo, error) {
	if len(chunk) != headerSize || string(chunk[:4]) != headerMagic {
		return FileInfo{}, fmt.Errorf("%w: a first chunk of %d bytes that is no header", ErrNotAFile, len(chunk))
	}
	size := binary.LittleEndian.Uint64(chunk[4:])
	if size > math.MaxInt64 {
		return FileInfo{}, fmt.Errorf("%w: a size of %d bytes", ErrNotAFile, size)
	}
	return FileInfo{int64(size), [sha256.Size]byte(chunk[12:])}, nil
}

// receipt is what the receiver of a file answers (FIL-4).
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
		return 0, fmt.Errorf("%w: an answer of %d bytes that is no receipt", ErrNotAFile, len(chunk))
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

// receiptLimit is how long the receiver of a file waits for its receipt to
// arrive.
const receiptLimit = 3 * time.Second
