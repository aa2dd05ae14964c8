package flows

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
)

// Options say what a flow of chunks does. A field that is 0 has its default.
type Options struct {
	Lanes lanes.Config // both ends'; its SendQueue is set to what Waiting needs
	// Start and Stop are when the application begins and when it is gone, at both ends and
	// without a word to the other. Stop 0: never.
	Start, Stop core.Micros
	Sizes       []int // bytes of each chunk; the last one's is that of all further; none: full chunks
	Chunks      int   // so many; 0: without end
	// Waiting is how many chunks the application has submitted, at most, that the peer is not
	// known to have. 0: two more than there are lanes, so that the next one always waits.
	Waiting int
	// Every is the least time from one submission to the next, Pause that from when the peer
	// was known to have a chunk to the next submission.
	Every, Pause core.Micros
	// ReadEvery is the least time from one chunk that the application reads to the next: it
	// is busy between.
	ReadEvery core.Micros
	BothWays  bool // the other end sends the same
}

func (o Options) complete() Options {
	if len(o.Sizes) == 0 {
		o.Sizes = []int{codec.MaxChunkSize}
	}
	if o.Waiting == 0 {
		o.Waiting = max(o.Lanes.Lanes, 1) + 2
	}
	if o.Stop == 0 {
		o.Stop = core.Never
	}
	o.Lanes.SendQueue = o.Waiting
	return o
}

// size returns that of chunk i.
func (o *Options) size(i int) int { return o.Sizes[min(i, len(o.Sizes)-1)] }

// Chunk is when one was submitted, and when its receiver had it whole and in order.
type Chunk struct{ Submitted, Delivered core.Micros }

// Chunks is a flow of chunks.
type Chunks struct {
	*Flow
	a, b peer
}

// AddChunks adds a flow of chunks. It fails if the lanes' configuration is bad.
func (w *World) AddChunks(name string, o Options) (*Chunks, error) {
	o = o.complete()
	a, err := lanes.New(o.Lanes)
	if err != nil {
		return nil, err
	}
	b, err := lanes.New(o.Lanes)
	if err != nil {
		return nil, err
	}
	c := &Chunks{
		a: peer{Lanes: a, options: o, sends: true},
		b: peer{Lanes: b, options: o, sends: o.BothWays},
	}
	c.a.other, c.b.other = &c.b, &c.a
	c.Flow = w.Add(name, &c.a, &c.b)
	return c, nil
}

// Delivered returns the chunks that one end, Down or Up, has sent and the other one has read.
func (c *Chunks) Delivered(end int) []Chunk {
	p := [2]*peer{&c.a, &c.b}[end]
	return p.chunks[:p.delivered]
}

// Err returns why the flow has failed, or nil.
func (c *Chunks) Err() error {
	if c.a.Err() != nil {
		return c.a.Err()
	}
	return c.b.Err()
}

// Done returns when the last of Options.Chunks was delivered, both ways, or core.Never.
func (c *Chunks) Done() (at core.Micros) {
	for _, p := range [2]*peer{&c.a, &c.b} {
		if p.sends && (p.options.Chunks == 0 || p.delivered < p.options.Chunks) {
			return core.Never
		}
		if p.sends {
			at = max(at, p.chunks[p.delivered-1].Delivered)
		}
	}
	return at
}

// packet is a slice or an ack, and its lane. Any of them says how many datagrams with marks have
// come, as the packets of a connection do.
type packet struct {
	lane  int
	slice codec.Slice
	ack   codec.Ack
	marks int64
}

// marker is lanes that take marks as what they say of the path.
type marker interface {
	Marked(now core.Micros, n int)
}

// peer is the lanes of one end and the application there.
type peer struct {
	*lanes.Lanes
	options Options
	other   *peer
	sends   bool

	chunks    []Chunk // submitted here
	finished  int     // that the other end is known to have
	delivered int     // that the other end's application has read
	nextAt    core.Micros
	readAt    core.Micros
	buffer    []byte
	stored    int64 // slices that were new here
	marks     int64 // datagrams that came with a mark
	told      int64 // marks of the other end that are known here
}

// Poll submits and reads what can be, and returns what is to be sent.
func (p *peer) Poll(now core.Micros) (d Datagram, ok bool) {
	if !p.mayRun(now) {
		return d, false
	}
	p.submit(now)
	p.read(now)
	if lane, ack, ok := p.PollAck(now); ok {
		return Datagram{Size: codec.KindOf(p.options.Lanes.Repair).AckSize(ack.NumSlices), ECT: true, Message: &packet{lane: lane, ack: ack, marks: p.marks}}, true
	}
	lane, slice, ok := p.PollSlice(now)
	if !ok {
		return d, false
	}
	d = Datagram{Size: slice.DatagramSize(), Data: true, ECT: true, Message: &packet{lane: lane, slice: slice, marks: p.marks}}
	p.Spend(now, d.Size+codec.HeaderBytes)
	return d, true
}

// mayRun reports whether the application is there.
func (p *peer) mayRun(now core.Micros) bool {
	return now >= p.options.Start && now < p.options.Stop
}

// Handle gives the lanes a slice or an ack.
func (p *peer) Handle(now core.Micros, d Datagram) (news bool) {
	if !p.mayRun(now) {
		return false
	}
	in := d.Message.(*packet)
	p.takeMarks(now, in, d.Marked)
	if !d.Data {
		p.HandleAck(now, in.lane, in.ack)
		return false
	}
	p.HandleSlice(now, in.lane, in.slice)
	before := p.stored
	p.stored = p.Stats().Receiver.SlicesStored
	return p.stored > before
}

// takeMarks counts the mark of a datagram, and takes what it says of those that came there.
func (p *peer) takeMarks(now core.Micros, in *packet, marked bool) {
	if marked {
		p.marks++
	}
	if in.marks <= p.told {
		return
	}
	if l, ok := any(p.Lanes).(marker); ok {
		l.Marked(now, int(in.marks-p.told))
	}
	p.told = in.marks
}

// Deadline returns when the lanes or the application have something to do.
func (p *peer) Deadline() core.Micros {
	at := p.Lanes.Deadline()
	if p.wantsToSubmit() {
		at = min(at, p.nextAt)
	}
	if p.ReadSize() > 0 {
		at = min(at, p.readAt)
	}
	if at = max(at, p.options.Start); at >= p.options.Stop {
		return core.Never
	}
	return at
}

func (p *peer) wantsToSubmit() bool {
	return p.sends && p.Err() == nil && len(p.chunks)-p.finished < p.options.Waiting &&
		(p.options.Chunks == 0 || len(p.chunks) < p.options.Chunks)
}

// submit submits the chunks that may be now.
func (p *peer) submit(now core.Micros) {
	for _, ok := p.Finished(); ok; _, ok = p.Finished() {
		p.finished++
		p.nextAt = max(p.nextAt, now+p.options.Pause)
	}
	for p.wantsToSubmit() && now >= p.nextAt {
		if _, err := p.SubmitEncoded(now, chunkOf(p.options.size(len(p.chunks)))); err != nil {
			return // it has just failed
		}
		p.chunks = append(p.chunks, Chunk{Submitted: now, Delivered: core.Never})
		p.nextAt = max(p.nextAt, now+p.options.Every)
	}
}

// read reads the chunks that can be read now, and checks them.
func (p *peer) read(now core.Micros) {
	for p.ReadSize() > 0 && now >= p.readAt {
		p.buffer, _ = p.Read(now, p.buffer[:0])
		if !bytes.Equal(p.buffer, chunkOf(p.options.size(p.other.delivered)).Bytes()) {
			panic(fmt.Sprintf("flows: another chunk than was sent, at %d us", now))
		}
		p.other.chunks[p.other.delivered].Delivered = now
		p.other.delivered++
		p.readAt = now + p.options.ReadEvery
	}
}

// chunkOf returns a chunk of a size, encoded once for all flows.
func chunkOf(size int) *erasure.Encoded {
	encodedMu.Lock()
	defer encodedMu.Unlock()
	e := encoded[size]
	if e == nil {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(i * 7 >> 3)
		}
		e = erasure.Encode(b)
		encoded[size] = e
	}
	return e
}

var (
	encodedMu sync.Mutex
	encoded   = map[int]*erasure.Encoded{}
)
