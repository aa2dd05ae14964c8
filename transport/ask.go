package transport

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Bounds of the handshakes that wait for Config.Keys, at each socket. Only those wait whose address is proven.
const (
	keyPatience = session.CookieUse // a PROOF that waits longer has a cookie that is too old
	mostAsking  = 1024
	askingShare = 64 // one IPv4 address or IPv6 /64 takes at most one in so many of the places that are free, so 16
)

// asking is the handshakes that wait for the keys of their identities. Each identity is asked for once at a time.
type asking struct {
	proofs map[uint64][]proof // by identity
	count  int
	of     map[uint64]int // by source
	key    session.Key    // of the PROOF that is taken now
}

// proof is a PROOF that waits.
type proof struct {
	from     udp.Addr
	datagram []byte
}

// known is the key of the PROOF that is taken: zeros are none (CXA-2).
func (a *asking) known(uint64) (session.Key, bool) { return a.key, a.key != session.Key{} }

// asksLocked reports whether a datagram is a PROOF that has to wait for a key. It is taken once the key is there, as if it
// arrived then: only bounds keep it from that.
func (sh *shard) asksLocked(v *visit, datagram []byte, from udp.Addr) bool {
	if sh.server.settings.Keys == nil {
		return false
	}
	identity, ok := sh.table.NeedsKey(v.now, addressOf(from), datagram)
	if !ok {
		return false
	}
	a := &sh.asking
	proofs, source := a.proofs[identity], driver.SourceOf(from)
	if slices.ContainsFunc(proofs, func(p proof) bool { return p.from.Key == from.Key && bytes.Equal(p.datagram, datagram) }) {
		return true // another one has a place of its own: who forges it takes no place of the client's
	}
	if !a.hasPlace(source) {
		sh.stats.answersDropped++
		return true
	}
	a.count++
	a.of[source]++
	a.proofs[identity] = append(proofs, proof{from, slices.Clone(datagram)})
	if proofs == nil {
		go sh.ask(identity)
	}
	return true
}

// hasPlace reports whether another PROOF of a source can wait: the fewer places are free, the fewer one source has.
func (a *asking) hasPlace(source uint64) bool {
	free := mostAsking - a.count
	return free > 0 && a.of[source] < (free+askingShare-1)/askingShare
}

// ask asks the application for the key of an identity. A key that comes late is for those that asked again meanwhile:
// a PROOF that waited too long is refused for its cookie.
func (sh *shard) ask(identity uint64) {
	ctx, cancel := context.WithTimeout(sh.server.ctx, keyPatience.Duration())
	defer cancel()
	key, err := sh.server.settings.Keys(ctx, identity)
	if key == (session.Key{}) { // it was possibly not looked for to the end
		err = cmp.Or(err, ctx.Err())
	}
	sh.keyCame(identity, key, err)
}

// keyCame takes all that waited for a key.
func (sh *shard) keyCame(identity uint64, key session.Key, err error) {
	v := visit{now: sh.driver.Now()}
	v.enter(sh)
	defer v.leave()
	a := &sh.asking
	proofs := a.proofs[identity]
	delete(a.proofs, identity)
	for _, p := range proofs {
		source := driver.SourceOf(p.from)
		if a.of[source]--; a.of[source] == 0 {
			delete(a.of, source)
		}
		a.count--
		switch {
		case sh.driver.ErrLocked() != nil || !sh.answersLocked(p.datagram, p.from):
		case err != nil:
			sh.stats.answersDropped++
		default:
			a.key = key
			sh.giveLocked(&v, p.datagram, p.from, udp.NotECT)
			a.key = session.Key{}
		}
	}
}
