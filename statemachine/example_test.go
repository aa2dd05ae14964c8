package statemachine_test

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
)

// wire is one direction of a network that takes 20 ms, and loses one datagram in ten.
type wire struct {
	sent int
	way  []underWay
}

type underWay struct {
	arrives  core.Micros
	datagram []byte
}

func (w *wire) send(now core.Micros, datagram []byte, err error) {
	if w.sent++; err == nil && w.sent%10 != 0 {
		w.way = append(w.way, underWay{now + 20*core.Millisecond, datagram})
	}
}

// next returns when the next datagram arrives.
func (w *wire) next() core.Micros {
	if len(w.way) == 0 {
		return core.Never
	}
	return w.way[0].arrives
}

// receive gives what has arrived to a machine.
func (w *wire) receive(now core.Micros, framer codec.Framer, handle func(codec.Packet)) {
	for ; w.next() <= now; w.way = w.way[1:] {
		if packet, err := framer.Decode(w.way[0].datagram); err == nil {
			handle(packet)
		}
	}
}

// A sender and a receiver over a network that loses datagrams. The loop is all that a driver has to do.
func Example() {
	framer := codec.NewFramer(0x11223344)
	scheduler, err := adaptive.New(adaptive.Adaptive())
	if err != nil {
		panic(err)
	}
	sender, err := statemachine.NewSender(statemachine.SenderConfig{Scheduler: scheduler})
	if err != nil {
		panic(err)
	}
	receiver, err := statemachine.NewReceiver(statemachine.ReceiverConfig{})
	if err != nil {
		panic(err)
	}
	world := bytes.Repeat([]byte("world"), 20_000)
	var there, back wire
	var now core.Micros

	err = sender.Submit(now, world)
	for err == nil && sender.State() == statemachine.SenderSending {
		there.receive(now, framer, func(packet codec.Packet) {
			receiver.HandleSlice(now, packet.Slice)
		})
		back.receive(now, framer, func(packet codec.Packet) {
			sender.HandleAck(now, packet.Ack)
		})
		for slice, ok := sender.Poll(now); ok; slice, ok = sender.Poll(now) {
			datagram, err := framer.AppendSlice(nil, slice)
			there.send(now, datagram, err)
		}
		for ack, ok := receiver.Poll(now); ok; ack, ok = receiver.Poll(now) {
			datagram, err := framer.AppendAck(nil, ack)
			back.send(now, datagram, err)
		}
		now = min(sender.Deadline(), receiver.Deadline())
		now = min(now, there.next(), back.next())
	}

	chunk, err := receiver.Read(now, nil)
	fmt.Println("the same bytes:", bytes.Equal(chunk, world), err)
	fmt.Println("slices were sent again:", sender.Stats().SlicesResent > 0)
	// Output:
	// the same bytes: true <nil>
	// slices were sent again: true
}
