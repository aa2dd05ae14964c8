package main

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

// rules are those of the pace that can be left out, by what RECOVERY.md calls them.
var rules = []struct {
	name string
	rule control.Rule
}{
	{"ROOM-1", control.Drain},
	{"EST-8", control.Join},
	{"PTO-7", control.Silence},
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
