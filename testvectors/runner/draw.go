package runner

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// row is a named value, on a line of its own.
type row struct{ name, value string }

// drawHex draws the bytes of a request or a response field by field, by the layout that its operation has: as
// far as they go, and why they are refused, so that it can show what is wrong.
func drawHex(request any, text string) []row {
	b, err := hex.DecodeString(text)
	if err != nil {
		return []row{{"hex", strconv.Quote(shortened(text))}}
	}
	rows := []row{{"bytes", strconv.Itoa(len(b))}}
	name, in, given := layoutOf([]byte(compact(request)))
	if name == "" {
		return append(rows, row{"hex", content(b)})
	}
	end := 0 // of the drawn fields, in bits
	_, fault := layout.Trace(name, b, in, given, func(p layout.Part) {
		if !p.Begin && !p.End {
			rows, end = append(rows, row{p.Name, drawn(p)}), p.At+p.Size
		}
	})
	if fault != nil {
		rows = append(rows, row{"refused", fmt.Sprintf("%s (%s) at %d", fault.Code, fault.Check, fault.At)})
	}
	if rest := b[min((end+7)/8, len(b)):]; len(rest) > 0 {
		rows = append(rows, row{"left", content(rest)})
	}
	return rows
}

// layoutOf is the layout of the bytes of a request and of its response.
func layoutOf(request []byte) (name string, in layout.Parameters, given layout.Values) {
	var q struct {
		Op, Type string
		Packet   struct{ Type string }
	}
	var members conform.Object
	_ = json.Unmarshal(request, &q) // a request may be wrong in any way
	_ = json.Unmarshal(request, &members)
	c, is := port.CodeOf(members)
	switch {
	case is:
		in, _ = c.In(members)
		return c.Layout, in, layout.Values{"type": q.Type + q.Packet.Type}
	case q.Op == "channel_report":
		return "channel-payload", nil, nil
	case strings.HasPrefix(q.Op, "session_"):
		return "session-message", nil, nil
	}
	return "", nil, nil
}

// drawn is a field and where it stands.
func drawn(p layout.Part) string {
	value := fmt.Sprint(p.Value)
	switch v := p.Value.(type) {
	case []byte:
		value = content(v)
	case []bool:
		value = shortened(strings.NewReplacer("true", "1", "false", "0", " ", "").Replace(strings.Trim(value, "[]")))
	case int64:
		if p.Item.From != "" && p.Size == 32 {
			value = fmt.Sprintf("0x%08x", v)
		}
	}
	place := fmt.Sprintf("bits %d to %d", p.At, p.At+p.Size-1)
	switch {
	case p.Size == 1:
		place = fmt.Sprintf("bit %d", p.At)
	case p.At%8 == 0 && p.Size == 8:
		place = fmt.Sprintf("byte %d", p.At/8)
	case p.At%8 == 0 && p.Size%8 == 0:
		place = fmt.Sprintf("bytes %d to %d", p.At/8, (p.At+p.Size)/8-1)
	}
	if p.Right != nil && p.Right != p.Value {
		place += fmt.Sprintf(", wrong: of these bytes it is 0x%08x", p.Right)
	}
	return fmt.Sprintf("%-10s %s", value, place)
}

// content describes bytes: all of them if there are few, or else the ends and a crc.
func content(b []byte) string {
	const few, ends = 40, 12
	if len(b) <= few {
		return fmt.Sprintf("%d bytes, %x", len(b), b)
	}
	return fmt.Sprintf("%d bytes, %x…%x, crc32 %08x", len(b), b[:ends], b[len(b)-ends:], crc32.ChecksumIEEE(b))
}

// shortened reduces a long text to its ends.
func shortened(s string) string {
	const few, ends = 300, 30
	if len(s) <= few {
		return s
	}
	return fmt.Sprintf("%s…%s (%d characters)", s[:ends], s[len(s)-ends:], len(s))
}
