package statemachine_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/sim/chunk"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/statemachine"
)

// The real machines as stateful systems: a random sequence of commands, whatever users
// and networks may do, is given to a machine beside its exact model. When the two
// differ gopter shrinks the sequence, and the shortest one is printed.

var commandsSeed = flag.Int64("commands.seed", 0, "seed of the stateful tests; 0: random")

// args are what a command is given; what they mean is for its verb to say.
type args [3]int

// verb is a kind of command for a system S.
type verb[S any] struct {
	weight int  // how often it is drawn
	limits args // its arguments are below these
	run    func(S, args) string
}

// system is a machine beside its model, and what is wrong.
type system interface{ objection() string }

// command is a verb with its arguments.
type command[S system] struct {
	verb *verb[S]
	args args
}

// outcome is what a command did, and what was wrong with it.
type outcome struct{ text, objection string }

// history is the conversation so far, for the report of a failure.
type history struct {
	lines []string
	over  bool
}

func (c command[S]) Run(s commands.SystemUnderTest) commands.Result {
	text := c.verb.run(s.(S), c.args)
	return outcome{text, s.(S).objection()}
}

func (command[S]) PreCondition(commands.State) bool          { return true }
func (command[S]) NextState(s commands.State) commands.State { return s } // the model is in the system
func (c command[S]) String() string                          { return fmt.Sprint(c.args) }
func (c command[S]) PostCondition(state commands.State, result commands.Result) *gopter.PropResult {
	s, out := state.(*history), result.(outcome)
	s.lines = append(s.lines, out.text)
	if out.objection == "" || s.over {
		return &gopter.PropResult{Status: gopter.PropTrue}
	}
	s.over = true
	return gopter.NewPropResult(false, out.objection+"\n    "+strings.Join(s.lines, "\n    "))
}

// shrink makes one argument smaller.
func (c command[S]) shrink() gopter.Shrink {
	i, by := 0, 0
	return func() (any, bool) {
		for ; i < len(c.args); i, by = i+1, 0 {
			if by++; by <= 2 && c.args[i] >= by {
				smaller := c
				smaller.args[i] = []int{0, c.args[i] - 1}[by-1]
				return smaller, true
			}
		}
		return nil, false
	}
}

func generator[S system](verbs []*verb[S]) gopter.Gen {
	var drawn []*verb[S]
	for _, v := range verbs {
		for range v.weight {
			drawn = append(drawn, v)
		}
	}
	return func(p *gopter.GenParameters) *gopter.GenResult {
		random := rand.New(rand.NewPCG(p.NextUint64(), 0))
		c := command[S]{verb: drawn[random.IntN(len(drawn))]}
		for i, limit := range c.verb.limits {
			c.args[i] = random.IntN(max(limit, 1))
		}
		return gopter.NewGenResult(c, func(v any) gopter.Shrink { return v.(command[S]).shrink() })
	}
}

// checkCommands runs sequences of commands and prints the shortest that goes wrong.
func checkCommands[S system](t *testing.T, newSystem func() S, verbs ...*verb[S]) {
	t.Helper()
	seed := *commandsSeed
	if seed == 0 {
		seed = rand.Int64()
	}
	parameters := gopter.DefaultTestParametersWithSeed(seed)
	parameters.MinSuccessfulTests, parameters.MaxSize = 300, 80 // sequences, commands in each
	result := commands.Prop(&commands.ProtoCommands{
		NewSystemUnderTestFunc: func(commands.State) commands.SystemUnderTest { return newSystem() },
		InitialStateGen: func(*gopter.GenParameters) *gopter.GenResult {
			return gopter.NewGenResult(&history{}, gopter.NoShrinker)
		},
		GenCommandFunc: func(commands.State) gopter.Gen { return generator(verbs) },
	}).Check(parameters)
	switch {
	case result.Passed():
	case result.Error != nil:
		t.Fatalf("%v\n    %v\n%s    -commands.seed=%d", result.Error, result.Args, result.ErrorStack, seed)
	default:
		t.Fatalf("%s\n    -commands.seed=%d", strings.Join(result.Labels, "\n"), seed)
	}
}

// objections keeps the first thing that was wrong.
type objections struct{ first string }

func (o *objections) objection() string { return o.first }

func (o *objections) fail(format string, args ...any) {
	if o.first == "" {
		o.first = fmt.Sprintf(format, args...)
	}
}

// waits are how long a poll waits; beyond them it waits for the deadline.
var waits = []machine.Micros{0, 1, 2 * ms, 300 * ms, 6 * second, 10 * second}

func wait(now, deadline machine.Micros, arg int) machine.Micros {
	switch {
	case arg < len(waits):
		return now + waits[arg]
	case deadline == machine.Never:
		return now
	}
	return max(now, deadline)
}

// rarely is 0 most of the time.
func rarely(arg int) int { return []int{0, 0, 0, 0, 1, -1, -2}[arg] }

type senderSystem struct {
	objections
	*chunk.CheckedSender
	now machine.Micros
}

var senderVerbs = []*verb[*senderSystem]{
	{3, args{6, 250}, func(s *senderSystem, a args) string {
		size := []int{1, 3000, 1025, 5000, 0, codec.MaxChunkSize + 1}[a[0]]
		err := s.Submit(s.now, chunktest.Chunk(size, uint32(a[1])))
		return fmt.Sprintf("submit %d bytes: %v", size, err)
	}},
	{6, args{2 * len(waits)}, func(s *senderSystem, a args) string {
		s.now = wait(s.now, s.Deadline(), a[0])
		text := fmt.Sprintf("polled at %d:", s.now)
		for range 1000 {
			slice, ok := s.Poll(s.now)
			if !ok || s.first != "" {
				break
			}
			text += fmt.Sprintf(" slice %d", slice.SliceID)
		}
		return text
	}},
	// Of the right chunk and number of slices, mostly; its bits are any, also of
	// slices that were never sent.
	{6, args{32, 6, 6}, func(s *senderSystem, a args) string {
		v := s.Vars()
		ack := codec.Ack{ChunkID: v.ChunkID + uint16(rarely(a[1])), NumSlices: v.NumSlices + rarely(a[2])}
		ack.Acked = bitset.Set{uint64(a[0])}.Intersect(bitset.FirstN(ack.NumSlices))
		ours := s.HandleAck(s.now, ack)
		return fmt.Sprintf("ack %05b of %d slices of chunk %d: ours %v", ack.Acked[0], ack.NumSlices, ack.ChunkID, ours)
	}},
}

// The sender does what its model does, whatever is asked of it and whichever acks come
// (section 7), with any scheduler.
func TestCommandsToTheSender(t *testing.T) {
	for _, p := range []base.Profile{base.Fixed(0), base.Burst(), base.Article(4_000_000)} {
		checkCommands(t, func() *senderSystem {
			return newSenderSystem(check.Must(base.New(p)), chunk.NewBaseModel(p))
		}, senderVerbs...)
	}
	checkCommands(t, func() *senderSystem {
		return newSenderSystem(check.Must(adaptive.New(adaptive.Adaptive())), nil)
	}, senderVerbs...)
}

func newSenderSystem(scheduler, model statemachine.Scheduler) *senderSystem {
	s := &senderSystem{}
	s.CheckedSender = check.Must(chunk.NewCheckedSender(statemachine.SenderConfig{FirstChunkID: 65534, Scheduler: scheduler}, model, s.fail))
	return s
}

type receiverSystem struct {
	objections
	*chunk.CheckedReceiver
	now machine.Micros
}

var receiverVerbs = []*verb[*receiverSystem]{
	// Of chunks 2 before to 1 after the current one, of which each has its own number
	// of slices, or a forged one.
	{10, args{7, 4, 8}, func(r *receiverSystem, a args) string {
		chunkID := r.Vars().ChunkID + uint16(rarely(a[0]))
		n := 1 + int(chunkID)%4 + a[2]/7
		slice := chunktest.Slices(chunkID, chunktest.Chunk(1024*n-1000, uint32(chunkID)))[a[1]%n]
		ours := r.HandleSlice(r.now, slice)
		return fmt.Sprintf("slice %d of %d of chunk %d: ours %v", slice.SliceID, n, chunkID, ours)
	}},
	{6, args{2 * len(waits)}, func(r *receiverSystem, a args) string {
		r.now = wait(r.now, r.Deadline(), a[0])
		text := fmt.Sprintf("polled at %d:", r.now)
		for range 1000 {
			ack, ok := r.Poll(r.now)
			if !ok || r.first != "" {
				break
			}
			text += fmt.Sprintf(" ack %04b of %d slices of chunk %d", ack.Acked[0], ack.NumSlices, ack.ChunkID)
		}
		return text
	}},
	{3, args{}, func(r *receiverSystem, _ args) string {
		got, err := r.Read(r.now, nil)
		return fmt.Sprintf("read: %d bytes, %v", len(got), err)
	}},
}

// The receiver does what its model does, whichever slices come and whenever it is read
// (section 8).
func TestCommandsToTheReceiver(t *testing.T) {
	for _, first := range []uint16{0, 65534} {
		checkCommands(t, func() *receiverSystem {
			r := &receiverSystem{}
			r.CheckedReceiver = check.Must(chunk.NewCheckedReceiver(statemachine.ReceiverConfig{FirstChunkID: first}, r.fail))
			return r
		}, receiverVerbs...)
	}
}
