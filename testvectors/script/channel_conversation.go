package script

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
)

// ChannelConversation is a sender and a receiver of a channel with a network between them.
type ChannelConversation struct {
	Sender   channels.SenderConfig
	Receiver channels.ReceiverConfig
	Sends    []ChannelSending
	Paths    []ChannelPath
	Reads    []int64 // when the application reads all that is ready; none: at each tick
	TickUS   int64   // when what is due goes out
	Space    int64   // of each packet of the sender
	Carriage
}

// ChannelSending is messages that are sent.
type ChannelSending struct {
	Sending
	Lifetime conform.Opt[int64]
}

// ChannelPath is what both ends are told of the path at a time.
type ChannelPath struct {
	At       int64
	SRTT     conform.Opt[int64]
	Patience int64
}

// The ends of a conversation.
const (
	SenderEnd = iota
	ReceiverEnd
)

// ParseChannelConversation reads the lines of a conversation.
func ParseChannelConversation(lines []string) (*ChannelConversation, error) {
	var w words
	kind := channels.Receiver.Config.(channels.ReceiverConfig).Kind
	with, rest := settings(lines)
	if value, is := with["kind"]; is {
		kind = value
		lines = append([]string{withSettings(with, "kind")}, rest...)
	}
	sender, lines, err := channels.Sender.Settings(lines)
	if err != nil {
		return nil, err
	}
	c := &ChannelConversation{TickUS: 10_000, Space: largestPayload, Carriage: Carriage{Seed: 1, names: [2]string{"sender", "receiver"}}}
	c.Sender = sender.(channels.SenderConfig)
	c.Receiver = channels.ReceiverConfig{Kind: kind, Format: c.Sender.Format, First: c.Sender.First, GiveUp: c.Sender.GiveUp}
	for _, text := range lines {
		if c.set(&w, text, strings.Fields(text)); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	c.complete(&w)
	return c, w.err
}

func (c *ChannelConversation) set(w *words, text string, fields []string) {
	switch args := fields[1:]; {
	case fields[0] == "send" && len(args) > 1: // send FROM/STEP/COUNT SIZES [life=TIME]
		s := ChannelSending{Sending: w.sending(args[0], args[1])}
		if len(args) > 2 {
			s.Lifetime = conform.Some(w.time(strings.TrimPrefix(args[2], "life=")))
		}
		c.Sends = append(c.Sends, s)
	case fields[0] == "read" && len(args) == 1:
		c.Reads = append(c.Reads, w.times(args[0])...)
	case fields[0] == "tick" && len(args) == 1:
		c.TickUS = w.time(args[0])
	case fields[0] == "space" && len(args) == 1:
		c.Space = w.time(args[0])
	case fields[0] == "path" && len(args) > 1: // path TIME SRTT [PATIENCE]
		p := ChannelPath{At: w.time(args[0])}
		if args[1] != "none" {
			p.SRTT = conform.Some(w.time(args[1]))
		}
		if len(args) > 2 {
			p.Patience = w.time(args[2])
		}
		c.Paths = append(c.Paths, p)
	default:
		c.Carriage.set(w, text, fields)
	}
}

// CheckSender compares the steps of the sender with what is wanted: counts of records,
// released, refused, or of a row.
func (c *ChannelConversation) CheckSender(steps []conform.Step) error {
	got := map[string]int{}
	for _, step := range steps {
		s := step.(channels.SenderStep)
		got["records"] += len(s.Records)
		got["released"] = int(s.Base - c.Sender.First)
		if s.Refused.Is {
			got["refused"]++
		}
		for _, row := range s.Rows {
			got[row]++
		}
	}
	return c.count(SenderEnd, got)
}

// CheckReceiver does so with delivered, skipped, reports, or a row of the receiver.
func (c *ChannelConversation) CheckReceiver(steps []conform.Step) error {
	got := map[string]int{}
	for _, step := range steps {
		s := step.(channels.ReceiverStep)
		switch {
		case s.Read.V.Skipped:
			got["skipped"]++
		case s.Read.Is:
			got["delivered"]++
		}
		if s.Report.Is {
			got["reports"]++
		}
		got[s.Row.V]++
	}
	return c.count(ReceiverEnd, got)
}

// largestPayload is the space of a packet that does not say another one.
const largestPayload = 1160

// withSettings writes settings without one of them.
func withSettings(with map[string]string, without string) string {
	text := "with "
	for key, value := range with {
		if key != without {
			text += key + "=" + value + " "
		}
	}
	return text
}
