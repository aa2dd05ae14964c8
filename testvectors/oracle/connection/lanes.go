package connection

import "github.com/chunkwire/chunkwire/testvectors/oracle"

// ChunkSender and ChunkReceiver are the machines of a lane: sections 7 and 8 of PROTOCOL.md.
type ChunkSender interface {
	Submit(now int64, chunk []byte)
	Ack(now int64, p oracle.Packet)
	Poll(now int64) (p oracle.Packet, ok bool)
	Deadline() int64
	Idle() bool
	Failed() bool
	AllSent() bool // each slice of its chunk was sent once
}

// ChunkReceiver is the other machine.
type ChunkReceiver interface {
	Slice(now int64, p oracle.Packet)
	Poll(now int64) (p oracle.Packet, ok bool)
	Read(now int64) (chunk []byte, ok bool)
	Deadline() int64
	Failed() bool
}

// mostChunks is how many may wait behind those in flight.
const mostChunks = 8

// MostChunk is the largest chunk.
const MostChunk = 262144

// lanes is the lanes of one end: appendix D of PROTOCOL.md.
type lanes struct {
	senders   []ChunkSender
	receivers []ChunkReceiver
	queue     [][]byte
	out, in   int // the lanes of the next chunk to begin, and to read
}

func newLanes(n int, sender func() ChunkSender, receiver func() ChunkReceiver) *lanes {
	l := &lanes{}
	for range n {
		l.senders, l.receivers = append(l.senders, sender()), append(l.receivers, receiver())
	}
	return l
}

// submit puts a chunk in line.
func (l *lanes) submit(now int64, chunk []byte) (refused string) {
	switch {
	case len(chunk) < 1 || len(chunk) > MostChunk:
		return "chunk_size"
	case len(l.queue) == mostChunks:
		return "busy"
	}
	l.queue = append(l.queue, chunk)
	l.begin(now)
	return ""
}

// begin begins the chunks that may (LAN-4, LAN-7).
func (l *lanes) begin(now int64) {
	for len(l.queue) > 0 && l.senders[l.out].Idle() {
		before := l.senders[(l.out+len(l.senders)-1)%len(l.senders)]
		if !before.Idle() && !before.AllSent() {
			return
		}
		l.senders[l.out].Submit(now, l.queue[0])
		l.queue = l.queue[1:]
		l.out = (l.out + 1) % len(l.senders)
	}
}

// ack is an ack that came by a lane.
func (l *lanes) ack(now int64, lane int64, p oracle.Packet) {
	l.senders[lane].Ack(now, p)
	l.begin(now)
}

// slice is a slice that came by a lane.
func (l *lanes) slice(now int64, lane int64, p oracle.Packet) { l.receivers[lane].Slice(now, p) }

// pollAck gives an ack that is due, the lowest lane first.
func (l *lanes) pollAck(now int64) (lane int, p oracle.Packet, ok bool) {
	for k, r := range l.receivers {
		if p, ok := r.Poll(now); ok {
			return k, p, true
		}
	}
	return 0, p, false
}

// pollSlice gives a slice that is due, that of the chunk that was submitted first (LAN-8).
func (l *lanes) pollSlice(now int64) (lane int, p oracle.Packet, ok bool) {
	for i := range l.senders {
		k := (l.out + i) % len(l.senders)
		if p, ok := l.senders[k].Poll(now); ok {
			l.begin(now)
			return k, p, true
		}
	}
	return 0, p, false
}

// read gives the next chunk (LAN-5).
func (l *lanes) read(now int64) (chunk []byte, ok bool) {
	if len(l.receivers) == 0 {
		return nil, false
	}
	if chunk, ok = l.receivers[l.in].Read(now); ok {
		l.in = (l.in + 1) % len(l.receivers)
	}
	return chunk, ok
}

// ackAt and sliceAt are the first deadlines of the receivers and of the senders.
func (l *lanes) ackAt() int64 {
	at := int64(never)
	for _, r := range l.receivers {
		at = min(at, r.Deadline())
	}
	return at
}

func (l *lanes) sliceAt() int64 {
	at := int64(never)
	for _, s := range l.senders {
		at = min(at, s.Deadline())
	}
	return at
}

// failed reports whether a machine gave up (LAN-6).
func (l *lanes) failed() bool {
	for k := range l.senders {
		if l.senders[k].Failed() || l.receivers[k].Failed() {
			return true
		}
	}
	return false
}
