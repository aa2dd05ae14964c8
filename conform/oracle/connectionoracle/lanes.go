package connectionoracle

// ChunkSender and ChunkReceiver are the machines of a lane: sections 7 and 8 of PROTOCOL.md, or
// 5 and 6 of REPAIR.md. Their records need no lane.
type ChunkSender interface {
	Submit(now int64, chunk []byte)
	Ack(now int64, r Record)
	Poll(now int64) (r Record, ok bool)
	Deadline() int64
	Idle() bool
	Failed() bool
	AllSent() bool // each slice of its chunk was sent once
}

// Sharer is a ChunkSender of which one takes over, before its chunk begins, what the one before
// knows, and which says what the path holds and what is under way (LAN-9, LAN-10).
type Sharer interface {
	Adopt(before ChunkSender)
	PathSlices() int64
	InFlight() int64
	Yield(yields bool)
}

// ChunkReceiver is the other machine.
type ChunkReceiver interface {
	Slice(now int64, r Record)
	Poll(now int64) (r Record, ok bool)
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

// begin begins the chunks that may (LAN-4, LAN-7, LAN-9, LAN-10).
func (l *lanes) begin(now int64) {
	for len(l.queue) > 0 && l.senders[l.out].Idle() {
		before := l.senders[(l.out+len(l.senders)-1)%len(l.senders)]
		if !before.Idle() && (!before.AllSent() || l.pathIsFull(before)) {
			return
		}
		if to, shares := l.senders[l.out].(Sharer); shares && len(l.senders) > 1 {
			to.Adopt(before)
		}
		l.senders[l.out].Submit(now, l.queue[0])
		l.queue = l.queue[1:]
		l.out = (l.out + 1) % len(l.senders)
	}
}

// pathIsFull is LAN-10, by what the sender of the chunk before knows.
func (l *lanes) pathIsFull(before ChunkSender) bool {
	path, shares := before.(Sharer)
	if !shares {
		return false
	}
	inFlight := int64(0)
	for _, s := range l.senders {
		if !s.Idle() {
			inFlight += s.(Sharer).InFlight()
		}
	}
	return inFlight >= path.PathSlices()
}

// yield says whether messages go.
func (l *lanes) yield(yields bool) {
	for _, s := range l.senders {
		if path, shares := s.(Sharer); shares {
			path.Yield(yields)
		}
	}
}

// marked tells the scheduler of the lane whose chunk began last of marks, if it answers them.
func (l *lanes) marked(now, n int64) {
	latest := l.senders[(l.out+len(l.senders)-1)%len(l.senders)]
	if s, answers := latest.(interface{ Marked(now, n int64) }); answers {
		s.Marked(now, n)
	}
}

// ack is an ack that came by a lane.
func (l *lanes) ack(now int64, r Record) {
	l.senders[r.Lane].Ack(now, r)
	l.begin(now)
}

// slice is a slice that came by a lane.
func (l *lanes) slice(now int64, r Record) { l.receivers[r.Lane].Slice(now, r) }

// pollAck gives an ack that is due, the lowest lane first.
func (l *lanes) pollAck(now int64) (r Record, ok bool) {
	for k, receiver := range l.receivers {
		if r, ok = receiver.Poll(now); ok {
			r.Type, r.Lane = ChunkAck, int64(k)
			return r, true
		}
	}
	return r, false
}

// pollSlice gives a slice that is due, that of the chunk that was submitted first (LAN-8).
func (l *lanes) pollSlice(now int64) (r Record, ok bool) {
	l.begin(now)
	for i := range l.senders {
		k := (l.out + i) % len(l.senders)
		if r, ok = l.senders[k].Poll(now); ok {
			l.begin(now)
			r.Type, r.Lane = Slice, int64(k)
			return r, true
		}
	}
	return r, false
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
