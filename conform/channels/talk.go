package channels

import (
	"encoding/binary"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/core"
)

// TalkConfig sets up both ends of a channel.
type TalkConfig struct {
	Kind string `json:"kind" in:"ordered unordered"`
	Format
	SendQueue int64 `json:"send_queue" range:"2 32768"`
	First     int64 `json:"first" range:"0 4294967296"`
	GiveUp    int64 `json:"give_up" range:"1000000 3600000000" unit:"us"`
	Space     int   `json:"space" range:"0 4"` // which of spaces
}

// spaces are windows that a short run passes, with RECEIVED of the packet layer: each is as
// tight as CHN-6 allows, but the first, which is that of the wire.
var spaces = [...]struct {
	bits                    core.Space
	window, fresh, received int64
}{
	{core.Wire16, 0, channeloracle.Fresh, 256},
	{4, 4, 2, 5}, // 2 * 4 + 4 * 2 = 16
	{3, 2, 1, 5}, // 2 * 2 + 4 * 1 = 8
	{6, 8, 4, 13},
	{8, 32, 64, 4},
}

// Fit lets the largest message into the queue, and gives a small space its window.
func (c TalkConfig) Fit() any {
	if c.Space > 0 {
		c.Window, c.SendQueue = spaces[c.Space].window, c.SendQueue%64
	}
	c.SendQueue = max(c.SendQueue, min(c.Group, c.Window))
	return c
}

// product is the configuration for package channel.
func (c TalkConfig) product() channel.Config {
	return channel.Config{
		Kind: map[string]channel.Kind{"unordered": channel.Unordered}[c.Kind], Format: c.Format.product(), SendQueue: int(c.SendQueue),
		First: core.Number(c.First), GiveUp: core.Micros(c.GiveUp), SequenceBits: spaces[c.Space].bits, Fresh: int(spaces[c.Space].fresh),
	}
}

// WholePacket is the space that a packet has for records.
const WholePacket = 1160

// The events of the ends of a conversation. A Packet comes as the other end sent it: late,
// again, or never. Times are told in microseconds.
type (
	// Say sends messages, of a size that fits or is the first that does not.
	Say struct {
		Size     int64 `json:"size" range:"0 65535"`
		Small    bool  `json:"small"` // of 8 bytes at most
		Times    int64 `json:"times" in:"1 1 2 9 40"`
		Lifetime int64 `json:"lifetime" in:"0 0 0 1 5000 100000 400000 3000000"` // 0: without end
	}
	// Take reads messages.
	Take struct {
		Times int64 `json:"times" in:"1 1 2 100"`
	}
	// Compose composes a packet, which goes unless it is empty.
	Compose struct {
		Space int64 `json:"space" in:"1160 1160 1160 0 4 5 13 30"`
	}
	// Pad sends an empty packet.
	Pad struct{}
	// Packet comes.
	Packet struct{ Hex conform.Bytes }
	// Path is what the packet layer has measured.
	Path struct {
		SRTT     int64 `json:"srtt" in:"-1 0 1000 50000 400000"` // -1: nothing
		Patience int64 `json:"patience" in:"0 10000 500000"`
	}
)

// Unpack refers to one of the latest packets that the other end sent.
func (Packet) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	p := Packet{look.Back(in)}
	in.Number(0, 255) // it is never changed
	return p
}

// Pack is the inverse of Unpack.
func (p Packet) Pack(out []byte, _ any, look conform.Look) []byte {
	if out, ok := conform.PackSent(out, p.Hex, look); ok {
		return out
	}
	return append(out, 0, 0)
}

var (
	sending = &conform.Op{Name: "channel, sending", Config: TalkConfig{}, Events: []conform.Kind{
		{Of: Packet{}}, {Of: Compose{}}, {Of: Say{}}, {Of: Pad{}}, {Of: Path{}}, {Of: Packet{}},
	}}
	receiving = &conform.Op{Name: "channel, receiving", Config: TalkConfig{}, Events: []conform.Kind{
		{Of: Packet{}}, {Of: Compose{}}, {Of: Take{}}, {Of: Pad{}}, {Of: Path{}}, {Of: Packet{}}, {Of: Packet{}},
	}}
)

// End is a machine of a channel beside its oracle, and what the packet layer does for it: each number is
// taken once, none that is RECEIVED or more behind the newest is taken, and a packet has the
// newest number that its sender had taken (spec/PACKETS.md).
type End struct {
	*conform.Pair
	Happened []conform.Timed // the events of the conversation

	config       TalkConfig
	judge        *Judge
	reads        bool // all, as soon as something has come
	next, newest int64
	taken        map[int64]bool
	err          func() error
}

// Went is the packet that an end sent, or none.
type Went struct{ Packets []conform.Bytes }

// Do is the machine of a conversation.
func (e *End) Do(at int64, event conform.Event) conform.Step {
	e.Happened = append(e.Happened, conform.Timed{At: at, Event: event})
	switch event := event.(type) {
	case Say:
		for range event.Times {
			e.say(at, event)
		}
	case Take:
		for n := int64(0); n < event.Times && e.Read(at); n++ {
		}
	case Compose:
		records := e.compose(at, event.Space)
		if len(records) > 0 {
			return e.packet(records)
		}
		if due := e.Look().Deadline; event.Space == WholePacket && due.Is && due.V <= at {
			e.Fail("it is due at %d, and has nothing to send", due.V)
		}
	case Pad:
		return e.packet(nil)
	case Packet:
		e.comes(at, []byte(event.Hex))
	case Path:
		e.path(at, event)
	}
	return Went{}
}

// mostSaid bounds how many sequences are sent in a conversation that a source drives.
const mostSaid = 3000

func (e *End) say(at int64, s Say) {
	if e.judge.Next()-e.config.First > mostSaid {
		return
	}
	most := e.config.Data * min(e.config.Group, e.config.Window)
	size := s.Size % (most + 2)
	if s.Small {
		size = 1 + s.Size%min(8, most)
	}
	e.Send(at, size, s.Lifetime)
}

// Send sends a message that is not the one before, and returns the code with which it is refused.
func (e *End) Send(at, size, lifetime int64) string {
	message := conform.Content(int(e.judge.Next()), int(size))
	step := e.Pair.Do(at, Send{conform.Bytes(message), conform.If(lifetime, lifetime > 0)})
	return step.(SenderStep).Refused.V
}

// Read reads a message.
func (e *End) Read(at int64) bool { return e.Pair.Do(at, Read{}).(ReceiverStep).Read.Is }

func (e *End) compose(at, space int64) []conform.Bytes {
	if e.Op == Sender {
		return e.Pair.Do(at, SenderPoll{e.next, space}).(SenderStep).Records
	}
	report := e.Pair.Do(at, Poll{space}).(ReceiverStep).Report
	return []conform.Bytes{report.V}[:min(1, len(report.V))]
}

// packet is the next one, with its number, the newest that was taken, and records, each behind its size.
func (e *End) packet(records []conform.Bytes) Went {
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(e.next)), uint32(e.newest+1))
	for _, r := range records {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(r))), r...)
	}
	e.next++
	return Went{[]conform.Bytes{conform.Bytes(b)}}
}

func (e *End) comes(at int64, b []byte) {
	if len(b) == 0 {
		return
	}
	number, ack := int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))-1
	if e.taken[number] || number <= e.newest-spaces[e.config.Space].received {
		return
	}
	e.taken[number], e.newest = true, max(e.newest, number)
	for b = b[8:]; len(b) > 0; {
		end := 2 + int(binary.LittleEndian.Uint16(b))
		record := conform.Bytes(b[2:end])
		if b = b[end:]; e.Op == Sender {
			e.Pair.Do(at, Report{record, number, ack})
			continue
		}
		e.Pair.Do(at, Record{record})
	}
	for e.reads && e.Op == Receiver && e.Read(at) {
	}
}

func (e *End) path(at int64, p Path) {
	srtt := conform.If(p.SRTT, p.SRTT >= 0)
	if e.Op == Sender {
		e.Pair.Do(at, SenderPath{srtt, p.Patience})
		return
	}
	e.Pair.Do(at, ReceiverPath{srtt})
}

// Failed reports whether the machine has failed.
func (e *End) Failed() bool { return e.err() != nil }

// rowless is a receiver without its rows and counts. In a small space what is late may seem to be
// beyond the limit; both mean the same (CHN-6).
type rowless struct {
	conform.Machine
	conform.Oracle
}

func (r rowless) Do(at int64, e conform.Event) conform.Step {
	s, is := r.Machine.Do(at, e).(ReceiverStep)
	if !is {
		return nil
	}
	s.Row = conform.Opt[string]{}
	return s
}

// Conversation is a channel in one direction. A packet stays in the network: it comes as often
// as an event refers to it, or never.
type Conversation struct {
	conform.Talk
	Judge            *Judge
	Sender, Receiver *End
	S                *ProductSender
	R                *ProductReceiver
}

// NewConversation returns a new channel.
func NewConversation(t conform.T, c TalkConfig) *Conversation {
	p, space := c.product(), spaces[c.Space]
	s, err := NewProductSender(p)
	r, err2 := NewProductReceiver(p)
	if err != nil || err2 != nil {
		t.Fatalf("%+v: %v, %v", c, err, err2)
	}
	v := &Conversation{S: s.(*ProductSender), R: r.(*ProductReceiver)}
	v.Judge = newJudge(c, v.R.Receiver)
	end := func(pair conform.Pair, err func() error) *End {
		pair.T, pair.Judges = t, []conform.Judge{v.Judge}
		return &End{Pair: &pair, config: c, judge: v.Judge, newest: -1, taken: map[int64]bool{}, err: err}
	}
	v.Sender = end(conform.Pair{
		Op: Sender, Config: SenderConfig{c.Format, c.SendQueue, c.First, c.GiveUp}, Product: s,
		Oracle: NewOracleSender(channeloracle.SenderConfig{Format: c.oracle(), SendQueue: c.SendQueue, First: c.First, GiveUp: c.GiveUp, Fresh: space.fresh}),
	}, v.S.Err)
	pair := conform.Pair{
		Op: Receiver, Config: ReceiverConfig{c.Kind, c.Format, c.First, c.GiveUp}, Product: r,
		Oracle: NewOracleReceiver(channeloracle.ReceiverConfig{Format: c.oracle(), Ordered: c.Kind == "ordered", First: c.First, GiveUp: c.GiveUp}),
	}
	if c.Space > 0 {
		pair.Product, pair.Oracle = rowless{Machine: r}, rowless{pair.Oracle, pair.Oracle}
	}
	v.Receiver = end(pair, v.R.Err)
	for _, e := range []*End{v.Sender, v.Receiver} {
		op := map[*conform.Op]*conform.Op{Sender: sending, Receiver: receiving}[e.Op]
		v.Ends = append(v.Ends, &conform.End{
			Name: op.Name, Op: op, Config: c, Machine: e, Poll: Compose{WholePacket},
			Sent:    func(s conform.Step) []conform.Bytes { return s.(Went).Packets },
			Arrives: func(b conform.Bytes) conform.Event { return Packet{b} },
		})
	}
	return v
}

// Encode writes a configuration and the events of a conversation as a source has them.
func Encode(t conform.T, c TalkConfig, happened *Conversation) []byte {
	head := sending.Encode(c, nil, nil)
	return NewConversation(t, c).Talk.Encode(head, happened.Sender.Happened, happened.Receiver.Happened)
}

// Converse lets two ends do what a source says, and finishes.
func Converse(t conform.T, in conform.Source, most int, judges ...func(*conform.Pair)) {
	t.Helper()
	v := NewConversation(t, sending.Configure(in).(TalkConfig))
	for _, set := range judges {
		set(v.Sender.Pair)
		set(v.Receiver.Pair)
	}
	v.Finish(v.Play(in, most))
}

// Finish lets everything arrive that is sent from now on, and be read at once, until nothing is left to do
// or an end has failed. It reports whether none has (CHT-LIVE-1, CHT-LIVE-5).
func (v *Conversation) Finish(now int64) (whole bool) {
	v.Receiver.reads = true
	for v.Receiver.Read(now) {
	}
	v.Mend(1000)
	v.Run(now+1<<40, nil)
	for _, e := range []*End{v.Sender, v.Receiver} {
		if at := e.Look().Deadline; at.Is {
			e.Fail("all arrives, and it is still due at %d", at.V)
		}
		if records := e.compose(now+1<<40+e.config.GiveUp, WholePacket); len(records) > 0 {
			e.Fail("all is over, and it sends %x", string(records[0]))
		}
	}
	if v.Sender.Failed() || v.Receiver.Failed() {
		return false
	}
	if err := v.Judge.settled(); err != nil {
		v.Sender.Fail("%v", err)
	}
	return true
}
