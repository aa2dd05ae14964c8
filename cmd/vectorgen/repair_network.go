package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// repairConversation adds a trace each of a sender and a receiver that talk over a network.
// They run the oracle.
func (g *group) repairConversation(s script.Script) error {
	c, err := script.ParseRepairSimulation(s.Lines)
	if err != nil {
		return err
	}
	t := newRepairTalk(c)
	if err := t.run(); err != nil {
		return err
	}
	if err := errors.Join(c.Check(t.log, t.sent), namesRows(s, append(rowsOfRepair(t.sender.taken), rowsOfRepair(t.receiver.taken)...))); err != nil {
		return err
	}
	g.addScript(s, "-sender", begin(s.Sentences, "RPR- RPK- U"), asJSON(contract.RepairSenderRequest{Op: contract.OpRepairSender, Config: c.Config, Events: t.sender.events}), asJSON(t.sender.taken))
	s.Level = testvectors.Repair
	cfg := contract.ReceiverConfig{FirstChunkID: c.Config.FirstChunkID, GiveUpUS: c.Config.GiveUpUS}
	g.addScript(s, "-receiver", begin(s.Sentences, "RPX- RPL- T"), asJSON(contract.RepairReceiverRequest{Op: contract.OpRepairReceiver, Config: cfg, Events: t.receiver.events}), asJSON(t.receiver.taken))
	return nil
}

// repairTalk is a sender and a receiver in virtual time.
type repairTalk struct {
	*script.RepairSimulation
	sender   repairEnd
	receiver repairEnd
	waiting  []happening
	made     int
	now      int64
	freeAt   int64 // when the network carries the next slice
	sent     int
	acks     int
	loses    [2]func(int, int64) bool
	late     func(int, int64) bool
	twice    func(int, int64) bool
	log      []string
}

// repairEnd is a machine, what happened to it and what it did.
type repairEnd struct {
	events   []contract.RepairEvent
	taken    contract.RepairTraceResponse
	step     func(i int, e contract.RepairEvent) contract.RepairStep
	deadline func() (int64, bool)
}

func (e *repairEnd) happens(event contract.RepairEvent) contract.RepairStep {
	step := e.step(len(e.events), event)
	e.events = append(e.events, event)
	e.taken.Steps = append(e.taken.Steps, step)
	return step
}

func newRepairTalk(c *script.RepairSimulation) *repairTalk {
	s := newRepairSender(c.Config)
	r := repairoracle.NewReceiver(int64(c.Config.FirstChunkID), c.Config.GiveUpUS)
	t := &repairTalk{RepairSimulation: c, late: c.Late.Fate(), twice: c.Duplicate.Fate()}
	t.loses = [2]func(int, int64) bool{c.LoseSlices.Fate(), c.LoseAcks.Fate()}
	t.sender = repairEnd{taken: contract.RepairTraceResponse{Answer: ok}, step: s.step, deadline: s.Deadline}
	t.receiver = repairEnd{taken: contract.RepairTraceResponse{Answer: ok}, deadline: r.Deadline, step: func(i int, e contract.RepairEvent) contract.RepairStep {
		return repairReceiverStep(r, i, e)
	}}
	t.add(0, t.submit)
	return t
}

func (t *repairTalk) add(at int64, do func(int64)) {
	t.made++
	t.waiting = append(t.waiting, happening{at, t.made, do})
}

func (t *repairTalk) note(what string, id uint16) {
	t.log = append(t.log, fmt.Sprintf("%d %s %d", t.now, what, id))
}

// run lets everything happen until nothing is left. A machine is polled at its deadline.
func (t *repairTalk) run() error {
	for range maxSteps {
		list := slices.Clone(t.waiting)
		for n, end := range []*repairEnd{&t.sender, &t.receiver} {
			if at, some := end.deadline(); some {
				list = append(list, happening{max(at, t.now), t.made + 1 + n, func(at int64) { t.poll(n, end) }})
			}
		}
		if len(list) == 0 {
			return nil
		}
		first := slices.MinFunc(list, func(a, b happening) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
		t.waiting = slices.DeleteFunc(t.waiting, func(h happening) bool { return h.order == first.order })
		t.now = max(t.now, first.at)
		first.do(t.now)
	}
	return errors.New("does not end")
}

// submit submits the next chunk, if there is one.
func (t *repairTalk) submit(at int64) {
	if len(t.Chunks) > 0 {
		size := t.Chunks[0]
		t.Chunks = t.Chunks[1:]
		t.sender.happens(contract.RepairEvent{At: at, Event: "submit", Size: &size})
	}
}

// poll polls a machine, and gives what it sends to the network.
func (t *repairTalk) poll(n int, end *repairEnd) {
	step := end.happens(contract.RepairEvent{At: t.now, Event: "poll"})
	switch step.Row {
	case "T15":
		t.note("sender-failed", step.ChunkID)
	case "U24":
		t.note("receiver-failed", step.ChunkID)
	}
	for _, p := range step.Packets {
		if n == 0 {
			t.carrySlice(p)
		} else {
			t.carryAck(p)
		}
	}
}

func (t *repairTalk) carrySlice(p contract.RepairSent) {
	t.sent++
	lost, late, twice := t.loses[0](t.sent, t.now), t.late(t.sent, t.now), t.twice(t.sent, t.now)
	t.freeAt = max(t.freeAt, t.now) + t.CarryUS
	if lost {
		return
	}
	at := t.freeAt + t.DelayUS
	if late {
		at += t.LateUS
	}
	e := contract.RepairEvent{Event: "slice", ChunkID: &p.ChunkID, SliceID: p.SliceID, NumSlices: &p.NumSlices, LastBytes: p.LastBytes}
	t.add(at, func(at int64) { t.arrives(at, e) })
	if twice {
		t.add(at+t.LateUS, func(at int64) { t.arrives(at, e) })
	}
}

func (t *repairTalk) arrives(at int64, e contract.RepairEvent) {
	e.At = at
	if step := t.receiver.happens(e); step.Row == "U1" || step.Row == "U6" || step.Row == "U11" {
		t.note("ready", *e.ChunkID)
		t.add(at+t.ReadUS, t.read)
	}
}

// read reads the chunk, which must be the one that was sent (RPV-SAFE-1).
func (t *repairTalk) read(at int64) {
	step := t.receiver.happens(contract.RepairEvent{At: at, Event: "read"})
	id := step.ChunkID - 1
	if step.Chunk == nil || *step.Chunk != contentOf(trace.Data(id, step.Chunk.Size)) {
		panic(fmt.Sprintf("chunk %d is not what was sent", id))
	}
	t.note("read", id)
}

func (t *repairTalk) carryAck(p contract.RepairSent) {
	t.acks++
	if t.loses[1](t.acks, t.now) {
		return
	}
	e := contract.RepairEvent{Event: "ack", ChunkID: &p.ChunkID, NumSlices: &p.NumSlices, Have: p.Have, Top: p.Top}
	t.add(t.now+t.DelayUS, func(at int64) {
		e.At = at
		step := t.sender.happens(e)
		switch step.Row {
		case "T6":
			if step.ChunkID == *e.ChunkID {
				panic("a genuine ack is foreign") // RPV-SAFE-6
			}
		case "T10":
			t.note("complete", *e.ChunkID)
			t.add(at, t.submit)
		}
	})
}
