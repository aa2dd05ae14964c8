package main

import (
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// repairReceiver adds a trace of a receiver with repair slices.
func (g *group) repairReceiver(s script.Script) error {
	t, err := script.ParseRepair(s.Lines)
	if err != nil {
		return err
	}
	a := repairReceiverResponse(t.Receiver(), t.Events)
	if err := errors.Join(t.Check(a.Steps), namesRows(s.Sentences, slices.Concat(rowsOfRepair(a)...))); err != nil {
		return err
	}
	g.addScript(s, "", nil, asJSON(contract.RepairReceiverRequest{Op: contract.OpRepairReceiver, Config: t.Receiver(), Events: t.Events}), asJSON(a))
	return nil
}

// repairSender adds a trace of a sender with repair slices.
func (g *group) repairSender(s script.Script) error {
	t, err := script.ParseRepair(s.Lines)
	if err != nil {
		return err
	}
	a := repairSenderResponse(t.Config, t.Events)
	if err := errors.Join(t.Check(a.Steps), namesRows(s.Sentences, slices.Concat(rowsOfRepair(a)...))); err != nil {
		return err
	}
	g.addScript(s, "", nil, asJSON(contract.RepairSenderRequest{Op: contract.OpRepairSender, Config: t.Config, Events: t.Events}), asJSON(a))
	return nil
}

// sendingRows are the rows that a packet that goes out took, by the row that ended its poll.
var sendingRows = map[string]string{"T14": "T13", "U21": "U20", "U23": "U22", "U26": "U25"}

// rowsOfRepair returns the rows that each event took.
func rowsOfRepair(a contract.RepairTraceResponse) [][]string {
	rows := make([][]string, len(a.Steps))
	for i, s := range a.Steps {
		rows[i] = []string{s.Row}
		if len(s.Packets) > 0 {
			rows[i] = append(rows[i], sendingRows[s.Row])
		}
	}
	return rows
}
