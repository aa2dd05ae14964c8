package packet

// minimum is the smallest sample of this and the last period of 5 s (PKE-3).
type minimum struct {
	began     int64
	this      int64 // 0: there was none
	last      int64
	haveBegun bool
}

const period = 5_000_000

// add takes a sample, and returns the minimum with it.
func (m *minimum) add(now, r int64) int64 {
	switch {
	case !m.haveBegun:
		*m = minimum{began: now, this: r, last: r, haveBegun: true}
	case now-m.began >= 2*period: // nothing came in the last period
		*m = minimum{began: now, this: r, last: r, haveBegun: true}
	case now-m.began >= period:
		*m = minimum{began: now, this: r, last: m.this, haveBegun: true}
	default:
		m.this = min(m.this, r)
	}
	return min(m.this, m.last)
}
