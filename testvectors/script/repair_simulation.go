package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// RepairSimulation is a conversation of the machines with repair slices. What it has of a
// network is delay, carry, loss, late and duplicate.
type RepairSimulation struct {
	Simulation
	Config contract.RepairSenderConfig
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
