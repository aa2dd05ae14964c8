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
	forged  int     // with repair slices
}

func (w *words) want(list []string) (e want) {
	for i, word := range list {
		size, isChunk := strings.CutPrefix(word, "chunk=")
		switch rest := word[1:]; {
		case i == 0 && word == noRow:
		case i == 0:
			e.row = word
		case isChunk:
			e.chunk = size
		case word[0] == '!':
			e.forged = w.number(rest)
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

const (
	never = "never"
	noRow = "-" // before the first one
)

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

// outcome is a step as scripts see it. A packet has a short form, if it has one, and a long one.
type outcome struct {
	row     string
	packets [][2]string
	bits    string // what is acked or received
	chunkID uint16
	at      *int64
	chunk   *contract.Content
	forged  int // of a receiver with repair slices: how many it found inconsistent
}

func ofStep(s contract.Step) outcome {
	o := outcome{row: s.Row, chunkID: s.ChunkID, at: s.DeadlineUS, chunk: s.Chunk}
	if s.Acked != nil {
		o.bits = *s.Acked
	} else {
		o.bits = *s.Received
	}
	for _, p := range s.Packets {
		if p.Type == contract.TypeAck {
			o.packets = append(o.packets, [2]string{"", fmt.Sprintf("%d:%s", p.ChunkID, *p.Acked)})
		} else {
			o.packets = append(o.packets, [2]string{strconv.Itoa(*p.SliceID), fmt.Sprintf("%d/%d:%d", *p.SliceID, *p.NumSlices, *p.Size)})
		}
	}
	return o
}

// check compares the steps of a line with what it wants. The packets are those of
// all its steps, at most one each if there are many.
func (e *want) check(steps []outcome) error {
	var got [][2]string
	for _, s := range steps {
		if s.row != e.row {
			return fmt.Errorf("row %s", s.row)
		}
		if len(steps) > 1 && len(s.packets) > 1 {
			return fmt.Errorf("%d packets at once", len(s.packets))
		}
		got = append(got, s.packets...)
	}
	if !slices.EqualFunc(got, e.packets, func(p [2]string, want string) bool { return p[0] == want || p[1] == want }) {
		return fmt.Errorf("packets %s", writePackets(got))
	}
	return e.checkAfter(steps[len(steps)-1])
}

func (e *want) checkAfter(s outcome) error {
	switch {
	case e.bits != nil && *e.bits != s.bits:
		return fmt.Errorf("bits %s", s.bits)
	case e.chunkID != nil && *e.chunkID != int(s.chunkID):
		return fmt.Errorf("chunk id %d", s.chunkID)
	case e.at != nil && *e.at != writeTime(s.at):
		return fmt.Errorf("deadline %s", writeTime(s.at))
	case e.chunk != "" && (s.chunk == nil || strconv.Itoa(s.chunk.Size) != e.chunk), e.chunk == "" && s.chunk != nil:
		return fmt.Errorf("chunk %+v", s.chunk)
	case e.forged != s.forged:
		return fmt.Errorf("inconsistent %d", s.forged)
	}
	return nil
}

func writePackets(list [][2]string) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p[1] + " ")
	}
	return "[" + b.String() + "]"
}

func writeTime(at *int64) string {
	if at == nil {
		return never
	}
	return strconv.FormatInt(*at, 10)
}
