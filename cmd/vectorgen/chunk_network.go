package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// simulation runs the oracle's machines in virtual time, and adds the sender's trace: the receiver has no part in it.
func (g *group) simulation(s script.Script) error {
	ends, err := simulated(chunks.Sender, s)
	if err != nil {
		return err
	}
	g.addScript(s, ends[0].Request(), conform.Response(ends[0].Steps))
	return nil
}

// repairSimulation adds a trace of each end. A vector names its own rows and rules, and what both keep.
func (g *group) repairSimulation(s script.Script) error {
	ends, err := simulated(chunks.RepairSender, s)
	if err != nil {
		return err
	}
	err = namesRows(g.file.Group+"/"+s.Name, s.Sentences, slices.Concat(append(ends[0].Rows(), ends[1].Rows()...)...))
	of := [2]*regexp.Regexp{regexp.MustCompile(`^(U|RPR-|RPK-)`), regexp.MustCompile(`^(T|RPX-|RPL-)`)} // the other end's
	for i, end := range ends {
		half := s
		half.Name, half.Level = s.Name+[]string{"-sender", "-receiver"}[i], []testvectors.Level{s.Level, testvectors.Repair}[i]
		half.Sentences = slices.DeleteFunc(slices.Clone(s.Sentences), of[i].MatchString)
		g.addScript(half, end.Request(), conform.Response(end.Steps))
	}
	return err
}

// connectionTime is how long a conversation over a connection is, in microseconds.
const connectionTime = 3_000_000

// connectionSimulation adds a trace of each end of a connection. What the network does with slices it
// does with all datagrams of the client, and with all of the server what it does with acks.
func (g *group) connectionSimulation(s script.Script) error {
	spec, err := script.ParseSimulation(connections.Op, s.Lines)
	if err != nil {
		return err
	}
	t, err := newChunkTalk(spec)
	if err != nil {
		return err
	}
	err = t.run()
	var log, taken []string
	for i, end := range t.Ends {
		r, refused := connections.Op.Record(end.Config)
		if refused != nil {
			return refused
		}
		for _, e := range end.Machine.(*conform.Recorded).Events { // without the reads that gave nothing
			if s := r.Do(e.At, e.Event).(connections.Step); s.Chunk.Is {
				log = append(log, fmt.Sprintf("%d read %d", e.At, len(log)))
			}
		}
		r.Cut(slices.Concat(spec.UntilUS, []int64{math.MaxInt64, math.MaxInt64})[i])
		taken = append(taken, slices.Concat(r.Rows()...)...)
		half := s
		half.Name += "-" + end.Name
		g.addScript(half, r.Request(), conform.Response(r.Steps))
	}
	return errors.Join(err, spec.Check(log, t.sent[0]), namesRows(g.file.Group+"/"+s.Name, s.Sentences, taken))
}

// simulated runs a script with such a sender.
func simulated(op *conform.Op, s script.Script) (ends [2]*conform.Recorded, err error) {
	spec, err := script.ParseSimulation(op, s.Lines)
	if err != nil {
		return ends, err
	}
	t, err := newChunkTalk(spec)
	if err != nil {
		return ends, err
	}
	if err := t.run(); err != nil {
		return ends, err
	}
	ends = [2]*conform.Recorded{t.Ends[0].Machine.(*conform.Recorded), t.Ends[1].Machine.(*conform.Recorded)}
	err = spec.Check(append(milestones(ends[0]), milestones(ends[1])...), t.sent[0])
	for i, at := range spec.UntilUS {
		ends[i].Cut(at)
	}
	return ends, err
}

// chunkTalk is a sender and a receiver in virtual time.
type chunkTalk struct {
	*script.Simulation
	conform.Talk
	sent    [2]int  // packets, by the end
	departs []int64 // when what waits leaves the network's queue, or has left it
	policed int64   // the policer's time (a leaky bucket)
	loses   [2]func(int, int64) bool
	late    func(int, int64) bool
	twice   func(int, int64) bool
}

// maxSteps bounds a conversation that does not end.
const maxSteps = 40_000

func newChunkTalk(spec *script.Simulation) (*chunkTalk, error) {
	t := &chunkTalk{Simulation: spec, late: spec.Late.Fate(), twice: spec.Duplicate.Fate()}
	t.loses = [2]func(int, int64) bool{spec.LoseSlices.Fate(), spec.LoseAcks.Fate()}
	op, config := receiverOf(spec.Config, spec.DelayUS)
	sender, err1 := spec.Op.Record(spec.Config)
	receiver, err2 := op.Record(config)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	t.Ends = []*conform.End{endOf(sender), endOf(receiver)}
	t.Carry = t.carry
	return t, nil
}

// endOf is a recorded machine as an end of a talk.
func endOf(r *conform.Recorded) *conform.End {
	c, is := r.Config.(connections.Config)
	if !is {
		return chunks.End(r.Op, r)
	}
	return &conform.End{
		Name: c.Side, Config: c, Machine: r, Poll: connections.Poll{},
		Sent:    func(s conform.Step) []conform.Bytes { return s.(connections.Step).Datagrams },
		Arrives: func(b conform.Bytes) conform.Event { return connections.Receive{Hex: b} },
	}
}

// receiverOf is the other end of a sender, or of a client.
func receiverOf(config any, delay int64) (*conform.Op, any) {
	if c, is := config.(chunks.RepairSenderConfig); is {
		return chunks.RepairReceiver, chunks.RepairReceiverConfig{ReceiverConfig: chunks.ReceiverConfig{First: c.First, GiveUp: c.GiveUp}}
	}
	if c, is := config.(connections.Config); is {
		c.Begin += delay
		return connections.Op, c.Sided(connections.Server, c.SendKey, c.ReceiveKey)
	}
	c := config.(chunks.SenderConfig)
	return chunks.Receiver, chunks.ReceiverConfig{First: c.First, GiveUp: c.GiveUp}
}

// run lets everything happen until nothing is left.
func (t *chunkTalk) run() error {
	t.submit(0)
	for end, told := range t.Tell {
		for _, e := range told {
			t.Add(e.At, conform.Polling, func(at int64) { t.Do(at, t.Ends[end], e.Event) })
		}
	}
	until := int64(math.MaxInt64)
	if t.Op == connections.Op { // which has always something to send
		until = connectionTime
	}
	t.Run(until, func() bool { return t.sent[0]+t.sent[1] > maxSteps })
	if t.sent[0]+t.sent[1] > maxSteps {
		return errors.New("does not end")
	}
	return nil
}

// milestoneOf is what a script says of a row.
var milestoneOf = map[string]string{
	"R1": "ready", "R6": "ready", "R10": "ready", "R16": "read", "S10": "complete",
	"U1": "ready", "U6": "ready", "U11": "ready", "U17": "read", "T10": "complete",
}

// failures are the errors of an end whose chunk is never complete.
var failures = map[string]string{"S15": "sender-failed", "R23": "receiver-failed", "T15": "sender-failed", "U24": "receiver-failed"}

// milestones are the steps of an end that a conversation must reach.
func milestones(r *conform.Recorded) (log []string) {
	for i, s := range r.Steps {
		s := s.(chunks.Step)
		if what, is := milestoneOf[s.Row]; is {
			log = append(log, fmt.Sprintf("%d %s %d", r.Events[i].At, what, s.ChunkID-1))
		}
		if what, is := failures[s.Row]; is {
			log = append(log, fmt.Sprintf("%d %s %d", r.Events[i].At, what, s.ChunkID))
		}
	}
	return log
}

// submit submits the next chunk, if there is one.
func (t *chunkTalk) submit(at int64) {
	if len(t.Chunks) == 0 {
		return
	}
	size := t.Chunks[0]
	t.Chunks = t.Chunks[1:]
	t.Do(at, t.Ends[0], chunks.Submit{Size: int64(size)})
}

// carry keeps packets for some time or loses them; slices can wait for each other.
func (t *chunkTalk) carry(at int64, from *conform.End, _ conform.Event, b conform.Bytes) {
	end := slices.Index(t.Ends, from)
	t.sent[end]++
	n, to := t.sent[end], t.Other(from)
	delay, lost := script.At(at, t.DelayUS, t.Longer), t.loses[end](n, at)
	arrives := func(leaves int64) {
		t.Add(leaves+delay, conform.Arrival, func(at int64) { t.arrives(at, to, to.Arrives(b)) })
	}
	if end == 1 {
		if !lost {
			arrives(at)
		}
		return
	}
	isLate, comesTwice := t.late(n, at), t.twice(n, at)
	leaves, carried := t.leaves(at)
	if isLate {
		leaves += t.LateUS
	}
	if !carried || lost {
		return
	}
	arrives(leaves)
	if comesTwice {
		arrives(leaves + t.LateUS)
	}
}

// leaves puts a slice behind those that wait, and returns when it leaves; or it is dropped.
func (t *chunkTalk) leaves(at int64) (leaves int64, carried bool) {
	for len(t.Others) > 0 && t.Others[0] <= at {
		t.wait(t.Others[0])
		t.Others = t.Others[1:]
	}
	if t.PoliceUS > 0 && (t.PoliceEnd == 0 || at < t.PoliceEnd) {
		next := max(t.policed, at)
		if next-at > (t.Depth-1)*t.PoliceUS {
			return 0, false
		}
		t.policed = next + t.PoliceUS
	}
	return t.wait(at)
}

// wait puts something into the queue, unless it is full.
func (t *chunkTalk) wait(at int64) (leaves int64, carried bool) {
	t.departs = slices.DeleteFunc(t.departs, func(leaves int64) bool { return leaves <= at })
	if n := len(t.departs); n > 0 {
		if t.Queue > 0 && n > t.Queue { // one of them is on the link
			return 0, false
		}
		leaves = t.departs[n-1]
	}
	leaves = max(leaves, at) + script.At(at, t.CarryUS, t.Carries)
	t.departs = append(t.departs, leaves)
	return leaves, true
}

// arrives gives an end a packet.
func (t *chunkTalk) arrives(at int64, to *conform.End, e conform.Event) {
	s, is := t.Do(at, to, e).(chunks.Step)
	if !is {
		t.Add(at+t.ReadUS, conform.Arrival, func(at int64) { readAll(at, to.Machine.(*conform.Recorded)) })
	}
	switch milestoneOf[s.Row] {
	case "ready":
		t.Add(at+t.ReadUS, conform.Arrival, t.read)
	case "complete":
		t.Add(at+t.PauseUS, conform.Arrival, t.submit)
	}
}

// read reads the chunk, which must be the one that was sent.
func (t *chunkTalk) read(at int64) {
	s := t.Do(at, t.Ends[1], chunks.Read{}).(chunks.Step)
	id := s.ChunkID - 1
	if s.Chunk.V != chunks.ContentOf(chunks.Data(id, s.Chunk.V.Size)) {
		panic(fmt.Sprintf("chunk %d is not the one that was sent", id))
	}
}

// readAll reads what an end of a connection has. A read that gives nothing is no part of the trace.
func readAll(at int64, end *conform.Recorded) {
	for list := []conform.Event{connections.ReadChunk{}, connections.Read{Channel: 1}, connections.Read{Channel: 2}}; len(list) > 0; {
		if s := end.Oracle.Do(at, list[0]).(connections.Step); s.Chunk.Is || s.Read.Is {
			end.Events = append(end.Events, conform.Timed{At: at, Event: list[0]})
		} else {
			list = list[1:]
		}
	}
}
