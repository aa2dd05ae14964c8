package main

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// The files of traces.

func senderTraces() testvectors.File {
	return traceFile(senderVector, testvectors.Required, "sender",
		"The sender's table, with a scripted scheduler (sections 7 and B).",
		senderStart, senderSizes(), senderForeign(), senderAcks, senderHolds, senderUnsent, senderCompletion, senderIDs,
		senderGiveUp, senderFailed, senderClock, senderSending)
}

func senderPaceTraces() testvectors.File {
	return traceFile(senderVector, testvectors.Recommended, "sender-pace",
		"When the base algorithm lets a slice go, and which (sections 9.2, 9.5 and 9.6).",
		paceSpacing, paceBudget, paceBurst, paceAcksPay, paceCursor, paceProfiles)
}

func senderLossTraces() testvectors.File {
	return traceFile(senderVector, testvectors.Recommended, "sender-loss",
		"How the base algorithm measures the round trip and finds lost slices (sections 9.3 and 9.4).",
		lossGaps, lossSamples, lossSmoothing, lossResent, lossBounds, lossTimer, lossProbes)
}

func receiverTraces() testvectors.File {
	return traceFile(receiverVector, testvectors.Required, "receiver",
		"The receiver's table (section 8, without 8.5). It is polled only when every ack that is due has been so for 100 ms, or is one of a chunk completed at that very time; deadline_us is not compared (TRC-5).",
		receiverStart, receiverSizes(), receiverDuplicates, receiverPrevious, receiverStrays, receiverHolds, receiverConflicts,
		receiverRepins, receiverGiveUp, receiverFailed, receiverIDs, receiverDelivery, receiverAcks, receiverClock)
}

func receiverTimingTraces() testvectors.File {
	return traceFile(receiverVector, testvectors.Recommended, "receiver-timing",
		"When acks go out (section 8.5), and the receiver's deadline.",
		timingSoon, timingCount, timingGaps, timingShared, timingDeadline)
}

func traceFile(vector func(trace, testvectors.Level) testvectors.Vector, level testvectors.Level, group, description string, traces ...[]trace) testvectors.File {
	file := newTraceFile(group, description)
	for _, list := range traces {
		for _, t := range list {
			t.name = group + "/" + t.name
			addTrace(&file, vector(t, level))
		}
	}
	return file
}

func newTraceFile(group, description string) testvectors.File {
	return testvectors.File{
		Format: testvectors.FormatVersion, Group: group, License: testvectors.License, Flags: map[string]testvectors.Flag{},
		Description: description + " Each comment tells a wrong implementation that the vector kills.",
	}
}

func addTrace(file *testvectors.File, v testvectors.Vector) {
	for _, key := range v.Flags {
		flag, ok := traceFlags[key]
		if !ok {
			badTrace("%s: no flag %q", v.Name, key)
		}
		file.Flags[key] = flag
	}
	file.Vectors = append(file.Vectors, v)
}

// senderVector runs a sender through a trace. It panics if that does not what
// the script says.
func senderVector(t trace, level testvectors.Level) testvectors.Vector {
	with, lines := parseScript(t.script)
	cfg := testvectors.SenderConfig{FirstChunkID: firstID(with), GiveUpUS: giveUp(with), Profile: traceProfile(with["profile"])}
	if (cfg.Profile == nil) != (level == testvectors.Required) {
		badTrace("%s: a trace with this scheduler is not %s (TRC-5)", t.name, level)
	}
	events := allEvents(lines)
	steps, err := testvectors.RunSender(cfg, events)
	if err != nil {
		badTrace("%s: %v", t.name, err)
	}
	model := newSenderModel(cfg)
	checkSteps(t, lines, events, steps, model.step)
	return t.vector(level, "sender", cfg, events, steps)
}

// receiverVector is the same for a receiver.
func receiverVector(t trace, level testvectors.Level) testvectors.Vector {
	with, lines := parseScript(t.script)
	cfg := testvectors.ReceiverConfig{FirstChunkID: firstID(with), GiveUpUS: giveUp(with)}
	events := allEvents(lines)
	steps, err := testvectors.RunReceiver(cfg, events)
	if err != nil {
		badTrace("%s: %v", t.name, err)
	}
	model := newReceiverModel(cfg)
	checkSteps(t, lines, events, steps, model.step)
	if model.polledEarly && level == testvectors.Required {
		badTrace("%s: polls before ACQ-1 and ACQ-3 tell what comes (TRC-5)", t.name)
	}
	return t.vector(level, "receiver", cfg, events, steps)
}

func allEvents(lines []scriptLine) (events []testvectors.Event) {
	for i := range lines {
		events = append(events, lines[i].events()...)
	}
	return events
}

// checkSteps compares a trace's steps with its script, and with what a model
// makes of the rows.
func checkSteps(t trace, lines []scriptLine, events []testvectors.Event, steps []testvectors.Step, model func(testvectors.Event, testvectors.Step) error) {
	n := 0
	for i := range lines {
		l := &lines[i]
		ofLine := steps[n : n+len(l.times)]
		if err := checkLine(l, ofLine); err != nil {
			badTrace("%s: %q: got %v", t.name, l.text, err)
		}
		for k, s := range ofLine {
			if err := model(events[n+k], s); err != nil {
				badTrace("%s: %q: %v", t.name, l.text, err)
			}
		}
		n += len(ofLine)
	}
}

func firstID(with map[string]string) uint16 {
	if text, ok := with["first"]; ok {
		return uint16(number(text))
	}
	return 0
}

func giveUp(with map[string]string) int64 {
	if text, ok := with["give_up"]; ok {
		return parseTime(text)
	}
	return 10_000_000
}

// vector writes a trace as a request of the port contract and its response.
func (t *trace) vector(level testvectors.Level, op string, cfg any, events []testvectors.Event, steps []testvectors.Step) testvectors.Vector {
	if t.comment == "" || t.flags == "" || t.sentences == "" {
		badTrace("%s: without a comment, flags or sentences", t.name)
	}
	return testvectors.Vector{
		Name: t.name, Comment: t.comment, Flags: strings.Fields(t.flags), Sentences: ownSentences(op, strings.Fields(t.sentences)), Level: level,
		Request: jsonOf(struct {
			Op     string              `json:"op"`
			Config any                 `json:"config"`
			Events []testvectors.Event `json:"events"`
		}{op, cfg, events}),
		Response: jsonOf(struct {
			OK    bool               `json:"ok"`
			Steps []testvectors.Step `json:"steps"`
		}{true, steps}),
	}
}

// ownSentences leaves out the sentences and rows that are about the other machine:
// a conversation names those of both, and is one trace for each.
func ownSentences(op string, ids []string) (own []string) {
	others := regexp.MustCompile(`^(RCV-|ACQ-|AKT-|R\d)`)
	if op == "receiver" {
		others = regexp.MustCompile(`^(SND-|SCH-|RTT-|GAP-|TMR-|BUD-|SPC-|S\d)`)
	}
	for _, id := range ids {
		if !others.MatchString(id) {
			own = append(own, id)
		}
	}
	return own
}

func jsonOf(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot be: these are plain values
	}
	return b
}

// traceProfile returns a profile by its name, or from its figures in the order
// of section 9.6; nil if there is none.
func traceProfile(text string) *testvectors.Profile {
	if text == "" {
		return nil
	}
	if named, ok := namedProfiles[text]; ok {
		return &named
	}
	f := strings.Split(text, ",")
	if len(f) != 6 {
		badTrace("no profile: %q", text)
	}
	return &testvectors.Profile{
		Rate: int64(number(f[0])), Cap: int64(number(f[1])), Burst: int64(number(f[2])),
		AcksPay: f[3] == "pay", SpacingUS: int64(number(f[4])), ResendDelayUS: int64(number(f[5])),
	}
}

var namedProfiles = map[string]testvectors.Profile{
	"burst":   {Rate: 125_000, Cap: 272_896, Burst: 272_896, AcksPay: true, SpacingUS: 85},
	"fixed":   {Rate: 125_000, Cap: 17_056},
	"article": {Rate: 125_000, Cap: 17_056, ResendDelayUS: 100_000},
	"free":    {Cap: 17_056},                   // no limit of any kind
	"spaced":  {Cap: 17_056, SpacingUS: 1_000}, // no other limit
}
