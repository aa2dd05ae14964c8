package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// simulation runs the machines in virtual time, and adds what happened to each as a
// trace.
func (g *group) simulation(s script.Script) error {
	spec, err := script.ParseSimulation(s.Lines)
	if err != nil {
		return err
	}
	run, err := simulate(spec)
	if err != nil {
		return err
	}
	if err := spec.Check(run.log, run.sent[0]); err != nil {
		return err
	}
	if spec.Config.Recovery != nil {
		return g.senderTrace(s, "", spec.Config, run.ends[0].events, run.sentTheSame)
	}
	rcfg := contract.ReceiverConfig{FirstChunkID: spec.Config.FirstChunkID, GiveUpUS: spec.Config.GiveUpUS}
	unchecked := func([]contract.Step) error { return nil }
	return errors.Join(
		g.senderTrace(s, "-sender", spec.Config, run.ends[0].events, unchecked),
		g.receiverTrace(s, "-receiver", rcfg, run.ends[1].events, unchecked),
	)
}

// sentTheSame fails if a trace sends something else than the simulation that it comes from:
// then it is no conversation.
func (run *simulated) sentTheSame(steps []contract.Step) error {
	sent := 0
	for _, s := range steps {
		sent += len(s.Packets)
	}
	if sent != run.sent[0] {
		return fmt.Errorf("%d slices, %d in the conversation", sent, run.sent[0])
	}
	return nil
}

// simulated is a simulation that runs.
type simulated struct {
	*script.Simulation
	world    *sim.World[codec.Packet]
	sender   *statemachine.Sender
	receiver *statemachine.Receiver
	ends     [2]*recorder
	sent     [2]int  // packets, by the end
	departs  []int64 // when what waits leaves the network's queue, or has left it
	policed  int64   // the policer's time (a leaky bucket)
	log      []string
}

// maxSteps bounds a conversation that does not end.
const maxSteps = 20_000

func simulate(spec *script.Simulation) (*simulated, error) {
	scheduler, err := newScheduler(spec.Config)
	if err != nil {
		return nil, err
	}
	first, wait := spec.Config.FirstChunkID, core.Micros(spec.Config.GiveUpUS)
	s, err1 := statemachine.NewSender(statemachine.SenderConfig{FirstChunkID: first, GiveUp: wait, Scheduler: scheduler})
	r, err2 := statemachine.NewReceiver(statemachine.ReceiverConfig{FirstChunkID: first, GiveUp: wait})
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	run := &simulated{Simulation: spec, sender: s, receiver: r}
	run.ends[0] = &recorder{deadline: s.Deadline, handle: run.handleAck, poll: run.pollSender}
	run.ends[1] = &recorder{deadline: r.Deadline, handle: run.handleSlice, poll: run.pollReceiver}
	run.world = sim.NewWorld(run.carrier(), sim.End[codec.Packet](run.ends[0]), run.ends[1])
	for _, e := range spec.Tell {
		run.world.At(core.Micros(e.At), func() {
			run.ends[0].record(e)
			_ = trace.Tell(scheduler, e) // a refusal shows in the trace
		})
	}
	run.submit()
	run.world.Flush()
	if !run.world.Run(core.Never, func() bool { return run.world.Steps() > maxSteps }) {
		return run, nil
	}
	return nil, errors.New("does not end")
}

// newScheduler returns the scheduler of a config.
func newScheduler(cfg contract.SenderConfig) (statemachine.Scheduler, error) {
	if cfg.Recovery != nil {
		return trace.NewRecovery(*cfg.Recovery)
	}
	return trace.NewScheduler(*cfg.Profile)
}

// carrier keeps packets for some time or loses them; slices may wait for each other.
func (run *simulated) carrier() sim.Carrier[codec.Packet] {
	lost := [2]func(int, int64) bool{run.LoseSlices.Fate(), run.LoseAcks.Fate()}
	late, twice := run.Late.Fate(), run.Duplicate.Fate()
	return func(now time.Duration, from int, p codec.Packet, deliver func(time.Duration, int, codec.Packet)) {
		run.sent[from]++
		at, n := int64(core.FromDuration(now)), run.sent[from]
		delay := script.At(at, run.DelayUS, run.Longer)
		isLost := lost[from](n, at)
		arrives := func(after int64) { deliver(core.Micros(after+delay).Duration(), 1-from, p) }
		if from == 1 {
			if !isLost {
				arrives(at)
			}
			return
		}
		isLate, comesTwice := late(n, at), twice(n, at)
		leaves, carried := run.carry(at)
		if isLate {
			leaves += run.LateUS
		}
		if !carried || isLost {
			return
		}
		arrives(leaves)
		if comesTwice {
			arrives(leaves + run.LateUS)
		}
	}
}

// carry puts a slice behind those that wait, and returns when it leaves; or it is dropped.
func (run *simulated) carry(at int64) (leaves int64, carried bool) {
	for len(run.Others) > 0 && run.Others[0] <= at {
		run.wait(run.Others[0])
		run.Others = run.Others[1:]
	}
	if run.PoliceUS > 0 && (run.PoliceEnd == 0 || at < run.PoliceEnd) {
		next := max(run.policed, at)
		if next-at > (run.Depth-1)*run.PoliceUS {
			return 0, false
		}
		run.policed = next + run.PoliceUS
	}
	return run.wait(at)
}

// wait puts something into the queue, unless it is full.
func (run *simulated) wait(at int64) (leaves int64, carried bool) {
	run.departs = slices.DeleteFunc(run.departs, func(leaves int64) bool { return leaves <= at })
	if n := len(run.departs); n > 0 {
		if run.Queue > 0 && n > run.Queue { // one of them is on the link
			return 0, false
		}
		leaves = run.departs[n-1]
	}
	leaves = max(leaves, at) + script.At(at, run.CarryUS, run.Carries)
	run.departs = append(run.departs, leaves)
	return leaves, true
}

func (run *simulated) note(what string, id uint16) {
	run.log = append(run.log, fmt.Sprintf("%d %s %d", run.world.Now(), what, id))
}

// submit submits the next chunk.
func (run *simulated) submit() {
	if len(run.Chunks) == 0 {
		return
	}
	size, now := run.Chunks[0], run.world.Now()
	run.Chunks = run.Chunks[1:]
	run.ends[0].record(contract.Event{At: int64(now), Event: "submit", Size: &size})
	_ = run.sender.Submit(now, trace.Data(run.sender.Vars().ChunkID, size)) // a refusal shows in the trace
}

func (run *simulated) handleAck(now core.Micros, p codec.Packet) contract.Event {
	acked := contract.Bits(p.Ack.Acked, p.Ack.NumSlices)
	if run.sender.HandleAck(now, p.Ack); run.sender.Vars().Row == "S10" {
		run.note("complete", p.Ack.ChunkID)
		run.world.At(now+core.Micros(run.PauseUS), run.submit)
	}
	return contract.Event{Event: "ack", ChunkID: &p.Ack.ChunkID, Acked: &acked}
}

func (run *simulated) handleSlice(now core.Micros, p codec.Packet) contract.Event {
	s, size := p.Slice, len(p.Slice.Data)
	was := run.receiver.Vars().State
	run.receiver.HandleSlice(now, s)
	if run.receiver.Vars().State == statemachine.ReceiverReady && was != statemachine.ReceiverReady {
		run.note("ready", s.ChunkID)
		run.world.At(now+core.Micros(run.ReadUS), run.read)
	}
	return contract.Event{Event: "slice", ChunkID: &s.ChunkID, SliceID: &s.SliceID, NumSlices: &s.NumSlices, Size: &size}
}

func (run *simulated) read() {
	now := run.world.Now()
	run.ends[1].record(contract.Event{At: int64(now), Event: "read"})
	_, _ = run.receiver.Read(now, nil) // a refusal shows in the trace
	run.note("read", run.receiver.Vars().ChunkID-1)
}

func (run *simulated) pollSender(now core.Micros) (codec.Packet, bool) {
	s, ok := run.sender.Poll(now)
	if v := run.sender.Vars(); v.Row == "S15" {
		run.note("sender-failed", v.ChunkID)
	}
	return codec.Packet{Type: codec.TypeSlice, Slice: s}, ok
}

func (run *simulated) pollReceiver(now core.Micros) (codec.Packet, bool) {
	a, ok := run.receiver.Poll(now)
	if v := run.receiver.Vars(); v.Row == "R23" {
		run.note("receiver-failed", v.ChunkID)
	}
	return codec.Packet{Type: codec.TypeAck, Ack: a}, ok
}

// recorder is an end of the world that writes down what happens to its machine. It
// polls at the deadline only; the polls until none gives a packet are one event.
type recorder struct {
	deadline func() core.Micros
	handle   func(core.Micros, codec.Packet) contract.Event
	poll     func(core.Micros) (codec.Packet, bool)
	polling  bool
	events   []contract.Event
}

func (r *recorder) record(e contract.Event) { r.events = append(r.events, e) }

func (r *recorder) Deadline() core.Micros { return r.deadline() }

func (r *recorder) Handle(now core.Micros, p codec.Packet) {
	e := r.handle(now, p)
	e.At = int64(now)
	r.record(e)
}

func (r *recorder) Poll(now core.Micros) (p codec.Packet, ok bool) {
	if !r.polling {
		if r.deadline() > now {
			return p, false
		}
		r.record(contract.Event{At: int64(now), Event: "poll"})
	}
	p, r.polling = r.poll(now)
	return p, r.polling
}
