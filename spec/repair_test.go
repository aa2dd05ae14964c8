package spec_test

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// The examples of REPAIR.md are requests to a port, each with its response behind it
// (RPO-1 to RPO-9).
func TestRepairExamplesAreWhatAPortAnswers(t *testing.T) {
	checkExamples(t, "REPAIR.md", map[string]int{
		"repair_row": 1, "repair_slice": 2, "repair_rebuild": 2, "repair_encode": 6, "repair_decode": 4, "repair_receiver": 1, "repair_sender": 1,
		"connection_encode": 1, "connection_decode": 1,
	})
}

// The exponents of section 3.4 (RPC-1, RPC-2).
func TestExponentsOfTheDocument(t *testing.T) {
	table := rows(t, "REPAIR.md", "| j | i = 0 to 7 |")
	if len(table) < 4 {
		t.Errorf("%d rows", len(table))
	}
	for _, row := range table {
		var got []string
		for i := range 8 {
			got = append(got, fmt.Sprint(erasure.Exponent(int(integer(t, row[0])), i)))
		}
		if strings.Join(got, " ") != row[1] {
			t.Errorf("j = %s: %v, want %s", row[0], got, row[1])
		}
	}
}

// The repair slices of section 3.4 have these crcs (RPC-3, RPC-4).
func TestRepairSlicesOfTheDocument(t *testing.T) {
	table := rows(t, "REPAIR.md", "| k | j | CRC-32 |")
	if len(table) < 12 {
		t.Errorf("%d repair slices", len(table))
	}
	for _, row := range table {
		k, j := int(integer(t, row[0])), int(integer(t, row[1]))
		chunk := make([]byte, k*codec.SliceSize)
		for i := range chunk {
			chunk[i] = byte(i + 31*(i/codec.SliceSize))
		}
		if got := fmt.Sprintf("%08x", crc32.ChecksumIEEE(erasure.Encode(chunk).Slice(k+j))); got != row[2] {
			t.Errorf("k = %d, j = %d: %s, want %s", k, j, got, row[2])
		}
	}
}

// The first repair slices alone rebuild every chunk, as section 9 says (RPC-5, RPC-6,
// RPV-LIVE-2).
func TestRepairSlicesAloneHaveTheRankOfTheDocument(t *testing.T) {
	oneMore := []int{72, 147}
	for k := 1; k <= codec.MaxSlices; k++ {
		want := k
		if slices.Contains(oneMore, k) {
			want++
		}
		var d erasure.Decoder
		d.Begin(k, codec.SliceSize, new(statemachine.Memory))
		data, j := make([]byte, codec.SliceSize), 0
		for ; d.Rank() < k; j++ {
			d.Add(k+j, data)
		}
		if j != want {
			t.Errorf("k = %d: %d repair slices, want %d", k, j, want)
		}
		d.Release()
	}
}

// Each pitfall of RATIONALE.md has its test.
func TestPitfallsOfRepairHaveTests(t *testing.T) {
	var tests strings.Builder
	for _, folder := range []string{".", "../codec/erasure", "../codec", "../statemachine", "../statemachine/schedule/rateless"} {
		files, err := filepath.Glob(folder + "/*_test.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", folder, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	table := rows(t, "RATIONALE.md", "| Pitfall | Excluded by | Test |")
	if len(table) < 10 {
		t.Errorf("%d pitfalls", len(table))
	}
	for _, row := range table {
		if !strings.Contains(tests.String(), "\nfunc "+row[2]+"(t *testing.T) {") {
			t.Errorf("%s: no test %s", row[0], row[2])
		}
	}
}

// The first two repair slices rebuild every pair of up to 16 slices, the first three every
// pair of up to 32, as section 9 says (RPC-2).
func TestFirstRepairSlicesRebuildPairs(t *testing.T) {
	for first, most := range map[int]int{2: 16, 3: 32} {
		for b := range most {
			for a := range b {
				ratios := map[int]bool{}
				for j := range first {
					ratios[erasure.Exponent(j, a)-erasure.Exponent(j, b)] = true
				}
				if len(ratios) == 1 {
					t.Errorf("repair slices 0 to %d are dependent at %d and %d", first-1, a, b)
				}
			}
		}
	}
}

// How often m, m + 1 and m + 2 repair slices do not make up for m slices, by the table of
// section 9 (RPV-LIVE-4).
func TestSharesOfTheDocument(t *testing.T) {
	const runs = 20_000
	table := rows(t, "REPAIR.md", "| m | m repair slices | m + 1 | m + 2 |")
	if len(table) < 5 {
		t.Errorf("%d shares", len(table))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, row := range table {
		number, _, _ := strings.Cut(row[0], " ")
		m := int(integer(t, number))
		var failed [3]int
		for range runs {
			more := repairSlicesNeeded(m, random) - m
			for e := range min(more, len(failed)) {
				failed[e]++
			}
		}
		for e, n := range failed {
			want, err := strconv.ParseFloat(strings.TrimSuffix(row[1+e], " %"), 64)
			if err != nil {
				t.Fatal(err)
			}
			if got := 100 * float64(n) / runs; math.Abs(got-want) > 0.1+want/8 {
				t.Errorf("m = %d, %d more: %.3f %%, want %.3f", m, e, got, want)
			}
		}
	}
}

// repairSlicesNeeded returns how many random repair slices make up for m slices.
func repairSlicesNeeded(m int, random *rand.Rand) int {
	var d erasure.Decoder
	d.Begin(m, codec.SliceSize, new(statemachine.Memory))
	drawn := map[int]bool{}
	for d.Rank() < m {
		id := m + random.IntN(erasure.MaxIDs-m)
		drawn[id] = true
		d.Add(id, []byte{0})
	}
	return len(drawn)
}

// Numbers at the receiver (RPN-2, RPN-3) and the field that acks them (RPN-4), by the
// table of section 2.3.
func TestNumbersOfTheDocument(t *testing.T) {
	const k = 3
	table := rows(t, "REPAIR.md", "| `top` before | id that arrives | number | `top` after | field |")
	if len(table) < 10 {
		t.Errorf("%d numbers", len(table))
	}
	for _, row := range table {
		before, id, number, after, field := integer(t, row[0]), integer(t, row[1]), integer(t, row[2]), integer(t, row[3]), integer(t, row[4])
		if after != max(before, number+1) {
			t.Errorf("%v: the table itself", row)
		}
		r := receiverWithTop(t, k, int(before))
		r.HandleSlice(0, exampleSlice(k, int(id)))
		if got := r.Vars().Top; int64(got) != after {
			t.Errorf("%v: top is %d", row, got)
		}
		if ack, _ := r.Poll(core.Second); int64(ack.Top) != field {
			t.Errorf("%v: the ack has %d", row, ack.Top)
		}
	}
}

// Numbers at the sender (RPN-5), by the other table of section 2.3.
func TestFieldsOfTheDocument(t *testing.T) {
	const k = 3
	table := rows(t, "REPAIR.md", "| T | field | number |")
	if len(table) < 7 {
		t.Errorf("%d fields", len(table))
	}
	for _, row := range table {
		s, err := statemachine.NewSender(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: always{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SubmitEncoded(0, erasure.Encode(make([]byte, k*codec.SliceSize))); err != nil {
			t.Fatal(err)
		}
		for s.Vars().Transmissions < int(integer(t, row[0])) {
			s.Poll(0)
		}
		ours := s.HandleAck(0, codec.Ack{NumSlices: k, Have: 1, Top: int(integer(t, row[1]))})
		if got := fmt.Sprint(s.Vars().Top); !ours && row[2] != "none" || ours && got != strings.ReplaceAll(row[2], ",", "") {
			t.Errorf("%v: %v, top is %s", row, ours, got)
		}
	}
}

// always is a scheduler that lets every slice go out at once.
type always struct{ statemachine.NoPath }

func (always) Begin(statemachine.Flight)                {}
func (always) Acked(core.Micros, statemachine.Progress) {}
func (always) Held(core.Micros)                         {}
func (always) Next(core.Micros) (int, bool)             { return 0, true }
func (always) Deadline() core.Micros                    { return 0 }
func (always) Stats() (s statemachine.ScheduleStats)    { return s }

// exampleSlice returns a slice of the chunk 0 of k full slices of zeros.
func exampleSlice(k, id int) codec.Slice {
	return codec.Slice{SliceID: id, NumSlices: k, LastBytes: codec.SliceSize, Data: make([]byte, codec.SliceSize)}
}

// receiverWithTop returns a receiver to which one slice has come, if any: at first each id is
// its own number.
func receiverWithTop(t *testing.T, k, top int) *statemachine.Receiver {
	t.Helper()
	r, err := statemachine.NewReceiver(statemachine.ReceiverConfig{Kind: codec.Repair})
	if err != nil {
		t.Fatal(err)
	}
	if top > 0 {
		r.HandleSlice(0, exampleSlice(k, top-1))
	}
	return r
}

// The constants that code has, and those that follow from others (RPN-6, RPV-BND-2).
func TestConstantsOfRepairAreTheCodes(t *testing.T) {
	c, chunks := constantsOf(t, "repair.json"), constantsOf(t, "protocol.json")
	const idBits, ackBytes = 1 << 13, (33+46+7)/8 + 4
	for _, check := range []struct {
		what string
		ok   bool
	}{
		{"MAX_IDS", c["MAX_IDS"] == erasure.MaxIDs},
		{"an id has 13 bits", c["MAX_IDS"] == idBits},
		{"ACK_SIZE", c["ACK_SIZE"] == int64(codec.Repair.AckSize(1))},
		{"an ack has 79 bits and the end check", c["ACK_SIZE"] == ackBytes},
		{"a reply is not larger than what drew it", c["ACK_SIZE"] <= (33+47+7)/8+1+4},
		{"a full slice is the largest datagram", (33+47+7)/8+chunks["SLICE_SIZE"]+4 == chunks["MAX_DATAGRAM"]},
		{"the ids of named slices and of repair slices", c["REPAIR_IDS"] == 2*chunks["LANE_IDS"]},
		{"a flight is below half a round of ids", c["MOST_NEED"] < (c["MAX_IDS"]-chunks["MAX_SLICES"])/2},
		{"all of a flight have their times", c["KEPT_TIMES"] >= c["MOST_NEED"]},
	} {
		if !check.ok {
			t.Errorf("%s: %v", check.what, c)
		}
	}
}

// The registry of REPAIR.md has the codes of package codec.
func TestCodesOfRepairAreTheCodes(t *testing.T) {
	checkCodes(t, "repair.json", "../codec/repairerrors.go",
		"truncated", "crc_mismatch", "nonzero_padding", "bad_end_check", "trailing_data", "invalid_field",
		"chunk_size", "busy", "gave_up", "nothing_to_read", "unsupported", "bad_request")
}
