package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// want is what must come of a line. Row and packets are complete; the rest is
// compared where it is given, with the line's last step.
type want struct {
	row     string
	packets []string // a slice as ID or ID/NUM_SLICES:SIZE, an ack as ID:BITS
	bits    *string  // what is acked or received
	chunkID *int
	at      *string // the deadline
	chunk   string  // the size of the chunk that a read delivers
}

func (w *words) want(list []string) (e want) {
	for i, word := range list {
		size, isChunk := strings.CutPrefix(word, "chunk=")
		switch rest := word[1:]; {
		case i == 0:
			e.row = word
		case isChunk:
			e.chunk = size
		case word[0] == '=':
			bits := w.bits(rest)
			e.bits = &bits
		case word[0] == '#':
			id := w.number(rest)
			e.chunkID = &id
		case word[0] == '@':
			at := rest
			if at != never {
				at = strconv.FormatInt(w.time(at), 10)
			}
			e.at = &at
		default:
			e.packets = append(e.packets, w.packets(word)...)
		}
	}
	return e
}

const never = "never"

func (w *words) packets(word string) (list []string) {
	if id, bits, ok := strings.Cut(word, ":"); ok {
		if !strings.Contains(id, "/") {
			bits = w.bits(bits)
		}
		return []string{id + ":" + bits}
	}
	for _, id := range w.ids(word) {
		list = append(list, strconv.Itoa(id))
	}
	return list
}

// check compares the steps of a line with what it wants. The packets are those of
// all its steps, at most one each if there are many.
func (l *line) check(steps []contract.Step) error {
	var got []contract.Sent
	for _, s := range steps {
		if s.Row != l.want.row {
			return fmt.Errorf("row %s", s.Row)
		}
		if len(steps) > 1 && len(s.Packets) > 1 {
			return fmt.Errorf("%d packets at once", len(s.Packets))
		}
		got = append(got, s.Packets...)
	}
	if !slices.EqualFunc(got, l.want.packets, isPacket) {
		return fmt.Errorf("packets %s", writePackets(got))
	}
	return l.want.checkAfter(steps[len(steps)-1])
}

func (e *want) checkAfter(s contract.Step) error {
	bits := s.Acked
	if bits == nil {
		bits = s.Received
	}
	switch {
	case e.bits != nil && *e.bits != *bits:
		return fmt.Errorf("bits %s", *bits)
	case e.chunkID != nil && *e.chunkID != int(s.ChunkID):
		return fmt.Errorf("chunk id %d", s.ChunkID)
	case e.at != nil && *e.at != writeTime(s.DeadlineUS):
		return fmt.Errorf("deadline %s", writeTime(s.DeadlineUS))
	case e.chunk != "" && (s.Chunk == nil || strconv.Itoa(s.Chunk.Size) != e.chunk), e.chunk == "" && s.Chunk != nil:
		return fmt.Errorf("chunk %+v", s.Chunk)
	}
	return nil
}

func isPacket(p contract.Sent, want string) bool {
	if p.Type == contract.TypeSlice && !strings.Contains(want, "/") {
		return strconv.Itoa(*p.SliceID) == want
	}
	return writePacket(p) == want
}

func writePacket(p contract.Sent) string {
	if p.Type == contract.TypeAck {
		return fmt.Sprintf("%d:%s", p.ChunkID, *p.Acked)
	}
	return fmt.Sprintf("%d/%d:%d", *p.SliceID, *p.NumSlices, *p.Size)
}

func writePackets(list []contract.Sent) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(writePacket(p) + " ")
	}
	return "[" + b.String() + "]"
}

func writeTime(at *int64) string {
	if at == nil {
		return never
	}
	return strconv.FormatInt(*at, 10)
}
