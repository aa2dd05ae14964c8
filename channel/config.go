package channel

import (
	"github.com/chunkwire/chunkwire/core"
)

// Constants of every channel (CHP-5).
const (
	// ReportDelay is how long a report waits when nothing is missing (CHV-1, CHV-3).
	ReportDelay = 20 * core.Millisecond
	// ReportSpacing is the least time between two reports of a channel (CHV-4).
	ReportSpacing = 5 * core.Millisecond
	// Overtaken is by how many packets one must be overtaken to count as lost, if it carried a
	// record for the first time (CHS-3).
	Overtaken = 2
	// Fresh is how many sequences of a channel one packet carries for the first time, at
	// most (CHS-13, CHN-6).
	Fresh = 128

	// The defaults of section 2; sizes in bytes.
	DefaultWindow    = 1024
	DefaultData      = 1024
	DefaultGroup     = 64
	DefaultSendQueue = 4096
	DefaultGiveUp    = 10 * core.Second
	DefaultQueue     = 1 << 16
	DefaultMaxPacket = 16384

	backoffMost      = 16 // doublings of a wait
	holdMargin       = 10 * core.Millisecond
	holdUnmeasured   = 250 * core.Millisecond
	probeMargin      = 20 * core.Millisecond
	probeSoon        = 20 * core.Millisecond
	leastCap         = 250 * core.Millisecond
	repeatLeast      = 20 * core.Millisecond
	repeatUnmeasured = 50 * core.Millisecond

	defaultReceived = 256
	mostPriority    = 255
	leastWindow     = 32
	mostWindow      = 1 << 14
	mostData        = 1024
	mostGroup       = 64
	mostSendQueue   = 1 << 15
	mostQueue       = 1 << 24
	mostMaxPacket   = 1160 * 256
	leastGiveUp     = core.Second
	mostGiveUp      = 3600 * core.Second
	smallestSpace   = 2
	largestFirst    = 1 << 32
)

// Kind says what a channel does with its messages (section 2).
type Kind uint8

const (
	// Ordered delivers each message once, in the order in which they were sent.
	Ordered Kind = iota
	// Unordered delivers each message once, as soon as it is here.
	Unordered
	// Unreliable sends each message once, and delivers what arrives.
	Unreliable
)

func (k Kind) String() string { return [...]string{"ordered", "unordered", "unreliable"}[k] }

// Format is what both ends of a channel must agree on to read its records (section 2). A
// field that is 0 has its default.
type Format struct {
	Window int // sequences that a receiver keeps: a power of two, 32 to 16,384; 1,024 by default
	Data   int // bytes in a record: 1 to 1,024, the default
	Group  int // fragments of a message: 2 to 64, the default, and at most Window
}

// WithDefaults returns the format without fields that are 0.
func (f Format) WithDefaults() Format {
	setDefault(&f.Window, DefaultWindow)
	setDefault(&f.Data, DefaultData)
	setDefault(&f.Group, DefaultGroup)
	return f
}

// mostFragments returns how many fragments a message has at most.
func (f *Format) mostFragments() int { return min(f.Group, f.Window) }

// MaxMessage returns the largest message of a reliable channel, in bytes.
func (f Format) MaxMessage() int {
	f = f.WithDefaults()
	return f.mostFragments() * f.Data
}

// Config sets up a channel (CHP-1). A field that is 0 has its default.
type Config struct {
	ID   uint8 // 0 to 63
	Kind Kind  // the same at both ends
	// Priority is the priority of the channel's messages, 0 to 255: higher ones go first, of equal
	// ones unreliable channels before reliable ones (CHC-8). A reliable channel for which the
	// packets have no room for GiveUp fails.
	Priority int
	Format   // of a reliable channel: the same at both ends

	// SendQueue is how many records a reliable channel keeps until they are released: the
	// fragments of the largest message or more, to 32,768; 4,096 by default.
	SendQueue int
	// GiveUp is after how long without progress a reliable channel fails: 1 s to 1 hour;
	// 10 s by default.
	GiveUp core.Micros
	// First is the sequence with which a reliable channel begins; the same at both ends.
	First core.Number
	// QueueBytes is how much an unreliable channel keeps of messages to send, and as much of
	// messages to read, 10 bytes for each included: the largest message or more, to 2^24;
	// 65,536 by default.
	QueueBytes int

	// SequenceBits is how many bits of a sequence are used: 16 by default. Fewer, from 2
	// on, make a search of all states possible, and have no other use: Window can then be
	// 2 to half the space, and Fresh 1 to 128. Records go as values then, not as bytes.
	SequenceBits core.Space
	Fresh        int
}

// complete returns the configuration without fields that are 0, or why it is bad (CHP-2).
func (c Config) complete() (Config, error) {
	c.setDefaults()
	least, most := leastWindow, mostWindow
	if c.SequenceBits < core.Wire16 {
		least, most = 2, 1<<c.SequenceBits/2
	}
	bad := func(field string, got any, allowed string) (Config, error) {
		return c, core.ConfigError("channel: "+field, got, allowed)
	}
	switch {
	case c.ID >= MaxChannels:
		return bad("ID", c.ID, "0 to 63")
	case c.Kind > Unreliable:
		return bad("Kind", int(c.Kind), "one of this package")
	case c.Priority < 0 || c.Priority > mostPriority:
		return bad("Priority", c.Priority, "0 to 255")
	case c.SequenceBits < smallestSpace || c.SequenceBits > core.Wire16:
		return bad("SequenceBits", int(c.SequenceBits), "2 to 16")
	case c.Fresh < 1 || c.Fresh > Fresh || c.SequenceBits == core.Wire16 && c.Fresh != Fresh:
		return bad("Fresh", c.Fresh, "128; with fewer bits 1 to 128")
	case c.Window < least || c.Window > most || c.Window&(c.Window-1) != 0:
		return bad("Window", c.Window, "a power of two, 32 to 16384")
	case c.Data < 1 || c.Data > mostData:
		return bad("Data", c.Data, "1 to 1024")
	case c.Group < 2 || c.Group > mostGroup:
		return bad("Group", c.Group, "2 to 64")
	case c.SendQueue < c.mostFragments() || c.SendQueue > mostSendQueue:
		return bad("SendQueue", c.SendQueue, "the fragments of a message, to 32768")
	case c.GiveUp < leastGiveUp || c.GiveUp > mostGiveUp:
		return bad("GiveUp", c.GiveUp, "1 s to 1 hour")
	case c.First < 0 || c.First > largestFirst:
		return bad("First", c.First, "0 to 2^32")
	case c.QueueBytes < queueTop+1 || c.QueueBytes > mostQueue:
		return bad("QueueBytes", c.QueueBytes, "the largest message, to 2^24")
	}
	return c, nil
}

func (c *Config) setDefaults() {
	c.Format = c.Format.WithDefaults()
	setDefault(&c.SequenceBits, core.Wire16)
	setDefault(&c.Fresh, Fresh)
	setDefault(&c.SendQueue, DefaultSendQueue)
	setDefault(&c.GiveUp, DefaultGiveUp)
	setDefault(&c.QueueBytes, DefaultQueue)
}

// reliable returns the complete configuration of a channel that has machines.
func (c Config) reliable() (Config, error) {
	c, err := c.complete()
	if err == nil && c.Kind == Unreliable {
		err = core.ConfigError("channel: Kind", c.Kind, "ordered or unordered")
	}
	return c, err
}

// unambiguous reports whether an old sequence cannot be taken for a new one above a packet
// layer with this parameter RECEIVED (CHN-6).
func (c *Config) unambiguous(received int) bool {
	return 2*c.Window+(received-1)*c.Fresh <= int(c.SequenceBits.Size())
}

func setDefault[V int | core.Space | core.Micros](field *V, value V) {
	if *field == 0 {
		*field = value
	}
}

// Path has the packet layer's estimates of the path (CHP-3).
type Path struct {
	Measured bool        // there is a round trip; else both times are 0
	SRTT     core.Micros // the smoothed round trip
	// Patience is how old a packet must be before an ack of a newer one means that it is
	// lost, and not overtaken.
	Patience core.Micros
}

// hold returns after how long a record that was not heard of counts as lost (CHS-3).
func (p *Path) hold() core.Micros {
	if !p.Measured {
		return holdUnmeasured
	}
	return p.SRTT + max(p.SRTT/4, holdMargin)
}

// longest returns the longest time between two probes, or two reports (CHS-4, CHV-5).
func (p *Path) longest() core.Micros { return max(2*p.SRTT, leastCap) }

// State is the state of a machine.
type State uint8

const (
	// Open takes and gives messages.
	Open State = iota
	// Failed was given up. A receiver still delivers what is ready.
	Failed

	states = iota
)

func (s State) String() string { return [...]string{"OPEN", "FAILED"}[s] }

// Message is what a channel delivers (CHV-2).
type Message struct {
	// Sequence is the sequence of the message, or of its first fragment; on an unreliable channel
	// the number of the packet that it came with (CHU-5).
	Sequence core.Number
	Data     []byte // the message, appended to the memory that was given
	Skipped  bool   // there is no message: the sequence expired at the sender (CHX-3)
}
