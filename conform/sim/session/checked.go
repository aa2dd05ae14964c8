package session

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/conform/sim"
	protocol "github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// bytesOf returns the datagram of a message; nil of none.
func bytesOf(m *protocol.Message) []byte {
	if m == nil {
		return nil
	}
	datagram, err := m.Append(nil)
	if err != nil {
		panic(err) // a model makes no other
	}
	return datagram
}

// CheckedClient is a client beside its model: each event goes to both, and then everything that
// can be seen of the two must be the same.
type CheckedClient struct {
	Client *protocol.Client
	model  *ClientModel
	fail   sim.Fail
}

// NewCheckedClient returns a new client and its model, which draw the same from a seed. Of the
// configuration no field may be missing that has a default.
func NewCheckedClient(now core.Micros, cfg protocol.ClientConfig, seed byte, fail sim.Fail) (*CheckedClient, error) {
	cfg.Random = random(seed)
	c, err := protocol.NewClient(now, cfg)
	if err != nil {
		return nil, err
	}
	cfg.Random = random(seed)
	return &CheckedClient{c, NewClientModel(now, cfg), fail}, nil
}

// Poll is the event of the client.
func (c *CheckedClient) Poll(now core.Micros) (datagram []byte, ok bool) {
	datagram, ok = c.Client.Poll(now, nil)
	row, m := c.model.Poll(now)
	c.fail.Same("datagram", append([]byte(nil), datagram...), bytesOf(m))
	c.fail.Same("a datagram", ok, m != nil)
	c.compare(row)
	return datagram, ok
}

// Receive is the events challenge, linked and refused of the client. What is none of these
// changes nothing.
func (c *CheckedClient) Receive(now core.Micros, datagram []byte) error {
	before := bytes.Clone(datagram)
	err := c.Client.Receive(now, datagram)
	c.fail.Same("the caller's datagram", datagram, before)
	row := c.Client.Row()
	if m, refusal := protocol.Decode(datagram); refusal == nil {
		if taken := c.model.Receive(now, &m); taken != "" {
			row = taken
		}
	} else {
		c.model.now = max(c.model.now, now)
		c.fail.Same("refusal", err, refusal)
	}
	c.compare(row)
	return err
}

// Heard is the event data of the client.
func (c *CheckedClient) Heard(now core.Micros) {
	c.Client.Heard(now)
	if row := c.model.Heard(now); row != "" {
		c.compare(row)
	}
}

// Spoke says that a datagram of the link was sent.
func (c *CheckedClient) Spoke(now core.Micros) {
	c.Client.Spoke(now)
	c.model.Spoke(now)
	c.compare(c.Client.Row())
}

// Move is the event of the client.
func (c *CheckedClient) Move(now core.Micros) {
	c.Client.Move(now)
	c.compare(c.model.Move(now))
}

// Close is the event of the client.
func (c *CheckedClient) Close(now core.Micros) {
	c.Client.Close(now)
	c.compare(c.model.Close(now))
}

// compare compares all that can be seen.
func (c *CheckedClient) compare(row core.Row) {
	r, m := c.Client, c.model
	c.fail.Same("row", r.Row(), row)
	c.fail.Same("state", r.State().String(), m.state)
	c.fail.Same("deadline", max(m.now, r.Deadline()), max(m.now, m.Deadline()))
	c.fail.Same("confirmed", r.Confirmed(), m.confirmed)
	agreed := protocol.Agreed{}
	if r.Link() != nil {
		agreed = r.Link().Agreed()
	}
	c.fail.Same("agreed", agreed, m.agreed)
	var refused *protocol.RefusedError
	reason, proven := protocol.Reason(0), false
	if errors.As(r.Err(), &refused) {
		reason, proven = refused.Reason, refused.Proven
	}
	c.fail.Same("reason", reason, m.reason)
	c.fail.Same("proven", proven, m.proven)
	c.fail.Same("timed out", errors.Is(r.Err(), protocol.ErrTimeout), m.timedOut)
}

// Seals checks that both have the same keys: it opens what the client seals.
func (c *CheckedClient) Seals() {
	if c.Client.Link() == nil {
		return
	}
	far := protocol.NewLink(protocol.LinkConfig{Mode: c.Client.Link().Mode(), Agreed: c.model.agreed, Seal: c.model.keys.S2C, Open: c.model.keys.C2S})
	body, err := far.Open(nil, c.Client.Link().Seal(nil, []byte("body")))
	c.fail.Same("sealed", string(body), "body")
	c.fail.Same("refusal", err, nil)
}

// CheckedServer is a server beside its model, as CheckedClient is a client. It is told of
// entries by their links.
type CheckedServer struct {
	Server  *protocol.Server
	model   *ServerModel
	fail    sim.Fail
	entries map[uint32]*protocol.Entry
}

// NewCheckedServer returns a new server and its model, which draw the same from a seed.
func NewCheckedServer(cfg protocol.ServerConfig, seed byte, fail sim.Fail) (*CheckedServer, error) {
	cfg.Random = random(seed)
	s, err := protocol.NewServer(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Random = random(seed)
	return &CheckedServer{s, NewServerModel(cfg), fail, map[uint32]*protocol.Entry{}}, nil
}

// Receive is the event proof of the server, and LINK. It returns the answer.
func (s *CheckedServer) Receive(now core.Micros, from protocol.Address, datagram []byte) []byte {
	before := bytes.Clone(datagram)
	answer, event, err := s.Server.Receive(now, from, datagram, nil)
	s.fail.Same("the caller's datagram", datagram, before)
	var o outcome
	m, refusal := protocol.Decode(datagram)
	switch {
	case refusal == nil:
		o = s.model.Receive(now, from, &m)
	case errors.Is(refusal, protocol.ErrVersion) && protocol.Kind(datagram[0]) == protocol.KindLink && len(datagram) >= 64:
		o.answer = s.model.Version(now, protocol.Nonce(datagram[2:]))
	default:
		s.fail.Same("refusal", err, refusal)
	}
	s.fail.Same("answer", append([]byte(nil), answer...), bytesOf(o.answer))
	s.fail.Same("silence", err != nil, o.answer == nil)
	s.fail.Same("row", event.Row, o.row)
	if e := event.Entry; e != nil {
		delete(s.entries, event.Ended)
		s.entries[e.ID()] = e
	}
	s.compare()
	return answer
}

// Links returns the links of all entries.
func (s *CheckedServer) Links() (links []uint32) {
	for _, e := range s.model.entries {
		links = append(links, e.agreed.Link)
	}
	return links
}

// Heard is the event data of an entry.
func (s *CheckedServer) Heard(now core.Micros, link uint32) {
	event := s.Server.Heard(now, s.entries[link])
	s.fail.Same("row", event.Row, s.model.Heard(now, link))
	s.compare()
}

// End is the event end of an entry.
func (s *CheckedServer) End(now core.Micros, link uint32, reason protocol.Reason) {
	event := s.Server.End(now, s.entries[link], reason)
	s.fail.Same("row", event.Row, s.model.End(now, link, reason))
	s.compare()
}

// Poll is the event poll of all entries.
func (s *CheckedServer) Poll(now core.Micros) {
	rows := map[core.Row]int{}
	for event, ok := s.Server.Poll(now); ok; event, ok = s.Server.Poll(now) {
		rows[event.Row]++
	}
	halfOpened, remembered := s.model.Poll(now)
	s.fail.Same("half-open", rows["J10"], halfOpened)
	s.fail.Same("remembered", rows["J27"], remembered)
	s.compare()
}

// Deadline is that of the server.
func (s *CheckedServer) Deadline() core.Micros { return s.Server.Deadline() }

// compare compares all that can be seen.
func (s *CheckedServer) compare() {
	living, ended := 0, 0
	for _, m := range s.model.entries {
		e := s.entries[m.agreed.Link]
		if e == nil {
			s.fail("link %d is not known", m.agreed.Link)
			return
		}
		s.fail.Same("state", e.State().String(), m.state)
		s.fail.Same("link", e.ID(), m.agreed.Link)
		s.fail.Same("address", e.Address(), m.address)
		s.fail.Same("identity", e.Identity(), m.first.Identity)
		s.fail.Same("an envelope", e.Link() != nil, m.living())
		s.fail.Same("found", s.Server.Find(e.ID()) == e, m.living())
		if m.living() {
			living++
		} else {
			ended++
			s.fail.Same("reason", e.Reason(), m.reason)
		}
	}
	stats := s.Server.Stats()
	s.fail.Same("living", stats.Living, living)
	s.fail.Same("ended", stats.Ended, ended)
	s.fail.Same("deadline", s.Server.Deadline(), s.model.Deadline())
}
