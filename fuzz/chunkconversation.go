package fuzz

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Two ends exchange chunks over a network that keeps every packet that was ever sent: it comes
// when the fuzzer says so, in any order, late, twice, or never. Both are their oracles at every
// event. Each submitted chunk is read as it was, once and in order, and nothing counts as delivered
// before it has come (section 11). At last everything arrives: then all is delivered, unless an
// end has given up.
//
// An input is a configuration of a sender, and the events of a conform.Talk.
var (
	targetConversation       = newTarget("Conversation", "both ends are their oracles on any network, and deliver when it loses nothing more", runConversation(chunks.Sender, chunks.Receiver), seedConversations(chunks.Sender, chunks.Receiver))
	targetRepairConversation = newTarget("RepairConversation", "with repair slices both ends are their oracles on any network, and deliver when it loses nothing more", runConversation(chunks.RepairSender, chunks.RepairReceiver), seedConversations(chunks.RepairSender, chunks.RepairReceiver))
)

// conversation is both ends of a conversation, and what the application sees of it.
type conversation struct {
	conform.Talk
	first     uint16
	submitted []chunks.Content
	delivered int
}

// newConversation returns new ends, whose machines a function makes.
func newConversation(sending, receiving *conform.Op, config any, machine func(op *conform.Op, config any) conform.Oracle) *conversation {
	c := &conversation{}
	var other any
	switch s := config.(type) {
	case chunks.SenderConfig:
		other = chunks.ReceiverConfig{First: s.First, GiveUp: s.GiveUp}
		c.first = s.First
	case chunks.RepairSenderConfig:
		other = chunks.RepairReceiverConfig{ReceiverConfig: chunks.ReceiverConfig{First: s.First, GiveUp: s.GiveUp}}
		c.first = s.First
	}
	c.Ends = []*conform.End{chunks.End(sending, machine(sending, config)), chunks.End(receiving, machine(receiving, other))}
	c.Ends[0].Config, c.Ends[1].Config = config, other
	return c
}

func runConversation(sending, receiving *conform.Op) func(T, []byte) {
	return func(t T, data []byte) {
		in := &conform.Input{Left: data}
		c := newConversation(sending, receiving, scheduled(sending.Configure(in)), func(op *conform.Op, config any) conform.Oracle { return op.Pair(t, config) })
		for _, end := range c.Ends {
			judge(end.Machine.(*conform.Pair), c)
		}
		c.finish(t, c.Play(in, maxOps))
	}
}

// scheduled gives a sender whose scheduler is a script one that sends by itself.
func scheduled(config any) any {
	switch c := config.(type) {
	case chunks.SenderConfig:
		if !c.Profile.Is {
			c.Profile = conform.Some(chunks.Profile{Base: chunks.Base{Cap: 17_056, SpacingUS: 1000}})
		}
		return c
	case chunks.RepairSenderConfig:
		c.Profile.Is = true
		return c
	}
	return config
}

// Saw sees both ends.
func (c *conversation) Saw(_ int64, e conform.Event, step conform.Step) error {
	s, ok := step.(chunks.Step)
	if !ok {
		return nil
	}
	switch e := e.(type) {
	case chunks.Submit:
		if s.Error == "" {
			c.submitted = append(c.submitted, chunks.ContentOf(chunks.Data(s.ChunkID, int(e.Size))))
		}
	case chunks.Read:
		if !s.Chunk.Is {
			return nil
		}
		if c.delivered++; c.delivered > len(c.submitted) || s.Chunk.V != c.submitted[c.delivered-1] {
			return fmt.Errorf("SAFE-1: the chunk that is read is not submission %d", c.delivered-1)
		}
	}
	if known, came := c.machine(0).ChunkID()-int64(c.first), c.machine(1).ChunkID()-int64(c.first); uint16(known) > uint16(came) {
		return fmt.Errorf("SAFE-2: %d chunks count as delivered, and %d have come", uint16(known), uint16(came))
	}
	return nil
}

// machine is an oracle, with what both have.
func (c *conversation) machine(end int) interface {
	State() string
	ChunkID() int64
} {
	m := c.Ends[end].Machine
	if p, is := m.(*conform.Pair); is {
		m = p.Oracle
	}
	if s, is := m.(*chunks.OracleSender); is {
		return s
	}
	return m.(*chunks.OracleReceiver)
}

// mostSteps bounds a conversation that does not end.
const mostSteps = 20_000

// finish lets everything arrive that is sent from now on. Where GIVE_UP is long, nobody gives up
// then.
func (c *conversation) finish(t T, now int64) {
	t.Helper()
	c.Mend(20_000)
	for range mostSteps {
		if c.machine(1).State() == chunkoracle.StateReady {
			c.Do(now, c.Ends[1], chunks.Read{})
		}
		if c.isOver() {
			break
		}
		next := now
		for _, end := range c.Ends {
			if at := end.Machine.Look().Deadline; at.Is {
				next = max(next, at.V)
			}
		}
		now = min(next, now+1_000_000) + 20_000
		c.Run(now, nil)
	}
	if !c.isOver() {
		t.Fatalf("the sender is %s, the receiver %s", c.machine(0).State(), c.machine(1).State())
	}
	if c.machine(0).State() == chunkoracle.StateIdle && c.machine(1).State() == chunkoracle.StateWaiting && c.delivered != len(c.submitted) {
		t.Fatalf("LIVE-2: %d of %d chunks are delivered", c.delivered, len(c.submitted))
	}
}

// isOver reports whether nothing is to come: both ends are done, or one has given up.
func (c *conversation) isOver() bool {
	sender, receiver := c.machine(0).State(), c.machine(1).State()
	return sender == chunkoracle.StateFailed || receiver == chunkoracle.StateFailed || sender == chunkoracle.StateIdle && receiver == chunkoracle.StateWaiting
}

// seedConversations are the chunks of the traces of senders, over networks that lose some packets
// or none.
func seedConversations(sending, receiving *conform.Op) func([]testvectors.File) [][]byte {
	return func(files []testvectors.File) (seeds [][]byte) {
		for i, tr := range sending.Traces(testvectors.Requests(files)) {
			config := scheduled(tr.Config)
			c := newConversation(sending, receiving, config, oracleOf)
			c.Lose(20_000, func(n int) bool { return i%4 > 0 && n%(2+i%4) == 0 })
			now := int64(0)
			for _, e := range tr.Events {
				if submit, is := e.Event.(chunks.Submit); is && submit.Size < 20_000 && len(trace(c.Ends[0])) < maxOps/4 {
					c.Do(now, c.Ends[0], submit)
					now += 400_000
					c.Run(now, nil)
					c.Do(now, c.Ends[1], chunks.Read{})
				}
			}
			seeds = append(seeds, newConversation(sending, receiving, config, oracleOf).Encode(sending.Encode(config, nil, nil), trace(c.Ends[0]), trace(c.Ends[1])))
		}
		return seeds
	}
}
