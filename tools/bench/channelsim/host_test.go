package channelsim_test

import (
	"errors"
	"testing"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/tools/bench/channelsim"
)

func newHost(channels ...protocol.Config) *channelsim.Host {
	return check.Must(channelsim.NewHost(protocol.MuxConfig{Channels: channels}, packet.Config{}, 10*ms))
}

// poll returns what a host sends at a time.
func poll(h *channelsim.Host, now core.Micros) (datagrams [][]byte) {
	for d, ok := h.Poll(now); ok; d, ok = h.Poll(now) {
		datagrams = append(datagrams, d)
	}
	return datagrams
}

// A message waits for the tick; its report goes when it is due, with the ack of its packet;
// after that nothing is left to send (CHC-5).
func TestAHostSendsAtItsTick(t *testing.T) {
	a, b := newHost(protocol.Config{}), newHost(protocol.Config{})
	check.Same(t, "refusal", a.Mux.Send(0, 0, []byte("first"), 0), nil)
	first := poll(a, 0)
	check.Equal(t, "datagrams at tick 0", len(first), 1)
	check.Same(t, "refusal", a.Mux.Send(3*ms, 0, []byte("second"), 0), nil)
	check.Equal(t, "datagrams between ticks", len(poll(a, 3*ms)), 0)
	check.Equal(t, "deadline", a.Deadline(), 10*ms)
	second := poll(a, 10*ms)
	check.Equal(t, "datagrams at the next tick", len(second), 1)

	b.Handle(30*ms, first[0])
	b.Handle(30*ms, second[0])
	check.Equal(t, "deadline of the report", b.Deadline(), 50*ms)
	reports := poll(b, 50*ms)
	check.Equal(t, "datagrams with the report and the ack", len(reports), 1)
	a.Handle(70*ms, reports[0])
	stats := a.Mux.SenderStats(0)
	check.Equal(t, "released", stats.Released, 2)
	check.Equal(t, "acked", a.Endpoint.Stats().Acked, 2)
	check.Equal(t, "quiet: nothing acks a report", len(poll(a, 500*ms))+len(poll(b, 500*ms)), 0)
	message, ok := b.Mux.Read(500*ms, 0, nil)
	check.That(t, ok && string(message.Data) == "first", "the first message is read")
}

// What needs several packets goes at one tick; a large unreliable message goes in fragments;
// and a packet that carries nothing but an ack goes, too.
func TestAHostSendsAllAtATick(t *testing.T) {
	a := newHost(protocol.Config{}, protocol.Config{ID: 1, Kind: protocol.Unreliable})
	b := newHost(protocol.Config{}, protocol.Config{ID: 1, Kind: protocol.Unreliable})
	for range 40 {
		check.Same(t, "refusal", a.Mux.Send(0, 0, make([]byte, 64), 0), nil)
	}
	check.Equal(t, "datagrams of 40 messages", len(poll(a, 0)), 3)
	check.Same(t, "refusal", a.Mux.Send(10*ms, 1, make([]byte, 3000), 0), nil)
	fragments := poll(a, 10*ms)
	check.Equal(t, "fragments", len(fragments), 3)
	for _, d := range fragments {
		b.Handle(20*ms, d)
	}
	message, ok := b.Mux.Read(20*ms, 1, nil)
	check.That(t, ok && len(message.Data) == 3000, "the large message is read")
	check.Equal(t, "ack-only packets", len(poll(b, 20*ms+packet.AckDelay)), 1)
	check.Equal(t, "of them", b.Endpoint.Stats().AcksSent, 1)
}

// A payload that the channels refuse counts as not received.
func TestAHostRefuses(t *testing.T) {
	a, b := newHost(protocol.Config{ID: 2}), newHost(protocol.Config{ID: 3})
	arrived := false
	b.Arrived = func(core.Micros) { arrived = true }
	check.Same(t, "refusal", a.Mux.Send(0, 2, []byte("x"), 0), nil)
	b.Handle(0, poll(a, 0)[0])
	check.That(t, !arrived && b.Endpoint.Stats().Received == 0, "nothing arrived")
	_, err := channelsim.NewHost(protocol.MuxConfig{Channels: []protocol.Config{{Format: protocol.Format{Window: 1}}}}, packet.Config{}, ms)
	check.That(t, errors.Is(err, core.ErrConfig), "the channels' configuration is checked")
	_, err = channelsim.NewHost(protocol.MuxConfig{}, packet.Config{Received: 1}, ms)
	check.That(t, errors.Is(err, core.ErrConfig), "the packet layer's configuration is checked")
}

// A message that arrives when a report is due is in that report (CHC-4).
func TestArrivalsComeBeforeReports(t *testing.T) {
	a, b := newHost(protocol.Config{}), newHost(protocol.Config{})
	steady := sim.Steady[[]byte](30 * ms)
	world := sim.NewWorld(sim.Fates(&steady, &steady), a, b)
	for _, at := range []core.Micros{0, 20 * ms} {
		world.At(at, func() { check.Same(t, "refusal", a.Mux.Send(at, 0, []byte("m"), 0), nil) })
	}
	world.Wait(49 * ms)
	check.Equal(t, "reports before", b.Mux.ReceiverStats(0).Reports, 0)
	world.Wait(31 * ms)
	check.Equal(t, "reports", b.Mux.ReceiverStats(0).Reports, 1)
	check.Equal(t, "released", a.Mux.SenderStats(0).Released, 2)
}
