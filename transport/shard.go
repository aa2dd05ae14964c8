package transport

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/maphash"

	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// shard is a socket of a server, and the connections that are its own. All sockets
// have the same address, and the system chooses where a datagram arrives; whose it is
// depends on the datagram alone. So a client may move, or the system change its mind.
type shard struct {
	server *Server
	driver *driver.Driver

	// Guarded by driver.

	table   *connection.Server
	slot    driver.Slot // of the table
	peers   map[*Peer]struct{}
	links   driver.Links // of the peers
	answer  []byte       // of the datagram that is handled
	asking  asking
	emptied driver.Signal // there is no peer left
	stats   shardStats
}

func newShard(s *Server, socket udp.Socket, i int) (*shard, error) {
	sh := &shard{server: s, peers: make(map[*Peer]struct{}), stats: newShardStats(), asking: asking{proofs: map[uint64][]proof{}, of: map[uint64]int{}}}
	cfg := s.settings.server(i, socket.Marks())
	if s.settings.Keys != nil {
		cfg.Keys = sh.asking.known
	}
	if i > 0 {
		cfg.Beside = s.shards[0].table
	}
	cfg.Chunks.Total, cfg.AnonymousTotal = s.total, s.anonymous
	table, err := connection.NewServer(cfg)
	if err != nil {
		return nil, named(err)
	}
	sh.table = table
	sh.driver = driver.New(socket, sh, s.clock, session.LargestDatagram)
	sh.driver.Log = s.log
	sh.links = driver.Links{Driver: sh.driver, RecvQueue: s.settings.RecvQueue, Took: sh.stats.noteChunk}
	sh.driver.AddLocked(&sh.slot, (*handshakes)(sh))
	return sh, nil
}

// Where a PROOF has what decides whose it is (CXH-2), and data (CXE-1).
const (
	dataLinkAt    = 1
	offerIdentity = 37
	offerResume   = 45
)

// of returns the shard that a datagram is for, which arrived at this one: that of its
// link or of its identity. A PROOF without either stays where it arrived, since the same
// address arrives there again; and so does a LINK, since all take the challenges of each other.
func (sh *shard) of(datagram []byte) *shard {
	shards := sh.server.shards
	isProof := len(datagram) >= offerResume+4 && datagram[0] == byte(session.KindProof)
	if len(shards) == 1 || !isProof && !isData(datagram) {
		return sh
	}
	n := uint32(len(shards))
	if isData(datagram) {
		return shards[binary.LittleEndian.Uint32(datagram[dataLinkAt:])%n]
	}
	if resume := binary.LittleEndian.Uint32(datagram[offerResume:]); resume != 0 {
		return shards[resume%n]
	}
	if id := binary.LittleEndian.Uint64(datagram[offerIdentity:]); id != 0 {
		return shards[maphash.Comparable(sh.server.seed, id)%uint64(n)]
	}
	return sh
}

// isData reports whether a datagram may be one of a connection.
func isData(datagram []byte) bool {
	return len(datagram) >= dataLinkAt+4 && datagram[0] >= byte(session.CRC) && datagram[0] <= byte(session.AEAD)
}

func (sh *shard) Receive(now core.Micros, in []udp.Arrival) {
	v := visit{now: now}
	for i := range in {
		a := &in[i]
		for datagram, ok := a.Next(); ok; datagram, ok = a.Next() {
			v.enter(sh.of(datagram))
			v.shard.takeLocked(&v, datagram, a.From, a.ECN)
		}
	}
	v.leave()
}

// visit is datagrams that arrived together: they cost one lock as long as they are for the same shard, and one
// update as long as they are for the same peer.
type visit struct {
	now   core.Micros
	shard *shard // whose lock is held; nil: none
	peer  *Peer  // that is to be updated; nil: none
}

// enter takes the lock of a shard.
func (v *visit) enter(sh *shard) {
	if v.shard != sh {
		v.leave()
		v.shard = sh
		sh.driver.Lock()
	}
}

// leave ends the update of a peer, and unlocks the shard.
func (v *visit) leave() {
	if v.shard == nil {
		return
	}
	v.turnTo(nil)
	if v.shard.driver.ErrLocked() == nil {
		v.shard.driver.ScheduleLocked(&v.shard.slot, v.shard.table.Deadline())
	}
	v.shard.driver.Unlock()
	v.shard = nil
}

// turnTo updates the peer of the datagrams before, unless the next one is for the same.
func (v *visit) turnTo(p *Peer) {
	if v.peer != nil && v.peer != p {
		v.peer.updateLocked(v.now, v.now)
	}
	v.peer = p
}

// takeLocked handles a datagram, at whatever socket it arrived.
func (sh *shard) takeLocked(v *visit, datagram []byte, from udp.Addr, ecn udp.ECN) {
	d := sh.driver
	d.CountInLocked(len(datagram))
	switch {
	case d.ErrLocked() != nil:
		return
	case !isData(datagram) && !sh.answersLocked(datagram, from):
		return
	case sh.asksLocked(v, datagram, from):
		return
	}
	sh.giveLocked(v, datagram, from, ecn)
}

// giveLocked gives a datagram to the table.
func (sh *shard) giveLocked(v *visit, datagram []byte, from udp.Addr, ecn udp.ECN) {
	now := v.now
	got, err := sh.table.ReceiveECN(now, addressOf(from), datagram, connection.ECN(ecn), sh.answer[:0])
	if err != nil {
		sh.refusedLocked(codeOf(err), from)
	}
	if got.Answer != nil {
		sh.answer = got.Answer
		sh.answerLocked(got.Answer, from)
	}
	if got.Ended != nil {
		got.Ended.Owner.(*Peer).updateLocked(now, now)
	}
	if got.Peer != nil {
		sh.tookLocked(v, &got, err, len(datagram), from)
	}
}

// refusedLocked counts and logs a datagram that drew no answer.
func (sh *shard) refusedLocked(code core.Code, from udp.Addr) {
	count := sh.stats.undecodable(code, from)
	if code == session.CodeEndedLink {
		sh.driver.Log.Late(from, string(code))
		return
	}
	sh.driver.Log.Undecodable(from, string(code), count)
}

// answerLocked answers a message of a handshake.
func (sh *shard) answerLocked(answer []byte, to udp.Addr) {
	if reason, count := sh.stats.answered(answer, to); count > 0 {
		sh.driver.Log.Refused(to, reason.String(), count)
	}
	if !sh.driver.AnswerLocked(to, answer) {
		sh.stats.answersDropped++
	}
}

// tookLocked ends what a datagram began at a peer. If the peer is new or has moved, it
// is where the datagram came from.
func (sh *shard) tookLocked(v *visit, got *connection.Received, refused error, size int, from udp.Addr) {
	switch got.Event {
	case connection.Accepted:
		sh.acceptLocked(got.Peer, from)
	case connection.Moved:
		p := got.Peer.Owner.(*Peer)
		sh.driver.Log.Moved(p.link.To, from)
		p.link.To = from
		sh.stats.moved++
	}
	p := got.Peer.Owner.(*Peer)
	if refused == nil {
		p.heardLocked(v.now, size)
	}
	v.turnTo(p)
	if got.Event != connection.Accepted {
		return
	}
	v.turnTo(nil)
	switch {
	case p.link.ErrLocked() != nil:
	case sh.server.closing.Load(): // it began before
		bye := cmp.Or(sh.server.goodbye.Load(), &goodbye{})
		_ = p.closeLocked(bye.code, bye.text, cmp.Or(sh.server.Err(), ErrClosed))
	default:
		sh.server.offerLocked(p)
	}
}

// answersLocked reports whether a message of a handshake is to be looked at: its
// answer must have a place to go, and a chance to get there. It is asked before
// anything costly is done.
func (sh *shard) answersLocked(datagram []byte, from udp.Addr) bool {
	switch {
	case sh.server.closing.Load():
		return false
	case len(datagram) > 0 && datagram[0] == byte(session.KindLink) && sh.driver.AnswersFullLocked():
		sh.stats.answersDropped++
		return false
	case !from.Known() || !sh.driver.CanBeginLocked(from):
		sh.stats.badSources++
		return false
	}
	return true
}

// addressOf returns an address as a session knows it.
func addressOf(peer udp.Addr) session.Address {
	if port := peer.AddrPort(); port.IsValid() {
		return session.AddressOf(port)
	}
	return session.AddressOfText(peer.String())
}

// acceptLocked makes the peer of a connection that has begun.
func (sh *shard) acceptLocked(remote *connection.ServerConn, from udp.Addr) {
	p := newPeer(&sh.links, remote, from)
	p.shard, p.identity, p.home = sh, remote.Identity(), driver.SourceOf(from)
	sh.server.acceptor.Begin(p.home)
	p.begunLocked(remote.Conn)
	remote.Owner = p
	sh.peers[p] = struct{}{}
	sh.stats.accepted++
	sh.driver.Log.Begun(from)
	p.link.AddLocked((*polled)(p), core.Never)
}

// forgetLocked takes a peer out that has ended.
func (sh *shard) forgetLocked(p *Peer) {
	sh.stats.gone.addPeer(p)
	delete(sh.peers, p)
	sh.server.acceptor.Leave(p, p.home)
	if len(sh.peers) == 0 {
		sh.emptied.Give()
	}
}

// handshakes is the table of a shard's handshakes as its driver sees it: it has something
// to do when half-open and ended connections are to be forgotten.
type handshakes shard

func (t *handshakes) PollLocked(now core.Micros, _ *driver.Batch) {
	sh := (*shard)(t)
	sh.table.Poll(now)
	sh.driver.ScheduleLocked(&sh.slot, max(now+1, sh.table.Deadline()))
}

func (sh *shard) Unreadable(size int, from udp.Addr) {
	sh.driver.Lock()
	defer sh.driver.Unlock()
	sh.driver.CountInLocked(size)
	sh.refusedLocked(session.CodeTrailingData, from)
}

// PortUnreachableLocked does nothing: no socket of a server is connected.
func (sh *shard) PortUnreachableLocked(error) {}

// ExpireLocked ends connections whose time is over although nothing can be sent.
func (sh *shard) ExpireLocked(now core.Micros) {
	for p := range sh.peers {
		p.expireLocked(now)
	}
}

// EndLocked ends all connections without notifying their peers: the socket is closed, or broken.
func (sh *shard) EndLocked(cause error) {
	for p := range sh.peers {
		p.endLocked(cause)
		if p.conn.State() != connection.Closed {
			p.logEndLocked(sh.server.settings.Log, eventlog.Server)
		}
		p.leaveLocked()
	}
	if !errors.Is(cause, ErrClosed) || !sh.server.closing.Load() {
		go sh.server.end(cause) // the other sockets have locks of their own
	}
}
