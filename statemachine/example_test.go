package statemachine_test

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// A sender and a receiver over a network that takes 20 ms and loses slice 1
// the first time. The loop is all that a driver has to do.
func Example() {
	scheduler, _ := base.New(base.Burst())
	sender, _ := statemachine.NewSender(statemachine.SenderConfig{Scheduler: scheduler})
	receiver, _ := statemachine.NewReceiver(statemachine.ReceiverConfig{})
	var now core.Micros
	var slices []codec.Slice // under way, for 20 ms
	var acks []codec.Ack

	world := make([]byte, 5000)
	err := sender.Submit(now, world)
	lost := false
	for err == nil && sender.Vars().State == statemachine.SenderSending {
		for slice, ok := sender.Poll(now); ok; slice, ok = sender.Poll(now) {
			if slice.SliceID == 1 && !lost {
				lost = true
				continue
			}
			slices = append(slices, slice)
		}
		for ack, ok := receiver.Poll(now); ok; ack, ok = receiver.Poll(now) {
			acks = append(acks, ack)
		}

		now += 20 * core.Millisecond
		for _, slice := range slices {
			receiver.HandleSlice(now, slice)
		}
		for _, ack := range acks {
			sender.HandleAck(now, ack)
		}
		slices, acks = nil, nil
	}

	chunk, err := receiver.Read(now, nil)
	stats := sender.Stats()
	fmt.Println(len(chunk), err)
	fmt.Printf("%d slices sent, %d of them again\n", stats.SlicesSent, stats.SlicesResent)
	// Output:
	// 5000 <nil>
	// 6 slices sent, 1 of them again
}
