package channel

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// soon makes a report due as soon as one can go (CHV-4).
func (v *Receiver) soon() {
	at := v.now
	if v.lastReport != noReport {
		at = max(at, v.lastReport+ReportSpacing)
	}
	v.reportBy(at)
}

// reportBy makes a report due at a time, if none is due before (CHV-4).
func (v *Receiver) reportBy(at core.Micros) { v.reportAt = min(v.reportAt, at) }

// repeatAt returns when a report goes again if something is still missing, or Never (CHV-5).
// Without one before, and a missing sequence, there is nothing to repeat (CHV-7).
func (v *Receiver) repeatAt() core.Micros {
	if v.base == v.top || v.lastReport == noReport {
		return core.Never
	}
	wait := repeatUnmeasured
	if v.path.Measured {
		wait = max(v.path.SRTT, repeatLeast)
	}
	return v.lastReport + min(wait<<v.wait, v.path.longest())
}

// report names what has come and what is missing (CHV-6). It is computed when it is sent, and
// never stored (CHV-17).
func (v *Receiver) report(in receiverInput) {
	if v.now < v.reportAt {
		v.wait = min(v.wait+1, backoffMost)
	}
	v.reportAt, v.lastReport = core.Never, v.now
	most := min((in.space-reportSize)/groupSize, MostGroups)
	v.groups = missingGroups(v.groups[:0], v.space, &v.have, v.base, v.top, most)
	v.out = Record{Type: TypeReport, Channel: v.id, Sequence: v.space.Wire(v.base), Room: int(v.Limit() - v.base), Groups: v.groups}
	v.stats.Reports++
}

// missingGroups appends the groups of what is missing from a set between base and top,
// ascending: from the newest missing sequence down, each group names one and the missing ones
// of the 32 below. If there are more than most, the lowest ones stay (CHV-6).
func missingGroups(none []Group, space core.Space, have *core.Window, base, top core.Number, most int) []Group {
	groups, n := none, 0
	for start := have.LastMissing(base, top); start >= base && most > 0; start = have.LastMissing(base, start-groupSpan+1) {
		bits := ^have.Below(start)
		if d := start - base; d < 32 {
			bits &= 1<<d - 1
		}
		g := Group{Start: space.Wire(start), Bits: bits}
		if n < most {
			groups = append(groups, g)
		} else {
			groups[n%most] = g
		}
		n++
	}
	if n > most {
		rotate(groups, n%most)
	}
	slices.Reverse(groups)
	return groups
}

// rotate puts the part from a place on first, and the part before it last.
func rotate(groups []Group, first int) {
	slices.Reverse(groups[:first])
	slices.Reverse(groups[first:])
	slices.Reverse(groups)
}

// NewReport returns the REPORT that names these sequences, which ascend from base, by the way
// of CHV-6. Format.Append says what is invalid in it if they do not fit the room.
func NewReport(channel uint8, base uint16, room int, missing []uint16) Record {
	low := core.Wire16.Size() + core.Number(base)
	have := core.NewWindow(1<<16, low+core.Wire16.Size())
	top := low
	for _, wire := range missing {
		n, _ := core.Wire16.From(low, wire)
		for ; top < n; top++ {
			have.Add(top)
		}
		top = max(top, n+1)
	}
	return Record{
		Type: TypeReport, Channel: channel, Sequence: base, Room: room,
		Groups: missingGroups(nil, core.Wire16, &have, low, top, MostGroups),
	}
}
