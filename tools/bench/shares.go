package bench

import "time"

// Share is how two flows shared a path, over time, in one run.
type Share struct {
	Name   string
	Flows  []string
	Points []SharePoint
}

// SharePoint is a second of it.
type SharePoint struct {
	Second int
	Mbits  []float64 // what came to each client, with headers
	Wait   float64   // in the queue at its end, in ms
}

// sharing are the couples that are followed: each path's queue is seen from the first
// one alone, too, until the second begins.
func sharing() (all []Couple) {
	ours, quic := ourFlows(), quicPeer()
	s2, short := besideCells()[0], besideCells()[2]
	for _, of := range []struct {
		c             Cell
		first, second Peer
	}{{s2, ours[0], ours[0]}, {s2, ours[0], quic}, {short, ours[1], quic}, {short, ours[0], ours[0]}} {
		all = append(all, Couple{Cell: of.c, First: of.first, Second: of.second, Late: 10 * time.Second, For: time.Minute})
	}
	return all
}

// share makes seconds of the samples of a run, of which there are many in each.
func share(c Couple, samples []Sample) Share {
	s := Share{Name: c.Cell.Network, Flows: []string{c.First.Name, c.Second.Name}}
	last := Sample{Bytes: make([]int64, 2)}
	for _, now := range samples {
		if now.AtMillis/1000 == last.AtMillis/1000 {
			continue
		}
		point := SharePoint{Second: int(now.AtMillis / 1000), Wait: float64(now.WaitMicro) / 1000}
		for i, bytes := range now.Bytes {
			mbits := float64(bytes-last.Bytes[i]) * 8 / float64(now.AtMillis-last.AtMillis) / 1000
			point.Mbits = append(point.Mbits, mbits)
		}
		s.Points, last = append(s.Points, point), now
	}
	return s
}
