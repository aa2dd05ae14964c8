package packet_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// Chunks go over packets: a slice, or an ack of slices, is the payload of a packet, and
// fits one datagram. Every fifth datagram is lost each way.
func TestChunksOverPackets(t *testing.T) {
	scheduler, err := base.New(base.Burst())
	if err != nil {
		t.Fatal(err)
	}
	sender, err := statemachine.NewSender(statemachine.SenderConfig{Scheduler: scheduler})
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := statemachine.NewReceiver(statemachine.ReceiverConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var server, client *packet.Endpoint
	for _, e := range []**packet.Endpoint{&server, &client} {
		if *e, err = packet.NewEndpoint(packet.Config{}); err != nil {
			t.Fatal(err)
		}
	}

	var now core.Micros
	sent := 0
	carry := func(from, to *packet.Endpoint, payload []byte, err error, take func([]byte)) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		datagrams, _, err := from.Send(now, payload)
		if err != nil || len(datagrams) != 1 {
			t.Fatal(len(datagrams), err)
		}
		if sent++; sent%5 == 0 {
			return // lost
		}
		if err := to.Receive(now, datagrams[0], func(d packet.Delivery) packet.Verdict { take(d.Payload); return packet.Take }); err != nil {
			t.Fatal(err)
		}
	}
	world := bytes.Repeat([]byte("a world of many blocks "), 8000)
	if err := sender.Submit(now, world); err != nil {
		t.Fatal(err)
	}
	for ; sender.Vars().State == statemachine.SenderSending && now < 10*core.Second; now += 5 * core.Millisecond {
		for s, ok := sender.Poll(now); ok; s, ok = sender.Poll(now) {
			body, err := codec.Named.AppendSliceBody(nil, s)
			carry(server, client, body, err, func(b []byte) {
				if slice, err := codec.Named.DecodeSliceBody(b); err == nil {
					receiver.HandleSlice(now, slice)
				}
			})
		}
		for a, ok := receiver.Poll(now); ok; a, ok = receiver.Poll(now) {
			body, err := codec.Named.AppendAckBody(nil, a)
			carry(client, server, body, err, func(b []byte) {
				if ack, err := codec.Named.DecodeAckBody(b); err == nil {
					sender.HandleAck(now, ack)
				}
			})
		}
	}
	got, err := receiver.Read(now, nil)
	if err != nil || !bytes.Equal(got, world) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if stats := server.Stats(); stats.Acked == 0 {
		t.Error("the packets measured nothing: " + fmt.Sprint(stats))
	}
}
