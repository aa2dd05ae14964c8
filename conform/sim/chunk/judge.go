package chunk

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/core"
)

// The judges stand outside the machines. They are given the application's calls and their
// results, packets and times. What must follow by the tables the oracle says, whatever the
// scheduler is; beyond it they judge what no table says: that what is delivered was submitted,
// once and in order, that nobody waits in silence, the pace, and the memory. What they report is
// nil as long as nothing is wrong.

// Violation is a sentence of the specification that was broken, and how.
type Violation struct {
	Rule string
	Text string
}

func (v *Violation) Error() string { return v.Rule + ": " + v.Text }

// Violates returns a violation.
func Violates(rule, format string, args ...any) *Violation {
	return &Violation{rule, fmt.Sprintf(format, args...)}
}

// Stream is one direction of one connection, as the judges of its two ends see it
// together: the chunks from a sender to a receiver.
type Stream struct {
	FirstID   uint16
	Submitted [][]byte
	Complete  int // chunks of which every slice has arrived
	Senders   int // machines that had this stream; more than one is against CON-5
	Receivers int // likewise
}

// Lawful reports whether the stream keeps to CON-1 and CON-5. Only then do the
// properties of section 11 hold.
func (s *Stream) Lawful() bool { return s.Senders == 1 && s.Receivers <= 1 }

func oracleKind(kind codec.Kind) chunkoracle.Kind {
	if kind == codec.Repair {
		return chunkoracle.Repair
	}
	return chunkoracle.Named
}

// GiveUpOf returns GIVE_UP for a configured time (7.2).
func GiveUpOf(configured core.Micros) core.Micros {
	if configured == 0 {
		return 10_000_000
	}
	return configured
}

// late reports whether a time has passed for longer than a driver may be late, since it was last
// able to act.
func late(now, by, since, slack core.Micros) bool { return now > max(by, since)+slack }

// ahead is what holds after a poll that returned nothing: the deadline lies in the future.
func ahead(now, deadline core.Micros) *Violation {
	if deadline <= now {
		return Violates("SCH-3", "has nothing to send at %d, but its deadline is %d", now, deadline)
	}
	return nil
}

// SenderJudge watches one sender.
type SenderJudge struct {
	oracle *chunkoracle.Sender
	script *chunkoracle.Script // what the sender's own scheduler let go
	stream *Stream
	pace   Pace
	meter  *Meter
	kind   codec.Kind
	giveUp core.Micros
	slack  core.Micros
	now    core.Micros
	lastAt core.Micros // a sign of the peer or the latest slice, whichever came last
	lent   []byte      // the chunk in flight itself, which nobody may change (SND-18)
	chunk  []byte      // a copy of it
	atOnce int         // slices since the latest poll that returned none
}

// NewSenderJudge returns the judge of a new sender of a stream. slack is how late
// the sender's driver may be.
func NewSenderJudge(kind codec.Kind, s *Stream, p Pace, giveUp, slack core.Micros) *SenderJudge {
	s.Senders++
	j := &SenderJudge{stream: s, pace: p, meter: NewMeter(p), kind: kind, giveUp: GiveUpOf(giveUp), slack: slack, script: &chunkoracle.Script{}}
	j.oracle = chunkoracle.NewSender(oracleKind(kind), int64(s.FirstID), int64(j.giveUp), j.script)
	return j
}

// At takes a time as the machine does (TIM-1).
func (j *SenderJudge) At(now core.Micros) core.Micros {
	j.now = max(j.now, now)
	return j.now
}

// ID returns the id of the chunk in flight, or of the next one.
func (j *SenderJudge) ID() uint16 { return uint16(j.oracle.ChunkID()) }

// Busy reports whether a chunk is in flight.
func (j *SenderJudge) Busy() bool { return j.oracle.State() == chunkoracle.StateSending }

func (j *SenderJudge) failed() bool { return j.oracle.State() == chunkoracle.StateFailed }

func (j *SenderJudge) heardAt() core.Micros { return core.Micros(j.oracle.HeardAt()) }

// IsExtra reports whether a slice that is about to be sent is one more than the chunk has:
// it was sent before, or is a repair slice.
func (j *SenderJudge) IsExtra(s codec.Slice) bool {
	if j.kind == codec.Repair {
		return !s.Source()
	}
	return j.Busy() && s.SliceID < len(j.oracle.SentOnce()) && j.oracle.SentOnce()[s.SliceID]
}

// Submitted: the application has given the machine a chunk, which it took or not.
func (j *SenderJudge) Submitted(now core.Micros, chunk []byte, taken bool) *Violation {
	now = j.At(now)
	row, refused := j.oracle.Submit(int64(now), bytes.Clone(chunk))
	if taken != (refused == "") {
		return Violates(row, "took a chunk of %d bytes: %v", len(chunk), taken)
	}
	if !taken {
		return nil
	}
	j.lent, j.chunk, j.atOnce, j.lastAt = chunk, bytes.Clone(chunk), 0, now
	j.stream.Submitted = append(j.stream.Submitted, j.chunk)
	j.meter.Begin(now)
	return nil
}

// Sent: a slice leaves the machine, in a datagram of so many bytes. The deadline is what the
// machine said before it was polled (SCH-3).
func (j *SenderJudge) Sent(now core.Micros, s codec.Slice, size int, deadline core.Micros) *Violation {
	now = j.At(now)
	j.atOnce++
	if j.kind == codec.Named && j.Busy() && (s.SliceID < 0 || s.SliceID >= int(j.oracle.NumSlices()) || j.oracle.Acked()[s.SliceID]) {
		return Violates("SCH-1", "sent slice %d of chunk %d, which there is not, or was acked", s.SliceID, s.ChunkID)
	}
	j.script.Due = []int64{int64(s.SliceID)}
	row, want := j.oracle.Poll(int64(now))
	switch j.script.Due = nil; {
	case want == nil:
		return Violates(row, "sent slice %d of chunk %d", s.SliceID, s.ChunkID)
	case int64(s.ChunkID) != want.ChunkID || int64(s.SliceID) != want.SliceID || int64(s.NumSlices) != want.NumSlices || int64(s.LastBytes) != want.LastBytes || !bytes.Equal(s.Data, want.Data):
		return Violates(row, "sent slice %d of %d of chunk %d, or other bytes, not %d of %d of %d", s.SliceID, s.NumSlices, s.ChunkID, want.SliceID, want.NumSlices, want.ChunkID)
	case deadline > now:
		return Violates("SCH-3", "sent slice %d at %d, before its deadline at %d", s.SliceID, now, deadline)
	case j.pace.AtOnce > 0 && j.atOnce > j.pace.AtOnce:
		return Violates("BND-3", "sent %d slices at one time", j.atOnce)
	}
	j.lastAt = now
	return j.meter.Sent(now, size+28)
}

// Acked: an ack is about to be handed to the machine.
func (j *SenderJudge) Acked(now core.Micros, a codec.Ack) {
	now = j.At(now)
	want := chunkoracle.Ack{ChunkID: int64(a.ChunkID), NumSlices: int64(a.NumSlices), Have: int64(a.Have), Top: int64(a.Top)}
	if j.kind.ValidateAck(&a) != nil {
		want.NumSlices = -1 // which is foreign
	}
	for k := range max(want.NumSlices, 0) {
		want.Acked = append(want.Acked, a.Acked.Has(int(k)))
	}
	before := slices.Clone(j.oracle.Acked())
	row := j.oracle.Ack(int64(now), want)
	switch row[1:] {
	case "8", "9", "10": // a sign of the peer
		j.lastAt = now
	}
	for k, acked := range j.oracle.Acked() {
		if acked && !before[k] {
			j.meter.Acked(now, j.cost(k, len(before)))
		}
	}
}

// cost returns what named slice k costs, headers included (BUD-2).
func (j *SenderJudge) cost(k, numSlices int) int {
	if k == numSlices-1 {
		return 14 + len(j.chunk) - 1024*k + 28
	}
	return 1037 + 28
}

// Reported: after an ack the machine either reports the chunk as delivered, or not.
func (j *SenderJudge) Reported(delivered bool) *Violation {
	isDone := j.lent != nil && j.oracle.State() == chunkoracle.StateIdle
	done := int(j.oracle.Counted.Chunks)
	switch {
	case delivered != isDone:
		return Violates("SAFE-2", "reports a chunk as delivered: %v, and all of it is acked: %v", delivered, isDone)
	case !delivered:
		return nil
	case j.stream.Lawful() && j.stream.Receivers > 0 && j.stream.Complete < done:
		return Violates("SAFE-2", "reports chunk %d as delivered, but the receiver has not all of it", done-1)
	case !bytes.Equal(j.lent, j.chunk):
		return Violates("SND-18", "chunk %d has changed since it was submitted", done-1)
	}
	j.chunk, j.lent = nil, nil
	return nil
}

// GaveUp: the machine has failed.
func (j *SenderJudge) GaveUp(now core.Micros) *Violation {
	if row, _ := j.oracle.Poll(int64(j.At(now))); !j.failed() {
		return Violates("SND-9", "gave up at %d, but the row is %s", j.now, row)
	}
	j.chunk, j.lent = nil, nil
	return nil
}

// Polled: a poll has returned nothing more, and the machine has this deadline.
func (j *SenderJudge) Polled(now, deadline core.Micros) *Violation {
	now = j.At(now)
	j.atOnce = 0
	wasBusy := j.Busy()
	if row, _ := j.oracle.Poll(int64(now)); wasBusy && j.failed() {
		return Violates(row, "did not give up at %d", now)
	}
	switch {
	case !j.Busy() && deadline != core.Never:
		return Violates("SND-16", "has no chunk in flight, but a deadline at %d", deadline)
	case !j.Busy():
		return nil
	case deadline > j.heardAt()+j.giveUp:
		return Violates("SND-16", "its deadline is %d, but it must give up at %d", deadline, j.heardAt()+j.giveUp)
	case deadline > max(j.lastAt+j.pace.Longest, now+1) && j.pace.Longest > 0:
		return Violates("SCH-2", "sends nothing before %d, though the latest slice or newly acked one was at %d", deadline, j.lastAt)
	}
	return ahead(now, deadline)
}

// Waited: time has passed; since is when the machine was last able to act.
func (j *SenderJudge) Waited(now, since core.Micros) *Violation {
	switch {
	case !j.Busy():
	case late(now, j.heardAt()+j.giveUp, since, j.slack):
		return Violates("LIVE-3", "waits in silence: nothing came of chunk %d since %d, and it did not give up", j.ID(), j.heardAt())
	case j.pace.Longest > 0 && late(now, j.lastAt+j.pace.Longest, since, j.slack):
		return Violates("SCH-2", "sent no slice of chunk %d since %d", j.ID(), j.lastAt)
	}
	return nil
}

// ReceiverJudge watches one receiver.
type ReceiverJudge struct {
	oracle *chunkoracle.Receiver
	stream *Stream
	kind   codec.Kind
	slack  core.Micros
	now    core.Micros
	places map[int]bool // where named slices were ever kept
	most   int64        // repair slices that were ever here at a time
	read   int          // chunks that were read
	mixed  int64        // of an unlawful stream: those that nobody submitted (CON-5)
}

// NewReceiverJudge returns the judge of a new receiver of a stream. slack is how
// late the receiver's driver may be.
func NewReceiverJudge(kind codec.Kind, s *Stream, giveUp, slack core.Micros) *ReceiverJudge {
	s.Receivers++
	return &ReceiverJudge{
		oracle: chunkoracle.NewReceiver(oracleKind(kind), int64(s.FirstID), int64(GiveUpOf(giveUp))), stream: s, kind: kind, slack: slack, places: map[int]bool{},
	}
}

// At takes a time as the machine does (TIM-1).
func (j *ReceiverJudge) At(now core.Micros) core.Micros {
	j.now = max(j.now, now)
	return j.now
}

// Full reports whether a complete chunk waits to be read.
func (j *ReceiverJudge) Full() bool { return j.oracle.State() == chunkoracle.StateReady }

func (j *ReceiverJudge) failed() bool { return j.oracle.State() == chunkoracle.StateFailed }

// Mixed returns how many chunks were read that nobody had submitted, which only
// happens to a stream that is not lawful.
func (j *ReceiverJudge) Mixed() int64 { return j.mixed }

// Arrived: a slice is handed to the machine (section 8.4).
func (j *ReceiverJudge) Arrived(now core.Micros, s codec.Slice) {
	want := chunkoracle.Slice{
		ChunkID: int64(s.ChunkID), SliceID: int64(s.SliceID), NumSlices: int64(s.NumSlices), LastBytes: int64(s.LastBytes), Data: bytes.Clone(s.Data),
	}
	if j.kind.ValidateSlice(&s) != nil {
		want = chunkoracle.Slice{ChunkID: -1} // which is foreign
	}
	before, stored := j.oracle.Counted.Chunks, j.oracle.Counted.Stored
	j.oracle.Slice(int64(j.At(now)), want)
	if j.oracle.Counted.Stored > stored {
		j.places[s.SliceID] = true
	}
	j.most = max(j.most, j.oracle.Have())
	if j.oracle.Counted.Chunks > before {
		j.stream.Complete++
		j.most = max(j.most, int64(s.NumSlices))
	}
}

// Sent: an ack leaves the machine. It says what the receiver has, neither more nor less.
func (j *ReceiverJudge) Sent(now core.Micros, a codec.Ack) *Violation {
	row, want := j.oracle.Poll(int64(j.At(now)))
	if want == nil || j.kind.ValidateAck(&a) != nil || int64(a.ChunkID) != want.ChunkID || int64(a.NumSlices) != want.NumSlices {
		return Violates(row, "sent the ack %+v, not %+v", a, want)
	}
	if j.kind == codec.Repair && (int64(a.Have) != want.Have || int64(a.Top) != want.Top) {
		return Violates("ACK-2", "says of chunk %d that %d dimensions arrived, below %d: they are %d and %d", a.ChunkID, a.Have, a.Top, want.Have, want.Top)
	}
	for k, here := range want.Acked {
		if j.kind == codec.Named && a.Acked.Has(k) != here {
			return Violates("ACK-2", "says of slice %d of chunk %d that it has arrived: %v", k, a.ChunkID, !here)
		}
	}
	return nil
}

// Read: the application has asked for a chunk, and got one or none.
func (j *ReceiverJudge) Read(now core.Micros, chunk []byte, got bool) *Violation {
	row, want := j.oracle.Read(int64(j.At(now)))
	if got != (want != nil) || !bytes.Equal(chunk, want) {
		return Violates(row, "delivered %d bytes, %v, or other bytes than have arrived", len(chunk), got)
	}
	if !got {
		return nil
	}
	j.read++
	submitted := j.stream.Submitted
	switch {
	case j.stream.Senders == 0: // nobody knows the submitted chunks
	case !j.stream.Lawful():
		if !slices.ContainsFunc(submitted, func(c []byte) bool { return bytes.Equal(c, chunk) }) {
			j.mixed++
		}
	case j.read > len(submitted) || !bytes.Equal(chunk, submitted[j.read-1]):
		return Violates("SAFE-1", "chunk number %d of the connection differs from the submitted one", j.read-1)
	}
	return nil
}

// GaveUp: the machine has failed.
func (j *ReceiverJudge) GaveUp(now core.Micros) *Violation {
	if row, _ := j.oracle.Poll(int64(j.At(now))); !j.failed() {
		return Violates("RCV-9", "gave up at %d, but the row is %s", j.now, row)
	}
	return nil
}

// Deadline: after an event the machine has this deadline (RCV-17, LIVE-1).
func (j *ReceiverJudge) Deadline(deadline core.Micros) *Violation {
	want := core.Never
	if at, some := j.oracle.Deadline(); some {
		want = core.Micros(at)
	}
	if deadline != want {
		return Violates("RCV-17", "has a deadline at %d, not at %d", deadline, want)
	}
	return nil
}

// Polled: a poll has returned nothing more, and the machine has this deadline.
func (j *ReceiverJudge) Polled(now, deadline core.Micros) *Violation {
	failed := j.failed()
	row, ack := j.oracle.Poll(int64(j.At(now)))
	if ack != nil || j.failed() != failed {
		return Violates(row, "has nothing to send at %d", now)
	}
	if v := j.Deadline(deadline); v != nil {
		return v
	}
	return ahead(j.now, deadline)
}

// Waited: time has passed; since is when the machine was last able to act.
func (j *ReceiverJudge) Waited(now, since core.Micros) *Violation {
	if at, some := j.oracle.Deadline(); some && late(now, core.Micros(at), since, j.slack) {
		return Violates("LIVE-1", "did not act at %d", at)
	}
	return nil
}

// Keeps: the receiver takes so many bytes of memory (BND-1, RPV-BND-1): of named slices one for
// each place that had one, pointers, and some hundred bytes of state; of repair slices, for each
// that was ever held at a time, itself, a row of 256 bytes and what is rebuilt in its place, and
// some blocks of scratch and tables.
func (j *ReceiverJudge) Keeps(bytes int64) *Violation {
	most := int64(4096 + 1024*len(j.places))
	if j.kind == codec.Repair {
		most = j.most*(1024+256+1024) + 48*1024
	}
	if bytes > most {
		return Violates("BND-1", "keeps %d bytes, though it may keep %d", bytes, most)
	}
	return nil
}
