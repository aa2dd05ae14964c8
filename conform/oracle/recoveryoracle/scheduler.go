package recoveryoracle

import "slices"

// The constants of sections 11 and 12: slices and transmissions.
const (
	GapSize      = 2
	Probes       = 2
	MaxCopies    = 4
	CopyBudget   = 64
	SpreadBudget = 512
	MaxSlices    = 256
	mostNumber   = 65_535
	mostCounted  = 255
)

// slice is what is recorded of a slice of the chunk in flight (REC-2).
type slice struct {
	unacked, lost, byTimer  bool
	first, main, last       int64
	firstAt, mainAt, lastAt int64
	resends, copies         int64
}

// once is EST-1.
func (k *slice) once() bool { return k.resends == 0 && k.copies == 0 }

// Scheduler is the recommended scheduler: the variables are those of REC-2.
type Scheduler struct {
	profile  Profile
	path     *Controller
	patience int64

	slices        []slice
	fresh         int64
	count, newest int64
	sentAt        int64
	newsAt, gapAt int64
	held          bool
	heldAt        int64
	refused       int64  // SUS-5
	moved         int64  // REC-12
	oldest        *slice // PTO-1; nil: none
	idle          bool
	latest        int64 // the time of the latest event but a hold
	foundLost     int64 // slices that LOS-2 found lost, timers that ran out, and LOS-4: nothing asks for them but tests
	timers        int64
	spurious      int64
}

// NewScheduler returns the scheduler of who knows nothing of the path.
func NewScheduler(p Profile) *Scheduler {
	s := &Scheduler{profile: p, path: NewController(p), idle: true}
	s.path.Join(s)
	return s
}

// Path is its controller.
func (s *Scheduler) Path() *Controller { return s.path }

// Found is how many slices were found lost, how many timers ran out, and how many slices were
// given up too soon.
func (s *Scheduler) Found() (lost, timers, spurious int64) {
	return s.foundLost, s.timers, s.spurious
}

// Busy says that a chunk is in flight.
func (s *Scheduler) Busy() bool { return s.left() > 0 }

// Idle says that there was nothing to send at the latest poll.
func (s *Scheduler) Idle() bool { return s.idle || !s.Busy() }

// InFlight is how many slices fly.
func (s *Scheduler) InFlight() int64 { return int64(len(s.flying())) }

// left is how many slices are in unacked.
func (s *Scheduler) left() (n int64) {
	for k := range s.slices {
		if s.slices[k].unacked {
			n++
		}
	}
	return n
}

// flying returns the slices that fly, the smallest first.
func (s *Scheduler) flying() (list []*slice) {
	for k := range s.slices[:s.fresh] {
		if one := &s.slices[k]; one.unacked && !one.lost {
			list = append(list, one)
		}
	}
	return list
}

// best returns the slice that comes first by an order, or nil.
func best(list []*slice, before func(a, b *slice) bool) (first *slice) {
	for _, k := range list {
		if first == nil || before(k, first) {
			first = k
		}
	}
	return first
}

func longestAgo(a, b *slice) bool { return a.last < b.last }
func latest(a, b *slice) bool     { return a.last > b.last }

// Begin is START (REC-2).
func (s *Scheduler) Begin(now, numSlices int64) {
	s.slices, s.fresh = nil, 0
	s.path.OnBegin(now)
	s.slices = make([]slice, numSlices)
	for k := range s.slices {
		s.slices[k].unacked = true
	}
	s.count, s.newest, s.refused, s.moved, s.sentAt, s.newsAt, s.gapAt = 0, 0, 0, 0, now, now, never
	s.held, s.idle, s.oldest = false, true, nil
	s.patience -= s.patience / 16
}

// Acked is newly acked slices (REC-3).
func (s *Scheduler) Acked(now int64, news []int) {
	s.latest = now
	list := make([]*slice, len(news))
	for i, k := range news {
		list[i] = &s.slices[k]
	}
	s.sample(now, list)
	n := int64(0)
	for _, k := range list {
		number := s.arrivedAs(now, k)
		s.newest = max(s.newest, number)
		if number > s.moved { // REC-12
			n++
		}
	}
	for _, k := range list {
		k.unacked, k.lost = false, false
	}
	if s.held { // SUS-5
		s.refused = s.count
	}
	s.newsAt, s.held = now, false
	missing := s.findLost(now)
	s.path.OnNews(now, n, missing)
}

// Moved is REC-12.
func (s *Scheduler) Moved() { s.moved = s.count }

// Held is a hold (REC-4).
func (s *Scheduler) Held(now int64) {
	if !s.held {
		s.held, s.heldAt = true, now
	}
	for k := range s.slices {
		s.slices[k].lost = false
	}
	s.path.OnFlight()
}

// Next is REC-5: the slice that goes out.
func (s *Scheduler) Next(now int64) (k int, some bool) {
	s.latest = now
	if now >= s.gapAt {
		missing := s.findLost(now)
		s.path.OnNews(now, 0, missing)
	}
	if next, _ := s.next(); !next && now >= s.timer() {
		s.expire(now)
	}
	wanted, k, isCopy := s.chosen()
	goes := s.path.Goes(now, wanted, int64(k) == s.fresh)
	s.idle = !wanted
	if !goes {
		return 0, false
	}
	s.send(now, k, isCopy)
	return k, true
}

// smallestLost is the smallest slice of lost, or of those of it that a timer found lost; or -1.
func (s *Scheduler) smallestLost(byTimer bool) int {
	for k := range s.slices {
		if s.slices[k].lost && (s.slices[k].byTimer || !byTimer) {
			return k
		}
	}
	return -1
}

// next is that of REC-9.
func (s *Scheduler) next() (some bool, k int) {
	if k = s.smallestLost(false); k >= 0 {
		if s.path.HasRoom() {
			return true, k
		}
		k = s.smallestLost(true)
		return k >= 0 && (s.held || s.latest >= s.path.SilentAt()), k
	}
	if s.fresh == int64(len(s.slices)) || s.held {
		return false, 0
	}
	return s.path.HasRoom(), int(s.fresh)
}

// chosen is that of REC-9.
func (s *Scheduler) chosen() (some bool, k int, isCopy bool) {
	if some, k = s.next(); some || s.smallestLost(false) >= 0 || s.fresh < int64(len(s.slices)) || s.held || !s.path.HasRoom() {
		return some, k, false
	}
	one := s.copied(s.latest)
	for k := range s.slices {
		if &s.slices[k] == one {
			return true, k, true
		}
	}
	return false, 0, false
}

// send is REC-6.
func (s *Scheduler) send(now int64, id int, isCopy bool) {
	s.count++
	k := &s.slices[id]
	k.last, k.lastAt, s.sentAt = s.count, now, now
	switch {
	case isCopy:
		k.copies = min(k.copies+1, mostCounted)
	case int64(id) == s.fresh:
		k.first, k.firstAt = min(s.count, mostNumber), now
		k.main, k.mainAt = s.count, now
		s.fresh++
	default:
		k.main, k.mainAt = s.count, now
		k.resends, k.copies, k.lost = min(k.resends+1, mostCounted), 0, false
	}
	if s.oldest == nil || s.oldest == k {
		s.findOldest()
	}
	s.path.OnFlight()
}

// findOldest is of PTO-1.
func (s *Scheduler) findOldest() { s.oldest = best(s.flying(), longestAgo) }

// Deadline is REC-7.
func (s *Scheduler) Deadline() int64 {
	if !s.Busy() {
		return never
	}
	if some, _, _ := s.chosen(); some {
		return s.path.PaceAt()
	}
	at := min(s.timer(), s.gapAt)
	if s.smallestLost(true) >= 0 {
		at = min(at, s.path.SilentAt())
	}
	return at
}

// sample is EST-2 to EST-4.
func (s *Scheduler) sample(now int64, news []*slice) {
	var once, again []*slice
	news = slices.DeleteFunc(slices.Clone(news), func(k *slice) bool { return k.first <= s.moved }) // REC-12
	for _, k := range news {
		if k.once() {
			once = append(once, k)
		}
		r := now - k.mainAt
		if r >= s.least() && (k.copies == 0 || r < s.path.SRTT()) {
			again = append(again, k)
		}
	}
	if k := best(once, latest); k != nil {
		s.path.OnCleanSample(now, now-k.lastAt)
	} else if s.path.IsMeasured() {
		if k := best(again, latest); k != nil {
			s.path.OnResentSample(now - k.mainAt)
		}
	} else if k := best(news, latest); k != nil {
		s.path.FindBound(now - k.firstAt)
	}
}

// least is EST-5.
func (s *Scheduler) least() int64 { return s.path.MinRTT() * 15 / 16 }

// timer is when the probe timer runs out (PTO-1, PTO-2, PTO-5).
func (s *Scheduler) timer() int64 {
	if s.held {
		return max(s.sentAt, s.heldAt) + s.path.HoldDelay(s.sentAt-s.heldAt)
	}
	if s.oldest == nil {
		return never
	}
	delay, margin := s.path.Delays()
	return max(s.oldest.lastAt+delay, s.newsAt+margin, s.path.ProbeAt())
}

// expire is PTO-3 to PTO-5.
func (s *Scheduler) expire(now int64) {
	s.timers++
	if s.held {
		for k := s.fresh - 1; k >= 0; k-- {
			if s.slices[k].unacked {
				s.slices[k].lost, s.slices[k].byTimer = true, true
				break
			}
		}
		s.path.OnFlight()
		return
	}
	given := int64(0) // SUS-1
	for range Probes {
		k := best(s.flying(), func(a, b *slice) bool {
			return a.resends < b.resends || a.resends == b.resends && a.last > b.last
		})
		if k != nil {
			k.lost, k.byTimer = true, true
			if k.last > s.moved {
				given++
			}
		}
	}
	s.path.OnTimer(now, given)
	s.path.OnFlight()
}

// arrivedAs is LOS-1: the number of the transmission that arrived.
func (s *Scheduler) arrivedAs(now int64, k *slice) int64 {
	if k.resends == 0 || s.path.IsMeasured() && !k.lost && now-k.mainAt >= s.least() {
		return k.main
	}
	if s.path.IsMeasured() {
		s.spurious++
		if k.byTimer { // SUS-2
			s.path.OnLate(1)
		}
		if !k.byTimer && k.resends == 1 { // LOS-4
			s.patience = max(s.patience, min(limited(now-k.firstAt)*9/8, s.path.SRTT()*3/2))
		}
	}
	return k.first
}

// findLost is LOS-2 and LOS-3: how many slices it finds lost that the path has lost.
func (s *Scheduler) findLost(now int64) (missing int64) {
	s.gapAt = never
	for _, k := range s.flying() {
		if k.last+GapSize > s.newest {
			continue
		}
		if now < k.lastAt+s.patience {
			s.gapAt = min(s.gapAt, k.lastAt+s.patience)
			continue
		}
		k.lost, k.byTimer = true, false
		s.foundLost++
		if k.last > s.refused && k.last > s.moved {
			missing++
		}
	}
	s.findOldest()
	s.path.OnFlight()
	return missing
}

// copied is the slice of CPY-1, or nil.
func (s *Scheduler) copied(now int64) *slice {
	delay, _ := s.path.Delays()
	if s.path.IsUnknown() || now-s.newsAt > 4*delay { // CPY-3
		return nil
	}
	budget, more := int64(CopyBudget), int64(1)
	if s.profile.Redundant { // PRO-3
		budget, more = SpreadBudget, 2
	}
	b := min(budget, min(s.path.PathSlices(), MaxSlices)/2)
	var list []*slice
	for _, k := range s.flying() {
		if 1+k.copies < min(MaxCopies, more+k.resends, b/s.left()) && now-k.mainAt < s.path.SRTT()/2 { // CPY-2
			list = append(list, k)
		}
	}
	return best(list, longestAgo)
}
