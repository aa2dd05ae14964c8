package eventlog

import "github.com/chunkwire/chunkwire/core"

// Log is given each event when it happens, within the call that made it happen. It must
// not call back, and not block. A nil Log is one that nobody reads.
type Log func(Event)

// In returns a log that gives events to l with their lane. It is nil if l is.
func (l Log) In(lane int) Log {
	if l == nil || lane == 0 {
		return l
	}
	return func(e Event) {
		e.Lane = lane
		l(e)
	}
}

// Of returns a log that gives events to l with their connection and end. It is nil if l is.
func (l Log) Of(group int, end End) Log {
	if l == nil {
		return nil
	}
	return func(e Event) {
		e.Group, e.End = group, end
		l(e)
	}
}

// End is where an event happened.
type End string

// The ends of a connection, the ends of chunks alone, and what is between them.
const (
	Client   End = "client"
	Server   End = "server"
	Sender   End = "sender"
	Receiver End = "receiver"
	Network  End = "network"
)

// Event is one thing that happened. Which fields count, its Kind says (docs/EVENTS.md).
type Event struct {
	Kind  Kind
	At    core.Micros
	Group int // number of the connection; 0: none
	End   End

	Lane      int
	ChunkID   uint16
	SliceID   int // with repair: of the transmission
	NumSlices int
	Bytes     int // of the datagram, the chunk, or the message
	Times     int // transmissions of the slice so far, with this one
	Have      int // slices that have arrived; with repair, independent ones
	Top       int // with repair: the highest transmission that arrived, and one
	Complete  bool
	As        string
	Why       string
	Direction string
	RTT       core.Micros // a sample, or smoothed
	MinRTT    core.Micros
	Elapsed   core.Micros

	Machine string // the name of its table in the specification's JSON
	From    string
	To      string
	Row     core.Row

	Rate     int64 // bits a second; 0 while it is not known
	Limit    int   // slices
	InFlight int   // slices
	Mode     string

	Role       string
	Remote     string
	Variant    string
	Lanes      int
	ProtocolID string
	Code       string
	Sentence   string
	Text       string

	Number   int // of a packet
	Channel  int
	Sequence int
	Carried  string // by a datagram that was dropped
	Count    int64
}

// What a slice was sent for: Event.Why of SliceSent.
const (
	First   = "first"   // it was never sent before
	Lost    = "lost"    // later ones arrived
	Timeout = "timeout" // the resend timer ran out
	Probe   = "probe"   // the peer holds: can it take the chunk now?
	Repair  = "repair"  // it makes up for any other
	Extra   = "extra"   // once more, without a sign that it was lost
)

// Overtaken is why a slice is taken as lost, beside Timeout.
const Overtaken = "overtaken"

// GaveUp is why a chunk or a channel failed.
const GaveUp = "gave_up"

// What a slice that arrived was: Event.As of SliceReceived.
const (
	New       = "new"
	Duplicate = "duplicate" // it is here already
	Late      = "late"      // of the chunk before
	Early     = "early"     // of the next chunk, while one waits to be read
	Dependent = "dependent" // with repair: it follows from those that are here
	Conflict  = "conflict"  // it disagrees with the chunk's size
	Foreign   = "foreign"   // of any other chunk, or after a failure
	Deferred  = "deferred"  // it would cost more time than repair slices can take
)

// Why the network dropped a datagram, and what that carried.
const (
	Loss      = "loss"
	QueueFull = "queue" // or the policer was
	Outage    = "outage"

	Slice = "slice"
	Ack   = "ack"
	Other = "other"
)

// Event.Direction.
const (
	Out  = "out"
	In   = "in"
	Down = "down" // from the sender, or the client
	Up   = "up"
)

// Kind is what happened.
type Kind uint8

// The events. Those of a slice, an ack and a chunk are of a lane's.
const (
	None Kind = iota
	ConnectionStarted
	ConnectionMoved
	ConnectionEnded
	State
	DatagramRefused
	ChunkStarted
	SliceSent
	SliceAcked
	SlicesCounted
	SliceLost
	SliceSpurious
	SliceReceived
	RTTSampled
	AckSent
	AckReceived
	ChunkCompleted
	ChunkFailed
	Metrics
	PacketSent
	PacketReceived
	PacketAcked
	PacketLost
	MessageSent
	MessageDelivered
	ChannelFailed
	DatagramDropped
	LogDropped
)

func (k Kind) String() string { return kinds[k].name }
