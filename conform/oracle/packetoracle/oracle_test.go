package packetoracle

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/conform/tabletest"

	"pgregory.net/rapid"
)

var anyHeader = rapid.Custom(func(t *rapid.T) Header {
	sequence := rapid.Uint16().Draw(t, "sequence")
	distance := rapid.OneOf(rapid.Uint16(), rapid.SampledFrom([]uint16{0, 1, 254, 255, 256, 257, 32768, 65535})).Draw(t, "distance")
	bits := uint32(0)
	for n := range 4 {
		part := rapid.OneOf(rapid.Just(uint32(0xFF)), rapid.Uint32Range(0, 0xFF)).Draw(t, "part")
		bits |= part << (8 * n)
	}
	return Header{Sequence: sequence, Ack: sequence - distance, AckBits: bits}
})

var anyLimits = rapid.Custom(func(t *rapid.T) Limits {
	return Limits{FragmentSize: rapid.IntRange(1, 20).Draw(t, "fragment_size"), MaxFragments: rapid.IntRange(2, 20).Draw(t, "max_fragments")}
})

// anyDatagram is one of a valid packet.
func anyDatagram(t *rapid.T, l Limits) []byte {
	h := anyHeader.Draw(t, "header")
	if rapid.Bool().Draw(t, "regular") {
		return EncodeRegular(h, rapid.SliceOfN(rapid.Byte(), 1, l.MaxPacket()).Draw(t, "payload"))
	}
	count := rapid.IntRange(2, l.MaxFragments).Draw(t, "count")
	id := rapid.IntRange(0, count-1).Draw(t, "id")
	size := l.FragmentSize
	if id == count-1 {
		size = rapid.IntRange(1, size).Draw(t, "size")
	}
	return EncodeFragment(h, id, count, rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data"))
}

// PKT-4: whatever is valid is accepted, and whatever is accepted is encoded to the same
// bytes.
func TestCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLimits.Draw(t, "limits")
		b := anyDatagram(t, l)
		if _, err := Decode(l, b); err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			b[rapid.IntRange(0, min(len(b)-1, 14)).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		p, err := Decode(l, b)
		if err != nil {
			return
		}
		again := EncodeRegular(p.Header, p.Data)
		if p.IsFragment {
			again = EncodeFragment(p.Header, p.ID, p.Count, p.Data)
		}
		if !bytes.Equal(again, b) {
			t.Fatalf("%x becomes %x", b, again)
		}
	})
}

// PKS-2, by the table of the document.
func TestNumbersOfTheDocument(t *testing.T) {
	for _, c := range []struct {
		next     int64
		sequence uint16
		want     int64 // -1: stale
	}{
		{0, 0, 0}, {0, 65535, -1}, {0, 32511, 32511}, {0, 32512, -1}, {100, 65500, -1}, {65530, 2, 65538}, {65538, 65290, 65290}, {65538, 65281, -1},
	} {
		got, ok := New(Config{NextToReceive: c.next}).number(c.sequence)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("next %d, sequence %d: %d, want %d", c.next, c.sequence, got, c.want)
		}
	}
}

// The constants are the document's.
func TestConstantsOfTheDocument(t *testing.T) {
	if err := tabletest.CheckConstants("../../../spec/packets.json", map[string]int64{
		"RECEIVED": Received, "SENT_MAX": SentMax, "REASSEMBLY": Reassembly, "REASSEMBLY_PACKETS": ReassemblyPackets, "ACK_EVERY": AckEvery,
		"REASSEMBLY_TIME": ReassemblyTime, "LOST_AFTER": LostAfter, "KEPT": Kept, "ACK_DELAY": AckDelay,
		"BAD_RTT": BadRTT, "FIRST_RECOVERY": FirstRecovery, "LEAST_RECOVERY": LeastRecovery, "MOST_RECOVERY": MostRecovery, "SHORT": Short, "REWARD": Reward,
		"LONGEST_SAMPLE": LongestSample, "MIN_RTT_PERIOD": MinRTTPeriod, "SHOWN": Shown, "LONGEST_SHOWN": LongestShown,
	}); err != nil {
		t.Error(err)
	}
}

// The estimates of the document's table (PKE-2).
func TestEstimatesOfTheDocument(t *testing.T) {
	var p path
	for _, c := range []struct{ r, srtt, jitter int64 }{
		{100_000, 100_000, 0}, {113_334, 101_333, 833}, {80_000, 99_200, 2_114}, {80_000, 97_280, 3_181}, {600_000, 147_552, 34_402}, {100_009, 142_798, 35_223}, {100_000, 138_519, 35_696},
	} {
		if p.sample(0, c.r); p.srtt != c.srtt || p.jitter != c.jitter {
			t.Errorf("after %d: %d, %d, want %d, %d", c.r, p.srtt, p.jitter, c.srtt, c.jitter)
		}
	}
}
