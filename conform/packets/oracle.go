package packets

import (
	"fmt"
	"math"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// never is the deadline of an oracle that has none.
const never = math.MaxInt64

// OracleEndpoint is the oracle's endpoint, and what it did last.
type OracleEndpoint struct {
	*packetoracle.Endpoint
	Last    *packetoracle.Step
	whole   bool // of the operation with congestion avoidance
	refused map[string]int64
	offered packetoracle.Arrived
}

func newOracleEndpoint(config any) (conform.Machine, error) {
	c, ok := whole(config)
	if !ok {
		return nil, conform.ErrBadRequest
	}
	_, isWhole := config.(WholeConfig)
	return &OracleEndpoint{Endpoint: packetoracle.New(c), whole: isWhole, refused: map[string]int64{}}, nil
}

// says lets the layer above say the same of each payload.
func (o *OracleEndpoint) says(v packetoracle.Verdict) {
	o.Endpoint.Above = func(a packetoracle.Arrived) packetoracle.Verdict {
		o.offered = packetoracle.Arrived{Number: a.Number, Ack: a.Ack}
		return v
	}
}

// Do is the machine under test.
func (o *OracleEndpoint) Do(at int64, e conform.Event) conform.Step {
	if o.offered = (packetoracle.Arrived{}); o.Endpoint.Above == nil {
		o.says(packetoracle.Take)
	}
	switch e := e.(type) {
	case Send:
		o.Last = o.Endpoint.Send(at, []byte(e.Payload))
	case Quiet:
		o.Last = o.SendQuiet(at, []byte(e.Payload))
	case Receive:
		if o.Last = o.Endpoint.Receive(at, []byte(e.Datagram)); o.Last.Refused != nil {
			o.refused[o.Last.Refused.Code]++
		}
	case Poll:
		o.Last = o.Endpoint.Poll(at)
	case Above:
		o.says(map[string]packetoracle.Verdict{"take": packetoracle.Take, "quietly": packetoracle.Quietly, "refuse": packetoracle.Refuse}[e.Says])
		o.Last = &packetoracle.Step{}
	}
	s := EndpointStep{Datagrams: []conform.Bytes{}, Acked: low(o.Last.Acked), Lost: low(o.Last.Lost)}
	for _, b := range o.Last.Datagrams {
		s.Datagrams = append(s.Datagrams, conform.Bytes(b))
	}
	if d := o.Last.Delivered; d != nil {
		s.Delivered = conform.Some(Delivered{uint16(d.Number), conform.Bytes(d.Payload)})
	}
	if r := o.Last.Refused; r != nil {
		s.Refused = conform.Some(conform.Refused{Error: r.Code, At: r.At})
	}
	return s
}

// Took returns the rows of the latest event, which are not in the contract.
func (o *OracleEndpoint) Took() []string { return o.Last.Rows }

// Which of Look's numbers are near what.
const (
	toSend = iota
	toReceive
)

// Look is what makers of events aim at. In the contract no deadline of an endpoint is one of congestion avoidance.
func (o *OracleEndpoint) Look() conform.Look {
	at := o.Deadline()
	if o.whole {
		at = o.due()
	}
	return conform.Look{Deadline: deadline(at), Near: [6]int64{o.Next(), o.NextToReceive()}}
}

// due is PKI-4.
func (o *OracleEndpoint) due() int64 { return min(o.Deadline(), o.Congestion().Deadline()) }

// deadline is a deadline of an oracle.
func deadline(at int64) conform.Opt[int64] { return conform.If(at, at != never) }

// inside is what both sides show of an endpoint besides its steps.
type inside struct {
	packetoracle.Estimates
	good                              bool
	recovery, nextAt, due             int64
	held, heldBytes                   int
	events, rule                      string // their numbers in full; by which row
	refused                           int64  // with the code of the latest refusal
	offered, offeredAck, numberOfNext int64
}

// Inside is what is estimated, counted and held.
func (o *OracleEndpoint) Inside() any {
	c := o.Congestion()
	s := inside{
		Estimates: o.Estimates(), good: c.Good(), recovery: c.Recovery(), nextAt: c.NextAt(), due: o.due(), events: fmt.Sprint(o.Last.Acked, o.Last.Lost),
		offered: o.offered.Number, offeredAck: o.offered.Ack, numberOfNext: o.Next(),
	}
	s.held, s.heldBytes = o.Held()
	s.Silent = false // shows in the mode
	if r := o.Last.Refused; r != nil {
		s.refused = o.refused[r.Code]
		s.rule = ruleOf(r.Check, r.At)
	}
	return s
}

// ruleOf is the row of a refusal by the machine: the sentences of the codec are compared in package formats.
func ruleOf(rule string, at int) string {
	if at >= 0 {
		return ""
	}
	return rule
}

// low is what the wire has of numbers.
func low(numbers []int64) []uint16 {
	list := make([]uint16, len(numbers))
	for i, n := range numbers {
		list[i] = uint16(n)
	}
	return list
}

// OracleCongestion is the oracle's congestion avoidance.
type OracleCongestion struct {
	*packetoracle.Congestion
	rows []string
}

func newOracleCongestion(config any) (conform.Machine, error) {
	return &OracleCongestion{Congestion: packetoracle.NewCongestion(config.(CongestionConfig).Profile)}, nil
}

// Do is the machine under test.
func (o *OracleCongestion) Do(at int64, e conform.Event) conform.Step {
	is := e.(Conditions)
	var srtt *int64
	if is.SRTT.Is {
		srtt = &is.SRTT.V
	}
	o.rows = o.Evaluate(at, srtt, is.MinRTT.V, is.Silent)
	s := CongestionStep{Mode: "bad", Recovery: o.Recovery()}
	if o.Good() {
		s.Mode = "good"
	}
	return s
}

// Took returns the rows of the latest event, which are not in the contract.
func (o *OracleCongestion) Took() []string { return o.rows }

// Look is what makers of events aim at.
func (o *OracleCongestion) Look() conform.Look {
	return conform.Look{Deadline: deadline(o.Deadline())}
}

// Inside is when it is due, and when the next packet may go.
func (o *OracleCongestion) Inside() any { return [2]int64{o.Deadline(), o.NextAt()} }
