package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// This file has the vectors of the machines of a chunk, of either kind of slices.

// sender adds a trace of a sender.
func (g *group) sender(s script.Script) error {
	t, err := script.ParseTrace(s.Lines)
	if err != nil {
		return err
	}
	return g.chunkScript(s, "", chunks.Sender, senderRequest(t), t.Check)
}

// receiver adds a trace of a receiver.
func (g *group) receiver(s script.Script) error {
	t, err := script.ParseTrace(s.Lines)
	if err != nil {
		return err
	}
	return g.chunkScript(s, "", chunks.Receiver, receiverRequest(t), t.Check)
}

// conversation adds a trace each of a sender and a receiver.
func (g *group) conversation(s script.Script) error {
	if s.IsSimulation() {
		spec, err := script.ParseSimulation(s.Lines)
		if err != nil {
			return err
		}
		return g.simulation(s, spec)
	}
	sender, receiver, err := script.ParseConversation(s.Lines)
	if err != nil {
		return err
	}
	return errors.Join(
		g.chunkScript(s, "-sender", chunks.Sender, senderRequest(sender), sender.Check),
		g.chunkScript(s, "-receiver", chunks.Receiver, receiverRequest(receiver), receiver.Check),
	)
}

func senderRequest(t *script.Trace) any {
	return contract.SenderRequest{Op: contract.OpSender, Config: t.Config, Events: t.Events}
}

func receiverRequest(t *script.Trace) any {
	return contract.ReceiverRequest{Op: contract.OpReceiver, Config: t.Receiver(), Events: t.Events}
}

// repairReceiver adds a trace of a receiver with repair slices.
func (g *group) repairReceiver(s script.Script) error {
	t, err := script.ParseRepair(s.Lines)
	if err != nil {
		return err
	}
	request := contract.RepairReceiverRequest{Op: contract.OpRepairReceiver, Config: t.Receiver(), Events: t.Events}
	return g.repairScript(s, chunks.RepairReceiver, request, t.Check)
}

// repairSender adds a trace of a sender with repair slices.
func (g *group) repairSender(s script.Script) error {
	t, err := script.ParseRepair(s.Lines)
	if err != nil {
		return err
	}
	return g.repairScript(s, chunks.RepairSender, contract.RepairSenderRequest{Op: contract.OpRepairSender, Config: t.Config, Events: t.Events}, t.Check)
}

// chunkScript runs a script of a machine with named slices, and checks what it does.
func (g *group) chunkScript(s script.Script, suffix string, op *conform.Op, request any, check func([]contract.Step) error) error {
	r, err := recorded(op, asJSON(request))
	if err != nil {
		return err
	}
	var a contract.TraceResponse
	if err := errors.Join(json.Unmarshal(conform.Response(r.Steps), &a), check(a.Steps)); err != nil {
		return err
	}
	return g.chunkTrace(s, suffix, r)
}

// repairScript is chunkScript with repair slices.
func (g *group) repairScript(s script.Script, op *conform.Op, request any, check func([]contract.RepairStep) error) error {
	r, err := recorded(op, asJSON(request))
	if err != nil {
		return err
	}
	var a contract.RepairTraceResponse
	if err := errors.Join(json.Unmarshal(conform.Response(r.Steps), &a), check(a.Steps), namesRows(s.Sentences, slices.Concat(r.Rows()...))); err != nil {
		return err
	}
	return g.chunkTrace(s, "", r)
}

// othersIDs are the prefixes of what is about the other machine.
var othersIDs = map[*conform.Op]string{
	chunks.Sender: "RCV- ACQ- AKT- R", chunks.Receiver: "SND- SCH- RTT- GAP- TMR- BUD- SPC- S",
	chunks.RepairSender: "RPR- RPK- U", chunks.RepairReceiver: "RPX- RPL- T",
}

// chunkTrace adds what happened to a machine.
func (g *group) chunkTrace(s script.Script, suffix string, r *conform.Recorded) error {
	switch c, isSender := r.Config.(chunks.SenderConfig); {
	case isSender && levelOf(c) != s.Level:
		return fmt.Errorf("a trace with this scheduler is not %s (TRC-5)", s.Level)
	case r.Op == chunks.Receiver && s.Level == testvectors.Required && pollsEarly(r):
		return errors.New("polls before ACQ-1 and ACQ-3 say what comes (TRC-5)")
	}
	var others []string
	if suffix != "" || r.Op == chunks.Sender || r.Op == chunks.Receiver {
		others = begin(s.Sentences, othersIDs[r.Op])
	}
	g.addScript(s, suffix, others, r.Request(), conform.Response(r.Steps))
	return nil
}

// levelOf is the level of a sender's traces, by its scheduler (TRC-5, RVO-5).
func levelOf(c chunks.SenderConfig) testvectors.Level {
	switch {
	case c.Profile.V.Recovery.Is:
		return testvectors.Optional
	case c.Profile.Is:
		return testvectors.Recommended
	}
	return testvectors.Required
}

// ackOf is for which ack a row makes one due: that of the current chunk, of the
// previous one, or a hold.
var ackOf = map[string]string{
	"R1": "previous", "R6": "previous", "R10": "previous", "R2": "current", "R5": "current", "R7": "current", "R9": "current",
	"R3": "previous", "R11": "previous", "R14": "previous", "R13": "hold",
}

// pollsEarly reports whether a receiver is polled while an ack is due that a receiver
// with another timing need not send yet: for less than 100 ms (ACQ-1), unless a chunk
// was completed at that very time (ACQ-3).
func pollsEarly(r *conform.Recorded) bool {
	due := map[string]int64{} // since when
	doneAt, now := int64(-1), int64(0)
	for i, step := range r.Steps {
		now = max(now, r.Events[i].At)
		if _, polls := r.Events[i].Event.(chunks.ReceiverPoll); polls {
			for _, since := range due {
				if now-since < 100_000 && doneAt != now {
					return true
				}
			}
			clear(due)
		}
		row := step.(chunks.Step).Row
		switch row {
		case "R2", "R9":
			delete(due, "hold")
		case "R1", "R6", "R10":
			doneAt = now
			due = map[string]int64{}
		}
		if ack, ok := ackOf[row]; ok {
			if _, waits := due[ack]; !waits {
				due[ack] = now
			}
		}
	}
	return false
}

// recorded takes the oracle through a trace that a port can read.
func recorded(op *conform.Op, request json.RawMessage) (*conform.Recorded, error) {
	list := op.Traces([]json.RawMessage{request})
	if len(list) == 0 {
		return nil, fmt.Errorf("no trace of %s: %s", op.Name, request)
	}
	r, err := op.Record(list[0].Config)
	if err == nil {
		_, err = conform.Run(r, list[0].Events)
	}
	return r, err
}
