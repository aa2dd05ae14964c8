package packetoracle_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// refusal is what both say of a datagram that they refuse.
type refusal struct {
	code, check string
	at          int
}

func ofPackage(err error) refusal {
	var e *packet.Error
	if !errors.As(err, &e) {
		return refusal{}
	}
	return refusal{string(e.Code()), e.Rule(), e.Place()}
}

func ofOracle(err error) refusal {
	var e *packetoracle.Error
	if !errors.As(err, &e) || e == nil {
		return refusal{}
	}
	return refusal{e.Code, e.Check, e.At}
}

// same compares refusals. PKD-10 says the steps of PKD-14, the third of which is PKD-3 at
// another place.
func same(a, b refusal) bool {
	for _, r := range []*refusal{&a, &b} {
		if r.check == "PKD-10" || r.check == "PKD-3" && r.at == 6 {
			r.check = "PKD-14"
		}
	}
	return a == b
}

func anyHeader(t *rapid.T) packetoracle.Header {
	sequence := rapid.Uint16().Draw(t, "sequence")
	distance := rapid.OneOf(rapid.Uint16(), rapid.Uint16Range(0, 300)).Draw(t, "distance")
	bits := rapid.Uint32().Draw(t, "bits")
	for n := range 4 {
		if rapid.Bool().Draw(t, "full") {
			bits |= 0xFF << (8 * n)
		}
	}
	return packetoracle.Header{Sequence: sequence, Ack: sequence - distance, AckBits: bits}
}

// hostile is a datagram: valid, damaged, cut off, or random.
func hostile(t *rapid.T, l packetoracle.Limits) []byte {
	h := anyHeader(t)
	var b []byte
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		b = packetoracle.EncodeRegular(h, rapid.SliceOfN(rapid.Byte(), 0, l.MaxPacket()+3).Draw(t, "payload"))
	case 1:
		b = append([]byte{rapid.SampledFrom([]byte{0, 1, 0x20, 0x3E, 0x22, 0x02}).Draw(t, "prefix")}, rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 3, 0xFE, 0xFF}), 0, 20).Draw(t, "bytes")...)
	default:
		count := rapid.IntRange(1, l.MaxFragments+1).Draw(t, "count")
		id := rapid.IntRange(0, count).Draw(t, "id")
		size := l.FragmentSize + rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "size")
		b = packetoracle.EncodeFragment(h, id, count, rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		if len(b) > 0 {
			b[rapid.IntRange(0, min(len(b)-1, 15)).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
	}
	return b
}

// pair is an endpoint beside the oracle's.
type pair struct {
	t    failer
	want *packetoracle.Endpoint
	got  *packet.Endpoint
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newPair(t failer, cfg packetoracle.Config) *pair {
	e, err := packet.NewEndpoint(packet.Config{
		Format: packet.Format{FragmentSize: cfg.FragmentSize, MaxFragments: cfg.MaxFragments}, FragmentAbove: cfg.FragmentAbove,
		NextToSend: core.Number(cfg.NextToSend), NextToReceive: core.Number(cfg.NextToReceive),
		Profile: map[string]packet.Profile{"article": packet.ProfileArticle}[cfg.Profile],
	})
	if err != nil {
		t.Fatal(err)
	}
	return &pair{t, packetoracle.New(cfg), e}
}

// step is what an endpoint did, in a form that both have.
type step struct {
	Datagrams []string
	Delivered string
	Number    int64
	Acked     []int64
	Lost      []int64
	Refused   refusal
}

func (p *pair) compare(what string, s *packetoracle.Step, got step) {
	p.t.Helper()
	want := step{Acked: s.Acked, Lost: s.Lost}
	if s.Refused != nil {
		want.Refused = ofOracle(s.Refused)
	}
	if d := s.Delivered; d != nil {
		want.Delivered, want.Number = hex.EncodeToString(d.Payload), d.Number
	}
	for _, b := range s.Datagrams {
		want.Datagrams = append(want.Datagrams, hex.EncodeToString(b))
	}
	for _, e := range p.got.Events() {
		if e.Kind == packet.EventAcked {
			got.Acked = append(got.Acked, int64(e.Number))
		} else {
			got.Lost = append(got.Lost, int64(e.Number))
		}
	}
	if same(want.Refused, got.Refused) {
		got.Refused = want.Refused
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(refusal{})); diff != "" {
		p.t.Fatalf("%s (-oracle +package):\n%s", what, diff)
	}
	p.compareEstimates(what)
}

// compareEstimates compares what both know of the path, and their modes.
func (p *pair) compareEstimates(what string) {
	p.t.Helper()
	want := p.want.Estimates()
	e, shown := p.got.Estimates(0), p.got.Samples() // at the time of the latest event
	got := packetoracle.Estimates{
		Measured: e.Measured, SRTT: int64(e.SRTT), Jitter: int64(e.Jitter), Latest: int64(e.Latest), MinRTT: int64(e.MinRTT),
		Patience: int64(e.Patience), Settled: int64(e.Settled), Lost: int64(e.Lost), Sent: e.SentRate, Received: e.ReceivedRate, Acked: e.AckedRate,
		Shown: packetoracle.Figures{
			Count: int64(shown.Count), Min: int64(shown.Min), Max: int64(shown.Max), Avg: int64(shown.Avg),
			JitterAvg: int64(shown.JitterAvg), JitterMax: int64(shown.JitterMax), JitterDev: int64(shown.JitterDev),
		},
		Silent: want.Silent, // shows in the mode
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Fatalf("estimates after %s (-oracle +package):\n%s", what, diff)
	}
	c := p.want.Congestion()
	if c.Good() != (p.got.Mode() == packet.Good) || c.Recovery() != int64(p.got.Recovery()) {
		p.t.Fatalf("after %s: %s, recovery %d; the oracle: good %t, %d", what, p.got.Mode(), p.got.Recovery(), c.Good(), c.Recovery())
	}
	if want.Settled == 0 {
		return
	}
	if loss, known := e.LossPerMille(); !known || int64(loss) != 1000*want.Lost/want.Settled {
		p.t.Fatalf("after %s: loss %d, %t", what, loss, known)
	}
}

func (p *pair) send(now int64, payload []byte) [][]byte {
	s := p.want.Send(now, payload)
	datagrams, _, err := p.got.Send(core.Micros(now), payload)
	var got step
	for _, b := range datagrams {
		got.Datagrams = append(got.Datagrams, hex.EncodeToString(b))
	}
	got.Refused = ofPackage(err)
	p.compare("send", s, got)
	return s.Datagrams
}

func (p *pair) receive(now int64, datagram []byte) {
	s := p.want.Receive(now, datagram)
	var got step
	err := p.got.Receive(core.Micros(now), datagram, func(d packet.Delivery) packet.Verdict {
		got.Delivered, got.Number = hex.EncodeToString(d.Payload), int64(d.Number)
		return packet.Take
	})
	got.Refused = ofPackage(err)
	p.compare("receive", s, got)
}

func (p *pair) poll(now int64) [][]byte {
	s := p.want.Poll(now)
	var got step
	for b, ok := p.got.Poll(core.Micros(now)); ok; b, ok = p.got.Poll(core.Micros(now)) {
		got.Datagrams = append(got.Datagrams, hex.EncodeToString(b))
	}
	p.compare("poll", s, got)
	return s.Datagrams
}

// Two endpoints talk over a network that does everything, and a third party forges: both
// implementations do the same at each event.
func TestEndpointsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := packetoracle.Limits{FragmentSize: rapid.IntRange(1, 4).Draw(t, "fragment_size"), MaxFragments: rapid.IntRange(2, 6).Draw(t, "max_fragments")}
		first := [2]int64{}
		for end := range first {
			first[end] = rapid.SampledFrom([]int64{0, 1, 100, 65500, 65536, 1 << 32}).Draw(t, "first")
		}
		var ends [2]*pair
		for end := range ends {
			ends[end] = newPair(t, packetoracle.Config{
				Limits: l, FragmentAbove: l.FragmentSize, NextToSend: first[end], NextToReceive: first[1-end],
				Profile: rapid.SampledFrom([]string{"article", "default"}).Draw(t, "profile"),
			})
		}
		var flying [2][][]byte // to an end
		now := int64(0)
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			now += rapid.SampledFrom([]int64{0, 1, 7_000, 20_000, 100_000, 999_999, 1_000_000, 4_000_000, -50_000}).Draw(t, "time")
			now = max(now, 0)
			end := rapid.IntRange(0, 1).Draw(t, "end")
			e := ends[end]
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0, 1, 2:
				payload := rapid.SliceOfN(rapid.ByteRange(0, 3), 0, l.MaxPacket()+1).Draw(t, "payload")
				for range rapid.SampledFrom([]int{1, 1, 1, 20}).Draw(t, "times") {
					flying[1-end] = append(flying[1-end], e.send(now, payload)...)
				}
			case 3:
				flying[1-end] = append(flying[1-end], e.poll(now)...)
			case 4:
				e.receive(now, forged(t, l, first[1-end]))
			default:
				for range rapid.IntRange(1, 12).Draw(t, "arrivals") {
					if len(flying[end]) == 0 {
						break
					}
					i := rapid.IntRange(0, len(flying[end])-1).Draw(t, "which")
					e.receive(now, flying[end][i])
					if rapid.IntRange(0, 4).Draw(t, "copy") > 0 {
						flying[end] = append(flying[end][:i], flying[end][i+1:]...)
					}
				}
			}
		}
	})
}

// forged is a datagram near the numbers that are in use, or far from them.
func forged(t *rapid.T, l packetoracle.Limits, first int64) []byte {
	if rapid.IntRange(0, 5).Draw(t, "hostile") == 0 {
		return hostile(t, l)
	}
	ahead := rapid.OneOf(rapid.IntRange(-70, 90), rapid.SampledFrom([]int{-300, -257, -256, 256, 300, 32511, 32512, 32767, 32768, 40000})).Draw(t, "ahead")
	h := packetoracle.Header{Sequence: uint16(first + int64(ahead)), Ack: uint16(rapid.IntRange(-3, 40).Draw(t, "ack")), AckBits: rapid.Uint32().Draw(t, "bits")}
	if rapid.Bool().Draw(t, "regular") {
		return packetoracle.EncodeRegular(h, []byte{rapid.ByteRange(0, 1).Draw(t, "payload")})
	}
	count := rapid.IntRange(2, l.MaxFragments).Draw(t, "count")
	id := rapid.IntRange(0, count-1).Draw(t, "id")
	size := l.FragmentSize
	if id == count-1 {
		size = rapid.IntRange(1, size).Draw(t, "size")
	}
	return packetoracle.EncodeFragment(h, id, count, bytes.Repeat([]byte{7}, size))
}

// Fragments of many packets, so that there is seldom room: both keep and drop the same.
func TestReassembliesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := packetoracle.Limits{FragmentSize: rapid.IntRange(1, 3).Draw(t, "fragment_size"), MaxFragments: rapid.IntRange(2, 16).Draw(t, "max_fragments")}
		e := newPair(t, packetoracle.Config{Limits: l, FragmentAbove: l.FragmentSize, NextToReceive: 100})
		now, base := int64(0), 100
		for range rapid.IntRange(1, 150).Draw(t, "events") {
			now += rapid.SampledFrom([]int64{0, 0, 1, 1, 100_000, 400_000}).Draw(t, "time")
			base += rapid.SampledFrom([]int{0, 0, 0, 0, 1, 60}).Draw(t, "move")
			number := base + rapid.IntRange(-6, 6).Draw(t, "number")
			count := l.MaxFragments - rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "fewer")
			h := packetoracle.Header{Sequence: uint16(number), Ack: uint16(number - 1), AckBits: 0xFFFFFFFF}
			if count < 2 || rapid.IntRange(0, 15).Draw(t, "regular") == 0 {
				e.receive(now, packetoracle.EncodeRegular(h, []byte{1}))
				continue
			}
			id := rapid.IntRange(0, count-1).Draw(t, "id")
			size := l.FragmentSize
			if id == count-1 {
				size = 1 + number%size
			}
			e.receive(now, packetoracle.EncodeFragment(h, id, count, bytes.Repeat([]byte{byte(id)}, size)))
		}
	})
}

func TestCongestionAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, profile := "article", packet.ProfileArticle
		if rapid.Bool().Draw(t, "default") {
			name, profile = "default", packet.ProfileDefault
		}
		want, got := packetoracle.NewCongestion(name), packet.NewCongestion(profile)
		now := int64(0)
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			now = max(0, now+rapid.SampledFrom([]int64{0, 1, 33_333, 999_999, 1_000_000, 4_000_000, 8_000_000, 9_999_999, 10_000_000, 30_000_000, 61_000_000, -5_000_000}).Draw(t, "time"))
			srtt := rapid.SampledFrom([]int64{0, 100_000, 250_000, 250_001, 300_000, 300_001, 900_000}).Draw(t, "srtt")
			least := rapid.SampledFrom([]int64{0, 100_000, 200_000, 200_001, 600_000}).Draw(t, "min_rtt")
			silent, measured := rapid.IntRange(0, 9).Draw(t, "silent") == 0, rapid.IntRange(0, 9).Draw(t, "measured") > 0
			known := &srtt
			if !measured {
				known, srtt = nil, 0
			}
			want.Evaluate(now, known, least, silent)
			got.Evaluate(core.Micros(now), packet.Conditions{Measured: measured, SRTT: core.Micros(srtt), MinRTT: core.Micros(least), Silent: silent})
			if want.Good() != (got.Mode() == packet.Good) || want.Recovery() != int64(got.Recovery()) {
				t.Fatalf("at %d: %s %d, the oracle %t %d", now, got.Mode(), got.Recovery(), want.Good(), want.Recovery())
			}
		}
	})
}

// Thirty packets a second each way, over a path that becomes bad and good again: both have
// the same estimates and modes all the time, and both modes come.
func TestLongConversationsAgree(t *testing.T) {
	for _, profile := range []string{"article", "default"} {
		l := packetoracle.Limits{FragmentSize: 8, MaxFragments: 4}
		cfg := packetoracle.Config{Limits: l, FragmentAbove: 8, Profile: profile}
		ends := [2]*pair{newPair(t, cfg), newPair(t, cfg)}
		type arrival struct {
			at       int64
			end      int
			datagram []byte
		}
		var flying []arrival
		random := stream.Random(7)
		modes := map[bool]int{}
		for now := int64(0); now < 30_000_000; now += 11_111 {
			delay, lost := int64(60_000), uint32(3)
			if now > 12_000_000 && now < 16_000_000 { // bad
				delay, lost = 450_000, 30
			}
			carry := func(from int, datagrams [][]byte) {
				for _, b := range datagrams {
					if random.Next()%100 >= lost {
						flying = append(flying, arrival{now + delay + int64(random.Next()%30_000), 1 - from, b})
					}
				}
			}
			flying = slices.DeleteFunc(flying, func(a arrival) bool {
				if a.at <= now {
					ends[a.end].receive(now, a.datagram)
				}
				return a.at <= now
			})
			for end, e := range ends {
				if now/11_111%3 == 0 && (now < 20_000_000 || now > 22_000_000) {
					carry(end, e.send(now, bytes.Repeat([]byte{1}, 1+int(random.Next()%20))))
				}
				carry(end, e.poll(now))
				modes[e.want.Congestion().Good()]++
			}
		}
		if modes[true] < 500 || modes[false] < 500 {
			t.Errorf("%s: %v", profile, modes)
		}
	}
}
