package main

import (
	"errors"
	"math"
	"strings"
	"time"
)

// outage is when nothing gets through: for a time, from a moment on after the start, and then perhaps
// again and again.
type outage struct {
	length, at time.Duration
	every      time.Duration // 0: once
}

// forever is later than any moment.
const forever = time.Duration(math.MaxInt64)

// parseOutage reads LENGTH[@AT][/EVERY].
func parseOutage(text string) (o outage, err error) {
	rest, every, again := strings.Cut(text, "/")
	length, at, _ := strings.Cut(rest, "@")
	err = setDuration(&o.length, length)
	if err == nil && again {
		err = setDuration(&o.every, every)
		o.at = o.every
	}
	if err == nil && at != "" {
		err = setDuration(&o.at, at)
	}
	switch {
	case err != nil:
	case o.length == 0:
		err = errors.New("an outage has a length, such as 5s@10s")
	case again && o.every <= o.length:
		err = errors.New("an outage must be shorter than the time from one to the next")
	}
	return o, err
}

func (o outage) String() string {
	text := o.length.String() + "@" + o.at.String()
	if o.every > 0 {
		text += "/" + o.every.String()
	}
	return text
}

// on returns whether there is an outage at a moment, and when that changes.
func (o outage) on(now time.Duration) (on bool, change time.Duration) {
	begin := o.at
	if o.every > 0 && now > o.at {
		begin += (now - o.at) / o.every * o.every
	}
	switch {
	case now < begin:
		return false, begin
	case now < begin+o.length:
		return true, begin + o.length
	case o.every > 0:
		return false, begin + o.every
	}
	return false, forever
}

// out returns whether there is an outage of a way at a moment, and when that can change.
func (w *way) out(now time.Duration) (out bool, change time.Duration) {
	change = forever
	for _, o := range w.outages {
		on, next := o.on(now)
		out, change = out || on, min(change, next)
	}
	return out, change
}
