package wireshark_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// facts is a packet, message or record as the vectors have it, all values as text.
type facts map[string]any

// sliceFacts returns what the dissector says of a slice.
func sliceFacts(n tree) facts {
	f := facts{"type": "slice", "chunk_id": n.number("chunk_id"), "slice_id": n.number("slice.id"), "num_slices": n.number("num_slices"), "data": n.bytes("slice.data")}
	if n.has("slice.last_bytes") {
		f["last_bytes"] = n.number("slice.last_bytes")
	}
	return f
}

// ackFacts returns what the dissector says of an ack.
func ackFacts(n tree) facts {
	f := facts{"type": "ack", "chunk_id": n.number("chunk_id")}
	if n.has("ack.have") {
		f["num_slices"], f["have"], f["top"] = n.number("num_slices"), n.number("ack.have"), n.number("ack.top")
	} else {
		f["acked"] = ackedBits(n.text("ack.acked"), n.number("num_slices"))
	}
	return f
}

// chunkFacts returns what the dissector says of a datagram of plain chunks.
func chunkFacts(n tree) facts {
	if n.number("type") == "1" {
		return ackFacts(n)
	}
	return sliceFacts(n)
}

// ackedBits turns ranges such as "0-2, 5" into bits, the first slice first.
func ackedBits(ranges, size string) string {
	n, _ := strconv.Atoi(size)
	bits := []byte(strings.Repeat("0", n))
	if ranges == "none" {
		return string(bits)
	}
	for part := range strings.SplitSeq(ranges, ", ") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || from > to || to >= n {
			return fmt.Sprintf("%q of %d", ranges, n)
		}
		copy(bits[from:to+1], strings.Repeat("1", to+1-from))
	}
	return string(bits)
}

// packetFacts returns what the dissector says of a packet.
func packetFacts(n tree) facts {
	f := facts{"kind": "regular", "sequence": n.number("packet.sequence")}
	data := "payload"
	if n.has("packet.num_fragments") {
		f["kind"], f["fragment_id"], f["num_fragments"] = "fragment", n.number("packet.fragment_id"), n.number("packet.num_fragments")
		data = "data"
	}
	header := n
	if embedded := n.parts["packet.header"]; len(embedded) == 1 {
		header = embedded[0]
	}
	if header.has("packet.ack") {
		f["ack"], f["ack_bits"] = header.number("packet.ack"), header.number("packet.ack_bits")
	}
	f[data] = n.bytes("packet.payload")
	return f
}

var (
	modes = map[string]string{"64": "crc", "65": "mac", "66": "aead"}
	kinds = map[string]string{"72": "link", "73": "challenge", "74": "proof", "75": "linked", "76": "refused"}
)

// of the handshake: names in the vectors, in the dissector, and how the values are written.
var messageFields = []struct {
	name, field string
	value       func(n tree, field string) string
}{
	{"nonce", "nonce", tree.bytes}, {"protocol", "protocol_id", tree.number}, {"lanes", "lanes", tree.number},
	{"variants", "variants", tree.number}, {"variant", "variant", tree.number}, {"extensions", "extensions", tree.number},
	{"timeout", "timeout", tree.number}, {"format", "format", tree.bytes}, {"identity", "identity", lowFirst},
	{"resume", "resume", tree.number}, {"stamp", "stamp", tree.number}, {"cookie", "cookie", tree.bytes},
	{"proof", "proof", tree.bytes}, {"link", "link", tree.number}, {"share", "share", tree.bytes},
	{"versions", "versions", tree.bytes}, {"reserved", "reserved", tree.bytes}, {"digest", "digest", tree.bytes}, {"move", "move", tree.bytes},
	{"version", "version", tree.number}, {"reason", "reason", tree.number}, {"counter", "counter", tree.number}, {"tag", "tag", tree.bytes},
}

// lowFirst returns the 8 bytes of a number, the lowest first, in hex.
func lowFirst(n tree, field string) string {
	v, err := strconv.ParseUint(n.text(field), 0, 64)
	if err != nil {
		return n.text(field)
	}
	var out []string
	for b := range slices.Values([]int{0, 8, 16, 24, 32, 40, 48, 56}) {
		out = append(out, fmt.Sprintf("%02x", byte(v>>b)))
	}
	return strings.Join(out, "")
}

// messageFacts returns what the dissector says of a datagram of a session. Of an offer the
// version is always 1, and not in the vectors.
func messageFacts(n tree) facts {
	f := facts{"type": kinds[n.number("kind")]}
	for _, m := range messageFields {
		if n.has(m.field) {
			f[m.name] = m.value(n, m.field)
		}
	}
	if f["type"] != "refused" && f["type"] != "challenge" {
		delete(f, "version")
	}
	if n.has("mode") {
		f["mode"] = modes[n.number("mode")]
	}
	if mode, ok := modes[n.number("kind")]; ok {
		f["type"], f["mode"] = "data", mode
	}
	return f
}

var records = []string{"pad", "unreliable", "message", "fragment", "skip", "report", "status", "close", "slice", "chunk_ack", "ecn", "clock"}

// recordFields are what records have besides, by the names in the vectors and in the dissector.
var recordFields = map[string]map[string]string{
	"pad":        {},
	"unreliable": {"channel": "record.channel"},
	"message":    {"channel": "record.channel", "sequence": "record.sequence"},
	"fragment":   {"channel": "record.channel", "sequence": "record.sequence", "index": "record.index", "count": "record.count"},
	"skip":       {"channel": "record.channel", "first": "record.sequence", "count": "record.count"},
	"report":     {"channel": "record.channel", "base": "record.base", "room": "record.room"},
	"status":     {"channel": "record.channel", "next": "record.sequence"},
	"close":      {"code": "record.code"},
	"clock":      {"sent": "record.sent", "echo": "record.echo", "wait": "record.wait"},
	"ecn":        {"arrived": "record.arrived", "congested": "record.congested"},
	"slice":      {"lane": "lane"},
	"chunk_ack":  {"lane": "lane"},
}

// recordFacts returns what the dissector says of a record.
func recordFacts(kind string, n tree) facts {
	f := facts{}
	switch kind {
	case "slice":
		f = sliceFacts(n)
	case "chunk_ack":
		f = ackFacts(n)
	}
	f["type"] = kind
	for name, field := range recordFields[kind] {
		f[name] = n.number(field)
	}
	switch kind {
	case "unreliable", "message", "fragment":
		f["data"] = n.bytes("record.data")
	case "close":
		f["text"] = n.text("record.text")
	case "report":
		f["groups"] = groupFacts(n)
	}
	return f
}

func groupFacts(n tree) []any {
	groups := []any{}
	for i, start := range n.values["record.group.start"] {
		groups = append(groups, []any{start, decimal(n.values["record.group.bits"][i])})
	}
	return groups
}

// recordsFacts returns what the dissector says of the records of a payload.
func recordsFacts(n tree) (list []facts) {
	for i, kind := range n.values["record"] {
		k, err := strconv.Atoi(kind)
		if err != nil || k >= len(records) || i >= len(n.parts["record"]) && records[k] != "pad" {
			return append(list, facts{"record": kind})
		}
		var part tree
		if i < len(n.parts["record"]) {
			part = n.parts["record"][i]
		}
		list = append(list, recordFacts(records[k], part))
	}
	return list
}

// textOf turns the numbers of a value of JSON into text.
func textOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		f := facts{}
		for name, member := range v {
			f[name] = textOf(member)
		}
		return f
	case []any:
		list := []any{}
		for _, member := range v {
			list = append(list, textOf(member))
		}
		return list
	case string:
		return v
	}
	return fmt.Sprint(v)
}
