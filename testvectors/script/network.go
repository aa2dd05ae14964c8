package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
)

// Network is a conversation of two endpoints, a and b, with a network between them.
type Network struct {
	Config packets.EndpointConfig // of both
	Sends  [2][]Sending
	Carriage
}

// Carriage is what a network does between two ends, and what must come of it.
type Carriage struct {
	DelayUS   int64
	JitterUS  int64   // the most that comes to the delay, by chance
	Lose      [2]Loss // of what an end sends
	Duplicate [2]Loss // what comes twice
	Seed      uint32  // of the jitter
	EndUS     int64
	names     [2]string // of the ends
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
	config, lines, err := packets.Endpoint.Settings(lines)
	if err != nil {
		return nil, err
	}
	n := &Network{Config: config.(packets.EndpointConfig), Carriage: Carriage{Seed: 1, names: [2]string{"a", "b"}}}
	var w words
	for _, text := range lines {
		if n.set(&w, text, strings.Fields(text)); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	n.complete(&w)
	return n, w.err
}

// complete fails if something is missing that every conversation has.
func (c *Carriage) complete(w *words) {
	if w.err == nil && (c.EndUS == 0 || c.DelayUS == 0 || len(c.wanted) == 0) {
		w.bad("end, delay or expectation", "")
	}
}

func (n *Network) set(w *words, text string, fields []string) {
	if args := fields[1:]; fields[0] == "send" && len(args) == 3 { // send a FROM/STEP/COUNT SIZES
		end := n.end(w, args[0])
		n.Sends[end] = append(n.Sends[end], w.sending(args[1], args[2]))
		return
	}
	n.Carriage.set(w, text, fields)
}

// sending reads FROM/STEP/COUNT and sizes.
func (w *words) sending(times, sizes string) Sending {
	part := strings.Split(times, "/")
	if len(part) != 3 {
		w.bad("times", times)
		return Sending{}
	}
	return Sending{w.time(part[0]), w.time(part[1]), w.number(part[2]), w.ids(sizes)}
}

func (c *Carriage) set(w *words, text string, fields []string) {
	switch args := fields[1:]; {
	case fields[0] == "delay" && len(args) == 1:
		c.DelayUS = w.time(args[0])
	case fields[0] == "jitter" && len(args) == 3:
		c.JitterUS, c.Seed = w.time(args[0]), uint32(w.number(args[2]))
	case fields[0] == "end" && len(args) == 1:
		c.EndUS = w.time(args[0])
	case fields[0] == "lose" && len(args) > 1:
		c.Lose[c.end(w, args[0])] = w.loss(args[1:])
	case fields[0] == "duplicate" && len(args) > 1:
		c.Duplicate[c.end(w, args[0])] = w.loss(args[1:])
	case fields[0] == ":" && len(args) == 3: // : a WHAT LOW-HIGH
		counts := w.ids(args[2])
		c.wanted = append(c.wanted, wanted{text, c.end(w, args[0]), args[1], counts[0], counts[len(counts)-1]})
	default:
		w.bad("line of a conversation", text)
	}
}

func (c *Carriage) end(w *words, name string) int {
	end := slices.Index(c.names[:], name)
	if end < 0 {
		w.bad("end", name)
		return 0
	}
	return end
}

// Jitter returns a function that returns how much longer something takes. It is called
// once for each, in order; the random numbers are those of ACC-1.
func (c *Carriage) Jitter() func() int64 {
	x := c.Seed
	return func() int64 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		return int64(x) % (c.JitterUS + 1)
	}
}

// Check compares what happened at an end with what is wanted: counts of sent, delivered,
// acked, lost, refused, of datagrams, or of a row.
func (n *Network) Check(end int, steps []conform.Step, rows [][]string, events []conform.Timed) error {
	got := map[string]int{}
	for i, step := range steps {
		s := step.(packets.EndpointStep)
		got["acked"] += len(s.Acked)
		got["lost"] += len(s.Lost)
		got["datagrams"] += len(s.Datagrams)
		if s.Delivered.Is {
			got["delivered"]++
		}
		if s.Refused.Is {
			got["refused"]++
		}
		if _, poll := events[i].Event.(packets.Poll); poll && len(s.Datagrams) > 0 {
			got["answers"]++
		}
		for _, row := range rows[i] {
			got[row]++
		}
	}
	return n.count(end, got)
}

// count compares how often something happened at an end with what is wanted.
func (c *Carriage) count(end int, got map[string]int) error {
	for _, want := range c.wanted {
		if times := got[want.what]; want.end == end && (times < want.low || times > want.high) {
			return fmt.Errorf("%q: got %d", want.text, times)
		}
	}
	return nil
}
