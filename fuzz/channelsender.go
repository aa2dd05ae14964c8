package fuzz

import (
	"bytes"
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// The sender of a channel is given messages, and reports that are true, late, forged or
// implausible, between packets that are composed; its clock goes back. Model and oracle say
// what it must do at each event, and the judge that it keeps its promises, of a receiver that
// has all that was sent (CHT-SAFE-6, CHT-LIVE-2, CHT-LIVE-4, CHT-BND-1, CHT-BND-4, CHN-6). At
// last an honest peer takes all, and the sender falls silent; or it has given up.
//
// An input is a configuration as readChannelConfig reads it, and a script of operations, each
// a byte, and what op reads.
var targetChannelSender = newTarget("ChannelSender", "a sender of a channel is its model and its oracle, and keeps its promises, whatever reports come", runChannelSender, seedChannelSenders)

// mostEntries bounds how many sequences one execution sends.
const mostEntries = 3000

func runChannelSender(t T, data []byte) {
	b := &channelSenderBench{T: t, script: script{data}}
	b.cfg = readChannelConfig(&b.script)
	var err error
	if b.CheckedSender, err = channelsim.NewCheckedSender(b.cfg, t.Fatalf); err != nil {
		t.Fatalf("%+v: %v", b.cfg, err)
	}
	b.oracle = channeloracle.NewSender(channeloracle.SenderConfig{
		Format: oracleFormat(b.cfg.Format), SendQueue: int64(b.cfg.SendQueue), First: int64(b.cfg.First), GiveUp: int64(b.cfg.GiveUp),
	})
	b.judge = channelsim.NewJudge(channelsim.Complete(b.cfg))
	b.next, b.tail, b.sent = b.cfg.First, b.cfg.First, map[core.Number]*sentMessage{}
	for n := 0; b.more() && n < maxOps; n++ {
		b.op()
	}
	b.finish()
}

// channelSenderBench is a sender beside its model, its oracle and its judge.
type channelSenderBench struct {
	T
	*channelsim.CheckedSender
	script
	cfg    channel.Config
	oracle *channeloracle.Sender
	judge  *channelsim.Judge
	clock  core.Micros // of the next event; it may go back
	latest core.Micros
	number core.Number // of the next packet
	next   core.Number // of the next message
	heard  core.Number // of the next packet of the peer
	tail   core.Number // what the judge's receiver reads next
	sent   map[core.Number]*sentMessage
}

// sentMessage is a message that was accepted, by each of its sequences.
type sentMessage struct {
	first, end core.Number
	data       []byte
	lost       bool // some of it went as skipped
}

// op does one operation of the script.
func (b *channelSenderBench) op() {
	b.Helper()
	switch op := b.byte() % 20; op {
	case 0, 1:
		b.send(b.bytes(1+int(b.byte())%b.cfg.Data), 0)
	case 2: // any size, up to the first that is refused
		most := b.cfg.MaxMessage() + 1
		b.send(b.bytes(int(b.uint16())%(most+1)), 0)
	case 3: // many
		for range b.byte() {
			b.send(b.bytes(1), core.Micros(op&1)*0)
		}
	case 4:
		b.send(b.bytes(1+int(b.byte())), core.Micros(b.byte())*10*core.Millisecond+1)
	case 5: // many of one lifetime
		lifetime := core.Micros(b.byte()) * core.Millisecond
		for range b.byte() {
			b.send(b.bytes(1), lifetime)
		}
	case 6, 7, 8:
		b.packet(1160)
	case 9:
		b.packet(pick(&b.script, []int{0, 3, 4, 5, 6, 7, 9, 11, 30, 100, 500}))
	case 10: // a report of what has come, with some that is missing
		b.report(b.heard, b.number-1, b.honest())
	case 11: // a late one, whose packet knew less
		b.report(b.heard-core.Number(b.byte()%8), b.number-1-core.Number(b.byte()), b.honest())
	case 12: // any that a decoder takes
		b.report(b.heard, core.Number(b.byte())-1, b.any())
	case 13: // as traces have them
		number, ack := core.Number(b.uint32()), core.Number(b.uint32())-1
		b.reportBytes(number, ack, b.take(int(b.uint16())))
	case 14: // as a driver does
		if at := b.Deadline(); at <= 1<<61 {
			b.clock = max(b.clock, at-core.Micros(b.byte()&1))
		}
		b.packet(1160)
	case 15:
		b.clock += core.Micros(b.byte()) * core.Millisecond
	case 16:
		b.clock = min(b.clock+core.Micros(b.uint32()), 1<<61)
	case 17:
		b.clock = max(0, b.clock-core.Micros(b.uint32()))
	case 18:
		p := readPath(&b.script)
		b.judge.Path(p)
		b.SetPath(p)
		b.oracle.SetPath(oraclePath(p))
		b.compare("path", b.Sender.Row(), string(b.Sender.Row()))
	case 19: // as traces have them
		lifetime := core.Micros(b.uint32())
		b.send(b.take(int(b.uint16())), lifetime)
	}
}

// bytes is a message.
func (b *channelSenderBench) bytes(size int) []byte {
	if size > len(noise)/2 {
		return bytes.Repeat([]byte{byte(size)}, size)
	}
	return noise[size : 2*size]
}

func (b *channelSenderBench) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%v", err)
	}
}

func (b *channelSenderBench) send(message []byte, lifetime core.Micros) {
	b.Helper()
	if b.Sender.Next()-b.cfg.First > mostEntries {
		return
	}
	err := b.Send(b.clock, message, lifetime)
	row, refused := b.oracle.Send(int64(b.clock), message, int64(lifetime))
	code := core.Code("")
	if err != nil {
		var e *core.Error
		if errors.As(err, &e) {
			code = e.Code()
		}
	}
	if string(code) != refused {
		b.Fatalf("a message of %d bytes: %v, the oracle %q", len(message), err, refused)
	}
	b.check(b.judge.Sent(b.clock, message, lifetime, code))
	if err == nil {
		m := &sentMessage{first: b.next, end: b.Sender.Next(), data: bytes.Clone(message)}
		for ; b.next < m.end; b.next++ {
			b.sent[b.next] = m
		}
	}
	b.compare("send", b.Sender.Row(), row)
}

// packet composes one, until the sender says nothing more.
func (b *channelSenderBench) packet(space int) (records int) {
	b.Helper()
	whole := space >= channelsim.WholePacket
	number := b.number
	for {
		before := b.Sender.Base()
		r, ok := b.Poll(b.clock, number, space)
		row, want := b.oracle.Poll(int64(b.clock), int64(number), space)
		if ok != (want != nil) || ok && !sameRecords(r, *want) {
			b.Fatalf("sends %+v, %v; the oracle %+v", r, ok, want)
		}
		b.compare("poll", b.Sender.Row(), row)
		if !ok {
			break
		}
		if _, err := b.cfg.Append(nil, &r); err != nil || r.Size() > space {
			b.Fatalf("%+v in %d bytes: %v", r, space, err)
		}
		b.check(b.judge.Composed(b.clock, number, r))
		b.arrives(before, &r)
		space -= r.Size()
		b.number, records = number+1, records+1
	}
	b.check(b.judge.Polled(b.clock, whole, b.Failed()))
	return records
}

// arrives says to the judge that a record has come at a receiver that reads at once. So all
// that was sent has come.
func (b *channelSenderBench) arrives(base core.Number, r *channel.Record) {
	b.Helper()
	n := base + core.Number(r.Sequence-uint16(base))
	b.judge.Arrived(b.clock, n, r)
	if r.Type == channel.TypeSkip {
		for end := n + core.Number(r.Count); n < end; n++ {
			b.sent[n].lost = b.sent[n].lost || n >= b.tail
		}
	}
	for sent := b.Sender.Sent(); b.tail < sent; {
		m := b.sent[b.tail]
		switch {
		case m.lost:
			b.check(b.judge.Read(channel.Message{Sequence: b.tail, Skipped: true}))
			b.tail++
		case m.end <= sent:
			b.check(b.judge.Read(channel.Message{Sequence: b.tail, Data: m.data}))
			b.tail = m.end
		default:
			return
		}
	}
}

// honest is a report: how many entries after base have come, a byte; how much room there is
// beyond, a byte; and bits of what is missing, 4.
func (b *channelSenderBench) honest() channel.Record {
	s := b.Sender
	base := s.Base() + min(core.Number(b.byte()), s.Sent()-s.Base())
	room := min(int(s.Limit()-base)+int(b.byte()), b.cfg.Window)
	var missing []uint16
	bits := b.uint32()
	for n := base; n < s.Sent() && n < base+core.Number(room) && bits != 0; n++ {
		if len(missing) == 0 || bits>>((n-base)%32)&1 == 1 {
			missing = append(missing, uint16(n))
		}
	}
	return channel.NewReport(0, uint16(base), room, missing)
}

// any is a report that a decoder takes: base, 2 bytes; room, 2; and distances.
func (b *channelSenderBench) any() channel.Record {
	base := uint16(b.Sender.Base()) + uint16(b.byte()) - 4
	room := int(b.uint16()) % (b.cfg.Window + 1)
	var missing []uint16
	d := 0
	for range b.byte() % 40 {
		if d < room {
			missing = append(missing, base+uint16(d))
		}
		d += 1 + int(b.byte())
	}
	return channel.NewReport(0, base, room, missing)
}

func (b *channelSenderBench) reportBytes(number, ack core.Number, payload []byte) {
	b.Helper()
	var r channel.Record
	if next, err := b.cfg.Decode(payload, 0, &r); err == nil && next == len(payload) && r.Type == channel.TypeReport {
		b.report(number, ack, r)
	}
}

func (b *channelSenderBench) report(number, ack core.Number, r channel.Record) {
	b.Helper()
	if _, err := b.cfg.Append(nil, &r); err != nil {
		b.Fatalf("%+v: %v", r, err)
	}
	b.Report(b.clock, number, ack, &r)
	row := b.oracle.Report(int64(b.clock), int64(number), int64(ack), oracleRecord(r))
	b.compare("report", b.Sender.Row(), row)
	if row == "D6" {
		b.judge.Heard(b.clock, number, ack, &r)
		b.check(b.judge.Released(b.Sender.Base()))
		b.heard = max(b.heard, number+1)
	} else {
		b.judge.Heard(b.clock, core.NoNumber, ack, &r) // it learns the time, and nothing else
	}
}

// compare compares what can be seen after an event.
func (b *channelSenderBench) compare(event string, got core.Row, row string) {
	b.Helper()
	b.latest = max(b.latest, b.clock)
	s := b.Sender
	if verbose() {
		b.Logf("at %d, %s: Row:%s base %d, sent %d, next %d, limit %d, due at %d", b.clock, event, s.Row(), s.Base(), s.Sent(), s.Next(), s.Limit(), s.Deadline())
	}
	at, due := b.oracle.Deadline()
	if !due {
		at = int64(core.Never)
	}
	if string(got) != row || s.State().String() != b.oracle.State() || int64(s.Deadline()) != at {
		b.Fatalf("%s takes %s, is %v and due at %d; the oracle %s, %s, %d", event, got, s.State(), s.Deadline(), row, b.oracle.State(), at)
	}
	if int64(s.Base()) != b.oracle.Base() || int64(s.Limit()) != b.oracle.Limit() || s.Stats().Implausible != b.oracle.Counted {
		b.Fatalf("base %d, limit %d, %d implausible; the oracle %d, %d, %d", s.Base(), s.Limit(), s.Stats().Implausible, b.oracle.Base(), b.oracle.Limit(), b.oracle.Counted)
	}
	if kept := s.Stats().Kept; kept > b.cfg.SendQueue {
		b.Fatalf("CHT-BND-1: %d are kept", kept)
	}
}

// finish takes all that is sent, and gives room, until nothing is left.
func (b *channelSenderBench) finish() {
	b.Helper()
	b.clock = b.latest
	for n := 0; b.Sender.Base() < b.Sender.Next() && !b.Failed(); n++ {
		for b.packet(channelsim.WholePacket) > 0 {
		}
		if n > mostEntries {
			b.Fatalf("the peer takes all, but base %d, sent %d, next %d", b.Sender.Base(), b.Sender.Sent(), b.Sender.Next())
		}
		b.report(b.heard, b.number-1, channel.NewReport(0, uint16(b.Sender.Sent()), b.cfg.Window, nil))
	}
	b.clock = min(b.clock+100*core.Second, 1<<62)
	if at := b.Deadline(); at != core.Never || b.packet(channelsim.WholePacket) > 0 {
		b.Fatalf("nothing is left, but something is due at %d", at)
	}
}

// seedChannelSenders are the traces of senders, and scripts of their own.
func seedChannelSenders(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.ChannelSenderRequest](files, contract.OpChannelSender) {
		c := q.Config
		if !usable(c.ChannelFormat, c.GiveUp) {
			continue
		}
		seed, now := channelScript("", c.ChannelFormat, c.SendQueue, c.First, c.GiveUp), int64(0)
		for _, e := range q.Events {
			seed = append(stepTime(seed, now, e.At), senderEvent(e)...)
			now = e.At
		}
		seeds = append(seeds, seed)
	}
	small := contract.ChannelFormat{Window: 32, Data: 4, Group: 4}
	large := contract.ChannelFormat{Window: 1024, Data: 40, Group: 64}
	for _, queue := range []int64{64, 1500} {
		for _, f := range []contract.ChannelFormat{small, large} {
			head := channelScript("", f, queue, 65_520, 2_000_000)
			for _, talk := range senderTalks {
				seeds = append(seeds, append(slices.Clip(head), talk...))
			}
		}
	}
	return seeds
}

// senderEvent is the script of an event of a trace. Packets have numbers of their own.
func senderEvent(e contract.ChannelSenderEvent) (out []byte) {
	switch e.Event {
	case contract.EventSend:
		lifetime := uint32(0)
		if e.Lifetime.Value != nil {
			lifetime = uint32(min(*e.Lifetime.Value, 1<<32-1))
		}
		return withBytes(appendUint32([]byte{19}, lifetime), bytesOf(e.Data))
	case contract.EventReport:
		if e.Number == nil || e.Ack == nil {
			return nil
		}
		out = appendUint32(appendUint32([]byte{13}, uint32(*e.Number)), uint32(*e.Ack+1))
		return withBytes(out, bytesOf(e.Hex))
	case contract.EventPoll:
		return []byte{6}
	case contract.EventPath:
		return append([]byte{18}, pathScript(e.SRTT.Value, e.Patience)...)
	}
	return nil
}

// senderTalks are scripts for senders.
var senderTalks = [][]byte{
	// messages and fragments go and are released; reports that are late and overtaken
	{0, 5, 1, 6, 2, 9, 0, 6, 10, 1, 0, 0, 0, 0, 0, 6, 15, 60, 10, 2, 9, 1, 0, 0, 0, 6, 11, 1, 3, 2, 9, 1, 0, 0, 0, 10, 255, 255, 0, 0, 0, 0},
	// a full queue, a closed window, probes of it, room again
	{3, 255, 3, 255, 6, 6, 6, 14, 0, 10, 255, 0, 0, 0, 0, 0, 14, 0, 14, 0, 14, 0, 10, 255, 255, 0, 0, 0, 0, 6, 6, 14, 0},
	// marks by packets and by HOLD, with a round trip that is known; early probes; resends again
	{18, 1, 0, 0, 1, 0, 0, 16, 0, 0, 3, 40, 6, 0, 4, 6, 0, 4, 6, 15, 100, 10, 0, 5, 0x35, 0, 0, 0, 6, 14, 0, 15, 100, 10, 0, 5, 0x35, 0, 0, 0, 14, 0, 14, 0, 14, 0, 15, 200, 10, 0, 5, 255, 255, 255, 255, 6, 14, 0},
	// lifetimes: skips of what was sent and was not, in one run, with FRESH in the way
	{5, 10, 255, 6, 5, 10, 200, 0, 4, 15, 20, 6, 6, 6, 10, 0, 255, 255, 0, 255, 0, 15, 250, 15, 50, 10, 0, 255, 255, 0, 255, 0, 6, 6, 6, 14, 0, 4, 9, 0, 15, 1, 6, 14, 0, 14, 0},
	// groups that expire, partly released
	{4, 150, 5, 6, 10, 2, 9, 0, 0, 0, 0, 15, 60, 14, 0, 4, 200, 5, 15, 60, 9, 3, 9, 4, 9, 5, 9, 6, 6, 14, 0, 14, 0},
	// reports that are implausible or forged
	{3, 40, 6, 12, 9, 200, 30, 0, 9, 0, 0, 3, 4, 12, 9, 4, 30, 0, 9, 0, 0, 3, 4, 12, 9, 60, 0, 4, 0, 12, 1, 8, 255, 255, 3, 9, 9, 9, 6, 14, 0},
	// little space; an unsent group waits
	{2, 15, 0, 9, 1, 9, 2, 9, 3, 9, 7, 9, 8, 9, 9, 0, 1, 9, 4, 9, 6, 6, 14, 1, 14, 0, 9, 2, 9, 3},
	// the peer says nothing: given up; then nothing more
	{0, 5, 6, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 14, 0, 0, 5, 10, 1, 1, 0, 0, 0, 0, 6, 2, 0, 0},
	// the clock goes back
	{0, 5, 6, 15, 255, 10, 0, 9, 255, 0, 0, 0, 17, 0, 0, 2, 0, 6, 0, 4, 14, 0, 17, 255, 255, 255, 0, 4, 9, 1, 15, 255, 6, 14, 0},
}
