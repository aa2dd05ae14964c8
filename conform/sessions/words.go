package sessions

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// ClientWords and ServerWords say what came of a step: rows, messages that were sent, and figures.
var (
	ClientWords = conform.Dialect{Step: func(_ any, step conform.Step) conform.Said {
		s := step.(ClientStep)
		said := conform.Said{Rows: s.Rows, Figures: []string{s.State}}
		for _, b := range s.Datagrams {
			said.Came = append(said.Came, messageWord(b))
		}
		if s.Link.Is {
			said.Came = append(said.Came, conform.Counted("made:", s.Link.V.Link, ""))
		}
		if s.Ended.Is {
			said.Figures = append(said.Figures, fmt.Sprintf("ended:%s:%d", s.Ended.V.Why, s.Ended.V.Reason))
		}
		said.Figures = append(said.Figures, conform.WriteDeadline(s.Deadline))
		return refusedWord(said, s.Refused)
	}}
	ServerWords = conform.Dialect{Step: func(_ any, step conform.Step) conform.Said {
		s := step.(ServerStep)
		said := conform.Said{Rows: s.Rows, Figures: []string{fmt.Sprintf("%d+%d", s.Living, s.Ended), conform.WriteDeadline(s.Deadline)}}
		if s.Answer.Is {
			said.Came = append(said.Came, messageWord(s.Answer.V))
		}
		if s.Counted.Is {
			said.Came = append(said.Came, conform.Plain(s.Counted.V))
		}
		return refusedWord(said, s.Refused)
	}}
)

func messageWord(b conform.Bytes) conform.Item {
	m, err := sessionoracle.Decode([]byte(b))
	if err != nil {
		return conform.Plain(">?")
	}
	return conform.Plain(">" + m.Type)
}

func refusedWord(s conform.Said, r conform.Opt[Refused]) conform.Said {
	if r.Is {
		s.Came = append(s.Came, conform.Plain(fmt.Sprintf("%s,%d", r.V.Error, r.V.At)))
	}
	return s
}
