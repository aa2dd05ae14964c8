package channelsim

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/soak"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// What is counted in worlds of channels, besides what is in all.
const (
	ChannelsDrawn = soak.Own + iota
	MessagesSent
	MessagesRead
	Skipped
	RecordsSent
	Resent
	Probes
	Reports
)

// Worlds are random worlds of channels: two ends with several channels each way, applications that send and
// read as they like, and a path with any faults, which is good in the end. Judges watch each channel at
// every event. A world fails with what is violated, or if not all is delivered or skipped and released some
// time after the path is good.
var Worlds = soak.Kind{Name: "channels", Run: runWorld, Rows: []soak.Row{
	{Name: "channels", Format: "%d worlds with %d channels, %v of virtual time", Counts: []soak.Count{soak.Worlds, ChannelsDrawn, soak.Time}},
	{Name: "messages", Format: "%d sent, %d read, %d sequences skipped; %d refused as they should be", Counts: []soak.Count{MessagesSent, MessagesRead, Skipped, soak.Refused}},
	{Name: "records", Format: "%d sequences sent, %d of them again; %d probes, %d reports; %d datagrams, %d lost", Counts: []soak.Count{RecordsSent, Resent, Probes, Reports, soak.Datagrams, soak.Lost}},
	{Name: "ends", Format: "all over at most %v after the faults", Counts: []soak.Count{soak.LongestEnd}},
}}

func runWorld(seed uint64, log *soak.Log) (soak.Counts, error) {
	c := &conversation{World: soak.New(seed, 11, log)}
	if err := c.begin(seed); err != nil {
		return c.Counts, err
	}
	c.run()
	return c.Result()
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
	soak.World
	ends [2]*talker
	tick core.Micros
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
			c.Note("end %d sends %+v", i, *f)
		}
		c.ends[i].Hooks = c.ends[i].hooks()
		if err := c.DrawPath(seed, i, worldSends); err != nil {
			return err
		}
	}
	for _, e := range c.ends {
		e.Pace = sim.Among[core.Micros](c.Draw, 0, 0, 0, 2, 10, 40) * core.Millisecond
		c.Note("end %d has a pace of %d us", e.index, e.Pace)
	}
	c.ends[0].far, c.ends[1].far = c.ends[1], c.ends[0]
	c.Counts[ChannelsDrawn] = int64(len(configs))
	c.Timeline = sim.NewWorld(c.carry, sim.End[[]byte](c.ends[0]), c.ends[1])
	return nil
}

// carry is the network.
func (c *conversation) carry(now time.Duration, from int, datagram []byte, deliver func(time.Duration, int, []byte)) {
	c.Send(now, from, len(datagram), func(at time.Duration) { deliver(at, 1-from, datagram) })
}

// run lets all happen, and then waits until nothing is left to do.
func (c *conversation) run() {
	for _, e := range c.ends {
		c.At(c.Time(0, c.tick), e.frame)
	}
	c.Live(soak.Course{Troubles: worldSends, Settles: worldSettles, Good: c.becomeGood, Left: c.settled})
	c.Guard(c.calm)
	c.count()
}

// becomeGood ends all faults, and what slows down the ends; everyone reads.
func (c *conversation) becomeGood() {
	c.MendPaths()
	for _, e := range c.ends {
		e.Pace = 0
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
				return fmt.Errorf("CHT-LIVE-1: end %d, channel %d: %w", e.index, f.cfg.ID, err)
			}
		}
	}
	return nil
}

// calm checks that after a while nothing more is sent (CHV-7).
func (c *conversation) calm() {
	until := c.Now() + worldCalm
	c.At(until, func() {})
	c.Run(until, c.Failed)
	before := c.Counts[soak.Datagrams]
	c.At(until+core.Second, func() {})
	c.Run(until+core.Second, c.Failed)
	if n := c.Counts[soak.Datagrams] - before; n > 0 {
		c.Check(fmt.Errorf("CHV-7: all is settled, and %d datagrams are sent", n))
	}
}

func (c *conversation) count() {
	for _, e := range c.ends {
		for _, f := range e.order {
			s, r := e.Mux.SenderStats(f.cfg.ID), e.Mux.ReceiverStats(f.cfg.ID)
			c.Counts[MessagesSent] += s.Messages
			c.Counts[RecordsSent] += s.Sent
			c.Counts[Resent] += s.Resent
			c.Counts[Probes] += s.Probes
			c.Counts[Reports] += r.Reports
			c.Counts[MessagesRead] += r.Delivered
			c.Counts[Skipped] += r.Skipped
		}
	}
}

// frame is a frame of an end's application.
func (e *talker) frame() {
	now := e.c.Now()
	for _, f := range e.order {
		for range f.perTick {
			if now < f.until {
				e.send(now, f)
			}
		}
	}
	for _, f := range e.far.order {
		if !f.atOnce(e.c.Good()) {
			e.read(now, f, f.readsNow(now, e.c.Good()))
		}
	}
	if !e.c.Good() || e.c.settled() != nil {
		e.c.At(now+e.c.tick, e.frame)
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
		e.c.Counts[soak.Refused]++
	}
	switch {
	case f.judge != nil:
		e.c.Check(f.judge.Sent(now, f.message, lifetime, refusal(err)))
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
		e.c.Check(f.took(m))
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
			e.c.Check(err)
			return
		}
		at = next
		yield(f, &r)
	}
}

// composed judges the records that go out.
func (e *talker) composed(now core.Micros, number core.Number, payload []byte) {
	e.c.Note("end %d composes %d, %d bytes", e.index, number, len(payload))
	e.records(payload, func(f *flow, r *protocol.Record) {
		n := core.NoNumber
		switch {
		case r.Type == protocol.TypeReport:
			e.c.Check(e.far.flows[f.cfg.ID].judge.Reported(now, r))
		case f.judge != nil:
			n = f.judge.sequence(r.Sequence)
			e.c.Check(f.judge.Composed(now, number, *r))
		}
		e.c.Note("          %v of %d, %d, %d", r.Type, f.cfg.ID, n, r.Sequence)
		e.sent[number] = append(e.sent[number], n)
	})
}

// drained judges the machines when nothing more is due.
func (e *talker) drained(now core.Micros) {
	for _, f := range e.order {
		if f.judge != nil {
			e.c.Check(f.judge.Polled(now, true, false))
			e.c.Check(e.far.flows[f.cfg.ID].judge.ReceiverPolled(now, false))
		}
	}
	e.c.Check(e.Mux.Err())
}

// arrives gives the records of a payload to the judges.
func (e *talker) arrives(now core.Micros, d packet.Delivery) {
	means, i := e.far.sent[d.Number], 0
	e.c.Note("end %d takes %d", e.index, d.Number)
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
			e.c.Check(f.judge.Released(f.cfg.First + core.Number(e.Mux.SenderStats(f.cfg.ID).Released)))
		}
	}
	for _, f := range e.far.order {
		if f.atOnce(e.c.Good()) {
			e.read(now, f, 1<<30)
		}
	}
}
