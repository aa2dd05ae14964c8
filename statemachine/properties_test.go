package statemachine

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

// weather is how bad a network is in one direction.
type weather struct {
	loss, twice float64 // chances of a packet to be lost, or doubled
	delay       Micros
	jitter      Micros // added at random, so packets overtake each other
	random      *rand.Rand
}

func drawWeather(t *rapid.T, name string) *weather {
	return &weather{
		loss:   rapid.SampledFrom([]float64{0, 0.01, 0.1, 0.5, 0.9}).Draw(t, name+" loss"),
		twice:  rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, name+" doubled"),
		delay:  Micros(rapid.SampledFrom([]int64{0, 500, 25_000, 200_000}).Draw(t, name+" delay")),
		jitter: Micros(rapid.SampledFrom([]int64{0, 1000, 30_000, 2_000_000}).Draw(t, name+" jitter")),
		random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name+" seed"), 1)),
	}
}

func (w *weather) fate(now Micros) (arrivals []Micros) {
	if w.random.Float64() < w.loss {
		return nil
	}
	copies := 1
	if w.random.Float64() < w.twice {
		copies = 2
	}
	for range copies {
		at := now + w.delay
		if w.jitter > 0 {
			at += Micros(w.random.Int64N(int64(w.jitter)))
		}
		arrivals = append(arrivals, at)
	}
	return arrivals
}

// clear turns the weather fair.
func (w *weather) clear() { w.loss, w.twice, w.jitter = 0, 0, 0 }

func drawProfile(t *rapid.T) Profile {
	return rapid.SampledFrom([]Profile{Burst(), Fixed(0), Fixed(125_000), Fixed(1_000_000), Article(500_000)}).Draw(t, "profile")
}

func drawSize(t *rapid.T) int {
	return rapid.OneOf(
		rapid.IntRange(1, 5000),
		rapid.IntRange(5000, 60_000),
		rapid.SampledFrom([]int{1, 1024, 1025, 40 * 1024}),
	).Draw(t, "size")
}

// drawWorld is a world in bad weather. Its machines do not give up.
func drawWorld(t *rapid.T) (w *world, there, back *weather) {
	first := uint16(rapid.SampledFrom([]int{0, 1, 65534, 65535}).Draw(t, "first chunk"))
	there, back = drawWeather(t, "slices'"), drawWeather(t, "acks'")
	w = newWorld(t, drawProfile(t), 0)
	w.sender = NewSender(SenderConfig{FirstChunkID: first, GiveUp: year, Scheduler: w.sender.sched})
	w.receiver = NewReceiver(ReceiverConfig{FirstChunkID: first, GiveUp: year})
	w.toRecv, w.toSend = there.fate, back.fate
	w.readTime = Micros(rapid.SampledFrom([]int64{0, 10_000, 3_000_000}).Draw(t, "reading takes"))
	return w, there, back
}

// In any weather, and then in fair weather: what is delivered is what was sent,
// in order, each chunk once, and every chunk is delivered. What must hold on
// the way is checked with every event.
func TestEverythingIsDeliveredOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, there, back := drawWorld(t)
		fairFrom := Micros(rapid.Int64Range(0, 8_000_000).Draw(t, "fair from"))
		chunks := rapid.IntRange(1, 5).Draw(t, "chunks")
		for i := range chunks {
			w.submit(chunkOf(drawSize(t), uint32(i)))
			for w.sender.State() == SenderSending {
				if w.now < fairFrom {
					w.step(fairFrom)
					continue
				}
				there.clear()
				back.clear()
				w.step(Never)
				if w.now > fairFrom+60*Second {
					t.Fatalf("no end a minute after the weather turned fair")
				}
			}
		}
		w.settle()
		if w.sender.State() != SenderIdle || w.delivered != chunks {
			t.Fatalf("sender %v, %d of %d chunks delivered", w.sender.State(), w.delivered, chunks)
		}
	})
}

// Bad weather all the time, in which either end may give up. If it does, what
// was delivered until then is still right, and nobody waits for ever.
func TestNobodyWaitsForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, _, _ := drawWorld(t)
		giveUp := Micros(rapid.SampledFrom([]int64{300_000, 2_000_000, 10_000_000}).Draw(t, "give up"))
		w.sender.giveUp, w.receiver.giveUp = giveUp, giveUp
		chunks := 0
		for chunks < rapid.IntRange(1, 4).Draw(t, "chunks") && w.sender.State() == SenderIdle {
			w.submit(chunkOf(drawSize(t), uint32(chunks)))
			chunks++
			for w.sender.State() == SenderSending {
				w.step(Never)
				if w.now > w.sender.HeardFromAt()+giveUp {
					t.Fatalf("at %d the sender is still waiting", w.now)
				}
			}
		}
		w.settle()
		if w.sender.State() == SenderIdle && w.receiver.State() != ReceiverFailed && w.delivered != chunks {
			t.Fatalf("%d of %d chunks delivered, and no error", w.delivered, chunks)
		}
		if r := w.receiver.State(); r == ReceiverReceiving {
			t.Fatalf("the receiver is left %v", r)
		}
	})
}

// Acks may come in any order, and any number of times: what the sender and its
// scheduler then know is the same, and it is never less than before.
func TestAcksInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 80).Draw(t, "slices")
		sent := rapid.IntRange(1, n).Draw(t, "sent")
		var acks []codec.Ack
		var union codec.Bitset
		for range rapid.IntRange(1, 8).Draw(t, "acks") {
			a := codec.Ack{NumSlices: n}
			for range rapid.IntRange(0, n).Draw(t, "bits") {
				a.Acked.Set(rapid.IntRange(0, n-2).Draw(t, "bit"))
			}
			union = union.Union(a.Acked.Intersect(codec.FirstN(sent)))
			acks = append(acks, a)
		}
		for range 3 {
			base := NewBase(Fixed(0))
			s := NewSender(SenderConfig{Scheduler: base})
			_ = s.Submit(0, chunkOf(n*1024, 1))
			for range sent {
				s.Poll(0)
			}
			order := rapid.Permutation(append(acks, acks...)).Draw(t, "order")
			fuse := codec.Bitset{}
			for _, a := range order {
				s.HandleAck(0, a)
				if !fuse.Minus(s.Acked()).Empty() {
					t.Fatalf("an acked slice became not acked")
				}
				fuse = s.Acked()
			}
			if s.Acked() != union || base.unacked != codec.FirstN(n).Minus(union) {
				t.Fatalf("acked %v, scheduler still waits for %v; want %v", s.Acked(), base.unacked, union)
			}
			if s.Stats().SlicesAcked != int64(union.Count()) {
				t.Fatalf("%d slices counted, want %d", s.Stats().SlicesAcked, union.Count())
			}
		}
	})
}

// Slices may come in any order, any number of times, of any chunk: what is
// delivered is the chunk.
func TestSlicesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunk := chunkOf(rapid.IntRange(1, 20_000).Draw(t, "size"), 1)
		list := slicesOf(0, chunk)
		late := slicesOf(65535, chunkOf(3000, 2))
		early := slicesOf(1, chunkOf(3000, 3))
		r := NewReceiver(ReceiverConfig{})
		all := append(append(append(append(list[:len(list):len(list)], list...), late...), late...), early...)
		for _, s := range rapid.Permutation(all).Draw(t, "order") {
			if s.ChunkID != 1 || r.State() != ReceiverReady {
				r.HandleSlice(0, s)
			}
		}
		got, err := r.Read(0, nil)
		if err != nil || string(got) != string(chunk) {
			t.Fatalf("%d bytes delivered of %d: %v", len(got), len(chunk), err)
		}
	})
}

// A fixed rate is obeyed in any window of time, whatever is lost.
func TestAFixedRateIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(MinRate, 400_000).Draw(t, "rate")
		w, there, back := drawWorld(t)
		profile := Fixed(rate)
		w.sender.sched = NewBase(profile)
		type spent struct{ at, bytes int64 }
		var log []spent
		w.toRecv = func(now Micros) []Micros {
			st := w.sender.Stats()
			log = append(log, spent{int64(now), st.BytesSent + HeaderBytes*st.SlicesSent})
			return there.fate(now)
		}
		w.submit(chunkOf(drawSize(t), 1))
		for range 300 {
			if w.sender.State() == SenderSending {
				w.step(Never)
			}
		}
		there.clear()
		back.clear()
		before := int64(0)
		for i := range log {
			for j := i; j < len(log); j++ {
				bytes := log[j].bytes - before
				if bytes*perByte > profile.Cap*perByte+rate*(log[j].at-log[i].at) {
					t.Fatalf("%d bytes from %d to %d", bytes, log[i].at, log[j].at)
				}
			}
			before = log[i].bytes
		}
	})
}
