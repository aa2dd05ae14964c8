package channeloracle_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// nacks is how the receiver of tachyon makes its nacks, as its description and the document
// have it: its window goes from the last sequence below which all has come to the last one
// that has come, and is walked from back to front. A sequence that is missing begins a nack,
// with flags for the 32 below it, and the walk goes on below these. A round is spent for a
// nack, and for each sequence that has come; there are 16 (T-3). whole is that the walk
// reached the end of the window.
func nacks(base, newest int64, has func(int64) bool) (list []channeloracle.Group, whole bool) {
	current := newest
	for range 16 {
		if current < base {
			return list, true
		}
		if has(current) {
			current--
			continue
		}
		nack := channeloracle.Group{Start: current}
		for bit := range int64(32) {
			if n := current - 1 - bit; n >= base && !has(n) {
				nack.Bits |= 1 << bit
			}
		}
		list = append(list, nack)
		current -= 33
	}
	return list, current < base
}

// Reports equal the nacks of tachyon where these are whole, and name more where these are
// not.
func TestReportsAreTheNacksOfTachyon(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, seed))
	equal, more := 0, 0
	for range 700 {
		p := channeloracle.NewReceiver(channeloracle.ReceiverConfig{Format: channeloracle.Format{Window: 512, Data: 8, Group: 2}, GiveUp: 10_000_000, Ordered: true})
		has := map[int64]bool{}
		base, newest := int64(0), int64(-1)
		length, lost := 1+random.Int64N(300), 1+random.IntN(95)
		for n := range length {
			if random.IntN(100) >= lost {
				has[n] = true
				newest = n
				p.Handle(0, channeloracle.Record{Type: channeloracle.Message, Sequence: n, Data: []byte{1}})
			}
		}
		for has[base] {
			base++
		}
		_, report := p.Poll(1_000_000, 1160)
		if report == nil {
			continue // nothing came
		}
		want, whole := nacks(base, newest, func(n int64) bool { return has[n] })
		var got []channeloracle.Group // the newest first
		for _, g := range report.Groups {
			got = append([]channeloracle.Group{g}, got...)
		}
		switch {
		case !whole && len(got) >= len(want):
			more++
			got = got[:len(want)]
		case whole:
			equal++
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: base %d, newest %d (-nacks +report): %s", seed, base, newest, diff)
		}
	}
	t.Logf("%d reports equal the nacks, %d name more", equal, more)
	if equal < 385 || more < 15 {
		t.Errorf("%d equal, %d with more", equal, more)
	}
}
