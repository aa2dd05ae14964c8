package fuzz

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
)

// All channels of two ends talk: payloads are composed in any space, come in any order, or
// never, and some with a fault behind them, which changes nothing. Each payload is what the
// oracle takes, in the order of CHC-7, and as long as it may be; what is read was sent, once,
// and in order where that is promised. At last everything arrives, and both ends fall silent.
//
// An input is a script of operations, each a byte, of which bit 7 is the end, and what op
// reads.
var targetMux = newTarget("Mux", "payloads of all channels have their order and size, and each channel delivers as its kind promises", runMux, seedMuxes)

// muxChannels are the channels of both ends, with records as the oracle's usual format has them.
var muxChannels = []channel.Config{
	{ID: 1, Priority: 1, Format: channel.Format{Window: 32, Group: 4}, SendQueue: 40},
	{ID: 2, Kind: channel.Unordered, Format: channel.Format{Window: 64}, First: 65_530},
	{ID: 3, Kind: channel.Unreliable, Priority: 2, QueueBytes: 20_000},
	{ID: 4, Priority: 1, First: 1<<32 - 3},
	{ID: 63, Kind: channel.Unreliable},
}

func runMux(t T, data []byte) {
	b := &muxBench{T: t, script: script{data}}
	for i := range b.ends {
		m, err := channel.NewMux(channel.MuxConfig{Channels: muxChannels})
		if err != nil {
			t.Fatalf("%v", err)
		}
		b.ends[i] = muxEnd{Mux: m, newest: core.NoNumber, taken: map[core.Number]bool{}, flows: map[uint8]*muxFlow{}}
		for _, c := range muxChannels {
			b.ends[i].flows[c.ID] = &muxFlow{channels.NewLedger(c.Kind == channel.Ordered, channel.DefaultData, int64(c.First)), c.Kind, map[string]int{}}
		}
	}
	for n := 0; b.more() && n < maxOps; n++ {
		b.op()
	}
	b.finish()
}

// muxBench is two ends, and payloads on their way.
type muxBench struct {
	T
	script
	ends   [2]muxEnd
	flight [2][]muxPacket // to each end
	now    core.Micros    // of the next event; it may go back
	latest core.Micros
}

type muxEnd struct {
	*channel.Mux
	number core.Number // of its next packet
	newest core.Number // of the peer's that it has
	taken  map[core.Number]bool
	flows  map[uint8]*muxFlow // what it sends
}

// muxFlow is what one end sends on a channel.
type muxFlow struct {
	*channels.Ledger
	kind  channel.Kind
	loose map[string]int // on an unreliable channel, what is not read
}

type muxPacket struct {
	number, ack core.Number
	payload     []byte
	quiet       bool
}

// op does one operation of the script.
func (b *muxBench) op() {
	b.Helper()
	op := b.byte()
	end := int(op >> 7)
	switch op & 0x7f % 16 {
	case 0, 1, 2:
		b.send(end, pick(&b.script, muxChannels), 1+int(b.byte()), 0)
	case 3:
		b.send(end, pick(&b.script, muxChannels), int(b.uint16()), core.Micros(b.byte())*10*core.Millisecond)
	case 4: // many
		c := pick(&b.script, muxChannels)
		for range b.byte() {
			b.send(end, c, 30, 0)
		}
	case 5, 6:
		b.compose(end, channel.LargestPayload)
	case 7:
		b.compose(end, int(b.uint16())%channel.LargestPayload)
	case 8, 9:
		if n := len(b.flight[end]); n > 0 {
			b.arrive(end, int(b.byte())%n)
		}
	case 10:
		for len(b.flight[end]) > 0 {
			b.arrive(end, 0)
		}
	case 11:
		b.flight[end] = b.flight[end][min(int(b.byte()), len(b.flight[end])):]
	case 12:
		b.read(end, int(b.byte()))
	case 13:
		if at := b.ends[end].Deadline(); b.byte()&1 == 1 && at <= 1<<61 {
			b.now = max(b.now, at)
		} else {
			b.now += core.Micros(b.byte()) * core.Millisecond
		}
	case 14:
		b.now = max(0, b.now-core.Micros(b.uint16()))
	case 15:
		p := readPath(&b.script)
		p.SRTT, p.Patience = p.SRTT%core.Second, p.Patience%core.Second
		b.ends[end].SetPath(p)
	}
	b.latest = max(b.latest, b.now)
}

func (b *muxBench) send(end int, c channel.Config, size int, lifetime core.Micros) {
	b.Helper()
	e, f := &b.ends[end], b.ends[end].flows[c.ID]
	data := bytes.Repeat([]byte{byte(f.Next()), byte(size)}, size/2+1)[:size]
	if err := e.Send(b.now, c.ID, data, lifetime); err != nil {
		return
	}
	if c.Kind == channel.Unreliable {
		f.loose[string(data)]++
		return
	}
	diesAt := int64(channels.Lives)
	if lifetime > 0 {
		diesAt = 0 // the machine knows when
	}
	f.Sent(string(data), diesAt)
}

// compose composes one payload.
func (b *muxBench) compose(end, space int) bool {
	b.Helper()
	e := &b.ends[end]
	before := []byte("before")
	if space == channel.LargestPayload { // with something before it a large unreliable message would wait
		before = nil
	}
	payload, quiet := e.Compose(slices.Clone(before), b.now, e.number, space)
	payload, found := bytes.CutPrefix(payload, before)
	if !found {
		b.Fatalf("what was there before is gone")
	}
	if len(payload) == 0 {
		return false
	}
	b.checkPayload(payload, quiet, space)
	b.flight[1-end] = append(b.flight[1-end], muxPacket{e.number, e.newest, payload, quiet})
	e.number++
	return true
}

// rank is the place of a record in a payload: reports, then by priority, of equal ones unreliable
// messages first (CHC-7, CHC-8).
func rank(r *channeloracle.Record) int {
	if r.Type == channeloracle.Report {
		return 0
	}
	c := muxChannels[slices.IndexFunc(muxChannels, func(c channel.Config) bool { return int(c.ID) == int(r.Channel) })]
	place := 2 * (256 - c.Priority)
	if c.Kind != channel.Unreliable {
		place++
	}
	return place
}

// checkPayload checks a payload (CHC-2, CHC-7, CHC-8, CHR-4, CHU-3).
func (b *muxBench) checkPayload(payload []byte, quiet bool, space int) {
	b.Helper()
	list, err := channeloracle.Decode(channeloracle.Usual, payload)
	if err != nil || quiet == slices.ContainsFunc(list, func(r channeloracle.Record) bool { return r.Type != channeloracle.Report }) {
		b.Fatalf("%x, quiet %v: %v", payload, quiet, err)
	}
	if verbose() {
		b.Logf("at %d: %d bytes in %d, quiet %v: %d records", b.now, len(payload), space, quiet, len(list))
	}
	alone := space == channel.LargestPayload && len(list) == 1 && list[0].Type == channeloracle.Unreliable
	if len(payload) > space && !alone {
		b.Fatalf("%d bytes in a space of %d", len(payload), space)
	}
	at := 0
	for i := range list {
		if rank(&list[i]) < at {
			b.Fatalf("a %s comes too late: %+v", list[i].Type, list)
		}
		at = rank(&list[i])
	}
}

// arrive lets a payload arrive; before that it comes with a fault behind it.
func (b *muxBench) arrive(end, which int) {
	b.Helper()
	p := b.flight[end][which]
	b.flight[end] = slices.Delete(b.flight[end], which, which+1)
	e := &b.ends[end]
	if e.taken[p.number] || p.number <= e.newest-256 {
		return
	}
	before := []any{e.Deadline(), e.Prompt(), e.Pending()}
	if _, err := e.Handle(b.now, p.number, p.ack, append(slices.Clone(p.payload), 0)); err == nil {
		b.Fatalf("%x is taken with a pad behind it", p.payload)
	}
	if after := []any{e.Deadline(), e.Prompt(), e.Pending()}; !slices.Equal(before[1:], after[1:]) {
		b.Fatalf("a payload that is refused changes %v to %v", before, after)
	}
	quiet, err := e.Handle(b.now, p.number, p.ack, p.payload)
	if err != nil || quiet != p.quiet {
		b.Fatalf("%x: quiet %v, %v", p.payload, quiet, err)
	}
	e.taken[p.number], e.newest = true, max(e.newest, p.number)
}

// read reads from all channels of an end.
func (b *muxBench) read(end, most int) {
	b.Helper()
	for _, c := range muxChannels {
		for range most {
			m, ok := b.ends[end].Read(b.now, c.ID, nil)
			if !ok {
				break
			}
			b.took(b.ends[1-end].flows[c.ID], m)
		}
	}
}

// took checks what was read.
func (b *muxBench) took(f *muxFlow, m channel.Message) {
	b.Helper()
	if f.kind == channel.Unreliable {
		if f.loose[string(m.Data)]--; f.loose[string(m.Data)] < 0 {
			b.Fatalf("an unreliable message is read more often than it was sent")
		}
		return
	}
	if err := f.Read(0, int64(m.Sequence), string(m.Data), m.Skipped); err != nil {
		b.Fatalf("%v", err)
	}
}

// finish lets everything arrive, until nothing is left to do; all is then read or skipped, or a
// channel has failed.
func (b *muxBench) finish() {
	b.Helper()
	b.now = b.latest
	b.flight = [2][]muxPacket{}
	b.read(0, maxOps)
	b.read(1, maxOps)
	for n := 0; ; n++ {
		next := min(b.ends[0].Deadline(), b.ends[1].Deadline())
		if next == core.Never {
			break
		}
		if n > 20_000 {
			b.Fatalf("the ends never rest")
		}
		b.now = max(b.now, next)
		for end := range b.ends {
			for b.compose(end, channel.LargestPayload) {
				for len(b.flight[1-end]) > 0 {
					b.arrive(1-end, 0)
				}
			}
		}
		for end := range b.ends {
			b.read(end, maxOps)
		}
	}
	for i := range b.ends {
		if b.ends[0].Err() != nil || b.ends[1].Err() != nil {
			continue
		}
		for id, f := range b.ends[i].flows {
			if f.Tail() < f.Next() {
				b.Fatalf("channel %d: %d is neither read nor skipped", id, f.Tail())
			}
		}
	}
}

// seedMuxes are scripts.
func seedMuxes([]testvectors.File) (seeds [][]byte) {
	for first := range byte(5) {
		for _, talk := range muxTalks {
			seeds = append(seeds, append([]byte{0, first, 9, 128, first, 20}, talk...))
		}
	}
	return seeds
}

// muxTalks are scripts for both ends; 128 is the second.
var muxTalks = [][]byte{
	// all channels both ways, in order
	{0, 0, 3, 0, 1, 3, 0, 2, 3, 0, 3, 3, 0, 4, 3, 128, 0, 5, 128, 1, 5, 5, 138, 140, 9, 133, 10, 12, 9, 13, 0, 30, 5, 138, 133, 10},
	// fragments, large unreliable messages, some that are refused
	{3, 1, 0, 200, 0, 3, 0, 150, 0, 0, 3, 2, 0x84, 4, 0, 3, 2, 0, 30, 0, 3, 4, 0xfc, 63, 0, 3, 4, 0xfd, 63, 0, 3, 3, 0xff, 0xff, 0, 5, 5, 5, 5, 138, 140, 99, 133, 10, 13, 0, 30, 133, 10},
	// turns of equal priorities, little space
	{4, 0, 60, 4, 3, 60, 4, 1, 60, 5, 7, 60, 0, 7, 7, 0, 7, 200, 1, 5, 138, 140, 99, 13, 0, 30, 7, 12, 0, 7, 90, 0, 133, 10, 5, 5, 138, 140, 99},
	// losses: reports, probes, what expires
	{4, 1, 30, 3, 0, 90, 0, 5, 3, 3, 9, 0, 9, 5, 5, 139, 1, 15, 1, 160, 134, 1, 0, 0, 0, 0, 0, 138, 13, 0, 120, 133, 10, 5, 13, 1, 5, 13, 1, 5, 138, 133, 10, 5, 138, 140, 99},
	// unreliable messages that are not read
	{4, 2, 255, 4, 2, 255, 5, 5, 5, 5, 5, 5, 5, 5, 5, 138, 3, 2, 0, 62, 0, 5, 138, 4, 2, 255, 5, 5, 5, 5, 5, 138, 140, 255},
	// nobody answers, until the channels fail; times that go back
	{0, 0, 3, 5, 139, 9, 0, 1, 3, 4, 3, 9, 14, 255, 255, 5, 139, 9, 13, 0, 255, 13, 0, 255, 13, 1, 5, 139, 9, 13, 1, 5, 139, 9, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 13, 0, 255, 5, 0, 0, 3, 5},
}

// readPath reads what is known of the path: whether it is measured, a byte; SRTT and
// patience, 4 each.
func readPath(s *script) channel.Path {
	if s.byte()&1 == 0 {
		return channel.Path{Patience: core.Micros(s.uint32())}
	}
	return channel.Path{Measured: true, SRTT: core.Micros(s.uint32()), Patience: core.Micros(s.uint32())}
}
