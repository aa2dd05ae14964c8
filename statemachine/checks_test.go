package statemachine

import "github.com/chunkwire/chunkwire/codec"

// property watches a world: it is shown every moment, and stops the test at the
// first at which it does not hold. Each is made anew for its world, so it may
// remember what it saw. It stands beside its test in *_properties_test.go, which
// watches it alone; every other test of a world watches all.
type property func(w *world, m moment)

// moment is something that happens in a world.
type moment struct {
	kind  momentKind
	slice codec.Slice // of sliceOut, sliceComes, sliceTaken
	ack   codec.Ack   // of ackOut, ackComes, ackTaken
	chunk []byte      // of chunkRead
	nth   int         // of sliceOut, ackOut: which one of this time's polls, from 0
}

type momentKind uint8

const (
	submitted  momentKind = iota // the sender has taken a chunk
	timePassed                   // time has gone by, and nothing else yet
	sliceOut                     // the sender has given a slice out
	sliceComes                   // the receiver is about to be given one
	sliceTaken                   // it was given it
	ackOut                       // the receiver has given an ack out
	ackComes                     // the sender is about to be given one
	ackTaken                     // it was given it
	chunkRead                    // the application has read a chunk
	polled                       // both machines have nothing more to say
)

// allProperties are those that a world can be watched for.
var allProperties = []func() property{
	deliveredExactlyOnce,
	deliveredInOrder,
	deliveredUnchanged,
	readyChunksStay,
	duplicatesAreAckedAgain,
	acksAreNoMoreThanSlices,
	senderCompleteImpliesReceiverComplete,
	fuse,
	ackedIsReceived,
	ackedSlicesAreNotResent,
	resentBytesAreIdentical,
	budgetIsNotExceeded,
	roundsAreBounded,
	deadlinesLieAhead,
	nobodyWaitsTooLong,
}

// watch has these properties watch the world, and no others.
func (w *world) watch(properties ...func() property) {
	w.watchers = nil
	for _, p := range properties {
		w.watchers = append(w.watchers, p())
	}
}

func (w *world) show(m moment) {
	w.Helper()
	for _, p := range w.watchers {
		p(w, m)
	}
}
