package connections

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
)

// Words say what came of a step: rows, how many datagrams, what was read, and figures.
var Words = conform.Dialect{Step: func(_ any, step conform.Step) conform.Said {
	s := step.(Step)
	said := conform.Said{Rows: s.Rows, Figures: []string{s.State}}
	if n := len(s.Datagrams); n > 0 {
		said.Came = append(said.Came, conform.Counted(">", int64(n), ""))
	}
	switch {
	case s.Read.Is && s.Read.V.Skipped:
		said.Came = append(said.Came, conform.Counted("!", int64(s.Read.V.Sequence), ""))
	case s.Read.Is:
		said.Came = append(said.Came, conform.Counted("<", int64(s.Read.V.Sequence), fmt.Sprintf(":%d", len(s.Read.V.Data.V))))
	case s.Chunk.Is:
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("chunk:%d", s.Chunk.V.Size)))
	}
	if s.Refused.Is {
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("%s,%d", s.Refused.V.Error, s.Refused.V.At)))
	}
	if s.Ended.Is {
		said.Figures = append(said.Figures, "ended:"+s.Ended.V.Why)
	}
	said.Figures = append(said.Figures, conform.WriteDeadline(s.Deadline))
	return said
}}
