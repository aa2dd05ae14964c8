package chunkoracle

import "strconv"

// Kind is a kind of slices.
type Kind int

// The kinds.
const (
	Named  Kind = iota // PROTOCOL.md
	Repair             // REPAIR.md
)

// The states of both machines.
const (
	StateIdle      = "IDLE"
	StateSending   = "SENDING"
	StateWaiting   = "WAITING"
	StateReceiving = "RECEIVING"
	StateReady     = "READY"
	StateFailed    = "FAILED"
)

// The limits of a chunk.
const (
	SliceSize = 1024
	MaxSlices = 256
	MaxChunk  = SliceSize * MaxSlices
)

// never is later than every time.
const never = 1<<63 - 1

// ids is how many ids of chunks there are.
const ids = 65536

// Slice is a slice. LastBytes is 0 with named ones.
type Slice struct {
	ChunkID, SliceID, NumSlices, LastBytes int64
	Data                                   []byte
}

// Ack is an ack: of named slices it says which have come, of repair slices how many, and below
// which id.
type Ack struct {
	ChunkID, NumSlices int64
	Acked              []bool
	Have, Top          int64
}

// machine is what both machines have.
type machine struct {
	kind        Kind
	giveUp, now int64
	state       string
	chunkID     int64
	numSlices   int64 // of the chunk in flight, or that arrives
	startedAt   int64
	ours        bool
}

// Kind is the kind of its slices.
func (m *machine) Kind() Kind { return m.kind }

// State, ChunkID and NumSlices are what a trace shows.
func (m *machine) State() string    { return m.state }
func (m *machine) ChunkID() int64   { return m.chunkID }
func (m *machine) NumSlices() int64 { return m.numSlices }

// Ours says whether the latest packet belonged to this stream of chunks, late or not.
func (m *machine) Ours() bool { return m.ours }

// begin is TIM-1.
func (m *machine) begin(now int64) { m.now = max(m.now, now) }

// before is the id of the chunk before the current one.
func (m *machine) before() int64 { return (m.chunkID + ids - 1) % ids }

// advance lets the next chunk follow.
func (m *machine) advance() { m.chunkID = (m.chunkID + 1) % ids }

// orNever is a time that may be none.
func orNever(at int64) (int64, bool) { return at, at != never }

func row(prefix string, n int) string { return prefix + strconv.Itoa(n) }

func count(set []bool) (n int64) {
	for _, is := range set {
		if is {
			n++
		}
	}
	return n
}
