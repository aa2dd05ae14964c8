package statemachine

// findStalls looks for states from which there is no way on.
//
// A stall: even with fair weather, in which nothing is lost any more, no
// connection's end can be reached. Every scheduler that conforms sends each
// slice again and again (SCH-2), so what can happen there does happen at last.
//
// A livelock: an end can be reached, but some scheduler that sends any slice
// that is not acked, whichever it likes, in calm weather never gets there. To
// find that, all ways that calm weather leaves open must lead to an end.
func (e *explorer) findStalls() {
	if n, is := e.firstOutside(e.closure(fairEdge, anyOf)); is {
		e.problem = &problem{what: "a stall: from here the connection never ends, with nothing lost any more (LIVE-2, LIVE-3)", parent: n}
		return
	}
	if e.scenario.restarts {
		return // that ends only by giving up, and nothing says when
	}
	if n, is := e.firstOutside(e.closure(calmEdge, allOf)); is {
		e.problem = &problem{what: "a livelock: from here it can go on for ever in calm weather (LIVE-2)", parent: n}
	}
}

// closure returns the states of which any, or all, edges with the bit lead into
// the set, beginning with the states that have ended. One without such an edge
// is not in it.
func (e *explorer) closure(bit edge, into func(edges []edge, bit edge, in []bool) bool) []bool {
	in := make([]bool, len(e.kinds))
	for n, kind := range e.kinds {
		in[n] = kind == ended
	}
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
	for _, ed := range edges {
		if ed&bit != 0 && in[ed&edgeTo] {
			return true
		}
	}
	return false
}

func allOf(edges []edge, bit edge, in []bool) bool {
	some := false
	for _, ed := range edges {
		if ed&bit != 0 {
			if !in[ed&edgeTo] {
				return false
			}
			some = true
		}
	}
	return some
}

// firstOutside returns the state outside a set that was reached by the fewest moves.
func (e *explorer) firstOutside(set []bool) (uint32, bool) {
	for n, in := range set {
		if !in {
			return uint32(n), true
		}
	}
	return 0, false
}
