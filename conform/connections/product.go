package connections

import (
	"errors"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Product is connection.Conn.
type Product struct {
	*connection.Conn
	cfg    Config
	chunks int64 // that were taken
	news   int   // datagrams with news
	latest int64
}

var (
	modes = map[string]session.Mode{"crc": session.CRC, "mac": session.MAC, "aead": session.AEAD}
	sides = map[string]connection.Side{Client: connection.ClientSide, Server: connection.ServerSide}
	kinds = map[string]channel.Kind{unreliable: channel.Unreliable, latest: channel.Latest, "ordered": channel.Ordered, "unordered": channel.Unordered}
	ecns  = map[string]connection.ECN{"": connection.NotECT, "ect1": connection.ECT1, "ect0": connection.ECT0, "ce": connection.CE}
)

// mostQueue is how much an unreliable channel keeps. The contract has no limit of it.
const mostQueue = 1 << 24

// newProduct returns one end that begins at the time of its configuration.
func newProduct(config any) (conform.Machine, error) {
	c := config.(Config)
	if !c.fits() {
		return nil, errConfig
	}
	chunks, err := lanesConfig(c.Profile)
	if err != nil {
		return nil, err
	}
	agreed := session.Agreed{Link: uint32(c.Link), Lanes: int(c.Lanes), Extensions: uint16(c.Extensions), Timeout: core.Micros(c.Timeout) * 100 * core.Millisecond}
	if c.Lanes > 0 {
		agreed.Variant = uint8(max(c.Variant, session.VariantSlices))
	}
	cfg := connection.Config{
		Terms:    session.Terms{Mode: modes[c.Mode], Timeout: agreed.Timeout},
		Channels: ProductChannels(c.Channels), Tick: core.Micros(c.Tick), MessageRate: c.MessageRate, Chunks: chunks,
	}
	copy(cfg.Seed[:], c.Seed.V)
	link := session.LinkConfig{Mode: modes[c.Mode], Agreed: agreed, Seal: session.Key([]byte(c.SendKey)), Open: session.Key([]byte(c.ReceiveKey))}
	conn, err := connection.NewConn(cfg, session.NewLink(link), sides[c.Side], core.Micros(c.Begin))
	return &Product{Conn: conn, cfg: c, latest: c.Begin}, err
}

// ProductChannels returns channels as the product is given them.
func ProductChannels(of []Channel) []channel.Config {
	list := []channel.Config{}
	for _, c := range of {
		list = append(list, channel.Config{
			ID: uint8(c.ID), Kind: kinds[c.Kind], Priority: int(c.Priority), SendQueue: int(c.SendQueue.V), GiveUp: core.Micros(c.GiveUp.V),
			Format:     channel.Format{Window: int(c.Window.V), Data: int(c.Data.V), Group: int(c.Group.V)},
			QueueBytes: mostQueue,
		})
	}
	return list
}

// lanesConfig returns the configuration of lanes with a profile of their variant.
func lanesConfig(p Profile) (c lanes.Config, err error) {
	if p.Rule.Is {
		_, err = p.Rule.V.NewScheduler()
		c.NewRepairScheduler = p.Rule.V.NewScheduler
		return c, err
	}
	_, err = p.Base.NewScheduler()
	c.NewScheduler = p.Base.NewScheduler
	return c, err
}

// Do is the machine under test.
func (p *Product) Do(at int64, e conform.Event) conform.Step {
	now := core.Micros(at)
	s := Step{Rows: []string{}, Datagrams: []conform.Bytes{}}
	told, ect := p.Counts().CEReported, []bool{}
	switch e := e.(type) {
	case Poll:
		ect = p.poll(now, &s)
	case Receive:
		p.receive(now, e, &s)
	case Send:
		s.Refused = p.given(p.Conn.Send(now, uint8(e.Channel), []byte(e.Data), core.Micros(e.Lifetime.V)))
	case Tick:
		p.Conn.SendNow(now)
	case Read:
		if m, ok := p.Conn.Read(now, uint8(e.Channel), nil); ok {
			s.Read = conform.Some(Got{uint16(m.Sequence), conform.If(conform.Bytes(m.Data), !m.Skipped), m.Skipped})
		}
	case SendChunk:
		_, err := p.Conn.SendChunk(now, chunks.Data(uint16(p.chunks/max(p.cfg.Lanes, 1)), int(e.Size)))
		if s.Refused = p.given(err); err == nil {
			p.chunks++
		}
	case ReadChunk:
		if data, ok := p.Conn.ReadChunk(now, nil); ok {
			s.Chunk = conform.Some(chunks.ContentOf(data))
		}
	case Close:
		if err := p.Conn.Close(now, uint16(e.Code), e.Text); err != nil {
			s.Refused = refused(err)
		} else {
			s.Rows = append(s.Rows, string(p.Row()))
		}
	}
	p.finish(at, &s, ect, told)
	return s
}

// finish fills in what any event leaves.
func (p *Product) finish(at int64, s *Step, ect []bool, told int64) {
	p.latest = max(p.latest, at)
	s.State, s.Ended, s.Deadline = p.State().String(), ended(p.Err()), conform.NotBefore(p.latest, int64(p.Deadline()), p.Deadline() != core.Never)
	if rtt, ok := p.RTT(); ok {
		remote, _ := p.Remote()
		s.Clock = conform.Some(Clock{int64(rtt), int64(remote.Low), int64(remote.High)})
	}
	s.ECN = conform.If(Marks{ect, p.Counts().CEReported - told}, p.cfg.Extensions&ECN != 0)
}

func (p *Product) receive(now core.Micros, e Receive, s *Step) {
	datagram := []byte(e.Hex)
	datagram = datagram[:len(datagram):len(datagram)]
	wasClosed := p.State() == connection.Closed
	news, err := connection.ReceiveNews(p.Conn, now, datagram, ecns[e.ECN])
	if !wasClosed {
		s.Refused = refused(err)
	}
	if news {
		p.news++
	}
	if string(datagram) != string(e.Hex) {
		panic("the connection changed the caller's datagram")
	}
	s.Rows = append(s.Rows, string(p.Row()))
}

// rowTo is the row by which a poll goes from a state to another one; it is not the last of the poll.
var rowTo = map[[2]connection.State]string{
	{connection.Open, connection.Closed}: "K5", {connection.Open, connection.Closing}: "K6", {connection.Closing, connection.Closed}: "K12",
}

// poll polls until no datagram comes, and returns which are to be sent with ECT(0).
func (p *Product) poll(now core.Micros, s *Step) (ect []bool) {
	ect = []bool{}
	for more := true; more; {
		var datagram []byte
		before := p.State()
		if datagram, more = p.Conn.Poll(now, nil); more {
			s.Datagrams, ect = append(s.Datagrams, conform.Bytes(datagram)), append(ect, p.ECT())
		}
		if row, ok := rowTo[[2]connection.State{before, p.State()}]; ok {
			s.Rows = append(s.Rows, row)
		}
		s.Rows = append(s.Rows, string(p.Row()))
	}
	return ect
}

// Inside is what steps do not show: whether the packet layer is in GOOD.
func (p *Product) Inside() any { return p.Mode().String() == "GOOD" }

// ended is why a connection ends.
func ended(err error) (why conform.Opt[Ended]) {
	var closed *connection.ClosedError
	switch {
	case err == nil:
		return why
	case errors.As(err, &closed):
		return conform.Some(Ended{"closed", conform.Some(int64(closed.Code)), conform.Some(closed.Text), conform.Some(closed.Remote)})
	case errors.Is(err, session.ErrTimeout):
		return conform.Some(Ended{Why: "timeout"})
	case errors.Is(err, connection.ErrLied):
		return conform.Some(Ended{Why: "lied"})
	case errors.Is(err, errEnded):
		return conform.Some(Ended{Why: "ended"})
	}
	return conform.Some(Ended{Why: "failed"})
}

// given is why something that the application gave was refused. The error of an end that is not OPEN
// says why it is not, with the code of the layer that failed.
func (p *Product) given(err error) conform.Opt[conform.Refused] {
	if err != nil && p.State() != connection.Open {
		return conform.Some(conform.Refused{Error: "ended", At: core.NoPlace})
	}
	return refused(err)
}

// refused is why a datagram, or something that the application gave, was refused.
func refused(err error) (r conform.Opt[conform.Refused]) {
	var placed *core.Error
	code := "ended"
	switch {
	case err == nil:
		return r
	case errors.As(err, &placed):
		return conform.Some(conform.Refused{Error: string(placed.Code()), At: placed.Place()})
	case errors.Is(err, connection.ErrLied):
		code = "lie"
	case errors.Is(err, lanes.ErrBusy):
		code = "busy"
	case errors.Is(err, statemachine.ErrChunkSize):
		code = "chunk_size"
	case errors.Is(err, connection.ErrNoLanes):
		code = "no_lanes"
	}
	return conform.Some(conform.Refused{Error: code, At: core.NoPlace})
}
