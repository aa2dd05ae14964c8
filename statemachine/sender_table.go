package statemachine

// SenderState is what a sender is doing (section 7.1).
type SenderState uint8

const (
	// SenderIdle has no chunk. It waits for one to be submitted.
	SenderIdle SenderState = iota
	// SenderSending has one chunk in flight, of which at least one slice is not
	// acked. It leaves when all are, or when nothing has come of it for too long.
	SenderSending
	// SenderFailed has given up. It is left by no event: the two ends no longer
	// agree on what was delivered, and need a new connection.
	SenderFailed
)

func (s SenderState) String() string { return [...]string{"IDLE", "SENDING", "FAILED"}[s] }

// The rows of the sender's table, section 7.3.
const (
	S1Start Row = iota + 1
	S2RefuseSize
	S3RefuseBusy
	S4RefuseFailed
	S5IdleAck
	S6ForeignAck
	S7OldAck
	S8HoldAck
	S9News
	S10Complete
	S11FailedAck
	S12IdlePoll
	S13SendSlice
	S14Wait
	S15GiveUp
	S16FailedPoll
	lastSenderRow = S16FailedPoll
)

// senderTable is the sender: every transition that there is.
var senderTable = []Transition[SenderState]{
	{S1Start, SenderIdle, EventSubmit, SizeValid, SenderSending},
	{S2RefuseSize, SenderIdle, EventSubmit, SizeInvalid, SenderIdle},
	{S3RefuseBusy, SenderSending, EventSubmit, Always, SenderSending},
	{S4RefuseFailed, SenderFailed, EventSubmit, Always, SenderFailed},
	{S5IdleAck, SenderIdle, EventAck, Always, SenderIdle},
	{S6ForeignAck, SenderSending, EventAck, AckForeign, SenderSending},
	{S7OldAck, SenderSending, EventAck, AckNothingNew, SenderSending},
	{S8HoldAck, SenderSending, EventAck, AckHold, SenderSending},
	{S9News, SenderSending, EventAck, AckNews, SenderSending},
	{S10Complete, SenderSending, EventAck, AckAll, SenderIdle},
	{S11FailedAck, SenderFailed, EventAck, Always, SenderFailed},
	{S12IdlePoll, SenderIdle, EventPoll, Always, SenderIdle},
	{S13SendSlice, SenderSending, EventPoll, PollSlice, SenderSending},
	{S14Wait, SenderSending, EventPoll, PollNothing, SenderSending},
	{S15GiveUp, SenderSending, EventPoll, PollGiveUp, SenderFailed},
	{S16FailedPoll, SenderFailed, EventPoll, Always, SenderFailed},
}

var senderIndex = indexOf(senderTable)

// SenderTable returns a copy of the sender's transition table.
func SenderTable() []Transition[SenderState] {
	return append([]Transition[SenderState](nil), senderTable...)
}

// step takes the transition for the guard that holds: it is the only place
// where a sender's state changes once it is made.
func (s *Sender) step(guard Guard, in senderInput) {
	t := &senderIndex[s.state][guard]
	s.state, s.row = t.To, t.Row
	switch t.Row {
	case S1Start:
		s.start(in.chunk)
	case S2RefuseSize:
		s.refusal = ErrChunkSize
	case S3RefuseBusy:
		s.refusal = ErrBusy
	case S4RefuseFailed:
		s.refusal = ErrGaveUp
	case S5IdleAck, S6ForeignAck, S7OldAck, S11FailedAck:
		s.stats.AcksIgnored++
	case S8HoldAck:
		s.hear()
		s.sched.Held(s.now)
	case S9News:
		s.note(in.news)
	case S10Complete:
		s.note(in.news)
		s.complete()
	case S13SendSlice:
		s.send(in.sliceID)
	case S15GiveUp:
		s.drop()
	case S12IdlePoll, S14Wait, S16FailedPoll:
	}
}
