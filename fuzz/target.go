package fuzz

import (
	"fmt"
	"io"
)

// T is what a target needs of a *testing.T. Fatalf must not return.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Target is a fuzz target.
type Target struct {
	Name   string               // of the function in the test files, such as "FuzzDatagram"
	Checks string               // what holds for every input
	Run    func(T, []byte)      // fails if it does not
	tell   func(*story, []byte) // writes down what the input does, and runs it
}

// Targets returns all targets, from the bits up.
func Targets() []Target {
	return []Target{
		{"FuzzBits", "bit writer and reader do what a slice of bools does", CheckBits, tellBits},
		{"FuzzDatagram", "the canonical law for datagrams; a refusal tells the true place", CheckDatagram, tellDatagram},
		{"FuzzBody", "the canonical law for bare bodies", CheckBody, tellBody},
		{"FuzzOracle", "the codec and the specification-literal oracle answer alike", CheckOracle, tellOracle},
		{"FuzzRoundTrip", "a valid packet survives, an invalid one is refused and nothing written", CheckRoundTrip, tellRoundTrip},
		{"FuzzReceiver", "a receiver does what the specification's tables say, then completes", CheckReceiver, tellReceiver},
		{"FuzzSender", "a sender obeys its table, SCH-1 to SCH-3 and its budget, then completes", CheckSender, tellSender},
		{"FuzzConversation", "both ends stay safe on any network, and deliver once it is fair", CheckConversation, tellConversation},
		{"FuzzTransport", "garbage and strangers neither harm an endpoint nor an honest peer", CheckTransport, tellTransport},
		{"FuzzVectors", "what the loader of vectors accepts is the same when written and read again", CheckVectors, tellVectors},
		{"FuzzPort", "the port answers each line by one line, with the request's id or null", CheckPort, tellPort},
	}
}

// Find returns the target of a name.
func Find(name string) (Target, error) {
	for _, target := range Targets() {
		if target.Name == name {
			return target, nil
		}
	}
	return Target{}, fmt.Errorf("fuzz: no target %q", name)
}

// failure is how a witness ends a run.
type failure string

// witness is a T for programs: Fatalf panics with a failure.
type witness struct{}

func (witness) Helper() {}

func (witness) Fatalf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// Try runs a target outside of a test, and returns how it failed, if it did. A
// panic of the code under test goes on.
func (target Target) Try(data []byte) (failed error) {
	return caught(func() { target.Run(witness{}, data) })
}

func caught(f func()) (failed error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failure:
			failed = fmt.Errorf("%s", string(v))
		default:
			panic(v)
		}
	}()
	f()
	return nil
}

// Draw writes for people what an input does to a target, up to where it fails,
// and returns the failure.
func (target Target) Draw(w io.Writer, data []byte) error {
	s := &story{w: w}
	err := caught(func() { target.tell(s, data) })
	if err != nil {
		s.say("FAILS: %v", err)
	}
	return err
}
