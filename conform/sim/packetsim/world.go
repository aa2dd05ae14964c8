package packetsim

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// World is two checked ends, a judge, and a network in which a datagram stays until it is
// dropped: each can arrive at any time, in any order, and again.
type World struct {
	Ends   [2]*Checked
	Now    core.Micros // of the next event; it may go back
	Flight [2][][]byte // to each end
	Judge  *Judge

	cfg     protocol.Config
	fail    Fail
	clock   [2]core.Micros // the latest time that each end was given (PKN-3)
	verdict [2]protocol.Verdict
}

// NewWorld returns a world of two ends with one configuration, but for their numbers: what
// the one begins to send with is what the other expects (PKI-7).
func NewWorld(cfg protocol.Config, fail Fail) (*World, error) {
	w := &World{cfg: Complete(cfg), fail: fail, Judge: NewJudge(cfg.NextToSend, cfg.NextToReceive)}
	for i := range w.Ends {
		end, err := NewChecked(cfg, fail)
		if err != nil {
			return nil, err
		}
		w.Ends[i] = end
		cfg.NextToSend, cfg.NextToReceive = cfg.NextToReceive, cfg.NextToSend
	}
	return w, nil
}

func (w *World) check(err error) {
	if err != nil {
		w.fail("%v", err)
	}
}

// Verdict sets what the layer above an end says from now on.
func (w *World) Verdict(end int, v protocol.Verdict) { w.verdict[end] = v }

// Send lets an end send. What goes out is in flight.
func (w *World) Send(end int, payload []byte, quiet bool) {
	n := w.Judge.ends[end].next
	datagrams, err := w.Ends[end].Send(w.Now, payload, quiet)
	if err == nil {
		w.check(w.Judge.Sent(end, w.time(end), n, payload, quiet))
	}
	w.Flight[1-end] = append(w.Flight[1-end], datagrams...)
	w.after(end)
}

// Arrive lets a datagram in flight to an end arrive, and takes it out of the network unless
// it is kept.
func (w *World) Arrive(end, i int, keep bool) error {
	d := w.Flight[end][i]
	if !keep {
		w.Drop(end, i)
	}
	return w.Receive(end, d)
}

// Receive lets any datagram arrive at an end.
func (w *World) Receive(end int, datagram []byte) error {
	err := w.Ends[end].Receive(w.Now, datagram, func(d protocol.Delivery) protocol.Verdict {
		if w.verdict[end] != protocol.Refuse {
			w.check(w.Judge.Taken(end, d))
		}
		return w.verdict[end]
	})
	w.after(end)
	return err
}

// Drop loses a datagram in flight to an end.
func (w *World) Drop(end, i int) { w.Flight[end] = slices.Delete(w.Flight[end], i, i+1) }

// Poll polls an end until nothing is due. It returns how many packets went out.
func (w *World) Poll(end int) (packets int) {
	for {
		n := w.Judge.ends[end].next
		datagram, ok := w.Ends[end].Poll(w.Now)
		if ok {
			w.check(w.Judge.Sent(end, w.time(end), n, []byte{0}, true))
			w.Flight[1-end] = append(w.Flight[1-end], datagram)
		}
		w.after(end)
		w.check(w.Judge.Polled(end, w.time(end)))
		if !ok {
			return packets
		}
		if packets++; packets > 1 {
			w.fail("PKT-BND-1: end %d sends %d ack-only packets at once", end, packets)
			return packets
		}
	}
}

// Wait lets time pass, and polls each end at its deadlines.
func (w *World) Wait(d core.Micros) {
	until := w.Now + d
	for range 100_000 {
		next := min(w.Ends[0].Deadline(), w.Ends[1].Deadline())
		if next > until {
			w.Now = until
			return
		}
		w.Now = max(w.Now, next)
		for end, e := range w.Ends {
			if e.Deadline() <= w.Now {
				w.Poll(end)
			}
			if e.Deadline() <= w.Now {
				w.fail("end %d is due again at once", end)
				return
			}
		}
	}
	w.fail("the ends never rest")
}

// time is what an end takes the time for: Now may go back.
func (w *World) time(end int) core.Micros {
	w.clock[end] = max(w.clock[end], w.Now)
	return w.clock[end]
}

func (w *World) after(end int) {
	now := w.time(end)
	for _, event := range w.Ends[end].Events() {
		w.check(w.Judge.Event(end, now, event))
	}
	w.check(w.Judge.Holds(end, w.cfg, w.Ends[end].Endpoint.Stats()))
}
