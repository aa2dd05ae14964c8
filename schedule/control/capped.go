package control

import (
	"fmt"

	"github.com/chunkwire/chunkwire/machine"
)

// capped finds out whether what is lost is lost because of the rate.
type capped struct {
	interval   int64 // nanoseconds a slice; 0: none
	probing    bool  // no cut since it was set
	calm       int64 // loss that does not depend on the rate, in 1024ths
	looks      int64 // interval of the look; 0: none
	lossBefore int64 // in 1024ths
	inRow      int
	badRow     int
	lookAt     machine.Micros
	wait       machine.Micros // in srtt

	from          machine.Micros // accounts begin
	arrived, lost int64
	trainInterval int64
	grownAt       machine.Micros
}

func (c *Controller) startAccount(now machine.Micros) {
	c.cap.arrived, c.cap.lost = 0, 0
	c.cap.from = now
}

// account takes what arrived and was lost.
func (c *Controller) account(now machine.Micros, arrived, lost int) {
	k := &c.cap
	if !c.config.has(Look) || c.RTT.Smoothed == 0 || now < k.from {
		return
	}
	k.arrived += int64(arrived)
	k.lost = max(k.lost+int64(lost), 0)
	if k.interval > 0 && k.looks == 0 && !k.probing && now-k.grownAt >= c.RTT.Smoothed {
		k.grownAt = now
		// a quarter of a slice a round trip faster
		srtt := int64(c.RTT.Smoothed) * 1000
		k.interval = max(k.interval*4*srtt/(4*srtt+k.interval), 1)
	}
	n, s := k.arrived+k.lost, c.RTT.Smoothed
	enough := n >= Enough || now-k.from >= 8*s
	if k.looks > 0 {
		enough = n >= 64 || now-k.from >= 8*s
	}
	if k.interval > 0 && k.looks == 0 {
		enough = n >= 32 || now-k.from >= 4*s
	}
	if !enough || now-k.from < s || n == 0 {
		return
	}
	p := k.lost * 1024 / n
	dev := Isqrt(k.lost + 1)
	if Verbose {
		fmt.Printf("%7d account %d ms: arrived %d lost %d calm %d interval %d looks %d before %d inRow %d delivered %d rate %d lookAt %d L %d\n", now/1000, (now-k.from)/1000, k.arrived, k.lost, k.calm, k.interval/1000, k.looks/1000, k.lossBefore, k.inRow, c.delivered(now)/1000, c.PerSlice()/1000, k.lookAt/1000, c.limit.eighths/8)
	}
	switch {
	case k.looks > 0:
		expected := k.lossBefore * n / 1024
		if k.lost*4 < 3*expected && k.lost+3*dev < expected {
			k.interval, k.probing, k.badRow = max(k.looks, int64(now-k.from)*1000/max(k.arrived, 1)), true, 0
			c.losses.Lost = min(c.losses.Lost, c.losses.Arrived*(k.calm+8)/(1024-min(k.calm, 1000)))
		} else if took := int64(now-k.from) * 1000 / max(k.arrived, 1); p >= 768 && took >= 2*k.looks && took < slowest {
			k.looks = took // it was not slow enough to say
			c.startAccount(now + c.limit.latest)
			return
		} else {
			k.calm = p
			k.wait = min(max(k.wait*2, 24), 384)
			k.lookAt = now + k.wait*s
		}
		k.looks, k.inRow = 0, 0
		c.startAccount(now + c.limit.latest)
		return
	case k.interval > 0:
		expected := 5 * k.calm * n / 4096
		if k.lost > expected+2+2*Isqrt(expected) {
			k.badRow++
			if k.badRow >= 4 && p*2 > k.lossBefore {
				k.interval, k.calm = 0, p
			} else {
				took := int64(now-k.from) * 1000 / max(k.arrived, 1)
				k.interval = max(k.interval*8/7, min(took, 2*k.interval))
				k.probing = false
			}
			c.startAccount(now + c.limit.latest)
			return
		}
		k.badRow = 0
		if k.probing {
			k.interval = k.interval * 3 / 4
		}
		if k.interval < c.PerSlice()*5/8 {
			k.interval = 0
		}
	case p >= Lossy && k.lost >= 16 && p > k.calm*5/4+16:
		k.inRow++
		if k.inRow >= lookAfter && now >= k.lookAt && c.delivered(now) > 0 {
			k.looks, k.lossBefore = max(c.delivered(now), c.pathInterval()), p
			if p >= 768 {
				k.looks = max(k.looks, int64(now-k.from)*1000/max(k.arrived, 1))
			}
			c.startAccount(now + c.limit.latest)
			return
		}
	default:
		k.inRow = 0
	}
	c.startAccount(now)
}

var lookAfter = 1
var Enough, Lossy = int64(128), int64(128)

// least returns the shortest interval that the cap allows.
func (k *capped) least() int64 { return max(k.interval, k.looks) }
