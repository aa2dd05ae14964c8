package fuzz

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// The receiver of a channel is given records of any kind, most of them near its window,
// between reads, polls and pauses; its clock goes back. Model and oracle say what it must do
// at each event, and it keeps its bounds, whatever comes (CHT-SAFE-7, CHT-BND-1 to
// CHT-BND-3). At last a peer that has given up everything skips what is missing: then all is
// read, and the receiver falls silent.
//
// An input is a configuration as readChannelConfig reads it, and a script of operations, each
// a byte, and what op reads.
var targetChannelReceiver = newTarget("ChannelReceiver", "a receiver of a channel is its model and its oracle, and keeps its bounds, whatever arrives", runChannelReceiver, seedChannelReceivers)

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
func channelScript(kind string, f contract.ChannelFormat, sendQueue, first, giveUp int64) []byte {
	power := byte(0)
	for ; int64(32)<<power < f.Window; power++ {
	}
	b := power << 1
	if kind == contract.KindUnordered {
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

func pathScript(srtt, patience *int64) []byte {
	out, known := []byte{0}, int64(0)
	if patience != nil {
		known = *patience
	}
	if srtt != nil {
		out = appendUint32([]byte{1}, uint32(*srtt))
	}
	return appendUint32(out, uint32(known))
}

func oraclePath(p channel.Path) channeloracle.Path {
	return channeloracle.Path{Measured: p.Measured, SRTT: int64(p.SRTT), Patience: int64(p.Patience)}
}

func runChannelReceiver(t T, data []byte) {
	b := &channelReceiverBench{T: t, script: script{data}, lastReport: -core.Second}
	b.cfg = readChannelConfig(&b.script)
	var err error
	if b.CheckedReceiver, err = channelsim.NewCheckedReceiver(b.cfg, t.Fatalf); err != nil {
		t.Fatalf("%+v: %v", b.cfg, err)
	}
	b.oracle = channeloracle.NewReceiver(channeloracle.ReceiverConfig{
		Format: oracleFormat(b.cfg.Format), Ordered: b.cfg.Kind == channel.Ordered, First: int64(b.cfg.First), GiveUp: int64(b.cfg.GiveUp),
	})
	for n := 0; b.more() && n < maxOps; n++ {
		b.op()
	}
	b.finish()
}

// channelReceiverBench is a receiver beside its model and its oracle.
type channelReceiverBench struct {
	T
	*channelsim.CheckedReceiver
	script
	cfg     channel.Config
	oracle  *channeloracle.Receiver
	clock   core.Micros // of the next event; it may go back
	latest  core.Micros
	reports int // since a record came, or something was read

	lastReport core.Micros
}

// op does one operation of the script.
func (b *channelReceiverBench) op() {
	b.Helper()
	switch op := b.byte() % 20; op {
	case 0, 1, 2, 3: // a message
		b.give(&channel.Record{Type: channel.TypeMessage, Sequence: b.near(), Data: b.bytes(1 + int(b.byte())%b.cfg.Data)})
	case 4, 5, 6:
		b.give(b.fragment(b.near(), int(b.byte()), int(b.byte())))
	case 7: // all of a group but one
		n, count, left := b.near(), b.byte(), int(b.byte())
		for i := range int(count) {
			if r := b.fragment(n+uint16(i), i, int(count)); i != left && r.Index == i {
				b.give(r)
			}
		}
	case 8, 9:
		b.give(&channel.Record{Type: channel.TypeSkip, Sequence: b.near(), Count: 1 + int(b.byte())>>(op&1*4)})
	case 10:
		b.give(&channel.Record{Type: channel.TypeStatus, Sequence: b.near()})
	case 11:
		b.read()
	case 12:
		for range b.byte() {
			b.read()
		}
	case 13:
		b.poll(pick(&b.script, []int{1160, 7, 6, 13, 19, 30, 0, 200}))
	case 14: // as a driver does
		if at := b.Deadline(); at <= 1<<61 {
			b.clock = max(b.clock, at-core.Micros(b.byte()&1))
		}
		b.poll(1160)
	case 15:
		b.clock += core.Micros(b.byte()) * core.Millisecond
	case 16:
		b.clock = min(b.clock+core.Micros(b.uint32()), 1<<61)
	case 17:
		b.clock = max(0, b.clock-core.Micros(b.uint32()))
	case 18:
		p := readPath(&b.script)
		b.SetPath(p)
		b.oracle.SetPath(oraclePath(p))
		b.compare("path", "", "")
	case 19: // as traces have them
		b.giveBytes(b.take(int(b.uint16())))
	}
}

// near reads a sequence, mostly one near the window.
func (b *channelReceiverBench) near() uint16 {
	v := b.byte()
	base, tail, limit := uint16(b.Receiver.Base()), uint16(b.Receiver.Tail()), uint16(b.Receiver.Limit())
	switch {
	case v < 0xa0:
		return base + uint16(v%0x50) - 8
	case v < 0xc0:
		return tail + uint16(v%0x20) - 4
	case v < 0xe0:
		return limit + uint16(v%0x20) - 24
	}
	return b.uint16()
}

func (b *channelReceiverBench) bytes(size int) []byte { return noise[size : 2*size] }

// fragment returns a fragment that a decoder takes.
func (b *channelReceiverBench) fragment(n uint16, index, count int) *channel.Record {
	r := &channel.Record{Type: channel.TypeFragment, Sequence: n, Count: 2 + count%(min(b.cfg.Group, b.cfg.Window)-1), Data: b.bytes(b.cfg.Data)}
	if r.Index = index % r.Count; r.Index == r.Count-1 {
		r.Data = b.bytes(1 + index*7%b.cfg.Data)
	}
	return r
}

// giveBytes gives what is one record, and an event.
func (b *channelReceiverBench) giveBytes(payload []byte) {
	var r channel.Record
	next, err := b.cfg.Decode(payload, 0, &r)
	if err == nil && next == len(payload) && r.Type != channel.TypePad && r.Type != channel.TypeReport && r.Type != channel.TypeUnreliable {
		b.give(&r)
	}
}

func (b *channelReceiverBench) give(r *channel.Record) {
	b.Helper()
	b.Handle(b.clock, r)
	b.reports = 0
	b.compare(r.Type.String(), b.oracle.Handle(int64(b.clock), oracleRecord(*r)), b.Receiver.Row())
	if held := b.Receiver.Stats().HeldBytes; held > b.cfg.Window*b.cfg.Data {
		b.Fatalf("CHT-BND-1: %d bytes are held", held)
	}
}

func (b *channelReceiverBench) read() bool {
	b.Helper()
	m, ok := b.Read(b.clock)
	row, want := b.oracle.Read(int64(b.clock))
	if ok {
		b.reports = 0
	}
	if ok != (want != nil) || ok && (int64(m.Sequence) != want.Sequence || m.Skipped != want.Skipped || !bytes.Equal(m.Data, want.Data)) {
		b.Fatalf("read %+v, %v; the oracle %+v", m, ok, want)
	}
	b.compare("read", row, b.Receiver.Row())
	return ok
}

func (b *channelReceiverBench) poll(space int) bool {
	b.Helper()
	r, ok := b.Poll(b.clock, space)
	row, want := b.oracle.Poll(int64(b.clock), space)
	if ok != (want != nil) || ok && !sameRecords(r, *want) {
		b.Fatalf("reports %+v, %v; the oracle %+v", r, ok, want)
	}
	b.compare("poll", row, b.Receiver.Row())
	if ok {
		b.reported(&r, space)
	}
	return ok
}

// reported checks the bounds of a report (CHT-BND-2, CHT-BND-3, CHV-6).
func (b *channelReceiverBench) reported(r *channel.Record, space int) {
	b.Helper()
	b.reports++
	since := b.latest - b.lastReport
	b.lastReport = b.latest
	if r.Size() > min(space, 199) {
		b.Fatalf("CHT-BND-2: a report of %d bytes in %d", r.Size(), space)
	}
	if since < channel.ReportSpacing {
		b.Fatalf("CHT-BND-2: a report %d us after another", since)
	}
	if most := 5 + int(b.cfg.GiveUp/(250*core.Millisecond)); b.reports > most {
		b.Fatalf("CHT-BND-3: %d reports since something came", b.reports)
	}
	if _, err := b.cfg.Append(nil, r); err != nil {
		b.Fatalf("a report does not encode: %v", err)
	}
}

// compare compares what can be seen after an event.
func (b *channelReceiverBench) compare(event, row string, got core.Row) {
	b.Helper()
	b.latest = max(b.latest, b.clock)
	v := b.Receiver
	if verbose() {
		b.Logf("at %d, %s: Row:%s tail %d, base %d, top %d, due at %d", b.clock, event, v.Row(), v.Tail(), v.Base(), v.Top(), v.Deadline())
	}
	at, due := b.oracle.Deadline()
	if !due {
		at = int64(core.Never)
	}
	if string(got) != row || v.State().String() != b.oracle.State() || int64(v.Deadline()) != at {
		b.Fatalf("%s takes %s, is %v and due at %d; the oracle %s, %s, %d", event, got, v.State(), v.Deadline(), row, b.oracle.State(), at)
	}
	if counted := v.Stats().Beyond + v.Stats().Conflicts; counted != b.oracle.Counted {
		b.Fatalf("%d were counted, by the oracle %d", counted, b.oracle.Counted)
	}
}

// mostMissing is how much finish skips: the model takes its time.
const mostMissing = 1024

// finish skips what is missing and reads all, until nothing is left; or the receiver has
// failed, and says nothing more.
func (b *channelReceiverBench) finish() {
	b.Helper()
	b.clock = b.latest
	for b.read() {
	}
	if b.Receiver.Top()-b.Receiver.Base() > mostMissing {
		return
	}
	for range 1 << 12 {
		v := b.Receiver
		if b.Failed() || v.Tail() == v.Top() {
			break
		}
		n := v.Base()
		if n == v.Top() { // a group that is not whole
			n = min(n, v.Limit()-1)
		}
		b.give(&channel.Record{Type: channel.TypeSkip, Sequence: uint16(n), Count: int(min(v.Limit()-n, 256, max(1, v.Top()-n)))})
		for b.read() {
		}
	}
	if v := b.Receiver; !b.Failed() && v.Tail() != v.Top() {
		b.Fatalf("all that is missing is skipped, but tail %d, base %d, top %d, limit %d", v.Tail(), v.Base(), v.Top(), v.Limit())
	}
	for range 3 {
		b.clock = min(b.clock+10*core.Second, 1<<62)
		b.poll(1160)
	}
	if at := b.Deadline(); at != core.Never || b.poll(1160) {
		b.Fatalf("nothing is left, but something is due at %d", at)
	}
}

// seedChannelReceivers are the traces of receivers, and scripts of their own.
func seedChannelReceivers(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.ChannelReceiverRequest](files, contract.OpChannelReceiver) {
		if !usable(q.Config.ChannelFormat, q.Config.GiveUp) {
			continue
		}
		seed := channelScript(q.Config.Kind, q.Config.ChannelFormat, 0, q.Config.First, q.Config.GiveUp)
		now := int64(0)
		for _, e := range q.Events {
			seed = stepTime(seed, now, e.At)
			now = e.At
			switch e.Event {
			case contract.EventRecord:
				seed = withBytes(append(seed, 19), bytesOf(e.Hex))
			case contract.EventRead:
				seed = append(seed, 11)
			case contract.EventPoll:
				seed = append(seed, 13, 0)
				if e.Space != nil {
					seed[len(seed)-1] = byte(max(0, slices.Index([]int64{1160, 7, 6, 13, 19, 30, 0, 200}, *e.Space)))
				}
			case contract.EventPath:
				seed = append(append(seed, 18), pathScript(e.SRTT.Value, nil)...)
			}
		}
		seeds = append(seeds, seed)
	}
	small := contract.ChannelFormat{Window: 32, Data: 4, Group: 4}
	large := contract.ChannelFormat{Window: 1024, Data: 40, Group: 64}
	for _, kind := range []string{contract.KindOrdered, contract.KindUnordered} {
		for _, f := range []contract.ChannelFormat{small, large} {
			head := channelScript(kind, f, 0, 65_520, 2_000_000)
			for _, talk := range receiverTalks {
				seeds = append(seeds, append(slices.Clip(head), talk...))
			}
		}
	}
	return seeds
}

// usable reports whether a trace has parameters that are allowed.
func usable(f contract.ChannelFormat, giveUp int64) bool {
	return f.Window >= 32 && f.Window <= 16384 && f.Window&(f.Window-1) == 0 && f.Data >= 1 && f.Data <= 1024 && f.Group >= 2 && f.Group <= 64 &&
		giveUp >= 1_000_000 && giveUp <= 3600_000_000
}

// stepTime is the operations that set the clock of a machine of a channel.
func stepTime(seed []byte, from, to int64) []byte {
	if to < from {
		return passBytes(seed, 17, from-to)
	}
	return passBytes(seed, 16, to-from)
}

// receiverTalks are scripts for receivers; a sequence of 8 is base.
var receiverTalks = [][]byte{
	// messages in order, out of order, twice, beyond the window; reads
	{0, 8, 3, 0, 9, 1, 0, 8, 2, 0, 8, 2, 12, 9, 14, 0, 0, 0xdf, 1, 0, 0xd8, 1, 0, 0xff, 0, 128, 1, 14, 1, 14, 0, 15, 50, 14, 0, 12, 40, 14, 0},
	// groups: whole, with a fragment that is lost, given up by a skip, in conflict
	{4, 8, 0, 0, 4, 8, 1, 0, 12, 3, 7, 8, 4, 2, 4, 10, 0, 2, 4, 9, 1, 3, 0, 9, 1, 8, 9, 0, 4, 8, 0, 1, 12, 9, 14, 0, 7, 8, 2, 9, 4, 11, 3, 2, 12, 9, 14, 0},
	// a group that reaches beyond the window, one that begins below tail
	{4, 0xd7, 0, 2, 4, 0xd6, 0, 1, 12, 2, 4, 8, 1, 2, 4, 0, 3, 2, 14, 0, 9, 9, 0, 12, 200},
	// status: within, beyond, what is missing then; reports that repeat until it fails
	{10, 20, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 10, 0xdf, 10, 0xdf, 13, 1, 18, 1, 0, 0, 1, 0, 0, 0, 0, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 16, 0, 0, 0, 1, 14, 0, 11, 0, 8, 1, 8, 8, 1, 10, 9, 13, 0},
	// more groups than fit, with little space
	{0, 8, 1, 0, 40, 1, 0, 79, 1, 0, 8, 1, 0, 75, 1, 13, 3, 15, 9, 13, 4, 15, 9, 13, 5, 15, 9, 13, 6, 13, 2, 13, 0},
	// what is ready can still be read after a failure; unordered in order of arrival
	{0, 8, 1, 0, 9, 1, 0, 11, 1, 16, 0, 0, 0, 1, 13, 0, 12, 9, 0, 9, 1, 8, 9, 1, 10, 9, 13, 0},
	// the clock goes back
	{0, 8, 1, 15, 200, 0, 9, 1, 17, 0, 0, 2, 0, 0, 9, 1, 14, 1, 14, 0, 17, 255, 255, 255, 0, 9, 8, 3, 14, 0, 12, 9},
}
