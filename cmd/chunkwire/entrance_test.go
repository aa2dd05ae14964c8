package main

import (
	"context"
	"testing"

	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/statemachine"
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

// openGate is a gate that stays open.
type openGate struct{ gate }

func (openGate) Done() <-chan struct{} { return nil }

// With --raw the chunk of a sender that was done before recv looked at it is taken.
func TestEntranceTakesABriefSender(t *testing.T) {
	b := &hasty{done: make(chan struct{})}
	close(b.done)
	e := newEntrance(&recvFlags{}, openGate{}, note{})
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
