package fuzz

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// All formats. Of any bytes the package says what the layout of the format says, and it keeps its other
// promises, which package formats has. So it does of values: those that the bytes decode to, of which some
// are changed, in range or not.
//
// An input is a byte for the format; what readParameters reads; a byte, of which bit 7 asks to make the
// checksum right, and the others say how many values are changed; for each 6 bytes as change takes them;
// and the bytes.
var targetFormats = newTarget("Formats", "each codec does what its layout does: values, or code, sentence and place; by the canonical law", runFormats, seedFormats)

// formatNames are the formats that decode.
var formatNames = func() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(formats.All)) {
		if formats.All[name].Decode != nil {
			names = append(names, name)
		}
	}
	return names
}()

const (
	repairs     = 0x80
	mostChanges = 4
	changeSize  = 6
)

func runFormats(t T, data []byte) {
	in := &conform.Input{Left: data}
	name := formatNames[in.Number(0, int64(len(formatNames)-1))]
	p, given := readParameters(in)
	how := in.Number(0, 255)
	changes := make([]script, how%mostChanges)
	for i := range changes {
		changes[i].left = slices.Clone(in.Left[:min(changeSize, len(in.Left))])
		in.Left = in.Left[len(changes[i].left):]
	}
	b := slices.Clone(in.Left)
	if how&repairs != 0 {
		layout.Reseal(name, b, p)
	}
	v, refused := layout.Decode(name, b, p, given)
	if verbose() {
		t.Logf("%s %v %v, %x: %v, %v", name, p, given, b, v, refused)
	}
	formats.Check(t, name, b, p, given)
	if name == "channel-payload" {
		checkMux(t, p, b, refused)
	}
	if refused != nil || v["type"] == "data" || len(changes) == 0 {
		return
	}
	for i := range changes {
		change(v, &changes[i])
	}
	formats.CheckValues(t, name, v, p, nil)
}

// parameters are those that an input has, with their ranges. That of WINDOW is of its power of two.
var parameters = []struct {
	name        string
	least, most int64
}{
	{"PROTOCOL_ID", 0, 1<<32 - 1}, {"FRAGMENT_SIZE", 1, 1160}, {"MAX_FRAGMENTS", 1, 256},
	{"WINDOW", 5, 14}, {"DATA", 1, 1024}, {"GROUP", 2, 64}, {"LANES", 0, 16}, {"REPAIR", 0, 1}, {"MARKS", 0, 1}, {"CLOCKS", 0, 1},
}

// bodyTypes are the types of bare bodies.
var bodyTypes = []string{contract.TypeSlice, contract.TypeAck}

// readParameters reads the parameters of all formats, and the type of a bare body.
func readParameters(in *conform.Input) (layout.Parameters, layout.Values) {
	p := layout.Parameters{}
	for _, of := range parameters {
		n := in.Number(of.least, of.most)
		if of.name == "WINDOW" {
			n = 1 << n
		}
		p[of.name] = n
	}
	return p, layout.Values{"type": bodyTypes[in.Number(0, 1)]}
}

// appendParameters is the inverse of readParameters.
func appendParameters(out []byte, p layout.Parameters, given layout.Values) []byte {
	for _, of := range parameters {
		n, ok := p[of.name].(int64)
		if !ok {
			n = layout.Formats().Parameters[of.name]
		}
		if of.name == "WINDOW" {
			n = int64(bits.Len64(uint64(n)) - 1)
		}
		out = conform.AppendNumber(out, of.least, of.most, min(max(n, of.least), of.most))
	}
	return conform.AppendNumber(out, 0, 1, int64(max(0, slices.Index(bodyTypes, text(given["type"])))))
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// change puts something else in the place of one of the values: a number near it or any, data of another
// size, another name, other flags, or a list with one changed, one less, or one twice.
func change(v layout.Values, s *script) {
	name := pick(s, slices.Sorted(maps.Keys(v)))
	switch x := v[name].(type) {
	case int64:
		if how := s.byte(); how < 0xc0 {
			v[name] = x + int64(int8(s.byte()))
		} else {
			v[name] = int64(int32(s.uint32())) << (how % 2)
		}
	case []byte:
		v[name] = repeated(append(x, 1, 2, 3), int(s.uint16())%1300)
	case string:
		if name == "type" { // of others a layout has no other names
			v[name] = pick(s, []string{"", "slice", "ack", "close", "skip", x + "x"})
		}
	case []bool:
		flags := make([]bool, int(s.uint16())%300)
		copy(flags, x)
		if len(flags) > 0 {
			flags[int(s.uint16())%len(flags)] = true
		}
		v[name] = flags
	case []layout.Values:
		switch how := s.byte(); {
		case len(x) == 0 || how < 0x20:
			v[name] = append(slices.Clone(x), x...)
		case how < 0x40:
			v[name] = x[:len(x)-1]
		default:
			change(x[int(how)%len(x)], s)
		}
	}
}

// repeated returns n bytes, the given ones again and again.
func repeated(b []byte, n int) []byte {
	return bytes.Repeat(b, n/len(b)+1)[:n]
}

// checkMux gives a payload to all channels of an end: it refuses what the layout refuses, no
// later, and then nothing has changed but a counter (CHR-1). Channels that do not fit the
// record, or are not there, are its own to refuse.
func checkMux(t T, p layout.Parameters, payload []byte, refused *layout.Fault) {
	t.Helper()
	kinds := []channel.Kind{channel.Ordered, channel.Unordered, channel.Unreliable, channel.Ordered, channel.Unordered, channel.Latest}
	f := channel.Format{Window: int(p["WINDOW"].(int64)), Data: int(p["DATA"].(int64)), Group: int(p["GROUP"].(int64))}
	var configs []channel.Config
	for id := range uint8(9) {
		configs = append(configs, channel.Config{ID: id, Kind: kinds[id%6], Format: f})
	}
	m, err := channel.NewMux(channel.MuxConfig{Channels: configs})
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	_, err = m.Handle(0, 0, core.NoNumber, payload)
	got := formats.FaultOf(err)
	if got == nil {
		if refused != nil {
			t.Fatalf("the channels take what the layout refuses: %v", refused)
		}
		return
	}
	code := core.Code(got.Code)
	own := code == channel.CodeChannelKind || code == channel.CodeUnknownChannel
	stats := m.Stats()
	switch {
	case refused == nil && !own, refused != nil && got.At > refused.At, refused != nil && !own && (got.At != refused.At || got.Code != refused.Code):
		t.Fatalf("the channels refuse it with %v, the layout with %v", err, refused)
	case m.Deadline() != core.Never || stats.Payloads != 0 || stats.Refused(code) != 1:
		t.Fatalf("refused with %v, but something is due at %d: %+v", err, m.Deadline(), stats)
	}
}

// seedFormats are all bytes that vectors have decoded or encoded, with changes and without.
func seedFormats(files []testvectors.File) (seeds [][]byte) {
	n := 0
	seen := map[string]bool{}
	add := func(name string, b []byte, p layout.Parameters, given layout.Values) {
		head := appendParameters(conform.AppendNumber(nil, 0, int64(len(formatNames)-1), int64(slices.Index(formatNames, name))), p, given)
		if seen[string(head)+string(b)] {
			return
		}
		seen[string(head)+string(b)] = true
		n++
		changes := repeated([]byte{byte(n), byte(n * 7), byte(n * 13), byte(n >> 3)}, changeSize*(n%mostChanges))
		how := byte(n % mostChanges)
		seeds = append(seeds, slices.Concat(head, []byte{how}, changes, b))
		if strings.HasSuffix(name, "-datagram") {
			seeds = append(seeds, slices.Concat(head, []byte{how | repairs}, changes, b))
		}
	}
	asked := map[string]formats.Format{}
	for name, f := range formats.All {
		asked[name] = formats.Format{
			Decode: func(b []byte, p layout.Parameters, given layout.Values) (layout.Values, error) {
				add(name, b, p, given)
				return f.Decode(b, p, given)
			},
			Encode: func(v layout.Values, p layout.Parameters) ([]byte, error) {
				b, err := f.Encode(v, p)
				if err == nil && f.Decode != nil {
					add(name, b, p, v)
				}
				return b, err
			},
		}
	}
	for _, file := range files {
		for _, v := range file.Vectors {
			var header contract.Header
			if json.Unmarshal(v.Request, &header) == nil && strings.Contains(header.Op, "code") {
				(&port.Port{Codecs: asked}).Answer(append([]byte(`{"id":0,`), v.Request[1:]...))
			}
		}
	}
	return seeds
}
