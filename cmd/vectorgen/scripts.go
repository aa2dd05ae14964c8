package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// scriptKinds add the vectors of a script, by the kind of its group.
var scriptKinds = map[string]func(*group, script.Script) error{
	"sender": (*group).sender, "receiver": (*group).receiver, "conversation": (*group).conversation,
	"endpoint": machine(packets.Endpoint), "congestion": machine(packets.Congestion),
	"channel-receiver": machine(channels.Receiver), "channel-sender": machine(channels.Sender),
	"repair-receiver": (*group).repairReceiver, "repair-sender": (*group).repairSender,
	"session-client": machine(sessions.Client), "session-server": machine(sessions.Server), "connection-endpoint": machine(connections.Op),
}

// scripts adds the vectors of the scripts of a group.
func (g *group) scripts(add func(*group, script.Script) error) error {
	archive, err := testvectors.Traces.ReadFile("traces/" + g.file.Group + ".txtar")
	if err != nil {
		return err
	}
	list, err := script.Read(archive)
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range list {
		if s.Level == "" {
			s.Level = g.level
		}
		if err := add(g, s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// sender adds a trace of a sender.
func (g *group) sender(s script.Script) error {
	t, err := script.ParseTrace(s.Lines)
	if err != nil {
		return err
	}
	return g.senderTrace(s, "", t.Config, t.Events, t.Check)
}

// receiver adds a trace of a receiver.
func (g *group) receiver(s script.Script) error {
	t, err := script.ParseTrace(s.Lines)
	if err != nil {
		return err
	}
	return g.receiverTrace(s, "", t.Receiver(), t.Events, t.Check)
}

// conversation adds a trace each of a sender and a receiver.
func (g *group) conversation(s script.Script) error {
	if s.IsSimulation() {
		return g.simulation(s)
	}
	sender, receiver, err := script.ParseConversation(s.Lines)
	if err != nil {
		return err
	}
	return errors.Join(
		g.senderTrace(s, "-sender", sender.Config, sender.Events, sender.Check),
		g.receiverTrace(s, "-receiver", receiver.Receiver(), receiver.Events, receiver.Check),
	)
}

// senderTrace runs a sender beside its model, and checks by the script what it does.
func (g *group) senderTrace(s script.Script, suffix string, cfg contract.SenderConfig, events []contract.Event, check func([]contract.Step) error) error {
	if levelOf(cfg) != s.Level {
		return fmt.Errorf("a trace with this scheduler is not %s (TRC-5)", s.Level)
	}
	steps, err := trace.CheckSender(cfg, events)
	if err == nil {
		err = check(steps)
	}
	if err != nil {
		return err
	}
	g.addScript(s, suffix, begin(s.Sentences, "RCV- ACQ- AKT- R"), asJSON(contract.SenderRequest{Op: contract.OpSender, Config: cfg, Events: events}), traceResponse(steps))
	return nil
}

// levelOf is the level of a sender's traces, by its scheduler (TRC-5, RVO-5).
func levelOf(cfg contract.SenderConfig) testvectors.Level {
	switch {
	case cfg.Recovery != nil:
		return testvectors.Optional
	case cfg.Profile != nil:
		return testvectors.Recommended
	}
	return testvectors.Required
}

// receiverTrace is senderTrace for a receiver.
func (g *group) receiverTrace(s script.Script, suffix string, cfg contract.ReceiverConfig, events []contract.Event, check func([]contract.Step) error) error {
	steps, err := trace.CheckReceiver(cfg, events)
	if err == nil {
		err = check(steps)
	}
	if err != nil {
		return err
	}
	if s.Level == testvectors.Required && pollsEarly(events, steps) {
		return errors.New("polls before ACQ-1 and ACQ-3 say what comes (TRC-5)")
	}
	g.addScript(s, suffix, begin(s.Sentences, "SND- SCH- RTT- GAP- TMR- BUD- SPC- S"), asJSON(contract.ReceiverRequest{Op: contract.OpReceiver, Config: cfg, Events: events}), traceResponse(steps))
	return nil
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
func pollsEarly(events []contract.Event, steps []contract.Step) bool {
	due := map[string]int64{} // since when
	doneAt, now := int64(-1), int64(0)
	for i, s := range steps {
		now = max(now, events[i].At)
		if events[i].Event == "poll" {
			for _, since := range due {
				if now-since < 100_000 && doneAt != now {
					return true
				}
			}
			clear(due)
		}
		switch s.Row {
		case "R2", "R9":
			delete(due, "hold")
		case "R1", "R6", "R10":
			doneAt = now
			due = map[string]int64{}
		}
		if ack, ok := ackOf[s.Row]; ok {
			if _, waits := due[ack]; !waits {
				due[ack] = now
			}
		}
	}
	return false
}

func traceResponse(steps []contract.Step) json.RawMessage {
	return asJSON(contract.TraceResponse{Answer: contract.Answer{OK: true}, Steps: steps})
}

// addScript adds a vector of a script. others are ids of sentences and rows that are
// about the other machine: a conversation names those of both.
func (g *group) addScript(s script.Script, suffix string, others []string, q, a json.RawMessage) {
	g.addVector(testvectors.Vector{
		Name: s.Name + suffix, Comment: s.Comment, Flags: s.Flags, Level: s.Level,
		Sentences: slices.DeleteFunc(slices.Clone(s.Sentences), func(id string) bool { return slices.Contains(others, id) }),
		Request:   q, Response: a,
	})
}

// begin returns the ids that begin with one of the prefixes. A prefix without a dash is
// that of rows.
func begin(ids []string, prefixes string) (list []string) {
	for _, id := range ids {
		for prefix := range strings.FieldsSeq(prefixes) {
			if strings.HasSuffix(prefix, "-") && strings.HasPrefix(id, prefix) || regexp.MustCompile("^"+prefix+`\d+$`).MatchString(id) {
				list = append(list, id)
			}
		}
	}
	return list
}
