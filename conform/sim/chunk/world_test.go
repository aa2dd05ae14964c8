package chunk_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// firstID is the last one, so that ids wrap.
const firstID = 65535

func newWorld(roundTrip core.Micros) *chunk.World {
	return check.Must(chunk.NewWorld(
		statemachine.SenderConfig{FirstChunkID: firstID, Scheduler: check.Must(base.New(base.Fixed(0)))},
		statemachine.ReceiverConfig{FirstChunkID: firstID}, roundTrip))
}

func TestAWorldTransfersAndReads(t *testing.T) {
	w := newWorld(20)
	w.ReadTime = 500
	took, err := w.Transfer(block(3000))
	check.Same(t, "error", err, nil)
	check.Equal(t, "time", took, 20)
	check.Equal(t, "read at once", len(w.Delivered), 0)
	w.Finish()
	check.Equal(t, "delivered", w.Delivered, [][]byte{block(3000)})
	check.Equal(t, "submitted", w.Submitted, w.Delivered)
	check.Equal(t, "read at", w.Now(), 10+500)

	_, err = w.Transfer(nil)
	check.Same(t, "error of an empty chunk", err, statemachine.ErrChunkSize)
	w.Carry = func(time.Duration, int, codec.Packet, func(time.Duration, int, codec.Packet)) {}
	_, err = w.Transfer(block(1))
	check.Same(t, "error without a network", err, statemachine.ErrGaveUp)
}

func TestAWorldRefusesABadConfiguration(t *testing.T) {
	_, err := chunk.NewWorld(statemachine.SenderConfig{}, statemachine.ReceiverConfig{}, 0)
	check.That(t, errors.Is(err, core.ErrConfig), "a sender needs a scheduler")
	_, err = chunk.NewWorld(statemachine.SenderConfig{Scheduler: check.Must(base.New(base.Burst()))}, statemachine.ReceiverConfig{GiveUp: -1}, 0)
	check.That(t, errors.Is(err, core.ErrConfig), "the time to give up is checked")
}

// A receiver that is replaced while its chunk waits takes the chunk with it.
func TestAnEndCanBeReplaced(t *testing.T) {
	w := newWorld(20)
	w.ReadTime = 500
	_, err := w.Transfer(block(3000))
	check.Same(t, "error", err, nil)
	w.Receiver = check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{}))
	w.Finish()
	check.Equal(t, "delivered", len(w.Delivered), 0)
}

// A run among troubles ends with what is wrong, if anything is.
func TestTroubledRuns(t *testing.T) {
	x := explore.Troubles[codec.Packet]{Delay: 25_000, Late: 120_000, Outage: 6_000_000, Most: 1, Within: core.Second, Text: chunk.Text}
	for _, c := range []struct {
		scheduler func() (statemachine.Scheduler, error)
		data      []byte
		want      string
	}{
		{func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }, block(2000), ""},
		{func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }, nil, "a chunk has 1 to 262144 bytes"},
		{func() (statemachine.Scheduler, error) { return nil, errors.New("no scheduler") }, nil, "no scheduler"},
	} {
		x.Run = chunk.Troubled(codec.Named, c.scheduler, 0, c.data)
		r := x.Search()
		if (r.Err == nil) != (c.want == "") || r.Err != nil && !strings.Contains(r.Err.Error(), c.want) {
			t.Errorf("%v, want %q\n%s", r.Err, c.want, r.Trace)
		}
	}
	x.Run, x.Within = chunk.Troubled(codec.Named, func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }, 0, block(1)), 1
	check.Equal(t, "trace", x.Search().Trace, "         0 us  sender -- slice 0/1 of chunk 0\n     25000 us  receiver -- ack of 1 of 1 slices of chunk 0\n")
}
