package session_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	sim "github.com/chunkwire/chunkwire/conform/sim/session"
	"github.com/chunkwire/chunkwire/conform/stateful"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

const ms = core.Millisecond

var commandWaits = []core.Micros{0, 0, 1, 20 * ms, 9_999, 10 * ms, 250 * ms, 1000 * ms, 3000 * ms, 4000 * ms, 5000 * ms, 10_000 * ms}

const waits = 14

var terms = session.Terms{Mode: session.CRC, Lanes: 2, Variants: 1, Timeout: 10 * core.Second}

func keyOf(identity uint64) session.Key { return session.Key{byte(identity), 5} }

// clientSystem is a client beside its model, and a server that answers it, or a forger.
type clientSystem struct {
	stateful.Objections
	*sim.CheckedClient
	stateful.Clock
	server  *session.Server
	sent    [][]byte // by the client
	answers [][]byte // to it
	took    core.Micros
	random  *rand.Rand
}

func newClientSystem(identity uint64) *clientSystem {
	s := &clientSystem{random: rand.New(rand.NewPCG(1, 2))}
	cfg := session.ClientConfig{Terms: terms, Identity: identity}
	if identity != 0 {
		cfg.Key = keyOf(identity)
	}
	s.CheckedClient = check.Must(sim.NewCheckedClient(0, cfg, 7, s.Fail))
	s.restart()
	return s
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
		s.Advance(commandWaits, a[0], s.Client.Deadline())
		text := fmt.Sprintf("poll at %d:", s.Now)
		for {
			datagram, ok := s.Poll(s.Now)
			text += " " + string(s.Client.Row())
			if !ok || s.Any() {
				return text
			}
			s.sent = append(s.sent, datagram)
		}
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
		err := s.Receive(s.Now, datagram)
		if row := s.Client.Row(); row == "I6" || row == "I28" {
			s.took = s.Now
		}
		return fmt.Sprintf("receive at %d %x...: %s, %v", s.Now, datagram[0], s.Client.Row(), err)
	}},
	{Weight: 2, Limits: stateful.Args{9}, Run: func(s *clientSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was sent"
		}
		m := check.Must(session.Decode(pick(s.sent, 0)))
		r := session.Message{Kind: session.KindRefused, Version: session.Version, Reason: session.Reason(1 + a[0])}
		r.Nonce = m.Nonce
		_ = s.Receive(s.Now, check.Must(r.Append(nil)))
		return fmt.Sprintf("forged REFUSED %v at %d: %s", r.Reason, s.Now, s.Client.Row())
	}},
	// A forger's CHALLENGE, of any stamp.
	{Weight: 3, Limits: stateful.Args{3, 6}, Run: func(s *clientSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was sent"
		}
		for range 1 + a[1]*a[1]*a[1]/3 {
			c := session.Message{Kind: session.KindChallenge, Stamp: []uint64{0, 1<<62 - 1, s.random.Uint64() >> 2}[a[0]]}
			c.Nonce = check.Must(session.Decode(pick(s.sent, 0))).Nonce
			c.Cookie[0] = byte(s.random.Uint32())
			_ = s.Receive(s.Now, check.Must(c.Append(nil)))
		}
		return fmt.Sprintf("forged CHALLENGE at %d: %s", s.Now, s.Client.Row())
	}},
	// It gets an answer when a cookie is, or a challenge was taken, about so long ago.
	{Weight: 2, Limits: stateful.Args{4, 3, 3}, Run: func(s *clientSystem, a stateful.Args) string {
		if len(s.answers) == 0 {
			return "nothing was answered"
		}
		s.Now = max(s.Now, s.took+[]core.Micros{session.CookieUse, session.CookieLife, session.CookieLife}[a[1]]+edges[a[2]])
		_ = s.Receive(s.Now, pick(s.answers, a[0]))
		return fmt.Sprintf("late at %d: %s", s.Now, s.Client.Row())
	}},
	{Weight: 3, Limits: stateful.Args{waits, 3}, Run: func(s *clientSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[0], s.Client.Deadline())
		if a[1] > 0 {
			s.Heard(s.Now)
		}
		if a[1] < 2 {
			s.Spoke(s.Now)
		}
		s.Seals()
		return fmt.Sprintf("data at %d, %d: %s", s.Now, a[1], s.Client.Row())
	}},
	{Weight: 1, Limits: stateful.Args{3}, Run: func(s *clientSystem, a stateful.Args) string {
		if a[0] > 0 {
			s.Move(s.Now)
		} else {
			s.restart()
		}
		return fmt.Sprintf("move, or a new server, at %d: %s", s.Now, s.Client.Row())
	}},
	{Weight: 1, Limits: stateful.Args{12}, Run: func(s *clientSystem, a stateful.Args) string {
		if a[0] == 0 {
			s.Close(s.Now)
		}
		return fmt.Sprintf("close at %d: %s", s.Now, s.Client.Row())
	}},
}

// The client does what its model does, whatever comes (section 5).
func TestCommandsToTheClient(t *testing.T) {
	for _, identity := range []uint64{0, 1} {
		stateful.Check(t, func() *clientSystem { return newClientSystem(identity) }, clientVerbs...)
	}
}

// serverSystem is a server beside its model, and clients that link to it.
type serverSystem struct {
	stateful.Objections
	*sim.CheckedServer
	stateful.Clock
	clients [3]*session.Client
	sent    [][]byte
	linkAt  core.Micros // of the latest LINK

	identities [3]uint64
	random     byte
}

func newServerSystem(identities [3]uint64, mostPerPrefix int) *serverSystem {
	s := &serverSystem{identities: identities}
	s.CheckedServer = check.Must(sim.NewCheckedServer(session.ServerConfig{
		Terms: terms, Anonymous: true, MaxConnections: 3, MaxPerAddress: mostPerPrefix,
		Keys: func(identity uint64) (session.Key, bool) { return keyOf(identity), identity < 9 },
	}, 3, s.Fail))
	for i := range s.clients {
		s.begin(i, 0)
	}
	return s
}

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

// at is an address of a client: some share a prefix.
func at(arg int) session.Address {
	return session.AddressOfText([]string{"192.0.2.1:1", "192.0.2.1:2", "[2001:db8::1]:1", "[2001:db8::2]:1", "192.0.2.9:1"}[arg])
}

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
		if answer := s.Receive(s.Now, at(from), datagram); arrives && len(answer) > 0 {
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
		answer := s.Receive(s.Now, at(a[1]), changed(pick(s.sent, a[0]), max(0, a[2]-24)))
		return fmt.Sprintf("at %d an old message from address %d: %d bytes", s.Now, a[1], len(answer))
	}},
	// One arrives when a cookie is about as old as it may be.
	{Weight: 2, Limits: stateful.Args{4, 5, 3}, Run: func(s *serverSystem, a stateful.Args) string {
		if len(s.sent) == 0 {
			return "nothing was said"
		}
		s.Now = max(s.Now, s.linkAt+session.CookieLife+edges[a[2]])
		answer := s.Receive(s.Now, at(a[1]), pick(s.sent, a[0]))
		return fmt.Sprintf("at %d a late message from address %d: %d bytes", s.Now, a[1], len(answer))
	}},
	// One anonymous client after the other links, and its connection ends.
	{Weight: 1, Limits: stateful.Args{6, 2}, Run: func(s *serverSystem, a stateful.Args) (text string) {
		for range a[0] {
			s.begin(2, 0)
			text += s.says(2, a[1], true)
			for _, link := range s.Links() {
				s.End(s.Now, link, session.ConnectionClosed)
			}
		}
		return fmt.Sprintf("%d link and end at %d:%s", a[0], s.Now, text)
	}},
	{Weight: 4, Limits: stateful.Args{8}, Run: func(s *serverSystem, a stateful.Args) string {
		links := s.Links()
		if len(links) > 0 {
			s.Heard(s.Now, links[a[0]%len(links)])
		}
		return fmt.Sprintf("data at %d of one of %d", s.Now, len(links))
	}},
	{Weight: 2, Limits: stateful.Args{8, 2}, Run: func(s *serverSystem, a stateful.Args) string {
		links := s.Links()
		if len(links) > 0 {
			s.End(s.Now, links[a[0]%len(links)], []session.Reason{session.ConnectionClosed, session.Replaced}[a[1]])
		}
		return fmt.Sprintf("end at %d of one of %d", s.Now, len(links))
	}},
	{Weight: 4, Limits: stateful.Args{waits}, Run: func(s *serverSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[0], s.Deadline())
		s.Poll(s.Now)
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

// The server does what its model does, whatever comes (section 6).
func TestCommandsToTheServer(t *testing.T) {
	for _, identities := range [][3]uint64{{1, 1, 0}, {1, 0, 0}} {
		for most := range 2 {
			stateful.Check(t, func() *serverSystem { return newServerSystem(identities, 1+most) }, serverVerbs...)
		}
	}
}
