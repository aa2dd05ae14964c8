package channels

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// recordOfWords reads message SEQUENCES [SIZE], fragment BEGIN IDS/COUNT [SIZE OF THE LAST],
// skip FIRST COUNT and status NEXT.
func recordOfWords(w *conform.Words, config any, word string, args []string) conform.Event {
	c, r := config.(ReceiverConfig), channeloracle.Record{Type: word}
	arg := arguments(w, args)
	switch word {
	case channeloracle.Message:
		n := w.Number(arg(0, ""))
		r.Sequence, r.Data = n, conform.Content(int(n), w.Size(arg(1, "1")))
	case channeloracle.Fragment:
		ids, count, _ := strings.Cut(arg(1, ""), "/")
		r.Index, r.Count = w.Number(ids), w.Time(count)
		size := int(c.Data)
		if r.Index == r.Count-1 {
			size = w.Size(arg(2, "1"))
		}
		n := w.Number(arg(0, "")) + r.Index
		r.Sequence, r.Data = n, conform.Content(int(n), size)
	case channeloracle.Skip:
		r.Sequence, r.Count = w.Number(arg(0, "")), w.Time(arg(1, ""))
	case channeloracle.Status:
		r.Sequence = w.Number(arg(0, ""))
	default:
		return nil
	}
	return Record{recordBytes(w, c.Format, r)}
}

// arguments returns the words of an event by their places.
func arguments(w *conform.Words, args []string) func(n int, otherwise string) string {
	return func(n int, otherwise string) string {
		switch {
		case n < len(args):
			return args[n]
		case otherwise == "":
			w.Bad("argument", strings.Join(args, " "))
		}
		return otherwise
	}
}

// recordBytes encodes a record of a script. The wire has the low 16 bits of a sequence.
func recordBytes(w *conform.Words, f Format, r channeloracle.Record) conform.Bytes {
	if r.Sequence = int64(uint16(r.Sequence)); w.Err != nil {
		return ""
	}
	b, err := channeloracle.Encode(f.oracle(), []channeloracle.Record{r})
	if err != nil {
		w.Bad("record", err.Error())
	}
	return conform.Bytes(b)
}

// wordsOfRecord is the inverse.
func wordsOfRecord(config any, e conform.Event) string {
	record, is := e.(Record)
	if !is {
		return ""
	}
	c := config.(ReceiverConfig)
	list, err := channeloracle.Decode(c.oracle(), []byte(record.Hex))
	if err != nil || len(list) != 1 {
		return ""
	}
	switch r := list[0]; r.Type {
	case channeloracle.Message:
		return fmt.Sprintf("%s %d %d", r.Type, r.Sequence, len(r.Data))
	case channeloracle.Fragment:
		text := fmt.Sprintf("%s %d %d/%d", r.Type, r.Sequence-r.Index, r.Index, r.Count)
		if r.Index == r.Count-1 {
			text += " " + strconv.Itoa(len(r.Data))
		}
		return text
	case channeloracle.Skip:
		return fmt.Sprintf("%s %d %d", r.Type, r.Sequence, r.Count)
	case channeloracle.Status:
		return fmt.Sprintf("%s %d", r.Type, r.Sequence)
	}
	return ""
}

// receiverSaid are ROW =SEQUENCE:SIZE !SKIPPED >BASE/ROOM:MISSING FAILED @DEADLINE.
func receiverSaid(config any, step conform.Step) (said conform.Said) {
	s, c := step.(ReceiverStep), config.(ReceiverConfig)
	if s.Row.Is {
		said.Rows = []string{s.Row.V}
	}
	switch got := s.Read.V; {
	case got.Skipped:
		said.Came = append(said.Came, conform.Counted("!", int64(got.Sequence), ""))
	case s.Read.Is:
		said.Came = append(said.Came, conform.Counted("=", int64(got.Sequence), fmt.Sprintf(":%d", len(got.Data))))
	}
	if s.Report.Is {
		said.Came = append(said.Came, itemOf(c.Format, s.Report.V))
	}
	said.Figures = figures(s.State, s.Deadline)
	return said
}

func figures(state string, deadline conform.Opt[int64]) (list []string) {
	if state == channeloracle.StateFailed {
		list = append(list, state)
	}
	return append(list, conform.WriteDeadline(deadline))
}

// itemOf is a record that was sent.
func itemOf(f Format, b conform.Bytes) conform.Item {
	list, err := channeloracle.Decode(f.oracle(), []byte(b))
	if err != nil || len(list) != 1 {
		return conform.Plain(fmt.Sprintf(">%x", string(b)))
	}
	switch r := list[0]; r.Type {
	case channeloracle.Message:
		return conform.Counted(">", r.Sequence, "")
	case channeloracle.Fragment:
		return conform.Counted(fmt.Sprintf(">%d.", uint16(r.Sequence-r.Index)), r.Index, "")
	case channeloracle.Skip:
		return conform.Plain(fmt.Sprintf("!%d/%d", r.Sequence, r.Count))
	case channeloracle.Status:
		return conform.Plain(fmt.Sprintf("?%d", r.Sequence))
	default:
		missing := missingOf(r)
		for i := range missing {
			missing[i] = int64(uint16(missing[i]))
		}
		return conform.Plain(">" + reportWord(r, missing))
	}
}

// missingOf is what a report names, without a wrap.
func missingOf(r channeloracle.Record) []int64 {
	missing := channeloracle.Named(&r)
	for i := range missing {
		missing[i] += r.Sequence
	}
	return missing
}

// reportWord writes BASE/ROOM[:MISSING].
func reportWord(r channeloracle.Record, missing []int64) string {
	text := fmt.Sprintf("%d/%d", r.Sequence, r.Room)
	if len(missing) > 0 {
		text += ":" + conform.WriteRanges(missing)
	}
	return text
}

// senderEventOfWords reads send SIZE [life=TIME] and report NUMBER BASE/ROOM[:MISSING] [ack=N].
func senderEventOfWords(w *conform.Words, config any, word string, args []string) conform.Event {
	arg := arguments(w, args)
	switch word {
	case "send":
		e := Send{Data: conform.Bytes(conform.Content(w.Position, w.Size(arg(0, ""))))}
		if len(args) > 1 {
			e.Lifetime = conform.Some(w.Time(strings.TrimPrefix(args[1], "life=")))
		}
		return e
	case "report":
		e := Report{Number: w.Number(arg(0, "")), Ack: -1, Hex: reportOfWord(w, config.(SenderConfig).Format, arg(1, ""))}
		if len(args) > 2 {
			e.Ack = w.Time(strings.TrimPrefix(args[2], "ack="))
		}
		return e
	case "path":
		if len(args) == 0 {
			w.Bad("argument", "path")
		}
	}
	return nil
}

// reportOfWord reads BASE/ROOM[:MISSING].
func reportOfWord(w *conform.Words, f Format, text string) conform.Bytes {
	base, rest, _ := strings.Cut(text, "/")
	room, list, named := strings.Cut(rest, ":")
	var missing []int64
	if named {
		missing = w.List(list)
	}
	return recordBytes(w, f, channeloracle.Record{
		Type: channeloracle.Report, Sequence: w.Time(base), Room: w.Time(room), Groups: channeloracle.Groups(missing, channeloracle.MostGroups),
	})
}

// wordsOfSenderEvent is the inverse.
func wordsOfSenderEvent(config any, e conform.Event) (text string) {
	switch e := e.(type) {
	case Send:
		text = fmt.Sprintf("send %d", len(e.Data))
		if e.Lifetime.Is {
			text += " life=" + conform.WriteTime(e.Lifetime.V)
		}
	case Report:
		list, err := channeloracle.Decode(config.(SenderConfig).oracle(), []byte(e.Hex))
		if err != nil || len(list) != 1 || list[0].Type != channeloracle.Report {
			return ""
		}
		text = fmt.Sprintf("report %d %s", e.Number, reportWord(list[0], missingOf(list[0])))
		if e.Ack != -1 {
			text += fmt.Sprintf(" ack=%d", e.Ack)
		}
	}
	return text
}

// senderSaid are ROWS RECORDS refused=CODE FAILED base=N limit=N @DEADLINE.
func senderSaid(config any, step conform.Step) (said conform.Said) {
	s := step.(SenderStep)
	for _, b := range s.Records {
		said.Came = append(said.Came, itemOf(config.(SenderConfig).Format, b))
	}
	if s.Refused.Is {
		said.Came = append(said.Came, conform.Plain("refused="+s.Refused.V))
	}
	said.Rows = s.Rows
	said.Figures = append([]string{fmt.Sprintf("base=%d", s.Base), fmt.Sprintf("limit=%d", s.Limit)}, figures(s.State, s.Deadline)...)
	return said
}
