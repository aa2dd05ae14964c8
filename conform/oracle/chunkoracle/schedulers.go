package chunkoracle

import (
	"github.com/chunkwire/chunkwire/conform/oracle/recoveryoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// Recovery is the recommended scheduler of named slices (RECOVERY.md).
type Recovery struct{ *recoveryoracle.Scheduler }

// Begin is Scheduler's, as what follows.
func (r Recovery) Begin(now int64, chunk []byte) {
	r.Scheduler.Begin(now, repairoracle.NumSlices(len(chunk)))
}

// Acked takes newly acked slices.
func (r Recovery) Acked(now int64, p Progress) {
	var news []int
	for _, k := range p.News {
		news = append(news, int(k))
	}
	r.Scheduler.Acked(now, news)
}

// Next returns the slice that is sent.
func (r Recovery) Next(now int64) (int64, bool) {
	k, some := r.Scheduler.Next(now)
	return int64(k), some
}

// Found is what it knows of the path.
func (r Recovery) Found() (f Found) {
	f.Lost, f.Timeouts, f.Spurious = r.Scheduler.Found()
	f.SRTT, f.MinRTT = r.Path().SRTT(), r.Path().MinRTT()
	return f
}

// Rule is the rule of a sender of repair slices (section 7 of REPAIR.md).
type Rule struct{ *repairoracle.Rule }

// Acked takes news.
func (r Rule) Acked(now int64, p Progress) { r.Rule.Acked(now, p.Have, p.Top) }

// Next reports whether the next slice is sent.
func (r Rule) Next(now int64) (int64, bool) { return 0, r.Rule.Next(now) }

// Script is the scripted scheduler of a trace: what is due is sent, named slices in this
// order, and of repair slices as many.
type Script struct{ Due []int64 }

// Begin, Acked, Held and Moved change nothing.
func (*Script) Begin(int64, []byte)   {}
func (*Script) Acked(int64, Progress) {}
func (*Script) Held(int64)            {}
func (*Script) Moved()                {}

// Next takes one of those that are due.
func (s *Script) Next(int64) (id int64, some bool) {
	if len(s.Due) == 0 {
		return 0, false
	}
	id, s.Due = s.Due[0], s.Due[1:]
	return id, true
}

// Deadline is never.
func (*Script) Deadline() int64 { return never }
