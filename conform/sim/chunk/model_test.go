package chunk_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

var profiles = []base.Profile{
	base.Burst(), base.Fixed(0), base.Fixed(480_000), base.Fixed(16_000_000), base.Article(2_400_000),
	{Rate: 400_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700},
	{Rate: 80_000, Cap: 1066, ResendDelay: 3 * core.Millisecond},
}

// Two models converse as two machines do, to the microsecond and the byte.
func TestModelsConverseAsMachinesDo(t *testing.T) {
	bad := s1
	bad.Loss, bad.Duplicate, bad.Reorder, bad.ReorderDelay = 20, 5, 5, 30*time.Millisecond
	for i, p := range profiles {
		machines := converseWith(t, bad, func() (chunk.SenderMachine, chunk.ReceiverMachine, error) {
			scheduler, err1 := base.New(p)
			s, err2 := statemachine.NewSender(statemachine.SenderConfig{Scheduler: scheduler})
			r, err3 := statemachine.NewReceiver(statemachine.ReceiverConfig{})
			return s, r, errors.Join(err1, err2, err3)
		})
		models := converseWith(t, bad, func() (chunk.SenderMachine, chunk.ReceiverMachine, error) {
			s := chunk.NewSenderModel(statemachine.SenderConfig{Scheduler: chunk.NewBaseModel(p)})
			return s, chunk.NewReceiverModel(statemachine.ReceiverConfig{}), nil
		})
		if diff := cmp.Diff(models, machines); diff != "" {
			t.Errorf("profile %d (-models +machines):\n%s", i, diff)
		}
	}
}

type outcome struct {
	At       core.Micros
	Steps    int64
	Sender   statemachine.SenderStats
	Receiver statemachine.ReceiverStats
}

// converseWith sends two chunks, the second one as soon as the first has arrived.
func converseWith(t *testing.T, path netsim.Path, ends func() (chunk.SenderMachine, chunk.ReceiverMachine, error)) (out []outcome) {
	t.Helper()
	down, err1 := netsim.NewLink(path, 1)
	up, err2 := netsim.NewLink(path, 2)
	s, r, err3 := ends()
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	w := sim.NewWorld(sim.Links(down, up, chunk.Size(codec.Named)), sim.End[codec.Packet](chunk.Sender{SenderMachine: s}), chunk.Receiver{ReceiverMachine: r})
	for _, size := range []int{50_000, 3000} {
		if err := s.Submit(w.Now(), block(size)); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		done := func() bool {
			_, _ = r.Read(w.Now(), nil)
			return s.Vars().State != statemachine.SenderSending
		}
		if !w.Run(core.Second*600, done) || s.Err() != nil {
			t.Fatalf("%d bytes: %v", size, s.Err())
		}
		out = append(out, outcome{w.Now(), w.Steps(), s.Stats(), r.Stats()})
	}
	return out
}
