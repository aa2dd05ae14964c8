package inspect

import (
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
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

// walkRecords walks along a payload.
func walkRecords(w *walker, f *formats, inConnection bool) {
	for w.left() > 0 && !w.done {
		t := connection.Type(w.b[w.at/8])
		of := inConnection && f.records.IsRecord(w.b, w.at/8)
		name, sentence := channel.Type(t).String(), "CHR-8"
		if of {
			name, sentence = t.String(), "CXR-9"
		}
		w.group(name, sentence, func() string {
			if of {
				w.connectionRecord(f)
			} else {
				w.channelRecord()
			}
			return ""
		})
	}
}

func (w *walker) connectionRecord(f *formats) {
	t, _ := w.bits("type", 8, "CXR-9")
	switch connection.Type(t) {
	case connection.TypeClose:
		w.bits("code", 16, "CXR-4")
		n, _ := w.bits("length", 8, "CXR-22")
		b, f := w.bytes("text", int(n), "CXR-23")
		f.Meaning = fmt.Sprintf("%q", b)
	case connection.TypeECN:
		w.bits("arrived", 16, "CXR-9")
		w.bits("congested", 16, "CXR-9")
	case connection.TypeSlice:
		w.bits("lane", 8, "CXR-25")
		w.body(f.records.Repair, false)
	case connection.TypeChunkAck:
		w.bits("lane", 8, "CXR-25")
		n, _ := w.bits("length", 8, "CXR-3")
		end := w.end
		w.end = min(end, w.at+8*int(n))
		w.body(f.records.Repair, true)
		w.end = end
	}
}

func (w *walker) channelRecord() {
	t, f := w.bits("type", 8, "CHR-8")
	kind := channel.Type(t)
	f.Meaning = kind.String()
	if kind == channel.TypePad || kind > channel.TypeStatus {
		return
	}
	w.bits("channel", 8, "CHR-8")
	switch kind {
	case channel.TypeMessage:
		w.bits("sequence", 16, "CHR-8")
	case channel.TypeFragment:
		w.bits("sequence", 16, "CHR-9")
		w.bits("index", 8, "CHR-9")
		w.count("count", 8, "CHR-9")
		w.done = w.done || w.at-16 >= w.stop // index is checked when the count is known
	case channel.TypeSkip:
		w.bits("first", 16, "CHR-10")
		w.count("count", 8, "CHR-10")
		return
	case channel.TypeReport:
		w.report()
		return
	case channel.TypeStatus:
		w.bits("next", 16, "CHR-11")
		return
	}
	n, _ := w.bits("length", 16, "CHR-8")
	w.bytes("data", int(n), "CHR-8")
}

func (w *walker) report() {
	w.bits("base", 16, "CHR-3")
	w.bits("room", 16, "CHR-3")
	n, _ := w.bits("num_groups", 8, "CHR-3")
	for range n {
		w.group("group", "CHR-3", func() string {
			w.bits("start", 16, "CHR-3")
			w.bits("bits", 32, "CHR-3")
			return ""
		})
	}
}
