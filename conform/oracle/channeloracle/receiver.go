package channeloracle

import "slices"

// The times of section 2, in microseconds.
const (
	ReportDelay = 20_000
	Spacing     = 5_000 // of reports
	BackoffMost = 16

	RepeatLeast      int64 = 20_000  // of the interval in which reports are repeated
	RepeatUnmeasured int64 = 50_000  // that interval while no round trip is measured
	LeastCap         int64 = 250_000 // of the times between repeated reports, and between probes
)

// never is later than every time.
const never = 1<<63 - 1

// The states of both machines.
const (
	StateOpen   = "OPEN"
	StateFailed = "FAILED"
)

// ReceiverConfig sets up a receiver.
type ReceiverConfig struct {
	Format
	Ordered bool
	First   int64
	GiveUp  int64
}

// came is what came of a sequence. It is remembered without end.
type came struct {
	kind         string // Message, Fragment or Skip
	data         []byte
	begin, count int64 // of the group of a fragment
	done         bool  // read
}

// Receiver is the receiver of a reliable channel (section 5), with a map of all that ever
// came in place of a window.
type Receiver struct {
	cfg   ReceiverConfig
	now   int64
	state string

	base, top, tail int64
	came            map[int64]*came
	ready           [][]int64 // of an unordered channel: a message's sequences each

	progressAt, reportAt, lastReport int64
	wait                             int64
	path                             Path
	Counted                          int64 // actions COUNT
}

// Path is what the packet layer measured.
type Path struct {
	Measured bool
	SRTT     int64
	Patience int64
}

// Read is what a read gives.
type Read struct {
	Sequence int64
	Data     []byte
	Skipped  bool
}

// NewReceiver returns a receiver.
func NewReceiver(cfg ReceiverConfig) *Receiver {
	return &Receiver{cfg: cfg, state: StateOpen, base: cfg.First, top: cfg.First, tail: cfg.First, came: map[int64]*came{}, reportAt: never, lastReport: -1}
}

// State returns the state.
func (r *Receiver) State() string { return r.state }

// SetPath takes what the packet layer measured. It is no event.
func (r *Receiver) SetPath(p Path) { r.path = p }

func (r *Receiver) limit() int64 { return r.tail + r.cfg.Window }

// has reports whether a sequence is in `have`: what of tail to limit has come.
func (r *Receiver) has(n int64) bool { return n >= r.tail && r.came[n] != nil }

// number is what a sequence on the wire means: the one nearest to base (CHN-4), the first
// from base - 32767 on that has its bits.
func (r *Receiver) number(wire int64) int64 {
	lowest := r.base - 32767
	return lowest + modulo(wire-lowest)
}

// begin begins an event.
func (r *Receiver) begin(now int64) { r.now = max(r.now, now) }

// Handle takes a record of the sender, and returns the row.
func (r *Receiver) Handle(now int64, record Record) (row string) {
	r.begin(now)
	if r.state == StateFailed {
		return map[string]string{Message: "V16", Fragment: "V16", Skip: "V19", Status: "V20"}[record.Type]
	}
	before := r.base < r.top
	switch record.Type {
	case Message, Fragment:
		row = r.data(record)
	case Skip:
		row = r.skip(record)
	case Status:
		row = r.status(record)
	default:
		panic("channel: no record for a receiver: " + record.Type)
	}
	if !before && r.base < r.top {
		r.progressAt = r.now
	}
	return row
}

func (r *Receiver) data(record Record) string {
	n := r.number(record.Sequence)
	arrived := &came{kind: record.Type, data: record.Data, begin: n, count: 1}
	if record.Type == Fragment {
		arrived.begin, arrived.count = n-record.Index, record.Count // CHG-1
	}
	switch {
	case n < r.base || r.has(n):
		r.soon()
		return "V1"
	case n >= r.limit():
		r.Counted++
		r.soon()
		return "V2"
	case r.conflicts(n, arrived):
		r.Counted++
		return "V3"
	case r.lost(arrived):
		r.add([]int64{n}, &came{kind: Skip})
		return "V4"
	}
	r.add([]int64{n}, arrived)
	return "V5"
}

// conflicts is CHG-2.
func (r *Receiver) conflicts(n int64, a *came) bool {
	for held, c := range r.came {
		isKnown := r.has(held) && c.kind == Fragment && !c.done
		isOwn := a.kind == Fragment && c.begin == a.begin && c.count == a.count
		if isKnown && c.begin <= n && n < c.begin+c.count && !isOwn {
			return true
		}
	}
	if a.kind == Message {
		return false
	}
	if a.begin < r.cfg.First {
		return true
	}
	for s := a.begin; s < a.begin+a.count; s++ {
		if !r.has(s) {
			continue
		}
		c := r.came[s]
		if c.kind == Message || c.kind == Fragment && (c.begin != a.begin || c.count != a.count) {
			return true
		}
	}
	return false
}

// lost is CHG-4.
func (r *Receiver) lost(a *came) bool {
	if a.kind != Fragment {
		return false
	}
	for s := a.begin; s < a.begin+a.count; s++ {
		if r.has(s) && r.came[s].kind == Skip {
			return true
		}
	}
	return a.begin < r.tail
}

func (r *Receiver) skip(record Record) string {
	var fresh []int64
	first, beyond := r.number(record.Sequence), false
	for n := first; n < first+record.Count; n++ {
		if n >= r.base && !r.has(n) {
			fresh = append(fresh, n)
		}
		beyond = beyond || n >= r.limit()
	}
	switch {
	case len(fresh) == 0:
		r.soon()
		return "V6"
	case beyond:
		r.Counted++
		r.soon()
		return "V7"
	}
	r.add(fresh, &came{kind: Skip})
	return "V8"
}

func (r *Receiver) status(record Record) string {
	next := r.number(record.Sequence)
	defer r.soon()
	if next > r.limit() {
		r.Counted++
		return "V10"
	}
	r.top = max(r.top, next)
	return "V9"
}

// add is ADD, and with what is skipped LOSE and CHG-3.
func (r *Receiver) add(numbers []int64, c *came) {
	before := r.base < r.top
	var lost []int64
	for _, n := range numbers {
		its := *c
		r.came[n] = &its
		r.top = max(r.top, n+1)
		if c.kind == Skip {
			lost = append(lost, n)
			lost = append(lost, r.giveUpGroups(n)...)
		}
	}
	for r.has(r.base) {
		r.base++
	}
	r.progressAt, r.wait = r.now, 0
	if before || r.base < r.top {
		r.soon()
	} else {
		r.reportAt = min(r.reportAt, r.now+ReportDelay)
	}
	r.becomesReady(numbers, lost)
}

// giveUpGroups is CHG-3, and returns the sequences that become skipped.
func (r *Receiver) giveUpGroups(n int64) (list []int64) {
	for held, c := range r.came {
		if r.has(held) && c.kind == Fragment && !c.done && c.begin <= n && n < c.begin+c.count {
			*c = came{kind: Skip}
			list = append(list, held)
		}
	}
	return list
}

// becomesReady puts what became ready in an unordered channel behind what did so before.
func (r *Receiver) becomesReady(numbers, lost []int64) {
	if r.cfg.Ordered {
		return
	}
	slices.Sort(lost)
	for _, n := range lost {
		r.ready = append(r.ready, []int64{n})
	}
	if len(lost) == 0 {
		if whole := r.whole(numbers[0]); whole != nil {
			r.ready = append(r.ready, whole)
		}
	}
}

// whole returns the sequences of the message or the whole group, or of what is skipped, to
// which a sequence belongs. It is nil if a part has not come.
func (r *Receiver) whole(n int64) (list []int64) {
	if !r.has(n) {
		return nil
	}
	c := r.came[n]
	if c.kind != Fragment {
		return []int64{n}
	}
	for s := c.begin; s < c.begin+c.count; s++ {
		part := r.came[s]
		if part == nil || part.kind != Fragment || part.begin != c.begin || part.count != c.count {
			return nil
		}
		list = append(list, s)
	}
	return list
}

// soon is SOON.
func (r *Receiver) soon() {
	at := r.now
	if r.lastReport >= 0 {
		at = max(r.now, r.lastReport+Spacing)
	}
	r.reportAt = min(r.reportAt, at)
}

// Read is the event read.
func (r *Receiver) Read(now int64) (row string, got *Read) {
	r.begin(now)
	var numbers []int64
	if r.cfg.Ordered {
		numbers = r.whole(r.tail)
	} else if len(r.ready) > 0 {
		numbers, r.ready = r.ready[0], r.ready[1:]
	}
	rows := map[string][2]string{StateOpen: {"V11", "V12"}, StateFailed: {"V17", "V18"}}[r.state]
	if numbers == nil {
		return rows[1], nil
	}
	got = &Read{Sequence: numbers[0]}
	for _, n := range numbers {
		c := r.came[n]
		got.Data = append(got.Data, c.data...)
		got.Skipped = c.kind == Skip
		c.done = true
	}
	r.move()
	return rows[0], got
}

// move is MOVE. In FAILED no report comes of it.
func (r *Receiver) move() {
	was := r.tail
	for r.has(r.tail) && r.came[r.tail].done {
		r.tail++
	}
	if r.tail != was && r.state == StateOpen {
		r.reportAt = min(r.reportAt, r.now+ReportDelay)
	}
}

// interval is how long after a report the next one comes while something is missing.
func (r *Receiver) interval() int64 {
	if !r.path.Measured {
		return min(RepeatUnmeasured<<r.wait, LeastCap)
	}
	return min(max(r.path.SRTT, RepeatLeast)<<r.wait, max(2*r.path.SRTT, LeastCap))
}

// repeatAt is when a report is repeated.
func (r *Receiver) repeatAt() int64 {
	if r.base >= r.top || r.lastReport < 0 {
		return never
	}
	return r.lastReport + r.interval()
}

// Poll is the event poll, with so many bytes left in the packet.
func (r *Receiver) Poll(now int64, space int) (row string, report *Record) {
	r.begin(now)
	switch {
	case r.state == StateFailed:
		return "V21", nil
	case r.base < r.top && r.now-r.progressAt >= r.cfg.GiveUp:
		r.state = StateFailed
		return "V13", nil
	case (r.now >= r.reportAt || r.now >= r.repeatAt()) && space >= 7:
		return "V14", r.report(space)
	}
	return "V15", nil
}

// report is REPORT (CHV-6).
func (r *Receiver) report(space int) *Record {
	if r.now < r.reportAt {
		r.wait = min(r.wait+1, BackoffMost)
	}
	var missing []int64
	for n := r.base; n < r.top; n++ {
		if !r.has(n) {
			missing = append(missing, n)
		}
	}
	r.reportAt, r.lastReport = never, r.now
	return &Record{
		Type: Report, Sequence: modulo(r.base), Room: r.limit() - r.base,
		Groups: Groups(missing, min(MostGroups, (space-7)/6)),
	}
}

// Deadline returns when the receiver must be polled, or never.
func (r *Receiver) Deadline() (at int64, ok bool) {
	if r.state == StateFailed {
		return 0, false
	}
	at = min(r.reportAt, r.repeatAt())
	if r.base < r.top {
		at = min(at, r.progressAt+r.cfg.GiveUp)
	}
	return at, at != never
}

// Window returns what those who make events aim at.
func (r *Receiver) Window() (base, tail, limit, top int64) {
	return r.base, r.tail, r.limit(), r.top
}
