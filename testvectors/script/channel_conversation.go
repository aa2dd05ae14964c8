package script

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// ChannelConversation is a sender and a receiver of a channel with a network between them.
type ChannelConversation struct {
	Sender   contract.ChannelSenderConfig
	Receiver contract.ChannelReceiverConfig
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
	Lifetime *int64
}

// ChannelPath is what both ends are told of the path at a time.
type ChannelPath struct {
	At       int64
	SRTT     contract.Null
	Patience int64
}

// The ends of a conversation.
const (
	SenderEnd = iota
	ReceiverEnd
)

// ParseChannelConversation reads the lines of a conversation.
func ParseChannelConversation(lines []string) (*ChannelConversation, error) {
	with, lines := settings(lines)
	var w words
	c := &ChannelConversation{TickUS: 10_000, Space: largestPayload, Carriage: Carriage{Seed: 1, names: [2]string{"sender", "receiver"}}}
	c.Sender = contract.ChannelSenderConfig{ChannelFormat: smallFormat, SendQueue: 4096, GiveUp: 10_000_000}
	c.Receiver.Kind = contract.KindOrdered
	for key, value := range with {
		if key == "kind" {
			c.Receiver.Kind = value
		} else {
			w.senderConfig(&c.Sender, key, value)
		}
	}
	c.Receiver.ChannelFormat, c.Receiver.First, c.Receiver.GiveUp = c.Sender.ChannelFormat, c.Sender.First, c.Sender.GiveUp
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
			life := w.time(strings.TrimPrefix(args[2], "life="))
			s.Lifetime = &life
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
		p.SRTT, p.Patience = w.path(args[1:])
		c.Paths = append(c.Paths, p)
	default:
		c.Carriage.set(w, text, fields)
	}
}

// CheckSender compares the steps of the sender with what is wanted: counts of records,
// released, refused, or of a row.
func (c *ChannelConversation) CheckSender(steps []contract.ChannelSenderStep) error {
	got := map[string]int{}
	for _, s := range steps {
		got["records"] += len(s.Records)
		got["released"] = int(s.Base - c.Sender.First)
		if s.Refused != nil {
			got["refused"]++
		}
		for _, row := range s.Rows {
			got[row]++
		}
	}
	return c.count(SenderEnd, got)
}

// CheckReceiver does so with delivered, skipped, reports, or a row of the receiver.
func (c *ChannelConversation) CheckReceiver(steps []contract.ChannelReceiverStep) error {
	got := map[string]int{}
	for _, s := range steps {
		switch {
		case s.Read != nil && s.Read.Skipped:
			got["skipped"]++
		case s.Read != nil:
			got["delivered"]++
		}
		if s.Report != nil {
			got["reports"]++
		}
		if s.Row != nil {
			got[*s.Row]++
		}
	}
	return c.count(ReceiverEnd, got)
}
