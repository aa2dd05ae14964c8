package rateless

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/tabletest"
	"github.com/chunkwire/chunkwire/statemachine/schedule/control"
)

// The constants are the specification's; those of the losses are in package control.
func TestConstants(t *testing.T) {
	err := tabletest.CheckConstants("../../../spec/repair.json", map[string]int64{
		"MOST_NEED": mostNeed, "KEPT_TIMES": keptTimes,
	})
	if err != nil {
		t.Error(err)
	}
}

// RPL-4: the examples of the specification.
func TestNeed(t *testing.T) {
	for _, c := range []struct {
		d             int
		lost, arrived int64
		want, certain int
	}{
		{1, 16, 512, 1, 2}, {2, 16, 512, 3, 3}, {8, 16, 512, 9, 10}, {32, 16, 512, 36, 37}, {256, 16, 512, 281, 290},
		{256, 0, 4160, 256, 256}, {256, 220, 4096, 281, 286}, {20, 220, 4096, 23, 24}, {256, 4096, 4096, 576, 608},
		{256, 16_384, 1, 1024, 1024}, {19, 16, 528, 21, 22},
	} {
		l := control.Losses{Lost: c.lost, Arrived: c.arrived}
		simple, redundant := Default(), Redundant()
		check.Equal(t, "need", []int{need(&l, c.d, &simple), need(&l, c.d, &redundant)}, []int{c.want, c.certain})
	}
}

// RPL-4: the formula in numbers without end, and no estimate makes need smaller than d or
// larger than 1,024.
func TestNeedIsItsFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := control.Losses{Lost: rapid.Int64Range(0, 1<<15).Draw(t, "lost"), Arrived: rapid.Int64Range(1, 1<<15).Draw(t, "arrived")}
		d, p := rapid.IntRange(1, 256).Draw(t, "d"), Default()
		if rapid.Bool().Draw(t, "redundant") {
			p = Redundant()
		}
		got, want := need(&l, d, &p), literalNeed(int64(d), l.Lost, l.Arrived, p.deviations())
		if int64(got) != want || got < d || got > 1024 {
			t.Fatalf("need(%d) with %d lost and %d arrived is %d, want %d", d, l.Lost, l.Arrived, got, want)
		}
	})
}

// literalNeed is RPL-4, line by line.
func literalNeed(d, lost, arrived, z int64) int64 {
	b := big.NewInt
	mul := func(xs ...*big.Int) *big.Int {
		product := b(1)
		for _, x := range xs {
			product.Mul(product, x)
		}
		return product
	}
	div := func(x, y *big.Int) *big.Int { return new(big.Int).Quo(x, y) }
	add := func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) }
	least := mul(b(32), b(arrived))
	if b(lost).Cmp(least) < 0 {
		least = b(lost)
	}
	m := div(mul(b(256), b(d), least), b(arrived))
	v := add(m, div(mul(m, least), b(arrived)))
	v = add(v, div(mul(v, b(16), b(d)), b(arrived)))
	root := new(big.Int).Sqrt(mul(b(256), b(z), v))
	need := add(b(d), div(add(add(m, root), b(128)), b(256)))
	return min(need.Int64(), 1024)
}

// RPL-4: the root is truncated, also just below a square.
func TestRoots(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 3, 12, 1 << 13, 1<<26 - 1, 1 << 25} {
		check.Equal(t, "of a square", control.Isqrt(n*n), n)
		check.Equal(t, "above it", control.Isqrt(n*n+2*n), n)
		if n > 0 {
			check.Equal(t, "below it", control.Isqrt(n*n-1), n-1)
		}
	}
}
