package inspect

import (
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/connection"
)

// formats are what the ends of a connection agreed on, as far as the records need it.
type formats struct {
	records  connection.Format
	channels channel.Format
}

// message is a record, of a channel or of a connection.
type message struct {
	channel    channel.Record
	connection connection.Record
	of         bool // of a connection
}

// decodeRecords decodes a payload whole (CXR-5), and returns its records as far as they are sound.
// With no lanes and no connection the records 7 to 10 do not exist.
func (f *formats) decodeRecords(payload []byte, inConnection bool) (list []message, err error) {
	for at, more := 0, true; more; more = at < len(payload) {
		var m message
		if m.of = inConnection && f.records.IsRecord(payload, at); m.of {
			at, err = f.records.Decode(payload, at, &m.connection)
		} else {
			at, err = f.channels.Decode(payload, at, &m.channel)
		}
		if err != nil {
			return list, err
		}
		list = append(list, m)
	}
	return list, nil
}

func (m *message) String() string {
	if !m.of {
		return channelSummary(&m.channel)
	}
	switch r := &m.connection; r.Type {
	case connection.TypeClose:
		return fmt.Sprintf("close, code %d %q", r.Code, r.Text)
	case connection.TypeECN:
		return fmt.Sprintf("ECN: %d arrived, %d congested", r.Marks.Arrived, r.Marks.Congested)
	case connection.TypeClock:
		return fmt.Sprintf("clock: sent at %d us", r.Clock.Sent)
	}
	c := m.chunk()
	return fmt.Sprintf("lane %d %s", m.connection.Lane, describe(&c))
}

func channelSummary(r *channel.Record) string {
	switch r.Type {
	case channel.TypePad:
		return "pad"
	case channel.TypeUnreliable:
		return fmt.Sprintf("channel %d unreliable, %s", r.Channel, count(len(r.Data), "byte"))
	case channel.TypeFragment:
		return fmt.Sprintf("channel %d fragment %d of %d (sequence %d), %s", r.Channel, r.Index, r.Count, r.Sequence, count(len(r.Data), "byte"))
	case channel.TypeMessage:
		return fmt.Sprintf("channel %d message %d, %s", r.Channel, r.Sequence, count(len(r.Data), "byte"))
	case channel.TypeReport:
		return fmt.Sprintf("channel %d report: all below %d came, %s of missing ones", r.Channel, r.Sequence, count(len(r.Groups), "group"))
	}
	return fmt.Sprintf("channel %d %v %d", r.Channel, r.Type, r.Sequence)
}

// chunk returns the slice or ack of a record that has one.
func (m *message) chunk() codec.Packet {
	r := &m.connection
	if r.Type == connection.TypeSlice {
		return codec.Packet{Type: codec.TypeSlice, Slice: r.Slice}
	}
	return codec.Packet{Type: codec.TypeAck, Ack: r.Ack}
}

// isChunk reports whether the record has a slice or an ack.
func (m *message) isChunk() bool {
	return m.of && (m.connection.Type == connection.TypeSlice || m.connection.Type == connection.TypeChunkAck)
}

// parameters are the parameters of the layouts of records.
func (f *formats) parameters() layout.Parameters {
	flag := map[bool]int64{true: 1}
	p := layout.Parameters{"LANES": int64(f.records.Lanes), "REPAIR": flag[f.records.Repair], "MARKS": flag[f.records.ECN], "CLOCKS": flag[f.records.Clock]}
	for name, n := range map[string]int{"WINDOW": f.channels.Window, "DATA": f.channels.Data, "GROUP": f.channels.Group} {
		if n > 0 {
			p[name] = int64(n)
		}
	}
	return p
}
