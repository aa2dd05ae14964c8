// Package chunks declares the machines of a chunk, with named slices (TRC-2 to TRC-4) and with
// repair slices (RPO-6 to RPO-8), with adapters for the product and the oracle, and what their
// fuzzing needs.
package chunks

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
)

// The four operations.
var (
	Sender = &conform.Op{
		Name: "sender", Doc: "a trace of a sender", Config: SenderConfig{GiveUp: usualGiveUp},
		Events: append(sending(Ack{}, Poll{}),
			conform.Kind{Name: "marks", Of: Marks{}, If: hasHost, Doc: "the host tells the recommended scheduler of marks (RVO-3)"},
			conform.Kind{Name: "yield", Of: Yield{}, If: hasHost, Doc: "the host says whether other packets must not wait"}),
		Step: Step{}, Words: dialect, Product: newProductSender, Oracle: newOracleSender,
	}
	RepairSender = &conform.Op{
		Name: "repair_sender", Doc: "a trace of a sender of repair slices", Config: RepairSenderConfig{GiveUp: usualGiveUp},
		Events: sending(RepairAck{}, RepairPoll{}),
		Step:   Step{}, Words: dialect, Product: newProductSender, Oracle: newOracleSender,
	}
	Receiver = &conform.Op{
		Name: "receiver", Doc: "a trace of a receiver", Config: ReceiverConfig{GiveUp: usualGiveUp},
		Events: receiving(Slice{}),
		Step:   Step{}, Words: dialect, Product: newProductReceiver, Oracle: newOracleReceiver,
	}
	RepairReceiver = &conform.Op{
		Name: "repair_receiver", Doc: "a trace of a receiver of repair slices", Config: RepairReceiverConfig{ReceiverConfig{GiveUp: usualGiveUp}},
		Events: receiving(RepairSlice{}),
		Step:   Step{}, Words: dialect, Product: newProductReceiver, Oracle: newOracleReceiver,
	}
)

const usualGiveUp = 10_000_000

func sending(ack, poll conform.Event) []conform.Kind {
	return []conform.Kind{
		{Name: "submit", Of: Submit{}, Doc: "the application submits a chunk of TRC-1"},
		{Name: "ack", Of: ack, Doc: "an ack arrives"},
		{Name: "poll", Of: poll, Doc: "polled until no slice comes"},
	}
}

func receiving(slice conform.Event) []conform.Kind {
	return []conform.Kind{
		{Name: "slice", Of: slice, Doc: "a slice arrives"},
		{Name: "read", Of: Read{}, Doc: "the application reads"},
		{Name: "poll", Of: ReceiverPoll{}, Doc: "polled until no ack comes"},
	}
}

type (
	// SenderConfig sets up a sender.
	SenderConfig struct {
		First   uint16               `json:"first_chunk_id"`
		GiveUp  int64                `json:"give_up_us" range:"1 2305843009213693952" unit:"us"`
		Profile conform.Opt[Profile] `json:"profile" doc:"null: the scheduler is a script"`
	}
	// RepairSenderConfig sets up a sender of repair slices.
	RepairSenderConfig struct {
		First   uint16            `json:"first_chunk_id"`
		GiveUp  int64             `json:"give_up_us" range:"1 2305843009213693952" unit:"us"`
		Profile conform.Opt[Rule] `json:"profile" doc:"null: the scheduler is a script"`
	}
	// ReceiverConfig sets up a receiver.
	ReceiverConfig struct {
		First  uint16 `json:"first_chunk_id"`
		GiveUp int64  `json:"give_up_us" range:"1 2305843009213693952" unit:"us"`
	}
	// RepairReceiverConfig sets up a receiver of repair slices.
	RepairReceiverConfig struct{ ReceiverConfig }
)

type (
	// Submit submits a chunk.
	Submit struct {
		Size int64 `json:"size" range:"0 524288"`
	}
	// Ack is an ack of named slices.
	Ack struct {
		ChunkID uint16 `json:"chunk_id"`
		Acked   string `json:"acked" size:"1 256" pattern:"^[01]{1,256}$"`
	}
	// RepairAck is an ack of repair slices.
	RepairAck struct {
		ChunkID   uint16 `json:"chunk_id"`
		NumSlices int64  `json:"num_slices" range:"1 256"`
		Have      int64  `json:"have" range:"0 256"`
		Top       int64  `json:"top" range:"0 8191" doc:"the field"`
	}
	// Poll polls a sender of named slices.
	Poll struct {
		Due []int64 `json:"due,omitempty" range:"0 255" size:"0 4096" default:"none" doc:"what the scripted scheduler lets go"`
	}
	// RepairPoll polls a sender of repair slices.
	RepairPoll struct {
		Due conform.Opt[int64] `json:"due,omitzero" range:"0 16384" default:"none" doc:"how many slices the scripted scheduler lets go"`
	}
	// Marks tells of marks.
	Marks struct {
		Count int64 `json:"count" range:"0 65535"`
	}
	// Yield says whether other packets must not wait.
	Yield struct {
		Yields bool `json:"yields"`
	}
	// Slice is a named slice: of TRC-1, or filled with a byte.
	Slice struct {
		ChunkID   uint16             `json:"chunk_id"`
		SliceID   int64              `json:"slice_id" range:"0 255"`
		NumSlices int64              `json:"num_slices" range:"1 256"`
		Size      int64              `json:"size" range:"1 1024"`
		Fill      conform.Opt[uint8] `json:"fill,omitzero"`
	}
	// RepairSlice is a repair slice: of TRC-1, or filled with a byte.
	RepairSlice struct {
		ChunkID   uint16             `json:"chunk_id"`
		SliceID   int64              `json:"slice_id" range:"0 8191"`
		NumSlices int64              `json:"num_slices" range:"1 256"`
		LastBytes int64              `json:"last_bytes" range:"1 1024"`
		Fill      conform.Opt[uint8] `json:"fill,omitzero"`
	}
	// Read reads.
	Read struct{}
	// ReceiverPoll polls a receiver.
	ReceiverPoll struct{}
)

// Step is what a machine did, and its state after it (TRC-4, RPO-8). Each operation has some of
// the fields that may be absent.
type Step struct {
	Event        int                  `json:"event"`
	Row          string               `json:"row" pattern:"^([RSTU][0-9]+)?$" doc:"the last one"`
	State        string               `json:"state" in:"IDLE SENDING WAITING RECEIVING READY FAILED"`
	ChunkID      uint16               `json:"chunk_id"`
	Acked        conform.Opt[string]  `json:"acked,omitzero"`
	Received     conform.Opt[string]  `json:"received,omitzero"`
	Sent         conform.Opt[int64]   `json:"sent,omitzero"`
	Have         conform.Opt[int64]   `json:"have,omitzero"`
	Top          conform.Opt[int64]   `json:"top,omitzero" doc:"the number"`
	Inconsistent conform.Opt[int64]   `json:"inconsistent,omitzero"`
	Deadline     conform.Opt[int64]   `json:"deadline_us"`
	Packets      []Packet             `json:"packets"`
	Chunk        conform.Opt[Content] `json:"chunk,omitzero" doc:"that was read"`
	Error        string               `json:"error,omitempty" in:"chunk_size busy gave_up nothing_to_read"`
}

// Packet is a slice or an ack that a machine sent.
type Packet struct {
	Type      string              `json:"type" in:"slice ack"`
	ChunkID   uint16              `json:"chunk_id"`
	SliceID   conform.Opt[int64]  `json:"slice_id,omitzero"`
	NumSlices conform.Opt[int64]  `json:"num_slices,omitzero"`
	LastBytes conform.Opt[int64]  `json:"last_bytes,omitzero"`
	Size      conform.Opt[int64]  `json:"size,omitzero"`
	CRC32     conform.Opt[uint32] `json:"crc32,omitzero"`
	Acked     conform.Opt[string] `json:"acked,omitzero"`
	Have      conform.Opt[int64]  `json:"have,omitzero"`
	Top       conform.Opt[int64]  `json:"top,omitzero" doc:"the field"`
}

// Content stands for bytes.
type Content struct {
	Size  int    `json:"size"`
	CRC32 uint32 `json:"crc32"`
}

const (
	typeSlice     = "slice"
	typeAck       = "ack"
	nothingToRead = "nothing_to_read"
)

// Senders is what a sender shows besides its steps.
type Senders struct {
	chunkoracle.Sent
	HeardAt, NumSlices, Transmissions, Have, Top int64
	Ours                                         bool // the latest ack
	Found                                        chunkoracle.Found
}

// Receivers is what a receiver shows besides its steps.
type Receivers struct {
	chunkoracle.Received
	NumSlices, LastBytes, Top, PreviousSlices, PreviousTop, ProgressAt int64
	ReadSize                                                           int
	Ours                                                               bool // the latest slice
	IDs                                                                string
}

// Data returns the bytes of a chunk in a trace (TRC-1).
func Data(chunkID uint16, size int) []byte {
	b := make([]byte, size)
	for from := 0; from < size; from += codec.SliceSize {
		copy(b[from:], fullSlice(chunkID, from/codec.SliceSize))
	}
	return b
}

// ramp is byte i of which is i: each slice of a chunk in a trace is a part of it, which is
// copied since traces of large chunks ask for a slice at each event.
var ramp = func() (r [256 + codec.SliceSize]byte) {
	for i := range r {
		r[i] = byte(i)
	}
	return r
}()

// fullSlice returns the bytes of a slice of the full size. They are shared.
func fullSlice(chunkID uint16, sliceID int) []byte {
	first := byte(codec.SliceSize*sliceID + 31*sliceID + 7*int(chunkID))
	return ramp[first:][:codec.SliceSize]
}

// bits writes a set, one character for each.
func bits(set []bool) string {
	b := make([]byte, len(set))
	for i, is := range set {
		b[i] = '0'
		if is {
			b[i] = '1'
		}
	}
	return string(b)
}

// ofBits is the inverse, for 1 to 256 characters.
func ofBits(text string) (set []bool, ok bool) {
	for _, c := range text {
		if c != '0' && c != '1' {
			return nil, false
		}
		set = append(set, c == '1')
	}
	return set, len(set) > 0 && len(set) <= codec.MaxSlices
}
