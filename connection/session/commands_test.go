package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/conform/stateful"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

const ms = core.Millisecond

var commandWaits = []core.Micros{0, 0, 1, 20 * ms, 9_999, 10 * ms, 250 * ms, 1000 * ms, 3000 * ms, 4000 * ms, 5000 * ms, 10_000 * ms}

const waits = 14

var terms = session.Terms{Mode: session.MAC, Lanes: 2, Variants: 1, Timeout: 10 * core.Second}

func keyOf(identity uint64) session.Key { return session.Key{byte(identity), 5} }

// config is terms for a pair, with random bytes that a seed decides.
func config(seed byte) sessions.Config {
	random := make([]byte, 1<<13)
	_, _ = rand.NewChaCha8([32]byte{seed, 's'}).Read(random)
	return sessions.Config{Mode: terms.Mode.String(), Lanes: 2, Variants: 1, Timeout: 100, Format: bytesOf(0, 8), Random: conform.Bytes(random)}
}

// bytesOf is a number as on the wire.
func bytesOf(n uint64, size int) conform.Bytes {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return conform.Bytes(b)
}

func keyBytes(identity uint64) conform.Bytes {
	key := keyOf(identity)
	return conform.Bytes(key[:])
}

// deadline is the deadline of a pair.
func deadline(p *conform.Pair) core.Micros {
	if at := p.Look().Deadline; at.Is {
		return core.Micros(at.V)
	}
	return core.Never
}

// clientSystem is a client beside its oracle, and a server that answers it, or a forger.
type clientSystem struct {
	stateful.Objections
	stateful.Clock
	client  *conform.Pair
	server  *session.Server
	sent    [][]byte // by the client
	answers [][]byte // to it
	took    core.Micros
	random  *rand.Rand
}

func newClientSystem(identity uint64) *clientSystem {
	s := &clientSystem{random: rand.New(rand.NewPCG(1, 2))}
	cfg := sessions.ClientConfig{Identity: bytesOf(identity, 8), Key: bytesOf(0, 32), Config: config(7)}
	if identity != 0 {
		cfg.Key = keyBytes(identity)
	}
	s.client = sessions.Client.Pair(s, cfg)
	s.polls() // which begins it
	s.restart()
	return s
}

// does puts an event to the client.
func (s *clientSystem) does(e conform.Event) sessions.ClientStep {
	return s.client.Do(int64(s.Now), e).(sessions.ClientStep)
}

// polls polls the client, and returns the rows that it takes.
func (s *clientSystem) polls() []string {
	step := s.does(sessions.Poll{})
	for _, datagram := range step.Datagrams {
		s.sent = append(s.sent, []byte(datagram))
	}
	return step.Rows
}

// hears gives the client a message, and notes when it took a challenge.
func (s *clientSystem) hears(message []byte) sessions.ClientStep {
	step := s.does(sessions.Receive{Hex: conform.Bytes(message)})
	if slices.Contains(step.Rows, "I6") || slices.Contains(step.Rows, "I28") {
		s.took = s.Now
	}
	return step
}

func (s *clientSystem) restart() {
	s.server = check.Must(session.NewServer(session.ServerConfig{
		Terms: terms, Anonymous: true, MaxConnections: 2, Random: rand.NewChaCha8([32]byte{byte(s.random.Uint32())}),
		Keys: func(identity uint64) (session.Key, bool) { return keyOf(identity), true },
	}))
}

// answered gives a message to the server and keeps its answer.
func (s *clientSystem) answered(datagram []byte, from session.Address) {
	if answer, _, err := s.server.Receive(s.Now, from, datagram, nil); err == nil {
		s.answers = append(s.answers, answer)
	}
}

// changed returns a message with a bit changed, if an argument says so.
func changed(datagram []byte, arg int) []byte {
	out := append([]byte(nil), datagram...)
	if arg > 0 && len(out) > 0 {
		out[arg*7%len(out)] ^= 1 << (arg % 8)
	}
	return out
}

// edges are the moments around the one at which something is too old.
var edges = []core.Micros{-1, 0, 1}

// pick returns one of a list, counted from its end.
func pick(list [][]byte, arg int) []byte { return list[max(0, len(list)-1-arg)] }

var clientVerbs = []*stateful.Verb[*clientSystem]{
	{Weight: 8, Limits: stateful.Args{waits}, Run: func(s *clientSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[0], deadline(s.client))
		return fmt.Sprintf("poll at %d: %v", s.Now, s.polls())
	}},
	// One of the latest messages of the client arrives at the server.
	{Weight: 8, Limits: stateful.Args{4, 4, 20}, Run: func(s *clientSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was sent"
		}
		from := session.Address{1}
		if a[1] == 3 {
			from[0]++
		}
		s.answered(changed(pick(s.sent, a[0]), max(0, a[2]-17)), from)
		return fmt.Sprintf("at the server; %d answers", len(s.answers))
	}},
	// One of the latest answers, or a message of the client, arrives at it.
	{Weight: 10, Limits: stateful.Args{4, 30, 12}, Run: func(s *clientSystem, a stateful.Args) string {
		list := s.answers
		if a[2] == 11 {
			list = s.sent
		}
		if len(list) == 0 {
			return "nothing was answered"
		}
		datagram := changed(pick(list, a[0]), max(0, a[1]-22))
		return fmt.Sprintf("receive at %d %x...: %+v", s.Now, datagram[0], s.hears(datagram))
	}},
	{Weight: 2, Limits: stateful.Args{9}, Run: func(s *clientSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was sent"
		}
		m := check.Must(session.Decode(pick(s.sent, 0)))
		r := session.Message{Kind: session.KindRefused, Version: session.Version, Reason: session.Reason(1 + a[0])}
		r.Nonce = m.Nonce
		return fmt.Sprintf("forged REFUSED %v at %d: %v", r.Reason, s.Now, s.hears(check.Must(r.Append(nil))).Rows)
	}},
	// A forger's CHALLENGE, of any stamp.
	{Weight: 3, Limits: stateful.Args{3, 6}, Run: func(s *clientSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was sent"
		}
		for range 1 + a[1]*a[1]*a[1]/3 {
			c := session.Message{Kind: session.KindChallenge, Stamp: []uint64{0, 1<<62 - 1, s.random.Uint64() >> 2}[a[0]], Version: session.Version, Versions: session.Versions{session.Version}}
			c.Nonce = check.Must(session.Decode(pick(s.sent, 0))).Nonce
			c.Cookie[0] = byte(s.random.Uint32())
			s.hears(check.Must(c.Append(nil)))
		}
		return fmt.Sprintf("forged CHALLENGE at %d", s.Now)
	}},
	// It gets an answer when a cookie is, or a challenge was taken, about so long ago.
	{Weight: 2, Limits: stateful.Args{4, 3, 3}, Run: func(s *clientSystem, a stateful.Args) string {
		if len(s.answers) == 0 {
			return "nothing was answered"
		}
		s.Now = max(s.Now, s.took+[]core.Micros{session.CookieUse, session.CookieLife, session.CookieLife}[a[1]]+edges[a[2]])
		return fmt.Sprintf("late at %d: %v", s.Now, s.hears(pick(s.answers, a[0])).Rows)
	}},
	{Weight: 3, Limits: stateful.Args{waits, 3}, Run: func(s *clientSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[0], deadline(s.client))
		if a[1] > 0 && s.client.Product.(*sessions.ProductClient).Link() != nil {
			s.does(sessions.Data{})
		}
		if a[1] < 2 {
			s.does(sessions.Sent{})
		}
		return fmt.Sprintf("data at %d, %d", s.Now, a[1])
	}},
	{Weight: 1, Limits: stateful.Args{3}, Run: func(s *clientSystem, a stateful.Args) string {
		if a[0] > 0 {
			s.does(sessions.Move{})
		} else {
			s.restart()
		}
		return fmt.Sprintf("move, or a new server, at %d", s.Now)
	}},
	{Weight: 1, Limits: stateful.Args{12}, Run: func(s *clientSystem, a stateful.Args) string {
		if a[0] == 0 {
			s.does(sessions.Close{})
		}
		return fmt.Sprintf("close at %d", s.Now)
	}},
}

// The client does what its oracle does, whatever comes (section 5).
func TestCommandsToTheClient(t *testing.T) {
	for _, identity := range []uint64{0, 1} {
		stateful.Check(t, func() *clientSystem { return newClientSystem(identity) }, clientVerbs...)
	}
}

// serverSystem is a server beside its oracle, and clients that link to it.
type serverSystem struct {
	stateful.Objections
	stateful.Clock
	server  *conform.Pair
	clients [3]*session.Client
	sent    [][]byte
	linkAt  core.Micros // of the latest LINK

	identities [3]uint64
	random     byte
}

func newServerSystem(identities [3]uint64, mostPerPrefix int) *serverSystem {
	s := &serverSystem{identities: identities}
	cfg := sessions.ServerConfig{Config: config(3), Anonymous: true, MaxConnections: 3, MaxPerAddress: int64(mostPerPrefix)}
	for identity := uint64(1); identity < 9; identity++ {
		cfg.Keys = append(cfg.Keys, sessions.Key{Identity: bytesOf(identity, 8), Key: keyBytes(identity)})
	}
	s.server = sessions.Server.Pair(s, cfg)
	for i := range s.clients {
		s.begin(i, 0)
	}
	return s
}

// does puts an event to the server.
func (s *serverSystem) does(e conform.Event) sessions.ServerStep {
	return s.server.Do(int64(s.Now), e).(sessions.ServerStep)
}

// takes gives the server a datagram, and returns its answer.
func (s *serverSystem) takes(from int, datagram []byte) []byte {
	return []byte(s.does(sessions.ReceiveFrom{From: addresses[from], Hex: conform.Bytes(datagram)}).Answer.V)
}

// links are the links of all entries.
func (s *serverSystem) links() []int64 { return s.server.Oracle.(*sessions.OracleServer).Links() }

// begin begins a client.
func (s *serverSystem) begin(i, how int) {
	s.random++
	cfg := session.ClientConfig{Terms: terms, Identity: s.identities[i], Random: rand.NewChaCha8([32]byte{s.random, 9})}
	if cfg.Identity != 0 {
		cfg.Key = keyOf(1)
	}
	switch how {
	case 1:
		cfg.Identity, cfg.Key = 12, keyOf(12)
	case 2:
		cfg.Key = session.Key{}
	case 3:
		cfg.Protocol++
	case 4:
		cfg.Lanes = 0
	case 5:
		cfg.Format[0]++
	case 6:
		cfg.Variants = 2
	}
	s.clients[i] = check.Must(session.NewClient(s.Now, cfg))
}

// addresses are the addresses of clients: some share a prefix.
var addresses = []string{"192.0.2.1:1", "192.0.2.1:2", "[2001:db8::1]:1", "[2001:db8::2]:1", "192.0.2.9:1"}

// says gives the server what a client says, and the client what the server answers.
func (s *serverSystem) says(i, from int, arrives bool) (text string) {
	c := s.clients[i]
	for range 4 {
		datagram, ok := c.Poll(s.Now, nil)
		if !ok {
			break
		}
		s.sent = append(s.sent, datagram)
		if session.Kind(datagram[0]) == session.KindLink {
			s.linkAt = s.Now
		}
		if answer := s.takes(from, datagram); arrives && len(answer) > 0 {
			_ = c.Receive(s.Now, answer)
		}
		text += fmt.Sprintf(" %x", datagram[0])
	}
	return text + " " + c.State().String()
}

var serverVerbs = []*stateful.Verb[*serverSystem]{
	{Weight: 10, Limits: stateful.Args{3, 9, 3}, Run: func(s *serverSystem, a stateful.Args) string {
		s.Now += 60 * ms
		return fmt.Sprintf("at %d client %d says:%s", s.Now, a[0], s.says(a[0], min(a[1], 4), a[2] > 0))
	}},
	{Weight: 6, Limits: stateful.Args{12, 5, 30}, Run: func(s *serverSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was said"
		}
		answer := s.takes(a[1], changed(pick(s.sent, a[0]), max(0, a[2]-24)))
		return fmt.Sprintf("at %d an old message from address %d: %d bytes", s.Now, a[1], len(answer))
	}},
	// One arrives when a cookie is about as old as it may be.
	{Weight: 2, Limits: stateful.Args{4, 5, 3}, Run: func(s *serverSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was said"
		}
		s.Now = max(s.Now, s.linkAt+session.CookieLife+edges[a[2]])
		answer := s.takes(a[1], pick(s.sent, a[0]))
		return fmt.Sprintf("at %d a late message from address %d: %d bytes", s.Now, a[1], len(answer))
	}},
	// One anonymous client after the other links, and its connection ends.
	{Weight: 1, Limits: stateful.Args{6, 2}, Run: func(s *serverSystem, a stateful.Args) (text string) {
		for range a[0] {
			s.begin(2, 0)
			text += s.says(2, a[1], true)
			for _, link := range s.links() {
				s.does(sessions.End{Link: link, Reason: int64(session.ConnectionClosed)})
			}
		}
		return fmt.Sprintf("%d link and end at %d:%s", a[0], s.Now, text)
	}},
	{Weight: 4, Limits: stateful.Args{8}, Run: func(s *serverSystem, a stateful.Args) string {
		links := s.links()
		if len(links) > 0 {
			s.does(sessions.DataOf{Link: links[a[0]%len(links)]})
		}
		return fmt.Sprintf("data at %d of one of %d", s.Now, len(links))
	}},
	{Weight: 2, Limits: stateful.Args{8, 2}, Run: func(s *serverSystem, a stateful.Args) string {
		links := s.links()
		if len(links) > 0 {
			s.does(sessions.End{Link: links[a[0]%len(links)], Reason: int64([]session.Reason{session.ConnectionClosed, session.Replaced}[a[1]])})
		}
		return fmt.Sprintf("end at %d of one of %d", s.Now, len(links))
	}},
	{Weight: 4, Limits: stateful.Args{waits}, Run: func(s *serverSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[0], deadline(s.server))
		s.does(sessions.Poll{})
		return fmt.Sprintf("poll at %d", s.Now)
	}},
	{Weight: 3, Limits: stateful.Args{3, 2, 12}, Run: func(s *serverSystem, a stateful.Args) string {
		if a[1] == 0 {
			s.clients[a[0]].Move(s.Now)
			return fmt.Sprintf("client %d moves at %d", a[0], s.Now)
		}
		s.begin(a[0], a[2])
		return fmt.Sprintf("client %d begins again at %d, %d", a[0], s.Now, a[2])
	}},
}

// The server does what its oracle does, whatever comes (section 6).
func TestCommandsToTheServer(t *testing.T) {
	for _, identities := range [][3]uint64{{1, 1, 0}, {1, 0, 0}} {
		for most := range 2 {
			stateful.Check(t, func() *serverSystem { return newServerSystem(identities, 1+most) }, serverVerbs...)
		}
	}
}
