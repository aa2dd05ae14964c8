package transport

import (
	"context"
	"iter"
	"math/bits"
	"sync"

	"github.com/chunkwire/chunkwire/core"
)

// Peers returns the connections that were accepted and have not ended, in no order. It can be ranged over while others
// come and leave.
func (s *Server) Peers() iter.Seq[*Peer] {
	return func(yield func(*Peer) bool) {
		for _, sh := range s.shards {
			for _, p := range sh.acceptedPeers() {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func (sh *shard) acceptedPeers() (list []*Peer) {
	sh.driver.Lock()
	defer sh.driver.Unlock()
	for p := range sh.peers {
		if p.accepted.Load() && p.link.ErrLocked() == nil {
			list = append(list, p)
		}
	}
	return list
}

// Broadcast sends a message to a channel of all Peers, as Channel.Send does, and returns those that did not take it:
// their queues are full, or their channel has failed. Each Peer's queue keeps a copy of its own, since the messages of a
// queue lie behind each other in one buffer: a crowd costs its number times the size of the message.
func (s *Server) Broadcast(channel uint8, message []byte) (refused []*Peer) {
	s.eachLocked(func(p *Peer, now core.Micros) {
		if (Channel{p, channel}).sendLocked(message, 0) != nil {
			refused = append(refused, p)
		}
	})
	return refused
}

// SendNow ends a tick of the game for all Peers, as Peer.SendNow does for one.
func (s *Server) SendNow() { s.eachLocked((*Peer).sendNowLocked) }

// eachLocked calls a function for all Peers, and locks each socket once.
func (s *Server) eachLocked(f func(p *Peer, now core.Micros)) {
	for _, sh := range s.shards {
		sh.driver.Lock()
		now := sh.driver.Now()
		for p := range sh.peers {
			if p.accepted.Load() && p.link.ErrLocked() == nil {
				f(p, now)
			}
		}
		sh.driver.Unlock()
	}
}

// Shutdown ends the server in good order. No client is let in any more; each connection is closed with the code and the
// text, as Peer.Close does, once its other end has all that was sent before, or ctx has ended. Then the server is
// closed: Shutdown returns what Close does.
func (s *Server) Shutdown(ctx context.Context, code uint16, text string) error {
	s.goodbye.Store(&goodbye{code, text})
	s.closing.Store(true)
	var leaving sync.WaitGroup
	for _, sh := range s.shards {
		sh.driver.Lock()
		for p := range sh.peers {
			leaving.Go(func() {
				_ = p.Flush(ctx) // what it fails with is said to nobody: the connection ends
				_ = p.Close(code, text)
			})
		}
		sh.driver.Unlock()
	}
	leaving.Wait()
	return s.Close()
}

// goodbye is for clients that come while the server ends.
type goodbye struct {
	code uint16
	text string
}

// Readable returns the channels that have something to read now: for a game that reads all of them in a tick, with
// Channel.TryRecv.
func (p *Peer) Readable() iter.Seq[Channel] {
	return func(yield func(Channel) bool) {
		for set := p.readable(); set != 0; set &= set - 1 {
			if !yield(Channel{p, uint8(bits.TrailingZeros64(set))}) {
				return
			}
		}
	}
}

func (p *Peer) readable() (set uint64) {
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	if p.conn != nil {
		set = p.conn.Readable()
	}
	for i := range p.inboxes {
		if p.inboxes[i].held != nil {
			set |= 1 << p.inboxes[i].id
		}
	}
	return set
}
