package formats

import (
	"bytes"
	"encoding/json"

	"github.com/chunkwire/chunkwire/conform/layout"
)

// T is what testing.T and rapid.T have in common.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Check asks a package and a layout what bytes are: the values, or the refusal with its code, its
// sentence and its place, must be the same, the bytes must stay as they were, and the values must be encoded
// to them again.
func Check(t T, name string, b []byte, p layout.Parameters, given layout.Values) {
	t.Helper()
	before := bytes.Clone(b)
	got, err := All[name].Decode(b[:len(b):len(b)], p, given)
	want, refused := layout.Decode(name, before, p, given)
	if !bytes.Equal(b, before) {
		t.Fatalf("%s: %x became %x", name, before, b)
	}
	fault := FaultOf(err)
	if fault != nil && (fault.Check == "PKD-10" || fault.Check == "PKD-3") && refused != nil && refused.Check == "PKD-14" {
		fault.Check = "PKD-14" // the steps of PKD-10, of which the third is PKD-3 at another place
	}
	switch {
	case (fault == nil) != (refused == nil), fault != nil && *fault != *refused:
		t.Fatalf("%s: %x: the package answers %+v, the layout %+v", name, b, fault, refused)
	case fault != nil:
		return
	}
	if g, w := text(name, got, p), text(name, want, p); g != w {
		t.Fatalf("%s: %x: the package says %s, the layout %s", name, b, g, w)
	}
	if want["type"] != "data" { // which no encoder makes
		CheckValues(t, name, want, p, b)
	}
}

// CheckValues asks both for the bytes of values. Their bytes, or the code of the refusal, and its place
// where an encoder of the format has places, must be the same. want are the bytes, or nil: any.
func CheckValues(t T, name string, v layout.Values, p layout.Parameters, want []byte) {
	t.Helper()
	if !layout.Held(name, v, p) {
		return // no request has them
	}
	got, err := All[name].Encode(v, p)
	b, refused := layout.Encode(name, v, p)
	fault := FaultOf(err)
	switch {
	case (fault == nil) != (refused == nil), fault != nil && fault.Code != refused.Code:
		t.Fatalf("%s: %s: the package answers %+v, the layout %+v", name, text(name, v, p), fault, refused)
	case fault != nil && fault.At != refused.At && !unplaced[name]:
		t.Fatalf("%s: %s: the package answers %+v, the layout %+v", name, text(name, v, p), fault, refused)
	case fault == nil && (!bytes.Equal(got, b) || want != nil && !bytes.Equal(b, want)):
		t.Fatalf("%s: %s: the package writes %x, the layout %x, want %x", name, text(name, v, p), got, b, want)
	}
}

// unplaced are the formats whose encoders name no place.
var unplaced = map[string]bool{"chunk-datagram": true, "chunk-body": true, "repair-datagram": true, "repair-body": true}

// text is values as JSON.
func text(name string, v layout.Values, p layout.Parameters) string {
	b, err := json.Marshal(layout.JSON(name, v, p))
	if err != nil {
		return err.Error()
	}
	return string(b)
}
