package channel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
)

// WorldCounts are what happened in random worlds.
type WorldCounts struct {
	Worlds, Channels, Messages, Refused, Read, Skipped int64
	Records, Resent, Probes, Reports                   int64
	Datagrams, Lost                                    int64
	Time                                               core.Micros // virtual, of all
	LongestEnd                                         core.Micros // from when all was good until all was settled
}

// Add adds the counts of other worlds.
func (c *WorldCounts) Add(o WorldCounts) {
	c.LongestEnd = max(c.LongestEnd, o.LongestEnd)
	for _, p := range []struct{ to, from *int64 }{
		{&c.Worlds, &o.Worlds}, {&c.Channels, &o.Channels}, {&c.Messages, &o.Messages}, {&c.Refused, &o.Refused}, {&c.Read, &o.Read},
		{&c.Skipped, &o.Skipped}, {&c.Records, &o.Records}, {&c.Resent, &o.Resent}, {&c.Probes, &o.Probes}, {&c.Reports, &o.Reports},
		{&c.Datagrams, &o.Datagrams}, {&c.Lost, &o.Lost},
	} {
		*p.to += *p.from
	}
	c.Time += o.Time
}

// RunWorld runs a random world: two ends with several channels each way, applications that
// send and read as they like, and a path with any faults, which is good in the end. Judges
// watch each channel at every event. It fails with what is violated, or if not all is
// delivered or skipped and released some time after the path is good. The same seed gives
// the same world. Log, unless it is nil, is told what happens.
func RunWorld(seed uint64, log func(format string, args ...any)) (WorldCounts, error) {
	c := &conversation{Draw: sim.NewDraw(seed, 11), log: log}
	if err := c.begin(seed); err != nil {
		return c.counts, fmt.Errorf("world %d: %w", seed, err)
	}
	c.run()
	if c.err != nil {
		return c.counts, fmt.Errorf("world %d at %d us: %w", seed, c.world.Now(), c.err)
	}
	return c.counts, nil
}

const (
	// worldSends is for how long the applications send at most.
	worldSends = 4 * core.Second
	// worldSettles is how long all may take that is left when the path is good.
	worldSettles = 60 * core.Second
	// worldCalm is after how long nothing more is sent.
	worldCalm = 6 * core.Second
)

// conversation is a world under way.
type conversation struct {
	sim.Draw
	log    func(format string, args ...any)
	counts WorldCounts
	err    error
	world  *sim.World[[]byte]
	ends   [2]*talker
	faults [2]*sim.Faults // of what each end sends
	good   bool           // the path is, and everyone reads
	tick   core.Micros
}

// talker is an end, and the application on it.
type talker struct {
	*Host
	c     *conversation
	far   *talker
	index int
	flows [protocol.MaxChannels]*flow // what it sends, by channel
	order []*flow
	sent  map[core.Number][]core.Number // by packet: the sequences that its records mean
}

// flow is one channel in one direction.
type flow struct {
	cfg      protocol.Config
	judge    *Judge // of a reliable channel
	perTick  int
	largest  int
	lifetime core.Micros // the longest; 0: none
	until    core.Micros // the application sends
	reads    int         // messages a tick; 0: at once, all
	pause    [2]core.Micros
	loose    map[string]int // on an unreliable channel, copies of messages sent and not read
	message  []byte
}

// config draws a channel.
func configOf(d sim.Draw, id uint8) protocol.Config {
	cfg := protocol.Config{
		ID: id, Kind: sim.Among(d, protocol.Ordered, protocol.Ordered, protocol.Unordered, protocol.Unordered, protocol.Unreliable),
		Priority: d.IntN(3), GiveUp: 3600 * core.Second, QueueBytes: 1 << 17,
		First: sim.Among[core.Number](d, 0, 1<<16, 1<<20, 1<<32) - core.Number(d.IntN(400)),
	}
	cfg.First = max(cfg.First, 0)
	cfg.Window = 32 << d.IntN(6)
	cfg.Data = sim.Among(d, 1, 8, 40, 200, 1024)
	cfg.Group = d.Between(2, min(64, cfg.Window))
	cfg.SendQueue = sim.Among(d, cfg.Group, cfg.Group+d.IntN(200), 4096)
	return cfg
}

// flow draws how a channel is used in one direction.
func flowOf(d sim.Draw, cfg protocol.Config) *flow {
	f := &flow{cfg: Complete(cfg), perTick: sim.Among(d, 0, 1, 3, 20, 80), loose: map[string]int{}}
	f.largest = cfg.Data * sim.Among(d, 1, 1, 3, min(cfg.Group, 8))
	f.largest = min(f.largest, cfg.Data*cfg.Group)
	if cfg.Data == 1024 && f.perTick > 3 {
		f.largest = 100
	}
	if cfg.Kind == protocol.Unreliable {
		f.largest = sim.Among(d, 60, 1156, 5000)
	} else {
		f.judge = NewJudge(f.cfg)
	}
	if d.OneIn(3) {
		f.lifetime = sim.Among[core.Micros](d, 50, 500, 3000) * core.Millisecond
	}
	f.until = d.Time(0, worldSends)
	if d.OneIn(2) {
		f.reads = sim.Among(d, 1, 5, 100)
	}
	if d.OneIn(3) {
		from := d.Time(0, worldSends)
		f.pause = [2]core.Micros{from, from + d.Time(0, 3*core.Second)}
	}
	return f
}

// begin draws everything.
func (c *conversation) begin(seed uint64) error {
	var configs []protocol.Config
	for i := range sim.Among(c.Draw, 1, 1, 2, 4) {
		configs = append(configs, configOf(c.Draw, uint8(i*c.Between(1, 15))))
	}
	slices.SortFunc(configs, func(a, b protocol.Config) int { return int(a.ID) - int(b.ID) })
	configs = slices.CompactFunc(configs, func(a, b protocol.Config) bool { return a.ID == b.ID })
	c.tick = c.Time(5, 100) * core.Millisecond
	numbers := [2]core.Number{sim.Among[core.Number](c.Draw, 0, 65_300, 1<<20), sim.Among[core.Number](c.Draw, 0, 65_500)}
	for i := range c.ends {
		host, err := NewHost(protocol.MuxConfig{Channels: configs}, packet.Config{NextToSend: numbers[i], NextToReceive: numbers[1-i]}, c.tick)
		if err != nil {
			return err
		}
		c.ends[i] = &talker{Host: host, c: c, index: i, sent: map[core.Number][]core.Number{}}
		for _, cfg := range configs {
			f := flowOf(c.Draw, cfg)
			c.ends[i].flows[cfg.ID] = f
			c.ends[i].order = append(c.ends[i].order, f)
			c.note("end %d sends %+v", i, *f)
		}
		c.ends[i].Hooks = c.ends[i].hooks()
		f, path, err := c.Faults(2*seed+uint64(i), worldSends)
		if err != nil {
			return err
		}
		c.note("its path %+v, %v", path, f)
		c.faults[i] = f
	}
	for _, e := range c.ends {
		e.Pace = sim.Among[core.Micros](c.Draw, 0, 0, 0, 2, 10, 40) * core.Millisecond
		c.note("end %d has a pace of %d us", e.index, e.Pace)
	}
	c.ends[0].far, c.ends[1].far = c.ends[1], c.ends[0]
	c.counts.Worlds, c.counts.Channels = 1, int64(len(configs))
	c.world = sim.NewWorld(c.carry, sim.End[[]byte](c.ends[0]), c.ends[1])
	return nil
}

func (c *conversation) note(format string, args ...any) {
	if c.log != nil {
		c.log(format, args...)
	}
}

// check keeps the first violation.
func (c *conversation) check(err error) {
	if c.err == nil {
		c.err = err
	}
}

// carry is the network.
func (c *conversation) carry(now time.Duration, from int, datagram []byte, deliver func(time.Duration, int, []byte)) {
	f := c.faults[from]
	c.counts.Datagrams++
	if f.Lost(core.FromDuration(now)) && !c.good {
		c.counts.Lost++
		return
	}
	arrivals := f.Link.Send(now, len(datagram))
	if arrivals.Len() == 0 {
		c.counts.Lost++
	}
	for i := range arrivals.Len() {
		deliver(arrivals.At(i), 1-from, datagram)
	}
}

// run lets all happen, and then waits until nothing is left to do.
func (c *conversation) run() {
	for _, e := range c.ends {
		c.world.At(c.Time(0, c.tick), e.frame)
	}
	broken := func() bool { return c.err != nil }
	goodAt := worldSends
	c.world.At(goodAt, c.becomeGood)
	c.world.Run(goodAt, broken)
	settled := func() bool { return c.good && c.settled() == nil }
	if !c.world.Run(goodAt+worldSettles, func() bool { return broken() || settled() }) {
		c.check(fmt.Errorf("CHT-LIVE-1: %d us after the path is good: %w", worldSettles, c.settled()))
	}
	c.counts.Time, c.counts.LongestEnd = c.world.Now(), max(0, c.world.Now()-goodAt)
	c.calm()
	c.count()
}

// becomeGood ends all faults, and what slows down the ends; everyone reads.
func (c *conversation) becomeGood() {
	c.good = true
	for i, f := range c.faults {
		c.ends[i].Pace = 0
		_ = f.Link.SetPath(netsim.Path{Delay: 20 * time.Millisecond}) // it is valid
	}
}

// settled returns what is left to do.
func (c *conversation) settled() error {
	for _, e := range c.ends {
		for _, f := range e.order {
			if f.judge == nil {
				continue
			}
			if err := f.judge.Settled(); err != nil {
				return fmt.Errorf("end %d, channel %d: %w", e.index, f.cfg.ID, err)
			}
		}
	}
	return nil
}

// calm checks that after a while nothing more is sent (CHV-7).
func (c *conversation) calm() {
	until := c.world.Now() + worldCalm
	stop := func() bool { return c.err != nil }
	c.world.At(until, func() {})
	c.world.Run(until, stop)
	before := c.counts.Datagrams
	c.world.At(until+core.Second, func() {})
	c.world.Run(until+core.Second, stop)
	if c.counts.Datagrams > before {
		c.check(fmt.Errorf("CHV-7: all is settled, and %d datagrams are sent", c.counts.Datagrams-before))
	}
}

func (c *conversation) count() {
	for _, e := range c.ends {
		for _, f := range e.order {
			s, r := e.Mux.SenderStats(f.cfg.ID), e.Mux.ReceiverStats(f.cfg.ID)
			c.counts.Messages += s.Messages
			c.counts.Records += s.Sent
			c.counts.Resent += s.Resent
			c.counts.Probes += s.Probes
			c.counts.Reports += r.Reports
			c.counts.Read += r.Delivered
			c.counts.Skipped += r.Skipped
		}
	}
}

// frame is a frame of an end's application.
func (e *talker) frame() {
	now := e.c.world.Now()
	for _, f := range e.order {
		for range f.perTick {
			if now < f.until {
				e.send(now, f)
			}
		}
	}
	for _, f := range e.far.order {
		if !f.atOnce(e.c.good) {
			e.read(now, f, f.readsNow(now, e.c.good))
		}
	}
	if !e.c.good || e.c.settled() != nil {
		e.c.world.At(now+e.c.tick, e.frame)
	}
}

// atOnce reports whether what arrives is read at once.
func (f *flow) atOnce(good bool) bool { return !good && f.reads == 0 && f.pause[1] == 0 }

// readsNow returns how many messages are read in a frame.
func (f *flow) readsNow(now core.Micros, good bool) int {
	switch {
	case good || f.reads == 0 && now >= f.pause[1]:
		return 1 << 30
	case now >= f.pause[0] && now < f.pause[1]:
		return 0
	}
	return max(f.reads, 1)
}

// send sends a message of any size and lifetime; at times one that must be refused.
func (e *talker) send(now core.Micros, f *flow) {
	size, lifetime := e.c.Between(1, f.largest), core.Micros(0)
	if f.lifetime > 0 && !e.c.OneIn(4) {
		lifetime = e.c.Time(1, f.lifetime)
	}
	if e.c.OneIn(500) {
		size = e.c.IntN(2) * (f.cfg.Data*min(f.cfg.Group, f.cfg.Window) + 1)
	}
	f.message = f.message[:0]
	for range size {
		f.message = append(f.message, byte(e.c.Uint32()))
	}
	err := e.Mux.Send(now, f.cfg.ID, f.message, lifetime)
	if err != nil {
		e.c.counts.Refused++
	}
	switch {
	case f.judge != nil:
		e.c.check(f.judge.Sent(now, f.message, lifetime, refusal(err)))
	case err == nil:
		f.loose[string(f.message)]++
	}
}

// read reads so many messages that the other end sent.
func (e *talker) read(now core.Micros, f *flow, most int) {
	for range most {
		m, ok := e.Mux.Read(now, f.cfg.ID, nil)
		if !ok {
			return
		}
		e.c.check(f.took(m))
	}
}

// took checks a message that was read.
func (f *flow) took(m protocol.Message) error {
	if f.judge != nil {
		return f.judge.Read(m)
	}
	if f.loose[string(m.Data)] == 0 {
		return errors.New("CHU-1: an unreliable message is read that was not sent, or twice")
	}
	f.loose[string(m.Data)]--
	return nil
}

// hooks are how the judges hear of an end's events.
func (e *talker) hooks() Hooks {
	return Hooks{Composed: e.composed, Drained: e.drained, Arrives: e.arrives, Arrived: e.arrived, Learned: func(p protocol.Path) {
		for _, f := range e.order {
			if f.judge != nil {
				f.judge.Path(p)
			}
		}
	}}
}

// records yields the records of a payload of this end or the other.
func (e *talker) records(payload []byte, yield func(f *flow, r *protocol.Record)) {
	if bytes.Equal(payload, []byte{0}) {
		return
	}
	for at := 0; at < len(payload); {
		var r protocol.Record
		f := e.flows[payload[at+1]]
		next, err := f.cfg.Decode(payload, at, &r)
		if err != nil {
			e.c.check(err)
			return
		}
		at = next
		yield(f, &r)
	}
}

// composed judges the records that go out.
func (e *talker) composed(now core.Micros, number core.Number, payload []byte) {
	e.c.note("%9d end %d composes %d, %d bytes", now, e.index, number, len(payload))
	e.records(payload, func(f *flow, r *protocol.Record) {
		n := core.NoNumber
		switch {
		case r.Type == protocol.TypeReport:
			e.c.check(e.far.flows[f.cfg.ID].judge.Reported(now, r))
		case f.judge != nil:
			n = f.judge.sequence(r.Sequence)
			e.c.check(f.judge.Composed(now, number, *r))
		}
		e.c.note("          %v of %d, %d, %d", r.Type, f.cfg.ID, n, r.Sequence)
		e.sent[number] = append(e.sent[number], n)
	})
}

// drained judges the machines when nothing more is due.
func (e *talker) drained(now core.Micros) {
	for _, f := range e.order {
		if f.judge != nil {
			e.c.check(f.judge.Polled(now, true, false))
			e.c.check(e.far.flows[f.cfg.ID].judge.ReceiverPolled(now, false))
		}
	}
	e.c.check(e.Mux.Err())
}

// arrives gives the records of a payload to the judges.
func (e *talker) arrives(now core.Micros, d packet.Delivery) {
	means, i := e.far.sent[d.Number], 0
	e.c.note("%9d end %d takes %d", now, e.index, d.Number)
	e.far.records(d.Payload, func(f *flow, r *protocol.Record) {
		switch {
		case r.Type == protocol.TypeReport:
			e.flows[f.cfg.ID].judge.Heard(now, d.Number, d.Ack, r)
		case f.judge != nil:
			f.judge.Arrived(now, means[i], r)
		}
		i++
	})
}

// arrived judges what was released, and reads.
func (e *talker) arrived(now core.Micros) {
	for _, f := range e.order {
		if f.judge != nil {
			e.c.check(f.judge.Released(f.cfg.First + core.Number(e.Mux.SenderStats(f.cfg.ID).Released)))
		}
	}
	for _, f := range e.far.order {
		if f.atOnce(e.c.good) {
			e.read(now, f, 1<<30)
		}
	}
}
