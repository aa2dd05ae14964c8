package connection

import (
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// PlainConfig sets up the plain connections of a socket.
type PlainConfig struct {
	Format *PlainFormat
	Chunks lanes.Config // Lanes and Repair are as in the format
	// IdleTimeout is how long a connection can receive nothing valid before it ends (CON-6);
	// 0: without limit.
	IdleTimeout core.Micros
	// LimitUnvalidated bounds the slices that are sent to a peer that began its connection and
	// has acked nothing (SEC-4).
	LimitUnvalidated bool
}

// Plain is one end of a connection of spec/PROTOCOL.md or spec/REPAIR.md with the lanes of its
// appendix D: chunks alone, without handshake, envelope or packets. A pair of machines for
// each lane is new with it (CON-1, LAN-1). It does nothing between calls.
type Plain struct {
	cfg       *PlainConfig
	lanes     *lanes.Lanes
	header    int32 // bytes of IP and UDP
	side      Side
	validated bool
	closed    bool
	trialWait core.Micros // of a peer that is not validated, before the next slice
	heardAt   core.Micros
	polledAt  core.Micros // when Poll had nothing to send, if nothing happened since
	err       error
}

// firstTrialWait is how long the second slice waits that is sent to a peer that is not
// validated, with PlainConfig.LimitUnvalidated (SEC-4, SEC-7).
const firstTrialWait = 250 * core.Millisecond

// NewPlain returns a connection that begins at now, and whose datagrams have so many bytes of
// IP and UDP before them. The side is ServerSide if the peer began it. It fails with
// core.ErrConfig, or with what NewScheduler fails with.
func NewPlain(cfg *PlainConfig, side Side, header int, log eventlog.Log, now core.Micros) (*Plain, error) {
	chunks := cfg.Chunks
	chunks.Lanes, chunks.Repair, chunks.Log = cfg.Format.Lanes(), cfg.Format.repair, log
	l, err := lanes.New(chunks)
	return &Plain{cfg: cfg, lanes: l, side: side, header: int32(header), heardAt: now, polledAt: never}, err
}

// Receive takes a packet that arrived at now. It reports whether the packet was of this
// connection: nothing else is a sign of life (CON-6).
func (p *Plain) Receive(now core.Micros, got *PlainPacket) (ours bool) {
	p.polledAt = never
	if got.Type == codec.TypeSlice {
		ours = p.lanes.HandleSlice(now, got.Lane, got.Slice)
	} else {
		ours = p.lanes.HandleAck(now, got.Lane, got.Ack)
		if ours && !p.validated && p.lanes.Stats().Sender.SlicesAcked > 0 { // SEC-4, RPX-12
			p.validate(now)
		}
	}
	if ours {
		p.heardAt = max(p.heardAt, now)
	}
	p.settle(now)
	return ours
}

// validate notes that the peer has acked a slice.
func (p *Plain) validate(now core.Micros) {
	p.validated = true
	if p.trialWait > 0 {
		// What was learned while slices were sent one at a time is not the rate of the path, and
		// the time in which none could be sent need not be made up for.
		p.lanes.Hold(0)
		p.lanes.ForgetPath(now)
	}
}

// settle ends the connection if a machine has failed, which ends all lanes (LAN-6), or if
// nothing came for too long.
func (p *Plain) settle(now core.Micros) {
	switch {
	case p.err != nil:
	case p.lanes.Err() != nil:
		p.err = p.lanes.Err()
	case now >= p.idleAt():
		p.err = fmt.Errorf("connection: nothing came for %v: %w", p.cfg.IdleTimeout.Duration(), session.ErrTimeout)
	}
}

// idleAt returns when the connection ends if nothing more is received.
func (p *Plain) idleAt() core.Micros {
	if p.cfg.IdleTimeout == 0 {
		return core.Never
	}
	return p.heardAt + p.cfg.IdleTimeout
}

// Expire ends the connection if its time is over at now, while nothing can be sent. It leaves
// a quarter more than is needed: if sending goes on after all, packets that wait in the socket
// come before the timers.
func (p *Plain) Expire(now core.Micros) {
	p.lanes.Expire(now - p.cfg.Chunks.GiveUp/4)
	if at := p.idleAt(); p.lanes.Err() != nil || at < core.Never && now-p.cfg.IdleTimeout/4 >= at {
		p.settle(now)
	}
}

// Poll appends a datagram to send at now to dst, or returns false when none is due. Acks are
// sent first, and also after the end: without them a peer whose chunk is complete would not
// know.
func (p *Plain) Poll(now core.Micros, dst []byte) (out []byte, ok bool) {
	if k, a, ok := p.lanes.PollAck(now); ok {
		return p.cfg.Format.appendAck(dst, k, a), true
	}
	if p.closed {
		return dst, false
	}
	if k, s, ok := p.lanes.PollSlice(now); ok {
		out = p.cfg.Format.appendSlice(dst, k, s)
		p.spend(now, len(out)-len(dst))
		return out, true
	}
	p.polledAt = now
	p.settle(now)
	return dst, false
}

// spend notes that a slice is sent, in a datagram of so many bytes.
func (p *Plain) spend(now core.Micros, bytes int) {
	p.lanes.Spend(now, bytes+int(p.header))
	if p.cfg.LimitUnvalidated && p.side == ServerSide && !p.validated {
		longest := max(p.cfg.Chunks.GiveUp/2, firstTrialWait)
		p.trialWait = min(max(2*p.trialWait, firstTrialWait), longest)
		p.lanes.Hold(now + p.trialWait)
	}
}

// ECT returns false: nothing reports marks.
func (p *Plain) ECT() bool { return false }

// Deadline returns when Poll has something to do if no event comes before, or core.Never.
func (p *Plain) Deadline() core.Micros {
	at := min(p.lanes.Deadline(), p.idleAt())
	if p.polledAt == never {
		return at
	}
	return max(at, p.polledAt+1) // nothing was due then, whatever a scheduler says
}

// Close ends the connection: only acks that are due are sent any more. Nothing tells the peer.
func (p *Plain) Close() {
	p.closed = true
	if p.err == nil {
		p.err = ErrClosed
	}
}

// Err returns why the connection has ended, or nil: an error that wraps statemachine.ErrGaveUp
// or session.ErrTimeout, or ErrClosed.
func (p *Plain) Err() error { return p.err }

// Validated reports whether the peer has acked a slice, so that its address is its own.
func (p *Plain) Validated() bool { return p.validated }

// Busy reports whether something is in flight or in line, either way.
func (p *Plain) Busy() bool { return p.lanes.Receiving() || p.lanes.Sending() }

// HeardAt returns when something valid came last, or when the connection began.
func (p *Plain) HeardAt() core.Micros { return p.heardAt }

// SendEncoded puts a chunk in line, as Conn.SendEncoded does.
func (p *Plain) SendEncoded(now core.Micros, e *erasure.Encoded) (number int64, err error) {
	if p.err != nil {
		return 0, p.err
	}
	p.polledAt = never
	return p.lanes.SubmitEncoded(now, e)
}

// WithdrawChunk takes a chunk out of the line, and reports whether it did: one that is in flight
// cannot be taken back.
func (p *Plain) WithdrawChunk(number int64) bool { return p.lanes.Withdraw(number) }

// ChunkDone returns the number of a chunk that the other end has whole, once for each.
func (p *Plain) ChunkDone() (number int64, ok bool) { return p.lanes.Finished() }

// ChunkSize returns how many bytes the chunk has that ReadChunk delivers next, or 0 if it is not
// complete.
func (p *Plain) ChunkSize() int { return p.lanes.ReadSize() }

// Work does some of what ReadChunk has to do before, and reports whether nothing is left, as
// [statemachine.Receiver.Work].
func (p *Plain) Work(operations int) (done bool) { return p.lanes.Work(operations) }

// ReadChunk appends the next chunk to dst, if it is complete. They come in the order in which
// they were sent. A chunk that is not read makes the other end wait.
func (p *Plain) ReadChunk(now core.Micros, dst []byte) (chunk []byte, ok bool) {
	p.polledAt = never
	return p.lanes.Read(now, dst)
}

// ChunkReadTime returns how long the chunk took that ReadChunk returned last.
func (p *Plain) ChunkReadTime() core.Micros { return p.lanes.ReadTime() }

// ChunkStats returns what the lanes did so far.
func (p *Plain) ChunkStats() lanes.Stats { return p.lanes.Stats() }

// Lanes returns how many chunks can be in flight at once.
func (p *Plain) Lanes() int { return p.lanes.Len() }

// PlainPacket is a packet of plain chunks that has arrived, and its lane.
type PlainPacket struct {
	codec.Packet
	Lane int
}

// PlainFormat is the codec of the datagrams of plain chunks: a frame around each slice and each
// ack, with a protocol id for each lane and variant (LAN-2, RPI-1).
type PlainFormat struct {
	repair bool
	lanes  []codec.Framer
	latest int // the lane of the latest datagram that decoded
}

// RepairIDs is by how much the protocol ids of repair slices are above the other ids (RPI-1).
const RepairIDs = lanes.Most * lanes.Most

// NewPlainFormat returns the codec of connections of so many lanes, 1 to lanes.Most. Between the
// first protocol ids of two numbers of lanes there are so many that nothing decodes between ends
// that do not agree.
func NewPlainFormat(protocolID uint32, n int, repair bool) *PlainFormat {
	f := &PlainFormat{repair: repair, lanes: make([]codec.Framer, n)}
	first := protocolID + uint32(lanes.Most*(n-1))
	if repair {
		first += RepairIDs
	}
	for k := range f.lanes {
		f.lanes[k] = codec.KindOf(repair).Framer(first + uint32(k))
	}
	return f
}

// Lanes returns how many lanes there are.
func (f *PlainFormat) Lanes() int { return len(f.lanes) }

// Decode decodes a datagram by the protocol id that makes its crc valid, if its size is one that
// a datagram can have (LAN-3). A lane's datagrams often follow each other, so the lane of the
// latest is tried first. What the packet holds points into the datagram. Only one goroutine can
// decode.
func (f *PlainFormat) Decode(datagram []byte) (PlainPacket, error) {
	refusal := codec.CheckSize(len(datagram))
	for i := 0; refusal == nil && i < len(f.lanes); i++ {
		k := (f.latest + i) % len(f.lanes)
		p, err := f.lanes[k].Decode(datagram)
		switch {
		case err == nil:
			f.latest = k
			return PlainPacket{p, k}, nil
		case !errors.Is(err, codec.ErrCRCMismatch) || i == len(f.lanes)-1:
			refusal = err
		}
	}
	return PlainPacket{}, refusal
}

// AppendSlice and AppendAck append the datagram of a packet of lane k.
func (f *PlainFormat) AppendSlice(dst []byte, k int, s codec.Slice) ([]byte, error) {
	return f.lanes[k].AppendSlice(dst, s)
}

func (f *PlainFormat) AppendAck(dst []byte, k int, a codec.Ack) ([]byte, error) {
	return f.lanes[k].AppendAck(dst, a)
}

// appendSlice and appendAck append what a machine made, which can be encoded.
func (f *PlainFormat) appendSlice(dst []byte, k int, s codec.Slice) []byte {
	dst, err := f.AppendSlice(dst, k, s)
	if err != nil {
		panic(err)
	}
	return dst
}

func (f *PlainFormat) appendAck(dst []byte, k int, a codec.Ack) []byte {
	dst, err := f.AppendAck(dst, k, a)
	if err != nil {
		panic(err)
	}
	return dst
}
