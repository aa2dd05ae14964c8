package packets

import (
	"math"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// never is the deadline of an oracle that has none.
const never = math.MaxInt64

// OracleEndpoint is the oracle's endpoint, and what it did last.
type OracleEndpoint struct {
	*packetoracle.Endpoint
	Last *packetoracle.Step
}

func newOracleEndpoint(config any) (conform.Machine, error) {
	c := config.(EndpointConfig)
	if c.FragmentAbove < c.FragmentSize {
		return nil, conform.ErrBadRequest
	}
	return &OracleEndpoint{Endpoint: packetoracle.New(packetoracle.Config{
		Limits:        packetoracle.Limits{FragmentSize: c.FragmentSize, MaxFragments: c.MaxFragments},
		FragmentAbove: c.FragmentAbove, NextToSend: c.NextToSend, NextToReceive: c.NextToReceive,
	})}, nil
}

// Do is the machine under test.
func (o *OracleEndpoint) Do(at int64, e conform.Event) conform.Step {
	switch e := e.(type) {
	case Send:
		o.Last = o.Endpoint.Send(at, []byte(e.Payload))
	case Receive:
		o.Last = o.Endpoint.Receive(at, []byte(e.Datagram))
	case Poll:
		o.Last = o.Endpoint.Poll(at)
	}
	s := EndpointStep{Datagrams: []conform.Bytes{}, Acked: low(o.Last.Acked), Lost: low(o.Last.Lost)}
	for _, b := range o.Last.Datagrams {
		s.Datagrams = append(s.Datagrams, conform.Bytes(b))
	}
	if d := o.Last.Delivered; d != nil {
		s.Delivered = conform.Some(Delivered{uint16(d.Number), conform.Bytes(d.Payload)})
	}
	if r := o.Last.Refused; r != nil {
		s.Refused = conform.Some(Refused{r.Code, r.At})
	}
	return s
}

// Took returns the rows of the latest event, which are not in the contract.
func (o *OracleEndpoint) Took() []string { return o.Last.Rows }

// Look is what makers of events aim at.
func (o *OracleEndpoint) Look() conform.Look {
	return conform.Look{Deadline: conform.If(o.Deadline(), o.Deadline() != never), Near: [6]int64{o.Next()}}
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
	return conform.Look{Deadline: o.Inside().(conform.Opt[int64])}
}

// Inside is when it is due.
func (o *OracleCongestion) Inside() any { return conform.If(o.Deadline(), o.Deadline() != never) }
