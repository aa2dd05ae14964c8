package fuzz

import (
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
)

// A sender and a receiver of a channel talk over a network in which a packet stays until it
// is lost: packets come in any order, late, twice, or never, as far as the packet layer takes
// them. Both are their oracles at every event, but in spaces of fewer bits, which have no
// bytes; and the judge is asked for all of section 8. At
// last everything arrives: then all is delivered or skipped, and released, and both ends are
// silent, unless one has given up.
//
// An input is a window of smallChannels, a byte; a configuration as readChannelConfig reads
// it; and a script of operations, each a byte, of which bit 7 is the end, and what op reads.
var targetChannelConversation = newTarget("ChannelConversation", "both ends of a channel are their oracles, keep their promises, and deliver all at last", runChannelConversation, seedChannelConversations)

// readChannelConfig reads the kind and the power of two of WINDOW, a byte; DATA - 1, 2 bytes;
// GROUP - 2, a byte; SEND_QUEUE beyond its least, 2; GIVE_UP in steps of 100 ms beyond its
// least, 2; FIRST, 4.
func readChannelConfig(s *script) channel.Config {
	b := s.byte()
	c := channel.Config{Kind: channel.Kind(b & 1)}
	c.Window = 32 << (b >> 1 % 10)
	c.Data = 1 + int(s.uint16())%1024
	c.Group = 2 + int(s.byte())%63
	least := min(c.Group, c.Window)
	c.SendQueue = least + int(s.uint16())%(32769-least)
	c.GiveUp = core.Second + core.Micros(s.uint16()%35991)*100*core.Millisecond
	c.First = core.Number(s.uint32())
	return c
}

// channelScript is the inverse of readChannelConfig.
func channelScript(kind string, f channels.Format, sendQueue, first, giveUp int64) []byte {
	power := byte(0)
	for ; int64(32)<<power < f.Window; power++ {
	}
	b := power << 1
	if kind == "unordered" {
		b |= 1
	}
	out := append(appendUint16([]byte{b}, uint16(f.Data-1)), byte(f.Group-2))
	out = appendUint16(out, uint16(max(sendQueue-min(f.Group, f.Window), 0)))
	out = appendUint16(out, uint16((giveUp-1_000_000)/100_000))
	return appendUint32(out, uint32(first))
}

// readPath reads what is known of the path: whether it is measured, a byte; SRTT and
// patience, 4 each.
func readPath(s *script) channel.Path {
	if s.byte()&1 == 0 {
		return channel.Path{Patience: core.Micros(s.uint32())}
	}
	return channel.Path{Measured: true, SRTT: core.Micros(s.uint32()), Patience: core.Micros(s.uint32())}
}

// smallChannels are windows and spaces of sequences that a short script passes, with
// RECEIVED of the packet layer: each as tight as CHN-6 allows. The first is the configuration's.
var smallChannels = []struct {
	bits                    core.Space
	window, fresh, received int
}{
	{0, 0, 0, 256},
	{4, 4, 2, 5}, // 2 * 4 + 4 * 2 = 16
	{3, 2, 1, 5}, // 2 * 2 + 4 * 1 = 8
	{6, 8, 4, 13},
	{8, 32, 64, 4},
}

const (
	mostPackets = 700 // sent by both ends
	mostEvents  = 3000
)

func runChannelConversation(t T, data []byte) {
	b := &channelBench{T: t, script: script{data}}
	small := pick(&b.script, smallChannels)
	b.cfg = readChannelConfig(&b.script)
	if small.bits > 0 {
		b.cfg.SequenceBits, b.cfg.Window, b.cfg.Fresh = small.bits, small.window, small.fresh
		b.cfg.SendQueue = max(b.cfg.SendQueue%64, min(b.cfg.Group, b.cfg.Window))
	}
	w, err := channelsim.NewWorld(b.cfg, t.Fatalf)
	if err != nil {
		t.Fatalf("%+v: %v", b.cfg, err)
	}
	b.World, b.most = w, b.cfg.Data*min(b.cfg.Group, b.cfg.Window)
	w.Received = small.received
	for b.more() && b.events < mostEvents {
		b.op()
	}
	b.finish()
}

// channelBench is a world and the script of what happens in it.
type channelBench struct {
	T
	*channelsim.World
	script
	cfg          channel.Config
	most         int // bytes of a message
	sent, events int
	latest       core.Micros
}

// op does one operation of the script.
func (b *channelBench) op() {
	b.Helper()
	op := b.byte()
	end := int(op >> 7)
	switch op & 0x7f % 16 {
	case 0, 1:
		b.send(1+int(b.byte())%b.cfg.Data, 0)
	case 2: // any size, up to the first that is refused
		b.send(int(b.uint16())%(b.most+2), 0)
	case 3: // many
		for range b.byte() {
			b.send(1, 0)
		}
	case 4: // with a lifetime
		b.send(1+int(b.byte())%b.most, core.Micros(b.byte())*10*core.Millisecond+1)
	case 5:
		b.compose(end, channelsim.WholePacket)
	case 6:
		b.compose(end, pick(&b.script, []int{0, 4, 5, 6, 7, 8, 13, 20, 60, 300}))
	case 7, 8:
		b.arrive(end, int(b.byte()), 1, false)
	case 9: // and stays, so that it comes again
		b.arrive(end, int(b.byte()), 1, true)
	case 10: // all, in order; or the newest first
		for b.byte()&1 == 1 && len(b.Flight[end]) > 0 {
			b.arrive(end, len(b.Flight[end])-1, 1, false)
		}
		b.arrive(end, 0, mostEvents, false)
	case 11:
		for range int(b.byte()) % (len(b.Flight[end]) + 1) {
			b.Drop(end, 0)
		}
	case 12:
		for range b.byte() {
			if _, ok := b.Read(); !ok {
				break
			}
		}
		b.done("reads")
	case 13: // as a driver does
		b.Wait(core.Micros(b.byte()) * 10 * core.Millisecond)
		b.done("wait")
	case 14:
		if end == 1 {
			b.Pad(int(b.byte() & 1))
			b.done("pad")
		} else {
			b.Now = max(0, b.Now-core.Micros(b.uint32()))
		}
	case 15:
		p := readPath(&b.script)
		p.SRTT, p.Patience = p.SRTT%(10*core.Second), p.Patience%(10*core.Second)
		b.SetPath(p)
	}
}

// done ends an event.
func (b *channelBench) done(event string) {
	b.events++
	b.latest = max(b.latest, b.Now)
	if verbose() {
		s, v := b.Sender.Sender, b.Receiver.Receiver
		b.Logf("at %d, %s: %d and %d in flight; Row:%s base %d, sent %d, next %d, limit %d; Row:%s tail %d, base %d, top %d", b.Now, event,
			len(b.Flight[0]), len(b.Flight[1]), s.Row(), s.Base(), s.Sent(), s.Next(), s.Limit(), v.Row(), v.Tail(), v.Base(), v.Top())
	}
}

func (b *channelBench) send(size int, lifetime core.Micros) {
	b.Helper()
	if b.sent++; b.sent > mostPackets {
		return
	}
	message := make([]byte, size)
	for i := range message {
		message[i] = byte(b.sent + i/251)
	}
	_ = b.Send(message, lifetime) // the judge knows whether it may be refused
	b.done("send")
}

func (b *channelBench) compose(end, space int) {
	b.Helper()
	if b.Deadline(end) <= b.Now || space < channelsim.WholePacket || b.byte()&1 == 1 {
		b.Compose(end, space)
	}
	b.done("compose")
}

// arrive lets packets in flight arrive.
func (b *channelBench) arrive(end, which, times int, keep bool) {
	b.Helper()
	for n := len(b.Flight[end]); n > 0 && times > 0; n = len(b.Flight[end]) {
		b.Arrive(end, which%n, keep)
		b.done("arrival")
		times--
	}
}

// finish lets everything arrive.
func (b *channelBench) finish() {
	b.Helper()
	b.Now = max(b.Now, b.latest)
	b.Finish(func(channel.Message) {})
	b.done("finish")
}

// seedChannelConversations are scripts for both ends; 128 is the receiver's end, to which
// data go, and 0 the sender's.
func seedChannelConversations([]testvectors.File) (seeds [][]byte) {
	for small := range smallChannels {
		for _, kind := range []string{"ordered", "unordered"} {
			for _, f := range []channels.Format{{Window: 32, Data: 1, Group: 2}, {Window: 32, Data: 4, Group: 4}, {Window: 32, Data: 40, Group: 64}} {
				head := channelScript(kind, f, 30, 65_530, 2_000_000)
				for _, talk := range channelTalks {
					seeds = append(seeds, append(slices.Clip(append([]byte{byte(small)}, head...)), talk...))
				}
			}
		}
	}
	return seeds
}

var channelTalks = [][]byte{
	// messages and fragments, in order, read at once
	{0, 5, 5, 0, 138, 0, 2, 20, 0, 5, 0, 138, 0, 12, 9, 13, 3, 10, 0, 0, 7, 5, 0, 138, 0, 12, 9, 13, 9, 10, 0},
	// reordered, doubled, lost; reports late
	{3, 12, 6, 4, 6, 6, 6, 7, 6, 7, 6, 8, 5, 0, 137, 3, 135, 1, 137, 0, 133, 0, 139, 1, 12, 3, 138, 1, 133, 0, 9, 0, 13, 9, 5, 0, 138, 0, 12, 40, 7, 0, 13, 30, 10, 1, 5, 0, 138, 0},
	// nothing is read: the window closes, and the queue fills; then read
	{3, 200, 5, 0, 5, 0, 138, 0, 133, 0, 10, 0, 3, 200, 13, 100, 138, 0, 13, 100, 10, 0, 12, 255, 13, 5, 10, 0, 5, 0, 138, 0, 12, 255},
	// lifetimes: before the first transmission, after it, of half a group
	{4, 9, 1, 4, 3, 20, 4, 100, 5, 5, 0, 139, 1, 13, 8, 138, 0, 12, 9, 133, 0, 10, 0, 13, 40, 138, 0, 12, 9, 13, 40, 10, 0, 5, 0, 138, 0},
	// a known round trip: marks by packets, early probes
	{15, 1, 0, 0, 1, 0, 0, 16, 0, 0, 0, 3, 5, 0, 0, 4, 5, 0, 0, 4, 5, 0, 139, 1, 138, 0, 13, 6, 133, 0, 10, 0, 5, 0, 139, 9, 13, 3, 13, 9, 138, 0, 133, 0, 10, 0, 13, 30, 138, 0, 12, 30},
	// many wraps of a small space, with a late packet of each
	{3, 60, 5, 0, 137, 0, 12, 255, 133, 0, 10, 0, 5, 0, 135, 1, 12, 255, 133, 0, 10, 0, 3, 60, 5, 0, 138, 0, 12, 255, 13, 1, 10, 0, 5, 0, 138, 1, 12, 255, 13, 1, 10, 0, 5, 0, 138, 1, 12, 255},
	// an outage until one gives up; times that go back
	{0, 4, 5, 0, 3, 9, 13, 255, 139, 99, 13, 255, 14, 0, 0, 1, 0, 5, 0, 142, 0, 10, 0, 13, 255, 138, 0, 133, 0, 10, 0},
}
