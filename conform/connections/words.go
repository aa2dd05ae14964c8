package connections

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// dialect writes datagrams by the records in them, and says what came of a step: rows, the records of
// datagrams that were sent, messages that were read, and figures.
var dialect = conform.Dialect{Event: eventOfWords, Say: wordsOfEvent, Step: said}

const (
	payloads  = "connection-payload"
	mostLanes = 16 // what an end takes is its machine's
)

func (c *Config) format() connectionoracle.Format {
	return connectionoracle.Format{Lanes: mostLanes, Repair: c.Profile.Rule.Is, ECN: c.Extensions&ECN != 0, Clock: c.Extensions&Clocks != 0}
}

// incoming is the direction of what an end gets, outgoing of what it sends.
func (c *Config) incoming() sessionoracle.Direction {
	return sessionoracle.Direction{Mode: c.Mode, Key: []byte(c.ReceiveKey), Link: c.Link}
}

func (c *Config) outgoing() sessionoracle.Direction {
	return sessionoracle.Direction{Mode: c.Mode, Key: []byte(c.SendKey), Link: c.Link}
}

// eventOfWords reads packet COUNTER SEQUENCE ACK BITS [ecn=FIELD] RECORD..., send CHANNEL SIZE [life=TIME]
// and close CODE TEXT.
func eventOfWords(w *conform.Words, config any, word string, args []string) conform.Event {
	c := config.(Config)
	switch {
	case word == "packet" && len(args) > 4:
		e := Receive{}
		counter, h := w.Number(args[0]), packetoracle.Header{Sequence: uint16(w.Number(args[1])), Ack: uint16(w.Number(args[2]))}
		bits, err := strconv.ParseUint(args[3], 16, 32)
		if err != nil {
			w.Bad("bits", args[3])
		}
		h.AckBits = uint32(bits)
		if field, is := strings.CutPrefix(args[4], "ecn="); is {
			e.ECN, args = field, args[1:]
		}
		e.Hex = conform.Bytes(c.incoming().Seal(counter, packetoracle.EncodeRegular(h, c.payloadOf(w, args[4:]))))
		return e
	case word == "send" && len(args) > 1 && len(args[1]) < 8: // else the bytes themselves
		e := Send{Channel: w.Number(args[0]), Data: conform.Bytes(conform.Content(w.Position, w.Size(args[1])))}
		if len(args) > 2 {
			e.Lifetime = conform.Some(w.Time(strings.TrimPrefix(args[2], "life=")))
		}
		return e
	case word == "close" && len(args) > 0:
		return Close{w.Number(args[0]), strings.Join(args[1:], " ")}
	}
	return nil
}

// payloadOf reads records, as the contract has them.
func (c *Config) payloadOf(w *conform.Words, records []string) []byte {
	list := []byte("[" + strings.Join(records, ",") + "]")
	p := c.format().Parameters()
	v, err := layout.FromJSON(payloads, map[string]json.RawMessage{"records": list}, p)
	if err != nil {
		w.Bad("records", string(list))
		return nil
	}
	b, refused := layout.Encode(payloads, v, p)
	if refused != nil {
		w.Bad("records", refused.Code)
	}
	return b
}

// wordsOfEvent is the inverse.
func wordsOfEvent(config any, e conform.Event) string {
	c := config.(Config)
	switch e := e.(type) {
	case Send:
		text := fmt.Sprintf("send %d %d", e.Channel, len(e.Data))
		if e.Lifetime.Is {
			text += " life=" + conform.WriteTime(e.Lifetime.V)
		}
		return text
	case Close:
		return fmt.Sprintf("close %d %s", e.Code, e.Text)
	case Receive:
		counter, p, records := c.opened(c.incoming(), e.Hex)
		if len(records) == 0 {
			return ""
		}
		text := fmt.Sprintf("packet %d %d %d %x", counter, p.Header.Sequence, p.Header.Ack, p.Header.AckBits)
		if e.ECN != "" {
			text += " ecn=" + e.ECN
		}
		for _, r := range records {
			text += " " + strings.ReplaceAll(string(r), " ", `\u0020`)
		}
		return text
	}
	return ""
}

// opened are the counter, the header and the records of a datagram; none if it has something else.
func (c *Config) opened(d sessionoracle.Direction, datagram conform.Bytes) (counter int64, p packetoracle.Packet, records []json.RawMessage) {
	counter, body, err := sessionoracle.NewReceiver(d).Open([]byte(datagram))
	if err != nil {
		return counter, p, nil
	}
	if p, err = packetoracle.Decode(packetoracle.Limits{FragmentSize: 1024, MaxFragments: 16}, body); err != nil || p.IsFragment {
		return counter, p, nil
	}
	parameters := c.format().Parameters()
	v, refused := layout.Decode(payloads, p.Data, parameters, nil)
	if refused != nil {
		return counter, p, nil
	}
	for _, m := range layout.JSON(payloads, v, parameters) {
		for _, r := range m.Value.([]any) {
			text, err := json.Marshal(r)
			if err != nil {
				panic(err) // values are strings, numbers and lists
			}
			records = append(records, text)
		}
	}
	return counter, p, records
}

func said(config any, step conform.Step) conform.Said {
	s, c := step.(Step), config.(Config)
	said := conform.Said{Rows: s.Rows, Figures: []string{s.State}}
	for i, b := range s.Datagrams {
		word := ">"
		if s.ECN.Is && s.ECN.V.ECT[i] {
			word += "ect:"
		}
		said.Came = append(said.Came, itemOf(word+c.sent(b)))
	}
	switch {
	case s.Read.Is && s.Read.V.Skipped:
		said.Came = append(said.Came, conform.Counted("!", int64(s.Read.V.Sequence), ""))
	case s.Read.Is:
		said.Came = append(said.Came, conform.Counted("<", int64(s.Read.V.Sequence), fmt.Sprintf(":%d", len(s.Read.V.Data.V))))
	case s.Chunk.Is:
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("chunk:%d", s.Chunk.V.Size)))
	}
	said = said.With(s.Refused)
	if e := s.Ended.V; s.Ended.Is {
		word := "ended:" + e.Why
		if e.Code.Is {
			word += fmt.Sprintf(":%d:%s", e.Code.V, map[bool]string{true: "remote", false: "local"}[e.Remote.V])
		}
		said.Figures = append(said.Figures, word)
	}
	if s.ECN.Is && s.ECN.V.Marked != 0 {
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("marked=%d", s.ECN.V.Marked)))
	}
	if c := s.Clock.V; s.Clock.Is {
		said.Figures = append(said.Figures, fmt.Sprintf("rtt=%d:%d..%d", c.RTT, c.Low, c.High))
	}
	said.Figures = append(said.Figures, conform.WriteDeadline(s.Deadline))
	return said
}

// itemOf is a datagram that was sent. One of a single slice has its number.
func itemOf(word string) conform.Item {
	at := strings.LastIndexByte(word, '.') + 1
	if n, err := strconv.ParseInt(word[at:], 10, 64); err == nil && at > 0 && !strings.Contains(word, "+") {
		return conform.Counted(word[:at], n, "")
	}
	return conform.Plain(word)
}

// sent are the records of a datagram that an end sends: each type once, with its channel or lane and
// slice, and *N for N of them behind each other.
func (c *Config) sent(datagram conform.Bytes) string {
	_, p, records := c.opened(c.outgoing(), datagram)
	if p.IsFragment {
		return fmt.Sprintf("fragment:%d/%d", p.ID, p.Count)
	}
	var words []string
	for i := 0; i < len(records); {
		word, n := recordWord(records[i]), 1
		for i+n < len(records) && recordWord(records[i+n]) == word {
			n++
		}
		if i += n; n > 1 {
			word += fmt.Sprintf("*%d", n)
		}
		words = append(words, word)
	}
	return strings.Join(words, "+")
}

func recordWord(text json.RawMessage) string {
	var r struct {
		Type          string
		Channel, Lane *int64
		SliceID       *int64 `json:"slice_id"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		panic(err) // of a layout
	}
	for _, n := range []*int64{r.Channel, r.Lane} {
		if n != nil {
			r.Type += strconv.FormatInt(*n, 10)
		}
	}
	if r.SliceID != nil {
		r.Type += fmt.Sprintf(".%d", *r.SliceID)
	}
	return r.Type
}
