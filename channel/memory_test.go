package channel

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// exchange is two ends that send each other messages over a path that loses every nth payload.
type exchange struct {
	ends    [2]*Mux
	numbers [2]core.Number
	newest  [2]core.Number
	now     core.Micros
	payload []byte
	read    []byte
	lose    int
	count   int
}

func newExchange(lose int, channels ...Config) *exchange {
	x := &exchange{newest: [2]core.Number{core.NoNumber, core.NoNumber}, lose: lose}
	for i := range x.ends {
		x.ends[i] = check.Must(NewMux(MuxConfig{Channels: channels}))
	}
	return x
}

// carry composes all payloads of an end and gives them to the other.
func (x *exchange) carry(from int) {
	for {
		p, _ := x.ends[from].Compose(x.payload[:0], x.now, x.numbers[from], LargestPayload)
		if x.payload = p; len(p) == 0 {
			return
		}
		n := x.numbers[from]
		x.numbers[from]++
		if x.count++; x.lose > 0 && x.count%x.lose == 0 {
			continue
		}
		if _, err := x.ends[1-from].Handle(x.now, n, x.newest[from], p); err != nil {
			panic(err)
		}
		x.newest[1-from] = n
	}
}

// frame sends messages on channels 1 to 3 and reads what came, 60 times a second.
func (x *exchange) frame(messages ...[]byte) {
	x.now += 16667
	for i, m := range messages {
		for id := uint8(1); id <= 3; id++ {
			lifetime := core.Micros(i%2) * 200 * ms
			if err := x.ends[0].Send(x.now, id, m, lifetime); err != nil && id != 3 {
				panic(err)
			}
		}
	}
	x.carry(0)
	x.carry(1)
	for id := uint8(1); id <= 3; id++ {
		for {
			m, ok := x.ends[1].Read(x.now, id, x.read[:0])
			x.read = m.Data
			if !ok {
				break
			}
		}
	}
}

// Once running nothing is allocated for a message: not when it is sent, composed, handled,
// read, reported, lost, sent again, or when it expires.
func TestNothingIsAllocatedOnceRunning(t *testing.T) {
	messages := [][]byte{bytes.Repeat([]byte{1}, 64), bytes.Repeat([]byte{2}, 64), bytes.Repeat([]byte{3}, 3000)}
	for _, lose := range []int{0, 7} {
		x := newExchange(lose, threeKinds...)
		for range 2000 {
			x.frame(messages...)
		}
		allocs := testing.AllocsPerRun(1000, func() { x.frame(messages...) })
		check.Equal(t, fmt.Sprint("allocations, every ", lose, ". lost"), allocs, 0)
		check.Same(t, "error", x.ends[0].Failed(), uint64(0))
		if lose > 0 {
			s := x.ends[0].SenderStats(1)
			check.That(t, s.Resent > 100, "some were sent again")
			v := x.ends[1].ReceiverStats(1)
			check.That(t, v.Delivered > 8000, "they were delivered")
		}
	}
}

// Refusals, deadlines and what changes nothing cost no memory either.
func TestRefusalsAllocateNothing(t *testing.T) {
	m := check.Must(NewMux(MuxConfig{Channels: threeKinds}))
	var payloads [][]byte
	for _, text := range refused {
		payloads = append(payloads, unhex(text))
	}
	check.Equal(t, "allocations", testing.AllocsPerRun(100, func() {
		for _, p := range payloads {
			if _, err := m.Handle(0, 0, 0, p); err == nil {
				panic("it is taken")
			}
		}
		m.Deadline()
		m.SetPath(measured)
		m.Send(0, 1, nil, 0)
		m.Send(0, 9, nil, 0)
		m.Send(0, 3, nil, 0)
	}), 0)
}

// A receiver holds at most WINDOW * DATA bytes of data, whatever comes, and less than 64 bytes
// for each sequence besides (CHT-BND-1).
func TestTheMemoryOfAReceiver(t *testing.T) {
	for _, window := range []int{32, 512, 4096} {
		for _, data := range []int{1, 33, 700, 1024} {
			f := Format{Window: window, Data: data}
			before := check.Heap()
			v := check.Must(NewReceiver(Config{Kind: Unordered, Format: f}))
			for size := 1; size <= data; size += max(1, data/7) { // growing messages, again and again
				for n := range 3 * window {
					r := Record{Type: TypeMessage, Sequence: uint16(v.Base()) + uint16(n%window), Data: make([]byte, size)}
					if n%window == 0 { // the first is missing
						continue
					}
					v.Handle(0, &r)
				}
				v.Handle(0, &Record{Type: TypeSkip, Sequence: uint16(v.Base()), Count: 1})
				for ok := true; ok; {
					_, ok = v.Read(0, nil)
				}
			}
			for n := range window {
				v.Handle(0, &Record{Type: TypeMessage, Sequence: uint16(v.Base()) + uint16(window-1-n), Data: make([]byte, data)})
			}
			bytes := int(check.Heap() - before)
			check.That(t, v.Stats().HeldBytes <= window*data, fmt.Sprint("held ", v.Stats().HeldBytes, " of ", window*data))
			check.That(t, bytes < window*(max(data, leastData)+64)+8192, fmt.Sprint("window ", window, ", data ", data, ": ", bytes, " bytes"))
			runtime.KeepAlive(v)
		}
	}
}

// The memory for the data of a record is a power of two, or what a record can have, and is used
// again.
func TestTheMemoryOfData(t *testing.T) {
	for _, c := range []struct{ size, want int }{{1, 32}, {32, 32}, {33, 64}, {64, 64}, {65, 100}, {100, 100}} {
		m := store(nil, make([]byte, c.size), 100)
		check.Equal(t, "length and memory", []int{len(m), cap(m)}, []int{c.size, c.want})
		check.That(t, &store(m, m[:1], 100)[0] == &m[0], "the same memory")
	}
	check.Equal(t, "a small format", cap(store(nil, []byte("ab"), 4)), 4)
}

// A sender holds at most SEND_QUEUE * DATA bytes of data, and nothing of them when it has failed.
func TestTheMemoryOfASender(t *testing.T) {
	before := check.Heap()
	s := check.Must(NewSender(Config{}))
	for s.Send(0, make([]byte, 1024), core.Second) == nil {
	}
	full := int(check.Heap() - before)
	check.Equal(t, "kept", s.Stats().Kept, DefaultSendQueue)
	check.That(t, full < DefaultSendQueue*(1024+80), fmt.Sprint(full, " bytes"))
	s.Poll(DefaultGiveUp, 0, LargestPayload)
	check.Equal(t, "state", s.State(), Failed)
	check.That(t, int(check.Heap()-before) < 4096, "nothing is kept")
	runtime.KeepAlive(s)
}

// Channels that were never used cost what their bookkeeping does.
func TestTheMemoryOfIdleChannels(t *testing.T) {
	var channels []Config
	for id := range MaxChannels {
		channels = append(channels, Config{ID: uint8(id)})
	}
	before := check.Heap()
	m := check.Must(NewMux(MuxConfig{Channels: channels}))
	bytes := int(check.Heap() - before)
	check.That(t, bytes < MaxChannels*2600, fmt.Sprint(bytes/MaxChannels, " bytes a channel"))
	runtime.KeepAlive(m)
}
