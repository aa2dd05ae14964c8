package channel

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// Receiver is the receiving end of a reliable channel (section 5). It keeps messages until
// they are read, and reports missing sequences. It does nothing between calls. Its variables are
// in CHV-8.
type Receiver struct {
	state State
	row   core.Row
	now   core.Micros // the latest that was given, in microseconds (CHN-2, CHN-3)

	// What does not change.
	id      uint8
	ordered bool
	format  Format
	space   core.Space
	first   core.Number
	giveUp  core.Micros

	have      core.Window // from tail up to limit
	slots     ring[slot]  // from tail up to top
	tail      core.Number // the lowest that is not done with
	base      core.Number // the lowest that has not come
	top       core.Number // 1 + the highest that is known to exist
	fragments int         // that are held and were not read
	ready     chain       // what can be read, if unordered

	progressAt core.Micros
	reportAt   core.Micros
	lastReport core.Micros // noReport before the first
	wait       uint
	path       Path

	groups []Group // of the latest report; lent
	out    Record  // lent to the caller of Poll
	got    Message // what a read delivers
	any    bool    // it delivers something
	err    error
	stats  ReceiverStats
}

// noReport is when the last report was while there was none.
const noReport core.Micros = -1

// slot is what is kept of a sequence (CHV-15).
type slot struct {
	data  []byte      // its memory is the slot's
	next  core.Number // in the chain of what is ready
	holds content
	index uint8 // of a fragment
	count uint8 // of a fragment: how many its group has
	ready bool  // it can be read, or was: it is or was in the chain
	done  bool  // it was delivered
}

// content is how a sequence came.
type content uint8

const (
	nothing content = iota
	aMessage
	aFragment
	skipped
)

// NewReceiver returns the receiver of a reliable channel to which nothing has come. It fails
// with core.ErrConfig (CHP-2).
func NewReceiver(cfg Config) (*Receiver, error) {
	cfg, err := cfg.reliable()
	if err != nil {
		return nil, err
	}
	first := cfg.First
	return &Receiver{
		id: cfg.ID, ordered: cfg.Kind == Ordered, format: cfg.Format, space: cfg.SequenceBits, first: first, giveUp: cfg.GiveUp,
		have: core.NewWindow(cfg.Window, first+core.Number(cfg.Window)),
		tail: first, base: first, top: first, ready: chain{core.NoNumber, core.NoNumber},
		reportAt: core.Never, lastReport: noReport,
	}, nil
}

// The guards of section 5 (CHV-10).
var (
	receiverGuards table.Guards

	dataIsKnown     = receiverGuards.Add("data", "known")
	dataIsBeyond    = receiverGuards.Add("data", "beyond")
	dataConflicts   = receiverGuards.Add("data", "conflicts")
	groupIsLost     = receiverGuards.Add("data", "group is lost")
	dataIsNew       = receiverGuards.Add("data", "new")
	anyData         = receiverGuards.Add("data", table.Always)
	skipIsKnown     = receiverGuards.Add("skip", "nothing new")
	skipIsBeyond    = receiverGuards.Add("skip", "beyond")
	skipIsNew       = receiverGuards.Add("skip", "new")
	anySkip         = receiverGuards.Add("skip", table.Always)
	statusIsWithin  = receiverGuards.Add("status", "within")
	statusIsBeyond  = receiverGuards.Add("status", "beyond")
	anyStatus       = receiverGuards.Add("status", table.Always)
	somethingReady  = receiverGuards.Add("read", "something ready")
	nothingReady    = receiverGuards.Add("read", "otherwise")
	receiverGivesUp = receiverGuards.Add("poll", "given up")
	reportFits      = receiverGuards.Add("poll", "due and fits")
	nothingToReport = receiverGuards.Add("poll", "otherwise")
	anyReceiverPoll = receiverGuards.Add("poll", table.Always)
)

// receiverInput is what an event gives to the actions.
type receiverInput struct {
	record *Record     // of data, skip, status
	n      core.Number // its sequence, unwrapped
	dst    []byte      // of read
	space  int         // of poll
}

type receiverAction = table.Action[Receiver, receiverInput]

// The actions of section 5.
var (
	soon          = receiverAction{Name: "SOON", Do: func(v *Receiver, _ receiverInput) { v.soon() }}
	countBeyond   = receiverAction{Name: "COUNT", Do: func(v *Receiver, _ receiverInput) { v.stats.Beyond++ }}
	countConflict = receiverAction{Name: "COUNT", Do: func(v *Receiver, _ receiverInput) { v.stats.Conflicts++ }}
	countKnown    = receiverAction{Do: func(v *Receiver, _ receiverInput) { v.stats.Known++ }}
	lose          = receiverAction{Name: "LOSE", Do: (*Receiver).lose}
	add           = receiverAction{Name: "ADD", Do: (*Receiver).add}
	moveTop       = receiverAction{Name: "TOP", Do: (*Receiver).moveTop}
	deliver       = receiverAction{Name: "DELIVER", Do: (*Receiver).deliver}
	move          = receiverAction{Name: "MOVE", Do: (*Receiver).move}
	failReceiver  = receiverAction{Name: "FAIL", Do: (*Receiver).fail}
	report        = receiverAction{Name: "REPORT", Do: (*Receiver).report}
)

type receiverTransition = table.Transition[State, uint8, Receiver, receiverInput]

func receiverRow(row core.Row, from State, guard uint8, to State, does ...receiverAction) receiverTransition {
	return receiverTransition{Row: row, From: from, If: guard, To: to, Do: does}
}

// receiverTable is the machine: every transition that there is (CHV-9).
var receiverTable = table.New(states, receiverGuards, []receiverTransition{
	receiverRow("V1", Open, dataIsKnown, Open, countKnown, soon),
	receiverRow("V2", Open, dataIsBeyond, Open, countBeyond, soon),
	receiverRow("V3", Open, dataConflicts, Open, countConflict),
	receiverRow("V4", Open, groupIsLost, Open, lose),
	receiverRow("V5", Open, dataIsNew, Open, add),
	receiverRow("V6", Open, skipIsKnown, Open, soon),
	receiverRow("V7", Open, skipIsBeyond, Open, countBeyond, soon),
	receiverRow("V8", Open, skipIsNew, Open, lose),
	receiverRow("V9", Open, statusIsWithin, Open, moveTop, soon),
	receiverRow("V10", Open, statusIsBeyond, Open, countBeyond, soon),
	receiverRow("V11", Open, somethingReady, Open, deliver, move),
	receiverRow("V12", Open, nothingReady, Open),
	receiverRow("V13", Open, receiverGivesUp, Failed, failReceiver),
	receiverRow("V14", Open, reportFits, Open, report),
	receiverRow("V15", Open, nothingToReport, Open),
	receiverRow("V16", Failed, anyData, Failed),
	receiverRow("V17", Failed, somethingReady, Failed, deliver, move),
	receiverRow("V18", Failed, nothingReady, Failed),
	receiverRow("V19", Failed, anySkip, Failed),
	receiverRow("V20", Failed, anyStatus, Failed),
	receiverRow("V21", Failed, anyReceiverPoll, Failed),
})

// ReceiverTable returns the rows of the table.
func ReceiverTable() []core.Line { return receiverTable.Lines() }

func (v *Receiver) step(guard uint8, in receiverInput) {
	receiverTable.Step(v, &v.state, &v.row, guard, in)
}

// Handle takes a MESSAGE, FRAGMENT, SKIP or STATUS that was decoded. Its data are copied.
// Other records are no event.
func (v *Receiver) Handle(now core.Micros, r *Record) {
	v.advance(now)
	in := receiverInput{record: r, n: v.nearest(r.Sequence)}
	switch r.Type {
	case TypeMessage, TypeFragment:
		v.step(v.dataGuard(in), in)
	case TypeSkip:
		v.step(v.skipGuard(in), in)
	case TypeStatus:
		guard := statusIsWithin
		if in.n > v.Limit() {
			guard = statusIsBeyond
		}
		v.step(guard, in)
	}
}

// dataGuard returns the first guard that holds for a message or a fragment.
func (v *Receiver) dataGuard(in receiverInput) uint8 {
	switch {
	case v.came(in.n):
		return dataIsKnown
	case in.n >= v.Limit():
		return dataIsBeyond
	}
	conflicts, lost := v.compare(in.n, groupOf(in))
	switch {
	case conflicts:
		return dataConflicts
	case lost:
		return groupIsLost
	}
	return dataIsNew
}

// skipGuard returns the first guard that holds for a skip.
func (v *Receiver) skipGuard(in receiverInput) uint8 {
	end := in.n + core.Number(in.record.Count)
	if v.have.FirstMissing(max(in.n, v.base), end) == end {
		return skipIsKnown
	}
	if end > v.Limit() {
		return skipIsBeyond
	}
	return skipIsNew
}

// nearest returns the sequence that a receiver takes these bits for (CHN-4).
func (v *Receiver) nearest(wire uint16) core.Number {
	return v.space.UpTo(v.base+v.space.Size()/2, wire)
}

// came reports whether a sequence is known.
func (v *Receiver) came(n core.Number) bool { return n < v.base || v.have.Has(n) }

// Read delivers one message, or says that one was skipped (CHV-2, CHX-3). The message is
// appended to dst. If nothing is ready ok is false. A receiver that has failed still delivers
// what is ready.
func (v *Receiver) Read(now core.Micros, dst []byte) (m Message, ok bool) {
	v.advance(now)
	guard := nothingReady
	if v.hasReady() {
		guard = somethingReady
	}
	v.got, v.any = Message{Data: dst}, false
	v.step(guard, receiverInput{dst: dst})
	m, v.got.Data = v.got, nil
	return m, v.any
}

// Poll returns a REPORT for a packet that has room for space bytes, if one is due. Its groups
// are lent until the next call.
func (v *Receiver) Poll(now core.Micros, space int) (r Record, ok bool) {
	v.advance(now)
	v.out = Record{}
	v.step(v.pollGuard(space), receiverInput{space: space})
	return v.out, v.out.Type == TypeReport
}

func (v *Receiver) pollGuard(space int) uint8 {
	switch {
	case v.base < v.top && v.now-v.progressAt >= v.giveUp:
		return receiverGivesUp
	case v.now >= min(v.reportAt, v.repeatAt()) && space >= reportSize:
		return reportFits
	}
	return nothingToReport
}

// advance begins an event at now. A time before the latest one counts as that one (CHN-3).
func (v *Receiver) advance(now core.Micros) { v.now = max(v.now, now) }

// SetPath takes the packet layer's estimates of the path. It is no event (CHP-3).
func (v *Receiver) SetPath(p Path) { v.path = p }

// Deadline returns when Poll has something to do next if no event comes before, or Never
// (CHV-11).
func (v *Receiver) Deadline() core.Micros {
	switch {
	case v.state == Failed:
		return core.Never
	case v.base == v.top:
		return v.reportAt
	}
	return min(v.reportAt, v.repeatAt(), v.progressAt+v.giveUp)
}
