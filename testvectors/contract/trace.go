package contract

import "encoding/json"

// SenderRequest is a trace of a sender, without its id.
type SenderRequest struct {
	Op     string       `json:"op"`
	Config SenderConfig `json:"config"`
	Events []Event      `json:"events"`
}

// ReceiverRequest is a trace of a receiver, without its id.
type ReceiverRequest struct {
	Op     string         `json:"op"`
	Config ReceiverConfig `json:"config"`
	Events []Event        `json:"events"`
}

// TraceResponse is the response to a trace, without its id.
type TraceResponse struct {
	Answer
	Steps []Step `json:"steps"`
}

// SenderConfig sets up a sender for a trace (TRC-2). It has one of the profiles, or none: then
// the scheduler is a script. In JSON both are its profile.
type SenderConfig struct {
	FirstChunkID uint16
	GiveUpUS     int64
	Profile      *Profile         // the base algorithm
	Recovery     *RecoveryProfile // the recommended scheduler (RVO-1)
}

// senderConfig is a SenderConfig in JSON, whose profile is of either kind.
type senderConfig[P any] struct {
	FirstChunkID uint16 `json:"first_chunk_id"`
	GiveUpUS     int64  `json:"give_up_us"`
	Profile      P      `json:"profile"`
}

// MarshalJSON is json.Marshaler's.
func (c SenderConfig) MarshalJSON() ([]byte, error) {
	if c.Recovery != nil {
		return json.Marshal(senderConfig[*RecoveryProfile]{c.FirstChunkID, c.GiveUpUS, c.Recovery})
	}
	return json.Marshal(senderConfig[*Profile]{c.FirstChunkID, c.GiveUpUS, c.Profile})
}

// UnmarshalJSON is json.Unmarshaler's.
func (c *SenderConfig) UnmarshalJSON(text []byte) error {
	var recovery senderConfig[*RecoveryProfile]
	if err := json.Unmarshal(text, &recovery); err != nil {
		return err
	}
	*c = SenderConfig{FirstChunkID: recovery.FirstChunkID, GiveUpUS: recovery.GiveUpUS}
	if p := recovery.Profile; p != nil && p.Recovery != "" {
		c.Recovery = p
		return nil
	}
	var base senderConfig[*Profile]
	err := json.Unmarshal(text, &base)
	c.Profile = base.Profile
	return err
}

// RecoveryProfile is the profile of the recommended scheduler (RVO-1).
type RecoveryProfile struct {
	Recovery string `json:"recovery"` // adaptive, redundant, burst or fixed
	Rate     int64  `json:"rate"`     // the limit in bits a second, 0 for none
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

// ReceiverConfig sets up a receiver for a trace (TRC-3).
type ReceiverConfig struct {
	FirstChunkID uint16 `json:"first_chunk_id"`
	GiveUpUS     int64  `json:"give_up_us"`
}

// Event is something that happens to a machine in a trace. Fields that only some
// events have are pointers.
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
	Count     *int    `json:"count,omitempty"`  // of marks (RVO-3)
	Yields    *bool   `json:"yields,omitempty"` // of yield (RVO-3)
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
	Packets    []Sent   `json:"packets"`
	Chunk      *Content `json:"chunk,omitempty"`
	Error      string   `json:"error,omitempty"`
}

// Sent is a packet that a machine sent in a trace.
type Sent struct {
	Type      string  `json:"type"`
	ChunkID   uint16  `json:"chunk_id"`
	SliceID   *int    `json:"slice_id,omitempty"`
	NumSlices *int    `json:"num_slices,omitempty"`
	Size      *int    `json:"size,omitempty"`
	CRC32     *uint32 `json:"crc32,omitempty"`
	Acked     *string `json:"acked,omitempty"`
}

// Content stands for data, by its length and CRC-32.
type Content struct {
	Size  int    `json:"size"`
	CRC32 uint32 `json:"crc32"`
}
