package testvectors

import "github.com/chunkwire/chunkwire/statemachine"

// A trace's JSON, as appendix B of the specification defines it. Fields that
// only some events or steps have are pointers.

// SenderConfig sets up a sender for a trace.
type SenderConfig struct {
	FirstChunkID uint16   `json:"first_chunk_id"`
	GiveUpUS     int64    `json:"give_up_us"`
	Profile      *Profile `json:"profile"` // nil: the scheduler is a script
}

// Profile is the pace of the base algorithm (section 9.6), in bytes, bytes a
// second and microseconds.
type Profile struct {
	Rate          int64 `json:"rate"`
	Cap           int64 `json:"cap"`
	Burst         int64 `json:"burst"`
	AcksPay       bool  `json:"acks_pay"`
	SpacingUS     int64 `json:"spacing_us"`
	ResendDelayUS int64 `json:"resend_delay_us"`
}

// ReceiverConfig sets up a receiver for a trace.
type ReceiverConfig struct {
	FirstChunkID uint16 `json:"first_chunk_id"`
	GiveUpUS     int64  `json:"give_up_us"`
}

// Event is something that happens to a machine in a trace.
type Event struct {
	At        int64   `json:"at"`
	Event     string  `json:"event"`
	ChunkID   *uint16 `json:"chunk_id,omitempty"`
	SliceID   *int    `json:"slice_id,omitempty"`
	NumSlices *int    `json:"num_slices,omitempty"`
	Size      *int    `json:"size,omitempty"`
	Fill      *byte   `json:"fill,omitempty"`
	Acked     *string `json:"acked,omitempty"`
	Due       []int   `json:"due,omitempty"`
}

// Step is what a machine did at an event, and its state after it (TRC-4).
type Step struct {
	Event      int      `json:"event"`
	Row        string   `json:"row"`
	State      string   `json:"state"`
	ChunkID    uint16   `json:"chunk_id"`
	Acked      *string  `json:"acked,omitempty"`    // of a sender
	Received   *string  `json:"received,omitempty"` // of a receiver
	DeadlineUS *int64   `json:"deadline_us"`        // nil: never
	Packets    []Packet `json:"packets"`
	Chunk      *Content `json:"chunk,omitempty"`
	Error      string   `json:"error,omitempty"`
}

// Packet is one that a machine sent in a trace.
type Packet struct {
	Type      string  `json:"type"`
	ChunkID   uint16  `json:"chunk_id"`
	SliceID   *int    `json:"slice_id,omitempty"`
	NumSlices *int    `json:"num_slices,omitempty"`
	Size      *int    `json:"size,omitempty"`
	CRC32     *uint32 `json:"crc32,omitempty"`
	Acked     *string `json:"acked,omitempty"`
}

// Content tells data by its length and CRC-32.
type Content struct {
	Size  int    `json:"size"`
	CRC32 uint32 `json:"crc32"`
}

// valid reports whether the times and figures are within their limits (2.2, 7.2,
// BUD-1).
func (c SenderConfig) valid() bool {
	return validGiveUp(c.GiveUpUS) && (c.Profile == nil || c.Profile.valid())
}

func (c ReceiverConfig) valid() bool { return validGiveUp(c.GiveUpUS) }

func (p *Profile) valid() bool {
	return (p.Rate == 0 || p.Rate >= statemachine.MinRate && p.Rate <= statemachine.MaxRate) &&
		p.Cap >= statemachine.MinRate && p.Cap <= statemachine.MaxRate &&
		p.Burst >= 0 && p.Burst <= p.Cap &&
		p.SpacingUS >= 0 && p.SpacingUS <= longest && p.ResendDelayUS >= 0 && p.ResendDelayUS <= longest
}

// longest is the longest spacing and resend delay of a trace, in microseconds.
const longest = 1_000_000_000

func validGiveUp(us int64) bool { return us >= 1 && us <= 1<<61 }
