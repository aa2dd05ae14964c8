package sessions

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// tenth is the unit of timeouts.
const tenth = 100 * core.Millisecond

var modes = map[string]session.Mode{"crc": session.CRC, "mac": session.MAC, "aead": session.AEAD}

// random are the random bytes of a trace.
type random struct{ *strings.Reader }

// errRandom is the panic of a machine for which no random bytes are left: no trace of the contract.
var errRandom = errors.New("no random bytes are left")

func (r random) Read(b []byte) (int, error) {
	if _, err := io.ReadFull(r.Reader, b); err != nil {
		panic(errRandom)
	}
	return len(b), nil
}

// enoughRandom turns that panic into no step.
func enoughRandom(step *conform.Step) {
	if p := recover(); p != nil {
		if err, is := p.(error); !is || !errors.Is(err, errRandom) {
			panic(p)
		}
		*step = nil
	}
}

func (c *Config) terms() session.Terms {
	return session.Terms{
		Protocol: uint32(c.Protocol), Mode: modes[c.Mode], Lanes: int(c.Lanes), Variants: uint8(c.Variants),
		Extensions: uint16(c.Extensions), Timeout: core.Micros(c.Timeout) * tenth, Format: [8]byte([]byte(c.Format)),
	}
}

func identityOf(b conform.Bytes) uint64 { return binary.LittleEndian.Uint64([]byte(b)) }

// ProductClient is session.Client.
type ProductClient struct {
	*session.Client // nil before it begins
	cfg             session.ClientConfig
	latest          int64
}

// newProductClient returns a client, which begins at its first event.
func newProductClient(config any) (conform.Machine, error) {
	c := config.(ClientConfig)
	p := &ProductClient{cfg: session.ClientConfig{Terms: c.terms(), Identity: identityOf(c.Identity), Key: session.Key([]byte(c.Key))}}
	copy(p.cfg.ServerKey[:], c.Server)
	if c.Server != "" && zeros(c.Server) {
		return nil, errors.New("zeros are no key of a server")
	}
	if len(c.Random) < len(session.Nonce{})+len(session.Key{}) {
		return nil, errRandom
	}
	p.cfg.Random = strings.NewReader(string(c.Random))
	_, err := session.NewClient(0, p.cfg)
	p.cfg.Random = random{strings.NewReader(string(c.Random))}
	return p, err
}

// Do is the machine under test.
func (p *ProductClient) Do(at int64, e conform.Event) (step conform.Step) {
	defer enoughRandom(&step)
	now := core.Micros(at)
	if p.Client == nil {
		var err error
		if p.Client, err = session.NewClient(now, p.cfg); err != nil {
			panic(err) // the same configuration was accepted before
		}
	}
	s := ClientStep{Rows: []string{}, Datagrams: []conform.Bytes{}}
	if !p.event(now, e, &s) {
		return nil
	}
	p.latest = max(p.latest, at)
	s.State, s.Deadline = p.State().String(), conform.NotBefore(p.latest, int64(p.Deadline()), p.Deadline() != core.Never)
	if p.State() == session.Closed {
		s.Ended = conform.Some(endedBy(p.Err()))
	}
	return s
}

func (p *ProductClient) event(now core.Micros, e conform.Event, s *ClientStep) bool {
	switch e := e.(type) {
	case Poll:
		for more := true; more; {
			var datagram []byte
			if datagram, more = p.Client.Poll(now, nil); more {
				s.Datagrams = append(s.Datagrams, conform.Bytes(datagram))
			}
			s.Rows = append(s.Rows, string(p.Row()))
		}
		return true
	case Receive:
		p.receive(now, slices.Clip([]byte(e.Hex)), s)
		return true
	case Sent:
		p.Spoke(now)
		return true
	case Data:
		if p.Link() == nil {
			return false
		}
		p.Heard(now)
	case Move:
		p.Client.Move(now)
	case Close:
		p.Client.Close(now)
	}
	s.Rows = append(s.Rows, string(p.Row()))
	return true
}

func (p *ProductClient) receive(now core.Micros, datagram []byte, s *ClientStep) {
	before := bytes.Clone(datagram)
	m, undecodable := session.Decode(datagram)
	had := p.Link() != nil
	s.Refused = refusedBy(p.Client.Receive(now, datagram))
	if !bytes.Equal(datagram, before) {
		panic("the client changed the caller's datagram")
	}
	forClient := m.Kind == session.KindChallenge || m.Kind == session.KindLinked || m.Kind == session.KindRefused
	if undecodable != nil || !forClient {
		return // no row: it is no event of the table
	}
	s.Rows = append(s.Rows, string(p.Row()))
	if l := p.Link(); l != nil && !had {
		a := l.Agreed()
		s.Link = conform.Some(Link{
			int64(a.Link), int64(a.Lanes), int64(a.Variant), int64(a.Extensions), int64(a.Timeout / tenth), conform.Bytes(l.Seal(nil, []byte{0})),
		})
	}
}

// Inside is what steps do not show.
func (p *ProductClient) Inside() any { return p.Confirmed() }

func endedBy(err error) Ended {
	var refused *session.RefusedError
	switch {
	case errors.As(err, &refused):
		return Ended{Why: "refused", Reason: int64(refused.Reason), Proven: refused.Proven}
	case errors.Is(err, session.ErrTimeout):
		return Ended{Why: "timeout"}
	}
	return Ended{Why: "closed"}
}

// refusedBy is the refusal of a message. A message that is valid and of no use is not refused.
func refusedBy(err error) (r conform.Opt[conform.Refused]) {
	var e *session.Error
	if errors.As(err, &e) && !errors.Is(err, session.ErrUnexpected) && !isCounted(err) {
		r = conform.Some(conform.Refused{Error: string(e.Code()), At: e.Place()})
	}
	return r
}

// isCounted reports whether a PROOF was met by silence before the table.
func isCounted(err error) bool {
	return errors.Is(err, session.ErrCookie) || errors.Is(err, session.ErrStaleCookie) || errors.Is(err, session.ErrShare)
}

// ProductServer is session.Server.
type ProductServer struct {
	*session.Server
	entries []*session.Entry // all that there ever were
	latest  int64
}

// newProductServer returns a server without entries.
func newProductServer(config any) (_ conform.Machine, err error) {
	c := config.(ServerConfig)
	keys := map[uint64]session.Key{}
	for _, k := range c.Keys {
		if identityOf(k.Identity) == 0 {
			return nil, errors.New("identity 0 has no key")
		}
		keys[identityOf(k.Identity)] = session.Key([]byte(k.Key))
	}
	if len(c.Random) < len(session.Key{}) {
		return nil, errRandom
	}
	p := &ProductServer{}
	var private session.Key
	copy(private[:], c.Server)
	if c.Server != "" && zeros(c.Server) {
		return nil, errors.New("zeros are no key of a server")
	}
	p.Server, err = session.NewServer(session.ServerConfig{
		Terms: c.terms(), Anonymous: c.Anonymous, MaxConnections: int(c.MaxConnections), MaxPerAddress: int(c.MaxPerAddress),
		Random: random{strings.NewReader(string(c.Random))}, PrivateKey: private,
		Keys: func(identity uint64) (session.Key, bool) {
			key, ok := keys[identity]
			return key, ok
		},
	})
	return p, err
}

// find returns the entry of a link.
func (p *ProductServer) find(link int64) *session.Entry {
	for _, e := range p.entries {
		if e.ID() != 0 && int64(e.ID()) == link {
			return e
		}
	}
	return nil
}

// Do is the machine under test.
func (p *ProductServer) Do(at int64, e conform.Event) (step conform.Step) {
	defer enoughRandom(&step)
	s := ServerStep{Rows: []string{}}
	if !p.event(core.Micros(at), e, &s) {
		return nil
	}
	p.latest = max(p.latest, at)
	stats := p.Stats()
	s.Living, s.Ended = int64(stats.Living), int64(stats.Ended)
	s.Deadline = conform.NotBefore(p.latest, int64(p.Deadline()), p.Deadline() != core.Never)
	return s
}

func (p *ProductServer) event(now core.Micros, e conform.Event, s *ServerStep) bool {
	took := func(event session.Event) {
		if event.Row != "" {
			s.Rows = append(s.Rows, string(event.Row))
		}
	}
	var entry *session.Entry
	switch e := e.(type) {
	case ReceiveFrom:
		took(p.receive(now, e, s))
		return true
	case Poll:
		for event, more := p.Server.Poll(now); more; event, more = p.Server.Poll(now) {
			took(event)
		}
		slices.Sort(s.Rows)
		return true
	case DataOf:
		if entry = p.find(e.Link); entry == nil {
			return false
		}
		took(p.Heard(now, entry))
	case End:
		if entry = p.find(e.Link); entry == nil {
			return false
		}
		took(p.Server.End(now, entry, session.Reason(e.Reason)))
	}
	s.Entry = conform.Some(entryOf(entry))
	return true
}

func entryOf(e *session.Entry) Entry {
	address := e.Address()
	return Entry{Link: int64(e.ID()), State: e.State().String(), Address: conform.Bytes(address[:])}
}

func (p *ProductServer) receive(now core.Micros, e ReceiveFrom, s *ServerStep) session.Event {
	datagram := slices.Clip([]byte(e.Hex))
	_, undecodable := session.Decode(datagram)
	s.Refused = refusedBy(undecodable)
	answer, event, err := p.Server.Receive(now, session.AddressOfText(e.From), datagram, nil)
	if string(datagram) != string(e.Hex) {
		panic("the server changed the caller's datagram")
	}
	if len(answer) > 0 {
		s.Answer = conform.Some(conform.Bytes(answer))
	}
	var refused *session.Error
	if isCounted(err) && errors.As(err, &refused) {
		s.Counted = conform.Some(string(refused.Code()))
	}
	if event.Entry == nil {
		return event
	}
	entry := entryOf(event.Entry)
	if event.Kind == session.EventMade {
		if !slices.Contains(p.entries, event.Entry) { // it was, if its connection is another one now
			p.entries = append(p.entries, event.Entry)
		}
		entry.Sealed = conform.Some(conform.Bytes(event.Entry.Link().Seal(nil, []byte{0})))
	}
	s.Entry = conform.Some(entry)
	return event
}

// Inside is what the server knows of each entry that it has.
func (p *ProductServer) Inside() any {
	var list []string
	for _, e := range p.entries {
		if e.ID() == 0 || e.State() == session.Free {
			continue
		}
		found, reason := p.Find(e.ID()) == e, session.Reason(0)
		if e.State() == session.Ended {
			reason = e.Reason()
		}
		list = append(list, fmt.Sprintf("%08x %v %x %x %d %v", e.ID(), e.State(), e.Address(), binary.LittleEndian.AppendUint64(nil, e.Identity()), reason, found))
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}
