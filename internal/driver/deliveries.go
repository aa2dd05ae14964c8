package driver

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// Deliveries are the deliveries of a connection that are not done. They need a lock.
type Deliveries struct {
	list []numbered
	room Signal
}

// numbered is a delivery, and the number that its chunk has in the connection.
type numbered struct {
	number   int64
	begun    core.Micros
	delivery *Delivery
}

// Len returns how many there are.
func (l *Deliveries) Len() int { return len(l.list) }

// Room returns a channel that is closed when one of them is done.
func (l *Deliveries) Room() <-chan struct{} { return l.room.Wait() }

// Add adds a delivery that has begun now.
func (l *Deliveries) Add(number int64, now core.Micros, by Deliverer, chunk []byte) *Delivery {
	d := &Delivery{by: by, chunk: chunk, done: make(chan struct{})}
	l.list = append(l.list, numbered{number, now, d})
	return d
}

// Number returns the number of a delivery; false if it is done.
func (l *Deliveries) Number(d *Delivery) (number int64, ok bool) {
	i := slices.IndexFunc(l.list, func(n numbered) bool { return n.delivery == d })
	if i < 0 {
		return 0, false
	}
	return l.list[i].number, true
}

// Finish ends the delivery with a number, and returns when it had begun; false if there is none.
func (l *Deliveries) Finish(number int64, err error) (begun core.Micros, ok bool) {
	i := slices.IndexFunc(l.list, func(n numbered) bool { return n.number == number })
	if i < 0 {
		return 0, false
	}
	begun = l.list[i].begun
	l.list[i].delivery.finish(err)
	if l.list = slices.Delete(l.list, i, i+1); len(l.list) == 0 {
		l.list = nil // an idle connection is to cost little
	}
	l.room.Give()
	return begun, true
}

// End ends all of them, and wakes who waits for room.
func (l *Deliveries) End(err error) {
	for _, n := range l.list {
		n.delivery.finish(err)
	}
	l.list = nil
	l.room.Give()
}
