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

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
)

// receiver is a client: the protocol's machines on a socket, in one goroutine.
// It is lighter than a plain.Endpoint, so that thousands leave most of the
// machine to the server.
type receiver struct {
	conn     *net.UDPConn // connected
	sender   *statemachine.Sender
	receiver *statemachine.Receiver
	began    time.Time
	wakeAt   machine.Micros
	datagram []byte     // to read into
	out      []byte     // to encode into
	skip     bitset.Set // slices that it never sends
	loss     int        // percent
	random   *rand.Rand
}

// receiveBuffer holds a whole chunk in flight, at the size that Linux accounts for.
const receiveBuffer = 1 << 20

func newReceiver(t task, number int) (*receiver, error) {
	conn, err := connect(t.Server)
	if err != nil {
		return nil, err
	}
	giveUp := machine.FromDuration(patience)
	scheduler, err1 := base.New(base.Burst())
	sender, err2 := statemachine.NewSender(statemachine.SenderConfig{GiveUp: giveUp, Scheduler: scheduler})
	receiving, err3 := statemachine.NewReceiver(statemachine.ReceiverConfig{GiveUp: giveUp})
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return &receiver{
		conn:     conn,
		sender:   sender,
		receiver: receiving,
		began:    time.Now(),
		wakeAt:   machine.Never,
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

func (r *receiver) now() machine.Micros { return machine.FromDuration(time.Since(r.began)) }

// deliver sends a chunk and returns when the server has it.
func (r *receiver) deliver(chunk []byte) error {
	if err := r.sender.Submit(r.now(), chunk); err != nil {
		return err
	}
	for r.sender.Vars().State == statemachine.SenderSending {
		if err := r.step(); err != nil {
			return err
		}
	}
	return r.sender.Err()
}

func (r *receiver) sayHello() error { return r.deliver([]byte("hello")) }

// beginChunk sends the first n slices of a chunk of 256 until they are acked.
func (r *receiver) beginChunk(n int) error {
	chunk := make([]byte, codec.MaxChunkSize)
	if err := r.sender.Submit(r.now(), chunk); err != nil {
		return err
	}
	r.skip = bitset.FirstN(codec.MaxSlices).Minus(bitset.FirstN(n))
	for r.sender.Vars().Acked.Count() < n {
		if err := r.step(); err != nil {
			return err
		}
	}
	return nil
}

// fetch receives a chunk and compares it.
func (r *receiver) fetch(want []byte, memory *sync.Pool) error {
	for r.receiver.Vars().State != statemachine.ReceiverReady {
		if err := r.step(); err != nil {
			return err
		}
	}
	m := memory.Get().(*[codec.MaxChunkSize]byte)
	defer memory.Put(m)
	got, err := r.receiver.Read(r.now(), m[:0])
	if err == nil && !bytes.Equal(got, want) {
		err = errors.New("the world is not what was sent")
	}
	return err
}

// step sends what is due, and takes a datagram or waits for the next timer.
func (r *receiver) step() error {
	if err := r.poll(r.now()); err != nil {
		return err
	}
	if at := min(r.sender.Deadline(), r.receiver.Deadline()); at != r.wakeAt {
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
	p, err := framer.Decode(r.datagram[:n])
	if err != nil {
		return fmt.Errorf("a datagram of %d bytes: %w", n, err)
	}
	if p.Type == codec.TypeSlice {
		r.receiver.HandleSlice(r.now(), p.Slice)
	} else {
		r.sender.HandleAck(r.now(), p.Ack)
	}
	return nil
}

func (r *receiver) poll(now machine.Micros) error {
	for {
		r.out = r.out[:0]
		if a, ok := r.receiver.Poll(now); ok {
			r.out, _ = framer.AppendAck(r.out, a)
		} else if s, ok := r.sender.Poll(now); ok {
			if r.skip.Has(s.SliceID) {
				continue
			}
			r.out, _ = framer.AppendSlice(r.out, s)
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

// unlucky reports whether the next datagram is lost.
func (r *receiver) unlucky() bool { return r.loss > 0 && r.random.IntN(100) < r.loss }
