package connectionoracle

import (
	"cmp"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// Payload is the most bytes in a payload of one datagram.
const Payload = 1160

// mostUnreliable is the largest message of an unreliable channel: MAX_PACKET - 4.
const mostUnreliable = 16*1024 - 4

// ChannelConfig sets up a channel.
type ChannelConfig struct {
	ID         int64
	Unreliable bool
	Priority   int64
	Sender     channeloracle.SenderConfig
	Receiver   channeloracle.ReceiverConfig
}

// one is one end of a channel.
type one struct {
	ChannelConfig
	sender   *channeloracle.Sender
	receiver *channeloracle.Receiver
	toSend   [][]byte
	toRead   []Message
}

// Message is what a read gives: Sequence is the number of the packet of an unreliable one.
type Message struct {
	Sequence int64
	Data     []byte
	Skipped  bool
}

// channels is all channels of one end: section 7 of CHANNELS.md.
type channels struct {
	list  []*one // by priority, in turn
	large *one   // whose message of CHU-3 goes alone in the next payload
}

func newChannels(list []ChannelConfig) *channels {
	m := &channels{}
	for _, cfg := range list {
		c := &one{ChannelConfig: cfg}
		if !cfg.Unreliable {
			c.sender, c.receiver = channeloracle.NewSender(cfg.Sender), channeloracle.NewReceiver(cfg.Receiver)
		}
		m.list = append(m.list, c)
	}
	slices.SortFunc(m.list, func(a, b *one) int { return cmp.Or(int(b.Priority-a.Priority), int(a.ID-b.ID)) })
	return m
}

// find returns a channel, or nil.
func (m *channels) find(id int64) *one {
	for _, c := range m.list {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// reliable are the reliable channels by their ids.
func (m *channels) reliable() (list []*one) {
	for _, c := range m.list {
		if !c.Unreliable {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *one) int { return int(a.ID - b.ID) })
	return list
}

// send is a message of the application. refused is empty if it is taken.
func (m *channels) send(now, id int64, message []byte, lifetime int64) (refused string) {
	c := m.find(id)
	switch {
	case c == nil:
		return "unknown_channel"
	case !c.Unreliable:
		_, refused = c.sender.Send(now, message, lifetime)
		return refused
	case len(message) < 1 || len(message) > mostUnreliable:
		return channeloracle.MessageSize
	}
	c.toSend = append(c.toSend, message)
	return ""
}

// read gives one message, or nil.
func (m *channels) read(now, id int64) *Message {
	c := m.find(id)
	switch {
	case c == nil:
		return nil
	case !c.Unreliable:
		_, got := c.receiver.Read(now)
		if got == nil {
			return nil
		}
		return &Message{got.Sequence, got.Data, got.Skipped}
	case len(c.toRead) == 0:
		return nil
	}
	got := c.toRead[0]
	c.toRead = c.toRead[1:]
	return &got
}

// apply gives a record to its machine (CHC-3): number is that of its packet, ack what the
// header of that acks.
func (m *channels) apply(now, number, ack int64, r channeloracle.Record) {
	c := m.find(r.Channel)
	switch r.Type {
	case channeloracle.Pad:
	case channeloracle.Unreliable:
		c.toRead = append(c.toRead, Message{Sequence: number, Data: r.Data})
	case channeloracle.Report:
		c.sender.Report(now, number, ack, r)
	default:
		c.receiver.Handle(now, r)
	}
}

func (m *channels) setPath(p channeloracle.Path) {
	for _, c := range m.reliable() {
		c.sender.SetPath(p)
		c.receiver.SetPath(p)
	}
}

// reportAt is when a report is due.
func (m *channels) reportAt() int64 {
	at := int64(never)
	for _, c := range m.reliable() {
		if t, ok := c.receiver.Deadline(); ok {
			at = min(at, t)
		}
	}
	return at
}

// promptAt is the earliest prompt deadline of the senders.
func (m *channels) promptAt() int64 {
	at := int64(never)
	for _, c := range m.reliable() {
		at = min(at, c.sender.Prompt())
	}
	return at
}

// waits reports whether something waits that was never sent.
func (m *channels) waits() bool {
	return slices.ContainsFunc(m.list, func(c *one) bool { return len(c.toSend) > 0 || !c.Unreliable && c.sender.Pending() })
}

// writing is records behind each other, in a payload that has room for so many bytes more.
type writing struct {
	payload []byte
	left    int
	loud    bool // something asks for an ack
}

// put appends a record.
func (w *writing) put(c *one, r channeloracle.Record) {
	r.Channel = c.ID
	b, err := channeloracle.Encode(c.Sender.Format, []channeloracle.Record{r})
	if err != nil {
		panic(err) // of a machine
	}
	w.payload, w.left = append(w.payload, b...), w.left-len(b)
	w.loud = w.loud || r.Type != channeloracle.Report
}

// putUnreliable appends the message that waits longest, if it fits.
func (m *channels) putUnreliable(w *writing, c *one) bool {
	message := c.toSend[0]
	size := 4 + len(message)
	switch {
	case size > Payload && (len(w.payload) > 0 || w.left < Payload):
		if m.large == nil {
			m.large = c // CHC-7
		}
		return false
	case size <= Payload && size > w.left:
		return false
	}
	w.put(c, channeloracle.Record{Type: channeloracle.Unreliable, Data: message})
	c.toSend = c.toSend[1:]
	return true
}

// putLarge appends the message of CHU-3 that is to go alone.
func (m *channels) putLarge(w *writing) {
	c := m.large
	m.large = nil
	m.putUnreliable(w, c)
}

// putReports appends the reports that are due.
func (m *channels) putReports(now int64, w *writing) {
	for _, c := range m.reliable() {
		if at, ok := c.receiver.Deadline(); !ok || at > now {
			continue
		}
		if _, r := c.receiver.Poll(now, w.left); r != nil {
			w.put(c, *r)
		}
	}
}

// putMessages appends what the channels have (CHC-8), for a packet with this number.
func (m *channels) putMessages(now, number int64, w *writing) {
	if m.large != nil && len(w.payload) == 0 && w.left == Payload {
		m.putLarge(w) // CHC-7
		return
	}
	for from := 0; from < len(m.list); {
		to := from + 1
		for to < len(m.list) && m.list[to].Priority == m.list[from].Priority {
			to++
		}
		m.putEqual(now, number, m.list[from:to], w)
		from = to
	}
}

// putEqual appends what channels of one priority have. They take turns.
func (m *channels) putEqual(now, number int64, list []*one, w *writing) {
	for _, c := range list {
		for len(c.toSend) > 0 && m.putUnreliable(w, c) {
		}
	}
	gave := -1
	for i, c := range list {
		if c.Unreliable {
			continue
		}
		if at, ok := c.sender.Deadline(); !ok || at > now {
			continue
		}
		for {
			_, r := c.sender.Poll(now, number, w.left)
			if r == nil {
				break
			}
			if w.put(c, *r); gave < 0 {
				gave = i
			}
		}
	}
	if gave >= 0 {
		first := list[gave]
		copy(list[gave:], list[gave+1:])
		list[len(list)-1] = first
	}
}
