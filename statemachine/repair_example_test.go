package statemachine_test

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// ahead is a scheduler that keeps two slices more under way than are missing. Package
// statemachine/schedule/rateless has a real one.
type ahead struct {
	statemachine.NoPath
	slices, sent, have, top int
}

func (a *ahead) Begin(f statemachine.Flight)                  { *a = ahead{slices: f.NumSlices} }
func (a *ahead) Acked(_ core.Micros, p statemachine.Progress) { a.have, a.top = p.Have, p.Top }
func (a *ahead) Held(core.Micros)                             {}
func (a *ahead) Deadline() core.Micros                        { return core.Never }
func (a *ahead) Stats() (none statemachine.ScheduleStats)     { return none }
func (a *ahead) Next(core.Micros) (number int, ok bool) {
	if a.sent-a.top >= a.slices-a.have+2 {
		return 0, false
	}
	a.sent++
	return a.sent - 1, true
}

// A sender and a receiver over a network that takes 20 ms and loses slices 0 and 3. Two
// repair slices take their places, and nothing is sent again. The loop is all that a driver
// has to do.
func ExampleSender_repair() {
	sender, _ := statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: &ahead{}})
	receiver, _ := statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.Repair})
	var now core.Micros
	var slices []codec.Slice // under way, for 20 ms
	var acks []codec.Ack

	_ = sender.Submit(now, make([]byte, 5000))
	for sender.State() == statemachine.SenderSending {
		for s, ok := sender.Poll(now); ok; s, ok = sender.Poll(now) {
			if s.SliceID != 0 && s.SliceID != 3 {
				slices = append(slices, s)
			}
		}
		for a, ok := receiver.Poll(now); ok; a, ok = receiver.Poll(now) {
			acks = append(acks, a)
		}

		now += 20 * core.Millisecond
		for _, s := range slices {
			receiver.HandleSlice(now, s)
		}
		for _, a := range acks {
			sender.HandleAck(now, a)
		}
		slices, acks = nil, nil
	}

	chunk, err := receiver.Read(now, nil)
	stats := sender.Stats()
	fmt.Println(len(chunk), err, now.Duration())
	fmt.Printf("%d slices sent, %d of them repair slices\n", stats.SlicesSent, stats.SlicesRepair)
	// Output:
	// 5000 <nil> 40ms
	// 7 slices sent, 2 of them repair slices
}
