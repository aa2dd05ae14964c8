package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// wanted is what a line's last words say of its last step.
type wanted struct {
	row     string
	packets []string
	after   map[byte]string // '=', '@' or '#', and what follows it
	chunk   string          // the size of the chunk that a read delivers
}

func (l *scriptLine) wanted() wanted {
	w := wanted{after: map[byte]string{}}
	for i, word := range l.want {
		size, isChunk := strings.CutPrefix(word, "chunk=")
		switch {
		case i == 0:
			w.row = word
		case isChunk:
			w.chunk = size
		case strings.ContainsRune("=@#", rune(word[0])):
			w.after[word[0]] = word[1:]
		case strings.Contains(word, ":"):
			id, bits, _ := strings.Cut(word, ":")
			if !strings.Contains(id, "/") {
				bits = parseBits(bits)
			}
			w.packets = append(w.packets, id+":"+bits)
		default:
			for _, id := range parseIDs(word) {
				w.packets = append(w.packets, strconv.Itoa(id))
			}
		}
	}
	return w
}

// checkLine compares the steps of a line with what it wants. The packets are
// those of all its steps, at most one for each if there are many.
func checkLine(l *scriptLine, steps []testvectors.Step) error {
	w := l.wanted()
	var got []testvectors.Packet
	for _, s := range steps {
		if s.Row != w.row {
			return fmt.Errorf("row %s", s.Row)
		}
		if len(steps) > 1 && len(s.Packets) > 1 {
			return fmt.Errorf("%d packets at once", len(s.Packets))
		}
		got = append(got, s.Packets...)
	}
	if !slices.EqualFunc(got, w.packets, isPacket) {
		return fmt.Errorf("packets %s", drawPackets(got))
	}
	return w.checkAfter(steps[len(steps)-1])
}

func (w *wanted) checkAfter(s testvectors.Step) error {
	if bits, ok := w.after['=']; ok && parseBits(bits) != stepBits(s) {
		return fmt.Errorf("bits %s", stepBits(s))
	}
	if id, ok := w.after['#']; ok && number(id) != int(s.ChunkID) {
		return fmt.Errorf("chunk id %d", s.ChunkID)
	}
	if at, ok := w.after['@']; ok {
		if never := at == "never"; never != (s.DeadlineUS == nil) || !never && parseTime(at) != *s.DeadlineUS {
			return fmt.Errorf("deadline %s", drawTime(s.DeadlineUS))
		}
	}
	if w.chunk != "" && (s.Chunk == nil || s.Chunk.Size != number(w.chunk)) || w.chunk == "" && s.Chunk != nil {
		return fmt.Errorf("chunk %+v", s.Chunk)
	}
	return nil
}

func stepBits(s testvectors.Step) string {
	if s.Acked != nil {
		return *s.Acked
	}
	return *s.Received
}

func isPacket(p testvectors.Packet, want string) bool {
	if p.Type == "slice" && !strings.Contains(want, "/") {
		return strconv.Itoa(*p.SliceID) == want
	}
	return drawPacket(p) == want
}

func drawPacket(p testvectors.Packet) string {
	if p.Type == "ack" {
		return fmt.Sprintf("%d:%s", p.ChunkID, *p.Acked)
	}
	return fmt.Sprintf("%d/%d:%d", *p.SliceID, *p.NumSlices, *p.Size)
}

func drawPackets(list []testvectors.Packet) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(drawPacket(p) + " ")
	}
	return "[" + b.String() + "]"
}

func drawTime(at *int64) string {
	if at == nil {
		return "never"
	}
	return strconv.FormatInt(*at, 10)
}
