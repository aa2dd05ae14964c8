package chunks

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform"
)

// dialect has short words for slices, acks and the effects of a step.
var dialect = conform.Dialect{Event: eventOfWords, Say: wordsOfEvent, Step: said}

// eventOfWords reads slice CHUNK IDS/COUNT [SIZE] [fill=BYTE], ack CHUNK BITS and ack CHUNK HAVE/COUNT:TOP.
// SIZE is the size of the last slice: 1,024 bytes without it.
func eventOfWords(w *conform.Words, config any, word string, args []string) conform.Event {
	if len(args) < 2 {
		return nil
	}
	before, rest, cut := strings.Cut(args[1], "/")
	switch {
	case word == "slice" && cut:
		return sliceOfWords(w, config, before, rest, args)
	case word == "ack" && cut:
		count, top, _ := strings.Cut(rest, ":")
		return RepairAck{uint16(w.Number(args[0])), w.Number(count), w.Number(before), w.Number(top)}
	case word == "ack":
		return Ack{uint16(w.Number(args[0])), ofRuns(w, args[1])}
	}
	return nil
}

func sliceOfWords(w *conform.Words, config any, ids, count string, args []string) conform.Event {
	s := RepairSlice{uint16(w.Number(args[0])), w.Number(ids), w.Number(count), codec.SliceSize, conform.Opt[uint8]{}}
	for _, word := range args[2:] {
		if fill, is := strings.CutPrefix(word, "fill="); is {
			s.Fill = conform.Some(uint8(w.Number(fill)))
		} else {
			s.LastBytes = w.Number(word)
		}
	}
	if _, repair := config.(RepairReceiverConfig); repair {
		return s
	}
	named := Slice{s.ChunkID, s.SliceID, s.NumSlices, s.LastBytes, s.Fill}
	if s.SliceID != s.NumSlices-1 {
		named.Size = codec.SliceSize
	}
	return named
}

// wordsOfEvent is the inverse.
func wordsOfEvent(_ any, e conform.Event) string {
	fill := func(b conform.Opt[uint8]) string {
		if !b.Is {
			return ""
		}
		return fmt.Sprintf(" fill=%d", b.V)
	}
	switch e := e.(type) {
	case Slice:
		return fmt.Sprintf("slice %d %d/%d %d", e.ChunkID, e.SliceID, e.NumSlices, e.Size) + fill(e.Fill)
	case RepairSlice:
		return fmt.Sprintf("slice %d %d/%d %d", e.ChunkID, e.SliceID, e.NumSlices, e.LastBytes) + fill(e.Fill)
	case Ack:
		return fmt.Sprintf("ack %d %s", e.ChunkID, runs(e.Acked))
	case RepairAck:
		return fmt.Sprintf("ack %d %d/%d:%d", e.ChunkID, e.Have, e.NumSlices, e.Top)
	}
	return ""
}

// runs writes many bits as 1*255.0, and ofRuns is the inverse.
func runs(bits string) string {
	const few = 12
	if len(bits) <= few {
		return bits
	}
	var parts []string
	for len(bits) > 0 {
		n := len(bits) - len(strings.TrimLeft(bits, bits[:1]))
		parts = append(parts, fmt.Sprintf("%s*%d", bits[:1], n))
		bits = bits[n:]
	}
	return strings.Join(parts, ".")
}

func ofRuns(w *conform.Words, text string) (bits string) {
	for part := range strings.SplitSeq(text, ".") {
		if bit, times, is := strings.Cut(part, "*"); is {
			part = strings.Repeat(bit, w.Size(times))
		}
		bits += part
	}
	return bits
}

// said are ROWS PACKETS chunk=SIZE ERROR =BITS|=SENT/HAVE/TOP !INCONSISTENT #CHUNK @DEADLINE.
func said(_ any, step conform.Step) (said conform.Said) {
	s := step.(Step)
	said.Rows = rows(s)
	for _, p := range s.Packets {
		said.Came = append(said.Came, item(p))
	}
	if s.Chunk.Is {
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("chunk=%d", s.Chunk.V.Size)))
	}
	if s.Error != "" {
		said.Came = append(said.Came, conform.Plain(s.Error))
	}
	known := runs(s.Acked.V + s.Received.V)
	switch {
	case s.Sent.Is:
		known = fmt.Sprintf("%d/%d/%d", s.Sent.V, s.Have.V, s.Top.V)
	case s.Have.Is:
		known = fmt.Sprintf("%d/%d", s.Have.V, s.Top.V)
	}
	if known != "" {
		said.Figures = []string{"=" + known}
	}
	said.Figures = append(said.Figures, fmt.Sprintf("#%d", s.ChunkID), conform.WriteDeadline(s.Deadline))
	if s.Inconsistent.V > 0 {
		said.Figures = append(said.Figures, fmt.Sprintf("!%d", s.Inconsistent.V))
	}
	return said
}

// item is a packet that was sent.
func item(p Packet) conform.Item {
	switch {
	case p.Type == typeSlice:
		return conform.Counted("", p.SliceID.V, fmt.Sprintf("/%d", p.NumSlices.V))
	case p.Acked.Is:
		return conform.Plain(fmt.Sprintf("%d:%s", p.ChunkID, runs(p.Acked.V)))
	}
	return conform.Plain(fmt.Sprintf("%d:%d/%d:%d", p.ChunkID, p.Have.V, p.NumSlices.V, p.Top.V))
}

// sendingRows are the rows that were taken for a packet that is sent, by the row that ended its poll.
var sendingRows = map[string]string{"S14": "S13", "T14": "T13", "R20": "R19", "R22": "R21", "R25": "R24", "U21": "U20", "U23": "U22", "U26": "U25"}

// rows are those that an event took.
func rows(s Step) (list []string) {
	if len(s.Packets) > 0 {
		list = append(list, sendingRows[s.Row])
	}
	if s.Row != "" {
		list = append(list, s.Row)
	}
	return list
}
