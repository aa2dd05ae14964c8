// Package conformtest has the tests that every operation declared for package conform has.
package conformtest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// sameJSON reports whether texts are the same but for spaces.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// Vectors checks that requests which were read are written again byte for byte; package port and the
// generator check what product and oracle answer. Exceptions: requests of the groups of the contract, which
// have fields that nobody reads, and the examples of the documents, whose fields have another order.
func Vectors(t *testing.T, operations ...*conform.Op) {
	t.Helper()
	files := slices.DeleteFunc(check.Must(testvectors.Load()), func(f testvectors.File) bool {
		return strings.Contains(f.Group, "contract") || strings.HasSuffix(f.Group, "examples")
	})
	for _, op := range operations {
		n := 0
		for _, request := range testvectors.Requests(files) {
			for _, tr := range op.Traces([]json.RawMessage{request}) {
				n++
				if again := op.Request(tr.Config, tr.Events); !sameJSON(again, request) {
					t.Errorf("%s is written again as %s", request, again)
				}
			}
		}
		if t.Logf("%s: %d requests", op.Name, n); n == 0 {
			t.Errorf("%s has no vectors", op.Name)
		}
	}
}

// Input checks that the traces of vectors mean the same when they are encoded for fuzzers.
func Input(t *testing.T, operations ...*conform.Op) {
	t.Helper()
	files := check.Must(testvectors.Load())
	for _, op := range operations {
		n, size := 0, 0
		for _, tr := range op.Traces(testvectors.Requests(files)) {
			b := op.Encode(tr.Config, tr.Events, oracle(op, tr.Config))
			in := &conform.Input{Left: b}
			if c := op.Configure(in); !reflect.DeepEqual(c, tr.Config) {
				t.Fatalf("%+v, not %+v", c, tr.Config)
			}
			var again []conform.Timed
			o := oracle(op, tr.Config)
			for at, e := range op.Play(in, tr.Config, o, 1<<20) {
				again = append(again, conform.Timed{At: at, Event: e})
				o.Do(at, e)
			}
			if !slices.EqualFunc(again, tr.Events, func(a, b conform.Timed) bool { return reflect.DeepEqual(a, b) }) {
				t.Errorf("%s\nis read as\n%s", op.Request(tr.Config, tr.Events), op.Request(tr.Config, again))
			}
			n, size = n+1, size+len(b)
		}
		t.Logf("%s: %d traces in %d bytes", op.Name, n, size)
	}
}

func oracle(op *conform.Op, config any) conform.Oracle {
	return check.Must(op.Oracle(config)).(conform.Oracle)
}

// Scripts checks that the scripts of an archive give the vectors of their group, which expect
// what comes; and that the words of events that are written mean the same events.
func Scripts(t *testing.T, op *conform.Op, group string) {
	t.Helper()
	want := map[string]testvectors.Vector{}
	for _, f := range check.Must(testvectors.Load()) {
		for _, v := range f.Vectors {
			want[v.Name] = v
		}
	}
	for _, s := range check.Must(script.Read(check.Must(testvectors.Traces.ReadFile("traces/" + group + ".txtar")))) {
		p, err := op.Run(s.Lines)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		v := want[group+"/"+s.Name]
		if q, a := op.Request(p.Config, p.Events), conform.Response(p.Steps); !sameJSON(q, v.Request) || !sameJSON(a, v.Response) {
			t.Errorf("%s: %s is answered %s", s.Name, q, a)
		}
		again, err := op.Run(strings.Split(strings.TrimSpace(op.Script(p.Config, p.Events, p.Steps, p.Rows)), "\n"))
		if err != nil || again.Wrong() != nil || !sameJSON(op.Request(again.Config, again.Events), v.Request) {
			t.Errorf("%s is written as\n%s\nwhich is something else: %v, %v", s.Name, op.Script(p.Config, p.Events, p.Steps, p.Rows), err, again)
		}
	}
}

// source is a conform.Source of what rapid draws.
type source struct {
	*rapid.T
	left int
}

// Source returns what makes so many events of what rapid draws.
func Source(t *rapid.T, events int) conform.Source { return &source{t, events} }

// More counts the events, and so ends a trace.
func (s *source) More() bool {
	s.left--
	return s.left >= 0
}

// Number draws small and large ones alike.
func (s *source) Number(least, most int64) int64 {
	return rapid.Int64Range(least, most).Draw(s.T, "number")
}

// Bytes draws bytes.
func (s *source) Bytes(most int) []byte {
	return rapid.SliceOfN(rapid.Byte(), 0, min(most, 64)).Draw(s.T, "bytes")
}
