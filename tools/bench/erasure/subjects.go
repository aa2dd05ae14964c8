package main

import (
	"crypto/subtle"
	"fmt"
	"math/rand/v2"

	"github.com/klauspost/reedsolomon"

	"github.com/chunkwire/chunkwire/codec/erasure"
)

type table struct {
	title, text string
	subjects    []*subject
}

const (
	slices = erasure.MaxSlices
	size   = erasure.SliceSize
)

// chunk is 256 slices of random bytes.
var chunk = func() []byte {
	b := make([]byte, slices*size)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}()

func basics() table {
	dst, src := new([size]byte), new([size]byte)
	const times = 100
	repeat := func(f func()) func() {
		return func() {
			for range times {
				f()
			}
		}
	}
	all := make([]byte, size)
	return table{"1 KiB", "The last two take their 256 slices from a chunk of 256 KiB, as the encoders do.", []*subject{
		{name: "memcpy", count: times, run: repeat(func() { copy(dst[:], src[:]) })},
		{name: "XOR", count: times, run: repeat(func() { subtle.XORBytes(dst[:], dst[:], src[:]) })},
		{name: "memcpy of one slice after the other", count: slices, run: func() {
			for i := range slices {
				copy(all, chunk[i*size:])
			}
		}},
		{name: "XOR of one slice after the other", count: slices, run: func() {
			for i := range slices {
				subtle.XORBytes(all, all, chunk[i*size:])
			}
		}},
	}}
}

func encoders() table {
	t := table{title: "Encoding: one repair slice", text: "Reed-Solomon makes all its repair slices at once; the figure is for one of them.\nWith groups of 128 slices, a repair slice is of one group, and half of a chunk."}
	for _, k := range []int{256, 32, 1} {
		e := erasure.Encode(chunk[:k*size])
		n := 0
		t.subjects = append(t.subjects, &subject{name: fmt.Sprintf("ours, k = %d", k), count: 32, run: func() {
			for range 32 {
				e.Slice(k + 256 + n%4096) // these are not kept
				n++
			}
		}})
	}
	for _, c := range codes {
		enc, shards := c.make()
		t.subjects = append(t.subjects, &subject{name: c.name, count: c.repair, run: func() { must(enc.Encode(shards)) }})
	}
	return t
}

// code is a code of klauspost/reedsolomon.
type code struct {
	name         string
	data, repair int
	options      []reedsolomon.Option
}

var codes = func() (all []code) {
	plain := []reedsolomon.Option{
		reedsolomon.WithSSE2(false), reedsolomon.WithSSSE3(false), reedsolomon.WithAVX2(false),
		reedsolomon.WithAVX512(false), reedsolomon.WithGFNI(false),
	}
	for _, c := range []code{
		{"Reed-Solomon, 128 + 16", 128, 16, nil},
		{"Leopard, 256 + 32", 256, 32, []reedsolomon.Option{reedsolomon.WithLeopardGF16(true)}},
	} {
		c.options = append(c.options, reedsolomon.WithMaxGoroutines(1), reedsolomon.WithInversionCache(false))
		all = append(all, c)
		c.name += ", plain"
		c.options = append(c.options, plain...)
		all = append(all, c)
	}
	return all
}()

// make returns an encoder, and shards of which the first are those of the chunk.
func (c code) make() (reedsolomon.Encoder, [][]byte) {
	enc, err := reedsolomon.New(c.data, c.repair, c.options...)
	must(err)
	shards := make([][]byte, c.data+c.repair)
	for i := range shards {
		shards[i] = make([]byte, size)
		if i < c.data {
			copy(shards[i], chunk[i*size:])
		}
	}
	must(enc.Encode(shards))
	return enc, shards
}

func decoders() table {
	t := table{title: "Decoding: all slices of 256 that are missing", text: "Ours counts the rank with each slice, which is in the figure; groups of 128 slices miss half of them each, and both are rebuilt."}
	for _, missing := range []int{13, 32, 51, 128, 256} {
		t.subjects = append(t.subjects, rebuild(missing, "ours"))
		for _, c := range codes {
			if groups := slices / c.data; missing <= groups*c.repair {
				t.subjects = append(t.subjects, c.rebuild(missing, groups))
			}
		}
	}
	return t
}

// pool is a pool of blocks.
type pool struct{ free []*[size]byte }

func (p *pool) Take() *[size]byte {
	n := len(p.free)
	if n == 0 {
		return new([size]byte)
	}
	b := p.free[n-1]
	p.free = p.free[:n-1]
	return b
}

func (p *pool) Put(b *[size]byte) { p.free = append(p.free, b) }

var (
	shared  pool
	encoded = erasure.Encode(chunk)
)

// rebuild measures what a decoder does with repair slices.
func rebuild(missing int, name string) *subject {
	var d erasure.Decoder
	return &subject{
		name:  fmt.Sprintf("%d missing: %s", missing, name),
		count: 1,
		prepare: func() {
			d.Begin(slices, size, &shared)
			for id := range slices {
				if id*missing/slices == (id+1)*missing/slices {
					d.Add(id, encoded.Slice(id))
				}
			}
			for id := range missing + 5 {
				encoded.Slice(slices + id)
			}
		},
		run: func() {
			for id := slices; d.Rank() < slices; id++ {
				d.Add(id, encoded.Slice(id))
			}
			d.Rebuild()
		},
	}
}

func (c code) rebuild(missing, groups int) *subject {
	type group struct {
		enc    reedsolomon.Encoder
		shards [][]byte
	}
	all := make([]group, groups)
	for n := range all {
		all[n].enc, all[n].shards = c.make()
	}
	return &subject{
		name:  fmt.Sprintf("%d missing: %s", missing, c.name),
		count: 1,
		prepare: func() {
			for n, g := range all {
				lost := (missing + n) / groups
				for id := range c.data {
					if id*lost/c.data != (id+1)*lost/c.data {
						g.shards[id] = g.shards[id][:0]
					}
				}
			}
		},
		run: func() {
			for _, g := range all {
				must(g.enc.ReconstructData(g.shards))
			}
		},
	}
}

func hostile() table {
	t := table{title: "What a hostile datagram costs", text: "A peer that sends nothing but forged repair slices makes one chunk of 256 of them: an Add for each, and one Rebuild.\nThe dearest Add is the last."}
	var d erasure.Decoder
	fill := func(n int) func() {
		return func() {
			d.Begin(slices, size, &shared)
			for id := slices; d.Rank() < n; id++ {
				d.Add(id, chunk[:size])
			}
		}
	}
	for _, n := range []int{64, 128, 254} {
		t.subjects = append(t.subjects, &subject{name: fmt.Sprintf("Add after %d", n), count: 1, prepare: fill(n), run: func() { d.Add(8000, chunk[:size]) }})
	}
	t.subjects = append(t.subjects, &subject{name: "Independent after 254, of another slice than before", count: 16, prepare: fill(254), run: func() {
		for n := range 16 {
			d.Independent(8000 + n)
		}
	}})
	whole := rebuild(slices, "")
	whole.name, whole.count = "a whole chunk, for each of its 256 datagrams", slices
	t.subjects = append(t.subjects, whole)
	return t
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
