package lanes

import (
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/repair"
)

// repairSender sends slices of spec/REPAIR.md, of which any that are enough make the chunk.
type repairSender struct{ *repair.Sender }

func newRepairSender(cfg *Config, log eventlog.Log) (sender, error) {
	sched, err := cfg.repairScheduler()
	if err != nil {
		return nil, err
	}
	s, err := repair.NewSender(repair.SenderConfig{GiveUp: cfg.GiveUp, Scheduler: sched, Log: log})
	return repairSender{s}, err
}

func (s repairSender) submit(now core.Micros, e *erasure.Encoded) { _ = s.Submit(now, e) }

func (s repairSender) handleAck(now core.Micros, a Ack) bool { return s.HandleAck(now, a.Repair) }

func (s repairSender) poll(now core.Micros) (out Slice, ok bool) {
	out.Repair, ok = s.Poll(now)
	return out, ok
}

func (s repairSender) heardAt() core.Micros { return s.Vars().HeardAt }

func (s repairSender) progress() Progress {
	v := s.Vars()
	return Progress{ChunkID: v.ChunkID, NumSlices: v.NumSlices, Sent: v.Sent, Have: v.Have, Top: v.Top}
}

// wanter is a repair.Scheduler that knows whether it wants to send more than is under way.
type wanter interface {
	// Wants reports whether it does, whatever the pace and the window.
	Wants() bool
	// InFlight returns how many transmissions are under way, and are not presumed lost.
	InFlight() int
}

// wants asks the scheduler, or reports whether fewer slices were sent than the chunk has.
func (s repairSender) wants() bool {
	if w, ok := s.Scheduler().(wanter); ok {
		return w.Wants()
	}
	v := s.Vars()
	return v.Sent < v.NumSlices
}

func (s repairSender) inFlight() int {
	if w, ok := s.Scheduler().(wanter); ok {
		return w.InFlight()
	}
	v := s.Vars()
	return v.Sent - v.Top
}

func (s repairSender) scheduler() any { return s.Scheduler() }

func (s repairSender) adopt(from sender) { adopt(s.Scheduler(), from.(repairSender).Scheduler()) }

func (s repairSender) pace(now core.Micros) {
	s.Scheduler().Begin(oneSlice(now))
	s.Scheduler().Next(now)
}

// repairReceiver receives them.
type repairReceiver struct{ *repair.Receiver }

func newRepairReceiver(cfg *Config, log eventlog.Log) (receiver, error) {
	r, err := repair.NewReceiver(repair.ReceiverConfig{GiveUp: cfg.GiveUp, Memory: cfg.Memory, Log: log})
	return repairReceiver{r}, err
}

func (r repairReceiver) handleSlice(now core.Micros, s Slice) bool {
	return r.HandleSlice(now, s.Repair)
}

func (r repairReceiver) rebuilds(s Slice) int { return r.Rebuilds(s.Repair) }

func (r repairReceiver) poll(now core.Micros) (a Ack, ok bool) {
	a.Repair, ok = r.Poll(now)
	return a, ok
}

func (r repairReceiver) chunkID() uint16         { return r.Vars().ChunkID }
func (r repairReceiver) progressAt() core.Micros { return r.Vars().ProgressAt }
func (r repairReceiver) readSize() int           { return r.Vars().ReadSize }

func (r repairReceiver) progress() Progress {
	v := r.Vars()
	return Progress{ChunkID: v.ChunkID, NumSlices: v.NumSlices, Have: v.Have, Top: v.Top}
}
