package repairoracle

// ID is the id of transmission n of a chunk (section 3).
func ID(numSlices, n int64) int64 {
	if n < MaxIDs {
		return n
	}
	return numSlices + (n-numSlices)%(MaxIDs-numSlices)
}

// Arrived is the number of an id that arrives at a receiver whose top is a number.
func Arrived(numSlices, top, id int64) int64 {
	if id < numSlices {
		return id
	}
	r := MaxIDs - numSlices
	p := max(top, numSlices)
	d := (id - ID(numSlices, p) + r) % r
	n := p + d
	if d >= r/2 {
		n = p + d - r
	}
	if n < numSlices {
		n += r
	}
	return n
}

// Field is the number that the field top of an ack stands for at a sender that made so many
// transmissions: the largest that it can be. There may be none.
func Field(numSlices, sent, field int64) (top int64, some bool) {
	for n := sent; n >= 0; n-- {
		if ID(numSlices, n) == field {
			return n, true
		}
	}
	return 0, false
}
