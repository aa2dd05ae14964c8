package driver

import "github.com/chunkwire/chunkwire/internal/udp"

// An answer goes to an address without a connection. Of these there can be as many
// as somebody forges, so they come last and few at a time.
const (
	// LargestAnswer is the most bytes of an answer.
	LargestAnswer = 80

	mostAnswers    = 1024 // that wait
	cheapAnswers   = 768  // that wait, with those to who has shown nothing
	answersAtOnce  = 16   // that are sent behind a batch of the connections'
	answersPlanned = answersAtOnce * LargestAnswer
)

type answer struct {
	to   udp.Addr
	size int
	data [LargestAnswer]byte
}

// answers is a queue of them. Its memory is made with the first, and used again.
type answers struct {
	ring  []answer
	first int
	count int
}

func (q *answers) full() bool { return q.count == mostAnswers }

func (q *answers) add(to udp.Addr, datagram []byte) {
	if q.ring == nil {
		q.ring = make([]answer, mostAnswers)
	}
	a := &q.ring[(q.first+q.count)%mostAnswers]
	a.to, a.size = to, copy(a.data[:], datagram)
	q.count++
}

// moveTo moves some into a batch.
func (q *answers) moveTo(b *Batch) {
	if b.answers == nil && q.count > 0 {
		b.answers = make([]byte, 0, answersPlanned)
	}
	for range min(q.count, answersAtOnce) {
		a := &q.ring[q.first]
		start := len(b.answers)
		b.answers = append(b.answers, a.data[:a.size]...)
		b.runs = append(b.runs, udp.Run{Data: b.answers[start:], Size: a.size, To: a.to})
		q.first = (q.first + 1) % mostAnswers
		q.count--
	}
}

// AnswersFullLocked reports whether so many answers wait that who has shown nothing yet
// should get none: then it need not be made. The places that are left are for who has
// answered a challenge.
func (d *Driver) AnswersFullLocked() bool { return d.answers.count >= cheapAnswers }

// AnswerLocked sends a datagram of at most LargestAnswer bytes to an address without
// a connection, after what connections send. It returns false if it was dropped.
func (d *Driver) AnswerLocked(to udp.Addr, datagram []byte) bool {
	if d.answers.full() || d.err != nil {
		return false
	}
	d.answers.add(to, datagram)
	d.wakeLocked()
	return true
}
