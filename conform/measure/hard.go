package measure

import (
	"fmt"
	"time"
)

const millisecond = time.Millisecond

// Case is a scenario with a name.
type Case struct {
	Name string
	Scenario
}

// Hard are the cases beyond the tables.
var Hard = []Case{
	{"RTT 0.2 ms, 1 Gbit/s", Both(PathOf(1e9, millisecond/5, 1<<20))},
	{"RTT 200 ms, no limit", Both(PathOf(0, 200*millisecond, 0))},
	{"RTT 200 ms, S1, 5 %", Both(Lossy(PathOf(100e6, 200*millisecond, 1<<20), 5))},
	{"RTT 400 ms, no limit", Both(PathOf(0, 400*millisecond, 0))},
	{"RTT 400 ms, S1, 5 %", Both(Lossy(PathOf(100e6, 400*millisecond, 1<<20), 5))},
	{"RTT 400 ms, 3 slices", small(Both(PathOf(100e6, 400*millisecond, 1<<20)), 3000)},
	{"S1, 50 %", Cell{"S1", 50}.Scenario(0)},
	{"S2, 50 %", Cell{"S2", 50}.Scenario(0)},
	{"S3, 50 %", Cell{"S3", 50}.Scenario(0)},
	{"1 Mbit/s, queue 1 MiB", Both(PathOf(1e6, 50*millisecond, 1<<20))},
	{"S2, queue 16 KiB", Both(PathOf(10e6, 50*millisecond, 16<<10))},
	{"S2, rate drops tenfold at 100 ms", Dropping(Networks["S2"], 100*millisecond)},
	{"S2, rate drops tenfold at 60 ms", Dropping(Networks["S2"], 60*millisecond)},
	{"S1, outage of 1 s", Outage(Networks["S1"], 60*millisecond, 1060*millisecond)},
	{"S1, outage of 6 s", Outage(Networks["S1"], 60*millisecond, 6060*millisecond)},
	{"S2, outage of 6 s", Outage(Networks["S2"], 100*millisecond, 6100*millisecond)},
	{"S1, outage for the first 1 s", Outage(Networks["S1"], 0, 1000*millisecond)},
	{"10 slices, outage of 6 s", small(Outage(Networks["S2"], 0, 6*time.Second), 10_000).Warm()},
	{"S1, acks lose 50 %", Scenario{Down: Networks["S1"], Up: Lossy(Networks["S1"], 50)}},
	{"S1, 5 % late by 10 ms", Both(Late(5))},
	{"S1, half late by 10 ms", Both(Late(50))},
	{"S1, 10 % doubled", Both(Doubled(10))},
	{"S2, RTT jumps to 400 ms", Jumping(400 * millisecond)},
}

// HardCase returns the case of Hard with a name.
func HardCase(name string) Scenario {
	for _, c := range Hard {
		if c.Name == name {
			return c.Scenario
		}
	}
	panic("transfers: there is no case " + name)
}

// Small are cold transfers of few slices over S1.
func Small() (cases []Case) {
	for _, slices := range []int{1, 2, 4, 8, 32} {
		for _, loss := range []int{0, 1, 5, 20} {
			c := Cell{"S1", loss}
			cases = append(cases, Case{fmt.Sprintf("%v, %d slices", c, slices), small(c.Scenario(0), slices*1024)})
		}
	}
	return cases
}

func small(s Scenario, size int) Scenario {
	s.Size = size
	return s
}
