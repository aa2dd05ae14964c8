package crowd

import (
	"errors"
	"slices"
)

// mostTries is how many scenarios Shrink runs.
const mostTries = 200

// Shrink returns the smallest scenario that it finds in which the same judge fails first.
func (s *Scenario) Shrink() *Scenario {
	want := s.fails()
	if want == "" {
		return s
	}
	for tries := 0; tries < mostTries; {
		i := slices.IndexFunc(s.smaller(), func(t *Scenario) bool {
			tries++
			return tries <= mostTries && t.fails() == want
		})
		if i < 0 {
			break
		}
		s = s.smaller()[i]
	}
	return s
}

// fails returns which judge fails first; "" if none does.
func (s *Scenario) fails() string {
	_, err := s.Run(nil)
	var v *Violation
	if errors.As(err, &v) {
		return v.Judge
	}
	return ""
}

// smaller returns scenarios with one thing less, the largest things first.
func (s *Scenario) smaller() (all []*Scenario) {
	less := func(change func(t *Scenario)) {
		t := *s
		t.Bad, t.Ours, t.Beside = slices.Clone(s.Bad), slices.Clone(s.Ours), slices.Clone(s.Beside)
		change(&t)
		all = append(all, &t)
	}
	if len(s.Bad) > 0 {
		less(func(t *Scenario) { t.Bad, t.Beside = nil, nil })
	}
	for i := range s.Bad {
		less(func(t *Scenario) { t.Bad = slices.Delete(t.Bad, i, i+1) })
	}
	for i := range s.Beside {
		less(func(t *Scenario) { t.Beside = slices.Delete(t.Beside, i, i+1) })
	}
	for i := range s.Ours {
		if len(s.Ours) > 1 {
			less(func(t *Scenario) { t.Ours = slices.Delete(t.Ours, i, i+1) })
		}
	}
	for i, o := range s.Ours {
		for _, simpler := range o.simpler() {
			less(func(t *Scenario) { t.Ours[i] = simpler })
		}
	}
	return all
}

// simpler returns flows with one thing less.
func (o Ours) simpler() (all []Ours) {
	for _, change := range []func(p *Ours){
		func(p *Ours) { p.Start = 0 },
		func(p *Ours) { p.Every = 0 },
		func(p *Ours) { p.BothWays = false },
		func(p *Ours) { p.Lanes = max(1, p.Lanes/2) },
	} {
		p := o
		if change(&p); p != o {
			all = append(all, p)
		}
	}
	return all
}
