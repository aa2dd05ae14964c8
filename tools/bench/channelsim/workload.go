package channelsim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
)

// Workload is messages of one size that an application sends over one reliable channel, so
// many a frame.
type Workload struct {
	Channel  protocol.Config
	Frames   int
	PerFrame int         // messages
	Size     int         // bytes of a message, at least 4
	Frame    core.Micros // from one frame to the next
	Down, Up netsim.Path // to the reader, to the sender
	Limit    core.Micros // virtual time that all may take
	// Back is how many messages a frame the reader sends over the same channel; they are in no
	// figure but the datagrams and bytes.
	Back int
	// ReadAtFrames says that the reader's application reads once a frame, and not at once.
	ReadAtFrames bool
}

// Messages returns how many messages there are.
func (w *Workload) Messages() int { return w.Frames * w.PerFrame }

// Run is what became of a workload.
type Run struct {
	Delays []core.Micros // of each message, from its send call until it was read, sorted
	Last   core.Micros   // from the last send call until all were read
	// Records counts transmissions of messages and fragments; Again those of them that were not
	// the first, Needless those that were sent although an earlier one arrives.
	Records, Again, Needless int64
	// Datagrams and Bytes are those that the sender and the reader sent, without IP and UDP.
	Datagrams, Bytes [2]int64
	Reports          int64
	Refused          int64 // send calls that found the queue full, and were made again later
}

// ErrNotDelivered ends a run in which not all was delivered in time.
var ErrNotDelivered = errors.New("sim: not all messages were delivered")

// ErrWrong ends a run that delivered what was not sent, or not once, or not in its order.
var ErrWrong = errors.New("sim: delivered a message that was not next")

// Run runs the workload in virtual time, with the chance of a seed.
func (w Workload) Run(seed uint64) (Run, error) {
	c, err := w.begin(seed)
	if err != nil {
		return Run{}, err
	}
	c.world.At(0, c.send)
	if w.ReadAtFrames {
		c.world.At(w.Frame/2, c.readFrame) // in the middle of the sender's
	} else {
		c.ends[1].Arrived = c.readAll
	}
	if w.Back > 0 {
		c.ends[0].Arrived = c.readBack
		c.world.At(w.Frame/2, c.sendBack)
	}
	c.world.Run(w.Limit, func() bool { return c.err != nil || len(c.run.Delays) == w.Messages() })
	if c.err == nil && len(c.run.Delays) < w.Messages() {
		c.err = fmt.Errorf("%w: %d of %d", ErrNotDelivered, len(c.run.Delays), w.Messages())
	}
	return c.finish(), c.err
}

// course is a run under way.
type course struct {
	Workload
	run      Run
	err      error
	world    *sim.World[[]byte]
	ends     [2]*Host
	ledger   ledger
	sentAt   []core.Micros // of each message, when it was first to be sent
	sent     int           // messages that were taken
	lastSend core.Micros
	read     []bool // by message
	buffer   []byte // of a message that is read
	message  []byte // that is sent, or must be read
}

func (w Workload) begin(seed uint64) (*course, error) {
	c := &course{Workload: w, read: make([]bool, w.Messages())}
	down, err1 := netsim.NewLink(w.Down, 2*seed)
	up, err2 := netsim.NewLink(w.Up, 2*seed+1)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	for i := range c.ends {
		var err error
		if c.ends[i], err = NewHost(protocol.MuxConfig{Channels: []protocol.Config{w.Channel}}, packet.Config{}, w.Frame); err != nil {
			return nil, err
		}
	}
	c.ledger.sent = make(map[core.Number][]int64)
	c.ledger.format = w.Channel.Format
	c.ends[0].Composed = func(_ core.Micros, _ core.Number, payload []byte) { c.ledger.compose(payload) }
	c.world = sim.NewWorld(c.carry(down, up), sim.End[[]byte](c.ends[0]), c.ends[1])
	return c, nil
}

// carry is the network, which also counts.
func (c *course) carry(down, up *netsim.Link) sim.Carrier[[]byte] {
	carry := sim.Links(down, up, func(datagram []byte) int { return len(datagram) })
	return func(now time.Duration, from int, datagram []byte, deliver func(time.Duration, int, []byte)) {
		arrives := false
		carry(now, from, datagram, func(at time.Duration, to int, d []byte) {
			arrives = true
			deliver(at, to, d)
		})
		c.run.Datagrams[from]++
		c.run.Bytes[from] += int64(len(datagram))
		if from == 0 {
			c.ledger.carried(arrives, &c.run)
		}
	}
}

// send is the application's frame: it sends what it has not yet, as far as it is taken.
func (c *course) send() {
	now := c.world.Now()
	if frames := len(c.sentAt) / c.PerFrame; frames < c.Frames {
		for range c.PerFrame {
			c.sentAt = append(c.sentAt, now)
		}
	}
	for c.sent < len(c.sentAt) {
		c.message = content(c.message[:0], c.sent, c.Size)
		if err := c.ends[0].Mux.Send(now, c.Channel.ID, c.message, 0); err != nil {
			c.run.Refused++
			break
		}
		c.sent++
		c.lastSend = now
	}
	if c.sent < c.Messages() && c.ends[0].Mux.Failed() == 0 {
		c.world.At((now/c.Frame+1)*c.Frame, c.send)
	}
}

// content appends a message to dst: its number, and bytes that are others in the next one.
func content(dst []byte, n, size int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	for i := 4; i < size; i++ {
		dst = append(dst, byte(n+i*31))
	}
	return dst
}

// sendBack is a frame of the reader's application, while the sender's has any.
func (c *course) sendBack() {
	now := c.world.Now()
	for range c.Back {
		// One that is refused is not missed.
		_ = c.ends[1].Mux.Send(now, c.Channel.ID, make([]byte, c.Size), 0)
	}
	if len(c.sentAt) < c.Messages() {
		c.world.At(now+c.Frame, c.sendBack)
	}
}

// readBack reads what the reader sends.
func (c *course) readBack(now core.Micros) {
	for ok := true; ok; {
		_, ok = c.ends[0].Mux.Read(now, c.Channel.ID, c.buffer[:0])
	}
}

// readFrame is a frame of the reader's application.
func (c *course) readFrame() {
	now := c.world.Now()
	c.readAll(now)
	c.world.At(now+c.Frame, c.readFrame)
}

// readAll reads what is ready.
func (c *course) readAll(now core.Micros) {
	for c.err == nil {
		m, ok := c.ends[1].Mux.Read(now, c.Channel.ID, c.buffer[:0])
		if !ok {
			return
		}
		c.buffer = m.Data
		if c.err = c.check(m); c.err == nil {
			n := binary.LittleEndian.Uint32(m.Data)
			c.read[n] = true
			c.run.Delays = append(c.run.Delays, now-c.sentAt[n])
		}
	}
}

// check compares a message with what must come.
func (c *course) check(m protocol.Message) error {
	if m.Skipped || len(m.Data) != c.Size {
		return fmt.Errorf("%w: %d bytes, skipped: %v", ErrWrong, len(m.Data), m.Skipped)
	}
	n := int(binary.LittleEndian.Uint32(m.Data))
	c.message = content(c.message[:0], n, c.Size)
	if n >= c.sent || !bytes.Equal(m.Data, c.message) || c.read[n] || c.Channel.Kind == protocol.Ordered && n != len(c.run.Delays) {
		return fmt.Errorf("%w: %d behind %d others", ErrWrong, n, len(c.run.Delays))
	}
	return nil
}

func (c *course) finish() Run {
	c.run.Last = c.world.Now() - c.lastSend
	c.run.Reports = c.ends[1].Mux.ReceiverStats(c.Channel.ID).Reports
	slices.Sort(c.run.Delays)
	return c.run
}

// ledger knows which datagrams each record went in, and which of these arrive.
type ledger struct {
	format   protocol.Format
	sent     map[core.Number][]int64 // by sequence: the datagrams
	arrives  []bool                  // by datagram
	composed []core.Number           // in the next datagram
	highest  core.Number
	record   protocol.Record
}

// compose notes the records of the payload that goes in the next datagram.
func (l *ledger) compose(payload []byte) {
	for at := 0; at < len(payload); {
		next, err := l.format.Decode(payload, at, &l.record)
		if err != nil {
			panic(err) // our own end made it
		}
		at = next
		if l.record.Type == protocol.TypeMessage || l.record.Type == protocol.TypeFragment {
			n := core.Wire16.UpTo(l.highest+core.Wire16.Size()/2, l.record.Sequence)
			l.highest = max(l.highest, n)
			l.composed = append(l.composed, n)
		}
	}
}

// carried says what becomes of the next datagram.
func (l *ledger) carried(arrives bool, run *Run) {
	datagram := int64(len(l.arrives))
	l.arrives = append(l.arrives, arrives)
	for _, n := range l.composed {
		before := l.sent[n]
		run.Records++
		if len(before) > 0 {
			run.Again++
		}
		if slices.ContainsFunc(before, func(d int64) bool { return l.arrives[d] }) {
			run.Needless++
		}
		l.sent[n] = append(before, datagram)
	}
	l.composed = l.composed[:0]
}
