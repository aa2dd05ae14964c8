package connection

import (
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// Stats has the counts of a connection so far.
type Stats struct {
	Counts

	Packets  packet.Stats
	Channels channel.MuxStats
	Chunks   lanes.Stats // zeros without lanes
}

// Counts is what a connection counts itself.
type Counts struct {
	DatagramsSent, DatagramsReceived int64 // received: those whose envelope was opened
	BytesSent, BytesReceived         int64 // of them
	Refused                          int64 // datagrams whose envelope or payload was refused

	ECTSent, CEReceived, CEReported int64 // datagrams that went with ECT0, came with CE, and came there with it

	refused [len(codes)]int64
}

func (s *Counts) refuse(err *Error) { s.refused[slices.Index(codes[:], err.Code())]++ }

// RefusedRecords returns how many payloads were refused for a record of the connection with a
// code; for the records of channels see MuxStats.
func (s *Counts) RefusedRecords(code core.Code) int64 {
	if i := slices.Index(codes[:], code); i >= 0 {
		return s.refused[i]
	}
	return 0
}

// Stats returns the counts so far.
func (c *Conn) Stats() Stats {
	return Stats{Counts: c.counts, Packets: c.packets.Stats(), Channels: c.mux.Stats(), Chunks: c.ChunkStats()}
}

// Counts returns the fields of Stats that cost nothing to know.
func (c *Conn) Counts() Counts { return c.counts }

// SenderStats returns the counts of what a reliable channel sent; none for another id.
func (c *Conn) SenderStats(id uint8) channel.SenderStats { return c.mux.SenderStats(id) }

// ReceiverStats returns the counts of what a reliable channel received; none for another id.
func (c *Conn) ReceiverStats(id uint8) channel.ReceiverStats { return c.mux.ReceiverStats(id) }
