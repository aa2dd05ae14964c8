package main

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// channelConversation adds a trace each of a sender and a receiver that talk over a
// network. They run the oracle.
func (g *group) channelConversation(s script.Script) error {
	c, err := script.ParseChannelConversation(s.Lines)
	if err != nil {
		return err
	}
	t := newTalk(c)
	t.run()
	sent, came := senderResponse(c.Sender, t.sending), receiverResponse(c.Receiver, t.receiving)
	rows := slices.Concat(rowsOfSender(sent), rowsOfReceiver(came))
	if err := errors.Join(c.CheckSender(sent.Steps), c.CheckReceiver(came.Steps), namesRows(s, rows), t.truth(came.Steps)); err != nil {
		return err
	}
	g.addScript(s, "-sender", begin(s.Sentences, "CHV- CHG- V"), asJSON(contract.ChannelSenderRequest{Op: contract.OpChannelSender, Config: c.Sender, Events: t.sending}), asJSON(sent))
	s.Level = testvectors.ChannelsReceiver
	g.addScript(s, "-receiver", begin(s.Sentences, "CHS- D"), asJSON(contract.ChannelReceiverRequest{Op: contract.OpChannelReceiver, Config: c.Receiver, Events: t.receiving}), asJSON(came))
	return nil
}

// talk is a sender and a receiver in virtual time.
type talk struct {
	*script.ChannelConversation
	sender    *channeloracle.Sender
	receiver  *channeloracle.Receiver
	sending   []contract.ChannelSenderEvent
	receiving []contract.ChannelReceiverEvent
	sent      map[int64][]byte // what was accepted, by its first sequence
	next      int64            // sequence
	packets   [2]int64         // numbers of each end
	newest    int64            // packet of the sender that has come
	arrived   bool             // something, since the application read
	lose      [2]func(int, int64) bool
	duplicate [2]func(int, int64) bool
	jitter    func() int64
	waiting   []happening
	made      int
}

// happening is what is to come. Of those at one time the first made comes first.
type happening struct {
	at    int64
	order int
	do    func(at int64)
}

func newTalk(c *script.ChannelConversation) *talk {
	t := &talk{
		ChannelConversation: c, sender: newChannelSender(c.Sender), receiver: newChannelReceiver(c.Receiver),
		sent: map[int64][]byte{}, next: c.Sender.First, newest: -1, jitter: c.Jitter(),
	}
	for end := range t.lose {
		t.lose[end], t.duplicate[end] = c.Lose[end].Fate(), c.Duplicate[end].Fate()
	}
	for _, p := range c.Paths {
		t.add(p.At, func(at int64) {
			t.toSender(contract.ChannelSenderEvent{At: at, Event: contract.EventPath, SRTT: p.SRTT, Patience: &p.Patience})
			t.toReceiver(contract.ChannelReceiverEvent{At: at, Event: contract.EventPath, SRTT: p.SRTT})
		})
	}
	number := 0
	for _, s := range c.Sends {
		for i := range s.Count {
			number++
			message := script.Content(number, s.Sizes[i%len(s.Sizes)])
			t.add(s.From+int64(i)*s.Every, func(at int64) { t.send(at, message, s.Lifetime) })
		}
	}
	for _, at := range c.Reads {
		t.add(at, t.read)
	}
	for at := int64(0); at <= c.EndUS; at += c.TickUS {
		t.add(at, t.tick)
	}
	return t
}

func (t *talk) add(at int64, do func(int64)) {
	t.made++
	t.waiting = append(t.waiting, happening{at, t.made, do})
}

// run lets everything happen until the end. A receiver is polled at its deadline.
func (t *talk) run() {
	for {
		first := slices.MinFunc(append(slices.Clone(t.waiting), t.reporting()), func(a, b happening) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
		})
		if first.at > t.EndUS {
			return
		}
		t.waiting = slices.DeleteFunc(t.waiting, func(h happening) bool { return h.order == first.order })
		first.do(first.at)
	}
}

// reporting is that the receiver is polled.
func (t *talk) reporting() happening {
	at, ok := t.receiver.Deadline()
	if !ok {
		at = t.EndUS + 1
	}
	return happening{at, t.made + 1, func(at int64) {
		step := t.toReceiver(contract.ChannelReceiverEvent{At: at, Event: contract.EventPoll, Space: pointerTo(t.Space)})
		if step.Report == nil {
			return
		}
		number, ack, report := t.number(script.ReceiverEnd), t.newest, *step.Report
		t.carry(at, script.ReceiverEnd, number, func(at int64) {
			t.toSender(contract.ChannelSenderEvent{At: at, Event: contract.EventReport, Hex: &report, Number: &number, Ack: &ack})
		})
	}}
}

// number gives the next packet of an end its number.
func (t *talk) number(end int) int64 {
	t.packets[end]++
	return t.packets[end] - 1
}

func (t *talk) toSender(e contract.ChannelSenderEvent) contract.ChannelSenderStep {
	t.sending = append(t.sending, e)
	return senderStep(t.sender, t.Sender, e)
}

func (t *talk) toReceiver(e contract.ChannelReceiverEvent) contract.ChannelReceiverStep {
	t.receiving = append(t.receiving, e)
	return receiverStep(t.receiver, t.Receiver, e)
}

func (t *talk) send(at int64, message []byte, lifetime *int64) {
	text := hex.EncodeToString(message)
	step := t.toSender(contract.ChannelSenderEvent{At: at, Event: contract.EventSend, Data: &text, Lifetime: contract.Null{Is: true, Value: lifetime}})
	if step.Refused == nil {
		t.sent[t.next] = message
		t.next += (int64(len(message)) + t.Sender.Data - 1) / t.Sender.Data
	}
}

// mostPackets is how many packets go out at a tick.
const mostPackets = 8

// tick sends what is due, and lets the application read if it has no times of its own.
func (t *talk) tick(at int64) {
	if len(t.Reads) == 0 && t.arrived {
		t.read(at)
	}
	for range mostPackets {
		due, ok := t.sender.Deadline()
		if !ok || due > at {
			return
		}
		number := t.packets[script.SenderEnd]
		records := t.toSender(contract.ChannelSenderEvent{At: at, Event: contract.EventPoll, Number: &number, Space: pointerTo(t.Space)}).Records
		if len(records) == 0 {
			return
		}
		t.number(script.SenderEnd)
		t.carry(at, script.SenderEnd, number, func(at int64) {
			t.newest, t.arrived = max(t.newest, number), true
			for _, r := range records {
				t.toReceiver(contract.ChannelReceiverEvent{At: at, Event: contract.EventRecord, Hex: &r})
			}
		})
	}
}

// read reads all that is ready.
func (t *talk) read(at int64) {
	t.arrived = false
	for t.toReceiver(contract.ChannelReceiverEvent{At: at, Event: contract.EventRead}).Read != nil {
	}
}

// carry gives a packet to the network.
func (t *talk) carry(now int64, from int, number int64, arrive func(int64)) {
	times := 1
	if lost, twice := t.lose[from](int(number)+1, now), t.duplicate[from](int(number)+1, now); lost {
		times = 0
	} else if twice {
		times = 2
	}
	for range times {
		t.add(now+t.DelayUS+t.jitter(), arrive)
	}
}

// truth checks that what was delivered is what was sent, each once; in order if the channel
// is ordered (CHT-SAFE-1, CHT-SAFE-2).
func (t *talk) truth(steps []contract.ChannelReceiverStep) error {
	seen := map[uint16]bool{} // a conversation has fewer than 65536 sequences
	next := uint16(t.Sender.First)
	for _, s := range steps {
		if s.Read == nil {
			continue
		}
		n := s.Read.Sequence
		size := uint16(1)
		if !s.Read.Skipped {
			data := bytesIn(*s.Read.Data)
			if want := t.sent[t.Sender.First+int64(n-uint16(t.Sender.First))]; !bytes.Equal(data, want) {
				return fmt.Errorf("%d is delivered as %x, and was sent as %x", n, data, want)
			}
			size = uint16((int64(len(data)) + t.Sender.Data - 1) / t.Sender.Data)
		}
		if seen[n] || t.Receiver.Kind == contract.KindOrdered && n != next {
			return fmt.Errorf("%d is delivered twice, or in the place of %d", n, next)
		}
		seen[n] = true
		next += size
	}
	return nil
}
