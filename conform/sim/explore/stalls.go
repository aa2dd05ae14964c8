package explore

import "errors"

// edge is the number of the state that it leads to, and two bits.
type edge uint32

const (
	fair   edge = 1 << 31
	benign edge = 1 << 30
	number      = benign - 1
)

func edgeTo(n uint32, isFair, isBenign bool) edge {
	e := edge(n)
	if isFair {
		e |= fair
	}
	if isBenign {
		e |= benign
	}
	return e
}

var (
	errStall    = errors.New("a stall: from here no end is reached, with nothing lost any more")
	errLivelock = errors.New("a livelock: from here a benign run can go on without end")
)

// findStalls looks for states without a way to an end, and for those from which a
// benign run need not reach one.
func (e *explorer[S, M]) findStalls() {
	if n, is := firstOutside(e.closure(fair, anyOf)); is {
		e.problem = &problem[M]{err: errStall, state: n}
		return
	}
	if !e.limits.Livelocks {
		return
	}
	if n, is := firstOutside(e.closure(benign, allOf)); is {
		e.problem = &problem[M]{err: errLivelock, state: n}
	}
}

// closure returns the states of which any, or all, edges with the bit lead into the
// set, beginning with the states that have ended. One without such an edge is not in
// it.
func (e *explorer[S, M]) closure(bit edge, into func(edges []edge, bit edge, in []bool) bool) []bool {
	in := append([]bool(nil), e.ended...)
	for more := true; more; {
		more = false
		for n := len(in) - 1; n >= 0; n-- { // most edges lead to later states
			if !in[n] && into(e.edges[e.starts[n]:e.starts[n+1]], bit, in) {
				in[n], more = true, true
			}
		}
	}
	return in
}

func anyOf(edges []edge, bit edge, in []bool) bool {
	for _, e := range edges {
		if e&bit != 0 && in[e&number] {
			return true
		}
	}
	return false
}

func allOf(edges []edge, bit edge, in []bool) bool {
	some := false
	for _, e := range edges {
		if e&bit != 0 {
			if !in[e&number] {
				return false
			}
			some = true
		}
	}
	return some
}

// firstOutside returns the state outside a set that was reached by the fewest moves.
func firstOutside(set []bool) (uint32, bool) {
	for n, in := range set {
		if !in {
			return uint32(n), true
		}
	}
	return 0, false
}
