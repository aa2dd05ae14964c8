package sessions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// clientWords and serverWords write messages by their fields, and say what came of a step: rows,
// messages that were sent, and figures.
var (
	clientWords = conform.Dialect{Event: eventOfWords, Say: wordsOfEvent, Step: clientSaid}
	serverWords = conform.Dialect{Event: eventOfWords, Say: wordsOfEvent, Step: serverSaid}
)

const messages = "session-message"

// usualFields are the fields of a message that only repeat the configuration: they need no word.
func usualFields(config any) (fields map[string]json.RawMessage) {
	text, err := json.Marshal(config)
	if err != nil || json.Unmarshal(text, &fields) != nil {
		panic(err) // it is numbers and strings
	}
	return fields
}

// eventOfWords reads receive [FROM] type=TYPE KEY=VALUE.
func eventOfWords(w *conform.Words, config any, word string, args []string) conform.Event {
	at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "type=") })
	if word != "receive" || at < 0 {
		return nil
	}
	fields := usualFields(config)
	maps.Copy(fields, layout.FromWords(args[at:]))
	v, err := layout.FromJSON(messages, fields, nil)
	if err != nil {
		w.Bad("message", strings.Join(args, " "))
		return nil
	}
	b, refused := layout.Encode(messages, v, nil)
	if refused != nil {
		w.Bad("message", refused.Code)
	}
	if _, server := config.(ServerConfig); server {
		return ReceiveFrom{From: strings.Join(args[:at], ""), Hex: conform.Bytes(b)}
	}
	return Receive{conform.Bytes(b)}
}

// wordsOfEvent is the inverse.
func wordsOfEvent(config any, e conform.Event) string {
	words, b := []string{"receive"}, conform.Bytes("")
	switch e := e.(type) {
	case Receive:
		b = e.Hex
	case ReceiveFrom:
		words, b = append(words, e.From), e.Hex
	}
	v, refused := layout.Decode(messages, []byte(b), nil, nil)
	if refused != nil {
		return ""
	}
	usual := usualFields(config)
	fields := slices.DeleteFunc(layout.JSON(messages, v, nil), func(m layout.Member) bool {
		text, err := json.Marshal(m.Value)
		return err == nil && string(text) == string(usual[m.Name])
	})
	return strings.Join(append(words, fields.Words()...), " ")
}

func clientSaid(_ any, step conform.Step) conform.Said {
	s := step.(ClientStep)
	said := conform.Said{Rows: s.Rows, Figures: []string{s.State}}
	for _, b := range s.Datagrams {
		said.Came = append(said.Came, messageWord(b))
	}
	if s.Link.Is {
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("made:%d", s.Link.V.Link)))
	}
	if e := s.Ended.V; s.Ended.Is {
		said.Figures = append(said.Figures, fmt.Sprintf("ended:%s:%d%s", e.Why, e.Reason, unproven(!e.Proven && e.Reason != 0)))
	}
	said.Figures = append(said.Figures, conform.WriteDeadline(s.Deadline))
	return said.With(s.Refused)
}

func serverSaid(_ any, step conform.Step) conform.Said {
	s := step.(ServerStep)
	said := conform.Said{Rows: s.Rows, Figures: []string{fmt.Sprintf("%d+%d", s.Living, s.Ended), conform.WriteDeadline(s.Deadline)}}
	if s.Answer.Is {
		said.Came = append(said.Came, messageWord(s.Answer.V))
	}
	if s.Entry.Is {
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("%s:%d", s.Entry.V.State, s.Entry.V.Link)))
	}
	if s.Counted.Is {
		said.Came = append(said.Came, conform.Plain(s.Counted.V))
	}
	return said.With(s.Refused)
}

// messageWord is a message that was sent, with the reason of a refusal.
func messageWord(b conform.Bytes) conform.Item {
	m, err := sessionoracle.Decode([]byte(b))
	switch {
	case err != nil:
		return conform.Plain(">?")
	case m.Type == sessionoracle.TypeRefused:
		return conform.Plain(fmt.Sprintf(">%s:%d%s", m.Type, m.Reason, unproven(strings.Trim(string(m.Proof), "\x00") == "")))
	}
	return conform.Plain(">" + m.Type)
}

func unproven(is bool) string { return map[bool]string{true: "?"}[is] }
