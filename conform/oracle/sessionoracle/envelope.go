package sessionoracle

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// Replay is how many counters a receiver remembers.
const Replay = 2048

// Direction is what both ends know of one direction of a link.
type Direction struct {
	Mode string
	Key  []byte // 32; the epoch is its first 8
	Link int64
}

// tag is the tag of a datagram in the modes crc and mac.
func (d Direction) tag(c int64, without []byte) []byte {
	if d.Mode == CRC {
		return number(int64(stream.CRC32(slices.Concat(d.Key[:8], number(c, 8), without))), 4)
	}
	return HMAC(d.Key, number(c, 8), without)[:8]
}

// Seal returns the datagram of a body: the c-th of its direction.
func (d Direction) Seal(c int64, body []byte) []byte {
	head := slices.Concat(number(modes[d.Mode], 1), number(d.Link, 4), number(c, 4))
	if d.Mode != AEAD {
		without := slices.Concat(head, body)
		return slices.Concat(without, d.tag(c, without))
	}
	aead, err := chacha20poly1305.New(d.Key)
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return aead.Seal(head, slices.Concat(number(0, 4), number(c, 8)), body, slices.Clone(head))
}

// Receiver is the counters that one end has taken of one direction.
type Receiver struct {
	Direction
	Taken   map[int64]bool // all there ever were
	Highest int64          // -1 at first
}

// NewReceiver returns a receiver to which nothing has come.
func NewReceiver(d Direction) *Receiver {
	return &Receiver{Direction: d, Taken: map[int64]bool{}, Highest: -1}
}

// Take notes that a counter came.
func (r *Receiver) Take(c int64) {
	r.Taken[c] = true
	r.Highest = max(r.Highest, c)
}

// counter is what the 4 bytes of a counter mean.
func (r *Receiver) counter(low int64) int64 {
	c := r.Highest - 1<<31 + 1
	return c + ((low-c)%(1<<32)+1<<32)%(1<<32)
}

// Open opens a datagram of the link. It changes the receiver only if it succeeds. Its error
// is an *Error.
func (r *Receiver) Open(datagram []byte) (c int64, body []byte, err error) {
	m, err := Decode(datagram)
	switch {
	case err != nil:
		return 0, nil, err
	case m.Type != TypeData:
		return 0, nil, refuse(unknownKind, 0)
	case m.Link != r.Link:
		return 0, nil, refuse(unknownLink, 1)
	case m.Mode != r.Mode:
		return 0, nil, refuse(badMode, 0)
	}
	c = r.counter(m.Counter)
	switch {
	case c < 0 || c <= r.Highest-Replay:
		return 0, nil, refuse(stale, 5)
	case r.Taken[c]:
		return 0, nil, refuse(duplicate, 5)
	}
	if body = r.body(c, datagram); body == nil {
		return 0, nil, refuse(badTag, len(datagram)-tagSize[r.Mode])
	}
	r.Take(c)
	return c, body, nil
}

// body is the body of a datagram whose tag is right, or nil.
func (r *Receiver) body(c int64, datagram []byte) []byte {
	end := len(datagram) - tagSize[r.Mode]
	if r.Mode != AEAD {
		if !bytes.Equal(r.tag(c, datagram[:end]), datagram[end:]) {
			return nil
		}
		return slices.Clone(datagram[9:end])
	}
	aead, err := chacha20poly1305.New(r.Key)
	if err != nil {
		panic(err)
	}
	body, err := aead.Open(nil, slices.Concat(number(0, 4), number(c, 8)), datagram[9:], datagram[:9])
	if err != nil {
		return nil
	}
	return body
}

// HMAC is HMAC-SHA-256 over parts that are joined.
func HMAC(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}
