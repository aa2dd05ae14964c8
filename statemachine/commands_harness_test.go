package statemachine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"

	"github.com/chunkwire/chunkwire/codec"
)

// The real machines as stateful systems: a random sequence of commands, whatever
// users and networks may do, is given to a machine, and a small abstract model is
// told each command and what the machine answered. The model knows sets and ids
// and no code of the machine's; it never looks at it. What it does not prescribe,
// such as which slice goes next, it learns from the answer, if that is allowed.
// When it objects gopter shrinks the sequence, and the conversation is printed.

var commandsSeed = flag.Int64("commands.seed", 0, "seed of the stateful tests; 0: random")

// args are what a command is given; what they mean is for its verb to say.
type args [3]int

// verb is a kind of command for a system S, which answers A, judged by a model M.
type verb[S, A, M any] struct {
	weight int  // how often it is drawn
	limits args // its arguments are below these
	say    func(args) string
	run    func(S, args) A
	judge  func(M, args, A) error // nil if the answer is right
}

// command is a verb with its arguments.
type command[S, A, M any] struct {
	verb *verb[S, A, M]
	args args
}

// trial is a model, and the conversation so far.
type trial[M any] struct {
	model    M
	said     []string
	objected bool
}

func (c command[S, A, M]) Run(system commands.SystemUnderTest) commands.Result {
	return c.verb.run(system.(S), c.args)
}

func (c command[S, A, M]) PreCondition(commands.State) bool { return true }

// NextState leaves the model to PostCondition, which knows the answer.
func (c command[S, A, M]) NextState(s commands.State) commands.State { return s }

func (c command[S, A, M]) PostCondition(state commands.State, result commands.Result) *gopter.PropResult {
	t := state.(*trial[M])
	if t.objected {
		return &gopter.PropResult{Status: gopter.PropTrue}
	}
	t.said = append(t.said, fmt.Sprintf("%-28s %v", c, result))
	if err := c.verb.judge(t.model, c.args, result.(A)); err != nil {
		t.objected = true
		return gopter.NewPropResult(false, err.Error()+"\n    "+strings.Join(t.said, "\n    "))
	}
	return &gopter.PropResult{Status: gopter.PropTrue}
}

func (c command[S, A, M]) String() string { return c.verb.say(c.args) }

// shrink makes one argument smaller.
func (c command[S, A, M]) shrink() gopter.Shrink {
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

// suite is everything about a system under test.
type suite[S, A, M any] struct {
	verbs     []*verb[S, A, M]
	newSystem func() S
	newModel  func() M
}

func (s *suite[S, A, M]) gen() gopter.Gen {
	var drawn []*verb[S, A, M]
	for _, v := range s.verbs {
		for range v.weight {
			drawn = append(drawn, v)
		}
	}
	return func(p *gopter.GenParameters) *gopter.GenResult {
		random := rand.New(rand.NewPCG(p.NextUint64(), 0))
		c := command[S, A, M]{verb: drawn[random.IntN(len(drawn))]}
		for i, limit := range c.verb.limits {
			c.args[i] = random.IntN(max(limit, 1))
		}
		return gopter.NewGenResult(c, func(v any) gopter.Shrink { return v.(command[S, A, M]).shrink() })
	}
}

// check runs the suite and prints the shortest conversation that goes wrong.
func (s *suite[S, A, M]) check(t *testing.T) {
	t.Helper()
	seed := *commandsSeed
	if seed == 0 {
		seed = rand.Int64()
	}
	parameters := gopter.DefaultTestParametersWithSeed(seed)
	parameters.MinSuccessfulTests, parameters.MaxSize = 300, 80 // sequences, commands in each
	trials := gopter.Gen(func(*gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(&trial[M]{model: s.newModel()}, gopter.NoShrinker)
	})
	result := commands.Prop(&commands.ProtoCommands{
		NewSystemUnderTestFunc: func(commands.State) commands.SystemUnderTest { return s.newSystem() },
		InitialStateGen:        trials,
		GenCommandFunc:         func(commands.State) gopter.Gen { return s.gen() },
	}).Check(parameters)
	switch {
	case result.Passed():
	case result.Error != nil:
		t.Fatalf("%v\n    %v\n%s    -commands.seed=%d", result.Error, result.Args, result.ErrorStack, seed)
	default:
		t.Fatalf("%s\n    -commands.seed=%d", strings.Join(result.Labels, "\n"), seed)
	}
}

// members are the ids of a set, as the models have them.
func members(has func(int) bool) map[int]bool {
	set := map[int]bool{}
	for id := range 256 {
		if has(id) {
			set[id] = true
		}
	}
	return set
}

func sameSet(a, b map[int]bool) bool { return reflect.DeepEqual(a, b) }

// ackBits draws an ack's bits, slice 0 first.
func ackBits(a codec.Ack) string { return firstBits(a.Acked[0], a.NumSlices) }

func firstBits(word uint64, n int) (bits string) {
	for id := range min(n, 64) {
		bits += string('0' + rune(word>>id&1))
	}
	return bits
}

// want is an objection unless what is, is what should be.
func want[T comparable](what string, is, should T) error {
	if is == should {
		return nil
	}
	return fmt.Errorf("%s is %v, and should be %v", what, is, should)
}

// firstOf returns the first objection.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
