package live

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
)

// tally counts the datagrams that an end sends, and why they are refused.
type tally struct {
	from   string
	decode func(datagram []byte) error
	mu     *sync.Mutex
	all    int
	bytes  int // with IP and UDP headers
	codes  map[string]int
}

func newTally(from string, decode func(datagram []byte) error) tally {
	return tally{from: from, decode: decode, mu: new(sync.Mutex), codes: map[string]int{}}
}

// decoder returns the decoder of a variant. The datagrams of a connection stay sealed.
func decoder(protocolID uint32, variant string) func(datagram []byte) error {
	framer := codec.NewFramer(protocolID)
	switch variant {
	case Connection:
		return func(datagram []byte) error { _, err := session.Decode(datagram); return err }
	case Repair:
		framer = codec.Repair.Framer(protocolID + connection.RepairIDs)
	}
	return func(datagram []byte) error { _, err := framer.Decode(datagram); return err }
}

func (t *tally) add(datagram []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all++
	t.bytes += len(datagram) + codec.HeaderBytes
	var refused *codec.Error
	if errors.As(t.decode(datagram), &refused) {
		t.codes[string(refused.Code())]++
	}
}

// times returns how many times a chunk's bytes came.
func (t *tally) times(size int) float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return float64(t.bytes) / float64(size)
}

func (t *tally) refused() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum()
}

// sum is refused for who holds the lock.
func (t *tally) sum() (n int) {
	for _, count := range t.codes {
		n += count
	}
	return n
}

// complaint is an error if something was refused, or nothing came.
func (t *tally) complaint() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := t.sum()
	codes := strings.Join(slices.Sorted(maps.Keys(t.codes)), ", ")
	switch {
	case t.all == 0:
		return fmt.Errorf("no datagram came from %s", t.from)
	case refused == t.all:
		return fmt.Errorf("%d datagrams came from %s, all refused: %s", t.all, t.from, codes)
	case refused > 0:
		return fmt.Errorf("%d datagrams came from %s, %d of them refused: %s", t.all, t.from, refused, codes)
	}
	return nil
}

// watched is a socket of the relay whose arrivals are counted.
type watched struct {
	net.PacketConn
	tally *tally
}

func (w watched) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := w.PacketConn.ReadFrom(b)
	if err == nil {
		w.tally.add(b[:n])
	}
	return n, from, err
}
