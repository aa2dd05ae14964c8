package chunks

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
)

// said are ROW PACKETS chunk=SIZE ERROR =BITS|=SENT/HAVE/TOP !INCONSISTENT #CHUNK @DEADLINE.
func said(_ any, step conform.Step) (said conform.Said) {
	s := step.(Step)
	if s.Row != "" {
		said.Rows = []string{s.Row}
	}
	for _, p := range s.Packets {
		said.Came = append(said.Came, item(p))
	}
	if s.Chunk.Is {
		said.Came = append(said.Came, conform.Plain(fmt.Sprintf("chunk=%d", s.Chunk.V.Size)))
	}
	if s.Error != "" {
		said.Came = append(said.Came, conform.Plain(s.Error))
	}
	known := s.Acked.V + s.Received.V
	switch {
	case s.Sent.Is:
		known = fmt.Sprintf("%d/%d/%d", s.Sent.V, s.Have.V, s.Top.V)
	case s.Have.Is:
		known = fmt.Sprintf("%d/%d", s.Have.V, s.Top.V)
	}
	said.Figures = []string{"=" + known, fmt.Sprintf("#%d", s.ChunkID), conform.WriteDeadline(s.Deadline)}
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
		return conform.Plain(fmt.Sprintf("%d:%s", p.ChunkID, p.Acked.V))
	}
	return conform.Plain(fmt.Sprintf("%d:%d/%d:%d", p.ChunkID, p.Have.V, p.NumSlices.V, p.Top.V))
}
