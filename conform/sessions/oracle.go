package sessions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
)

// Offer is the fields of a message that a configuration sets.
func (c *Config) Offer() sessionoracle.Message {
	return sessionoracle.Message{
		Protocol: c.Protocol, Mode: c.Mode, Lanes: c.Lanes, Variants: c.Variants, Extensions: c.Extensions, Timeout: c.Timeout, Format: []byte(c.Format),
	}
}

// enoughForOracle turns the panic of an oracle for which no random bytes are left into no step.
func enoughForOracle(step *conform.Step) {
	switch p := recover(); p {
	case nil:
	case sessionoracle.ErrRandom:
		*step = nil
	default:
		panic(p)
	}
}

// OracleClient is the oracle's client.
type OracleClient struct {
	*sessionoracle.Client // nil before it begins
	cfg                   ClientConfig
	latest                int64
}

// errConfig is a configuration that CXP-1 does not allow, or random bytes for no message.
var errConfig = errors.New("sessions: the fields of the configuration do not fit")

// zeros reports whether all bytes are 0.
func zeros(b conform.Bytes) bool { return strings.Trim(string(b), "\x00") == "" }

// optional are bytes, or nil if they are absent.
func optional(b conform.Bytes) []byte {
	if b == "" {
		return nil
	}
	return []byte(b)
}

// newOracleClient returns a client, which begins at its first event.
func newOracleClient(config any) (conform.Machine, error) {
	c := config.(ClientConfig)
	if c.Server != "" && !new(sessionoracle.Derived).Know([]byte(conform.Ascending(1, 32)), []byte(c.Server)) || zeros(c.Identity) && !zeros(c.Key) || (!zeros(c.Identity) || c.Server != "") && c.Mode == sessionoracle.CRC || len(c.Random) < 48 {
		return nil, errConfig
	}
	return &OracleClient{cfg: c}, nil
}

// Begin begins the client, unless it has begun.
func (o *OracleClient) Begin(at int64) {
	if o.Client == nil {
		offer := o.cfg.Offer()
		offer.Identity = []byte(o.cfg.Identity)
		o.Client = sessionoracle.NewClient(offer, []byte(o.cfg.Key), optional(o.cfg.Server), &sessionoracle.Random{Left: []byte(o.cfg.Random)}, at)
	}
}

// Do is the machine under test.
func (o *OracleClient) Do(at int64, e conform.Event) (step conform.Step) {
	defer enoughForOracle(&step)
	o.Begin(at)
	s := ClientStep{Rows: []string{}, Datagrams: []conform.Bytes{}}
	took := func(row string) {
		if row != "" {
			s.Rows = append(s.Rows, row)
		}
	}
	switch e := e.(type) {
	case Poll:
		for more := true; more; {
			row, datagram := o.Client.Poll(at)
			took(row)
			if more = datagram != nil; more {
				s.Datagrams = append(s.Datagrams, conform.Bytes(datagram))
			}
		}
	case Receive:
		row, err := o.Client.Receive(at, []byte(e.Hex))
		took(row)
		s.Refused = refusedByOracle(err)
		if row == "I8" {
			m, keys := o.Linked()
			s.Link = conform.Some(Link{m.Link, m.Lanes, m.Variant, m.Extensions, m.Timeout, firstSealed(o.cfg.Mode, m.Link, keys.C2S)})
		}
	case Data:
		if m, _ := o.Linked(); m.Link == 0 {
			return nil // there is no link
		}
		took(o.Client.Data(at))
	case Sent:
		o.Client.Sent(at)
	case Move:
		took(o.Client.Move(at))
	case Close:
		took(o.Client.Close(at))
	}
	o.latest = max(o.latest, at)
	s.State, s.Deadline = o.State(), o.Look().Deadline
	if s.State == sessionoracle.StateClosed {
		s.Ended = conform.Some(endedByOracle(o.Client.Ended()))
	}
	return s
}

// Look is what those that make events can see.
func (o *OracleClient) Look() (l conform.Look) {
	if o.Client != nil {
		at, some := o.Deadline()
		l.Deadline = conform.NotBefore(o.latest, at, some)
	}
	return l
}

// Inside is what steps do not show.
func (o *OracleClient) Inside() any { return o.Confirmed() }

func endedByOracle(e sessionoracle.Ended) Ended {
	switch {
	case e.Timeout:
		return Ended{Why: "timeout"}
	case e.Reason == 0:
		return Ended{Why: "closed"}
	}
	return Ended{Why: "refused", Reason: e.Reason, Proven: e.Proven}
}

func refusedByOracle(err error) (r conform.Opt[conform.Refused]) {
	var e *sessionoracle.Error
	if errors.As(err, &e) {
		r = conform.Some(conform.Refused{Error: e.Code, At: e.At})
	}
	return r
}

// firstSealed is the first datagram of a direction, with the body 00.
func firstSealed(mode string, link int64, key []byte) conform.Bytes {
	return conform.Bytes(sessionoracle.Direction{Mode: mode, Key: key, Link: link}.Seal(0, []byte{0}))
}

// OracleServer is the oracle's server.
type OracleServer struct {
	*sessionoracle.Server
	cfg    ServerConfig
	latest int64
}

// newOracleServer returns a server without entries.
func newOracleServer(config any) (conform.Machine, error) {
	c := config.(ServerConfig)
	keys := map[string][]byte{}
	if c.Server != "" && zeros(c.Server) || (len(c.Keys) > 0 || c.Server != "") && c.Mode == sessionoracle.CRC || c.MaxPerAddress > c.MaxConnections || len(c.Random) < 32 {
		return nil, errConfig
	}
	for _, k := range c.Keys {
		if zeros(k.Identity) {
			return nil, errConfig
		}
		keys[string(k.Identity)] = []byte(k.Key)
	}
	return &OracleServer{cfg: c, Server: sessionoracle.NewServer(sessionoracle.ServerConfig{
		Offer: c.Offer(), Keys: keys, Anonymous: c.Anonymous, MaxConnections: c.MaxConnections, MaxPerAddress: c.MaxPerAddress,
		Private: optional(c.Server), Random: &sessionoracle.Random{Left: []byte(c.Random)},
	})}, nil
}

// Do is the machine under test.
func (o *OracleServer) Do(at int64, e conform.Event) (step conform.Step) {
	defer enoughForOracle(&step)
	var did sessionoracle.Step
	var err error
	switch e := e.(type) {
	case ReceiveFrom:
		did, err = o.Server.Receive(at, e.From, []byte(e.Hex))
	case DataOf:
		entry := o.Find(e.Link)
		if entry == nil {
			return nil
		}
		did = o.Server.Data(at, entry)
	case End:
		entry := o.Find(e.Link)
		if entry == nil {
			return nil
		}
		did = o.Server.End(at, entry, e.Reason)
	case Poll:
		did = o.Server.Poll(at)
	}
	o.latest = max(o.latest, at)
	s := ServerStep{Rows: append([]string{}, did.Rows...), Refused: refusedByOracle(err), Living: o.Living(), Ended: o.EndedEntries(), Deadline: o.Look().Deadline}
	if did.Answer != nil {
		s.Answer = conform.Some(conform.Bytes(did.Answer))
	}
	if did.Counted != "" {
		s.Counted = conform.Some(did.Counted)
	}
	if did.Entry != nil {
		entry := Entry{Link: did.Entry.Link, State: did.Entry.State, Address: conform.Bytes(did.Entry.Address)}
		if did.Made {
			entry.Sealed = conform.Some(firstSealed(o.cfg.Mode, entry.Link, did.Entry.Keys.S2C))
		}
		s.Entry = conform.Some(entry)
	}
	return s
}

// Links are the links of all entries.
func (o *OracleServer) Links() (links []int64) {
	for _, e := range o.Entries() {
		links = append(links, e.Link)
	}
	return links
}

// Look is what those that make events can see.
func (o *OracleServer) Look() (l conform.Look) {
	at, some := o.Deadline()
	l.Deadline = conform.NotBefore(o.latest, at, some)
	copy(l.Near[:], o.Links())
	return l
}

// Inside is what the server knows of each entry that it has.
func (o *OracleServer) Inside() any {
	var list []string
	for _, e := range o.Entries() {
		isLiving, reason := e.State != sessionoracle.StateEnded, int64(0)
		if !isLiving {
			reason = e.Reason()
		}
		list = append(list, fmt.Sprintf("%08x %v %x %x %d %v", e.Link, e.State, e.Address, e.Identity(), reason, isLiving))
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}
