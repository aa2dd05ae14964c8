package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Network is a conversation of two endpoints, a and b, with a network between them.
type Network struct {
	Config    contract.EndpointConfig // of both
	Sends     [2][]Sending
	DelayUS   int64
	JitterUS  int64   // the most that comes to the delay, by chance
	Lose      [2]Loss // of the datagrams that an end sends
	Duplicate [2]Loss // those that come twice
	Seed      uint32  // of the jitter
	EndUS     int64
	wanted    []wanted
}

// Sending is packets that an end sends.
type Sending struct {
	From, Every int64
	Count       int
	Sizes       []int // one after the other
}

// wanted is how often something must happen at an end.
type wanted struct {
	text      string
	end       int
	what      string
	low, high int
}

// ParseNetwork reads the lines of a conversation.
func ParseNetwork(lines []string) (*Network, error) {
	with, lines := settings(lines)
	n := &Network{Config: endpointDefaults, Seed: 1}
	var w words
	w.endpointConfig(&n.Config, with)
	for _, text := range lines {
		if n.set(&w, text, strings.Fields(text)); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	if w.err == nil && (n.EndUS == 0 || n.DelayUS == 0 || len(n.wanted) == 0) {
		w.bad("end, delay or expectation", "")
	}
	return n, w.err
}

func (n *Network) set(w *words, text string, fields []string) {
	switch args := fields[1:]; {
	case fields[0] == "delay" && len(args) == 1:
		n.DelayUS = w.time(args[0])
	case fields[0] == "jitter" && len(args) == 3:
		n.JitterUS, n.Seed = w.time(args[0]), uint32(w.number(args[2]))
	case fields[0] == "end" && len(args) == 1:
		n.EndUS = w.time(args[0])
	case fields[0] == "send" && len(args) == 3: // send a FROM/STEP/COUNT SIZES
		end := w.end(args[0])
		part := strings.Split(args[1], "/")
		if len(part) != 3 {
			w.bad("times", args[1])
			return
		}
		n.Sends[end] = append(n.Sends[end], Sending{w.time(part[0]), w.time(part[1]), w.number(part[2]), w.ids(args[2])})
	case fields[0] == "lose" && len(args) > 1:
		n.Lose[w.end(args[0])] = w.loss(args[1:])
	case fields[0] == "duplicate" && len(args) > 1:
		n.Duplicate[w.end(args[0])] = w.loss(args[1:])
	case fields[0] == ":" && len(args) == 3: // : a WHAT LOW-HIGH
		counts := w.ids(args[2])
		n.wanted = append(n.wanted, wanted{text, w.end(args[0]), args[1], counts[0], counts[len(counts)-1]})
	default:
		w.bad("line of a conversation", text)
	}
}

func (w *words) end(name string) int {
	end := slices.Index([]string{"a", "b"}, name)
	if end < 0 {
		w.bad("end", name)
		return 0
	}
	return end
}

// Jitter returns a function that returns how much longer a datagram takes. It is called
// once for each, in order; the random numbers are those of ACC-1.
func (n *Network) Jitter() func() int64 {
	x := n.Seed
	return func() int64 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		return int64(x) % (n.JitterUS + 1)
	}
}

// Check compares what happened at an end with what is wanted: counts of sent, delivered,
// acked, lost, refused, of datagrams, or of a row.
func (n *Network) Check(end int, steps []contract.EndpointStep, rows [][]string, events []contract.EndpointEvent) error {
	got := map[string]int{}
	for i, s := range steps {
		got["acked"] += len(s.Acked)
		got["lost"] += len(s.Lost)
		got["datagrams"] += len(s.Datagrams)
		if s.Delivered != nil {
			got["delivered"]++
		}
		if s.Refused != nil {
			got["refused"]++
		}
		if events[i].Event == contract.EventPoll && len(s.Datagrams) > 0 {
			got["answers"]++
		}
		for _, row := range rows[i] {
			got[row]++
		}
	}
	for _, want := range n.wanted {
		if c := got[want.what]; want.end == end && (c < want.low || c > want.high) {
			return fmt.Errorf("%q: got %d", want.text, c)
		}
	}
	return nil
}
