package channelsim

import (
	"maps"
	"slices"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
)

// ReceiverModel is the receiver of a reliable channel: it does what section 5 says, and
// remembers everything.
type ReceiverModel struct {
	cfg    protocol.Config
	now    core.Micros
	failed bool
	came   map[core.Number]*modelCame // all that ever came
	ready  []core.Number              // unordered: what is ready, in its order; of a group its first
	top    core.Number

	lastBase, lastTail   core.Number // what base and tail were when they were asked for
	progressAt, reportAt core.Micros
	lastReport           core.Micros // core.Never: none
	wait                 int
	path                 protocol.Path
	beyond, conflicts    int64
}

// modelCame is a sequence that came: a message, a fragment, or skipped.
type modelCame struct {
	data          []byte
	group         core.Number // its first sequence
	count         int         // of a message 1
	skipped, read bool
}

// NewReceiverModel returns the model of a new receiver. Of the configuration no field may be
// 0 but the numbers and the kind.
func NewReceiverModel(cfg protocol.Config) *ReceiverModel {
	return &ReceiverModel{
		cfg: cfg, came: map[core.Number]*modelCame{}, top: cfg.First, lastBase: cfg.First, lastTail: cfg.First,
		reportAt: core.Never, lastReport: core.Never,
	}
}

func (m *ReceiverModel) event(now core.Micros) { m.now = max(m.now, now) }

// base is the lowest sequence that has not come. It never falls.
func (m *ReceiverModel) base() core.Number {
	for m.came[m.lastBase] != nil {
		m.lastBase++
	}
	return m.lastBase
}

// tail is the lowest sequence that is not done with. It never falls.
func (m *ReceiverModel) tail() core.Number {
	for m.came[m.lastTail] != nil && m.came[m.lastTail].read {
		m.lastTail++
	}
	return m.lastTail
}

func (m *ReceiverModel) limit() core.Number { return m.tail() + core.Number(m.cfg.Window) }

// has is what `have` has: what came and is not below tail.
func (m *ReceiverModel) has(n core.Number) *modelCame {
	if n < m.tail() {
		return nil
	}
	return m.came[n]
}

// nearest is CHN-4.
func (m *ReceiverModel) nearest(bits uint16) core.Number {
	last := m.base() + 1<<(m.cfg.SequenceBits-1)
	return last - modulo(last-core.Number(bits), m.cfg.SequenceBits)
}

// Handle is the event of rows V1 to V10, V16, V19 and V20.
func (m *ReceiverModel) Handle(now core.Micros, r *protocol.Record) (row core.Row) {
	m.event(now)
	if m.failed {
		switch r.Type {
		case protocol.TypeSkip:
			return "V19"
		case protocol.TypeStatus:
			return "V20"
		}
		return "V16"
	}
	n, behind := m.nearest(r.Sequence), m.base() < m.top
	switch r.Type {
	case protocol.TypeMessage:
		row = m.data(n, modelCame{data: slices.Clone(r.Data), group: n, count: 1})
	case protocol.TypeFragment:
		row = m.data(n, modelCame{data: slices.Clone(r.Data), group: n - core.Number(r.Index), count: r.Count})
	case protocol.TypeSkip:
		row = m.skip(n, n+core.Number(r.Count))
	case protocol.TypeStatus:
		row = m.status(n)
	}
	switch row {
	case "V1", "V2", "V6", "V7", "V9", "V10":
		m.soon()
	case "V4", "V5", "V8":
		m.added(behind)
	}
	if m.base() < m.top && !behind {
		m.progressAt = m.now
	}
	return row
}

// data is the event of rows V1 to V5.
func (m *ReceiverModel) data(n core.Number, c modelCame) core.Row {
	switch {
	case n < m.base() || m.has(n) != nil:
		return "V1"
	case n >= m.limit():
		m.beyond++
		return "V2"
	case m.conflict(n, &c):
		m.conflicts++
		return "V3"
	}
	m.top = max(m.top, n+1)
	if m.lost(&c) {
		m.came[n] = &modelCame{group: n, count: 1, skipped: true}
		m.becameReady(n)
		return "V4"
	}
	m.came[n] = &c
	if m.whole(&c) {
		m.becameReady(c.group)
	}
	return "V5"
}

// conflict is CHG-2.
func (m *ReceiverModel) conflict(n core.Number, c *modelCame) bool {
	for _, held := range m.around(n) {
		if g := m.came[held]; g.group != c.group || g.count != c.count {
			return true
		}
	}
	if c.group < m.cfg.First {
		return true
	}
	for i := range core.Number(c.count) {
		if h := m.has(c.group + i); h != nil && !h.skipped && (h.count != c.count || h.group != c.group) {
			return true
		}
	}
	return false
}

// around returns the held fragments, which are not read, of groups that have n.
func (m *ReceiverModel) around(n core.Number) (held []core.Number) {
	for i, limit := m.tail(), m.limit(); i < limit; i++ { // both are searches
		c := m.came[i]
		if c != nil && !c.skipped && !c.read && c.count > 1 && n >= c.group && n < c.group+core.Number(c.count) {
			held = append(held, i)
		}
	}
	return held
}

// lost is CHG-4.
func (m *ReceiverModel) lost(c *modelCame) bool {
	for i := range core.Number(c.count) {
		if h := m.has(c.group + i); h != nil && h.skipped {
			return true
		}
	}
	return c.group < m.tail()
}

// skip is the event of rows V6 to V8.
func (m *ReceiverModel) skip(first, end core.Number) core.Row {
	var fresh []core.Number
	for n := first; n < end; n++ {
		if n >= m.base() && m.has(n) == nil {
			fresh = append(fresh, n)
		}
	}
	switch {
	case len(fresh) == 0:
		return "V6"
	case end > m.limit():
		m.beyond++
		return "V7"
	}
	skipped := map[core.Number]bool{}
	for _, n := range fresh {
		skipped[n] = true
		for _, held := range m.around(n) { // CHG-3
			skipped[held] = true
		}
	}
	for n := range skipped {
		m.came[n] = &modelCame{group: n, count: 1, skipped: true}
		m.top = max(m.top, n+1)
	}
	m.becameReady(slices.Sorted(maps.Keys(skipped))...)
	return "V8"
}

// status is the event of rows V9 and V10.
func (m *ReceiverModel) status(next core.Number) core.Row {
	if next > m.limit() {
		m.beyond++
		return "V10"
	}
	m.top = max(m.top, next)
	return "V9"
}

// added is what ADD and LOSE do with times.
func (m *ReceiverModel) added(wasBehind bool) {
	m.progressAt, m.wait = m.now, 0
	if wasBehind || m.base() < m.top {
		m.soon()
	} else {
		m.reportAt = min(m.reportAt, m.now+reportDelay)
	}
}

// soon is SOON.
func (m *ReceiverModel) soon() {
	at := m.now
	if m.lastReport != core.Never {
		at = max(at, m.lastReport+soon)
	}
	m.reportAt = min(m.reportAt, at)
}

// whole reports whether all of a message or group has come.
func (m *ReceiverModel) whole(c *modelCame) bool {
	for i := range core.Number(c.count) {
		if m.came[c.group+i] == nil {
			return false
		}
	}
	return true
}

func (m *ReceiverModel) becameReady(list ...core.Number) {
	if m.cfg.Kind == protocol.Unordered {
		m.ready = append(m.ready, list...)
	}
}

// nextReady returns the first sequence of what is read next.
func (m *ReceiverModel) nextReady() (core.Number, bool) {
	if m.cfg.Kind == protocol.Unordered {
		if len(m.ready) == 0 {
			return 0, false
		}
		n := m.ready[0]
		m.ready = m.ready[1:]
		return n, true
	}
	n := m.tail()
	return n, m.came[n] != nil && m.whole(m.came[n])
}

// Read is the event of rows V11, V12, V17 and V18.
func (m *ReceiverModel) Read(now core.Micros) (row core.Row, message protocol.Message, ok bool) {
	m.event(now)
	rows := [2]core.Row{"V12", "V11"}
	if m.failed {
		rows = [2]core.Row{"V18", "V17"}
	}
	n, ok := m.nextReady()
	if !ok {
		return rows[0], message, false
	}
	before := m.tail()
	message = protocol.Message{Sequence: n, Skipped: m.came[n].skipped}
	for i := range core.Number(m.came[n].count) {
		message.Data = append(message.Data, m.came[n+i].data...)
		m.came[n+i].read = true
	}
	if m.tail() > before {
		m.reportAt = min(m.reportAt, m.now+reportDelay)
	}
	return rows[1], message, true
}

// repeatAt is when a report is repeated, while something is missing.
func (m *ReceiverModel) repeatAt() core.Micros {
	if m.base() == m.top || m.lastReport == core.Never {
		return core.Never
	}
	const first, most = 50 * core.Millisecond, 250 * core.Millisecond
	if !m.path.Measured {
		return m.lastReport + min(first<<m.wait, most)
	}
	return m.lastReport + min(max(m.path.SRTT, 20*core.Millisecond)<<m.wait, max(2*m.path.SRTT, most))
}

// Poll is the event of rows V13 to V15 and V21.
func (m *ReceiverModel) Poll(now core.Micros, space int) (row core.Row, r protocol.Record, ok bool) {
	m.event(now)
	isDue, repeats := m.now >= m.reportAt, m.now >= m.repeatAt()
	switch {
	case m.failed:
		return "V21", r, false
	case m.base() < m.top && m.now-m.progressAt >= m.cfg.GiveUp:
		m.failed = true
		return "V13", r, false
	case !isDue && !repeats || space < reportHead:
		return "V15", r, false
	}
	if !isDue {
		m.wait = min(m.wait+1, backoffMost)
	}
	m.reportAt, m.lastReport = core.Never, m.now
	return "V14", m.report(space), true
}

// report is CHV-6.
func (m *ReceiverModel) report(space int) protocol.Record {
	base := m.base()
	r := protocol.Record{Type: protocol.TypeReport, Channel: m.cfg.ID, Sequence: m.wire(base), Room: int(m.limit() - base)}
	missing := func(n core.Number) bool { return n >= base && m.came[n] == nil }
	for n := m.top - 1; n >= base; n-- {
		if !missing(n) {
			continue
		}
		g := protocol.Group{Start: m.wire(n)}
		for i := range core.Number(32) {
			if missing(n - 1 - i) {
				g.Bits |= 1 << i
			}
		}
		r.Groups = append(r.Groups, g)
		n -= 32
	}
	slices.Reverse(r.Groups)
	r.Groups = r.Groups[:min(len(r.Groups), mostGroups, (space-reportHead)/groupSize)]
	return r
}

func (m *ReceiverModel) wire(n core.Number) uint16 { return uint16(modulo(n, m.cfg.SequenceBits)) }

// Deadline is the deadline.
func (m *ReceiverModel) Deadline() core.Micros {
	if m.failed {
		return core.Never
	}
	at := min(m.reportAt, m.repeatAt())
	if m.base() < m.top {
		at = min(at, m.progressAt+m.cfg.GiveUp)
	}
	return at
}
