package chunks

import (
	"reflect"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// This file makes events out of how the oracle stands: of a chunk with few slices, acks of what
// was sent, slices of what is missing. The first of the ways to make an event takes all of it
// from the source, and so is the scheduler of the events of vectors.

// The numbers of a Look.
const (
	chunkID = iota
	numSlices
	transmissions // of a sender
	have
	top
	lastBytes // of a receiver
)

// The sets of a Look. Of a receiver the first one is of the slices that are here.
const (
	sentOrHere = iota
	acked
)

// Look is what makers of events aim at.
func (o *OracleSender) Look() conform.Look {
	return conform.Look{
		Deadline: conform.If(o.Deadline()), Sets: [2][]bool{o.SentOnce(), o.Acked()},
		Near: [6]int64{chunkID: o.ChunkID(), numSlices: o.NumSlices(), transmissions: o.Transmissions(), have: o.Have(), top: o.Top()},
	}
}

// Look is what makers of events aim at.
func (o *OracleReceiver) Look() conform.Look {
	look := conform.Look{
		Deadline: conform.If(o.Deadline()),
		Near:     [6]int64{chunkID: o.ChunkID(), numSlices: o.NumSlices(), have: o.Have(), top: o.Top(), lastBytes: o.LastBytes()},
	}
	if o.kind == chunkoracle.Named {
		look.Sets[sentOrHere] = o.Received()
	}
	return look
}

// asItIs is the first way to make an event.
const asItIs = 0

// nearby reads the id of a chunk: mostly the current one.
func nearby(in conform.Source, look conform.Look) uint16 {
	return uint16(look.Near[chunkID] + []int64{0, 0, 0, 0, 0, 0, -1, 1}[in.Number(0, 7)])
}

// mostBack is how far back an event of a talk refers to what the other end sent.
const mostBack = 255

// came is the event that something arrives which the other end of a talk has sent: there nothing
// else does, and without it the event is a poll.
func came(in conform.Source, look conform.Look, poll conform.Event) (conform.Event, bool) {
	switch {
	case look.Came == nil:
		return nil, false
	case len(look.Came) == 0:
		return poll, true
	}
	return arriving(look.Back(in)), true
}

// packCame is the inverse.
func packCame(out []byte, e conform.Event, look conform.Look) ([]byte, bool) {
	back := int64(0)
	for n := range min(len(look.Came), mostBack+1) {
		if reflect.DeepEqual(arriving(look.Came[len(look.Came)-1-n]), e) {
			back = int64(n)
			break
		}
	}
	return conform.AppendNumber(out, 0, mostBack, back), len(look.Came) > 0
}

// few is below how many slices chunks mostly have.
const few = 6

// Unpack makes a chunk of a few slices, of which the last one may be special, or any.
func (Submit) Unpack(in conform.Source, _ any, _ conform.Look) conform.Event {
	if way := in.Number(0, 7); way != asItIs {
		return Submit{in.Number(0, few-1)*chunkoracle.SliceSize + []int64{1, 2, 500, 1023, 1024, 1024, 1025, 7}[way]}
	}
	return Submit{in.Number(0, 2*chunkoracle.MaxChunk)}
}

// Pack is the inverse.
func (e Submit) Pack(out []byte, _ any, _ conform.Look) []byte {
	return conform.AppendNumber(append(out, asItIs), 0, 2*chunkoracle.MaxChunk, e.Size)
}

// The ways to make an ack.
const (
	allSent = iota + 1
	someSent
	aHold
	forged
	waysToAck = 8 // the others are someSent
)

// masked reads a set: its first 64 by 8 bytes, and the others by a byte of which each bit stands
// for 24.
func masked(in conform.Source, n int64) []bool {
	first, rest := uint64(in.Number(0, 1<<32-1))|uint64(in.Number(0, 1<<32-1))<<32, in.Number(0, 255)
	set := make([]bool, n)
	for i := range set {
		if i < 64 {
			set[i] = first>>i&1 == 1
		} else {
			set[i] = rest>>((i-64)/24)&1 == 1
		}
	}
	return set
}

// Unpack makes an ack.
func (Ack) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	if e, is := came(in, look, Poll{}); is {
		return e
	}
	way := in.Number(0, waysToAck-1)
	if way == asItIs {
		id, n := uint16(in.Number(0, 65535)), in.Number(1, chunkoracle.MaxSlices)
		text := ""
		for n > 0 {
			part := in.Number(0, 255)
			for i := 0; i < 8 && n > 0; i, n = i+1, n-1 {
				text += string('0' + byte(part>>i&1))
			}
		}
		return Ack{id, text}
	}
	n := max(look.Near[numSlices], 1)
	e, set := Ack{ChunkID: nearby(in, look)}, make([]bool, n)
	if way != aHold && way != allSent {
		set = masked(in, n)
	}
	for i, was := range look.Sets[sentOrHere][:min(n, int64(len(look.Sets[sentOrHere])))] {
		if set[i] = set[i] && was; way == allSent {
			set[i] = was
		}
	}
	if way == forged {
		set = masked(in, n)
	}
	e.Acked = bits(set)
	return e
}

// Pack is the inverse.
func (e Ack) Pack(out []byte, _ any, look conform.Look) []byte {
	if referred, is := packCame(out, e, look); is {
		return referred
	}
	n := int64(len(e.Acked))
	if out, ok := asNearby(append(out, allSent), e.ChunkID, look); ok && e.Acked == bits(look.Sets[sentOrHere]) {
		return out
	}
	if out, ok := asNearby(append(out, aHold), e.ChunkID, look); ok && n == max(look.Near[numSlices], 1) && !strings.Contains(e.Acked, "1") {
		return out
	}
	out = conform.AppendNumber(conform.AppendNumber(append(out, asItIs), 0, 65535, int64(e.ChunkID)), 1, chunkoracle.MaxSlices, n)
	for i := 0; i < len(e.Acked); i += 8 {
		part := int64(0)
		for k, c := range e.Acked[i:min(i+8, len(e.Acked))] {
			part |= int64(c-'0') << k
		}
		out = conform.AppendNumber(out, 0, 255, part)
	}
	return out
}

// asNearby writes the id of the current chunk, if it is that.
func asNearby(out []byte, id uint16, look conform.Look) ([]byte, bool) {
	return append(out, 0), int64(id) == look.Near[chunkID]
}

// Unpack makes an ack.
func (RepairAck) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	if e, is := came(in, look, RepairPoll{}); is {
		return e
	}
	way := in.Number(0, waysToAck-1)
	if way == asItIs {
		return conform.AsDeclared[RepairAck](in)
	}
	e := RepairAck{ChunkID: nearby(in, look), NumSlices: max(look.Near[numSlices], 1)}
	switch sent := look.Near[transmissions]; way {
	case allSent:
		e.Have, e.Top = min(sent, e.NumSlices), repairoracle.ID(e.NumSlices, sent)
	case aHold:
	case forged:
		e.Have, e.Top = in.Number(0, e.NumSlices), in.Number(0, repairoracle.MaxIDs-1)
	default:
		n := in.Number(look.Near[top], max(sent, look.Near[top]))
		e.Have, e.Top = min(in.Number(0, 255)*n/255, max(e.NumSlices-1, 0)), repairoracle.ID(e.NumSlices, n)
	}
	return e
}

// Pack is the inverse.
func (e RepairAck) Pack(out []byte, _ any, look conform.Look) []byte {
	if referred, is := packCame(out, e, look); is {
		return referred
	}
	return conform.AppendDeclared(append(out, asItIs), e)
}

// The ways to poll a sender.
const (
	plainly = iota + 1
	inOrder
	waysToPoll = 4
)

// mostDue is the most that is made of what is due.
const mostDue = 40

// Unpack makes a poll: a script sends the next slice that was not acked.
func (Poll) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	way := in.Number(0, waysToPoll-1)
	var e Poll
	switch {
	case way == asItIs:
		e.Due = []int64{}
		for range in.Number(0, 4096) {
			e.Due = append(e.Due, in.Number(0, 255))
		}
	case way == plainly || config.(SenderConfig).Profile.Is || look.Near[numSlices] == 0:
	default:
		from := in.Number(0, look.Near[numSlices]-1)
		for k := range in.Number(0, mostDue) {
			if id := (from + k) % look.Near[numSlices]; !look.Sets[acked][id] {
				e.Due = append(e.Due, id)
			}
		}
	}
	return e
}

// Pack is the inverse.
func (e Poll) Pack(out []byte, _ any, _ conform.Look) []byte {
	if e.Due == nil {
		return append(out, plainly)
	}
	out = conform.AppendNumber(append(out, asItIs), 0, 4096, int64(len(e.Due)))
	for _, id := range e.Due {
		out = conform.AppendNumber(out, 0, 255, id)
	}
	return out
}

// Unpack makes a poll.
func (RepairPoll) Unpack(in conform.Source, config any, look conform.Look) conform.Event {
	switch way := in.Number(0, waysToPoll-1); {
	case way == asItIs:
		return RepairPoll{conform.Some(in.Number(0, 16_384))}
	case way == plainly || config.(RepairSenderConfig).Profile.Is || look.Near[numSlices] == 0:
		return RepairPoll{}
	}
	return RepairPoll{conform.Some(in.Number(0, mostDue))}
}

// Pack is the inverse.
func (e RepairPoll) Pack(out []byte, _ any, _ conform.Look) []byte {
	if !e.Due.Is {
		return append(out, plainly)
	}
	return conform.AppendNumber(append(out, asItIs), 0, 16_384, e.Due.V)
}

// The ways to make a slice.
const (
	theNext = iota + 1
	ofTheChunk
	filled
	otherForm
	waysToArrive = 8 // the others are ofTheChunk
)

// form is how many slices a chunk has, and how long its last one is: as the current one, or by its
// id.
func form(id uint16, look conform.Look) (n, last int64) {
	if n = look.Near[numSlices]; n == 0 || int64(id) != look.Near[chunkID] {
		return 1 + int64(id)%few, 1 + int64(id)*37%chunkoracle.SliceSize
	}
	if last = look.Near[lastBytes]; last == 0 {
		last = 1 + int64(id)*37%chunkoracle.SliceSize
	}
	return n, last
}

// Unpack makes a slice.
func (Slice) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	if e, is := came(in, look, ReceiverPoll{}); is {
		return e
	}
	way := in.Number(0, waysToArrive-1)
	if way == asItIs {
		return conform.AsDeclared[Slice](in)
	}
	e := Slice{ChunkID: nearby(in, look)}
	n, last := form(e.ChunkID, look)
	if e.NumSlices = n; way == otherForm {
		e.NumSlices = in.Number(1, 256)
	}
	e.SliceID = in.Number(0, 255) % e.NumSlices
	if way == theNext {
		for e.SliceID = 0; e.SliceID < n-1 && int(e.SliceID) < len(look.Sets[sentOrHere]) && look.Sets[sentOrHere][e.SliceID]; e.SliceID++ {
		}
	}
	if e.Size = chunkoracle.SliceSize; e.SliceID == e.NumSlices-1 {
		e.Size = last
	}
	if way == filled {
		e.Fill = conform.Some(uint8(in.Number(0, 255)))
	}
	return e
}

// Pack is the inverse.
func (e Slice) Pack(out []byte, _ any, look conform.Look) []byte {
	if referred, is := packCame(out, e, look); is {
		return referred
	}
	return conform.AppendDeclared(append(out, asItIs), e)
}

// Unpack makes a slice: with a small id, or one of the last ones.
func (RepairSlice) Unpack(in conform.Source, _ any, look conform.Look) conform.Event {
	if e, is := came(in, look, ReceiverPoll{}); is {
		return e
	}
	way := in.Number(0, waysToArrive-1)
	if way == asItIs {
		return conform.AsDeclared[RepairSlice](in)
	}
	e := RepairSlice{ChunkID: nearby(in, look)}
	if e.NumSlices, e.LastBytes = form(e.ChunkID, look); way == otherForm {
		e.NumSlices, e.LastBytes = in.Number(1, few), in.Number(1, 1024)
	}
	if e.SliceID = in.Number(0, 255) % (2*e.NumSlices + 20); e.SliceID >= 2*e.NumSlices+12 {
		e.SliceID = repairoracle.MaxIDs - (2*e.NumSlices + 20 - e.SliceID)
	}
	if way == theNext {
		e.SliceID = repairoracle.ID(e.NumSlices, look.Near[top])
	}
	if way == filled {
		e.Fill = conform.Some(uint8(in.Number(0, 255)))
	}
	return e
}

// Pack is the inverse.
func (e RepairSlice) Pack(out []byte, _ any, look conform.Look) []byte {
	if referred, is := packCame(out, e, look); is {
		return referred
	}
	return conform.AppendDeclared(append(out, asItIs), e)
}

// IDOf is the id of a transmission of repair slices.
func IDOf(numSlices, n int64) int64 { return repairoracle.ID(numSlices, n) }
