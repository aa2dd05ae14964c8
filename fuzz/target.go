package fuzz

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chunkwire/chunkwire/testvectors"
)

// T is what a target needs of a *testing.T. Fatalf must not return.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Target is a fuzz target.
type Target struct {
	Name   string // of its function, without "Fuzz"
	Checks string // what holds for every input
	Run    func(T, []byte)
	seeds  func([]testvectors.File) [][]byte
	made   func() [][]byte // the seeds, made once
}

// newTarget returns a target. Its seeds are made when they are asked for.
func newTarget(name, checks string, run func(T, []byte), seeds func([]testvectors.File) [][]byte) *Target {
	target := &Target{Name: name, Checks: checks, Run: run, seeds: seeds}
	target.made = sync.OnceValue(target.makeSeeds)
	return target
}

// Targets returns all targets, from the bits up.
func Targets() []*Target {
	return []*Target{
		targetFormats,
		targetReceiver, targetSender, targetConversation,
		targetRepairReceiver, targetRepairSender, targetRepairConversation, targetPort,
		targetPacketEndpoint,
		targetChannelReceiver, targetChannelSender, targetChannelConversation,
		targetHandshake, targetConnection, targetServer,
		targetInspect,
		targetEventLog,
	}
}

// Find returns the target whose function has a name.
func Find(function string) (*Target, error) {
	for _, target := range Targets() {
		if "Fuzz"+target.Name == function {
			return target, nil
		}
	}
	return nil, fmt.Errorf("fuzz: no target %q", function)
}

// Seeds returns the inputs from which a target's fuzzing begins: the project's test
// vectors, in the target's own format, and a few of its own. The order is always the
// same, and none is there twice. They must not be changed.
func (target *Target) Seeds() [][]byte { return target.made() }

func (target *Target) makeSeeds() (seeds [][]byte) {
	files, err := testvectors.Load()
	if err != nil {
		panic(err)
	}
	seen := map[string]bool{}
	for _, seed := range target.seeds(files) {
		if !seen[string(seed)] {
			seen[string(seed)] = true
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// verbose reports whether a target logs what an input does: under go test -v.
var verbose = func() bool { return testing.Testing() && testing.Verbose() }

// recorder is a T for runs that have none: Fatalf panics with a failure.
type recorder struct {
	log func(format string, args ...any)
}

// failure is how a recorder ends a run.
type failure string

func (recorder) Helper() {}

func (r recorder) Logf(format string, args ...any) {
	if r.log != nil {
		r.log(format, args...)
	}
}

func (recorder) Fatalf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// caught runs a function that is given a recorder, and returns the failure. A panic
// of the code under test goes on.
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
