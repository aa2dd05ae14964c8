package main

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

// rules are those of the pace that can be left out, by what RECOVERY.md calls them.
var rules = []struct {
	name string
	rule control.Rule
}{
	{"RAT-3", control.Overtaking},
	{"RAT-4", control.Busy},
	{"PAC-2", control.Headroom},
	{"WIN-4", control.Drain},
	{"EST-8", control.Join},
	{"LMT", control.Limit},
	{"LMT-7", control.Velocity},
	{"LMT-9", control.Fraction},
	{"LMT-4", control.Alarm},
	{"PTO-7", control.Silence},
	{"CTD", control.Contest},
	{"CTD-4", control.Noise},
	{"CAP", control.Look},
}

// ablation is what each rule is worth to four streams, the last of which is 6 s later, and to a
// newcomer beside NewReno.
var ablation = set{"ablation", sharing, func() (all []situation) {
	asked := without
	defer func() { without = asked }()
	for _, p := range places {
		for i := -1; i < len(rules); i++ {
			name := ""
			if without = asked; i >= 0 {
				without, name = asked|rules[i].rule, ", without "+rules[i].name
			}
			for _, k := range kinds(8) {
				for _, s := range []situation{streams(p, k, 4, 2*second), mixed(p, k, [2]int{1, 1}, 0, 10*second, 0)} {
					s.name += name
					all = append(all, s)
				}
			}
		}
	}
	return all
}, 0}
