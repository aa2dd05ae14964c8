package trace

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// tracedConnection is a connection in a trace.
type tracedConnection struct {
	conn   *connection.Conn
	lanes  int64
	chunks int64 // that were taken
}

// RunConnection takes one end of a connection through a trace (CXO-12, CXO-13). It fails with
// ErrUnsupported or ErrBadRequest.
func RunConnection(cfg contract.ConnectionConfig, events []contract.ConnectionEvent) ([]contract.ConnectionStep, error) {
	c, err := newConnection(cfg)
	if err != nil {
		return nil, err
	}
	steps := make([]contract.ConnectionStep, len(events))
	latest := cfg.Begin
	for i, e := range events {
		latest = max(latest, e.At)
		told := c.conn.Counts().CEReported
		if cfg.Extensions&session.ExtensionECN != 0 {
			steps[i].ECN = &contract.ConnectionECN{ECT: []bool{}}
		}
		if err := c.event(e, &steps[i]); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		if steps[i].ECN != nil {
			steps[i].ECN.Marked = c.conn.Counts().CEReported - told
		}
		steps[i].State, steps[i].Ended, steps[i].Deadline = c.conn.State().String(), connectionEnded(c.conn.Err()), notBefore(latest, c.conn.Deadline())
	}
	return steps, nil
}

// newConnection returns the connection of a trace.
func newConnection(cfg contract.ConnectionConfig) (*tracedConnection, error) {
	bad := func(err error) (*tracedConnection, error) {
		return nil, fmt.Errorf("%w: the config: %w", ErrBadRequest, err)
	}
	send, err1 := keyOf(cfg.SendKey)
	receive, err2 := keyOf(cfg.ReceiveKey)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if cfg.Begin < 0 || cfg.Begin >= maxTime || cfg.Tick < 1 || cfg.MessageRate < 1 {
		return nil, ErrBadRequest
	}
	agreed := session.Agreed{Link: uint32(cfg.Link), Lanes: int(cfg.Lanes), Extensions: uint16(cfg.Extensions), Timeout: core.Micros(cfg.Timeout) * Tenth}
	if cfg.Lanes > 0 {
		agreed.Variant = uint8(max(cfg.Variant, session.VariantSlices))
	}
	link := session.NewLink(session.LinkConfig{Mode: modes[cfg.Mode], Agreed: agreed, Seal: send, Open: receive})
	chunks, err := lanesConfig(cfg.Profile)
	if err != nil {
		return nil, err
	}
	c := connection.Config{
		Terms:    session.Terms{Mode: modes[cfg.Mode], Timeout: agreed.Timeout},
		Channels: []channel.Config{}, Tick: core.Micros(cfg.Tick), MessageRate: cfg.MessageRate,
		Chunks: chunks,
	}
	for _, one := range cfg.Channels {
		ch, err := connectionChannel(one)
		if err != nil {
			return nil, err
		}
		c.Channels = append(c.Channels, ch)
	}
	side := map[string]connection.Side{contract.SideClient: connection.ClientSide, contract.SideServer: connection.ServerSide}[cfg.Side]
	conn, err := connection.NewConn(c, link, side, core.Micros(cfg.Begin))
	if err != nil {
		return bad(err)
	}
	return &tracedConnection{conn: conn, lanes: cfg.Lanes}, nil
}

// lanesConfig returns the configuration of lanes with a profile of their variant.
func lanesConfig(p contract.LaneProfile) (c lanes.Config, err error) {
	if p.Repair != nil {
		_, err = NewRule(*p.Repair)
		c.NewRepairScheduler = func() (statemachine.Scheduler, error) { return NewRule(*p.Repair) }
		return c, err
	}
	_, err = NewScheduler(p.Named)
	c.NewScheduler = func() (statemachine.Scheduler, error) { return NewScheduler(p.Named) }
	return c, err
}

// connectionChannel returns the configuration of a channel.
func connectionChannel(one contract.ConnectionChannel) (c channel.Config, err error) {
	if one.ID < 0 || one.ID >= channel.MaxChannels || one.Priority < 0 || one.Priority > 255 {
		return c, ErrBadRequest
	}
	if one.Kind == contract.KindUnreliable {
		c = channel.Config{Kind: channel.Unreliable}
	} else {
		window, err1 := bounded(one.Window, 1, 1<<30)
		data, err2 := bounded(one.Data, 1, 1<<30)
		group, err3 := bounded(one.Group, 1, 1<<30)
		queue, err4 := bounded(one.SendQueue, 1, 1<<30)
		giveUp, err5 := bounded(one.GiveUp, 1, longestUS)
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			return c, ErrBadRequest
		}
		kind, known := map[string]channel.Kind{contract.KindOrdered: channel.Ordered, contract.KindUnordered: channel.Unordered}[one.Kind]
		if !known {
			return c, ErrBadRequest
		}
		c = channel.Config{Kind: kind, Format: channel.Format{Window: int(window), Data: int(data), Group: int(group)}, SendQueue: int(queue), GiveUp: core.Micros(giveUp)}
	}
	c.ID, c.Priority = uint8(one.ID), int(one.Priority)
	return c, err
}

// connectionEnded is why a connection ends.
func connectionEnded(err error) *contract.ConnectionEnded {
	var closed *connection.ClosedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &closed):
		code := int64(closed.Code)
		return &contract.ConnectionEnded{Why: contract.EndedClosed, Code: &code, Text: &closed.Text, Remote: &closed.Remote}
	case errors.Is(err, session.ErrTimeout):
		return &contract.ConnectionEnded{Why: contract.EndedTimeout}
	}
	return &contract.ConnectionEnded{Why: contract.EndedFailed}
}

// connectionRefused is why a datagram, or what the application gave, was refused.
func connectionRefused(err error) *contract.Refused {
	var placed *core.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &placed):
		return &contract.Refused{Error: string(placed.Code()), At: placed.Place()}
	case errors.Is(err, lanes.ErrBusy):
		return &contract.Refused{Error: "busy", At: core.NoPlace}
	case errors.Is(err, statemachine.ErrChunkSize):
		return &contract.Refused{Error: "chunk_size", At: core.NoPlace}
	case errors.Is(err, connection.ErrNoLanes):
		return &contract.Refused{Error: "no_lanes", At: core.NoPlace}
	}
	return &contract.Refused{Error: "ended", At: core.NoPlace}
}

func (c *tracedConnection) event(e contract.ConnectionEvent, step *contract.ConnectionStep) error {
	step.Rows, step.Datagrams = []string{}, []string{}
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	now := core.Micros(e.At)
	switch e.Event {
	case contract.EventReceive:
		datagram, err := bytesOf(e.Hex)
		ecn, known := fieldECN[e.ECN]
		if err != nil || !known {
			return ErrBadRequest
		}
		wasClosed := c.conn.State() == connection.Closed
		if err := c.conn.ReceiveECN(now, datagram, ecn); !wasClosed {
			step.Refused = connectionRefused(err)
		}
		step.Rows = append(step.Rows, string(c.conn.Row()))
	case contract.EventPoll:
		c.poll(now, step)
	case contract.EventClose:
		return c.close(now, e, step)
	case contract.EventReadChunk:
		if data, ok := c.conn.ReadChunk(now, nil); ok {
			chunk := Content(data)
			step.Chunk = &chunk
		}
	case contract.EventSend, contract.EventRead, contract.EventSendChunk:
		return c.application(now, e, step)
	default:
		return ErrUnsupported
	}
	return nil
}

// fieldECN is the field by its name.
var fieldECN = map[string]connection.ECN{"": connection.NotECT, contract.ECT1: connection.ECT1, contract.ECT0: connection.ECT0, contract.CE: connection.CE}

// rowTo is the row by which a poll goes from a state to another one; it is not the last of the
// poll.
var rowTo = map[[2]connection.State]string{
	{connection.Open, connection.Closed}: "K5", {connection.Open, connection.Closing}: "K6", {connection.Closing, connection.Closed}: "K12",
}

// poll polls until no datagram comes.
func (c *tracedConnection) poll(now core.Micros, step *contract.ConnectionStep) {
	for more := true; more; {
		var datagram []byte
		before := c.conn.State()
		if datagram, more = c.conn.Poll(now, nil); more {
			step.Datagrams = append(step.Datagrams, hex.EncodeToString(datagram))
			if step.ECN != nil {
				step.ECN.ECT = append(step.ECN.ECT, c.conn.ECT())
			}
		}
		if row, ok := rowTo[[2]connection.State{before, c.conn.State()}]; ok {
			step.Rows = append(step.Rows, row)
		}
		step.Rows = append(step.Rows, string(c.conn.Row()))
	}
}

func (c *tracedConnection) close(now core.Micros, e contract.ConnectionEvent, step *contract.ConnectionStep) error {
	code, err := bounded(e.Code, 0, 65535)
	if err != nil || e.Text == nil {
		return ErrBadRequest
	}
	if err := c.conn.Close(now, uint16(code), *e.Text); err != nil {
		step.Refused = connectionRefused(err)
		return nil
	}
	step.Rows = append(step.Rows, string(c.conn.Row()))
	return nil
}

// application is what the application does but to close.
func (c *tracedConnection) application(now core.Micros, e contract.ConnectionEvent, step *contract.ConnectionStep) error {
	if e.Event == contract.EventSendChunk {
		size, err := bounded(e.Size, 0, 2*codec.MaxChunkSize)
		if err != nil {
			return err
		}
		if _, err = c.conn.SendChunk(now, Data(uint16(c.chunks/max(c.lanes, 1)), int(size))); err == nil {
			c.chunks++
		}
		step.Refused = connectionRefused(err)
		return nil
	}
	id, err := bounded(e.Channel, 0, 255)
	if err != nil {
		return err
	}
	if e.Event == contract.EventRead {
		if m, ok := c.conn.Read(now, uint8(id), nil); ok {
			step.Read = &contract.ChannelRead{Sequence: uint16(m.Sequence), Skipped: m.Skipped}
			if data := hex.EncodeToString(m.Data); !m.Skipped {
				step.Read.Data = &data
			}
		}
		return nil
	}
	data, err := bytesOf(e.Data)
	if err != nil || !e.Lifetime.Is {
		return ErrBadRequest
	}
	lifetime := int64(0)
	if e.Lifetime.Value != nil {
		if lifetime, err = bounded(e.Lifetime.Value, 1, longestUS); err != nil {
			return err
		}
	}
	step.Refused = connectionRefused(c.conn.Send(now, uint8(id), data, core.Micros(lifetime)))
	return nil
}
