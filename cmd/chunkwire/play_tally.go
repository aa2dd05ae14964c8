package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/channel"
)

// tally is the messages sent on a channel in one direction of a connection, and which of them
// arrived. It is safe for concurrent use.
type tally struct {
	name string // for people
	kind channel.Kind

	mu      sync.Mutex
	sent    []sentMessage
	arrived int
	ages    []float64 // of what arrived, in ms
	faults  []string  // what must not happen
	away    bool      // the other end cannot be reached: what is sent need not arrive
}

// sentMessage is what is remembered of a message.
type sentMessage struct {
	at      time.Time
	sum     uint32
	arrived bool
	away    bool
}

const (
	numberSize = 4 // bytes: each message begins with its number
	mostFaults = 10
)

// send numbers a message and gives it to a function that sends it. What that refuses
// was not sent.
func (t *tally) send(body []byte, give func([]byte) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	message := append(binary.LittleEndian.AppendUint32(nil, uint32(len(t.sent))), body...)
	t.sent = append(t.sent, sentMessage{at: time.Now(), sum: crc32.ChecksumIEEE(message), away: t.away})
	err := give(message)
	if err != nil {
		t.sent = t.sent[:len(t.sent)-1]
	}
	return err
}

// receive compares a message with the one that was sent, and returns its body: nil if it is
// another one.
func (t *tally) receive(message []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	number := -1
	if len(message) >= numberSize {
		number = int(binary.LittleEndian.Uint32(message))
	}
	if number < 0 || number >= len(t.sent) || t.sent[number].sum != crc32.ChecksumIEEE(message) {
		return t.fault("%s: a message arrived that was not sent", t.name)
	}
	m := &t.sent[number]
	switch {
	case m.arrived:
		return t.fault("%s: message %d arrived twice", t.name, number)
	case t.kind == channel.Ordered && number != t.arrived:
		return t.fault("%s: message %d arrived in place of %d", t.name, number, t.arrived)
	}
	m.arrived = true
	t.arrived++
	t.ages = append(t.ages, milliseconds(time.Since(m.at)))
	return message[numberSize:]
}

func (t *tally) fault(format string, args ...any) []byte {
	if len(t.faults) < mostFaults {
		t.faults = append(t.faults, fmt.Sprintf(format, args...))
	}
	return nil
}

// setAway says whether the other end can be reached from now on.
func (t *tally) setAway(away bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = away
}

// end says that the connection has ended in the middle: what has not arrived will not.
func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.sent {
		t.sent[i].away = true
	}
	t.away = true
}

// tallyCounts sum up tallies. Due is what should have arrived: without messages sent to an
// end that could not be reached.
type tallyCounts struct {
	Sent       int `json:"sent"`
	Due        int `json:"due"`
	Arrived    int `json:"arrived"`     // of all that was sent
	DueArrived int `json:"due_arrived"` // of those due
}

// missing is how many of a reliable channel have not arrived. A channel keeps what it
// has for an end that is away; only the end of the connection excuses it.
func (c tallyCounts) missing() int { return c.Due - c.DueArrived }

func (c *tallyCounts) add(o tallyCounts) {
	c.Sent, c.Due, c.Arrived, c.DueArrived = c.Sent+o.Sent, c.Due+o.Due, c.Arrived+o.Arrived, c.DueArrived+o.DueArrived
}

// share returns which part of the messages due has arrived, in percent; nil if none was due.
func (c tallyCounts) share() *float64 {
	if c.Due == 0 {
		return nil
	}
	share := 100 * float64(c.DueArrived) / float64(c.Due)
	return &share
}

func (t *tally) counts() tallyCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := tallyCounts{Sent: len(t.sent), Arrived: t.arrived}
	for _, m := range t.sent {
		if !m.away {
			c.Due++
			if m.arrived {
				c.DueArrived++
			}
		}
	}
	return c
}

// takeAges adds the ages of what arrived since the last call with another count.
func (t *tally) agesFrom(first int) []float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]float64(nil), t.ages[min(first, len(t.ages)):]...)
}

func (t *tally) wrong() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.faults...)
}
