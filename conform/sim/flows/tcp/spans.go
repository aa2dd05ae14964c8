package tcp

import "slices"

// span is numbers from one to before another.
type span struct{ from, to int64 }

func (s span) has(n int64) bool { return n >= s.from && n < s.to }

// spans is a set of numbers. What changed last comes first, as the blocks of RFC 2018 do.
type spans []span

func (s spans) has(n int64) bool {
	return slices.ContainsFunc(s, func(x span) bool { return x.has(n) })
}

// add adds a number that is not in the set.
func (s *spans) add(n int64) {
	grown := span{n, n + 1}
	rest := slices.DeleteFunc(*s, func(x span) bool {
		if x.to != n && x.from != n+1 {
			return false
		}
		grown = span{min(grown.from, x.from), max(grown.to, x.to)}
		return true
	})
	*s = slices.Insert(rest, 0, grown)
}

// pieces is what has arrived: all below next, and more above it.
type pieces struct {
	next  int64
	above spans
}

// add adds a piece and reports whether it is new.
func (p *pieces) add(n int64) bool {
	if n < p.next || p.above.has(n) {
		return false
	}
	p.above.add(n)
	if grown := p.above[0]; grown.from == p.next {
		p.next, p.above = grown.to, p.above[1:]
	}
	return true
}
