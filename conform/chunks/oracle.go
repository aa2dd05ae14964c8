package chunks

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// OracleSender is the oracle's sender.
type OracleSender struct {
	*chunkoracle.Sender
	kind      chunkoracle.Kind
	scheduler chunkoracle.Scheduler
	script    *chunkoracle.Script // nil: it has a scheduler
	events    int
	row       string
}

func newOracleSender(config any) (conform.Machine, error) {
	switch c := config.(type) {
	case RepairSenderConfig:
		if !c.Profile.Is {
			return NewOracleSender(chunkoracle.Repair, c.First, c.GiveUp, nil), nil
		}
		if !c.Profile.V.fits() {
			return nil, conform.ErrBadRequest
		}
		return NewOracleSender(chunkoracle.Repair, c.First, c.GiveUp, c.Profile.V.Oracle()), nil
	case SenderConfig:
		if !c.Profile.Is {
			return NewOracleSender(chunkoracle.Named, c.First, c.GiveUp, nil), nil
		}
		s, fits := c.Profile.V.oracle()
		if !fits {
			return nil, conform.ErrBadRequest
		}
		return NewOracleSender(chunkoracle.Named, c.First, c.GiveUp, s), nil
	}
	return nil, conform.ErrBadRequest
}

// NewOracleSender returns a new sender; without a scheduler its scheduler is a script.
func NewOracleSender(kind chunkoracle.Kind, first uint16, giveUp int64, s chunkoracle.Scheduler) *OracleSender {
	o := &OracleSender{kind: kind, scheduler: s}
	if s == nil {
		o.script = &chunkoracle.Script{}
		o.scheduler = o.script
	}
	o.Sender = chunkoracle.NewSender(kind, int64(first), giveUp, o.scheduler)
	return o
}

// Do is the machine under test.
func (o *OracleSender) Do(at int64, e conform.Event) conform.Step {
	s := Step{Event: o.events, Packets: []Packet{}}
	switch e := e.(type) {
	case Submit:
		o.row, s.Error = o.Submit(at, Data(uint16(o.ChunkID()), int(e.Size)))
	case Ack:
		set, ok := ofBits(e.Acked)
		if !ok {
			return nil
		}
		o.row = o.Ack(at, chunkoracle.Ack{ChunkID: int64(e.ChunkID), NumSlices: int64(len(set)), Acked: set})
	case RepairAck:
		if e.Have > e.NumSlices {
			return nil
		}
		o.row = o.Ack(at, chunkoracle.Ack{ChunkID: int64(e.ChunkID), NumSlices: e.NumSlices, Have: e.Have, Top: e.Top})
	case Poll:
		if !o.lets(e.Due) {
			return nil
		}
		o.poll(at, &s)
	case RepairPoll:
		if !o.lets(make([]int64, e.Due.V)) {
			return nil
		}
		o.poll(at, &s)
	case Marks:
		o.scheduler.(chunkoracle.Recovery).Path().OnMarks(e.Count)
	case Yield:
		o.scheduler.(chunkoracle.Recovery).Path().Yield(e.Yields)
	}
	o.events++
	o.after(&s)
	return s
}

// lets reports whether these slices may be sent (SCH-1), and then lets them go.
func (o *OracleSender) lets(due []int64) bool {
	for _, id := range due {
		if o.script == nil || o.State() != chunkoracle.StateSending || id >= o.NumSlices() || o.kind == chunkoracle.Named && o.Acked()[id] {
			return false
		}
	}
	if o.script != nil {
		o.script.Due = due
	}
	return true
}

func (o *OracleSender) poll(at int64, s *Step) {
	for {
		row, p := o.Poll(at)
		if o.row = row; p == nil {
			return
		}
		s.Packets = append(s.Packets, Packet{
			Type: typeSlice, ChunkID: uint16(p.ChunkID), SliceID: conform.Some(p.SliceID), NumSlices: conform.Some(p.NumSlices),
			LastBytes: conform.If(p.LastBytes, o.kind == chunkoracle.Repair), Size: conform.Some(int64(len(p.Data))), CRC32: conform.Some(stream.CRC32(p.Data)),
		})
	}
}

// after fills in what a step shows of the state.
func (o *OracleSender) after(s *Step) {
	s.Row, s.State, s.ChunkID, s.Deadline = o.row, o.State(), uint16(o.ChunkID()), conform.If(o.Deadline())
	isSending := o.State() == chunkoracle.StateSending
	if o.kind == chunkoracle.Repair {
		s.Sent, s.Have, s.Top = conform.Some(o.Transmissions()), conform.Some(o.Have()), conform.Some(o.Top())
		return
	}
	if s.Acked = conform.Some(""); isSending {
		s.Acked.V = bits(o.Acked())
	}
}

// Inside is what steps do not show.
func (o *OracleSender) Inside() any {
	in := Senders{Sent: o.Counted, HeardAt: o.HeardAt(), NumSlices: o.NumSlices(), Transmissions: o.Transmissions(), Have: o.Have(), Top: o.Top(), Ours: o.Ours()}
	if f, has := o.scheduler.(interface{ Found() chunkoracle.Found }); has {
		in.Found = f.Found()
	}
	return in
}

// OracleReceiver is the oracle's receiver.
type OracleReceiver struct {
	*chunkoracle.Receiver
	kind   chunkoracle.Kind
	events int
	row    string
}

func newOracleReceiver(config any) (conform.Machine, error) {
	if c, is := config.(ReceiverConfig); is {
		return NewOracleReceiver(chunkoracle.Named, c.First, c.GiveUp), nil
	}
	c := config.(RepairReceiverConfig)
	return NewOracleReceiver(chunkoracle.Repair, c.First, c.GiveUp), nil
}

// NewOracleReceiver returns a new receiver.
func NewOracleReceiver(kind chunkoracle.Kind, first uint16, giveUp int64) *OracleReceiver {
	return &OracleReceiver{Receiver: chunkoracle.NewReceiver(kind, int64(first), giveUp), kind: kind}
}

// Do is the machine under test.
func (o *OracleReceiver) Do(at int64, e conform.Event) conform.Step {
	s := Step{Event: o.events, Packets: []Packet{}}
	switch e := e.(type) {
	case Slice:
		if e.SliceID >= e.NumSlices || e.SliceID < e.NumSlices-1 && e.Size != chunkoracle.SliceSize {
			return nil // no decoder returns it
		}
		data := bytes.Clone(fullSlice(e.ChunkID, int(e.SliceID))[:e.Size])
		o.row = o.slice(at, chunkoracle.Slice{ChunkID: int64(e.ChunkID), SliceID: e.SliceID, NumSlices: e.NumSlices, Data: data}, e.Fill)
	case RepairSlice:
		data := repairoracle.Slice(Data(e.ChunkID, int(repairoracle.SliceSize*(e.NumSlices-1)+e.LastBytes)), e.SliceID)
		o.row = o.slice(at, chunkoracle.Slice{ChunkID: int64(e.ChunkID), SliceID: e.SliceID, NumSlices: e.NumSlices, LastBytes: e.LastBytes, Data: data}, e.Fill)
	case Read:
		row, chunk := o.Read(at)
		if o.row = row; chunk == nil {
			s.Error = nothingToRead
		} else {
			s.Chunk = conform.Some(Content{len(chunk), stream.CRC32(chunk)})
		}
	case ReceiverPoll:
		o.poll(at, &s)
	}
	o.events++
	o.after(&s)
	return s
}

func (o *OracleReceiver) slice(at int64, s chunkoracle.Slice, fill conform.Opt[uint8]) string {
	if fill.Is {
		s.Data = bytes.Repeat([]byte{fill.V}, len(s.Data))
	}
	return o.Receiver.Slice(at, s)
}

func (o *OracleReceiver) poll(at int64, s *Step) {
	for {
		row, a := o.Poll(at)
		if o.row = row; a == nil {
			return
		}
		c := Packet{Type: typeAck, ChunkID: uint16(a.ChunkID)}
		if o.kind == chunkoracle.Repair {
			c.NumSlices, c.Have, c.Top = conform.Some(a.NumSlices), conform.Some(a.Have), conform.Some(a.Top)
		} else {
			c.Acked = conform.Some(bits(a.Acked))
		}
		s.Packets = append(s.Packets, c)
	}
}

// after fills in what a step shows of the state.
func (o *OracleReceiver) after(s *Step) {
	s.Row, s.State, s.ChunkID, s.Deadline = o.row, o.State(), uint16(o.ChunkID()), conform.If(o.Deadline())
	if o.kind == chunkoracle.Repair {
		s.Have, s.Top, s.Inconsistent = conform.Some(o.Have()), conform.Some(o.Top()), conform.Some(o.Counted.Inconsistent)
		return
	}
	s.Received = conform.Some(bits(o.Received()))
}

// Inside is what steps do not show.
func (o *OracleReceiver) Inside() any {
	return Receivers{
		Received: o.Counted, NumSlices: o.NumSlices(), LastBytes: o.LastBytes(), Top: o.Top(), ProgressAt: o.ProgressAt(), ReadSize: len(o.Whole()),
		PreviousSlices: o.PreviousSlices(), PreviousTop: o.PreviousTop(), Ours: o.Ours(), IDs: fmt.Sprint(o.IDs()),
	}
}
