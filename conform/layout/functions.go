package layout

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"unicode/utf8"
)

// functions are what expressions can call.
var functions = map[string]func(s *scope, args []any) any{
	"count":     func(_ *scope, args []any) any { return int64(len(listOf(args[0]))) },
	"size":      func(_ *scope, args []any) any { return size(args[0]) },
	"min":       func(_ *scope, args []any) any { return min(number(args[0]), number(args[1])) },
	"named":     func(_ *scope, args []any) any { _, is := args[0].(string); return is },
	"width":     func(_ *scope, args []any) any { return int64(bits.Len64(uint64(number(args[0])))) },
	"ones":      func(_ *scope, args []any) any { return int64(bits.OnesCount64(uint64(number(args[0])))) },
	"utf8":      func(_ *scope, args []any) any { return utf8.ValidString(text(args[0])) },
	"zeros":     func(_ *scope, args []any) any { b, _ := args[0].([]byte); return len(bytes.Trim(b, "\x00")) == 0 },
	"top_flag":  func(_ *scope, args []any) any { return topFlag(args[0]) },
	"frame_crc": func(s *scope, args []any) any { return frameCRC(s.walk.whole(), number(args[0])) },
}

func listOf(v any) []Values {
	list, _ := v.([]Values)
	return list
}

// size is how many bytes, or flags, a value has.
func size(v any) int64 {
	switch v := v.(type) {
	case []byte:
		return int64(len(v))
	case string:
		return int64(len(v))
	case []bool:
		return int64(len(v))
	}
	return 0
}

// topFlag is one more than the number of the last flag that is set.
func topFlag(v any) int64 {
	flags, _ := v.([]bool)
	for i := len(flags); i > 0; i-- {
		if flags[i-1] {
			return int64(i)
		}
	}
	return 0
}

// frameCRC is the crc of FRM-2 over a datagram, which begins with it.
func frameCRC(datagram []byte, protocolID int64) int64 {
	b := binary.LittleEndian.AppendUint32(nil, uint32(protocolID))
	b = append(b, 0, 0, 0, 0)
	if len(datagram) > 4 {
		b = append(b, datagram[4:]...)
	}
	return int64(crc32.ChecksumIEEE(b))
}
