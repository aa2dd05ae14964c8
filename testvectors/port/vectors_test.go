package port

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Every vector is asked of this implementation as it is of a port.
func TestVectors(t *testing.T) {
	list, err := testvectors.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		t.Run(f.Group, func(t *testing.T) {
			answers := serve(t, f.Vectors)
			for i, v := range f.Vectors {
				want := withID(t, i, v.Response)
				got := answers[i]
				if v.Level == testvectors.Required && isReceiver(t, v) {
					// TRC-5: a required receiver trace does not say when acks go out.
					withoutDeadlines(want)
					withoutDeadlines(got)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got): %s\n%s", v.Name, v.Comment, diff)
				}
			}
		})
	}
}

// serve asks all vectors of one port, in one run, so that one that is refused
// shows that it does not spoil the next.
func serve(t *testing.T, vectors []testvectors.Vector) (answers []map[string]any) {
	t.Helper()
	var in, out bytes.Buffer
	for i, v := range vectors {
		line, err := json.Marshal(withID(t, i, v.Request))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&in, "%s\n", line)
	}
	if err := Serve(&in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(vectors) {
		t.Fatalf("%d lines for %d vectors", len(lines), len(vectors))
	}
	for _, line := range lines {
		answers = append(answers, parsed(t, []byte(line)))
	}
	return answers
}

func withID(t *testing.T, id int, text json.RawMessage) map[string]any {
	t.Helper()
	v := parsed(t, text)
	v["id"] = json.Number(fmt.Sprint(id))
	return v
}

func isReceiver(t *testing.T, v testvectors.Vector) bool {
	t.Helper()
	return parsed(t, v.Request)["op"] == "receiver"
}

func withoutDeadlines(response map[string]any) {
	steps, _ := response["steps"].([]any)
	for _, step := range steps {
		if step, ok := step.(map[string]any); ok {
			delete(step, "deadline_us")
		}
	}
}

// parsed decodes a JSON object, with its numbers as they stand.
func parsed(t *testing.T, text []byte) (v map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}
