package channel

import "github.com/chunkwire/chunkwire/core"

// chain is the sequences that can be read from an unordered channel, in the order in which
// they became so (CHV-2). Each slot has the next one.
type chain struct {
	head, last core.Number // None if it is empty
}

// push makes ready a message, a group by its first sequence, or skipped sequences.
func (v *Receiver) push(n core.Number) {
	s := v.slots.at(n)
	s.ready, s.next = true, core.NoNumber
	if v.ready.head == core.NoNumber {
		v.ready.head = n
	} else {
		v.slots.at(v.ready.last).next = n
	}
	v.ready.last = n
}

// pushSkipped makes ready what is skipped between two sequences, ascending.
func (v *Receiver) pushSkipped(low, high core.Number) {
	for n := low; n < high; n++ {
		if v.holds(n) == skipped && !v.slots.at(n).ready {
			v.push(n)
		}
	}
}

// hasReady reports whether there is something to read (CHV-2).
func (v *Receiver) hasReady() bool {
	if !v.ordered {
		return v.ready.head != core.NoNumber
	}
	// All of a group is here if nothing is missing below its end: what is here of its
	// sequences is its own (CHG-2).
	return v.have.Has(v.tail) && (v.holds(v.tail) != aFragment || v.groupAt(v.tail).end() <= v.base)
}

// nextReady returns what is read next, and takes it out of the chain.
func (v *Receiver) nextReady() core.Number {
	if v.ordered {
		return v.tail
	}
	n := v.ready.head
	v.ready.head = v.slots.at(n).next
	return n
}

// deliver delivers a message, a group or a skipped sequence (CHV-16).
func (v *Receiver) deliver(in receiverInput) {
	n := v.nextReady()
	first := v.slots.at(n)
	v.any = true
	v.got.Sequence, v.got.Skipped = n, first.holds == skipped
	count := 1
	if first.holds == aFragment {
		count = int(first.count)
		v.fragments -= count
	}
	for i := range count {
		s := v.slots.at(n + core.Number(i))
		v.got.Data = append(v.got.Data, s.data...)
		s.done = true
	}
	v.stats.Delivered++
	if v.got.Skipped {
		v.stats.Delivered--
		v.stats.Skipped++
	}
}

// move moves tail over what is done with, and limit with it (CHV-3).
func (v *Receiver) move(receiverInput) {
	from := v.tail
	for v.have.Has(v.tail) && v.slots.at(v.tail).done {
		s := v.slots.at(v.tail)
		*s = slot{data: s.data[:0]}
		v.tail++
	}
	if v.tail > from {
		v.have.Move(v.tail + core.Number(v.format.Window))
		v.reportBy(v.now + ReportDelay)
	}
}
