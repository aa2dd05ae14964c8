package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Simulation is a conversation of the machines themselves, with a network between
// them that keeps every packet for the same time or loses it. What must come of it
// is stated by milestones.
type Simulation struct {
	Config     contract.SenderConfig
	Chunks     []int // sizes; each is submitted when the one before is acked
	DelayUS    int64 // each way
	ReadUS     int64 // how long a complete chunk waits for its reader
	LoseSlices Loss
	LoseAcks   Loss
	milestones []string // "TIME WHAT CHUNK", "<TIME WHAT CHUNK" or "FROM-TO slices"
}

// Loss is which packets of a direction are lost. The zero value is none.
type Loss struct {
	From, To        int   // numbers, from 1 on, both included
	FromUS, UntilUS int64 // when they are sent
	Percent, Seed   uint32
}

// IsSimulation reports whether a script describes a network instead of events.
func (s *Script) IsSimulation() bool {
	return slices.ContainsFunc(s.Lines, func(line string) bool { return strings.HasPrefix(line, "chunks ") })
}

// ParseSimulation reads the lines of a simulated conversation.
func ParseSimulation(lines []string) (*Simulation, error) {
	with, lines := settings(lines)
	cfg, err := config(with)
	if err != nil {
		return nil, err
	}
	s := &Simulation{Config: cfg}
	for _, text := range lines {
		var w words
		if s.set(&w, strings.Fields(text)); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	if cfg.Profile == nil || len(s.Chunks) == 0 || s.DelayUS < 1 || len(s.milestones) == 0 {
		return nil, errors.New("no profile, chunks, delay or milestones")
	}
	return s, nil
}

func (s *Simulation) set(w *words, fields []string) {
	switch args := fields[1:]; {
	case fields[0] == ":" && len(args) > 1:
		w.milestone(args)
		s.milestones = append(s.milestones, strings.Join(args, " "))
	case fields[0] == "chunks":
		for _, size := range args {
			s.Chunks = append(s.Chunks, w.number(size))
		}
	case fields[0] == "delay" && len(args) == 1:
		s.DelayUS = w.time(args[0])
	case fields[0] == "read" && len(args) == 2 && args[0] == "after":
		s.ReadUS = w.time(args[1])
	case fields[0] == "lose" && len(args) > 1 && args[0] == "slices":
		s.LoseSlices = w.loss(args[1:])
	case fields[0] == "lose" && len(args) > 1 && args[0] == "acks":
		s.LoseAcks = w.loss(args[1:])
	default:
		w.bad("line of a simulation", strings.Join(fields, " "))
	}
}

// loss reads "4-20", "10% seed 1", "from 15ms" or "from 21ms until 400ms".
func (w *words) loss(fields []string) (l Loss) {
	percent, isPercent := strings.CutSuffix(fields[0], "%")
	switch {
	case fields[0] == "from" && len(fields) == 2:
		l.FromUS, l.UntilUS = w.time(fields[1]), math.MaxInt64
	case fields[0] == "from" && len(fields) == 4 && fields[2] == "until":
		l.FromUS, l.UntilUS = w.time(fields[1]), w.time(fields[3])
	case isPercent && len(fields) == 3 && fields[1] == "seed":
		l.Percent, l.Seed = uint32(w.number(percent)), uint32(w.number(fields[2]))
	case len(fields) == 1:
		ids := w.ids(fields[0])
		l.From, l.To = ids[0], ids[len(ids)-1]
	default:
		w.bad("loss", strings.Join(fields, " "))
	}
	return l
}

// Fate returns a function that returns whether a packet of a direction is lost, by its
// number from 1 on and the time at which it is sent. It is called once
// for each, in order; the random numbers are those of ACC-1.
func (l Loss) Fate() func(n int, at int64) bool {
	x := l.Seed
	return func(n int, at int64) bool {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		return l.From <= n && n <= l.To || l.FromUS <= at && at < l.UntilUS || x%100 < l.Percent
	}
}

// milestone checks the form of one.
func (w *words) milestone(fields []string) {
	switch {
	case len(fields) == 2 && fields[1] == "slices":
		w.ids(fields[0])
	case len(fields) == 3:
		w.time(strings.TrimPrefix(fields[0], "<"))
		w.number(fields[2])
	default:
		w.bad("milestone", strings.Join(fields, " "))
	}
}

// Check looks for each milestone in the log of a simulation, whose entries are
// "TIME WHAT CHUNK", and in the number of slices that were sent.
func (s *Simulation) Check(log []string, slicesSent int) error {
	for _, m := range s.milestones {
		if !slices.ContainsFunc(log, func(entry string) bool { return meets(entry, m) }) && !sentAsMany(slicesSent, m) {
			return fmt.Errorf("%q did not come: %d slices, %s", m, slicesSent, strings.Join(log, ", "))
		}
	}
	return nil
}

// meets reports whether an entry of the log is a milestone.
func meets(entry, milestone string) bool {
	at, what, _ := strings.Cut(entry, " ")
	limit, wanted, _ := strings.Cut(milestone, " ")
	var w words
	if before, ok := strings.CutPrefix(limit, "<"); ok {
		return what == wanted && w.time(at) < w.time(before)
	}
	return what == wanted && w.time(at) == w.time(limit)
}

// sentAsMany reports whether a milestone is the number of slices sent.
func sentAsMany(sent int, milestone string) bool {
	counts, ok := strings.CutSuffix(milestone, " slices")
	if !ok {
		return false
	}
	var w words
	return slices.Contains(w.ids(counts), sent)
}
