package connectionsim

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/conform/measure"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
)

// Paths are the networks on which services are measured, as in bench.
var Paths = []struct {
	Name string
	netsim.Path
}{
	{"S1", netsim.Path{Rate: 100e6, Delay: 25 * time.Millisecond, Queue: 1 << 20, Overhead: 28}},
	{"S2", netsim.Path{Rate: 10e6, Delay: 25 * time.Millisecond, Queue: 256 << 10, Overhead: 28}},
	{"S3", netsim.Path{Rate: 1e6, Delay: 50 * time.Millisecond, Queue: 64 << 10, Overhead: 28}},
	{"S4", netsim.Path{Delay: 25 * time.Millisecond, Overhead: 28}},
}

// Load is what a server sends to one client: game packets (unreliable), chat (ordered) and a
// chunk.
type Load struct {
	Path           netsim.Path // each way
	Game, Chat     bool
	Chunk          int         // bytes; 0: none
	Settle         core.Micros // before the chunk is sent, and before anything is measured
	Config         protocol.Config
	BothWays       bool        // the client sends game packets, too
	MeasureAtLeast core.Micros // without a chunk
}

// Measured is what came of a load, from Settle until the chunk is there, or for MeasureAtLeast
// without one.
type Measured struct {
	Game, Chat []core.Micros // from send to read
	GameSent   int
	Chunk      core.Micros // from send to read; 0: none
	BadTime    core.Micros // for how long the mode of the server was BAD
	Took       core.Micros
	Bytes      int64 // that the server sent
}

const (
	gameFrame   = core.Second / 60
	gameChannel = uint8(0)
	chatChannel = uint8(1)

	mostMeasured = 120 * core.Second
)

// meter is a load under way.
type meter struct {
	*Load
	net      *Network
	peer     *protocol.ServerConn
	out      Measured
	measures bool
	chunkAt  core.Micros
	done     bool
}

// Run runs a load. The same seed gives the same figures.
func (l Load) Run(seed uint64) (Measured, error) {
	m := &meter{Load: &l}
	carry, err := OverPath(l.Path, seed)
	if err != nil {
		return m.out, err
	}
	m.net = NewNetwork(1, carry)
	if err := m.begin(seed); err != nil {
		return m.out, err
	}
	if !m.net.Run(l.Settle+mostMeasured, func() bool { return m.done }) {
		return m.out, fmt.Errorf("seed %d: not over after %d us: server %v, client %v", seed, m.net.Now(), m.peer, m.net.Clients[0].Err())
	}
	return m.out, nil
}

func (m *meter) begin(seed uint64) (err error) {
	s, c := m.net.Server, m.net.Clients[0]
	cfg := m.Config
	if s.Server, err = protocol.NewServer(protocol.ServerConfig{Config: cfg, Anonymous: true, Random: Random(byte(seed), byte(seed>>8), 1)}); err != nil {
		return err
	}
	if c.Client, err = protocol.NewClient(protocol.ClientConfig{Config: cfg, Random: Random(byte(seed), byte(seed>>8), 2)}, 0); err != nil {
		return err
	}
	s.Accepted = func(now core.Micros, p *protocol.ServerConn) {
		m.peer = p
		m.frame()
		m.chat()
		m.net.At(now+m.Settle, m.start)
	}
	s.Happened = func(now core.Micros, p *protocol.ServerConn) {
		for { // what the client sends is read, too
			if _, ok := p.Read(now, gameChannel, nil); !ok {
				return
			}
		}
	}
	c.Happened = m.read
	return nil
}

// start begins to measure.
func (m *meter) start() {
	now := m.net.Now()
	m.measures, m.chunkAt = true, now
	m.out.Bytes = -m.peer.Stats().BytesSent
	if m.Chunk == 0 {
		m.net.At(now+m.MeasureAtLeast, m.stop)
		return
	}
	if _, err := m.peer.SendChunk(now, make([]byte, m.Chunk)); err != nil {
		panic(err)
	}
}

func (m *meter) stop() {
	now := m.net.Now()
	m.measures = false
	m.out.Took = now - m.chunkAt
	m.out.Bytes += m.peer.Stats().BytesSent
	m.net.At(now+core.Second, func() { m.done = true }) // what is on its way still counts
}

// stamped is a message with the time at which it was sent, and whether it counts.
func (m *meter) stamped(size int) []byte {
	b := make([]byte, size)
	binary.LittleEndian.PutUint64(b, uint64(m.net.Now())<<1)
	if m.measures {
		b[0] |= 1
	}
	return b
}

func (m *meter) frame() {
	if !m.Game {
		return
	}
	now := m.net.Now()
	if m.measures {
		m.out.GameSent++
		if m.peer.Mode() == packet.Bad {
			m.out.BadTime += gameFrame
		}
	}
	_ = m.peer.Send(now, gameChannel, m.stamped(60), 0)
	if c := m.net.Clients[0]; m.BothWays && c.Conn() != nil {
		_ = c.Conn().Send(now, gameChannel, m.stamped(60), 0)
	}
	m.net.At(now+gameFrame, m.frame)
}

func (m *meter) chat() {
	if !m.Chat {
		return
	}
	now := m.net.Now()
	_ = m.peer.Send(now, chatChannel, m.stamped(80), 0)
	m.net.At(now+100*core.Millisecond, m.chat)
}

// read reads all that has come.
func (m *meter) read(now core.Micros) {
	conn := m.net.Clients[0].Conn()
	if conn == nil {
		return
	}
	for id, list := range map[uint8]*[]core.Micros{gameChannel: &m.out.Game, chatChannel: &m.out.Chat} {
		for {
			message, ok := conn.Read(now, id, nil)
			if !ok {
				break
			}
			if at := binary.LittleEndian.Uint64(message.Data); at&1 == 1 {
				*list = append(*list, now-core.Micros(at>>1))
			}
		}
	}
	if _, ok := conn.ReadChunk(now, nil); ok {
		m.out.Chunk = now - m.chunkAt
		m.stop()
	}
}

// Figures sum up a load with several seeds.
type Figures struct {
	Game, Chat, Chunk measure.Quantile[core.Micros]
	GameLost          float64 // share of game packets that were not read
	Bad               float64 // share of the time in BAD
	Rate              float64 // bytes a second that the server sent
}

// Measure runs a load with so many seeds.
func (l Load) Measure(seeds int) (f Figures, err error) {
	var all Measured
	var chunks []core.Micros
	for seed := range uint64(seeds) {
		m, err := l.Run(seed + 1)
		if err != nil {
			return f, err
		}
		all.Game, all.Chat = append(all.Game, m.Game...), append(all.Chat, m.Chat...)
		all.GameSent += m.GameSent
		all.BadTime += m.BadTime
		all.Took += m.Took
		all.Bytes += m.Bytes
		if m.Chunk > 0 {
			chunks = append(chunks, m.Chunk)
		}
	}
	f.Game, f.Chat, f.Chunk = measure.Quantiles(all.Game).OrZero(), measure.Quantiles(all.Chat).OrZero(), measure.Quantiles(chunks).OrZero()
	f.GameLost = 1 - float64(len(all.Game))/float64(max(1, all.GameSent))
	f.Bad = float64(all.BadTime) / float64(max(1, all.Took))
	f.Rate = float64(all.Bytes) / all.Took.Duration().Seconds()
	return f, nil
}
