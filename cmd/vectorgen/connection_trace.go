package main

import (
	"encoding/hex"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

// This file gives the traces of connections to their oracle. Its chunk machines are the exact
// models of conform/sim/chunk.

// chunkSender is the model of a chunk sender, and its scheduler.
type chunkSender struct{ *chunk.SenderModel }

func newChunkSender(p contract.Profile, giveUp int64) func() connectionoracle.ChunkSender {
	return func() connectionoracle.ChunkSender {
		return chunkSender{chunk.NewSenderModel(statemachine.SenderConfig{GiveUp: core.Micros(giveUp), Scheduler: chunk.NewBaseModel(base.Profile{
			Rate: 8 * p.Rate, Cap: p.Cap, Burst: p.Burst, AckPays: p.AcksPay, Spacing: core.Micros(p.SpacingUS), ResendDelay: core.Micros(p.ResendDelayUS),
		})})}
	}
}

func (s chunkSender) Submit(now int64, data []byte) {
	if err := s.SenderModel.Submit(core.Micros(now), data); err != nil {
		panic(err) // its lane is idle, and the size was checked
	}
}

func (s chunkSender) Ack(now int64, r connectionoracle.Record) {
	p := r.Packet
	s.HandleAck(core.Micros(now), codec.Ack{ChunkID: uint16(p.ChunkID), NumSlices: int(p.NumSlices), Acked: setOf(p.Acked)})
}

func setOf(bits []bool) (set core.Set) {
	for i, bit := range bits {
		if bit {
			set.Add(i)
		}
	}
	return set
}

func (s chunkSender) Poll(now int64) (connectionoracle.Record, bool) {
	p, ok := s.SenderModel.Poll(core.Micros(now))
	return connectionoracle.Record{Packet: slice(int64(p.ChunkID), int64(p.SliceID), int64(p.NumSlices), p.Data)}, ok
}

func (s chunkSender) Deadline() int64 { return int64(s.SenderModel.Deadline()) }
func (s chunkSender) Idle() bool      { return s.Vars().State == statemachine.SenderIdle }
func (s chunkSender) Failed() bool    { return s.Err() != nil }
func (s chunkSender) AllSent() bool   { return s.Vars().Sent.Count() == s.Vars().NumSlices }

// chunkReceiver is the model of a chunk receiver.
type chunkReceiver struct{ *chunk.ReceiverModel }

func newChunkReceiver(giveUp int64) func() connectionoracle.ChunkReceiver {
	return func() connectionoracle.ChunkReceiver {
		return chunkReceiver{chunk.NewReceiverModel(statemachine.ReceiverConfig{GiveUp: core.Micros(giveUp)})}
	}
}

func (r chunkReceiver) Slice(now int64, record connectionoracle.Record) {
	p := record.Packet
	r.HandleSlice(core.Micros(now), codec.Slice{ChunkID: uint16(p.ChunkID), SliceID: int(p.SliceID), NumSlices: int(p.NumSlices), Data: p.Data})
}

func (r chunkReceiver) Poll(now int64) (connectionoracle.Record, bool) {
	a, ok := r.ReceiverModel.Poll(core.Micros(now))
	return connectionoracle.Record{Packet: ack(int64(a.ChunkID), acked(a.NumSlices, a.Acked.Has))}, ok
}

func (r chunkReceiver) Read(now int64) ([]byte, bool) {
	data, err := r.ReceiverModel.Read(core.Micros(now), nil)
	return data, err == nil
}

func (r chunkReceiver) Deadline() int64 { return int64(r.ReceiverModel.Deadline()) }
func (r chunkReceiver) Failed() bool    { return r.Err() != nil }

// newConnection returns the connection of a trace.
func newConnection(cfg contract.ConnectionConfig) *connectionoracle.Connection {
	giveUp := connectionoracle.GiveUp(cfg.Timeout)
	c := connectionoracle.Config{
		Client: cfg.Side == contract.SideClient, Send: sessionoracle.Direction{Mode: cfg.Mode, Key: bytesIn(cfg.SendKey), Link: cfg.Link},
		Open:  sessionoracle.Direction{Mode: cfg.Mode, Key: bytesIn(cfg.ReceiveKey), Link: cfg.Link},
		Lanes: cfg.Lanes, ECN: cfg.Extensions&contract.ExtensionECN != 0, Timeout: cfg.Timeout, Tick: cfg.Tick, MessageRate: cfg.MessageRate,
		Sender: newChunkSender(cfg.Profile.Named, giveUp), Receiver: newChunkReceiver(giveUp),
	}
	if p := cfg.Profile.Repair; p != nil {
		c.Repair, c.Sender, c.Receiver = true, newRepairLane(*p, giveUp), newRepairLaneReceiver(giveUp)
	}
	for _, ch := range cfg.Channels {
		one := connectionoracle.ChannelConfig{ID: ch.ID, Unreliable: ch.Kind == contract.KindUnreliable, Priority: ch.Priority}
		if !one.Unreliable {
			f := channeloracle.Format{Window: *ch.Window, Data: *ch.Data, Group: *ch.Group}
			one.Sender = channeloracle.SenderConfig{Format: f, SendQueue: *ch.SendQueue, GiveUp: *ch.GiveUp}
			one.Receiver = channeloracle.ReceiverConfig{Format: f, Ordered: ch.Kind == contract.KindOrdered, GiveUp: *ch.GiveUp}
		} else {
			one.Sender.Format = channeloracle.Usual
		}
		c.Channels = append(c.Channels, one)
	}
	return connectionoracle.New(c, cfg.Begin)
}

// tracedConnection is a connection in a trace.
type tracedConnection struct {
	*connectionoracle.Connection
	lanes  int64
	ecn    bool
	chunks int64 // that were taken
	latest int64
}

// connectionTrace runs the oracle's connection through a trace.
func connectionTrace(cfg contract.ConnectionConfig, events []contract.ConnectionEvent) contract.ConnectionResponse {
	k := newTracedConnection(cfg)
	a := contract.ConnectionResponse{Answer: ok, Steps: []contract.ConnectionStep{}}
	for _, e := range events {
		a.Steps = append(a.Steps, k.step(e))
	}
	return a
}

func newTracedConnection(cfg contract.ConnectionConfig) *tracedConnection {
	return &tracedConnection{Connection: newConnection(cfg), lanes: cfg.Lanes, ecn: cfg.Extensions&contract.ExtensionECN != 0, latest: cfg.Begin}
}

func (k *tracedConnection) step(e contract.ConnectionEvent) contract.ConnectionStep {
	k.latest = max(k.latest, e.At)
	step := contract.ConnectionStep{Rows: []string{}, Datagrams: []string{}}
	if k.ecn {
		step.ECN = &contract.ConnectionECN{ECT: []bool{}, Marked: -k.Told()}
	}
	took := func(row string) {
		if row != "" {
			step.Rows = append(step.Rows, row)
		}
	}
	refused := func(code string) {
		if code != "" {
			step.Refused = &contract.Refused{Error: code, At: -1}
		}
	}
	switch e.Event {
	case contract.EventReceive:
		row, err := k.Receive(e.At, bytesIn(*e.Hex), e.ECN)
		if took(row); err != nil {
			code, at := connectionoracle.RefusalOf(err)
			step.Refused = &contract.Refused{Error: code, At: at}
		}
	case contract.EventPoll:
		for more := true; more; {
			rows, datagram := k.Poll(e.At)
			step.Rows = append(step.Rows, rows...)
			if more = datagram != nil; more {
				step.Datagrams = append(step.Datagrams, hex.EncodeToString(datagram))
				if k.ecn {
					step.ECN.ECT = append(step.ECN.ECT, k.ECT())
				}
			}
		}
	case contract.EventSend:
		lifetime := int64(0)
		if e.Lifetime.Value != nil {
			lifetime = *e.Lifetime.Value
		}
		refused(k.Send(e.At, *e.Channel, bytesIn(*e.Data), lifetime))
	case contract.EventRead:
		if got := k.Read(e.At, *e.Channel); got != nil {
			step.Read = &contract.ChannelRead{Sequence: uint16(got.Sequence), Skipped: got.Skipped}
			if !got.Skipped {
				step.Read.Data = hexOf(got.Data)
			}
		}
	case contract.EventSendChunk:
		code := k.SendChunk(e.At, trace.Data(uint16(k.chunks/max(k.lanes, 1)), int(*e.Size)))
		if refused(code); code == "" {
			k.chunks++
		}
	case contract.EventReadChunk:
		if data, some := k.ReadChunk(e.At); some {
			c := contentOf(data)
			step.Chunk = &c
		}
	case contract.EventClose:
		row, code := k.Close(e.At, *e.Code, *e.Text)
		took(row)
		refused(code)
	}
	if k.ecn {
		step.ECN.Marked += k.Told()
	}
	step.State = k.State()
	if why := k.Ended(); why != nil {
		step.Ended = &contract.ConnectionEnded{Why: why.Why}
		if why.Why == contract.EndedClosed {
			step.Ended.Code, step.Ended.Text, step.Ended.Remote = &why.Code, &why.Text, &why.Remote
		}
	}
	at, some := k.Deadline()
	step.Deadline = notBefore(k.latest, at, some)
	return step
}

// contentOf stands for data.
func contentOf(data []byte) contract.Content {
	return contract.Content{Size: len(data), CRC32: stream.CRC32(data)}
}
