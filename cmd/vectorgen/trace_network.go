package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors"
)

// conversation is one that is simulated: the machines themselves, with a network
// between them that keeps every packet for the same time or loses it. What must
// come of it is stated by hand.
type conversation struct {
	name, comment, flags, sentences string

	with               string
	chunks             []int // sizes; each is submitted when the one before is acked
	delay              int64 // each way
	readAfter          int64 // how long a complete chunk waits for its reader
	loseSlice, loseAck loss
	milestones         []string // "TIME WHAT CHUNK", "<TIME WHAT CHUNK" or "FROM-TO slices"
}

// loss makes a fate: whether the n-th packet of a direction, from 1 on, sent at
// some time, is lost. Each playing has a new one, so that each is the same.
type (
	loss func() fate
	fate func(n int, at int64) bool
)

// player plays a conversation, and writes down the events of both machines.
type player struct {
	conversation
	s *statemachine.Sender
	r *statemachine.Receiver

	slicesLost, acksLost fate

	now, readAt  int64
	arrivals     []arrival // in the order of their times
	slices, acks int       // sent so far
	log          []string
	sEvents      []testvectors.Event
	rEvents      []testvectors.Event
}

type arrival struct {
	at    int64
	slice *codec.Slice
	ack   *codec.Ack
}

// vectors plays a conversation and returns its vectors.
func (c conversation) vectors() []testvectors.Vector {
	with, _ := parseScript("with " + c.with)
	scfg := testvectors.SenderConfig{FirstChunkID: firstID(with), GiveUpUS: giveUp(with), Profile: traceProfile(with["profile"])}
	rcfg := testvectors.ReceiverConfig{FirstChunkID: scfg.FirstChunkID, GiveUpUS: scfg.GiveUpUS}
	p := newPlayer(c, scfg)
	p.play()
	p.checkMilestones()
	s := trace{name: "conversation/" + c.name + "-sender", comment: c.comment, flags: c.flags, sentences: ofMachine(c.sentences, 'R')}
	r := trace{name: "conversation/" + c.name + "-receiver", comment: c.comment, flags: c.flags, sentences: ofMachine(c.sentences, 'S')}
	return []testvectors.Vector{
		s.vector(testvectors.Recommended, "sender", scfg, p.sEvents, p.senderSteps(scfg)),
		r.vector(testvectors.Recommended, "receiver", rcfg, p.rEvents, p.receiverSteps(rcfg)),
	}
}

func newPlayer(c conversation, cfg testvectors.SenderConfig) *player {
	f, wait := cfg.Profile, statemachine.Micros(cfg.GiveUpUS)
	return &player{
		conversation: c, readAt: math.MaxInt64, slicesLost: c.loseSlice.fate(), acksLost: c.loseAck.fate(),
		r: statemachine.NewReceiver(statemachine.ReceiverConfig{FirstChunkID: cfg.FirstChunkID, GiveUp: wait}),
		s: statemachine.NewSender(statemachine.SenderConfig{
			FirstChunkID: cfg.FirstChunkID, GiveUp: wait,
			Scheduler: statemachine.NewBase(statemachine.Profile{
				Rate: f.Rate, Cap: f.Cap, Burst: f.Burst, AckPays: f.AcksPay,
				Spacing: statemachine.Micros(f.SpacingUS), ResendDelay: statemachine.Micros(f.ResendDelayUS),
			}),
		}),
	}
}

// senderSteps answers the events as a trace, which must be what was played.
func (p *player) senderSteps(cfg testvectors.SenderConfig) []testvectors.Step {
	steps, err := testvectors.RunSender(cfg, p.sEvents)
	p.must(err)
	model := newSenderModel(cfg)
	for i, s := range steps {
		p.must(model.step(p.sEvents[i], s))
	}
	return steps
}

func (p *player) receiverSteps(cfg testvectors.ReceiverConfig) []testvectors.Step {
	steps, err := testvectors.RunReceiver(cfg, p.rEvents)
	p.must(err)
	model := newReceiverModel(cfg)
	for i, s := range steps {
		p.must(model.step(p.rEvents[i], s))
	}
	return steps
}

func (p *player) must(err error) {
	if err != nil {
		badTrace("%s: %v", p.name, err)
	}
}

// maxEvents bounds a conversation that does not end.
const maxEvents = 5000

// play lets time go on from event to event until nothing is left to happen.
func (p *player) play() {
	for len(p.sEvents)+len(p.rEvents) < maxEvents {
		switch {
		case len(p.arrivals) > 0 && p.arrivals[0].at == p.now:
			p.arrive()
		case p.readAt == p.now:
			p.read()
		case p.s.State() == statemachine.SenderIdle && len(p.chunks) > 0:
			p.submit()
		case int64(p.s.Deadline()) <= p.now:
			p.pollSender()
		case int64(p.r.Deadline()) <= p.now:
			p.pollReceiver()
		default:
			next := min(int64(p.s.Deadline()), int64(p.r.Deadline()), p.readAt)
			if len(p.arrivals) > 0 {
				next = min(next, p.arrivals[0].at)
			}
			if next >= int64(statemachine.Never) {
				return
			}
			p.now = next
		}
	}
	badTrace("%s: does not end", p.name)
}

func (p *player) tell(what string, id uint16) {
	p.log = append(p.log, fmt.Sprintf("%d %s %d", p.now, what, id))
}

func (p *player) arrive() {
	a := p.arrivals[0]
	p.arrivals = p.arrivals[1:]
	now := statemachine.Micros(p.now)
	if a.ack != nil {
		acked := testvectors.AckedBits(a.ack.Acked, a.ack.NumSlices)
		p.sEvents = append(p.sEvents, testvectors.Event{At: p.now, Event: "ack", ChunkID: &a.ack.ChunkID, Acked: &acked})
		p.s.HandleAck(now, *a.ack)
		if p.s.Row() == statemachine.S10Complete {
			p.tell("complete", a.ack.ChunkID)
		}
		return
	}
	size := len(a.slice.Data)
	p.rEvents = append(p.rEvents, testvectors.Event{
		At: p.now, Event: "slice", ChunkID: &a.slice.ChunkID, SliceID: &a.slice.SliceID, NumSlices: &a.slice.NumSlices, Size: &size,
	})
	was := p.r.State()
	if p.r.HandleSlice(now, *a.slice); p.r.State() == statemachine.ReceiverReady && was != statemachine.ReceiverReady {
		p.tell("ready", a.slice.ChunkID)
		p.readAt = p.now + p.readAfter
	}
}

func (p *player) read() {
	p.rEvents = append(p.rEvents, testvectors.Event{At: p.now, Event: "read"})
	if _, err := p.r.Read(statemachine.Micros(p.now), nil); err != nil {
		badTrace("%s: nothing to read at %d", p.name, p.now)
	}
	p.tell("read", p.r.ChunkID()-1)
	p.readAt = math.MaxInt64
}

func (p *player) submit() {
	size := p.chunks[0]
	p.chunks = p.chunks[1:]
	p.sEvents = append(p.sEvents, testvectors.Event{At: p.now, Event: "submit", Size: &size})
	p.must(p.s.Submit(statemachine.Micros(p.now), content(p.s.ChunkID(), size)))
}

func (p *player) pollSender() {
	p.sEvents = append(p.sEvents, testvectors.Event{At: p.now, Event: "poll"})
	for {
		slice, ok := p.s.Poll(statemachine.Micros(p.now))
		if !ok {
			break
		}
		if p.slices++; !p.slicesLost(p.slices, p.now) {
			p.send(arrival{slice: &slice})
		}
	}
	if p.s.Row() == statemachine.S15GiveUp {
		p.tell("sender-failed", p.s.ChunkID())
	}
}

func (p *player) pollReceiver() {
	p.rEvents = append(p.rEvents, testvectors.Event{At: p.now, Event: "poll"})
	for {
		ack, ok := p.r.Poll(statemachine.Micros(p.now))
		if !ok {
			break
		}
		if p.acks++; !p.acksLost(p.acks, p.now) {
			p.send(arrival{ack: &ack})
		}
	}
	if p.r.Row() == statemachine.R23GiveUp {
		p.tell("receiver-failed", p.r.ChunkID())
	}
}

// send puts a packet into the network. Those that arrive at the same time keep
// their order.
func (p *player) send(a arrival) {
	a.at = p.now + p.delay
	i, _ := slices.BinarySearchFunc(p.arrivals, a.at+1, func(b arrival, at int64) int { return int(b.at - at) })
	p.arrivals = slices.Insert(p.arrivals, i, a)
}

func (p *player) checkMilestones() {
	for _, m := range p.milestones {
		if !slices.ContainsFunc(p.log, func(entry string) bool { return meets(entry, m) }) && !p.sentAsMany(m) {
			badTrace("%s: %q did not come: %d slices, %d acks, %s", p.name, m, p.slices, p.acks, strings.Join(p.log, ", "))
		}
	}
}

// meets reports whether an entry of the log is a milestone.
func meets(entry, milestone string) bool {
	at, what, _ := strings.Cut(entry, " ")
	limit, wanted, _ := strings.Cut(milestone, " ")
	if before, ok := strings.CutPrefix(limit, "<"); ok {
		return what == wanted && parseTime(at) < parseTime(before)
	}
	return what == wanted && parseTime(at) == parseTime(limit)
}

// sentAsMany reports whether a milestone is the number of slices sent.
func (p *player) sentAsMany(milestone string) bool {
	counts, ok := strings.CutSuffix(milestone, " slices")
	if !ok {
		return false
	}
	from, to, isRange := strings.Cut(counts, "-")
	if !isRange {
		to = from
	}
	return number(from) <= p.slices && p.slices <= number(to)
}

// fate returns how a playing's packets fare.
func (l loss) fate() fate {
	if l == nil {
		return func(int, int64) bool { return false }
	}
	return l()
}

// percent loses so many of a hundred packets, by the generator of ACC-1.
func percent(n, seed uint32) loss {
	return func() fate {
		x := seed
		return func(int, int64) bool {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			return x%100 < n
		}
	}
}

// numbered loses the packets from one number to another.
func numbered(from, to int) loss {
	return func() fate { return func(n int, _ int64) bool { return from <= n && n <= to } }
}

// between loses the packets that are sent from one time until another.
func between(from, until int64) loss {
	return func() fate { return func(_ int, at int64) bool { return from <= at && at < until } }
}
