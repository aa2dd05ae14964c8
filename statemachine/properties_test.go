package statemachine

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The properties of section 11, and what the issue of their proof needs, one test
// for each, named after it: delivery_, sender_, ack_, budget_ and
// work_properties_test.go. Here is the world in which they are put to the test.
// That each of them can fail is shown by fuzz/faults.

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

// numbered is a chunk that differs from every other number's, however small.
func numbered(size, number int) []byte {
	chunk := chunkOf(size, uint32(number))
	chunk[0] = byte(number)
	return chunk
}

// badWorld is a world in bad weather. Its machines do not give up.
type badWorld struct {
	*world
	there, back *weather
	fairFrom    Micros // when the weather turns fair
	fair        bool
	steps       int
}

func drawWorld(t *rapid.T) *badWorld {
	first := uint16(rapid.SampledFrom([]int{0, 1, 65534, 65535}).Draw(t, "first chunk"))
	b := &badWorld{there: drawWeather(t, "slices'"), back: drawWeather(t, "acks'")}
	b.world = newWorld(t, drawProfile(t), 0)
	b.sender = NewSender(SenderConfig{FirstChunkID: first, GiveUp: year, Scheduler: b.sender.sched})
	b.receiver = NewReceiver(ReceiverConfig{FirstChunkID: first, GiveUp: year})
	b.toRecv, b.toSend = b.there.fate, b.back.fate
	b.readTime = Micros(rapid.SampledFrom([]int64{0, 10_000, 3_000_000}).Draw(t, "reading takes"))
	b.fairFrom = Micros(rapid.Int64Range(0, 8_000_000).Draw(t, "fair from"))
	return b
}

// run sends some chunks, and ends when all are through and nothing is left to do,
// or a minute after the weather has turned fair. It finds nothing wrong by itself.
func (b *badWorld) run(t *rapid.T) (chunks int) {
	chunks = rapid.IntRange(1, 5).Draw(t, "chunks")
	for i := range chunks {
		b.submit(numbered(drawSize(t), i))
		for b.sender.State() == SenderSending && b.goesOn() {
			b.stepInWeather()
		}
		if b.sender.State() != SenderIdle {
			return chunks
		}
	}
	for b.goesOn() {
		b.stepInWeather()
	}
	return chunks
}

// goesOn tells whether more is to be expected.
func (b *badWorld) goesOn() bool {
	return b.nextEvent() != Never && b.now <= b.fairFrom+60*Second && b.steps < 100_000
}

func (b *badWorld) stepInWeather() {
	b.steps++
	if !b.fair && b.now < b.fairFrom {
		b.step(b.fairFrom)
		return
	}
	b.fair = true
	b.there.clear()
	b.back.clear()
	b.step(Never)
}

// holdsInEveryWorld watches drawn worlds for a property, and for nothing else.
func holdsInEveryWorld(t *testing.T, p func() property) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.watch(p)
		w.run(t)
	})
}
