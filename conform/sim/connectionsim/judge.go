package connectionsim

import (
	"bytes"
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// Side is an end of a connection.
type Side int

// The sides.
const (
	ClientSide Side = iota
	ServerSide
)

func (s Side) String() string { return [...]string{"client", "server"}[s] }

// Judge watches connections from outside. It knows each by its link, and what was accepted and
// read at both ends. It needs no model.
type Judge struct {
	channels map[uint8]channel.Config
	links    map[uint32]*judged
	drawn    map[session.Address]*balance
}

// judged is a connection: what each side sends, and how much of it the network has marked.
type judged struct {
	flows  [2]*flow
	marked [2]int64
}

// flow is what one side has accepted and the other has read.
type flow struct {
	messages map[uint8]*sentMessages // by channel
	chunks   [][]byte
	read     int // chunks
}

// sentMessages are the messages of a channel; a reliable one has a ledger.
type sentMessages struct {
	*channels.Ledger
	contents map[string]int // how often it was accepted and not read, of an unreliable one
	newest   core.Number    // that was read, of kind latest
}

// balance is what an address was sent by the server, and what came from it.
type balance struct {
	in, out int
	proven  bool
}

// NewJudge returns the judge of connections with these channels.
func NewJudge(list []channel.Config) *Judge {
	j := &Judge{channels: map[uint8]channel.Config{}, links: map[uint32]*judged{}, drawn: map[session.Address]*balance{}}
	for _, c := range list {
		c.Format = c.Format.WithDefaults()
		j.channels[c.ID] = c
	}
	return j
}

func (j *Judge) link(number uint32) *judged {
	if j.links[number] == nil {
		j.links[number] = &judged{}
	}
	return j.links[number]
}

func (j *Judge) flow(link uint32, from Side) *flow {
	c := j.link(link)
	if c.flows[from] == nil {
		c.flows[from] = &flow{messages: map[uint8]*sentMessages{}}
	}
	return c.flows[from]
}

func (j *Judge) messages(link uint32, from Side, id uint8) *sentMessages {
	f, c := j.flow(link, from), j.channels[id]
	if f.messages[id] == nil {
		f.messages[id] = &sentMessages{Ledger: channels.NewLedger(c.Kind == channel.Ordered, int64(c.Data), int64(c.First)), contents: map[string]int{}}
	}
	return f.messages[id]
}

// violates returns an error about a property.
func violates(property, format string, args ...any) error {
	return fmt.Errorf("%s: %s", property, fmt.Sprintf(format, args...))
}

// Sent says that a side accepted a message.
func (j *Judge) Sent(link uint32, from Side, id uint8, message []byte, mortal bool) {
	s, diesAt := j.messages(link, from, id), int64(channels.Lives)
	if mortal {
		diesAt = 0
	}
	if !j.channels[id].Kind.Reliable() {
		s.contents[string(message)]++
		return
	}
	s.Sent(string(message), diesAt)
}

// Marked says that the network has marked a datagram of a side.
func (j *Judge) Marked(link uint32, from Side) { j.link(link).marked[from]++ }

// Told says how many marks a side was told of. There are no more than the network has made (CXM-16).
func (j *Judge) Told(link uint32, side Side, marks int64) error {
	if most := j.link(link).marked[side]; marks > most {
		return violates("CXM-16", "link %d: the %v was told of %d marks, and there were %d", link, side, marks, most)
	}
	return nil
}

// Read says that the other side read a message, or was told that one is skipped.
func (j *Judge) Read(link uint32, from Side, id uint8, r channel.Message) error {
	s := j.messages(link, from, id)
	if kind := j.channels[id].Kind; !kind.Reliable() {
		if kind == channel.Latest && r.Sequence < s.newest {
			return violates("CHU-8", "link %d, channel %d of the %v: packet %d is read behind %d", link, id, from, r.Sequence, s.newest)
		}
		s.newest = r.Sequence
		if s.contents[string(r.Data)]--; s.contents[string(r.Data)] < 0 {
			return violates("CXT-SAFE-6", "link %d, channel %d of the %v: %d bytes were not sent, or are read twice", link, id, from, len(r.Data))
		}
		return nil
	}
	if err := s.Ledger.Read(0, int64(r.Sequence), string(r.Data), r.Skipped); err != nil {
		return violates("CXT-SAFE-6", "link %d, channel %d of the %v: %v", link, id, from, err)
	}
	return nil
}

// SentChunk says that a side accepted a chunk.
func (j *Judge) SentChunk(link uint32, from Side, chunk []byte) {
	f := j.flow(link, from)
	f.chunks = append(f.chunks, chunk)
}

// ReadChunk says that the other side read a chunk.
func (j *Judge) ReadChunk(link uint32, from Side, chunk []byte) error {
	f := j.flow(link, from)
	if f.read == len(f.chunks) || !bytes.Equal(chunk, f.chunks[f.read]) {
		return violates("CXT-SAFE-6", "link %d: chunk %d of the %v is read as %d bytes that are another", link, f.read, from, len(chunk))
	}
	f.chunks[f.read] = nil
	f.read++
	return nil
}

// Settled returns which of a side's reliable messages and chunks were not read. Of channels that have failed,
// a bit each, nothing more is (CXL-17).
func (j *Judge) Settled(link uint32, from Side, failed uint64) error {
	f := j.flow(link, from)
	for id, s := range f.messages {
		if s.Tail() < s.Next() && failed>>id&1 == 0 {
			return violates("CXT-SAFE-6", "link %d, channel %d: sequence %d of the %v was not read", link, id, s.Tail(), from)
		}
	}
	if f.read < len(f.chunks) {
		return violates("CXT-SAFE-6", "link %d: chunk %d of the %v was not read", link, f.read, from)
	}
	return nil
}

func (j *Judge) balance(a session.Address) *balance {
	if j.drawn[a] == nil {
		j.drawn[a] = &balance{}
	}
	return j.drawn[a]
}

// Came says that the server got a datagram that claims to be from an address.
func (j *Judge) Came(from session.Address, size int) { j.balance(from).in += size }

// Proven says that a connection is at an address: who is there can read what comes.
func (j *Judge) Proven(a session.Address) { j.balance(a).proven = true }

// Went says that the server sends a datagram to an address. One that is not proven gets less
// than came from it (CXT-BND-1).
func (j *Judge) Went(to session.Address, size int) error {
	b := j.balance(to)
	b.out += size
	if !b.proven && b.out >= b.in {
		return violates("CXT-BND-1", "%d bytes go to an address that sent %d", b.out, b.in)
	}
	return nil
}

// Ended checks that an end that is over says why.
func (j *Judge) Ended(link uint32, side Side, err error) error {
	if err == nil {
		return violates("CXT-LIVE-2", "link %d ends at the %v without a reason", link, side)
	}
	return nil
}
