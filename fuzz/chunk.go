package fuzz

import (
	"fmt"
	"iter"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/sim"
)

// A machine of a chunk is given events of the contract, most of them near to how it stands,
// whatever its scheduler is: true, forged and foreign packets, submits, reads, polls and pauses;
// its clock goes back. The oracle says what it must do at each, and a receiver keeps to its
// memory. At last an honest peer completes the chunk: then the machine falls silent, unless it
// has given up.
//
// An input is a configuration and events as package conform encodes them.
var (
	targetReceiver       = newTarget("Receiver", "a receiver is its oracle, within its memory, then completes", runChunk(chunks.Receiver), seedsOf(chunks.Receiver))
	targetSender         = newTarget("Sender", "a sender is its oracle, whichever its scheduler, then completes", runChunk(chunks.Sender), seedsOf(chunks.Sender))
	targetRepairReceiver = newTarget("RepairReceiver", "a receiver of repair slices is its oracle, within its memory, then completes", runChunk(chunks.RepairReceiver), seedsOf(chunks.RepairReceiver))
	targetRepairSender   = newTarget("RepairSender", "a sender of repair slices is its oracle, whichever its rule, then completes", runChunk(chunks.RepairSender), seedsOf(chunks.RepairSender))
)

// maxOps bounds the work of one execution.
const maxOps = 400

func runChunk(op *conform.Op) func(T, []byte) {
	return func(t T, data []byte) {
		in := &conform.Input{Left: data}
		p := op.Pair(t, op.Configure(in))
		if p == nil {
			return
		}
		j := &chunkJudge{pair: p, kept: map[int64]bool{}}
		judge(p, j)
		p.Compare(op.Play(in, p.Config, p.Oracle, maxOps))
		switch o := p.Oracle.(type) {
		case *chunks.OracleSender:
			p.Compare(j.acksAll(o))
		case *chunks.OracleReceiver:
			p.Compare(j.completes(o))
		}
		if err := j.end(); err != nil {
			p.Fail("%v", err)
		}
	}
}

// chunkJudge is the judge of a machine. It sees what a receiver keeps, and else events and steps
// only.
type chunkJudge struct {
	pair *conform.Pair
	now  int64
	last chunks.Step
	kept map[int64]bool // places of named slices that had one
	most int64          // repair slices that were here at a time
}

func (j *chunkJudge) Saw(at int64, e conform.Event, step conform.Step) error {
	s, ok := step.(chunks.Step)
	if !ok {
		return nil
	}
	switch e := e.(type) {
	case chunks.Marks, chunks.Yield: // of which the machine does not get the time
		at = 0
	case chunks.Slice:
		j.kept[e.SliceID] = true
	case chunks.RepairSlice:
		if j.most = max(j.most, s.Have.V); s.State == chunkoracle.StateReady {
			j.most = max(j.most, e.NumSlices)
		}
	}
	j.last, j.now = s, max(j.now, at)
	return nil
}

// mostClosing bounds the events of closing.
const mostClosing = 2000

// acksAll are the events of an honest peer that acks at once whatever was sent.
func (j *chunkJudge) acksAll(o *chunks.OracleSender) iter.Seq2[int64, conform.Event] {
	return func(yield func(int64, conform.Event) bool) {
		for n := 0; n < mostClosing && o.State() == chunkoracle.StateSending; n++ {
			yield(j.now, j.lets(o))
			if ack := allSent(o); ack != nil && o.State() == chunkoracle.StateSending {
				yield(j.now, ack)
			}
			if at, some := o.Deadline(); some {
				j.now = min(max(j.now, at), conform.MostTime)
			}
		}
		yield(j.now, j.pair.Op.Events[2].Of)
	}
}

// lets is a poll; of a script all goes out that was not acked.
func (j *chunkJudge) lets(o *chunks.OracleSender) conform.Event {
	switch c := j.pair.Config.(type) {
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

// completes are the events of a peer that sends what is missing of the chunk that arrives, or
// another one.
func (j *chunkJudge) completes(o *chunks.OracleReceiver) iter.Seq2[int64, conform.Event] {
	return func(yield func(int64, conform.Event) bool) {
		if o.State() == chunkoracle.StateReady {
			yield(j.now, chunks.Read{})
		}
		n, last := o.NumSlices(), max(o.LastBytes(), 1)
		if o.State() == chunkoracle.StateWaiting {
			n = 3
		}
		id := uint16(o.ChunkID())
		for k := range n {
			if o.Kind() == chunkoracle.Repair {
				yield(j.now, chunks.RepairSlice{ChunkID: id, SliceID: k, NumSlices: n, LastBytes: last})
				continue
			}
			e := chunks.Slice{ChunkID: id, SliceID: k, NumSlices: n, Size: chunkoracle.SliceSize}
			if k == n-1 {
				e.Size = last
			}
			yield(j.now, e)
		}
		yield(j.now, chunks.ReceiverPoll{})
		yield(j.now, chunks.Read{})
		yield(min(j.now+1_000_000, conform.MostTime), chunks.ReceiverPoll{})
	}
}

// end judges what closing leaves.
func (j *chunkJudge) end() error {
	p, isReceiver := j.pair.Product.(*chunks.ProductReceiver)
	switch {
	case j.last.State == chunkoracle.StateFailed && j.last.Deadline.Is:
		return fmt.Errorf("it has failed, but something is due at %d", j.last.Deadline.V)
	case isReceiver && j.last.State != chunkoracle.StateFailed && j.last.State != chunkoracle.StateWaiting:
		return fmt.Errorf("all has come, and it is %s", j.last.State)
	case !isReceiver && j.last.State == chunkoracle.StateSending:
		return fmt.Errorf("all that is sent is acked, and there is no end")
	case j.last.Deadline.Is && j.now < conform.MostTime/2:
		return fmt.Errorf("nothing is left, but something is due at %d", j.last.Deadline.V)
	case isReceiver:
		if held, most := sim.Footprint(p.Receiver), j.allowed(); held > most {
			return fmt.Errorf("BND-1: it keeps %d bytes, though it may keep %d", held, most)
		}
	}
	return nil
}

// allowed is how many bytes a receiver may keep (BND-1, RPV-BND-1): a named slice for each place
// that had one, and some state; or for each repair slice that was ever held at a time itself, a
// row of 256 bytes and what is rebuilt in its place, with blocks of scratch and tables.
func (j *chunkJudge) allowed() int64 {
	if j.pair.Op == chunks.Receiver {
		return 2048 + 2048 + int64(len(j.kept))*chunkoracle.SliceSize
	}
	return j.most*(1024+256+1024) + 48*1024
}
