package main

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
)

// hasty is a sender whose whole chunk comes between two looks, and which then leaves.
type hasty struct {
	remote
	done  chan struct{}
	looks int
}

func (b *hasty) ReceiverStats() statemachine.ReceiverStats {
	b.looks++
	if b.looks == 1 {
		return statemachine.ReceiverStats{}
	}
	return statemachine.ReceiverStats{SlicesReceived: 1}
}
func (b *hasty) Done() <-chan struct{}                        { return b.done }
func (b *hasty) Receiving() lanes.Progress                    { return lanes.Progress{} }
func (b *hasty) Recv(context.Context) (chunk []byte, _ error) { return []byte("level"), nil }

// With --raw the chunk of a sender that was done before recv looked at it is taken.
func TestEntranceTakesABriefSender(t *testing.T) {
	b := &hasty{done: make(chan struct{})}
	close(b.done)
	e := newEntrance(&recvFlags{}, nil, note{})
	first := make(chan arrival, 1)
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		e.takeChunk(t.Context(), b, first)
	}()
	select {
	case a := <-first:
		if a.from != b {
			t.Fatalf("%+v", a)
		}
	case <-taken:
		t.Fatal("the chunk was not taken")
	}
	if a := <-e.arrivals; string(a.chunk) != "level" || a.err != nil {
		t.Errorf("%+v", a)
	}
	<-taken
}

// parted is a sender of a whole file that has left. Each chunk of it comes behind so many looks whether one is there.
type parted struct {
	remote
	chunks [][]byte
	late   int
	looks  int
}

func (p *parted) RecvReady() <-chan struct{} {
	if p.looks++; p.looks <= p.late {
		return nil
	}
	ready := make(chan struct{})
	close(ready)
	return ready
}
func (p *parted) ReceiverStats() statemachine.ReceiverStats {
	return statemachine.ReceiverStats{Chunks: 2}
}
func (p *parted) Receiving() lanes.Progress      { return lanes.Progress{} }
func (p *parted) Err() error                     { return transport.ErrClosedRemotely }
func (p *parted) RemoteAddr() net.Addr           { return &net.UDPAddr{} }
func (p *parted) part(context.Context, farewell) {}
func (p *parted) Recv(context.Context) (chunk []byte, err error) {
	chunk, p.chunks = p.chunks[0], p.chunks[1:]
	return chunk, nil
}

// A file that is here counts, although its sender has left, or its time is over when recv looks.
func TestEntranceTakesAFileThatIsHere(t *testing.T) {
	for late := range 2 {
		synctest.Test(t, func(t *testing.T) {
			content := []byte("level")
			e := newEntrance(&recvFlags{}, nil, note{t.Output()})
			e.flags.giveUp = time.Millisecond // before the next look
			b := &parted{chunks: [][]byte{headerOf(content), withHash(content)}, late: late}
			go e.takeHeader(t.Context(), b)
			synctest.Wait()
			time.Sleep(time.Second)
			select {
			case a := <-e.arrivals:
				if a.from != b || a.info.Size != int64(len(content)) {
					t.Errorf("%+v", a)
				}
			default:
				t.Errorf("the file is not taken if it comes behind %d looks", late)
			}
		})
	}
}

// brokenGate is a gate whose socket has failed.
type brokenGate struct{ gate }

var errBroken = errors.New("no socket")

func (brokenGate) accept(context.Context) (remote, error) { return nil, errBroken }
func (brokenGate) misfits() string                        { return "" }

// A recv whose socket fails ends, also with --raw.
func TestEntranceEndsWithItsGate(t *testing.T) {
	for _, raw := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			flags := &recvFlags{}
			flags.raw, flags.wait = raw, time.Hour
			if _, err := newEntrance(flags, brokenGate{}, note{t.Output()}).wait(t.Context()); !errors.Is(err, errBroken) {
				t.Errorf("raw: %v, %v", raw, err)
			}
		})
	}
}
