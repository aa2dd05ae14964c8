package statemachine

import "github.com/chunkwire/chunkwire/codec/erasure"

// Transmissions of a chunk of k slices have the numbers 0, 1, 2, … The id of a number is
// the number itself up to 8,191; from there on the 8,192 - k ids of the repair slices come
// again and again.

// idOf returns the id of a transmission (RPN-2).
func idOf(number, k int) int {
	if number < erasure.MaxIDs {
		return number
	}
	return k + (number-k)%(erasure.MaxIDs-k)
}

// arrivedAs returns the number of the transmission by which a slice came: of those with
// its id the nearest to top (RPN-3).
func arrivedAs(id, top, k int) int {
	if id < k {
		return id
	}
	near, round := max(top, k), erasure.MaxIDs-k
	ahead := (id - idOf(near, k) + round) % round
	n := near + ahead
	if ahead >= round/2 {
		n -= round
	}
	if n < k {
		n += round
	}
	return n
}

// latestWith returns the highest number up to sent that has an id, or false if there is
// none (RPN-5).
func latestWith(id, sent, k int) (number int, ok bool) {
	if id > sent {
		return 0, false
	}
	if id < k {
		return id, true
	}
	return sent - (sent-id)%(erasure.MaxIDs-k), true
}
