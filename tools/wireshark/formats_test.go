package wireshark_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/layout"
)

// roots are the layouts from which all others are used. Records of channels are refused by the sentences of CHANNELS.md
// wherever they stand.
var roots = []string{"chunk-datagram", "repair-datagram", "packet", "channel-payload", "connection-payload", "session-message"}

// shown are the fields whose numbers have names in the dissector.
var shown = map[string]string{"chunk-datagram.type": "type", "session-message.kind": "kind", "session-offer.mode": "mode", "connection-payload.type": "record"}

// named matches the fields of layouts that the dissector names.
var named = regexp.MustCompile(`"([a-z-]+\.[a-z_0-9]+)"\)?`)

// luaFormats writes the layouts as tables in Lua, as far as a program uses them.
type luaFormats struct {
	fields, values map[string]string
	sizes          map[string]int // of messages
	layouts        map[string]*layout.Format
}

func (l *luaFormats) walk(of string, items []layout.Item, whole string) (bits int) {
	for i := range items {
		it := &items[i]
		name := of + "." + it.Name
		size := it.Bits
		if it.Bytes != "" {
			_, _ = fmt.Sscan(it.Bytes, &size)
			size *= 8
		}
		if _, known := l.fields[name]; size > 0 && !known {
			l.fields[name] = fmt.Sprintf("bits = %d, plus = %d, whole = %q", size, it.Plus, cmp.Or(it.Whole, whole))
		}
		if table := shown[name]; table != "" {
			byNumber := map[int64]string{}
			for text, n := range it.Names {
				byNumber[n] = text
			}
			var pairs []string
			for _, n := range slices.Sorted(maps.Keys(byNumber)) {
				pairs = append(pairs, fmt.Sprintf("[%d] = %q", n, byNumber[n]))
			}
			l.values[table] = strings.Join(pairs, ", ")
		}
		inner := l.walk(of, it.Items, whole)
		if it.Use != "" {
			f := l.layouts[it.Use]
			inner = l.walk(f.Name, f.Items, cmp.Or(f.Whole, whole))
			l.sizes[f.Name] = inner
		}
		var times int
		if _, err := fmt.Sscan(it.Each, &times); err == nil {
			inner *= times
		}
		bits += size + inner
	}
	return bits
}

// text is what stands in the dissector.
func (l *luaFormats) text(program []byte) string {
	var b strings.Builder
	used := map[string]bool{}
	for _, m := range named.FindAllSubmatch(program, -1) {
		used[string(m[1])] = true
	}
	b.WriteString("local formats = {\n")
	for _, name := range slices.Sorted(maps.Keys(l.fields)) {
		if used[name] {
			fmt.Fprintf(&b, "  [%q] = { %s },\n", name, l.fields[name])
		}
	}
	b.WriteString("}\nlocal values = {\n")
	for _, name := range slices.Sorted(maps.Keys(l.values)) {
		fmt.Fprintf(&b, "  %s = { %s },\n", name, l.values[name])
	}
	b.WriteString("}\nlocal sizes = {\n")
	for _, of := range slices.Sorted(maps.Keys(l.sizes)) {
		if message, is := strings.CutPrefix(of, "message-"); is {
			kind, _ := layout.Number("session-message", "kind", message)
			fmt.Fprintf(&b, "  [%d] = %d,\n", kind, 1+l.sizes[of]/8)
		}
	}
	b.WriteString("}\nlocal parameters = {\n")
	for _, name := range slices.Sorted(maps.Keys(layout.Formats().Parameters)) {
		if bytes.Contains(program, []byte("parameters."+name)) {
			fmt.Fprintf(&b, "  %s = %d,\n", name, layout.Formats().Parameters[name])
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func formats() *luaFormats {
	l := &luaFormats{map[string]string{}, map[string]string{}, map[string]int{}, map[string]*layout.Format{}}
	all := layout.Formats().Layouts
	for i := range all {
		l.layouts[all[i].Name] = &all[i]
	}
	for _, name := range roots {
		f := l.layouts[name]
		l.walk(name, f.Items, f.Whole)
	}
	return l
}

// The fields, names, sizes and constants in the dissector come from the layouts.
func TestFormats(t *testing.T) {
	replaced(t, "formats", formats().text)
}

// Kaitai's fields of bits have the names, the sizes and the offsets of the layouts.
func TestKaitai(t *testing.T) {
	field := regexp.MustCompile(`- id: (\w+)\n +type: b(\d+)\n`)
	for file, of := range map[string][]string{"chunkwire.ksy": {"slice-body", "ack-body"}, "chunkwire_repair.ksy": {"repair-slice-body", "repair-ack-body"}} {
		text, err := os.ReadFile("../../spec/kaitai/" + file)
		if err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		for _, m := range field.FindAllStringSubmatch(string(text), -1) {
			name, minusOne := strings.CutSuffix(m[1], "_minus_1")
			plus := map[bool]int{true: 1}[minusOne]
			for _, layout := range of {
				if is, ok := formats().fields[layout+"."+name]; ok {
					there[layout+"."+name] = true
					if want := fmt.Sprintf("bits = %s, plus = %d,", m[2], plus); !strings.HasPrefix(is, want) {
						t.Errorf("%s: %s of %s has %s, want %s", file, name, layout, want, is)
					}
				}
			}
		}
		for name := range formats().fields {
			layout, _, _ := strings.Cut(name, ".")
			if slices.Contains(of, layout) && !there[name] {
				t.Errorf("%s has no %s", file, name)
			}
		}
	}
}
