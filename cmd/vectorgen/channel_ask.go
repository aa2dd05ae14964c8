package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file puts the requests about channels to their oracle.

// refusedRecords is the response to records that are refused, with the check that refuses
// them.
type refusedRecords struct {
	contract.Placed
	check string
}

func refusalOfRecords(err error) refusedRecords {
	var e *channeloracle.Error
	if !errors.As(err, &e) {
		panic(err) // the oracle returns no other
	}
	return refusedRecords{contract.Placed{Answer: contract.Answer{Error: e.Code}, At: e.At}, e.Check}
}

func recordsEncoded(q contract.RecordsEncodeRequest) any {
	var list []channeloracle.Record
	for _, c := range q.Records {
		list = append(list, recordFrom(c))
	}
	return encodedRecords(list)
}

func encodedRecords(list []channeloracle.Record) any {
	b, err := channeloracle.Encode(channeloracle.Usual, list)
	if err != nil {
		return refusalOfRecords(err)
	}
	return contract.Response{Answer: ok, Hex: pointerTo(hex.EncodeToString(b))}
}

func recordsDecoded(q contract.RecordsDecodeRequest) any {
	list, err := channeloracle.Decode(channeloracle.Usual, bytesIn(q.Hex))
	if err != nil {
		return refusalOfRecords(err)
	}
	a := contract.RecordsDecodeResponse{Answer: ok}
	for _, r := range list {
		a.Records = append(a.Records, recordOf(r))
	}
	return a
}

func reportResponse(q contract.ChannelReportRequest) any {
	r := channeloracle.Record{Type: channeloracle.Report, Channel: q.Channel, Sequence: int64(q.Base), Room: q.Room}
	var missing []int64
	for _, wire := range q.Missing {
		missing = append(missing, int64(q.Base)+int64(wire-q.Base)) // ascending without a wrap
	}
	r.Groups = channeloracle.Groups(missing, channeloracle.MostGroups)
	return encodedRecords([]channeloracle.Record{r})
}

// channelAnswers are the oracle's responses to requests about channels that a port can read.
var channelAnswers = answers{
	contract.OpRecordsEncode: by(recordsEncoded), contract.OpRecordsDecode: by(recordsDecoded), contract.OpChannelReport: by(reportResponse),
	contract.OpChannelReceiver: by(func(q contract.ChannelReceiverRequest) any { return receiverResponse(q.Config, q.Events) }),
	contract.OpChannelSender:   by(func(q contract.ChannelSenderRequest) any { return senderResponse(q.Config, q.Events) }),
}

// addRecords adds a request about records. want is accepted, or CODE@PLACE: if the oracle
// answers something else, that ends the program. The check that refuses is among the
// vector's sentences.
func (g *group) addRecords(name string, why about, want string, q, a any) {
	got := accepted
	if refused, ok := a.(refusedRecords); ok {
		got = fmt.Sprintf("%s@%d", refused.Error, refused.At)
		if !slices.Contains(strings.Fields(why.sentences), refused.check) {
			why.sentences += " " + refused.check
		}
	}
	if got != want {
		panic(fmt.Sprintf("%s/%s: the oracle answers %s, the group expects %s", g.file.Group, name, got, want))
	}
	g.addPair(name, why, q, a)
}

// decodeRecords adds the decoding of a payload. want is accepted, or CODE@PLACE.
func (g *group) decodeRecords(name string, why about, want string, payload []byte) {
	q := contract.RecordsDecodeRequest{Op: contract.OpRecordsDecode, Hex: hex.EncodeToString(payload)}
	g.addRecords(name, why, want, q, recordsDecoded(q))
}

// encodeRecords adds the encoding of records.
func (g *group) encodeRecords(name string, why about, want string, list ...channeloracle.Record) {
	q := contract.RecordsEncodeRequest{Op: contract.OpRecordsEncode, Records: []contract.Record{}}
	for _, r := range list {
		q.Records = append(q.Records, recordOf(r))
	}
	g.addRecords(name, why, want, q, encodedRecords(list))
}

// bothWays adds the encoding of records and the decoding of what comes of it.
func (g *group) bothWays(name string, why about, list ...channeloracle.Record) {
	g.encodeRecords(name+"-encode", why, accepted, list...)
	g.decodeRecords(name+"-decode", why, accepted, payload(list...))
}

// payload is the bytes of valid records.
func payload(list ...channeloracle.Record) []byte {
	b, err := channeloracle.Encode(channeloracle.Usual, list)
	if err != nil {
		panic(err) // a group passes valid records only
	}
	return b
}

// missing adds the report of a set.
func (g *group) missing(name string, why about, want string, id int64, base uint16, room int64, set ...uint16) {
	q := contract.ChannelReportRequest{Op: contract.OpChannelReport, Channel: id, Base: base, Room: room, Missing: set}
	if set == nil {
		q.Missing = []uint16{}
	}
	g.addRecords(name, why, want, q, reportResponse(q))
}

// receiverSteps runs the oracle's receiver through a trace.
func receiverResponse(cfg contract.ChannelReceiverConfig, events []contract.ChannelReceiverEvent) contract.ChannelReceiverResponse {
	r := newChannelReceiver(cfg)
	a := contract.ChannelReceiverResponse{Answer: ok, Steps: []contract.ChannelReceiverStep{}}
	for _, e := range events {
		a.Steps = append(a.Steps, receiverStep(r, cfg, e))
	}
	return a
}

func newChannelReceiver(cfg contract.ChannelReceiverConfig) *channeloracle.Receiver {
	return channeloracle.NewReceiver(channeloracle.ReceiverConfig{
		Format: formatOf(cfg.ChannelFormat), Ordered: cfg.Kind == contract.KindOrdered, First: cfg.First, GiveUp: cfg.GiveUp,
	})
}

func formatOf(f contract.ChannelFormat) channeloracle.Format {
	return channeloracle.Format{Window: f.Window, Data: f.Data, Group: f.Group}
}

func receiverStep(r *channeloracle.Receiver, cfg contract.ChannelReceiverConfig, e contract.ChannelReceiverEvent) (step contract.ChannelReceiverStep) {
	row := ""
	switch e.Event {
	case contract.EventRecord:
		row = r.Handle(e.At, oneRecord(formatOf(cfg.ChannelFormat), *e.Hex))
	case contract.EventRead:
		var got *channeloracle.Read
		if row, got = r.Read(e.At); got != nil {
			step.Read = &contract.ChannelRead{Sequence: uint16(got.Sequence), Skipped: got.Skipped}
			if !got.Skipped {
				step.Read.Data = pointerTo(hex.EncodeToString(got.Data))
			}
		}
	case contract.EventPoll:
		var report *channeloracle.Record
		if row, report = r.Poll(e.At, int(*e.Space)); report != nil {
			step.Report = pointerTo(hex.EncodeToString(recordBytes(formatOf(cfg.ChannelFormat), *report)))
		}
	case contract.EventPath:
		r.SetPath(pathOf(e.SRTT, nil))
	}
	if row != "" {
		step.Row = &row
	}
	step.State, step.Deadline = r.State(), deadlineOf(r.Deadline())
	return step
}

func pathOf(srtt contract.Null, patience *int64) (p channeloracle.Path) {
	if srtt.Value != nil {
		p.Measured, p.SRTT = true, *srtt.Value
	}
	if patience != nil {
		p.Patience = *patience
	}
	return p
}

func deadlineOf(at int64, ok bool) *int64 {
	if !ok {
		return nil
	}
	return &at
}

// oneRecord decodes a payload of one record.
func oneRecord(f channeloracle.Format, text string) channeloracle.Record {
	list, err := channeloracle.Decode(f, bytesIn(text))
	if err != nil || len(list) != 1 {
		panic(fmt.Sprintf("%s: %d records, %v", text, len(list), err)) // made by this program
	}
	return list[0]
}

func recordBytes(f channeloracle.Format, r channeloracle.Record) []byte {
	b, err := channeloracle.Encode(f, []channeloracle.Record{r})
	if err != nil {
		panic(err) // of a machine
	}
	return b
}

// senderResponse runs the oracle's sender through a trace.
func senderResponse(cfg contract.ChannelSenderConfig, events []contract.ChannelSenderEvent) contract.ChannelSenderResponse {
	s := newChannelSender(cfg)
	a := contract.ChannelSenderResponse{Answer: ok, Steps: []contract.ChannelSenderStep{}}
	for _, e := range events {
		a.Steps = append(a.Steps, senderStep(s, cfg, e))
	}
	return a
}

func newChannelSender(cfg contract.ChannelSenderConfig) *channeloracle.Sender {
	return channeloracle.NewSender(channeloracle.SenderConfig{
		Format: formatOf(cfg.ChannelFormat), SendQueue: cfg.SendQueue, First: cfg.First, GiveUp: cfg.GiveUp,
	})
}

func senderStep(s *channeloracle.Sender, cfg contract.ChannelSenderConfig, e contract.ChannelSenderEvent) contract.ChannelSenderStep {
	step := contract.ChannelSenderStep{Rows: []string{}, Records: []string{}}
	took := func(row string) { step.Rows = append(step.Rows, row) }
	switch e.Event {
	case contract.EventSend:
		lifetime := int64(0)
		if e.Lifetime.Value != nil {
			lifetime = *e.Lifetime.Value
		}
		row, refused := s.Send(e.At, bytesIn(*e.Data), lifetime)
		if took(row); refused != "" {
			step.Refused = &refused
		}
	case contract.EventReport:
		took(s.Report(e.At, *e.Number, *e.Ack, oneRecord(formatOf(cfg.ChannelFormat), *e.Hex)))
	case contract.EventPoll:
		space := int(*e.Space)
		for {
			row, r := s.Poll(e.At, *e.Number, space)
			if took(row); r == nil {
				break
			}
			b := recordBytes(formatOf(cfg.ChannelFormat), *r)
			space -= len(b)
			step.Records = append(step.Records, hex.EncodeToString(b))
		}
	case contract.EventPath:
		s.SetPath(pathOf(e.SRTT, e.Patience))
	}
	step.State, step.Base, step.Limit, step.Deadline = s.State(), s.Base(), s.Limit(), deadlineOf(s.Deadline())
	return step
}
