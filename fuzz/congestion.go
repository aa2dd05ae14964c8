package fuzz

import (
	"strings"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sim/packetsim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Congestion avoidance beside its model and its oracle, under any conditions, at times
// that may go back. PKT-SAFE-5 is checked from outside. At last conditions are good for
// MOST_RECOVERY, and the mode must be good (PKT-LIVE-4).
//
// An input is a byte for the profile, and a script of operations, each a byte and what op
// reads.
var targetCongestion = newTarget("Congestion", "congestion avoidance does what its model and its oracle do; its modes and recovery keep their bounds", runCongestion, seedCongestion)

func runCongestion(t T, data []byte) {
	s := script{data}
	profile := s.byte() & 1
	b := &congestionBench{
		T: t, script: s, machine: packet.NewCongestion(packet.Profile(profile)), model: packetsim.NewCongestionModel(packet.Profile(profile)),
		oracle: packetoracle.NewCongestion([]string{"default", "article"}[profile]), profile: packet.Profile(profile),
		goodSince: core.Never,
	}
	for n := 0; b.more() && n < maxOps; n++ {
		b.op()
	}
	b.finish()
}

// congestionBench is the machine beside its two judges.
type congestionBench struct {
	T
	script
	machine packet.Congestion
	model   *packetsim.CongestionModel
	oracle  *packetoracle.Congestion
	profile packet.Profile
	clock   core.Micros // the time of the next event, which may go back
	latest  core.Micros
	is      packet.Conditions

	goodSince core.Micros // since when every evaluation found good conditions, or Never
}

// op does one operation of the script.
func (b *congestionBench) op() {
	b.Helper()
	switch b.byte() % 10 {
	case 0: // as traces have it
		b.conditions(core.Micros(b.uint32()), core.Micros(b.uint32()))
		b.evaluate()
	case 1: // near the limit
		least := core.Micros(b.byte()) * 2 * core.Millisecond
		limit := packet.BadRTT
		if b.profile == packet.ProfileDefault {
			limit = max(limit, least*3/2)
		}
		b.conditions(limit+core.Micros(b.byte())-128, least)
		b.evaluate()
	case 2:
		b.evaluate()
	case 3: // as a driver does, to the microsecond
		if at := b.machine.Deadline(); at != core.Never {
			b.clock = max(at-core.Micros(b.byte()&1), 0)
		}
		b.evaluate()
	case 4:
		for range b.byte() {
			b.pass(100 * core.Millisecond)
			b.evaluate()
		}
	case 5:
		b.sent()
	case 6: // at the cadence
		for range b.byte() {
			b.pass(b.machine.NextAt() - b.clock)
			b.sent()
		}
	case 7:
		b.pass(core.Micros(b.uint32()))
	case 8:
		b.pass(core.Micros(b.byte()) * 250 * core.Millisecond)
	case 9:
		b.clock = max(0, b.clock-core.Micros(b.uint32()))
	}
}

// conditions reads a byte of what holds: bit 0 says that the round trip is measured, bit 1
// that the path is silent.
func (b *congestionBench) conditions(srtt, least core.Micros) {
	b.is = packet.Conditions{SRTT: max(srtt, 0), MinRTT: least}
	flags := b.byte()
	b.is.Measured, b.is.Silent = flags&1 == 1, flags&2 == 2
}

func (b *congestionBench) pass(d core.Micros) { b.clock = min(b.clock+max(d, 0), 1<<61) }

func (b *congestionBench) sent() {
	b.Helper()
	b.latest = max(b.latest, b.clock)
	b.machine.Sent(b.clock)
	b.model.Sent(b.clock)
	b.compare("sent")
}

// evaluate gives the conditions to all three, and holds the change of mode against
// PKT-SAFE-5.
func (b *congestionBench) evaluate() {
	b.Helper()
	b.latest = max(b.latest, b.clock)
	before, recovery := b.machine.Mode(), b.machine.Recovery()
	var srtt *int64
	if b.is.Measured {
		v := int64(b.is.SRTT)
		srtt = &v
	}
	b.machine.Evaluate(b.clock, b.is)
	row := b.model.Evaluate(b.clock, b.is)
	rows := b.oracle.Evaluate(int64(b.latest), srtt, int64(b.is.MinRTT), b.is.Silent)
	if rows[len(rows)-1] != row {
		b.Fatalf("at %d, %+v: the model takes %s, the oracle %v", b.clock, b.is, row, rows)
	}
	b.compare(strings.Join(rows, " "))
	good := row == "C4" || row >= "C6"
	switch {
	case !good || before == packet.Good:
		b.goodSince = core.Never
	case b.goodSince == core.Never:
		b.goodSince = b.latest
	}
	if before == packet.Bad && b.machine.Mode() == packet.Good && b.latest-b.goodSince < recovery {
		b.Fatalf("good again after %d of good conditions, but recovery is %d", b.latest-b.goodSince, recovery)
	}
}

// compare compares all that can be seen.
func (b *congestionBench) compare(what string) {
	b.Helper()
	c := &b.machine
	if verbose() {
		b.Logf("at %d, %s, %+v: %v, recovery %d, next at %d", b.clock, what, b.is, c.Mode(), c.Recovery(), c.NextAt())
	}
	mode, recovery, nextAt := b.model.State()
	switch {
	case c.Mode().String() != mode, c.Recovery() != recovery, c.NextAt() != nextAt, c.Deadline() != b.model.Deadline():
		b.Fatalf("after %s: %v, recovery %d, next at %d, deadline %d; the model has %s, %d, %d, %d", what,
			c.Mode(), c.Recovery(), c.NextAt(), c.Deadline(), mode, recovery, nextAt, b.model.Deadline())
	case b.oracle.Good() != (c.Mode() == packet.Good), b.oracle.Recovery() != int64(c.Recovery()):
		b.Fatalf("after %s: %v, recovery %d; the oracle has %v, %d", what, c.Mode(), c.Recovery(), b.oracle.Good(), b.oracle.Recovery())
	case recovery < packet.LeastRecovery || recovery > packet.MostRecovery:
		b.Fatalf("recovery is %d", recovery)
	}
}

// finish is PKT-LIVE-4, with an evaluation at each deadline.
func (b *congestionBench) finish() {
	b.Helper()
	b.clock = b.latest
	b.is = packet.Conditions{Measured: true, SRTT: packet.BadRTT}
	until := b.clock + packet.MostRecovery
	for b.evaluate(); b.machine.Deadline() <= until; b.evaluate() {
		b.clock = b.machine.Deadline()
	}
	b.clock = until
	if b.evaluate(); b.machine.Mode() != packet.Good {
		b.Fatalf("conditions were good for %d, and the mode is %v", packet.MostRecovery, b.machine.Mode())
	}
}

// seedCongestion are the traces of congestion avoidance, and some scripts with a cadence.
func seedCongestion(files []testvectors.File) (seeds [][]byte) {
	for _, tr := range packets.Congestion.Traces(testvectors.Requests(files)) {
		seed := []byte{0}
		if tr.Config.(packets.CongestionConfig).Profile == "article" {
			seed[0] = 1
		}
		now := int64(0)
		for _, e := range tr.Events {
			is := e.Event.(packets.Conditions)
			seed = passBytes(seed, 7, e.At-now)
			if e.At < now {
				seed = passBytes(seed, 9, now-e.At)
			}
			now = e.At
			flags := byte(0)
			if is.SRTT.Is {
				flags = 1
			}
			if is.Silent {
				flags |= 2
			}
			seed = append(appendUint32(appendUint32(append(seed, 0), uint32(is.SRTT.V)), uint32(is.MinRTT.V)), flags)
		}
		seeds = append(seeds, seed)
	}
	for profile := range byte(2) {
		seeds = append(seeds,
			[]byte{profile, 1, 50, 128, 1, 4, 100, 6, 40, 1, 50, 129, 1, 6, 20, 1, 200, 120, 1, 4, 200, 6, 200, 8, 255, 2, 6, 3, 1, 0, 255, 1},
			[]byte{profile, 1, 0, 0, 1, 3, 1, 3, 0, 1, 0, 0, 2, 1, 0, 0, 1, 3, 0, 1, 0, 0, 3, 1, 0, 0, 1, 3, 0, 8, 255, 8, 255, 2, 1, 0, 255, 1},
			[]byte{profile, 5, 9, 255, 0, 0, 0, 5, 1, 0, 0, 1, 8, 200, 2, 9, 0, 0, 255, 0, 2, 5, 6, 9, 3, 0},
			[]byte{profile, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 255, 255, 255, 255, 2, 3, 0})
	}
	return seeds
}
