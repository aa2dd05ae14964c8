package adaptive_test

import (
	"bytes"
	"flag"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/sim/chunk"
	"github.com/chunkwire/chunkwire/statemachine"
)

const ms = machine.Millisecond

var seedsFlag = flag.Int("seeds", 0, "seeds for each figure, instead of each test's own number; -v prints the tables")

// seedsOr returns the number of seeds that was asked for, or else n.
func seedsOr(n int) int {
	if *seedsFlag > 0 {
		return *seedsFlag
	}
	return n
}

// figures sum up the transfers of one cell.
type figures struct {
	median, p95, max float64 // ms until delivered
	bytes            float64 // both ways, over the chunk's size, median
	failed           int
}

// fullChunk is what is sent in every measurement.
var fullChunk = func() []byte {
	b := make([]byte, codec.MaxChunkSize)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}()

// scenario is a transfer to measure.
type scenario struct {
	down, up netsim.Path
	warm     bool
	size     int // 0: a full chunk
	changes  []change
}

// change sets both links anew in the middle of a transfer.
type change struct {
	at       time.Duration
	down, up netsim.Path
}

// run transfers a chunk for every seed from 1 on.
func (s scenario) run(seeds int, p adaptive.Profile) figures {
	type result struct{ ms, bytes float64 }
	results := make([]result, seeds)
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				ms, bytes := s.transfer(uint64(i+1), p)
				results[i] = result{ms, bytes}
			}
		})
	}
	for i := range seeds {
		next <- i
	}
	close(next)
	wg.Wait()
	var f figures
	var times, bytes []float64
	for _, r := range results {
		if r.ms < 0 {
			f.failed++
			continue
		}
		times = append(times, r.ms)
		bytes = append(bytes, r.bytes)
	}
	slices.Sort(times)
	slices.Sort(bytes)
	f.median, f.p95, f.max = at(times, 50), at(times, 95), at(times, 100)
	f.bytes = at(bytes, 50)
	return f
}

// at returns a percentile of sorted values, by nearest rank.
func at(sorted []float64, percent int) float64 {
	if len(sorted) == 0 {
		return -1
	}
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}

// limit is far more virtual time than any transfer takes.
const limit = 60 * machine.Second

// newConversation returns the two ends of a connection over links of their own.
func (s scenario) newConversation(seed uint64, p adaptive.Profile) *chunk.Conversation {
	return over(check.Must(netsim.NewLink(s.down, 2*seed)), check.Must(netsim.NewLink(s.up, 2*seed+1)), check.Must(adaptive.New(p)))
}

// over returns the two ends of a connection over these links.
func over(down, up *netsim.Link, scheduler statemachine.Scheduler) *chunk.Conversation {
	return check.Must(chunk.NewConversation(
		statemachine.SenderConfig{Scheduler: scheduler, GiveUp: limit},
		statemachine.ReceiverConfig{GiveUp: limit}, down, up))
}

// transfer returns how long one transfer took, and its bytes both ways over the
// chunk's size; or -1 and 0 if it failed.
func (s scenario) transfer(seed uint64, p adaptive.Profile) (ms, bytes float64) {
	c := s.newConversation(seed, p)
	if s.warm {
		if _, err := c.Transfer(fullChunk, limit); err != nil {
			return -1, 0
		}
	}
	size := s.size
	if size == 0 {
		size = len(fullChunk)
	}
	before, start := onTheWire(c), c.Now()
	if err := c.Sender.Submit(start, fullChunk[:size]); err != nil {
		return -1, 0
	}
	c.Flush()
	ms = s.follow(c, start)
	if c.Sender.Vars().State != statemachine.SenderIdle {
		return -1, 0
	}
	return ms, float64(onTheWire(c)-before) / float64(size)
}

// follow runs until the sender knows that the chunk has arrived, and returns
// when it had. The path changes on the way as the scenario says.
func (s scenario) follow(c *chunk.Conversation, start machine.Micros) float64 {
	for _, to := range s.changes {
		c.At(start+machine.FromDuration(to.at), func() {
			_, _ = c.Down.SetPath(to.down), c.Up.SetPath(to.up) // they are valid
		})
	}
	ms, right := -1.0, true
	acked := c.Run(start+limit, func() bool {
		if c.Receiver.Vars().State == statemachine.ReceiverReady {
			ms = float64(c.Now()-start) / 1000
			got, err := c.Receiver.Read(c.Now(), nil)
			right = err == nil && bytes.HasPrefix(fullChunk, got)
		}
		return !right || c.Sender.Vars().State != statemachine.SenderSending
	})
	if !acked || !right {
		return -1
	}
	return ms
}

// onTheWire counts the bytes both ways, with IP and UDP headers.
func onTheWire(c *chunk.Conversation) int64 {
	down, up := c.Down.Stats(), c.Up.Stats()
	return down.SentBytes + up.SentBytes + 28*(down.Sent+up.Sent)
}
