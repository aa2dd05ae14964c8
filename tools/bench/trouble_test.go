package bench

import "time"

// trouble measures accidents: what a clean grid does not show.
func (b *bench) trouble() {
	for _, plan := range troubles() {
		for _, p := range AllPeers() {
			b.add(Trouble, 0, p, plan, b.seeds)
		}
	}
}

func troubles() []Plan {
	s1, s2, s3 := Networks[0], Networks[1], Networks[2]
	ackLoss, late, doubled, deep := s1, s1, s1, s3
	ackLoss.AckLoss = 50
	late.Late = 5
	doubled.Doubled = 10
	deep.Queue = 1 << 20
	return []Plan{
		{Name: "S1, 50 % loss", Cell: s1.with(50)},
		{Name: "S1, acks lose 50 %", Cell: ackLoss},
		{Name: "S1, 5 % late by 10 ms", Cell: late},
		{Name: "S1, 10 % doubled", Cell: doubled},
		{Name: "S3 with a queue of 1 MiB", Cell: deep},
		{Name: "S2, rate falls tenfold after 100 ms", Cell: s2, Trouble: func(p *path) {
			slow := s2
			slow.Rate /= 10
			time.AfterFunc(100*time.Millisecond, func() { p.set(slow) })
		}},
		{Name: "S1, 6 s outage at the start", Cell: s1, Trouble: func(p *path) {
			p.set(s1.with(100))
			time.AfterFunc(6*time.Second, func() { p.set(s1) })
		}},
	}
}
