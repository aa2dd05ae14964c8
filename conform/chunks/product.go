package chunks

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// ProductSender is statemachine.Sender.
type ProductSender struct {
	*statemachine.Sender
	kind   codec.Kind
	script *script // nil: it has a scheduler
	events int
	ours   bool
}

func newProductSender(config any) (conform.Machine, error) {
	p, cfg := &ProductSender{}, statemachine.SenderConfig{}
	var err error
	switch c := config.(type) {
	case SenderConfig:
		cfg.FirstChunkID, cfg.GiveUp = c.First, core.Micros(c.GiveUp)
		if c.Profile.Is {
			cfg.Scheduler, err = c.Profile.V.NewScheduler()
		}
	case RepairSenderConfig:
		cfg.Kind, cfg.FirstChunkID, cfg.GiveUp = codec.Repair, c.First, core.Micros(c.GiveUp)
		if c.Profile.Is {
			cfg.Scheduler, err = c.Profile.V.NewScheduler()
		}
	}
	if err != nil {
		return nil, err
	}
	return p, p.init(cfg)
}

// init makes the sender; without a scheduler its scheduler is a script.
func (p *ProductSender) init(cfg statemachine.SenderConfig) (err error) {
	if cfg.Scheduler == nil {
		p.script = &script{}
		cfg.Scheduler = p.script
	}
	p.kind = cfg.Kind
	p.Sender, err = statemachine.NewSender(cfg)
	return err
}

// Do is the machine under test.
func (p *ProductSender) Do(at int64, e conform.Event) conform.Step {
	s, now := Step{Event: p.events, Packets: []Packet{}}, core.Micros(at)
	switch e := e.(type) {
	case Submit:
		s.Error = refusal(p.Submit(now, Data(p.Vars().ChunkID, int(e.Size))))
	case Ack:
		set, ok := ofBits(e.Acked)
		if !ok {
			return nil
		}
		p.ours = p.HandleAck(now, codec.Ack{ChunkID: e.ChunkID, NumSlices: len(set), Acked: setOf(set)})
	case RepairAck:
		if e.Have > e.NumSlices {
			return nil
		}
		p.ours = p.HandleAck(now, codec.Ack{ChunkID: e.ChunkID, NumSlices: int(e.NumSlices), Have: int(e.Have), Top: int(e.Top)})
	case Poll:
		if !p.lets(e.Due) {
			return nil
		}
		p.poll(now, &s)
	case RepairPoll:
		if !p.lets(make([]int64, e.Due.V)) {
			return nil
		}
		p.poll(now, &s)
	case Marks: // which is no event of the sender, and has neither its row nor its time (RVO-4)
		p.Scheduler().Marked(now, int(e.Count))
	case Yield:
		p.Scheduler().Yield(e.Yields)
	}
	p.events++
	p.after(&s)
	return s
}

// lets reports whether these slices may be sent (SCH-1), and then lets them go.
func (p *ProductSender) lets(due []int64) bool {
	v := p.Vars()
	for _, id := range due {
		if p.script == nil || v.State != statemachine.SenderSending || id >= int64(v.NumSlices) || v.Acked.Has(int(id)) {
			return false
		}
	}
	if p.script != nil {
		p.script.due = due
	}
	return true
}

func (p *ProductSender) poll(now core.Micros, s *Step) {
	for slice, ok := p.Poll(now); ok; slice, ok = p.Poll(now) {
		c := Packet{Type: typeSlice, ChunkID: slice.ChunkID, SliceID: conform.Some(int64(slice.SliceID)), NumSlices: conform.Some(int64(slice.NumSlices))}
		c.LastBytes = conform.If(int64(slice.LastBytes), p.kind == codec.Repair)
		c.Size, c.CRC32 = conform.Some(int64(len(slice.Data))), conform.Some(crc32.ChecksumIEEE(slice.Data))
		s.Packets = append(s.Packets, c)
	}
}

// after fills in what a step shows of the state.
func (p *ProductSender) after(s *Step) {
	v := p.Vars()
	s.Row, s.State, s.ChunkID, s.Deadline = string(v.Row), v.State.String(), v.ChunkID, deadline(p.Deadline())
	if p.kind == codec.Repair {
		s.Sent, s.Have, s.Top = conform.Some(int64(v.Transmissions)), conform.Some(int64(v.Have)), conform.Some(int64(v.Top))
		return
	}
	s.Acked = conform.Some("")
	if v.State == statemachine.SenderSending {
		s.Acked.V = bits(boolsOf(v.Acked, v.NumSlices))
	}
}

// Inside is what steps do not show.
func (p *ProductSender) Inside() any {
	v, st := p.Vars(), p.Stats()
	in := Senders{
		Sent: chunkoracle.Sent{
			Chunks: st.Chunks, ChunkBytes: st.ChunkBytes, Slices: st.SlicesSent, Resent: st.SlicesResent, Repair: st.SlicesRepair,
			Acked: st.SlicesAcked, Bytes: st.BytesSent, Acks: st.AcksReceived, AcksIgnored: st.AcksIgnored, LastChunkTime: int64(st.LastChunkTime),
		},
		HeardAt: int64(v.HeardAt), NumSlices: int64(v.NumSlices), Transmissions: int64(v.Transmissions), Have: int64(v.Have), Top: int64(v.Top), Ours: p.ours,
	}
	if sch := st.Schedule; p.kind == codec.Named {
		in.Found = chunkoracle.Found{SRTT: int64(sch.SmoothedRTT), MinRTT: int64(sch.MinRTT), Lost: sch.Lost, Timeouts: sch.Timeouts, Spurious: sch.Spurious}
	}
	return in
}

// script is the scripted scheduler: it returns what a trace says, so that the sender's table can
// be tested without any way to choose slices.
type script struct {
	statemachine.NoPath
	due []int64
}

func (*script) Begin(statemachine.Flight)                {}
func (*script) Held(core.Micros)                         {}
func (*script) Acked(core.Micros, statemachine.Progress) {}
func (*script) Deadline() core.Micros                    { return core.Never }
func (*script) Stats() (none statemachine.ScheduleStats) { return none }
func (s *script) Next(core.Micros) (id int, some bool) {
	if len(s.due) == 0 {
		return 0, false
	}
	id, s.due = int(s.due[0]), s.due[1:]
	return id, true
}

// ProductReceiver is statemachine.Receiver.
type ProductReceiver struct {
	*statemachine.Receiver
	kind   codec.Kind
	events int
	ours   bool
	lent   [codec.SliceSize]byte
}

func newProductReceiver(config any) (conform.Machine, error) {
	cfg := statemachine.ReceiverConfig{}
	switch c := config.(type) {
	case ReceiverConfig:
		cfg.FirstChunkID, cfg.GiveUp = c.First, core.Micros(c.GiveUp)
	case RepairReceiverConfig:
		cfg.Kind, cfg.FirstChunkID, cfg.GiveUp = codec.Repair, c.First, core.Micros(c.GiveUp)
	}
	r, err := statemachine.NewReceiver(cfg)
	return &ProductReceiver{Receiver: r, kind: cfg.Kind}, err
}

// Do is the machine under test.
func (p *ProductReceiver) Do(at int64, e conform.Event) conform.Step {
	s, now := Step{Event: p.events, Packets: []Packet{}}, core.Micros(at)
	switch e := e.(type) {
	case Slice:
		slice := codec.Slice{ChunkID: e.ChunkID, SliceID: int(e.SliceID), NumSlices: int(e.NumSlices), Data: fullSlice(e.ChunkID, int(e.SliceID))[:e.Size]}
		if !p.slice(now, slice, e.Fill) {
			return nil
		}
	case RepairSlice:
		slice := codec.Slice{ChunkID: e.ChunkID, SliceID: int(e.SliceID), NumSlices: int(e.NumSlices), LastBytes: int(e.LastBytes)}
		slice.Data = erasure.Encode(Data(e.ChunkID, codec.SliceSize*(slice.NumSlices-1)+slice.LastBytes)).Slice(slice.SliceID)
		if !p.slice(now, slice, e.Fill) {
			return nil
		}
	case Read:
		s.Error = p.read(now, &s)
	case ReceiverPoll:
		p.poll(now, &s)
	}
	p.events++
	p.after(&s)
	return s
}

// slice gives the receiver a slice that a decoder returns. What it is lent it must not keep
// (RCV-11).
func (p *ProductReceiver) slice(now core.Micros, s codec.Slice, fill conform.Opt[uint8]) bool {
	if p.kind.ValidateSlice(&s) != nil {
		return false
	}
	s.Data = p.lent[:copy(p.lent[:], s.Data)]
	if fill.Is {
		copy(s.Data, bytes.Repeat([]byte{fill.V}, len(s.Data)))
	}
	p.ours = p.HandleSlice(now, s)
	clear(p.lent[:])
	return true
}

// kept is what a reader has already: a chunk goes behind it.
const kept = "kept"

func (p *ProductReceiver) read(now core.Micros, s *Step) string {
	chunk, err := p.Read(now, []byte(kept))
	if err == nil {
		chunk = chunk[len(kept):]
		s.Chunk = conform.Some(Content{len(chunk), crc32.ChecksumIEEE(chunk)})
	}
	return refusal(err)
}

func (p *ProductReceiver) poll(now core.Micros, s *Step) {
	for a, ok := p.Poll(now); ok; a, ok = p.Poll(now) {
		c := Packet{Type: typeAck, ChunkID: a.ChunkID}
		if p.kind == codec.Repair {
			c.NumSlices, c.Have, c.Top = conform.Some(int64(a.NumSlices)), conform.Some(int64(a.Have)), conform.Some(int64(a.Top))
		} else {
			c.Acked = conform.Some(bits(boolsOf(a.Acked, a.NumSlices)))
		}
		s.Packets = append(s.Packets, c)
	}
}

// after fills in what a step shows of the state.
func (p *ProductReceiver) after(s *Step) {
	v := p.Vars()
	s.Row, s.State, s.ChunkID, s.Deadline = string(v.Row), v.State.String(), v.ChunkID, deadline(p.Deadline())
	if p.kind == codec.Repair {
		s.Have, s.Top, s.Inconsistent = conform.Some(int64(v.Have)), conform.Some(int64(v.Top)), conform.Some(p.Stats().Inconsistent)
		return
	}
	s.Received = conform.Some(bits(boolsOf(v.Received, v.NumSlices)))
}

// Inside is what steps do not show.
func (p *ProductReceiver) Inside() any {
	v, st := p.Vars(), p.Stats()
	return Receivers{
		Received: chunkoracle.Received{
			Chunks: st.Chunks, ChunkBytes: st.ChunkBytes, Slices: st.SlicesReceived, Stored: st.SlicesStored, Duplicates: st.Duplicates,
			Dependent: st.Dependent, Held: st.Held, Conflicts: st.Conflicts, Replaced: st.Replaced, Inconsistent: st.Inconsistent,
			Ignored: st.Ignored, Acks: st.AcksSent, LastChunkTime: int64(st.LastChunkTime),
		},
		NumSlices: int64(v.NumSlices), LastBytes: int64(v.LastBytes), Top: int64(v.Top), ProgressAt: int64(v.ProgressAt), ReadSize: v.ReadSize,
		PreviousSlices: int64(v.PreviousSlices), PreviousTop: int64(v.PreviousTop), Ours: p.ours, IDs: fmt.Sprint(p.IDs()),
	}
}

// refusal returns the code of a refused call of the application.
func refusal(err error) string {
	switch {
	case errors.Is(err, statemachine.ErrChunkSize):
		return chunkoracle.ChunkSize
	case errors.Is(err, statemachine.ErrBusy):
		return chunkoracle.Busy
	case errors.Is(err, statemachine.ErrGaveUp):
		return chunkoracle.GaveUp
	case errors.Is(err, statemachine.ErrNothingToRead):
		return nothingToRead
	}
	return ""
}

func deadline(at core.Micros) conform.Opt[int64] {
	return conform.If(int64(at), at != math.MaxInt64)
}

func boolsOf(set core.Set, n int) []bool {
	list := make([]bool, n)
	for i := range list {
		list[i] = set.Has(i)
	}
	return list
}

func setOf(list []bool) (set core.Set) {
	for i, is := range list {
		if is {
			set.Add(i)
		}
	}
	return set
}
