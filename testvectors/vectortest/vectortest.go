// Package vectortest lets Go tests put vectors to the reference port: those of the
// port, and of the packages that the vectors are about.
package vectortest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// Replay puts all vectors of these groups to the port, in one run, so that one that is
// refused shows that it does not spoil the next.
func Replay(t *testing.T, groups ...string) {
	t.Helper()
	files, err := testvectors.LoadGroups(groups...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(f.Group, func(t *testing.T) { replay(t, f.Vectors) })
	}
}

func replay(t *testing.T, vectors []testvectors.Vector) {
	var in, out bytes.Buffer
	for i, v := range vectors {
		fmt.Fprintf(&in, "%s\n", withID(t, i, v.Request))
	}
	if err := port.Serve(&in, &out); err != nil {
		t.Fatal(err)
	}
	answers := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	if len(answers) != len(vectors) {
		t.Fatalf("%d lines for %d vectors", len(answers), len(vectors))
	}
	for i, v := range vectors {
		line := withID(t, i, v.Response)
		if bytes.Equal(answers[i], line) {
			continue
		}
		want, got := parsed(t, line), parsed(t, answers[i])
		var q contract.Header
		_ = json.Unmarshal(v.Request, &q) // a request may be wrong in any way
		if v.Level == testvectors.Required && q.Op == contract.OpReceiver {
			// TRC-5: a required receiver trace does not say when acks go out.
			withoutDeadlines(want)
			withoutDeadlines(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got): %s\n%s", v.Name, v.Comment, diff)
		}
	}
}

// withID returns the JSON of an object that has no id, with one, on a line.
func withID(t *testing.T, id int, text json.RawMessage) []byte {
	t.Helper()
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		t.Fatal(err)
	}
	if line.String() == "{}" {
		return fmt.Appendf(nil, `{"id":%d}`, id)
	}
	return append(fmt.Appendf(nil, `{"id":%d,`, id), line.Bytes()[1:]...)
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
