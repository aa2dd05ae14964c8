package channels

import (
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// oracle returns the format of the oracle.
func (f Format) oracle() channeloracle.Format {
	return channeloracle.Format{Window: f.Window, Data: f.Data, Group: f.Group}
}

// OracleReceiver is the oracle's receiver.
type OracleReceiver struct {
	*channeloracle.Receiver
	format channeloracle.Format
}

func newOracleReceiver(config any) (conform.Machine, error) {
	c := config.(ReceiverConfig)
	return NewOracleReceiver(channeloracle.ReceiverConfig{Format: c.oracle(), Ordered: c.Kind == "ordered", First: c.First, GiveUp: c.GiveUp}), nil
}

// NewOracleReceiver returns a new receiver of any configuration.
func NewOracleReceiver(c channeloracle.ReceiverConfig) *OracleReceiver {
	return &OracleReceiver{channeloracle.NewReceiver(c), c.Format}
}

// oneOf decodes what must be one record of channel 0, of one of some types.
func oneOf(f channeloracle.Format, b conform.Bytes, types ...string) (channeloracle.Record, bool) {
	list, err := channeloracle.Decode(f, []byte(b))
	if err != nil || len(list) != 1 || list[0].Channel != 0 || !slices.Contains(types, list[0].Type) {
		return channeloracle.Record{}, false
	}
	return list[0], true
}

// encoded encodes a record of a machine. One that is not valid has no bytes.
func encoded(f channeloracle.Format, r *channeloracle.Record) conform.Bytes {
	b, _ := channeloracle.Encode(f, []channeloracle.Record{*r})
	return conform.Bytes(b)
}

// Do is the machine under test.
func (o *OracleReceiver) Do(at int64, e conform.Event) conform.Step {
	var s ReceiverStep
	row := ""
	switch e := e.(type) {
	case Record:
		r, ok := oneOf(o.format, e.Hex, channeloracle.Message, channeloracle.Fragment, channeloracle.Skip, channeloracle.Status)
		if !ok {
			return nil
		}
		row = o.Handle(at, r)
	case Read:
		var got *channeloracle.Read
		if row, got = o.Receiver.Read(at); got != nil {
			s.Read = conform.Some(Got{uint16(got.Sequence), conform.Bytes(got.Data), got.Skipped})
		}
	case Poll:
		var r *channeloracle.Record
		if row, r = o.Receiver.Poll(at, int(e.Space)); r != nil {
			s.Report = conform.Some(encoded(o.format, r))
		}
	case ReceiverPath:
		o.SetPath(channeloracle.Path{Measured: e.SRTT.Is, SRTT: e.SRTT.V})
	}
	s.Row, s.State, s.Deadline = conform.If(row, row != ""), o.State(), conform.If(o.Deadline())
	return s
}

// Inside is what is counted.
func (o *OracleReceiver) Inside() any { return o.Counted }

// OracleSender is the oracle's sender.
type OracleSender struct {
	*channeloracle.Sender
	format channeloracle.Format
}

func newOracleSender(config any) (conform.Machine, error) {
	c := config.(SenderConfig)
	if c.SendQueue < min(c.Group, c.Window) {
		return nil, conform.ErrBadRequest
	}
	return NewOracleSender(channeloracle.SenderConfig{Format: c.oracle(), SendQueue: c.SendQueue, First: c.First, GiveUp: c.GiveUp}), nil
}

// NewOracleSender returns a new sender of any configuration.
func NewOracleSender(c channeloracle.SenderConfig) *OracleSender {
	return &OracleSender{channeloracle.NewSender(c), c.Format}
}

// Do is the machine under test.
func (o *OracleSender) Do(at int64, e conform.Event) conform.Step {
	s := SenderStep{Rows: []string{}, Records: []conform.Bytes{}}
	took := func(row string) { s.Rows = append(s.Rows, row) }
	switch e := e.(type) {
	case Send:
		row, refused := o.Sender.Send(at, []byte(e.Data), e.Lifetime.V)
		s.Refused = conform.If(refused, refused != "")
		took(row)
	case Report:
		r, ok := oneOf(o.format, e.Hex, channeloracle.Report)
		if !ok {
			return nil
		}
		took(o.Sender.Report(at, e.Number, e.Ack, r))
	case SenderPoll:
		for space := int(e.Space); ; {
			row, r := o.Poll(at, e.Number, space)
			if took(row); r == nil {
				break
			}
			b := encoded(o.format, r)
			space -= len(b)
			s.Records = append(s.Records, b)
		}
	case SenderPath:
		o.SetPath(channeloracle.Path{Measured: e.SRTT.Is, SRTT: e.SRTT.V, Patience: e.Patience})
	}
	s.State, s.Base, s.Limit, s.Deadline = o.State(), o.Base(), o.Limit(), conform.If(o.Deadline())
	return s
}

// Inside is what is counted.
func (o *OracleSender) Inside() any { return o.Counted }
