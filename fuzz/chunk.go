package fuzz

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/sim"
)

// The machines of a chunk, whatever the scheduler is.
var (
	targetReceiver       = chunkMachine("Receiver", "a receiver is its oracle, within its memory, then completes", chunks.Receiver)
	targetSender         = chunkMachine("Sender", "a sender is its oracle, whichever its scheduler, then completes", chunks.Sender)
	targetRepairReceiver = chunkMachine("RepairReceiver", "a receiver of repair slices is its oracle, within its memory, then completes", chunks.RepairReceiver)
	targetRepairSender   = chunkMachine("RepairSender", "a sender of repair slices is its oracle, whichever its rule, then completes", chunks.RepairSender)
)

func chunkMachine(name, checks string, op *conform.Op) *Target {
	return machine{name: name, checks: checks, op: op, most: maxOps, peer: completes}.target()
}

// completes lets the peer complete the chunk.
func completes(r *run) error {
	switch o := r.Oracle.(type) {
	case *chunks.OracleSender:
		acksAll(r, o)
		if o.State() == chunkoracle.StateSending {
			return errors.New("all that is sent is acked, and there is no end")
		}
	case *chunks.OracleReceiver:
		sendsAll(r, o)
		if o.State() != chunkoracle.StateFailed && o.State() != chunkoracle.StateWaiting {
			return fmt.Errorf("all has come, and it is %s", o.State())
		}
		if held, most := sim.Footprint(r.Product.(*chunks.ProductReceiver).Receiver), allowed(r); held > most {
			return fmt.Errorf("BND-1: it keeps %d bytes, though it may keep %d", held, most)
		}
	}
	if due := r.Look().Deadline; due.Is && r.now < conform.MostTime/2 {
		return fmt.Errorf("nothing is left, but something is due at %d", due.V)
	}
	return nil
}

// mostClosing bounds the events of closing.
const mostClosing = 2000

// acksAll is an honest peer that acks at once whatever was sent.
func acksAll(r *run, o *chunks.OracleSender) {
	for n := 0; n < mostClosing && o.State() == chunkoracle.StateSending; n++ {
		r.do(lets(r.Config, o))
		if ack := allSent(o); ack != nil && o.State() == chunkoracle.StateSending {
			r.do(ack)
		}
		r.wait(r.Look().Deadline.V)
	}
	r.do(r.Op.Events[2].Of)
}

// lets is a poll; a script sends all slices that were not acked.
func lets(config any, o *chunks.OracleSender) conform.Event {
	switch c := config.(type) {
	case chunks.RepairSenderConfig:
		return chunks.RepairPoll{Due: conform.If(o.NumSlices(), !c.Profile.Is)}
	case chunks.SenderConfig:
		var e chunks.Poll
		for k, acked := range o.Acked() {
			if !acked && !c.Profile.Is {
				e.Due = append(e.Due, int64(k))
			}
		}
		return e
	}
	return nil
}

// allSent is the ack of a receiver to which all has come that was sent, if there is something new.
func allSent(o *chunks.OracleSender) conform.Event {
	sent := o.Transmissions()
	switch {
	case o.Kind() == chunkoracle.Repair && sent > o.Top():
		return chunks.RepairAck{ChunkID: uint16(o.ChunkID()), NumSlices: o.NumSlices(), Have: max(o.Have(), min(sent, o.NumSlices())), Top: chunks.IDOf(o.NumSlices(), sent)}
	case o.Kind() == chunkoracle.Named && sent > o.Have():
		var b strings.Builder
		for _, is := range o.SentOnce() {
			fmt.Fprint(&b, map[bool]string{true: "1", false: "0"}[is])
		}
		return chunks.Ack{ChunkID: uint16(o.ChunkID()), Acked: b.String()}
	}
	return nil
}

// sendsAll is an honest peer that sends what is missing of the chunk that arrives, or another one.
func sendsAll(r *run, o *chunks.OracleReceiver) {
	if o.State() == chunkoracle.StateReady {
		r.do(chunks.Read{})
	}
	n, last := o.NumSlices(), max(o.LastBytes(), 1)
	if o.State() == chunkoracle.StateWaiting {
		n = 3
	}
	id := uint16(o.ChunkID())
	for k := range n {
		if o.Kind() == chunkoracle.Repair {
			r.do(chunks.RepairSlice{ChunkID: id, SliceID: k, NumSlices: n, LastBytes: last})
			continue
		}
		e := chunks.Slice{ChunkID: id, SliceID: k, NumSlices: n, Size: chunkoracle.SliceSize}
		if k == n-1 {
			e.Size = last
		}
		r.do(e)
	}
	r.do(chunks.ReceiverPoll{})
	r.do(chunks.Read{})
	r.wait(r.now + 1_000_000)
	r.do(chunks.ReceiverPoll{})
}

// allowed is how many bytes a receiver may keep (BND-1, RPV-BND-1): a named slice for each place
// that had one, and some state; or for each repair slice of a chunk, as many as came at most, a
// row of 256 bytes and what is rebuilt in its place, with blocks of scratch and tables.
func allowed(r *run) int64 {
	places, came, most := map[int64]bool{}, int64(0), int64(0)
	for _, timed := range r.Events {
		switch e := timed.Event.(type) {
		case chunks.Slice:
			places[e.SliceID] = true
		case chunks.RepairSlice:
			came, most = came+1, max(most, e.NumSlices)
		}
	}
	if r.Op == chunks.Receiver {
		return 2048 + 2048 + int64(len(places))*chunkoracle.SliceSize
	}
	return min(came, most)*(1024+256+1024) + 50*1024 // 2 KiB of it: what a rebuild in steps has solved
}
