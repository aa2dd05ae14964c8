package session

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// each does something for n things and returns how many bytes more are held for each.
func each(n int, do func(i int)) int {
	before := check.Heap()
	for i := range n {
		do(i)
	}
	return (int(check.Heap()) - int(before)) / n
}

// anyone is a server that knows everyone, and has room.
func anyone(mode Mode) ServerConfig {
	return ServerConfig{
		Terms: Terms{Mode: mode}, MaxConnections: 1 << 20, MaxPerAddress: 1 << 20,
		Keys: func(identity uint64) (Key, bool) { return keyOf(identity), true },
	}
}

// The bytes that a Link holds, with its replay window; and a server for each connection, with its
// Link, and for each that ended.
func TestTheMemoryOfConnections(t *testing.T) {
	const n = 2000
	most := map[Mode]struct{ link, entry int }{MAC: {1630, 2200}, AEAD: {610, 1200}}
	for _, mode := range modes[1:] {
		links := make([]*Link, n)
		link := each(n, func(i int) { links[i], _ = pair(mode, 0) })
		runtime.KeepAlive(links)

		h := newHost(t, anyone(mode))
		proofs := make([][]byte, n)
		for i := range proofs {
			proofs[i] = newCaller(h, here, uint64(i+1)).again(here, keyOf(uint64(i+1)))
		}
		living := each(n, func(i int) { h.takes(here, proofs[i]) })
		freed := -each(n, func(i int) { h.End(h.now, h.identities[uint64(i+1)], ConnectionClosed) })
		runtime.KeepAlive(proofs)
		check.Equal(t, "connections", []int{int(h.Stats().Made), h.Stats().Ended}, []int{n, n})
		t.Logf("%v: %d bytes a Link, %d a connection of a server, %d one that ended", mode, link, living, living-freed)
		check.That(t, link <= most[mode].link && living <= most[mode].entry && living-freed <= 480, fmt.Sprint(mode, ": ", link, ", ", living, ", ", living-freed))
	}
}

// A flood of LINKs, PROOFs and data from as many addresses as there are makes a server hold nothing
// and allocate nothing (CXS-1, CXT-BND-2, CXA-20 to CXA-22).
func TestAFloodOfStrangers(t *testing.T) {
	h := newHost(t, with(anyone(MAC), func(c *ServerConfig) { c.MaxConnections = 4; c.MaxPerAddress = 4 }))
	c := confirmed(h, here, 7)
	foreign := newCaller(h, there, 8)
	link, proof, data := newLink(foreign), foreign.again(there, keyOf(8)), c.data("x")
	data[len(data)-1]++
	other := append([]byte(nil), data...)
	binary.LittleEndian.PutUint32(other[1:], c.Link().ID()+1)
	out := make([]byte, 0, 200)
	flood := func(i int) {
		from := elsewhere
		binary.LittleEndian.PutUint32(from[4:], uint32(i))
		answer, _, _ := h.Receive(h.now, from, link, out)
		_, _, err := h.Receive(h.now, from, proof, out)
		_, err2 := h.Route(from, data)
		_, err3 := h.Route(here, other)
		if len(answer) != challengeSize || code(err) != CodeCookie || code(err2) != CodeAddress || code(err3) != CodeUnknownLink {
			t.Fatal(len(answer), err, err2, err3)
		}
	}
	check.Equal(t, "bytes held", each(100_000, flood), 0)
	check.Equal(t, "allocations", testing.AllocsPerRun(1000, func() { flood(1) }), 0)
	check.Equal(t, "entries", []int{len(h.links), len(h.identities), len(h.hellos), len(h.prefixes)}, []int{1, 1, 0, 1})
	check.Equal(t, "the connection goes on", h.hears(here, c.data("y")), "J18")
}

// What is refused for its tag or its counter costs no memory either, nor what a client takes for
// nothing; but what could be an answer to it.
func TestRefusalsAllocateNothing(t *testing.T) {
	for _, mode := range modes[1:] {
		h := newHost(t, anyone(mode))
		c := newCaller(h, here, 7)
		proof := c.challenged()
		linkedAnswer := h.takes(here, proof)
		refused := Message{Kind: KindRefused, Version: 1, Reason: Full, Proof: [16]byte{1}}
		refused.Nonce = c.offer.Nonce
		forged := [][]byte{altered(linkedAnswer, 8*3), altered(check.Must(refused.Append(nil)), 8*3), unhex(messages[1].hex), proof, {0x99}, nil}
		check.Equal(t, "at a client", testing.AllocsPerRun(100, func() {
			for _, d := range forged {
				sinkErr = c.Receive(h.now, d)
			}
			c.Deadline()
		}), 0)
		c.gets(linkedAnswer)
		e, good := c.entry(), c.data("x")
		check.Equal(t, "row", h.hears(here, good), "J9")
		bad := altered(c.data("y"), 8*10)
		out := make([]byte, 0, 100)
		check.Equal(t, "of data", testing.AllocsPerRun(100, func() {
			_, err := e.Link().Open(out, good)
			_, err2 := e.Link().Open(out, bad)
			if code(err) != CodeDuplicate || code(err2) != CodeTag {
				panic("it is opened")
			}
			h.Heard(h.now, e)
			h.Deadline()
			h.Poll(h.now)
		}), 0)
	}
}
