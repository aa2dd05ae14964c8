package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// RepairSimulation is a conversation of the machines with repair slices. Beside what a
// Simulation has, its network carries slices one after the other and may reorder them.
type RepairSimulation struct {
	Simulation
	Config    contract.RepairSenderConfig
	CarryUS   int64 // what the network takes for a slice, 0 for nothing
	Late      Loss  // slices that come later than others
	LateUS    int64
	Duplicate Loss
}

// ParseRepairSimulation reads the lines of a simulated conversation.
func ParseRepairSimulation(lines []string) (*RepairSimulation, error) {
	with, lines := settings(lines)
	var w words
	s := &RepairSimulation{Config: w.repairConfig(with)}
	if w.err != nil {
		return nil, w.err
	}
	for _, text := range lines {
		if s.set(&w, strings.Fields(text)); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	if s.Config.Profile == nil || len(s.Chunks) == 0 || s.DelayUS < 1 || len(s.milestones) == 0 {
		return nil, errors.New("no profile, chunks, delay or milestones")
	}
	return s, nil
}

func (s *RepairSimulation) set(w *words, fields []string) {
	switch args := fields[1:]; {
	case fields[0] == "carry" && len(args) == 1:
		s.CarryUS = w.time(args[0])
	case fields[0] == "late" && len(args) > 2 && args[0] == "by":
		s.LateUS, s.Late = w.time(args[1]), w.loss(args[2:])
	case fields[0] == "duplicate" && len(args) > 1 && args[0] == "slices":
		s.Duplicate = w.loss(args[1:])
	default:
		s.Simulation.set(w, fields)
	}
}
