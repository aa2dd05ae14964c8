package connections

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// Oracle is the oracle's connection.
type Oracle struct {
	*connectionoracle.Connection
	cfg    Config
	chunks int64 // that were taken
	latest int64
}

// newOracle returns one end that begins at the time of its configuration.
func newOracle(config any) (conform.Machine, error) {
	c := config.(Config)
	if !c.fits() || !c.allowed() {
		return nil, errConfig
	}
	cfg := connectionoracle.Config{
		Client: c.Side == Client,
		Send:   sessionoracle.Direction{Mode: c.Mode, Key: []byte(c.SendKey), Link: c.Link},
		Open:   sessionoracle.Direction{Mode: c.Mode, Key: []byte(c.ReceiveKey), Link: c.Link},
		Lanes:  c.Lanes, Repair: c.Profile.Rule.Is, ECN: c.Extensions&ECN != 0, Clock: c.Extensions&Clocks != 0, Timeout: c.Timeout, Tick: c.Tick, MessageRate: c.MessageRate, Seed: []byte(c.Seed.V),
	}
	kind, giveUp := chunkoracle.Named, connectionoracle.GiveUp(c.Timeout)
	if cfg.Repair {
		kind = chunkoracle.Repair
	}
	cfg.Sender = func() (*chunkoracle.Sender, *repairoracle.Rule) {
		if !cfg.Repair {
			return chunkoracle.NewSender(kind, 0, giveUp, c.Profile.Base.Oracle()), nil
		}
		rule := c.Profile.Rule.V.Oracle()
		return chunkoracle.NewSender(kind, 0, giveUp, rule), rule.Rule
	}
	cfg.Receiver = func() *chunkoracle.Receiver { return chunkoracle.NewReceiver(kind, 0, giveUp) }
	for _, ch := range c.Channels {
		cfg.Channels = append(cfg.Channels, ch.oracle())
	}
	return &Oracle{Connection: connectionoracle.New(cfg, c.Begin), cfg: c, latest: c.Begin}, nil
}

// allowed reports whether values go together (CHP-1, CHP-4).
func (c *Config) allowed() bool {
	ids := map[int64]bool{}
	for _, ch := range c.Channels {
		if ids[ch.ID] || ch.reliable() && ch.SendQueue.V < min(ch.Group.V, ch.Window.V) {
			return false
		}
		ids[ch.ID] = true
	}
	return true
}

func (ch *Channel) oracle() connectionoracle.ChannelConfig {
	one := connectionoracle.ChannelConfig{ID: ch.ID, Unreliable: !ch.reliable(), Latest: ch.Kind == latest, Priority: ch.Priority}
	if one.Unreliable {
		one.Sender.Format = channeloracle.Usual
		return one
	}
	f := channeloracle.Format{Window: ch.Window.V, Data: ch.Data.V, Group: ch.Group.V}
	one.Sender = channeloracle.SenderConfig{Format: f, SendQueue: ch.SendQueue.V, GiveUp: ch.GiveUp.V}
	one.Receiver = channeloracle.ReceiverConfig{Format: f, Ordered: ch.Kind == "ordered", GiveUp: ch.GiveUp.V}
	return one
}

// Do is the machine under test.
func (o *Oracle) Do(at int64, e conform.Event) conform.Step {
	s := Step{Rows: []string{}, Datagrams: []conform.Bytes{}}
	marks := Marks{ECT: []bool{}}
	hasMarks := o.cfg.Extensions&ECN != 0
	if hasMarks {
		marks.Marked = -o.Told()
	}
	took := func(row string) {
		if row != "" {
			s.Rows = append(s.Rows, row)
		}
	}
	refused := func(code string) { s.Refused = conform.If(conform.Refused{Error: code, At: -1}, code != "") }
	switch e := e.(type) {
	case Receive:
		row, err := o.Connection.Receive(at, []byte(e.Hex), e.ECN)
		if took(row); err != nil {
			code, place := connectionoracle.RefusalOf(err)
			s.Refused = conform.Some(conform.Refused{Error: code, At: place})
		}
	case Poll:
		for more := true; more; {
			rows, datagram := o.Connection.Poll(at)
			s.Rows = append(s.Rows, rows...)
			if more = datagram != nil; more {
				s.Datagrams, marks.ECT = append(s.Datagrams, conform.Bytes(datagram)), append(marks.ECT, o.ECT())
			}
		}
	case Send:
		refused(o.Connection.Send(at, e.Channel, []byte(e.Data), e.Lifetime.V))
	case Tick:
		o.Connection.Tick(at)
	case Read:
		if got := o.Connection.Read(at, e.Channel); got != nil {
			s.Read = conform.Some(Got{uint16(got.Sequence), conform.If(conform.Bytes(got.Data), !got.Skipped), got.Skipped})
		}
	case SendChunk:
		code := o.Connection.SendChunk(at, chunks.Data(uint16(o.chunks/max(o.cfg.Lanes, 1)), int(e.Size)))
		if refused(code); code == "" {
			o.chunks++
		}
	case ReadChunk:
		if data, some := o.Connection.ReadChunk(at); some {
			s.Chunk = conform.Some(chunks.Content{Size: len(data), CRC32: stream.CRC32(data)})
		}
	case Close:
		row, code := o.Connection.Close(at, e.Code, e.Text)
		took(row)
		refused(code)
	}
	return o.finish(at, s, marks)
}

// finish fills in what any event leaves.
func (o *Oracle) finish(at int64, s Step, marks Marks) Step {
	if o.cfg.Extensions&ECN != 0 {
		marks.Marked += o.Told()
		s.ECN = conform.Some(marks)
	}
	if c := o.Connection.Clocks(); c != nil {
		s.Clock = conform.Some(Clock{c.RTT, c.Low, c.High})
	}
	o.latest = max(o.latest, at)
	s.State, s.Ended, s.Deadline = o.State(), o.ended(), o.Look().Deadline
	return s
}

// ended is why the connection ends.
func (o *Oracle) ended() (e conform.Opt[Ended]) {
	why := o.Connection.Ended()
	switch {
	case why == nil:
		return e
	case why.Why != "closed":
		return conform.Some(Ended{Why: why.Why})
	}
	return conform.Some(Ended{why.Why, conform.Some(why.Code), conform.Some(why.Text), conform.Some(why.Remote)})
}

// Look is what those that make events can see.
func (o *Oracle) Look() (l conform.Look) {
	at, some := o.Connection.Deadline()
	l.Deadline = conform.NotBefore(o.latest, at, some)
	return l
}

// Inside is what steps do not show: whether the packet layer is in GOOD.
func (o *Oracle) Inside() any { return o.Good() }
