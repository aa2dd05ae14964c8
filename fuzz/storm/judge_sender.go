package main

import "bytes"

// senderJudge watches one sender.
type senderJudge struct {
	course *course
	pace   pace
	giveUp micros
	slack  micros // how late its driver may be

	reported int    // chunks that the machine said were delivered
	chunk    []byte // in flight, or nil
	slices   int
	sent     set
	acked    set
	missing  int    // slices that are not acked
	heardAt  micros // submission, news or a hold, whichever came last
	lastAt   micros // submission, news or the latest slice, whichever came last

	level   int64 // millionths of a byte in the bucket that were spent
	levelAt micros
}

func (j *senderJudge) id() uint16 { return j.course.firstID + uint16(j.reported) }

// submits: the application gives the machine a chunk, and it takes it.
func (j *senderJudge) submits(now micros, chunk []byte) *accusation {
	if j.chunk != nil {
		return accuse("S3", "took a chunk while another was in flight")
	}
	if len(chunk) < 1 || len(chunk) > maxChunk {
		return accuse("S2", "took a chunk of %d bytes", len(chunk))
	}
	j.course.submitted = append(j.course.submitted, bytes.Clone(chunk))
	j.chunk = j.course.submitted[len(j.course.submitted)-1]
	j.slices = (len(chunk) + 1023) / 1024
	j.sent, j.acked, j.missing = set{}, set{}, j.slices
	j.heardAt, j.lastAt = now, now
	j.refill(now)
	j.level = max(0, min(j.level, (j.pace.capacity-j.pace.burst)*1_000_000)) // BUD-5
	return nil
}

// refuses: the machine does not take a chunk.
func (j *senderJudge) refuses(size int) *accusation {
	if j.chunk == nil && size >= 1 && size <= maxChunk {
		return accuse("S1", "refused a chunk of %d bytes while idle", size)
	}
	return nil
}

// sends: a slice leaves the machine.
func (j *senderJudge) sends(now micros, p packet, size int) *accusation {
	k := p.slice
	switch {
	case j.chunk == nil:
		return accuse("CON-2", "sent slice %d of chunk %d with no chunk in flight", k, p.chunk)
	case p.chunk != j.id():
		return accuse("CID-2", "sent chunk %d, but %d is in flight", p.chunk, j.id())
	case p.slices != j.slices:
		return accuse("LIM-2", "cut a chunk of %d bytes into %d slices", len(j.chunk), p.slices)
	case j.acked[k]:
		return accuse("SCH-1", "sent slice %d of chunk %d again, though it was acked", k, p.chunk)
	case !bytes.Equal(p.data, j.chunk[1024*k:min(1024*k+1024, len(j.chunk))]):
		return accuse("SLC-4", "slice %d of chunk %d has other bytes than were submitted", k, p.chunk)
	}
	j.sent[k] = true
	j.lastAt = now
	return j.spend(now, size)
}

// hears: an ack has arrived at the machine.
func (j *senderJudge) hears(now micros, p packet) {
	if j.chunk == nil || p.chunk != j.id() || p.slices != j.slices {
		return
	}
	news := 0
	for k := range j.slices {
		if p.acked[k] && j.sent[k] && !j.acked[k] {
			j.acked[k] = true
			news++
			if j.pace.acksPay {
				j.level -= int64(j.cost(k)) * 1_000_000
			}
		}
	}
	j.level = max(0, j.level)
	hold := p.bits == 0 && j.missing == j.slices
	j.missing -= news
	if news > 0 {
		j.lastAt = now
	}
	if news > 0 || hold {
		j.heardAt = now
	}
}

// reports: after an ack the machine either says that the chunk is delivered, or not.
func (j *senderJudge) reports(delivered bool) *accusation {
	if !delivered {
		if j.chunk != nil && j.missing == 0 {
			return accuse("S10", "does not report chunk %d, of which all is acked", j.id())
		}
		return nil
	}
	if j.chunk == nil || j.missing > 0 {
		return accuse("SAFE-2", "reports chunk %d as delivered, of which %d slices are not acked", j.id(), j.missing)
	}
	if j.course.lawful() && j.course.complete < j.reported+1 {
		return accuse("SAFE-2", "reports chunk %d as delivered, but the receiver has not all of it", j.id())
	}
	j.chunk = nil
	j.reported++
	return nil
}

// fails: the machine has given up.
func (j *senderJudge) fails(now micros) *accusation {
	if j.chunk == nil {
		return accuse("S15", "gave up without a chunk in flight")
	}
	if now-j.heardAt < j.giveUp {
		return accuse("SND-9", "gave up on chunk %d %d us after the peer's last sign, with %d to wait", j.id(), now-j.heardAt, j.giveUp)
	}
	return nil
}

// waits: time has passed; since is when the machine was last able to act.
func (j *senderJudge) waits(now, since micros) *accusation {
	if j.chunk == nil {
		return nil
	}
	if now > max(j.heardAt+j.giveUp, since)+j.slack {
		return accuse("LIVE-3", "waits in silence: nothing came of chunk %d since %s, and it did not give up", j.id(), clock(j.heardAt))
	}
	between := patience // SCH-2: or what the rate asks for
	if j.pace.rate > 0 {
		between = max(between, 1_066*second/j.pace.rate)
	}
	if now > max(j.lastAt+between, since)+j.slack {
		return accuse("SCH-2", "sent no slice of chunk %d since %s", j.id(), clock(j.lastAt))
	}
	return nil
}

// spend: no more leaves than the bucket holds (section 9.5, or PAC-4).
func (j *senderJudge) spend(now micros, size int) *accusation {
	if j.pace.rate == 0 {
		return nil
	}
	j.refill(now)
	j.level += int64(size+headerBytes) * 1_000_000
	if j.level > j.pace.capacity*1_000_000 {
		return accuse(j.pace.rule, "overdrew its budget by %d millionths of a byte", j.level-j.pace.capacity*1_000_000)
	}
	return nil
}

func (j *senderJudge) refill(now micros) {
	j.level = max(0, j.level-j.pace.rate*min(now-j.levelAt, 1000*second))
	j.levelAt = now
}

// cost returns what slice k costs, header and all.
func (j *senderJudge) cost(k int) int {
	if k == j.slices-1 {
		return 14 + len(j.chunk) - 1024*k + headerBytes
	}
	return 1037 + headerBytes
}
