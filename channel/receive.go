package channel

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
)

// group is the sequences of one message (CHG-1).
type group struct {
	begin core.Number
	count int
}

// end returns the first sequence behind the group.
func (g group) end() core.Number { return g.begin + core.Number(g.count) }

// groupOf returns the group of data that came.
func groupOf(in receiverInput) group {
	if in.record.Type == TypeMessage {
		return group{in.n, 1}
	}
	return group{in.n - core.Number(in.record.Index), in.record.Count}
}

// groupAt returns the group of data that is held.
func (v *Receiver) groupAt(n core.Number) group {
	s := v.slots.at(n)
	return group{n - core.Number(s.index), int(s.count)}
}

// holds reports what a sequence came as; nothing if it is not kept.
func (v *Receiver) holds(n core.Number) content {
	if !v.have.Has(n) {
		return nothing
	}
	return v.slots.at(n).holds
}

// compare compares data with what is held of its group and around it: it conflicts (CHG-2),
// or its group has lost a sequence (CHG-4). Groups of which a fragment is held and was not read
// have no other data in them, and nothing that was skipped (CHG-3).
func (v *Receiver) compare(n core.Number, g group) (conflicts, lost bool) {
	if g.begin < v.first || v.insideOther(n, g) {
		return true, false
	}
	lost = g.begin < v.tail
	for m := max(g.begin, v.tail); m < min(g.end(), v.top); m++ {
		switch v.holds(m) {
		case aMessage:
			return true, false
		case aFragment:
			return v.groupAt(m) != g, false // what is held of a group has nothing else in it
		case skipped:
			lost = true
		}
	}
	return false, lost
}

// insideOther reports whether a sequence lies in a group of which a fragment is held that was
// not read, and which is not g (CHG-2).
func (v *Receiver) insideOther(n core.Number, g group) bool {
	if v.fragments == 0 {
		return false
	}
	reach := core.Number(v.format.mostFragments())
	for m := max(n-reach+1, v.tail); m < min(n+reach, v.top); m++ {
		if !v.isPart(m) {
			continue
		}
		other := v.groupAt(m)
		if other != g && n >= other.begin && n < other.end() {
			return true
		}
		m = other.end() - 1 // what else is held of it is its own
	}
	return false
}

// add keeps a message or a fragment (CHV-1).
func (v *Receiver) add(in receiverInput) {
	missing := v.base < v.top
	s := v.keep(in.n)
	s.data = store(s.data, in.record.Data, v.format.Data)
	s.holds = aMessage
	if in.record.Type == TypeFragment {
		s.holds, s.index, s.count = aFragment, uint8(in.record.Index), uint8(in.record.Count)
		v.fragments++
	}
	v.arrived(missing)
	if g := groupOf(in); !v.ordered && v.whole(g) {
		v.push(g.begin)
	}
	v.stats.Received++
}

// keep puts a sequence into have and returns its slot.
func (v *Receiver) keep(n core.Number) *slot {
	v.slots.reach(v.tail, n+1)
	v.have.Add(n)
	v.top = max(v.top, n+1)
	return v.slots.at(n)
}

// arrived does what each arrival does (CHV-1): base moves over all that came, and a report
// becomes due.
func (v *Receiver) arrived(missing bool) {
	v.base = v.have.FirstMissing(v.base, v.top)
	v.progressAt, v.wait = v.now, 0
	if missing || v.base < v.top {
		v.soon()
	} else {
		v.reportBy(v.now + ReportDelay)
	}
}

// whole reports whether all sequences of a group are here.
func (v *Receiver) whole(g group) bool {
	return v.have.FirstMissing(max(g.begin, v.base), g.end()) == g.end()
}

// lose keeps sequences as skipped: the new ones of a skip, or one of a group that is
// lost (CHV-12).
func (v *Receiver) lose(in receiverInput) {
	missing := v.base < v.top
	low, end := in.n, in.n+1
	if in.record.Type == TypeSkip {
		end = in.n + core.Number(in.record.Count)
	}
	for n := max(low, v.base); n < end; n = v.have.FirstMissing(n, end) {
		if !v.came(n) {
			v.keep(n).skip()
		}
	}
	low, high := max(low, v.tail), end
	if v.fragments > 0 {
		reach := core.Number(v.format.mostFragments())
		low, high = max(low-reach+1, v.tail), min(end+reach-1, v.top)
		v.giveUpGroups(low, high)
	}
	v.arrived(missing)
	if !v.ordered {
		v.pushSkipped(low, high)
	}
}

// skip makes a sequence one that was skipped, whatever was held of it.
func (s *slot) skip() { s.holds, s.data = skipped, s.data[:0] }

// giveUpGroups makes skipped what is held between low and high of groups in which a sequence
// was skipped (CHG-3). Two passes find it: it is the last one below the fragment, or the next
// one above.
func (v *Receiver) giveUpGroups(low, high core.Number) {
	last, next := v.tail-1, v.Limit()+mostGroup
	for n := low; n < high; n++ {
		if v.isPart(n) && v.groupAt(n).begin <= last {
			v.giveUpPart(n)
		}
		if v.holds(n) == skipped {
			last = n
		}
	}
	for n := high - 1; n >= low; n-- {
		if v.isPart(n) && v.groupAt(n).end() > next {
			v.giveUpPart(n)
		}
		if v.holds(n) == skipped {
			next = n
		}
	}
}

// isPart reports whether a sequence is a fragment that is held and was not read.
func (v *Receiver) isPart(n core.Number) bool {
	return v.holds(n) == aFragment && !v.slots.at(n).done
}

func (v *Receiver) giveUpPart(n core.Number) {
	v.slots.at(n).skip()
	v.fragments--
}

// moveTop learns from a status what exists (CHV-14).
func (v *Receiver) moveTop(in receiverInput) {
	if v.base == v.top && in.n > v.top {
		v.progressAt = v.now
	}
	v.top = max(v.top, in.n)
}

// fail gives the channel up (CHV-13).
func (v *Receiver) fail(receiverInput) {
	missing := 0
	for n := v.have.FirstMissing(v.base, v.top); n < v.top; n = v.have.FirstMissing(n+1, v.top) {
		missing++
	}
	v.err = fmt.Errorf("channel %d: receiver: %d sequences are missing, from %d on: %w", v.id, missing, v.base, channelFailed.NotAt())
}
