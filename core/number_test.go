package core_test

import (
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// from is PKS-2 in words: the only number of the half space at base that has these bits.
func from(bits int, base, wire int) (int, bool) {
	size := 1 << bits
	for n := base; n < base+size/2; n++ {
		if ((n-wire)%size+size)%size == 0 {
			return n, n >= 0
		}
	}
	return 0, false
}

// Every number on the wire against every base of two turns, in all spaces up to 8 bits.
func TestEveryNumberIsUnwrapped(t *testing.T) {
	for bits := 1; bits <= 8; bits++ {
		space, size := core.Space(bits), 1<<bits
		check.Equal(t, "size", space.Size(), core.Number(size))
		for base := -size; base <= 2*size; base++ {
			for wire := range size {
				n, ok := space.From(core.Number(base), uint16(wire))
				want, wantOK := from(bits, base, wire)
				if ok != wantOK || ok && n != core.Number(want) {
					t.Fatalf("%d bits, base %d, wire %d: %d, %v, want %d, %v", bits, base, wire, n, ok, want, wantOK)
				}
			}
		}
	}
}

// All distances of 16 bits, at every place of the wrap that matters; half of the space is
// old (F-24).
func TestEveryDistanceOf16Bits(t *testing.T) {
	for _, base := range []core.Number{0, 1, 32767, 32768, 65280, 65535, 65536, 65537, 98304, 1 << 40} {
		for d := range core.Number(65536) {
			n, ok := core.Wire16.From(base, core.Wire16.Wire(base+d))
			if ok != (d <= 32767) || n != base+d {
				t.Fatalf("base %d, distance %d: %d, %v", base, d, n, ok)
			}
		}
	}
}

// Nothing comes before 0: numbers of the end of the space are old there.
func TestNothingComesBefore0(t *testing.T) {
	for base := core.Number(-300); base < 0; base++ {
		for n := base; n < 300; n++ {
			got, ok := core.Wire16.From(base, core.Wire16.Wire(n))
			if ok != (n >= 0) || got != n {
				t.Fatalf("base %d: %d becomes %d, %v", base, n, got, ok)
			}
		}
	}
}

func TestTheLastNumberUpToOne(t *testing.T) {
	for bits := 1; bits <= 6; bits++ {
		space, size := core.Space(bits), core.Number(1)<<bits
		for newest := core.NoNumber; newest <= 2*size; newest++ {
			for wire := range uint16(size) {
				n := space.UpTo(newest, wire)
				if n > newest || n <= newest-size || space.Wire(n) != wire {
					t.Fatalf("%d bits, newest %d, wire %d: %d", bits, newest, wire, n)
				}
			}
		}
	}
}

// Bits that the space does not have are ignored.
func TestBitsOutsideTheSpace(t *testing.T) {
	space := core.Space(5)
	n, ok := space.From(40, 32+9)
	check.That(t, ok && n == 41, "41 is 9 in five bits")
	check.Equal(t, "up to", space.UpTo(40, 64+9), 9)
	check.Equal(t, "on the wire", space.Wire(41), 9)
	check.Equal(t, "none", space.Wire(core.NoNumber), 31)
}

// model is a window that forgets nothing.
type model struct {
	size, next core.Number
	set        map[core.Number]bool
}

func (m *model) has(n core.Number) bool { return n >= m.next-m.size && n < m.next && m.set[n] }

func (m *model) compare(t check.T, w *core.Window) {
	t.Helper()
	check.Equal(t, "next", w.Next(), m.next)
	check.Equal(t, "low", w.Low(), m.next-m.size)
	for n := m.next - 2*m.size - 70; n < m.next+m.size+70; n++ {
		if w.Has(n) != m.has(n) {
			t.Fatalf("%d is in it: %v, want %v; next is %d", n, w.Has(n), m.has(n), m.next)
		}
	}
	var newest uint32
	for i := range core.Number(32) {
		if m.has(m.next - 1 - i) {
			newest |= 1 << i
		}
	}
	check.Equal(t, "newest", w.Newest(), newest)
}

// Numbers are added one after another over four turns of the ring, one in three is left
// out, at every beginning.
func TestAWindowInEveryPlace(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256} {
		for _, start := range []core.Number{0, 1, 31, 32, 33, 63, 64, 65, 65535} {
			w, m := core.NewWindow(size, start), model{core.Number(size), start, map[core.Number]bool{}}
			m.compare(t, &w)
			for n := start; n < start+core.Number(4*size); n++ {
				if n%3 != 0 {
					w.Add(n)
					m.set[n] = true
				} else {
					w.Move(n + 1)
				}
				m.next = n + 1
				m.compare(t, &w)
			}
		}
	}
}

// A full window jumps by every distance, from every place in a word.
func TestJumpsFromEveryPlace(t *testing.T) {
	for _, size := range []core.Number{64, 128, 256} {
		for from := range core.Number(64) {
			for jump := range size + 2 {
				w := core.NewWindow(int(size), 0)
				for n := range size + from {
					w.Add(n)
				}
				next := w.Next() + jump
				w.Move(next)
				check.Equal(t, "next", w.Next(), next)
				for n := next - size - 1; n <= next; n++ {
					if want := n >= next-size && n < next-jump; w.Has(n) != want {
						t.Fatalf("after a jump of %d from %d, %d is in it: %v", jump, next-jump, n, !want)
					}
				}
			}
		}
	}
}

// Whatever comes, in any order, and however far the window jumps: nothing that fell
// behind comes back.
func TestAWindowAgreesWithASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := 1 << rapid.IntRange(0, 9).Draw(t, "size")
		start := core.Number(rapid.IntRange(0, 70000).Draw(t, "start"))
		w, m := core.NewWindow(size, start), model{core.Number(size), start, map[core.Number]bool{}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n := m.next - m.size + core.Number(rapid.OneOf(rapid.IntRange(0, 2*size), rapid.IntRange(0, 6*size+200)).Draw(t, "ahead"))
			if rapid.Bool().Draw(t, "add") {
				w.Add(n)
				m.set[n] = true
				m.next = max(m.next, n+1)
			} else {
				w.Move(n)
				m.next = max(m.next, n)
			}
			m.compare(t, &w)
		}
	})
}

// A window has a bit for each of its numbers, in words.
func TestTheMemoryOfAWindow(t *testing.T) {
	windows := make([]core.Window, 100)
	for size := 4; size <= 16384; size *= 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range windows {
			windows[i] = core.NewWindow(size, 0)
		}
		runtime.ReadMemStats(&after)
		check.That(t, after.TotalAlloc-before.TotalAlloc < 100*uint64(size/8+8)+4096, "memory")
	}
}

// What is missing between any two numbers of a window, and what of the 32 below a number is
// there, in windows of every size and at every place of a word.
func TestWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := 1 << rapid.IntRange(1, 8).Draw(t, "size")
		start := core.Number(rapid.IntRange(0, 300).Draw(t, "start"))
		w, m := core.NewWindow(size, start), model{core.Number(size), start, map[core.Number]bool{}}
		full := rapid.IntRange(0, 20).Draw(t, "full") // of 20; so that whole words are full
		for range 2 * size {
			if rapid.IntRange(1, 20).Draw(t, "one") <= full {
				w.Add(m.next)
				m.set[m.next] = true
			}
			m.next++
			w.Move(m.next)
		}
		for range 40 {
			low := w.Low() + core.Number(rapid.IntRange(0, size).Draw(t, "low"))
			end := low + core.Number(rapid.IntRange(0, int(m.next-low)).Draw(t, "length"))
			m.compareMissing(t, &w, low, end)
		}
		for _, n := range []core.Number{w.Low() - 1, m.next, m.next + 5} {
			check.Equal(t, "outside", w.FirstMissing(n, n+9), n)
		}
		check.Equal(t, "beyond next", w.FirstMissing(w.Low(), m.next+9), min(w.FirstMissing(w.Low(), m.next), m.next))
		check.Equal(t, "nothing", w.FirstMissing(m.next, m.next-3), m.next-3)
	})
}

// compareMissing compares what is missing between two numbers, and what is there below one.
func (m *model) compareMissing(t check.T, w *core.Window, low, end core.Number) {
	t.Helper()
	first, last := end, low-1
	for n := low; n < end; n++ {
		if !m.has(n) {
			first, last = min(first, n), n
		}
	}
	check.Equal(t, "first and last", []core.Number{w.FirstMissing(low, end), w.LastMissing(low, end)}, []core.Number{first, last})
	var below uint32
	known := min(32, end-w.Low())
	for i := range known {
		if m.has(end - 1 - i) {
			below |= 1 << i
		}
	}
	check.Equal(t, "below", w.Below(end)&(1<<known-1), below)
}
