package statemachine_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"

	"github.com/chunkwire/chunkwire/core"
)

var commandsSeed = flag.Int64("commands.seed", 0, "seed of the stateful tests; 0: random")

// commandArgs are what a command is given; what they mean is for its verb to say.
type commandArgs [3]int

// commandVerb is a kind of command for a system S.
type commandVerb[S any] struct {
	Weight int         // how often it is drawn
	Limits commandArgs // its arguments are below these
	// Run runs the command and returns it in words.
	Run func(S, commandArgs) string
}

// commandSystem is a machine beside its model. Its objection says what is wrong; objections has it.
type commandSystem interface{ objection() string }

// command is a verb with its arguments.
type command[S commandSystem] struct {
	verb *commandVerb[S]
	args commandArgs
}

// outcome is the effect of a command, and its error.
type outcome struct{ text, objection string }

// history is the conversation so far, for the report of a failure.
type history struct {
	lines []string
	over  bool
}

func (c command[S]) Run(s commands.SystemUnderTest) commands.Result {
	text := c.verb.Run(s.(S), c.args)
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

func generator[S commandSystem](verbs []*commandVerb[S]) gopter.Gen {
	var drawn []*commandVerb[S]
	for _, v := range verbs {
		for range v.Weight {
			drawn = append(drawn, v)
		}
	}
	return func(p *gopter.GenParameters) *gopter.GenResult {
		random := rand.New(rand.NewPCG(p.NextUint64(), 0))
		c := command[S]{verb: drawn[random.IntN(len(drawn))]}
		for i, limit := range c.verb.Limits {
			c.args[i] = random.IntN(max(limit, 1))
		}
		return gopter.NewGenResult(c, func(v any) gopter.Shrink { return v.(command[S]).shrink() })
	}
}

// runCommands runs sequences of commands and prints the shortest that goes wrong.
func runCommands[S commandSystem](t *testing.T, newSystem func() S, verbs ...*commandVerb[S]) {
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

// objections keeps the first thing that was wrong. A system embeds it.
type objections struct{ first string }

func (o *objections) objection() string { return o.first }

// Any reports whether something was wrong.
func (o *objections) Any() bool { return o.first != "" }

// Fail says what is wrong, as the Fatalf of a test does; it returns.
func (o *objections) Fail(format string, args ...any) {
	if o.first == "" {
		o.first = fmt.Sprintf(format, args...)
	}
}

// commandClock is the time of a system.
type commandClock struct{ Now core.Micros }

// Advance lets time pass: one of the waits, a step back, or else to a deadline.
func (c *commandClock) Advance(waits []core.Micros, arg int, deadline core.Micros) {
	switch {
	case arg < len(waits):
		c.Now += waits[arg]
	case arg == len(waits):
		c.Now = max(0, c.Now-core.Millisecond)
	case deadline != core.Never:
		c.Now = max(c.Now, deadline)
	}
}
