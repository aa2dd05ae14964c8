package eventlog

import (
	"encoding/json"
	"strconv"

	"github.com/chunkwire/chunkwire/core"
)

// The frame of a record (RFC 7464).
const (
	recordStart = 0x1E
	recordEnd   = '\n'
)

// prefix is before the names of events.
const prefix = "chunkwire:"

// Append appends the record of an event to dst.
func Append(dst []byte, e *Event) []byte {
	k := &kinds[e.Kind]
	dst = append(dst, recordStart)
	dst = append(dst, `{"time":`...)
	dst = appendMillis(dst, e.At)
	dst = append(dst, `,"name":"`+prefix...)
	dst = append(append(dst, k.name...), '"')
	if e.Group > 0 {
		dst = append(dst, `,"group_id":"`...)
		dst = append(strconv.AppendInt(dst, int64(e.Group), 10), '"')
	}
	if e.End != "" {
		dst = append(dst, `,"end":`...)
		dst = appendText(dst, string(e.End))
	}
	dst = append(dst, `,"data":{`...)
	first := true
	for i := range k.members {
		m := &k.members[i]
		if e.lacks(m) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), m.name...), `":`...)
		dst = appendValue(dst, m.of(e))
	}
	return append(dst, '}', '}', recordEnd)
}

func appendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case *string:
		return appendText(dst, *v)
	case *int:
		return strconv.AppendInt(dst, int64(*v), 10)
	case *int64:
		return strconv.AppendInt(dst, *v, 10)
	case *uint16:
		return strconv.AppendUint(dst, uint64(*v), 10)
	case *core.Micros:
		return appendMillis(dst, *v)
	case *bool:
		return strconv.AppendBool(dst, *v)
	}
	panic("eventlog: a member of another type")
}

func isZero(value any) bool {
	switch v := value.(type) {
	case *string:
		return *v == ""
	case *int:
		return *v == 0
	case *int64:
		return *v == 0
	case *core.Micros:
		return *v == 0
	}
	return false
}

// appendMillis appends a time in milliseconds with three decimals, which is exact.
func appendMillis(dst []byte, at core.Micros) []byte {
	if at < 0 {
		dst, at = append(dst, '-'), -at
	}
	dst = strconv.AppendInt(dst, int64(at/1000), 10)
	rest := at % 1000
	return append(dst, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// appendText appends a JSON string.
func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // of a string it does not fail
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}
