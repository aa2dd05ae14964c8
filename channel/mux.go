package channel

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// MuxConfig sets up a Mux. A field that is 0 has its default.
type MuxConfig struct {
	Channels []Config // the other end has the same ids, kinds and formats
	// MaxPacket is the largest payload of the packet layer, in bytes: LargestPayload or more;
	// 16,384 by default.
	MaxPacket int
	// Received is the packet layer's parameter RECEIVED; 256 by default. It must fit the
	// windows: 2 * Window + (Received - 1) * 128 is at most 65,536 (CHN-6).
	Received int
}

// Mux is all channels of one end of a connection: it takes payloads apart and composes them
// (section 7). It does nothing between calls.
type Mux struct {
	now           core.Micros // the latest that was given (CHN-3)
	maxUnreliable int         // bytes in a message of an unreliable channel
	byID          [MaxChannels]*end
	order         []*end // higher priorities first; equal ones take turns (CHC-8)

	// Sets of ids: whose sender keeps something, whose receiver waits for a time, which
	// unreliable channels have something to send. All other channels cost nothing.
	sending, reporting, waiting uint64
	readable                    uint64 // which channels have something to read
	failed                      uint64 // which channels have failed

	large *end // whose large message was passed over, and goes alone in the next payload; or nil

	path   Path
	record Record // that is decoded, and its groups
	compose
	stats MuxStats
}

// end is this end of one channel: two machines, or two queues.
type end struct {
	id       uint8
	priority int
	kind     Kind
	format   Format
	sender   *Sender
	receiver *Receiver
	toSend   queue
	toRead   queue
}

func (c *end) bit() uint64 { return 1 << c.id }

// err returns why a reliable channel failed.
func (c *end) err() error {
	if c.sender.err != nil {
		return c.sender.err
	}
	return c.receiver.err
}

// NewMux returns the channels of one end, to which nothing has come: a connection begins with a
// new one at both ends (CHP-4). It fails with core.ErrConfig (CHP-2).
func NewMux(cfg MuxConfig) (*Mux, error) {
	setDefault(&cfg.MaxPacket, DefaultMaxPacket)
	setDefault(&cfg.Received, defaultReceived)
	if cfg.MaxPacket < LargestPayload || cfg.MaxPacket > mostMaxPacket {
		return nil, core.ConfigError("channel: MaxPacket", cfg.MaxPacket, "1160 to 296960")
	}
	m := &Mux{maxUnreliable: min(cfg.MaxPacket-unreliableTop, mostUnreliable)}
	for _, c := range cfg.Channels {
		if err := m.add(c, cfg.Received); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(m.order, func(a, b *end) int { return cmp.Or(b.priority-a.priority, int(a.id)-int(b.id)) })
	return m, nil
}

// add adds a channel.
func (m *Mux) add(cfg Config, received int) error {
	cfg, err := cfg.complete()
	switch {
	case err != nil:
		return err
	case cfg.SequenceBits != core.Wire16:
		return core.ConfigError("channel: SequenceBits", int(cfg.SequenceBits), "16 in a Mux")
	case m.byID[cfg.ID] != nil:
		return core.ConfigError("channel: ID", cfg.ID, "another one for each channel")
	case received < 1 || !cfg.unambiguous(received):
		return core.ConfigError("channel: Received", received, "1 to 256, or more with a small Window: 2 * Window + (Received - 1) * 128 is at most 65536")
	case cfg.Kind == Unreliable && cfg.QueueBytes < queueTop+m.maxUnreliable:
		return core.ConfigError("channel: QueueBytes", cfg.QueueBytes, "the largest message and 10 bytes, to 2^24")
	}
	c := &end{id: cfg.ID, priority: cfg.Priority, kind: cfg.Kind, format: cfg.Format, toSend: queue{most: cfg.QueueBytes}, toRead: queue{most: cfg.QueueBytes}}
	if cfg.Kind != Unreliable {
		c.sender, _ = NewSender(cfg)
		c.receiver, _ = NewReceiver(cfg)
	}
	m.byID[cfg.ID] = c
	m.order = append(m.order, c)
	return nil
}

// find returns a channel; nil if there is none of this id.
func (m *Mux) find(id uint8) *end {
	if id >= MaxChannels {
		return nil
	}
	return m.byID[id]
}

// Send gives a channel a message, of which it keeps a copy. On a reliable channel it does what
// Sender.Send does. On an unreliable one the message goes in one of the next packets, whatever
// its lifetime. Send fails with ErrMessageSize, ErrQueueFull, ErrFailed or ErrUnknownChannel;
// then nothing has changed.
func (m *Mux) Send(now core.Micros, channel uint8, message []byte, lifetime core.Micros) error {
	m.now = max(m.now, now)
	c := m.find(channel)
	switch {
	case c == nil:
		return channelUnknown.NotAt()
	case c.kind != Unreliable:
		err := c.sender.Send(m.now, message, lifetime)
		m.note(c)
		return err
	case len(message) < 1 || len(message) > m.maxUnreliable:
		return unreliableTooLong.NotAt()
	case !c.toSend.fits(len(message)):
		return unreliableFull.NotAt()
	}
	c.toSend.push(core.NoNumber, message)
	m.waiting |= c.bit()
	return nil
}

// Read delivers one message of a channel, or says that one was skipped. The message is
// appended to dst. If nothing is ready ok is false.
func (m *Mux) Read(now core.Micros, channel uint8, dst []byte) (message Message, ok bool) {
	m.now = max(m.now, now)
	c := m.find(channel)
	switch {
	case c == nil:
		return Message{Data: dst}, false
	case c.kind != Unreliable:
		message, ok = c.receiver.Read(m.now, dst)
		m.note(c)
		return message, ok
	case c.toRead.empty():
		return Message{Data: dst}, false
	}
	number, _ := c.toRead.first()
	message = Message{Sequence: number, Data: c.toRead.pop(dst)}
	set(&m.readable, c.bit(), !c.toRead.empty())
	return message, true
}

// Readable returns the channels of which Read delivers something, as a set of their ids: bit n
// is channel n.
func (m *Mux) Readable() uint64 { return m.readable }

// Handle takes the payload of a packet of the peer, with its number and the newest packet of
// ours that its header acked; None if it acked none. It is decoded whole before anything of it
// counts (CHR-1): Handle fails with why it is refused, and has then changed only a
// counter. Quiet says that nothing in it asks for an ack (CHR-4). So the verdict of the layer
// above is Refuse, TakeQuietly or Take (CHC-3).
func (m *Mux) Handle(now core.Micros, number, ack core.Number, payload []byte) (quiet bool, err error) {
	m.now = max(m.now, now)
	quiet, refusal := m.check(payload)
	if refusal != nil {
		m.stats.refused[slices.Index(codes[:], refusal.Code())]++
		return false, refusal
	}
	m.stats.Payloads++
	for at := 0; at < len(payload); {
		at, _ = m.decode(payload, at)
		m.apply(number, ack, &m.record)
	}
	return quiet, nil
}

// check decodes a payload to its end.
func (m *Mux) check(payload []byte) (quiet bool, err *Error) {
	quiet = true
	at := 0
	for ok := true; ok; ok = at < len(payload) {
		if at, err = m.decode(payload, at); err != nil {
			return false, err
		}
		quiet = quiet && m.record.quiet()
	}
	return quiet, nil
}

// Check decodes one record of a payload that has records of a layer above, too, and changes only
// a counter of refusals. It returns where the next one begins. When the whole
// payload was checked, Apply takes the record.
func (m *Mux) Check(payload []byte, at int) (next int, quiet bool, err error) {
	next, refusal := m.decode(payload, at)
	if refusal != nil {
		m.stats.refused[slices.Index(codes[:], refusal.Code())]++
		return at, false, refusal
	}
	return next, m.record.quiet(), nil
}

// Apply takes a record that passed Check; number and ack are as in Handle.
func (m *Mux) Apply(now core.Micros, number, ack core.Number, payload []byte, at int) (next int) {
	m.now = max(m.now, now)
	next, refusal := m.decode(payload, at)
	if refusal == nil {
		m.apply(number, ack, &m.record)
	}
	return next
}

// decode decodes one record. Its channel must be there and of its kind (CHR-2).
func (m *Mux) decode(b []byte, at int) (next int, err *Error) {
	r := &m.record
	if next, err = r.decodeHead(b, at); err != nil || r.Type == TypePad {
		return next, err
	}
	c := m.byID[r.Channel]
	switch {
	case c == nil:
		return 0, channelUnknown.At(at + 1)
	case (c.kind == Unreliable) != (r.Type == TypeUnreliable):
		return 0, kindDiffers.At(at + 1)
	}
	return c.format.decodeFields(b, next, r)
}

// apply gives a record to the machine that it is for.
func (m *Mux) apply(number, ack core.Number, r *Record) {
	if r.Type == TypePad {
		return
	}
	c := m.byID[r.Channel]
	switch r.Type {
	case TypeUnreliable:
		m.take(c, number, r.Data)
		return
	case TypeReport:
		c.sender.Report(m.now, number, ack, r)
	default:
		c.receiver.Handle(m.now, r)
	}
	m.note(c)
}

// take puts an unreliable message where it waits to be read; the oldest ones make room for it
// (CHU-6).
func (m *Mux) take(c *end, number core.Number, data []byte) {
	for !c.toRead.fits(len(data)) && !c.toRead.empty() {
		c.toRead.drop()
		m.stats.Dropped++
	}
	if c.toRead.fits(len(data)) {
		c.toRead.push(number, data)
	} else {
		m.stats.Dropped++ // larger than a message can be that our end sends
	}
	set(&m.readable, c.bit(), !c.toRead.empty())
}

// note remembers what a reliable channel waits for after an event, and its failure.
func (m *Mux) note(c *end) {
	set(&m.sending, c.bit(), c.sender.state == Open && c.sender.base < c.sender.next)
	set(&m.reporting, c.bit(), c.receiver.Deadline() != core.Never)
	set(&m.readable, c.bit(), c.receiver.hasReady())
	set(&m.failed, c.bit(), c.err() != nil)
}

func set(bits *uint64, bit uint64, on bool) {
	if *bits &^= bit; on {
		*bits |= bit
	}
}

// SetPath gives the channels the packet layer's estimates of the path (CHP-3).
func (m *Mux) SetPath(p Path) {
	if p == m.path {
		return
	}
	m.path = p
	for _, c := range m.order {
		if c.kind != Unreliable {
			c.sender.SetPath(p)
			c.receiver.SetPath(p)
		}
	}
}

// Prompt returns when Compose has something that does not wait for the application's tick, or
// Never: a report, a record that was marked, a probe, a failure (CHC-10).
func (m *Mux) Prompt() core.Micros { return min(m.ReportPrompt(), m.DataPrompt()) }

// ReportPrompt returns when a report is due, or Never.
func (m *Mux) ReportPrompt() core.Micros {
	at := core.Never
	for set := m.reporting; set != 0; set &= set - 1 {
		at = min(at, m.byID[bits.TrailingZeros64(set)].receiver.Deadline())
	}
	return at
}

// DataPrompt returns Prompt without the reports.
func (m *Mux) DataPrompt() core.Micros {
	at := core.Never
	for set := m.sending; set != 0; set &= set - 1 {
		at = min(at, m.byID[bits.TrailingZeros64(set)].sender.Prompt())
	}
	return at
}

// Pending reports whether messages wait to be sent for the first time: they go with the next
// packet that is composed, at the latest at the application's tick (CHC-9).
func (m *Mux) Pending() bool {
	for set := m.sending; set != 0; set &= set - 1 {
		if m.byID[bits.TrailingZeros64(set)].sender.Pending() {
			return true
		}
	}
	return m.waiting != 0
}

// Alone reports whether an unreliable message waits that was passed over, and goes alone if the
// next payload begins with it (CHC-7).
func (m *Mux) Alone() bool { return m.large != nil }

// Delivered reports whether everything that was given to the channels was sent, and what is
// reliable is at the peer. What a channel kept when it failed never will be.
func (m *Mux) Delivered() bool {
	for set := m.failed; set != 0; set &= set - 1 {
		if s := m.byID[bits.TrailingZeros64(set)].sender; s.base < s.next {
			return false
		}
	}
	return m.sending == 0 && m.waiting == 0
}

// Deadline returns Prompt, or now if something is pending.
func (m *Mux) Deadline() core.Micros {
	if m.Pending() {
		return m.now
	}
	return m.Prompt()
}

// Failed returns the channels that have failed, as a set of their ids: bit n is channel n. The
// others go on (CHC-6).
func (m *Mux) Failed() uint64 { return m.failed }

// ChannelErr returns why a reliable channel failed, its sender or its receiver; nil while both
// work, and for another id. It wraps ErrFailed (CHS-11, CHV-13).
func (m *Mux) ChannelErr(channel uint8) error {
	if c := m.find(channel); c != nil && c.sender != nil {
		return c.err()
	}
	return nil
}

// Stats returns the counts so far.
func (m *Mux) Stats() MuxStats { return m.stats }

// SenderStats returns the counts of a reliable channel; none for another id.
func (m *Mux) SenderStats(channel uint8) (s SenderStats) {
	if c := m.find(channel); c != nil && c.sender != nil {
		s = c.sender.Stats()
	}
	return s
}

// ReceiverStats returns the counts of a reliable channel; none for another id.
func (m *Mux) ReceiverStats(channel uint8) (s ReceiverStats) {
	if c := m.find(channel); c != nil && c.receiver != nil {
		s = c.receiver.Stats()
	}
	return s
}
