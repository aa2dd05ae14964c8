//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
)

// receiver is a client: the machines of one lane on a socket, in one goroutine. It is
// lighter than a plain.Endpoint, so that thousands leave most of the machine to the
// server.
type receiver struct {
	conn     *net.UDPConn // connected
	lanes    *lanes.Lanes
	repair   bool
	began    time.Time
	wakeAt   core.Micros
	datagram []byte // to read into
	out      []byte // to encode into
	skipFrom int    // the first slice that it never sends; 0: it sends all
	loss     int    // percent
	random   *rand.Rand
}

// receiveBuffer holds a whole chunk in flight, at the size that Linux accounts for.
const receiveBuffer = 1 << 20

func newReceiver(t task, number int) (*receiver, error) {
	conn, err := connect(t.Server)
	if err != nil {
		return nil, err
	}
	giveUp := core.FromDuration(patience)
	l, err := lanes.New(lanes.Config{Repair: paces[t.Pace].repair, GiveUp: giveUp, Profile: lanes.Burst})
	if err != nil {
		return nil, err
	}
	return &receiver{
		conn:     conn,
		lanes:    l,
		repair:   paces[t.Pace].repair,
		began:    time.Now(),
		wakeAt:   core.Never,
		datagram: make([]byte, codec.MaxDatagramSize+1),
		loss:     t.Loss,
		random:   rand.New(rand.NewPCG(uint64(t.Number), uint64(number))),
	}, nil
}

func connect(server string) (*net.UDPConn, error) {
	addr, err := net.ResolveUDPAddr("udp4", server)
	if err != nil {
		return nil, err
	}
	conn, err := net.DialUDP("udp4", nil, addr)
	if err != nil {
		return nil, err
	}
	return conn, conn.SetReadBuffer(receiveBuffer)
}

func (r *receiver) now() core.Micros { return core.FromDuration(time.Since(r.began)) }

// deliver sends a chunk and returns when the server has it.
func (r *receiver) deliver(chunk []byte) error {
	if _, err := r.lanes.Submit(r.now(), chunk); err != nil {
		return err
	}
	for r.lanes.Sending() {
		if err := r.step(); err != nil {
			return err
		}
	}
	return r.lanes.Err()
}

func (r *receiver) sayHello() error { return r.deliver([]byte("hello")) }

// beginChunk sends the first n slices of a chunk of 256 until they are acked.
func (r *receiver) beginChunk(n int) error {
	if _, err := r.lanes.Submit(r.now(), make([]byte, codec.MaxChunkSize)); err != nil {
		return err
	}
	r.skipFrom = n
	for r.lanes.Stats().Sending.Have < n {
		if err := r.step(); err != nil {
			return err
		}
	}
	return nil
}

// fetch receives a chunk and compares it.
func (r *receiver) fetch(want []byte, memory *sync.Pool) error {
	for r.lanes.ReadSize() == 0 {
		if err := r.step(); err != nil {
			return err
		}
	}
	m := memory.Get().(*[codec.MaxChunkSize]byte)
	defer memory.Put(m)
	if got, _ := r.lanes.Read(r.now(), m[:0]); !bytes.Equal(got, want) {
		return errors.New("the world is not what was sent")
	}
	return nil
}

// step sends what is due, and takes a datagram or waits for the next timer.
func (r *receiver) step() error {
	if err := r.poll(r.now()); err != nil {
		return err
	}
	if at := r.lanes.Deadline(); at != r.wakeAt {
		r.wakeAt = at
		if err := r.conn.SetReadDeadline(r.began.Add(at.Duration())); err != nil {
			return err
		}
	}
	n, err := r.conn.Read(r.datagram)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	if err != nil || r.unlucky() {
		return err
	}
	if err := r.handle(r.datagram[:n]); err != nil {
		return fmt.Errorf("a datagram of %d bytes: %w", n, err)
	}
	return nil
}

// handle takes a datagram of the variant.
func (r *receiver) handle(datagram []byte) error {
	p, err := r.framer().Decode(datagram)
	switch {
	case err != nil:
	case p.Type == codec.TypeSlice:
		r.lanes.HandleSlice(r.now(), 0, p.Slice)
	default:
		r.lanes.HandleAck(r.now(), 0, p.Ack)
	}
	return err
}

func (r *receiver) poll(now core.Micros) error {
	for {
		if _, a, ok := r.lanes.PollAck(now); ok {
			r.out, _ = r.framer().AppendAck(r.out[:0], a)
		} else if _, s, ok := r.lanes.PollSlice(now); ok {
			if r.skipFrom > 0 && s.SliceID >= r.skipFrom {
				continue
			}
			r.out, _ = r.framer().AppendSlice(r.out[:0], s)
		} else {
			return nil
		}
		if r.unlucky() {
			continue
		}
		if _, err := r.conn.Write(r.out); err != nil {
			return err
		}
	}
}

// framer returns that of the kind of slices.
func (r *receiver) framer() codec.Framer {
	if r.repair {
		return repairFramer
	}
	return framer
}

// unlucky reports whether the next datagram is lost.
func (r *receiver) unlucky() bool { return r.loss > 0 && r.random.IntN(100) < r.loss }
