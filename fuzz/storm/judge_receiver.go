package main

import (
	"bytes"
	"slices"
)

// receiverJudge watches one receiver. What it knows of the receiver's state
// follows from what arrived and what was read, and from nothing else.
type receiverJudge struct {
	course *course
	giveUp micros
	slack  micros // how late its driver may be

	id         uint16      // of the current chunk
	slices     int         // of it; 0 while nothing of it is here
	have       [256][]byte // what arrived of it
	count      int
	progressAt micros
	previous   int // slices of the chunk before; 0 while there is none

	ready  []byte // a complete chunk that waits to be read
	isFull bool   // there is one
	held   int    // slices of the chunk that was last held
	read   int    // chunks that were read
	mixed  int64  // of an unlawful course: those that nobody submitted (CON-5)

	arrived int64     // slices that arrived
	acks    int64     // acks that were sent
	owed    [3]micros // until when an ack must go out; never if none is due
	places  set       // where slices were ever kept
}

// The three kinds of acks (section 8.2).
const (
	current = iota
	previous
	hold
)

func newReceiverJudge(c *course, giveUp, slack micros) *receiverJudge {
	return &receiverJudge{course: c, giveUp: giveUp, slack: slack, id: c.firstID, owed: [3]micros{never, never, never}}
}

// hears: a slice has arrived (section 8.4).
func (j *receiverJudge) hears(now micros, p packet) {
	j.arrived++
	switch {
	case p.chunk == j.id-1 && p.slices == j.previous:
		j.owe(previous, now+ackWithin)
	case p.chunk != j.id: // foreign
	case j.isFull:
		j.held = p.slices
		j.owe(hold, now+ackWithin)
	case j.slices > 0 && p.slices != j.slices && now-j.progressAt < j.giveUp/2: // conflicts
	case j.slices == p.slices && j.have[p.slice] != nil:
		j.owe(current, now+ackWithin)
	default:
		if j.slices != p.slices {
			j.begin(p.slices)
		}
		j.keep(now, p)
	}
}

func (j *receiverJudge) begin(slices int) {
	j.slices, j.have, j.count = slices, [256][]byte{}, 0
	j.owed[hold] = never
}

func (j *receiverJudge) keep(now micros, p packet) {
	j.have[p.slice] = p.data
	j.places[p.slice] = true
	j.count++
	j.progressAt = now
	j.owe(current, now+ackWithin)
	if j.count < j.slices {
		return
	}
	j.ready, j.isFull = bytes.Join(j.have[:j.slices], nil), true
	j.previous, j.slices, j.count, j.have = j.slices, 0, 0, [256][]byte{}
	j.id++
	j.course.complete++
	j.owed[current], j.owed[previous] = never, now // at once (ACQ-3)
}

func (j *receiverJudge) owe(kind int, by micros) { j.owed[kind] = min(j.owed[kind], by) }

// sends: an ack leaves the machine. It tells what the receiver has, neither more
// nor less.
func (j *receiverJudge) sends(p packet) *accusation {
	j.acks++
	if j.acks > j.arrived {
		return accuse("ACQ-2", "sent %d acks for %d slices", j.acks, j.arrived)
	}
	kind := current
	switch {
	case p.chunk == j.id-1 && p.slices == j.previous && p.bits == p.slices:
		kind = previous
	case p.chunk != j.id:
		return accuse("RCV-4", "acked chunk %d, of which the receiver has not all; the current one is %d", p.chunk, j.id)
	case j.slices == 0 && p.bits == 0 && p.slices == j.held:
		kind = hold
	case p.slices != j.slices:
		return accuse("RCV-16", "acked chunk %d with %d slices, not %d", p.chunk, p.slices, j.slices)
	default:
		for k := range p.slices {
			if p.acked[k] != (j.have[k] != nil) {
				return accuse("ACK-2", "says of slice %d of chunk %d that it has arrived: %v", k, p.chunk, p.acked[k])
			}
		}
	}
	if j.owed[kind] == never {
		return accuse("RCV-16", "sent an ack of chunk %d that was not due", p.chunk)
	}
	j.owed[kind] = never
	return nil
}

// delivers: the application has read a chunk.
func (j *receiverJudge) delivers(chunk []byte) *accusation {
	if !j.isFull {
		return accuse("SAFE-1", "delivered %d bytes while no chunk was complete", len(chunk))
	}
	if !bytes.Equal(chunk, j.ready) {
		return accuse("SAFE-1", "delivered other bytes than had arrived")
	}
	if j.course.lawful() {
		if j.read >= len(j.course.submitted) {
			return accuse("SAFE-1", "delivered %d chunks of %d", j.read+1, len(j.course.submitted))
		}
		if !bytes.Equal(chunk, j.course.submitted[j.read]) {
			return accuse("SAFE-1", "chunk number %d of the connection is not what was submitted", j.read)
		}
	}
	if !j.course.lawful() && !slices.ContainsFunc(j.course.submitted, func(c []byte) bool { return bytes.Equal(c, chunk) }) {
		j.mixed++
	}
	j.ready, j.isFull = nil, false
	j.read++
	return nil
}

// refuses: the machine had nothing to read.
func (j *receiverJudge) refuses() *accusation {
	if j.isFull {
		return accuse("SAFE-5", "refused to deliver the complete chunk %d", j.id-1)
	}
	return nil
}

// fails: the machine has given up.
func (j *receiverJudge) fails(now micros) *accusation {
	if j.slices == 0 {
		return accuse("R23", "gave up without a chunk that had begun")
	}
	if now-j.progressAt < j.giveUp {
		return accuse("RCV-9", "gave up on chunk %d %d us after its latest slice, with %d to wait", j.id, now-j.progressAt, j.giveUp)
	}
	return nil
}

// waits: time has passed; since is when the machine was last able to act.
func (j *receiverJudge) waits(now, since micros) *accusation {
	for _, by := range j.owed {
		if by != never && now > max(by, since)+j.slack {
			return accuse("LIVE-1", "did not send an ack that was due at %s", clock(by))
		}
	}
	if j.slices > 0 && now > max(j.progressAt+j.giveUp, since)+j.slack {
		return accuse("LIVE-3", "waits in silence: nothing came of chunk %d since %s, and it did not give up", j.id, clock(j.progressAt))
	}
	return nil
}

// holds: the receiver keeps so many bytes of memory (BND-1, RCV-18).
func (j *receiverJudge) holds(bytes int64) *accusation {
	kept := int64(0)
	for _, ever := range j.places {
		if ever {
			kept += 1024
		}
	}
	if bytes > kept+receiverBytes {
		return accuse("BND-1", "keeps %d bytes, though slices of %d arrived", bytes, kept)
	}
	return nil
}
