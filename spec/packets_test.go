package spec_test

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// The examples of PACKETS.md are requests to a port, each with its response behind it
// (PKO-1 to PKO-6).
func TestPacketExamplesAreWhatAPortAnswers(t *testing.T) {
	checkExamples(t, "PACKETS.md", map[string]int{"packet_header": 1, "packet_decode": 13})
}

// The headers of section 3.4 are encoded and decoded so (PKT-1 to PKT-4).
func TestPacketHeadersOfTheDocument(t *testing.T) {
	table := rows(t, "PACKETS.md", "| `sequence` | `ack` | `ack_bits` | Bytes | What it shows |")
	if len(table) < 12 {
		t.Errorf("%d headers", len(table))
	}
	for _, row := range table {
		h := packet.Header{Sequence: uint16(integer(t, row[0])), Ack: uint16(integer(t, row[1])), AckBits: uint32(integer(t, row[2]))}
		want := strings.ReplaceAll(row[3], " ", "")
		if got := hex.EncodeToString(h.Append(nil)); got != want {
			t.Errorf("%+v: %s, want %s", h, got, want)
		}
		datagram, _ := hex.DecodeString(want + "aa")
		if p, err := (packet.Format{}).Decode(datagram); err != nil || p.Header != h {
			t.Errorf("%s: %+v, %v", want, p, err)
		}
	}
}

// What a sequence means (PKS-2), by the table of section 4.
func TestSequencesOfTheDocument(t *testing.T) {
	table := rows(t, "PACKETS.md", "| `next` | s | d | means |")
	if len(table) < 8 {
		t.Errorf("%d sequences", len(table))
	}
	for _, row := range table {
		low := core.Number(integer(t, row[0]) - 256)
		n, fresh := core.Wire16.From(low, uint16(integer(t, row[1])))
		if n-low != core.Number(integer(t, row[2])) {
			t.Errorf("%v: d is %d", row, n-low)
		}
		if means := row[3]; strings.Contains(means, "stale") == fresh || fresh && n != core.Number(integer(t, means)) {
			t.Errorf("%v: %d, %v", row, n, fresh)
		}
	}
}

// A peer acks packets after the times of the table of section 6 (PKE-2).
func TestSamplesOfTheDocument(t *testing.T) {
	e, err := packet.NewEndpoint(packet.Config{})
	if err != nil {
		t.Fatal(err)
	}
	table := rows(t, "PACKETS.md", "| Sample | `srtt` | `jitter` |")
	if len(table) < 7 {
		t.Errorf("%d samples", len(table))
	}
	now := core.Micros(0)
	for i, row := range table {
		if _, _, err := e.Send(now, []byte("payload")); err != nil {
			t.Fatal(err)
		}
		now += core.Micros(integer(t, row[0]))
		ack := append(packet.Header{Sequence: uint16(i), Ack: uint16(i), AckBits: 1}.Append(nil), "payload"...)
		if err := e.Receive(now, ack, func(packet.Delivery) packet.Verdict { return packet.Take }); err != nil {
			t.Fatal(err)
		}
		got := e.Estimates(now)
		want := []int64{integer(t, row[0]), integer(t, row[1]), integer(t, row[2])}
		if diff := cmp.Diff(want, []int64{int64(got.Latest), int64(got.SRTT), int64(got.Jitter)}); diff != "" {
			t.Errorf("sample %d (-document +code):\n%s", i, diff)
		}
	}
}

// The trace of section 9 (PKC-2, PKC-6, PKC-7).
func TestCongestionTraceOfTheDocument(t *testing.T) {
	c := packet.NewCongestion(packet.ProfileArticle)
	table := rows(t, "PACKETS.md", "| Time | Conditions | Rows | Mode after it | `recovery` after it |")
	if len(table) < 17 {
		t.Errorf("%d evaluations", len(table))
	}
	for _, row := range table {
		is := packet.Conditions{Silent: row[1] == "silent"}
		if srtt, measured := strings.CutSuffix(row[1], " us"); measured {
			is.Measured, is.SRTT = true, core.Micros(integer(t, srtt))
		}
		c.Evaluate(inSeconds(t, row[0]), is)
		if c.Mode().String() != row[3] || c.Recovery() != inSeconds(t, row[4]) {
			t.Errorf("%v: %v, %d us", row, c.Mode(), c.Recovery())
		}
	}
}

// inSeconds reads a time such as 4.199999 s.
func inSeconds(t *testing.T, cell string) core.Micros {
	t.Helper()
	whole, fraction, _ := strings.Cut(strings.TrimSuffix(cell, " s"), ".")
	return core.Micros(integer(t, whole))*core.Second + core.Micros(integer(t, "1"+(fraction + "000000")[:6])-1_000_000)
}

// Each of the 26 faults of section 3.4 of the rationale shows in a vector or a test.
func TestFaultsOfTheDocumentShow(t *testing.T) {
	checkFaults(t, "RATIONALE.md", "F-%d", 26)
}

// The registry of PACKETS.md has the codes of package packet, and one that only an encoder
// without types for its fields needs.
func TestCodesOfPacketsAreTheCodes(t *testing.T) {
	checkCodes(t, "packets.json", "../packet/errors.go", "invalid_field")
}

// Constants that follow from others (PKP-2, PKT-3, PKL-5, PKC-3).
func TestConstantsOfPacketsFitTogether(t *testing.T) {
	c := constantsOf(t, "packets.json")
	const header, fragmentHeader, ipv6AndUDP, least = 9, 5, 48, 1280
	for _, check := range []struct {
		what string
		ok   bool
	}{
		{"MAX_PACKET is MAX_FRAGMENTS full fragments", c["MAX_PACKET"] == c["MAX_FRAGMENTS"]*c["FRAGMENT_SIZE"]},
		{"REASSEMBLY_BYTES are two largest packets", c["REASSEMBLY_BYTES"] == 2*c["MAX_PACKET"]},
		{"a datagram and an envelope of 63 bytes fit IPv6", header+c["FRAGMENT_ABOVE"]+63+ipv6AndUDP == least},
		{"so does a fragment", fragmentHeader+header+c["FRAGMENT_SIZE"]+63+ipv6AndUDP < least},
		{"windows divide the space", 65536%c["RECEIVED"]+65536%c["SENT_MAX"]+65536%c["REASSEMBLY"] == 0},
		{"fragments are known to be old", 2*c["REASSEMBLY"] <= c["RECEIVED"]},
		{"what is lost can still be acked", c["LOST_AFTER"] < c["KEPT"]},
		{"an ack goes out twice before 32 packets", 2*c["ACK_EVERY"] <= 32},
		{"GOOD is 30 a second, BAD 10", 1_000_000/c["GOOD_INTERVAL"] == 30 && 1_000_000/c["BAD_INTERVAL"] == 10},
		{"latencies shown have squares that fit", c["SHOWN"]*c["LONGEST_SHOWN"]*c["LONGEST_SHOWN"] > 0},
		{"recovery starts within its limits", c["LEAST_RECOVERY"] <= c["FIRST_RECOVERY"] && c["FIRST_RECOVERY"] <= c["MOST_RECOVERY"]},
	} {
		if !check.ok {
			t.Errorf("%s: %v", check.what, c)
		}
	}
}

// Of packets that go on each way, and of which half are lost, acks go on, too
// (PKT-LIVE-1): in any 100 of them many arrive, and nothing that did not is acked.
func TestAcksGoOn(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	var ends [2]*packet.Endpoint
	for i := range ends {
		e, err := packet.NewEndpoint(packet.Config{})
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = e
	}
	take := func(packet.Delivery) packet.Verdict { return packet.Take }
	var taken [2]map[core.Number]bool
	acked := [2]int{}
	for i := range taken {
		taken[i] = map[core.Number]bool{}
	}
	for n := range 5_000 {
		now := core.Micros(n) * packet.GoodInterval
		for i, e := range ends {
			datagrams, number, err := e.Send(now, []byte("payload"))
			if err != nil {
				t.Fatal(err)
			}
			if random.IntN(2) == 0 {
				continue
			}
			if err := ends[1-i].Receive(now, datagrams[0], take); err != nil {
				t.Fatal(err)
			}
			taken[i][number] = true
		}
		for i, e := range ends {
			for _, event := range e.Events() {
				if event.Kind != packet.EventAcked {
					continue
				}
				if acked[i]++; !taken[i][event.Number] {
					t.Fatalf("seed %d: %d is acked and did not arrive", seed, event.Number)
				}
			}
			if n%100 == 99 {
				if acked[i] < 30 {
					t.Errorf("seed %d: %d of 100 packets acked at %d", seed, acked[i], n)
				}
				acked[i] = 0
			}
		}
	}
}
