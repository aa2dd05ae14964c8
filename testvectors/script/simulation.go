package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
)

// Simulation is a conversation of the machines themselves, with a network between
// them that keeps every packet for the same time or loses it, and may carry slices one
// after the other. What must come of it is stated by milestones.
type Simulation struct {
	Op         *conform.Op // of the sender
	Config     any         // of the sender
	Chunks     []int       // sizes; each is submitted when the one before is acked
	PauseUS    int64       // and after this time
	DelayUS    int64       // each way
	Longer     []Change
	CarryUS    int64 // what the network takes for a slice, 0 for nothing
	Carries    []Change
	Queue      int     // how many slices may wait for it, 0 for any number
	Others     []int64 // when slices of others come, which wait as well
	PoliceUS   int64   // a slice each time is let through, 0 for all of them
	Depth      int64   // of the policer: how many of them at once
	PoliceEnd  int64   // when it goes, 0 for never
	ReadUS     int64   // how long a complete chunk waits for its reader
	UntilUS    []int64 // what happens to an end becomes a vector up to this time; none for all of it
	LoseSlices Loss
	LoseAcks   Loss
	Late       Loss // slices that come later than others
	LateUS     int64
	Duplicate  Loss               // slices that come twice
	Tell       [2][]conform.Timed // what the host of an end tells it
	milestones []string           // "TIME WHAT CHUNK", "<TIME WHAT CHUNK" or "FROM-TO slices"
}

// Change is another time, from a time on.
type Change struct{ AtUS, US int64 }

// At returns a time as it is at a time.
func At(now, us int64, changes []Change) int64 {
	for _, c := range changes {
		if now >= c.AtUS {
			us = c.US
		}
	}
	return us
}

// Loss is which packets of a direction are lost. The zero value is none.
type Loss struct {
	From, To        int   // numbers, from 1 on, both included
	FromUS, UntilUS int64 // when they are sent
	Percent, Seed   uint32
}

// ParseSimulation reads the lines of a simulated conversation of such a sender.
func ParseSimulation(op *conform.Op, lines []string) (*Simulation, error) {
	cfg, lines, err := op.Settings(lines)
	if err != nil {
		return nil, err
	}
	s := &Simulation{Op: op, Config: cfg}
	for _, text := range lines {
		var w conform.Words
		if set(s, &w, strings.Fields(text)); w.Err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.Err)
		}
	}
	if !hasProfile(cfg) || len(s.Chunks)+len(s.Tell[0]) == 0 || s.DelayUS < 1 || len(s.milestones) == 0 {
		return nil, errors.New("no profile, chunks, delay or milestones")
	}
	return s, nil
}

func hasProfile(config any) bool {
	switch c := config.(type) {
	case chunks.RepairSenderConfig:
		return c.Profile.Is
	case chunks.SenderConfig:
		return c.Profile.Is
	}
	return true // of a connection
}

func set(s *Simulation, w *conform.Words, fields []string) {
	switch args := fields[1:]; {
	case fields[0] == ":" && len(args) > 1:
		milestone(w, args)
		s.milestones = append(s.milestones, strings.Join(args, " "))
	case fields[0] == "lose" && len(args) > 1 && args[0] == "slices":
		s.LoseSlices = lossOf(w, args[1:])
	case fields[0] == "lose" && len(args) > 1 && args[0] == "acks":
		s.LoseAcks = lossOf(w, args[1:])
	case fields[0] == "late" && len(args) > 2 && args[0] == "by":
		s.LateUS, s.Late = w.Time(args[1]), lossOf(w, args[2:])
	case fields[0] == "duplicate" && len(args) > 1 && args[0] == "slices":
		s.Duplicate = lossOf(w, args[1:])
	case fields[0] == "chunks":
		for _, size := range args {
			s.Chunks = append(s.Chunks, sizes(w, size)...)
		}
	case fields[0] == "read" && len(args) == 2 && args[0] == "after":
		s.ReadUS = w.Time(args[1])
	case fields[0] == "until" && len(args) <= len(s.Tell):
		for _, at := range args {
			s.UntilUS = append(s.UntilUS, w.Time(at))
		}
	case fields[0] == "tell" && len(args) == 3, fields[0] == "client" && len(args) > 1:
		s.tell(w, 0, args)
	case fields[0] == "server" && len(args) > 1:
		s.tell(w, 1, args)
	default:
		setPath(s, w, fields)
	}
}

// tell reads what the host of an end tells it, and when.
func (s *Simulation) tell(w *conform.Words, end int, args []string) {
	for i, at := range w.Times(args[0]) {
		w.Nth, w.Position = i, i
		s.Tell[end] = append(s.Tell[end], conform.Timed{At: at, Event: s.Op.Event(w, s.Config, args[1:])})
	}
}

// setPath reads what carries slices.
func setPath(s *Simulation, w *conform.Words, fields []string) {
	switch args := fields[1:]; {
	case fields[0] == "delay" && len(args) == 1:
		s.DelayUS = w.Time(args[0])
	case fields[0] == "delay" && len(args) == 3 && args[1] == "from":
		s.Longer = append(s.Longer, Change{w.Time(args[2]), w.Time(args[0])})
	case fields[0] == "carry" && len(args) == 1:
		s.CarryUS = w.Time(args[0])
	case fields[0] == "carry" && len(args) == 3 && args[1] == "from":
		s.Carries = append(s.Carries, Change{w.Time(args[2]), w.Time(args[0])})
	case fields[0] == "queue" && len(args) == 1:
		s.Queue = int(w.Number(args[0]))
	case fields[0] == "police" && len(args) == 2:
		s.PoliceUS, s.Depth = w.Time(args[0]), w.Number(args[1])
	case fields[0] == "police" && len(args) == 4 && args[2] == "until":
		s.PoliceUS, s.Depth, s.PoliceEnd = w.Time(args[0]), w.Number(args[1]), w.Time(args[3])
	case fields[0] == "others" && len(args) == 1:
		s.Others = append(s.Others, w.Times(args[0])...)
	case fields[0] == "pause" && len(args) == 1:
		s.PauseUS = w.Time(args[0])
	default:
		w.Bad("line of a simulation", strings.Join(fields, " "))
	}
}

// sizes reads SIZE or SIZE*COUNT.
func sizes(w *conform.Words, text string) []int {
	size, times, many := strings.Cut(text, "*")
	if !many {
		times = "1"
	}
	return slices.Repeat([]int{w.Size(size)}, w.Size(times))
}

// loss reads "4-20", "10% seed 1", "from 15ms" or "from 21ms until 400ms".
func lossOf(w *conform.Words, fields []string) (l Loss) {
	percent, isPercent := strings.CutSuffix(fields[0], "%")
	switch {
	case fields[0] == "from" && len(fields) == 2:
		l.FromUS, l.UntilUS = w.Time(fields[1]), math.MaxInt64
	case fields[0] == "from" && len(fields) == 4 && fields[2] == "until":
		l.FromUS, l.UntilUS = w.Time(fields[1]), w.Time(fields[3])
	case isPercent && len(fields) == 3 && fields[1] == "seed":
		l.Percent, l.Seed = uint32(w.Number(percent)), uint32(w.Number(fields[2]))
	case len(fields) == 1:
		if list := w.List(fields[0]); w.Err == nil {
			l.From, l.To = int(list[0]), int(list[len(list)-1])
		}
	default:
		w.Bad("loss", strings.Join(fields, " "))
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
func milestone(w *conform.Words, fields []string) {
	switch {
	case len(fields) == 2 && fields[1] == "slices":
		w.List(fields[0])
	case len(fields) == 3:
		w.Time(strings.TrimPrefix(fields[0], "<"))
		w.Number(fields[2])
	default:
		w.Bad("milestone", strings.Join(fields, " "))
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
	var w conform.Words
	if before, ok := strings.CutPrefix(limit, "<"); ok {
		return what == wanted && w.Time(at) < w.Time(before)
	}
	return what == wanted && w.Time(at) == w.Time(limit)
}

// sentAsMany reports whether a milestone is the number of slices sent.
func sentAsMany(sent int, milestone string) bool {
	counts, ok := strings.CutSuffix(milestone, " slices")
	if !ok {
		return false
	}
	var w conform.Words
	return slices.Contains(w.List(counts), int64(sent))
}
