package port_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors/port"
)

// The packet layer does what the library reliable 1.4.0 did: each line of the file is a request of the
// port contract and what must come back. The bytes of its headers, datagrams and conversations were made
// by that library itself; where PACKETS.md is stricter (14.3) the answer is that of the document.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/reliable-1.4.0.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var recorded struct{ Request, Response json.RawMessage }
		if err := json.Unmarshal(line, &recorded); err != nil {
			t.Fatal(err)
		}
		answer := port.Answer(append([]byte(`{"id":7,`), recorded.Request[1:]...))
		var got, want any
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatalf("recording %d: %v", n, err)
		}
		if err := json.Unmarshal(append([]byte(`{"id":7,`), recorded.Response[1:]...), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("recording %d: %.300s (-reliable +packet)\n%s", n, recorded.Request, diff)
		}
	}
	if n < 70 {
		t.Errorf("%d recordings", n)
	}
}
