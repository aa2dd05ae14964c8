package connectionsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/soak"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// What is counted in worlds of connections, besides what is in all.
const (
	ClientsDrawn = soak.Own + iota
	Connections
	Moves
	Moved // that the server saw
	Restarts
	Replaced
	Crashes
	Closes
	MessagesSent
	MessagesRead
	ChunksSent
	ChunksRead
	Forged
	MarkedDatagrams
	MarksTold
	EndedByItself // ends of clients, as the next ones
	EndedByPeer
	EndedByTimeout
	EndedByRefusal
	EndedOtherwise
)

// Worlds are random worlds of whole connections: a server, some clients, restarts of both, changes of
// addresses, a forger, and a network with any faults, which is good in the end. A world fails with what is
// violated: while the troubles last, or when all is over and something was not delivered and not ended for
// a reason.
var Worlds = soak.Kind{Name: "connections", Run: runWorld, Rows: []soak.Row{
	{Name: "whole", Format: "%d worlds with %d clients and %d connections, %v of virtual time", Counts: []soak.Count{soak.Worlds, ClientsDrawn, Connections, soak.Time}},
	{Name: "services", Format: "%d messages sent, %d read; %d chunks sent, %d read", Counts: []soak.Count{MessagesSent, MessagesRead, ChunksSent, ChunksRead}},
	{Name: "troubles", Format: "%d moves, %d of them seen by the server; %d servers and %d clients restarted, %d closed, %d replaced", Counts: []soak.Count{Moves, Moved, Restarts, Crashes, Closes, Replaced}},
	{Name: "envelopes", Format: "%d datagrams, %d lost; %d forged, %d refused; %d marked, %d marks told", Counts: []soak.Count{soak.Datagrams, soak.Lost, Forged, soak.Refused, MarkedDatagrams, MarksTold}},
	{Name: "ends", Format: "of clients: %d closed, %d closed by the other end, %d timed out, %d refused, %d otherwise; all over at most %v after the faults", Counts: []soak.Count{EndedByItself, EndedByPeer, EndedByTimeout, EndedByRefusal, EndedOtherwise, soak.LongestEnd}},
}}

const (
	worldTroubles = 8 * core.Second  // for how long there are faults
	worldSettles  = 60 * core.Second // how long all may take that is left then
	worldEnds     = 30 * core.Second // how long the end may take when all close
)

// world is a world under way.
type world struct {
	soak.World
	net     *Network
	judge   *Judge
	forger  *Forger
	keyed   bool
	one     bool // all clients have one identity
	cfg     protocol.Config
	clients []*user
	peers   map[*protocol.ServerConn]*user
	serial  uint64
	random  byte
	marks   sim.Draw // what the network does with the field ECN
	field   [4]protocol.ECN
	marksIn uint64 // one in so many of what can be marked is; 0: none
}

// user is an application at an end: it sends and reads.
type user struct {
	w       *world
	side    Side
	conn    *protocol.Conn
	place   int  // of a client
	crashed bool // nobody looks at it any more
	rates   map[uint8]int
	largest int
	chunks  int         // that it still sends
	reads   int         // messages and chunks a frame; 0: all
	tick    core.Micros // of a frame
	ended   bool
	closed  bool // by itself
}

func runWorld(seed uint64, log *soak.Log) (soak.Counts, error) {
	w := &world{World: soak.New(seed, 21, log), peers: map[*protocol.ServerConn]*user{}}
	if err := w.begin(seed); err != nil {
		return w.Counts, err
	}
	w.run()
	return w.Result()
}

// config draws what both ends have.
func (w *world) config() (cfg protocol.Config) {
	cfg.Lanes = sim.Among(w.Draw, protocol.NoLanes, 1, 1, 2, 4)
	cfg.Timeout = sim.Among[core.Micros](w.Draw, 2, 5, 10) * core.Second
	cfg.Tick = w.Time(5, 100) * core.Millisecond
	cfg.MessageRate = 8_000_000 // so that worldSettles is enough for full queues of default channels
	if w.keyed {
		cfg.Mode = sim.Among(w.Draw, session.MAC, session.AEAD)
	}
	if w.OneIn(2) {
		cfg.Channels = w.drawChannels()
	}
	cfg.Variants = sim.Among[uint8](w.Draw, 0, session.VariantSlices, session.VariantRepair)
	return cfg
}

// drawChannels draws channels of any kind and format.
func (w *world) drawChannels() (list []channel.Config) {
	id := uint8(0)
	for range sim.Among(w.Draw, 1, 1, 2, 4) {
		c := channel.Config{ID: id, Kind: sim.Among(w.Draw, channel.Ordered, channel.Ordered, channel.Unordered, channel.Unordered, channel.Unreliable, channel.Latest), Priority: w.IntN(3), QueueBytes: 1 << 17}
		c.Window, c.Data = 32<<w.IntN(6), sim.Among(w.Draw, 1, 8, 40, 200, 1024)
		c.Group = w.Between(2, min(64, c.Window))
		c.SendQueue = sim.Among(w.Draw, c.Group, c.Group+w.IntN(200), 4096)
		list = append(list, c)
		id += uint8(w.Between(1, 15))
	}
	return list
}

func (w *world) begin(seed uint64) error {
	w.keyed = !w.OneIn(3)
	w.cfg = w.config()
	w.markedOrNot(seed)
	clients := w.Between(1, 3)
	w.one = w.keyed && w.OneIn(4)
	channels := w.cfg.Channels
	if channels == nil {
		channels = protocol.DefaultChannels()
	}
	w.judge = NewJudge(channels)
	w.net = NewNetwork(clients, w.carry)
	w.Timeline = w.net.World
	for way := range 2 { // to the server, from it
		if err := w.DrawPath(seed, way, worldTroubles); err != nil {
			return err
		}
	}
	w.net.Server.Events = Events{Accepted: w.accepted, Moved: w.moved, Replaced: w.replaced, Refused: func(error) { w.Counts[soak.Refused]++ }}
	for i, c := range w.net.Clients {
		w.clients = append(w.clients, nil)
		c.Happened = func(now core.Micros) { w.clientHappened(i) }
		c.Refused = func(error) { w.Counts[soak.Refused]++ }
		w.At(w.Time(0, core.Second), func() { w.link(i) })
	}
	w.At(w.Time(0, 100*core.Millisecond), w.serve)
	w.Counts[ClientsDrawn] = int64(clients)
	w.plan()
	return nil
}

// markedOrNot draws whether the ends have marks, and what the network does with them. It has a
// source of its own.
func (w *world) markedOrNot(seed uint64) {
	w.marks = sim.NewDraw(seed, 23)
	w.cfg.Extensions = sim.Among[uint16](w.marks, 0, session.ExtensionECN, session.ExtensionECN)
	w.marksIn = sim.Among[uint64](w.marks, 0, 1, 2, 20)
	w.field = [4]protocol.ECN{protocol.NotECT, protocol.ECT1, protocol.ECT0, protocol.CE}
	if w.marks.OneIn(4) {
		w.field[protocol.ECT0] = sim.Among(w.marks, protocol.NotECT, protocol.ECT1)
	}
}

// onPath is what becomes of the field of a datagram.
func (w *world) onPath(l Letter) protocol.ECN {
	from := ClientSide
	if l.From == ServerAddress {
		from = ServerSide
	}
	if l.ECN != protocol.ECT0 || w.marksIn == 0 || w.marks.Uint64()%w.marksIn > 0 {
		return w.field[l.ECN]
	}
	w.Counts[MarkedDatagrams]++
	w.judge.Marked(binary.LittleEndian.Uint32(l.Data[1:]), from)
	return protocol.CE
}

// plan draws the troubles.
func (w *world) plan() {
	someone := func() int { return w.IntN(len(w.clients)) }
	w.Plan(worldTroubles,
		soak.Trouble{Times: []int{0, 0, 0, 1, 2}, Draw: func() func() { return w.restart }},
		soak.Trouble{Times: []int{0, 0, 1, 2, 20}, Draw: func() func() { // 20: it flaps
			i, known := someone(), w.OneIn(2)
			return func() { w.move(i, known) }
		}},
		soak.Trouble{Times: []int{0, 0, 0, 1, 2}, Draw: func() func() { i := someone(); return func() { w.crash(i) } }},
		soak.Trouble{Times: []int{0, 0, 0, 1}, Draw: func() func() { i := someone(); return func() { w.closeOne(i) } }},
	)
	if !w.OneIn(3) {
		w.forger = &Forger{Draw: sim.NewDraw(w.Uint64(), 22), places: 12}
		w.forge(sim.Among[core.Micros](w.Draw, 1, 10, 100) * core.Millisecond)
	}
}

// carry is the network.
func (w *world) carry(now time.Duration, l Letter, deliver func(time.Duration, Letter)) {
	way := 0
	if l.To != ServerAddress {
		way = 1
		w.Check(w.judge.Went(l.To, len(l.Data)))
	}
	if w.forger != nil && !w.Good() {
		w.forger.See(l)
	}
	l.ECN = w.onPath(l)
	w.Send(now, way, len(l.Data), func(at time.Duration) { w.arrives(at, l, deliver) })
}

// arrives lets a datagram arrive, and counts what the server gets.
func (w *world) arrives(at time.Duration, l Letter, deliver func(time.Duration, Letter)) {
	if l.To == ServerAddress {
		w.At(core.FromDuration(at), func() { w.judge.Came(l.From, len(l.Data)) })
	}
	deliver(at, l)
}

// forge lets the forger send from time to time.
func (w *world) forge(every core.Micros) {
	if w.Good() {
		return
	}
	if l, ok := w.forger.Forge(); ok && len(l.Data) > 0 {
		w.Counts[Forged]++
		if l.To == ServerAddress {
			w.judge.Came(l.From, len(l.Data))
			w.net.Server.Handle(w.Now(), l)
		} else {
			for _, c := range w.net.Clients {
				c.Handle(w.Now(), l)
			}
		}
	}
	w.At(w.Now()+w.Time(0, 2*every), func() { w.forge(every) })
}

// seedByte returns another each time.
func (w *world) seedByte() byte { w.random++; return w.random }

// serve begins a server, if there is none.
func (w *world) serve() {
	if w.net.Server.Server != nil {
		return
	}
	cfg := protocol.ServerConfig{Config: w.cfg, Random: Random(w.seedByte(), byte(w.Uint32()))}
	if w.keyed {
		cfg.Keys = func(identity uint64) (session.Key, bool) { return keyOf(identity), identity < 100 }
	} else {
		cfg.Anonymous = true
	}
	s, err := protocol.NewServer(cfg)
	w.Check(err)
	w.net.Server.Server = s
	w.Note("a server begins")
}

func keyOf(identity uint64) session.Key { return session.Key{byte(identity), 7} }

// restart ends the server, which says nothing, and begins another.
func (w *world) restart() {
	w.Counts[Restarts]++
	w.Note("the server restarts")
	for _, u := range w.peers {
		u.crashed = true
	}
	*w.net.Server = ServerHost{Events: w.net.Server.Events}
	w.At(w.Now()+w.Time(0, core.Second), w.serve)
}

// link begins a client.
func (w *world) link(i int) {
	c := w.net.Clients[i]
	cfg := protocol.ClientConfig{Config: w.cfg, Random: Random(w.seedByte(), byte(w.Uint32()), 1)}
	if w.keyed {
		cfg.Identity = uint64(i + 1)
		if w.one {
			cfg.Identity = 1
		}
		cfg.Key = keyOf(cfg.Identity)
	}
	client, err := protocol.NewClient(cfg, w.Now())
	w.Check(err)
	c.Client = client
	w.clients[i] = w.user(ClientSide, i)
	w.Note("client %d links", i)
}

// crash ends a client, which says nothing, and begins another.
func (w *world) crash(i int) {
	if w.clients[i] == nil {
		return
	}
	w.Counts[Crashes]++
	w.Note("client %d crashes", i)
	w.clients[i].crashed = true
	w.clients[i] = nil
	w.net.Clients[i].Client = nil
	w.At(w.Now()+w.Time(0, core.Second), func() { w.link(i) })
}

// move changes the address of a client.
func (w *world) move(i int, known bool) {
	w.Counts[Moves]++
	c := w.net.Clients[i]
	c.At = Address(20 + int(w.serial)) // nobody had it before
	w.serial++
	w.Note("client %d moves to %v, known %v", i, c.At[12:16], known)
	if known && c.Client != nil {
		c.Move(w.Now())
	}
}

func (w *world) closeOne(i int) {
	if u := w.clients[i]; u != nil && u.conn != nil {
		w.Note("client %d closes", i)
		u.close()
	}
}

func (u *user) close() {
	u.w.Counts[Closes]++
	u.closed = true
	_ = u.conn.Close(u.w.Now(), protocol.FirstCode, "so")
}

// user draws an application.
func (w *world) user(side Side, place int) *user {
	u := &user{w: w, side: side, place: place, rates: map[uint8]int{}, largest: sim.Among(w.Draw, 16, 100, 1000, 5000), tick: w.Time(10, 100) * core.Millisecond}
	for id := range uint8(channel.MaxChannels) {
		if _, ok := w.judge.channels[id]; ok {
			u.rates[id] = sim.Among(w.Draw, 0, 1, 1, 3, 10, 40)
		}
	}
	if w.cfg.Lanes > 0 {
		u.chunks = sim.Among(w.Draw, 0, 0, 1, 3)
	}
	if w.OneIn(4) {
		u.reads = w.Between(1, 5)
	}
	return u
}

// clientHappened notes that a client has a connection.
func (w *world) clientHappened(i int) {
	u := w.clients[i]
	if c := w.net.Clients[i].Client; u != nil && u.conn == nil && c != nil && c.Conn() != nil {
		u.conn = c.Conn()
		w.Counts[Connections]++
		w.Note("client %d has link %d", i, u.link())
		u.frame()
	}
}

func (w *world) accepted(now core.Micros, p *protocol.ServerConn) {
	w.judge.Proven(p.Address())
	u := w.user(ServerSide, 0)
	u.conn = p.Conn
	w.peers[p] = u
	w.Note("accepted: link %d at %v", u.link(), p.Address())
	u.frame()
}

func (w *world) moved(now core.Micros, p *protocol.ServerConn) {
	w.Counts[Moved]++
	w.judge.Proven(p.Address())
	w.Note("moved: link %d to %v", w.peers[p].link(), p.Address())
}

func (w *world) replaced(now core.Micros, p *protocol.ServerConn) {
	w.Counts[Replaced]++
	w.Note("replaced: link %d", w.peers[p].link())
	if !w.keyed {
		w.Check(errors.New("CXT-SAFE-4: an anonymous client is replaced"))
	}
}

func (u *user) link() uint32 { return u.conn.Link().ID() }

// frame sends and reads.
func (u *user) frame() {
	w := u.w
	if u.crashed || w.Failed() {
		return
	}
	now := w.Now()
	if !w.Good() && u.conn.State() == protocol.Open {
		u.send(now)
	}
	u.read(now)
	w.Check(w.judge.Told(u.link(), u.side, u.conn.Counts().CEReported))
	if u.conn.State() == protocol.Closed && !u.ended {
		u.ended = true
		w.Counts[MarksTold] += u.conn.Counts().CEReported
		w.Note("link %d ends at the %v: %v", u.link(), u.side, u.conn.Err())
		w.Check(w.judge.Ended(u.link(), u.side, u.conn.Err()))
		if u.side == ClientSide {
			w.Counts[endOf(u.conn.Err())]++
		}
	}
	w.At(now+u.tick, u.frame)
}

// endOf returns how an error says that a connection ended.
func endOf(err error) soak.Count {
	var closed *protocol.ClosedError
	var refused *session.RefusedError
	switch {
	case errors.As(err, &closed) && closed.Remote:
		return EndedByPeer
	case errors.As(err, &closed):
		return EndedByItself
	case errors.Is(err, session.ErrTimeout):
		return EndedByTimeout
	case errors.As(err, &refused):
		return EndedByRefusal
	}
	return EndedOtherwise
}

func (u *user) send(now core.Micros) {
	w := u.w
	for id := uint8(0); id < channel.MaxChannels; id++ {
		for range u.rates[id] {
			m := w.content(1 + w.IntN(u.most(id)))
			lifetime := core.Micros(0)
			if w.OneIn(20) {
				lifetime = w.Time(1, core.Second)
			}
			if u.conn.Send(now, id, m, lifetime) == nil {
				w.judge.Sent(u.link(), u.side, id, m, lifetime > 0)
				w.Counts[MessagesSent]++
			}
		}
	}
	if u.chunks > 0 && w.OneIn(10) {
		chunk := w.content(sim.Among(w.Draw, 8, 1024, 5000, 100_000))
		if _, err := u.conn.SendChunk(now, chunk); err == nil {
			u.chunks--
			w.Counts[ChunksSent]++
			w.judge.SentChunk(u.link(), u.side, chunk)
		}
	}
}

// most is the size of the largest message that is sent on a channel: at times one that is refused.
func (u *user) most(id uint8) int {
	if c := u.w.judge.channels[id]; c.Kind.Reliable() && !u.w.OneIn(100) {
		return min(u.largest, c.Data*min(c.Group, c.Window))
	}
	return u.largest
}

// content returns bytes that no other message has, if it is not shorter than 8.
func (w *world) content(size int) []byte {
	b := make([]byte, max(size, 8))
	w.serial++
	binary.LittleEndian.PutUint64(b, w.serial<<8|uint64(size&0xff))
	for i := 8; i < len(b); i++ {
		b[i] = byte(i) ^ b[i%8]
	}
	return b[:size]
}

func (u *user) read(now core.Micros) {
	w, most := u.w, u.reads
	if most == 0 || w.Good() {
		most = 1 << 30
	}
	for id := uint8(0); id < channel.MaxChannels; id++ {
		if _, ok := w.judge.channels[id]; !ok {
			continue
		}
		for range most {
			m, ok := u.conn.Read(now, id, nil)
			if !ok {
				break
			}
			w.Counts[MessagesRead]++
			w.Check(w.judge.Read(u.link(), 1-u.side, id, m))
		}
	}
	for {
		chunk, ok := u.conn.ReadChunk(now, nil)
		if !ok {
			break
		}
		w.Counts[ChunksRead]++
		w.Check(w.judge.ReadChunk(u.link(), 1-u.side, chunk))
	}
}

// becomeGood ends all troubles.
func (w *world) becomeGood() {
	w.Note("all is good")
	w.MendPaths()
	w.serve()
}

// run lets all happen: troubles, then what is left, then the end.
func (w *world) run() {
	w.Live(soak.Course{Troubles: worldTroubles, Rests: core.Second, Settles: worldSettles, Good: w.becomeGood, Left: w.settled})
	if !w.Failed() {
		w.Guard(w.end)
	}
	w.Counts[soak.Time] = int64(w.Now())
}

// settled returns what is left to do: each client is open with a peer that knows where it is, and all
// was read, or it has ended for a reason; and so has each peer.
func (w *world) settled() error {
	open := map[uint32]*user{} // clients, by link
	for i, u := range w.clients {
		if err := w.clientSettled(i, u, open); err != nil {
			return err
		}
	}
	for _, p := range w.net.Server.Peers {
		u := w.peers[p]
		switch {
		case p.State() == protocol.Closed:
		case open[u.link()] == nil:
			return fmt.Errorf("CXT-LIVE-2: link %d is open at the server alone", u.link())
		case w.net.Clients[open[u.link()].place].At != p.Address():
			return fmt.Errorf("CXL-10: the server does not know where the client of link %d is", u.link())
		default:
			delete(open, u.link())
			if err := w.judge.Settled(u.link(), ServerSide, u.conn.Failed()); err != nil {
				return err
			}
		}
	}
	for link := range open {
		return fmt.Errorf("CXT-LIVE-2: link %d is open at the client alone", link)
	}
	return nil
}

func (w *world) clientSettled(i int, u *user, open map[uint32]*user) error {
	c := w.net.Clients[i]
	switch {
	case u == nil || c.Client == nil:
		return fmt.Errorf("client %d has not begun", i)
	case c.State() == session.Closed:
		if u.conn != nil && !u.ended {
			return fmt.Errorf("client %d: its end was not seen", i)
		}
		return w.judge.Ended(0, ClientSide, c.Err())
	case c.State() != session.Open:
		return fmt.Errorf("CXT-LIVE-1: client %d is %v", i, c.State())
	}
	open[u.link()] = u
	return w.judge.Settled(u.link(), ClientSide, u.conn.Failed())
}

// end closes all, at one end or the other.
func (w *world) end() {
	for _, p := range w.net.Server.Peers {
		if w.OneIn(2) {
			w.peers[p].close()
		}
	}
	for _, u := range w.clients {
		if u.conn != nil && u.conn.State() == protocol.Open && !w.peerCloses(u.link()) {
			u.close()
		}
	}
	over := func() bool {
		for _, c := range w.net.Clients {
			if c.State() != session.Closed {
				return false
			}
		}
		return len(w.net.Server.Peers) == 0
	}
	began := w.Now()
	if !w.Run(began+worldEnds, func() bool { return w.Failed() || over() }) {
		w.Check(fmt.Errorf("CXT-LIVE-2: %d us after all close: clients and %d peers are not closed", worldEnds, len(w.net.Server.Peers)))
	}
	if took := w.Now() - began; took > 200*core.Millisecond {
		w.Check(fmt.Errorf("CXT-LIVE-2: the end takes %d us on a good network", took))
	}
	w.net.Wait(core.Second)
	for _, u := range w.peers {
		if !u.crashed && !u.ended {
			w.Check(fmt.Errorf("CXT-LIVE-2: link %d has not ended at the server", u.link()))
		}
	}
}

func (w *world) peerCloses(link uint32) bool {
	for p, u := range w.peers {
		if !u.crashed && u.link() == link && p.State() != protocol.Open {
			return true
		}
	}
	return false
}
