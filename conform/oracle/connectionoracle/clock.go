package connectionoracle

// The constants of section 8.4.
const (
	clockInterval = 200_000
	sizeOfClock   = 15
	noEcho        = 1<<32 - 1
)

// clocks are the variables of section 8.4.
type clocks struct {
	saidAt               int64 // -1: never
	number, sent, cameAt int64 // of the newest CLOCK that came; number is -1 before
	measured             bool
	RTT                  int64
	Low, High, known     int64
}

// Clocks is what is known of the round trip and of the other end's clock, or nil.
func (k *Connection) Clocks() *clocks {
	if k.clocks == nil || !k.clocks.measured {
		return nil
	}
	return k.clocks
}

// put appends a CLOCK, if one is due and fits (CXM-29).
func (c *clocks) put(now int64, w *writing) (bytes int) {
	if c == nil || c.saidAt >= 0 && now < c.saidAt+clockInterval || w.left < sizeOfClock {
		return 0
	}
	c.saidAt = now
	r := Record{Type: Clock, Sent: now % (1 << 48), Wait: noEcho}
	if c.number >= 0 {
		r.Echo, r.Wait = c.sent%(1<<32), min(now-c.cameAt, noEcho-1)
	}
	b, err := Encode(Format{Clock: true}, []Record{r})
	if err != nil {
		panic(err) // of a machine
	}
	w.payload, w.left = append(w.payload, b...), w.left-len(b)
	return len(b)
}

// take is a CLOCK of a packet of the peer (CXM-30).
func (c *clocks) take(now, number int64, r Record) {
	if number <= c.number {
		return
	}
	c.number, c.sent, c.cameAt = number, r.Sent, now
	trip := ((now-r.Echo-r.Wait)%(1<<32) + 1<<32) % (1 << 32)
	if r.Wait == noEcho || trip >= 1<<31 {
		return
	}
	low, high := r.Sent-now, r.Sent-now+trip
	if c.measured {
		wider := (now - c.known) / 5000
		if from, to := max(low, c.Low-wider), min(high, c.High+wider); from <= to {
			low, high = from, to
		}
		trip = c.RTT + (trip-c.RTT)/8
	}
	c.measured, c.RTT, c.Low, c.High, c.known = true, trip, low, high, now
}
