package port

import (
	"errors"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/trace"
)

// machine answers traces of a machine that is declared for package conform.
func machine(op *conform.Op) operation {
	return func(q *object) (any, error) {
		steps, err := op.Answer(q.fields, op.Product)
		if err != nil {
			return nil, err
		}
		return conform.Steps{OK: true, Steps: steps}, nil
	}
}

// traced reads the events of a trace up to the first bad one, and answers the trace: the
// events before one that cannot be read are run (TRC-6).
func traced[E, S any](q *object, read func(*object, *E) error, run func([]E) ([]S, error), answer func([]S) any) (any, error) {
	list := q.list("events")
	if *q.err != nil {
		return nil, *q.err
	}
	var events []E
	var unread error
	for _, text := range list {
		o, err := newObject(text)
		var e E
		if err == nil {
			err = read(o, &e)
		}
		if err == nil {
			err = *o.err
		}
		if err != nil {
			unread = err
			break
		}
		events = append(events, e)
	}
	steps, err := run(events)
	switch {
	case errors.Is(err, trace.ErrUnsupported):
		return nil, errUnsupported
	case err != nil:
		return nil, errBadRequest
	}
	return answer(steps), unread
}

// at reads the time of an event (CHO-12).
func (o *object) at() int64 { return o.within("at", 0, 1<<62-1) }
