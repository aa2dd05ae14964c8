package flows

import "github.com/chunkwire/chunkwire/netsim"

// Counts are numbers of datagrams of one flow on one link.
type Counts struct {
	Sent        int64 // all that were handed to the link
	Data        int64 // those of them that carry data
	LostPolicer int64
	LostQueue   int64
	LostRandom  int64
	Marked      int64
	News        int64 // data that arrived and that the receiver did not have
	NewsBytes   int64 // their sizes on the link, with all headers
}

// Add adds the counts of d.
func (c *Counts) Add(d Counts) {
	c.Sent += d.Sent
	c.Data += d.Data
	c.LostPolicer += d.LostPolicer
	c.LostQueue += d.LostQueue
	c.LostRandom += d.LostRandom
	c.Marked += d.Marked
	c.News += d.News
	c.NewsBytes += d.NewsBytes
}

// Flow is two ends, and what they sent so far.
type Flow struct {
	Name  string
	slots [2][]Counts // of each link, by Slot
}

// at returns the counts of a slot.
func (f *Flow) at(slot, side int) *Counts {
	for len(f.slots[side]) <= slot {
		f.slots[side] = append(f.slots[side], Counts{})
	}
	return &f.slots[side][slot]
}

// sent counts a datagram, of which the link's counts say what became.
func (f *Flow) sent(slot, side int, data bool, before, after netsim.LinkStats) {
	c := f.at(slot, side)
	c.Sent++
	if data {
		c.Data++
	}
	c.LostPolicer += after.LostPolicer - before.LostPolicer
	c.LostQueue += after.LostQueue - before.LostQueue
	c.LostRandom += after.LostRandom - before.LostRandom
	c.Marked += after.Marked - before.Marked
}

// arrived counts data of so many bytes that a receiver did not have.
func (f *Flow) arrived(slot, side, size int) {
	c := f.at(slot, side)
	c.News++
	c.NewsBytes += int64(size)
}
