package spec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/rtt"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// The specification as data meets its schema.
func TestDataMeetsTheSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("*.json")
	if err != nil || len(names) < 3 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "schema.json") || name == "formats.json" {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := jsonschema.UnmarshalJSON(f)
		f.Close()
		if err == nil {
			err = schema.Validate(data)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// constantsOf returns the constants of a document by their names.
func constantsOf(t *testing.T, name string) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Constants []struct {
			Name  string
			Value int64
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	values := map[string]int64{}
	for _, c := range document.Constants {
		values[c.Name] = c.Value
	}
	return values
}

// The code has the constants of the specification (LIM-5, SPC-5).
func TestConstantsAreTheCodes(t *testing.T) {
	want := map[string]int64{
		"SLICE_SIZE": codec.SliceSize, "MAX_SLICES": codec.MaxSlices, "MAX_CHUNK": codec.MaxChunkSize,
		"MAX_DATAGRAM": codec.MaxDatagramSize, "MAX_ACK": codec.MaxAckSize, "HEADER": codec.HeaderBytes,
		"DEFAULT_GIVE_UP": int64(statemachine.DefaultGiveUp), "MAX_GIVE_UP": int64(statemachine.MaxGiveUp),
		"INITIAL_DELAY": int64(rtt.InitialDelay), "LONGEST_DELAY": int64(rtt.LongestDelay), "LONGEST_SAMPLE": int64(rtt.Clip(1 << 60)),
		"BUDGET_MIN": statemachine.MinRate / 8, "BUDGET_MAX": statemachine.MaxRate / 8,
	}
	got := constantsOf(t, "protocol.json")
	for name := range got {
		if _, exported := want[name]; !exported {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("constants (-code +specification):\n%s", diff)
	}
}

// Constants that follow from others (SND-20, LIM-4).
func TestConstantsFitTogether(t *testing.T) {
	c := constantsOf(t, "protocol.json")
	for _, check := range []struct {
		what string
		ok   bool
	}{
		{"DEFAULT_GIVE_UP leaves time for a probe that is lost", c["DEFAULT_GIVE_UP"] >= 3*c["SLICE_LIMIT"]+c["ACK_LIMIT"]},
		{"the default resend delay is within SLICE_LIMIT", c["LONGEST_DELAY"] <= c["SLICE_LIMIT"]},
		{"MAX_CHUNK is MAX_SLICES full slices", c["MAX_CHUNK"] == c["MAX_SLICES"]*c["SLICE_SIZE"]},
		{"MAX_DATAGRAM is a full last slice", c["MAX_DATAGRAM"] == 14+c["SLICE_SIZE"]},
		{"MAX_ACK is an ack of MAX_SLICES", c["MAX_ACK"] == (57+c["MAX_SLICES"]+7)/8+4},
		{"BUDGET_MIN is the cost of the largest datagram", c["BUDGET_MIN"] == c["MAX_DATAGRAM"]+c["HEADER"]},
		{"lanes of any two numbers have different ids", c["LANE_IDS"] == c["MAX_LANES"]*c["MAX_LANES"]},
	} {
		if !check.ok {
			t.Errorf("%s: %v", check.what, c)
		}
	}
}

// The profiles of the specification are the code's (SPC-4).
func TestProfilesAreTheCodes(t *testing.T) {
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	b := base.Burst()
	small, large := base.Fixed(8_528), base.Fixed(8_000_000_000)
	row := fmt.Sprintf("| `burst` | %s B/s | %s B | %s B | yes | %d us |", grouped(b.Rate/8), grouped(b.Cap), grouped(b.Burst), b.Spacing)
	for _, want := range []string{row, fmt.Sprintf("| `fixed(r)` | r | `max(%s, r / %d)` B | 0 | no | 0 |", grouped(small.Cap), large.Rate/8/large.Cap)} {
		if !strings.Contains(string(text), want) {
			t.Errorf("PROTOCOL.md does not have the row\n%s", want)
		}
	}
	if !b.AckPays || small.AckPays || small.Burst != 0 || small.Spacing != 0 || base.Article(8_528).ResendDelay != 100_000 {
		t.Errorf("burst %+v, fixed %+v", b, small)
	}
}

// grouped writes a number as the document does: 1,024.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
