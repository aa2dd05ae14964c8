package fuzz

import (
	"bytes"
	"errors"

	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a mode, by a byte's remainder of 3, and a script of datagrams that are sealed, changed and
// opened in any order.
var targetSession = newTarget("Session", "envelopes are those of the oracle: bodies, or code and byte; each datagram opens once", runSession, seedSessions)

func runSession(t T, data []byte) {
	s := script{data}
	runEnvelope(t, pick(&s, []session.Mode{session.CRC, session.MAC, session.AEAD}), &s)
}

// compareSessionCodes compares two refusals.
func compareSessionCodes(t T, err, want error) {
	t.Helper()
	if err == nil && want == nil {
		return
	}
	var got *core.Error
	var w *sessionoracle.Error
	if !errors.As(err, &got) || !errors.As(want, &w) || string(got.Code()) != w.Code || got.Place() != w.At {
		t.Fatalf("session says %v, the oracle %v", err, want)
	}
}

// envelopeBench is one direction of a link: an end that seals, one that opens, and the oracle
// beside each.
type envelopeBench struct {
	T
	script
	from, to *session.Link
	seals    sessionoracle.Direction
	opens    *sessionoracle.Receiver
	next     int64
	sealed   [][]byte
}

const fuzzLink = 0x5eed1234

// runEnvelope seals and opens (CXE-1 to CXE-10).
func runEnvelope(t T, mode session.Mode, s *script) {
	t.Helper()
	keys := [2]session.Key{{1, 2, 3}, {4, 5, 6}}
	b := &envelopeBench{T: t, script: *s, next: pick(s, []int64{0, 0, 1<<32 - 3, 1<<31 - 2, 1<<62 - 40})}
	agreed := session.Agreed{Link: fuzzLink}
	b.from = session.NewLink(session.LinkConfig{Mode: mode, Agreed: agreed, Seal: keys[0], Open: keys[1], Next: uint64(b.next)})
	b.to = session.NewLink(session.LinkConfig{Mode: mode, Agreed: agreed, Seal: keys[1], Open: keys[0]})
	b.seals = sessionoracle.Direction{Mode: mode.String(), Key: keys[0][:], Link: fuzzLink}
	b.opens = sessionoracle.NewReceiver(b.seals)
	b.script = *s
	for n := 0; b.more() && n < 200; n++ {
		b.op()
	}
}

func (b *envelopeBench) op() {
	b.Helper()
	switch op := b.byte() % 8; op {
	case 0, 1, 2:
		b.seal(1 + int(b.byte()))
	case 3:
		for range b.byte() % 32 {
			b.seal(1)
		}
	case 4, 5: // one of the latest, whole or with a bit changed
		if len(b.sealed) == 0 {
			return
		}
		d := bytes.Clone(b.sealed[max(0, len(b.sealed)-1-int(b.byte()))])
		if op == 5 {
			at := int(b.uint16()) % (8 * len(d))
			d[at/8] ^= 1 << (at % 8)
		}
		b.open(d)
	case 6: // its own, sent back (CXA-31)
		if len(b.sealed) > 0 {
			if body, err := b.from.Open(nil, b.sealed[len(b.sealed)-1]); err == nil {
				b.Fatalf("an end opened its own datagram: %x", body)
			}
		}
	case 7:
		b.open(b.take(int(b.uint16())))
	}
}

// seal seals a body of some size; past the last counter there is none.
func (b *envelopeBench) seal(size int) {
	b.Helper()
	if b.next >= 1<<62 {
		return
	}
	body := slice(size)
	d := b.from.Seal(nil, body)
	if want := b.seals.Seal(b.next, body); !bytes.Equal(d, want) {
		b.Fatalf("datagram %d is %x, the oracle's %x", b.next, d, want)
	}
	b.next++
	b.sealed = append(b.sealed, d)
}

// slice returns some bytes of a size.
func slice(size int) []byte { return noise[size : 2*size] }

func (b *envelopeBench) open(d []byte) {
	b.Helper()
	before := bytes.Clone(d)
	body, err := b.to.Open(nil, d)
	c, want, wantErr := b.opens.Open(before)
	if verbose() {
		b.Logf("%x: %x, %v", before, body, err)
	}
	compareSessionCodes(b, err, wantErr)
	if err == nil && (!bytes.Equal(body, want) || int64(b.to.Opened()) != c) {
		b.Fatalf("datagram %d opens to %x, by the oracle %d to %x", b.to.Opened(), body, c, want)
	}
	if !bytes.Equal(d, before) {
		b.Fatalf("opening changed the datagram")
	}
}

func seedSessions(files []testvectors.File) (seeds [][]byte) {
	for _, b := range bytesIn(files, contract.OpSessionOpen) {
		seeds = append(seeds, withBytes([]byte{1, 0, 7}, b))
	}
	for mode := range byte(3) {
		for first := range byte(5) {
			seeds = append(seeds, []byte{1 + mode, first, 0, 9, 0, 0, 1, 200, 4, 1, 4, 1, 5, 0, 3, 0, 6, 3, 31, 4, 30, 4, 0, 5, 2, 40, 0, 4, 2, 4, 29, 7, 3, 0, 0x40, 0, 0})
		}
	}
	return seeds
}
