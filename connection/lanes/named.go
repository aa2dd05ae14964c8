package lanes

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
)

// namedSender sends the slices of spec/PROTOCOL.md, each of which has a name and arrives itself.
type namedSender struct{ *statemachine.Sender }

func newNamedSender(cfg *Config, log eventlog.Log) (sender, error) {
	sched, err := cfg.scheduler()
	if err != nil {
		return nil, err
	}
	s, err := statemachine.NewSender(statemachine.SenderConfig{GiveUp: cfg.GiveUp, Scheduler: sched, Log: log})
	return namedSender{s}, err
}

func (s namedSender) submit(now core.Micros, e *erasure.Encoded) { _ = s.Submit(now, e.Bytes()) }

func (s namedSender) handleAck(now core.Micros, a Ack) bool { return s.HandleAck(now, a.Chunk) }

func (s namedSender) poll(now core.Micros) (out Slice, ok bool) {
	out.Chunk, ok = s.Poll(now)
	return out, ok
}

func (s namedSender) heardAt() core.Micros { return s.Vars().HeardAt }

func (s namedSender) progress() Progress {
	v := s.Vars()
	return Progress{ChunkID: v.ChunkID, NumSlices: v.NumSlices, Sent: v.Sent.Count(), Have: v.Acked.Count()}
}

// wants reports whether a slice was not sent once.
func (s namedSender) wants() bool {
	v := s.Vars()
	return v.Sent.Count() < v.NumSlices
}

func (s namedSender) inFlight() int {
	v := s.Vars()
	return v.Sent.Minus(v.Acked).Count()
}

func (s namedSender) scheduler() any { return s.Scheduler() }

func (s namedSender) adopt(from sender) { adopt(s.Scheduler(), from.(namedSender).Scheduler()) }

func (s namedSender) pace(now core.Micros) {
	s.Scheduler().Begin(oneSlice(now))
	s.Scheduler().Next(now)
}

// oneSlice is the flight of a chunk of one full slice.
func oneSlice(now core.Micros) statemachine.Flight {
	return statemachine.Flight{Now: now, NumSlices: 1, Bytes: codec.MaxDatagramSize, LastBytes: codec.MaxDatagramSize}
}

// namedReceiver receives them.
type namedReceiver struct{ *statemachine.Receiver }

func newNamedReceiver(cfg *Config, log eventlog.Log) (receiver, error) {
	r, err := statemachine.NewReceiver(statemachine.ReceiverConfig{GiveUp: cfg.GiveUp, Memory: cfg.Memory, Log: log})
	return namedReceiver{r}, err
}

func (r namedReceiver) handleSlice(now core.Micros, s Slice) bool {
	return r.HandleSlice(now, s.Chunk)
}

func (r namedReceiver) rebuilds(Slice) int { return 0 }

func (r namedReceiver) poll(now core.Micros) (a Ack, ok bool) {
	a.Chunk, ok = r.Poll(now)
	return a, ok
}

func (r namedReceiver) chunkID() uint16         { return r.Vars().ChunkID }
func (r namedReceiver) progressAt() core.Micros { return r.Vars().ProgressAt }
func (r namedReceiver) readSize() int           { return r.Vars().ReadSize }

func (r namedReceiver) progress() Progress {
	v := r.Vars()
	return Progress{ChunkID: v.ChunkID, NumSlices: v.NumSlices, Have: v.Received.Count()}
}
