package transport

import (
	"context"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// sendHalf moves what is due, both ways, except each second datagram to the server. Nobody reads at the server except
// the benchmark.
func (m *mate) sendHalf(event func(do func())) {
	now := m.shard.driver.Now()
	for ; ; m.polled++ {
		datagram, ok := m.client.Poll(now, nil)
		if !ok {
			break
		}
		if m.polled%2 == 1 {
			event(func() { receive(m.shard, now, datagram, m.addr) })
		}
	}
	for more := true; more; {
		var out []udp.Run
		event(func() { out = m.shard.driver.CollectForTest() })
		for _, run := range out {
			for datagram := range run.Datagrams() {
				m.client.Receive(now, datagram)
			}
		}
		more = len(out) > 0
	}
	for p := range m.shard.peers {
		select {
		case <-p.Chunks().RecvReady():
			check.Must(p.Chunks().Recv(context.Background()))
		default:
		}
	}
}

// A chunk that is made in steps is not made at once because a sample of the round trip is due, or somebody asks for
// counts. (It took up to 5 ms, in which no other connection had its turn.)
func TestCountsMakeNoChunk(t *testing.T) {
	sh := silentServer(t, Config{}).shards[0]
	m := join(t, sh, 1, check.Must(newSettings(Config{Profile: Fixed, MaxRate: 1_000_000_000})).Config)
	check.Must(m.client.Conn().SendChunk(sh.driver.Now(), make([]byte, MaxChunkSize)))
	pending := false
	for done := false; !done; _, done = m.client.Conn().ChunkDone() {
		m.sendHalf(func(do func()) {
			for p := range sh.peers {
				p.sampleAt = 0
				do()
				p.Stats()
				pending = pending || p.link.CompleteLocked() > 0 && !p.conn.Work(0)
			}
		})
	}
	check.That(t, pending, "it is made later")
}
