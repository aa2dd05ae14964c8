package conform

import (
	"cmp"
	"slices"
)

// Talk is ends that send each other datagrams in virtual time. What an end sends goes to Carry; Came
// and Went of its Look are what was sent, so that an event can refer to it.
type Talk struct {
	Ends []*End
	// Carry gets each datagram that an end sends; nil: none arrives by itself.
	Carry func(at int64, from *End, e Event, b Bytes)

	waiting []happening
	made    int
	now     int64
}

// End is one end of a talk.
type End struct {
	Name    string
	Op      *Op
	Config  any
	Machine Oracle               // a Pair, or one that is Recorded
	Poll    Event                // at the end's deadline
	Sent    func(s Step) []Bytes // what a step sent
	Arrives func(b Bytes) Event  // a datagram of another end
	Restart func() Oracle        // a new machine in its place; nil: it never restarts
	Went    []Bytes
}

// happening is something that is to come.
type happening struct {
	at          int64
	rank, order int
	do          func(at int64)
}

// Of happenings at one time those of a lower rank come first, and of one rank the first made.
const (
	Arrival = iota
	Action
	Polling
)

// Do gives an event to an end, and to the network what the end sends.
func (t *Talk) Do(at int64, end *End, e Event) Step {
	s := end.Machine.Do(at, e)
	if s == nil {
		return nil // no event of the contract
	}
	sent := end.Sent(s)
	end.Went = append(end.Went, sent...)
	for _, b := range sent {
		if t.Carry != nil {
			t.Carry(at, end, e, b)
		}
	}
	return s
}

// Add plans something for a time.
func (t *Talk) Add(at int64, rank int, do func(at int64)) {
	t.made++
	t.waiting = append(t.waiting, happening{at, rank, t.made, do})
}

// Run lets everything happen up to a time, or until it is over. Each end is polled at its deadline.
func (t *Talk) Run(until int64, over func() bool) {
	for h, some := t.next(); some && h.at <= until && (over == nil || !over()); h, some = t.next() {
		t.waiting = slices.DeleteFunc(t.waiting, func(w happening) bool { return w.order == h.order })
		t.now = max(t.now, h.at)
		h.do(h.at)
	}
}

// next returns what happens first.
func (t *Talk) next() (first happening, some bool) {
	list := slices.Clone(t.waiting)
	for i, end := range t.Ends {
		if at := end.Machine.Look().Deadline; at.Is {
			list = append(list, happening{max(at.V, t.now), Polling, i - len(t.Ends), func(at int64) { t.Do(at, end, end.Poll) }})
		}
	}
	if len(list) == 0 {
		return first, false
	}
	return slices.MinFunc(list, func(a, b happening) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.order, b.order))
	}), true
}

// Other returns the end that an end of two talks to.
func (t *Talk) Other(end *End) *End {
	return t.Ends[(slices.Index(t.Ends, end)+1)%len(t.Ends)]
}

// Mend lets everything that two ends send from now on arrive, after a delay.
func (t *Talk) Mend(delay int64) { t.Lose(delay, func(int) bool { return false }) }

// Lose is Mend, except for what is lost: it is asked of each datagram by its number, from 1 on.
func (t *Talk) Lose(delay int64, lost func(number int) bool) {
	sent := 0
	t.Carry = func(at int64, from *End, _ Event, b Bytes) {
		if sent++; lost(sent) {
			return
		}
		to := t.Other(from)
		t.Add(at+delay, Arrival, func(at int64) { t.Do(at, to, to.Arrives(b)) })
	}
}

// shares is how many parts of what a source says are an event of one of the ends; one more is a
// restart.
const shares = 15

// Play gives two ends events that come from a source, so many at most, and returns the latest time.
// Nothing arrives except by an event that refers to it.
func (t *Talk) Play(in Source, most int) (latest int64) {
	now := int64(0)
	before := map[*End]Event{}
	for n := 0; n < most && in.More(); {
		who := int(in.Number(0, t.heads()))
		end := t.Ends[who%len(t.Ends)]
		if who >= shares*len(t.Ends) && end.Restart != nil {
			end.Machine = end.Restart()
		}
		head, times := in.Number(0, end.Op.heads()), int64(1)
		if before[end] != nil && head%howMany == again {
			times = in.Number(1, mostAgain)
		} else {
			now, before[end] = end.Op.next(in, head, now, end.Config, t.look(end))
		}
		if now > MostTime/2 {
			return latest // there must be time for what follows
		}
		latest = max(latest, now)
		for ; times > 0 && n < most; times-- {
			t.Do(now, end, before[end])
			n++
		}
	}
	return latest
}

func (t *Talk) heads() int64 { return int64((shares+1)*len(t.Ends)) - 1 }

// look is what those who make events of an end can see.
func (t *Talk) look(end *End) Look {
	look := end.Machine.Look()
	look.Went, look.Came = end.Went, t.Other(end).Went
	return look
}

// Encode is the inverse of Play: the events of both ends, in the order of their times. It takes
// the ends through them.
func (t *Talk) Encode(out []byte, traces ...[]Timed) []byte {
	now := int64(0)
	for {
		end := -1
		for i, trace := range traces {
			if len(trace) > 0 && (end < 0 || trace[0].At < traces[end][0].At) {
				end = i
			}
		}
		if end < 0 {
			return out
		}
		who, e := t.Ends[end], traces[end][0]
		traces[end] = traces[end][1:]
		out = AppendNumber(out, 0, t.heads(), int64(end))
		out = who.Op.append(out, now, e, who.Config, t.look(who))
		now = e.At
		t.Do(e.At, who, e.Event)
	}
}

// How an event refers to a datagram that the other end sent, and which numbers behind it ask for a change.
const (
	mostBack  = 255
	changed   = 240
	mostAsked = 255
)

// Back is one of the latest datagrams that the other end sent, or empty if it sent none.
func (l Look) Back(in Source) Bytes {
	back := int(in.Number(0, mostBack))
	if len(l.Came) == 0 {
		return ""
	}
	return l.Came[max(0, len(l.Came)-1-back)]
}

// UnpackSent makes a datagram that the other end sent: one of the latest, which may have a
// changed bit.
func UnpackSent(in Source, look Look) Bytes {
	b := []byte(look.Back(in))
	asked := in.Number(0, mostAsked)
	if asked >= changed && len(b) > 0 {
		change := int(in.Number(0, 1<<16-1)) % (8 * len(b))
		b[change/8] ^= 1 << (change % 8)
	}
	return Bytes(b)
}

// PackSent is the inverse of UnpackSent for a datagram that was not changed, if there is one.
func PackSent(out []byte, b Bytes, look Look) (_ []byte, ok bool) {
	for back := 0; back <= mostBack && back < len(look.Came); back++ {
		if look.Came[len(look.Came)-1-back] == b {
			return AppendNumber(AppendNumber(out, 0, mostBack, int64(back)), 0, mostAsked, 0), true
		}
	}
	return out, false
}

// How a datagram comes about. Others than these and those that a machine makes are the other end's, too.
const (
	theOthers = iota // the other end sent it
	itsOwn           // the end sent it itself
	aMade            // one of those that the machine makes, and behind them any bytes

	waysToArrive = 16
	mostArriving = 1227 // two more bytes than the largest datagram has
)

// Arriving makes a datagram out of what the ends sent: hardly another is ever proven. A machine may make
// others.
func Arriving(in Source, look Look, made ...func() Bytes) Bytes {
	switch how := int(in.Number(0, waysToArrive-1)); {
	case how == itsOwn:
		look.Came = look.Went
	case how == aMade+len(made):
		return Bytes(in.Bytes(mostArriving))
	case how >= aMade && how < aMade+len(made):
		return made[how-aMade]()
	}
	return UnpackSent(in, look)
}

// AppendArriving is the inverse of Arriving, where a machine makes so many: of what is no datagram of the
// other end by its bytes.
func AppendArriving(out []byte, b Bytes, look Look, made int) []byte {
	if referred, ok := PackSent(AppendNumber(out, 0, waysToArrive-1, theOthers), b, look); ok {
		return referred
	}
	return AppendBytes(AppendNumber(out, 0, waysToArrive-1, int64(aMade+made)), mostArriving, []byte(b))
}
