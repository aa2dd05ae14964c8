package channeloracle_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/core"
)

// refusal is what both say of what they refuse.
type refusal struct {
	code string
	at   int
}

func ofPackage(err error) refusal {
	var e *channel.Error
	if !errors.As(err, &e) {
		return refusal{}
	}
	return refusal{string(e.Code()), e.Place()}
}

func ofOracle(err error) refusal {
	var e *channeloracle.Error
	if !errors.As(err, &e) {
		return refusal{}
	}
	return refusal{e.Code, e.At}
}

// typesByName are the package's types by the oracle's names.
var typesByName = map[string]channel.Type{
	channeloracle.Pad: channel.TypePad, channeloracle.Unreliable: channel.TypeUnreliable, channeloracle.Message: channel.TypeMessage, channeloracle.Fragment: channel.TypeFragment,
	channeloracle.Skip: channel.TypeSkip, channeloracle.Report: channel.TypeReport, channeloracle.Status: channel.TypeStatus,
}

// toPackage and toOracle are a record as the other one has it.
func toPackage(r channeloracle.Record) channel.Record {
	p := channel.Record{
		Type: typesByName[r.Type], Channel: uint8(r.Channel), Sequence: uint16(r.Sequence),
		Index: int(r.Index), Count: int(r.Count), Room: int(r.Room), Data: r.Data,
	}
	for _, g := range r.Groups {
		p.Groups = append(p.Groups, channel.Group{Start: uint16(g.Start), Bits: uint32(g.Bits)})
	}
	return p
}

func toOracle(p *channel.Record) channeloracle.Record {
	r := channeloracle.Record{
		Type: p.Type.String(), Channel: int64(p.Channel), Sequence: int64(p.Sequence),
		Index: int64(p.Index), Count: int64(p.Count), Room: int64(p.Room), Data: bytes.Clone(p.Data),
	}
	for _, g := range p.Groups {
		r.Groups = append(r.Groups, channeloracle.Group{Start: int64(g.Start), Bits: int64(g.Bits)})
	}
	return r
}

// decode decodes a payload with the package.
func decode(f channel.Format, payload []byte) (list []channeloracle.Record, err error) {
	var r channel.Record
	for at, more := 0, true; more; more = at < len(payload) {
		if at, err = f.Decode(payload, at, &r); err != nil {
			return nil, err
		}
		list = append(list, toOracle(&r))
	}
	return list, nil
}

// encode encodes records with the package.
func encode(f channel.Format, list []channeloracle.Record) (payload []byte, err error) {
	for _, r := range list {
		p := toPackage(r)
		if payload, err = f.Append(payload, &p); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

func packageFormat(f channeloracle.Format) channel.Format {
	return channel.Format{Window: int(f.Window), Data: int(f.Data), Group: int(f.Group)}
}

func anyFormat(t *rapid.T) channeloracle.Format {
	return channeloracle.Format{
		Window: rapid.SampledFrom([]int64{32, 64, 512, 16384}).Draw(t, "window"), Data: rapid.Int64Range(1, 9).Draw(t, "data"), Group: rapid.Int64Range(2, 64).Draw(t, "group"),
	}
}

var names = []string{channeloracle.Unreliable, channeloracle.Message, channeloracle.Fragment, channeloracle.Skip, channeloracle.Report, channeloracle.Status}

// wildRecord is a record whose values are near what is allowed.
func wildRecord(t *rapid.T, f channeloracle.Format) channeloracle.Record {
	near := func(name string, values ...int64) int64 { return rapid.SampledFrom(values).Draw(t, name) }
	r := channeloracle.Record{
		Type: rapid.SampledFrom(names).Draw(t, "type"), Channel: near("channel", 0, 0, 0, 1, 63, 64, 255), Sequence: near("sequence", 0, 1, 100, 32767, 32768, 65500, 65535),
		Index: near("index", 0, 1, 2, f.Group-1, f.Group, 255), Count: near("count", 2, 2, 3, f.Group, f.Group+1, 1, 256), Room: near("room", 0, 1, 33, 34, f.Window, f.Window+1),
	}
	if r.Type == channeloracle.Report {
		start := r.Sequence
		for range rapid.IntRange(0, 4).Draw(t, "groups") {
			start += near("step", 0, 0, 1, 32, 33, 33, 34, 66)
			r.Groups = append(r.Groups, channeloracle.Group{Start: start & 65535, Bits: int64(rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0, 3), rapid.Just(uint32(0))).Draw(t, "bits"))})
		}
	} else if r.Type != channeloracle.Skip && r.Type != channeloracle.Status {
		size := int(near("size", f.Data, f.Data, 1, 0, f.Data+1))
		r.Data = rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes")
	}
	return r
}

func TestEncodersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFormat(t)
		var list []channeloracle.Record
		for range rapid.IntRange(1, 3).Draw(t, "records") {
			list = append(list, wildRecord(t, f))
		}
		want, err := channeloracle.Encode(f, list)
		got, err2 := encode(packageFormat(f), list)
		if ofOracle(err) != ofPackage(err2) || !bytes.Equal(want, got) {
			t.Fatalf("%+v: %x, %v, the oracle %x, %v", list, got, err2, want, err)
		}
	})
}

// wildPayload is a payload: of records that may be faulty, damaged, cut off, or random.
func wildPayload(t *rapid.T, f channeloracle.Format) (b []byte) {
	if rapid.IntRange(0, 3).Draw(t, "random") == 0 {
		return rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 3, 4, 5, 6, 7, 63, 64, 255}), 0, 40).Draw(t, "bytes")
	}
	wide := channeloracle.Format{Window: 65535, Data: 65535, Group: 256}
	for range rapid.IntRange(1, 3).Draw(t, "records") {
		r := wildRecord(t, f)
		r.Channel = min(r.Channel, 63)
		if part, err := channeloracle.Encode(wide, []channeloracle.Record{r}); err == nil {
			b = append(b, part...)
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		if len(b) > 0 {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
	}
	return b
}

func TestDecodersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFormat(t)
		b := wildPayload(t, f)
		want, err := channeloracle.Decode(f, b)
		got, err2 := decode(packageFormat(f), b)
		if ofOracle(err) != ofPackage(err2) {
			t.Fatalf("%x: %v, the oracle %v", b, err2, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%x (-oracle +package): %s", b, diff)
		}
	})
}

func TestReportsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(rapid.Uint16(), rapid.Just(uint16(65530))).Draw(t, "base")
		missing := []uint16{base}
		numbers := []int64{int64(base)}
		for d := 0; ; {
			if d += rapid.SampledFrom([]int{1, 1, 2, 31, 32, 33, 34, 100, 700}).Draw(t, "step"); d >= 16384 || len(missing) > 90 {
				break
			}
			missing, numbers = append(missing, base+uint16(d)), append(numbers, int64(base)+int64(d))
		}
		want := channeloracle.Record{Type: channeloracle.Report, Sequence: int64(base), Room: 16384, Groups: channeloracle.Groups(numbers, channeloracle.MostGroups)}
		got := channel.NewReport(0, base, 16384, missing)
		if diff := cmp.Diff(want, toOracle(&got)); diff != "" {
			t.Fatalf("%d (-oracle +package): %s", missing, diff)
		}
	})
}

// step is what a machine did, in a form that both have.
type step struct {
	Row, State string
	Deadline   int64 // -1: never
	Record     string
	Read       *channeloracle.Read
	Refused    string
	Base       int64
	Limit      int64
	Counted    int64
}

func deadline(at core.Micros) int64 {
	if at == core.Never {
		return -1
	}
	return int64(at)
}

func deadlineOf(at int64, ok bool) int64 {
	if !ok {
		return -1
	}
	return at
}

func text(f channeloracle.Format, r *channeloracle.Record) string {
	if r == nil {
		return ""
	}
	b, err := channeloracle.Encode(f, []channeloracle.Record{*r})
	if err != nil {
		return err.Error()
	}
	return hex.EncodeToString(b)
}

func textOf(f channel.Format, r channel.Record, ok bool) string {
	if !ok {
		return ""
	}
	b, err := f.Append(nil, &r)
	if err != nil {
		return err.Error()
	}
	return hex.EncodeToString(b)
}

func path(p channeloracle.Path) channel.Path {
	return channel.Path{Measured: p.Measured, SRTT: core.Micros(p.SRTT), Patience: core.Micros(p.Patience)}
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// receivers is a receiver beside the oracle's.
type receivers struct {
	t      failer
	format channeloracle.Format
	want   *channeloracle.Receiver
	got    *channel.Receiver
}

func newReceivers(t failer, cfg channeloracle.ReceiverConfig) *receivers {
	t.Helper()
	kind := channel.Unordered
	if cfg.Ordered {
		kind = channel.Ordered
	}
	v, err := channel.NewReceiver(channel.Config{Kind: kind, Format: packageFormat(cfg.Format), GiveUp: core.Micros(cfg.GiveUp), First: core.Number(cfg.First)})
	if err != nil {
		t.Fatal(err)
	}
	return &receivers{t, cfg.Format, channeloracle.NewReceiver(cfg), v}
}

func (p *receivers) compare(what string, want, got step) step {
	p.t.Helper()
	want.State, want.Deadline, want.Counted = p.want.State(), deadlineOf(p.want.Deadline()), p.want.Counted
	stats := p.got.Stats()
	got.State, got.Deadline, got.Counted = p.got.State().String(), deadline(p.got.Deadline()), stats.Beyond+stats.Conflicts
	got.Row = string(p.got.Row())
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		p.t.Fatalf("%s (-oracle +package):\n%s", what, diff)
	}
	return want
}

func (p *receivers) handle(now int64, r channeloracle.Record) {
	p.t.Helper()
	var want step
	want.Row = p.want.Handle(now, r)
	record := toPackage(r)
	p.got.Handle(core.Micros(now), &record)
	p.compare(r.Type, want, step{})
}

func (p *receivers) read(now int64) (got *channeloracle.Read) {
	p.t.Helper()
	var want, is step
	want.Row, want.Read = p.want.Read(now)
	if m, ok := p.got.Read(core.Micros(now), nil); ok {
		is.Read = &channeloracle.Read{Sequence: int64(m.Sequence), Data: m.Data, Skipped: m.Skipped}
	}
	return p.compare("read", want, is).Read
}

func (p *receivers) poll(now int64, space int) *channeloracle.Record {
	p.t.Helper()
	var want, got step
	var report *channeloracle.Record
	want.Row, report = p.want.Poll(now, space)
	want.Record = text(p.format, report)
	r, ok := p.got.Poll(core.Micros(now), space)
	got.Record = textOf(packageFormat(p.format), r, ok)
	p.compare("poll", want, got)
	return report
}

func (p *receivers) path(is channeloracle.Path) {
	p.want.SetPath(is)
	p.got.SetPath(path(is))
}

// senders is a sender beside the oracle's.
type senders struct {
	t      failer
	format channeloracle.Format
	want   *channeloracle.Sender
	got    *channel.Sender
}

func newSenders(t failer, cfg channeloracle.SenderConfig) *senders {
	t.Helper()
	s, err := channel.NewSender(channel.Config{
		Format: packageFormat(cfg.Format), SendQueue: int(cfg.SendQueue), GiveUp: core.Micros(cfg.GiveUp), First: core.Number(cfg.First),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &senders{t, cfg.Format, channeloracle.NewSender(cfg), s}
}

func (p *senders) compare(what string, want, got step) {
	p.t.Helper()
	want.State, want.Deadline, want.Counted = p.want.State(), deadlineOf(p.want.Deadline()), p.want.Counted
	want.Base, want.Limit = p.want.Base(), p.want.Limit()
	got.State, got.Deadline, got.Counted = p.got.State().String(), deadline(p.got.Deadline()), p.got.Stats().Implausible
	got.Base, got.Limit = int64(p.got.Base()), int64(p.got.Limit())
	got.Row = string(p.got.Row())
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Fatalf("%s (-oracle +package):\n%s", what, diff)
	}
}

func (p *senders) send(now int64, message []byte, lifetime int64) {
	p.t.Helper()
	var want, got step
	want.Row, want.Refused = p.want.Send(now, message, lifetime)
	got.Refused = ofPackage(p.got.Send(core.Micros(now), message, core.Micros(lifetime))).code
	p.compare("send", want, got)
}

func (p *senders) report(now, number, ack int64, r channeloracle.Record) {
	p.t.Helper()
	var want step
	want.Row = p.want.Report(now, number, ack, r)
	record := toPackage(r)
	p.got.Report(core.Micros(now), core.Number(number), core.Number(ack), &record)
	p.compare("report", want, step{})
}

// poll polls until no record comes.
func (p *senders) poll(now, number int64, space int) (list []channeloracle.Record) {
	p.t.Helper()
	for {
		var want, got step
		var record *channeloracle.Record
		want.Row, record = p.want.Poll(now, number, space)
		want.Record = text(p.format, record)
		r, ok := p.got.Poll(core.Micros(now), core.Number(number), space)
		got.Record = textOf(packageFormat(p.format), r, ok)
		p.compare("poll", want, got)
		if record == nil {
			return list
		}
		space -= len(want.Record) / 2
		list = append(list, *record)
	}
}

func (p *senders) path(is channeloracle.Path) {
	p.want.SetPath(is)
	p.got.SetPath(path(is))
}

var (
	steps    = []int64{0, 0, 1, 4_999, 5_000, 7_000, 20_000, 50_000, 100_000, 249_999, 250_000, 1_000_000, -30_000}
	firsts   = []int64{0, 0, 1, 65_500, 65_536, 1 << 32}
	windows  = []int64{32, 32, 64, 256}
	roundTip = []int64{0, 5_000, 20_000, 80_001, 400_000}
)

func anyPath(t *rapid.T) channeloracle.Path {
	if rapid.IntRange(0, 3).Draw(t, "measured") == 0 {
		return channeloracle.Path{}
	}
	return channeloracle.Path{Measured: true, SRTT: rapid.SampledFrom(roundTip).Draw(t, "srtt"), Patience: rapid.SampledFrom(roundTip).Draw(t, "patience")}
}

// Anything may come, near the numbers that are in use or far from them: both receivers do
// the same at each event.
func TestReceiversAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := channeloracle.Format{Window: rapid.SampledFrom(windows).Draw(t, "window"), Data: rapid.Int64Range(1, 3).Draw(t, "data"), Group: rapid.Int64Range(2, 6).Draw(t, "group")}
		cfg := channeloracle.ReceiverConfig{
			Format: f, Ordered: rapid.Bool().Draw(t, "ordered"), First: rapid.SampledFrom(firsts).Draw(t, "first"),
			GiveUp: rapid.SampledFrom([]int64{1_000_000, 10_000_000}).Draw(t, "give_up"),
		}
		p := newReceivers(t, cfg)
		now := int64(0)
		next := cfg.First // about what is new
		for range rapid.IntRange(1, 150).Draw(t, "events") {
			now = max(0, now+rapid.SampledFrom(steps).Draw(t, "time"))
			ahead := rapid.OneOf(rapid.Int64Range(-3, 8), rapid.Int64Range(-70, f.Window+3), rapid.SampledFrom([]int64{32_767, 32_768, 32_769, -32_768})).Draw(t, "ahead")
			n := (next + ahead + 1<<17) & 65535
			switch rapid.IntRange(0, 13).Draw(t, "event") {
			case 0, 1, 2:
				p.handle(now, channeloracle.Record{Type: channeloracle.Message, Sequence: n, Data: []byte{byte(n)}})
				next += rapid.Int64Range(0, 2).Draw(t, "move")
			case 3, 4, 5, 6:
				p.handle(now, anyFragment(t, f, n))
				next += rapid.Int64Range(0, 1).Draw(t, "move")
			case 7:
				p.handle(now, channeloracle.Record{Type: channeloracle.Skip, Sequence: n, Count: rapid.SampledFrom([]int64{1, 1, 2, 5, 256}).Draw(t, "count")})
			case 8:
				p.handle(now, channeloracle.Record{Type: channeloracle.Status, Sequence: n})
			case 9, 10:
				for range rapid.IntRange(1, 8).Draw(t, "reads") {
					p.read(now)
				}
			case 11:
				p.path(anyPath(t))
			default:
				p.poll(now, rapid.SampledFrom([]int{1160, 1160, 6, 7, 13, 19}).Draw(t, "space"))
			}
		}
	})
}

func anyFragment(t *rapid.T, f channeloracle.Format, n int64) channeloracle.Record {
	count := rapid.Int64Range(2, f.Group).Draw(t, "count")
	index := rapid.Int64Range(0, count-1).Draw(t, "index")
	size := f.Data
	if index == count-1 {
		size = rapid.Int64Range(1, size).Draw(t, "size")
	}
	return channeloracle.Record{Type: channeloracle.Fragment, Sequence: n, Index: index, Count: count, Data: bytes.Repeat([]byte{byte(n)}, int(size))}
}

// Reports of anything come, and messages of all sizes go, some with a lifetime: both senders
// do the same at each event.
func TestSendersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := channeloracle.Format{Window: rapid.SampledFrom(windows).Draw(t, "window"), Data: rapid.Int64Range(1, 3).Draw(t, "data"), Group: rapid.Int64Range(2, 6).Draw(t, "group")}
		cfg := channeloracle.SenderConfig{
			Format: f, First: rapid.SampledFrom(firsts).Draw(t, "first"), SendQueue: rapid.SampledFrom([]int64{6, 40, 400}).Draw(t, "send_queue"),
			GiveUp: rapid.SampledFrom([]int64{1_000_000, 10_000_000}).Draw(t, "give_up"),
		}
		p := newSenders(t, cfg)
		now, heard, packet := int64(0), int64(0), int64(0)
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			now = max(0, now+rapid.SampledFrom(steps).Draw(t, "time"))
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0, 1, 2:
				size := rapid.Int64Range(0, f.Group*f.Data+1).Draw(t, "size")
				lifetime := rapid.SampledFrom([]int64{0, 0, 1, 30_000, 300_000}).Draw(t, "lifetime")
				for range rapid.SampledFrom([]int{1, 1, 5, 90}).Draw(t, "times") {
					p.send(now, bytes.Repeat([]byte{byte(now)}, int(size)), lifetime)
				}
			case 3, 4, 5:
				heard += rapid.SampledFrom([]int64{1, 1, 1, 0, -1, 4}).Draw(t, "number")
				ack := packet + rapid.Int64Range(-6, 2).Draw(t, "ack")
				p.report(now, max(heard, 0), max(ack, -1), anyReport(t, f, p.want.Base()))
			case 6:
				p.path(anyPath(t))
			default:
				packet += rapid.SampledFrom([]int64{0, 1, 1, 1, 3}).Draw(t, "packet")
				p.poll(now, packet, rapid.SampledFrom([]int{1160, 1160, 40, 20, 9, 5, 4, 3}).Draw(t, "space"))
			}
		}
	})
}

// anyReport is one that may be a sender's, or of what was never sent.
func anyReport(t *rapid.T, f channeloracle.Format, base int64) channeloracle.Record {
	base += rapid.SampledFrom([]int64{0, 0, 0, 1, 2, 5, 30, -1, 40_000}).Draw(t, "base")
	room := rapid.SampledFrom([]int64{f.Window, f.Window, f.Window - 3, 7, 0}).Draw(t, "room")
	var missing []int64
	if room > 0 && rapid.IntRange(0, 2).Draw(t, "names") > 0 {
		for d := int64(0); d < room && len(missing) < 40; d += rapid.SampledFrom([]int64{1, 1, 2, 3, 40}).Draw(t, "step") {
			missing = append(missing, base+1<<17+d)
			if rapid.IntRange(0, 3).Draw(t, "last") == 0 {
				break
			}
		}
	}
	return channeloracle.Record{Type: channeloracle.Report, Sequence: (base + 1<<17) & 65535, Room: room, Groups: channeloracle.Groups(missing, channeloracle.MostGroups)}
}

// Both ends of a channel talk over a network that loses, doubles and delays: in all four
// machines the same happens, and everything that was sent arrives.
func TestConversationsAgree(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 3))
		f := channeloracle.Format{Window: 32 << (seed % 3), Data: 4, Group: 8}
		first := []int64{0, 65_500, 131_000}[seed%3]
		s := newSenders(t, channeloracle.SenderConfig{Format: f, SendQueue: 300, First: first, GiveUp: 60_000_000})
		v := newReceivers(t, channeloracle.ReceiverConfig{Format: f, Ordered: seed%2 == 0, First: first, GiveUp: 60_000_000})
		measured := channeloracle.Path{Measured: seed%4 != 3, SRTT: 70_000, Patience: 15_000}
		if measured.Measured {
			s.path(measured)
			v.path(measured)
		}
		type flight struct {
			at int64
			do func(now int64)
		}
		var flying []flight
		packets, delivered, newest := [2]int64{}, 0, int64(-1)
		carry := func(now int64, do func(int64)) {
			for range []int{1, 1, 1, 1, 1, 1, 0, 0, 2, 1}[random.IntN(10)] {
				flying = append(flying, flight{now + 20_000 + int64(random.IntN(40_000)), do})
			}
		}
		const messages = 300
		sent := 0
		for now := int64(0); now < 40_000_000 && delivered < messages; now += 5_000 {
			flying = slices.DeleteFunc(flying, func(f flight) bool {
				if f.at <= now {
					f.do(now)
				}
				return f.at <= now
			})
			for range 2 {
				if sent < messages && s.want.Limit()-s.want.Base() > 0 && random.IntN(2) == 0 {
					before := s.want.State()
					s.send(now, bytes.Repeat([]byte{byte(sent)}, 1+random.IntN(20)), 0)
					if before == channeloracle.StateOpen && s.got.Row() == "D3" {
						sent++
					}
				}
			}
			for v.read(now) != nil {
				delivered++
			}
			if r := v.poll(now, 1160); r != nil {
				number, ack := packets[1], newest
				packets[1]++
				carry(now, func(now int64) { s.report(now, number, ack, *r) })
			}
			number := packets[0]
			if list := s.poll(now, number, 60); len(list) > 0 {
				packets[0]++
				carry(now, func(now int64) {
					newest = max(newest, number)
					for _, r := range list {
						v.handle(now, r)
					}
				})
			}
		}
		if delivered != messages || sent != messages {
			t.Errorf("seed %d: %d of %d delivered", seed, delivered, sent)
		}
	}
}
