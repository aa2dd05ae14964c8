package chunks

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
)

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

// sendingRows are the rows that a packet that goes out took, by the row that ended its poll.
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
