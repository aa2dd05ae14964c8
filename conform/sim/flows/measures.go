package flows

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// The two links of a path.
const (
	Down = iota
	Up
)

// Counts returns what the flow did on a link from one time to another, multiples of Slot.
func (f *Flow) Counts(link int, from, to core.Micros) (sum Counts) {
	all := f.slots[link]
	first, last := min(int(from/Slot), len(all)), min(int(to/Slot), len(all))
	for _, c := range all[first:max(first, last)] {
		sum.Add(c)
	}
	return sum
}

// Figures are what flows did together, on one link, in a stretch of time.
type Figures struct {
	Use       float64 // see World.Use
	Jain      float64 // of the flows' bytes of distinct data: 1 if all have the same, 1/n if one has all
	Resent    float64 // of the data sent, what was not news, 0 to 1
	LostQueue float64 // of all that was sent, what the queue or the policer dropped, 0 to 1
	Wait      Quantiles
	Shares    []int64 // bytes of distinct data of each flow
	Total     Counts
}

// Quantiles are times in the queue, weighted by datagrams that came to it, in milliseconds.
type Quantiles struct{ Mean, P95 float64 }

// Figures returns what some flows did on a link from one time to another, multiples of Slot.
func (w *World) Figures(link int, from, to core.Micros, flows ...*Flow) (f Figures) {
	for _, flow := range flows {
		c := flow.Counts(link, from, to)
		f.Total.Add(c)
		f.Shares = append(f.Shares, c.NewsBytes)
	}
	f.Jain = Jain(f.Shares)
	f.Use = w.Use(link, from, to, flows...)
	f.Resent = over(max(0, f.Total.Data-f.Total.News), f.Total.Data) // some arrive later than in this time
	f.LostQueue = over(f.Total.LostQueue+f.Total.LostPolicer, f.Total.Sent)
	f.Wait = w.Wait(link, from, to)
	return f
}

// Use returns the bytes of distinct data of some flows, with headers, over what a link and its
// policer could carry from one time to another, without what is lost by chance; 0 if that is not
// limited.
func (w *World) Use(link int, from, to core.Micros, flows ...*Flow) float64 {
	carries, bytes := w.carries(link, from, to), int64(0)
	if carries == 0 {
		return 0
	}
	for _, f := range flows {
		bytes += f.Counts(link, from, to).NewsBytes
	}
	return float64(bytes) / carries
}

// carries returns how many bytes a link can carry from one time to another, what it loses taken
// away. It returns 0 if that is not limited.
func (w *World) carries(link int, from, to core.Micros) (sum float64) {
	path, since := w.path.link(link), from
	for _, c := range w.path.Changes {
		sum += carried(path, min(max(c.At, from), to)-since)
		path, since = [2]*netsim.Path{&c.Down, &c.Up}[link], min(max(c.At, from), to)
	}
	return sum + carried(path, to-since)
}

// carried returns how many bytes a path carries in a time, and does not lose by chance.
func carried(p *netsim.Path, d core.Micros) float64 {
	rate := p.Rate
	if p.PoliceRate > 0 {
		rate = min(rate, p.PoliceRate)
	}
	return float64(rate) / 8e6 * (1 - p.Loss/100) * float64(d)
}

func over(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Wait returns how long datagrams waited for a link from one time to another.
func (w *World) Wait(link int, from, to core.Micros) (q Quantiles) {
	waits := slices.Clone(w.waits[link][w.waitsBefore(link, from):w.waitsBefore(link, to)])
	if len(waits) == 0 {
		return q
	}
	slices.Sort(waits)
	sum := int64(0)
	for _, us := range waits {
		sum += int64(us)
	}
	return Quantiles{float64(sum) / float64(len(waits)) / 1000, float64(waits[(len(waits)*95+99)/100-1]) / 1000}
}

// waitsBefore returns how many waits were noted before the slot of a time.
func (w *World) waitsBefore(link int, at core.Micros) int {
	upTo := w.waitsUpTo[link]
	if i := min(int(at/Slot), len(upTo)); i > 0 {
		return upTo[i-1]
	}
	return 0
}

// Jain returns Jain's index of shares.
func Jain(shares []int64) float64 {
	var sum, squares float64
	for _, s := range shares {
		sum += float64(s)
		squares += float64(s) * float64(s)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / squares / float64(len(shares))
}
