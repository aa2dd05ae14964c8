package adaptive

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

// Rules that a test can switch off, by what RECOVERY.md calls them.
var Rules = []struct {
	ID, Name string
	rule     rule
	pace     control.Rule
}{
	{"LOS-3", "patience with reordering", rulePatience, 0},
	{"EST-3", "round trips from resends", ruleResentRTT, 0},
	{"EST-5", "15/16 of the smallest", ruleSlack, 0},
	{"PTO-1", "a timer for each slice", ruleEachTimer, 0},
	{"PTO-2", "newly acked slices put the timer off", ruleSettle, 0},
	{"PTO-4", "the newest first", ruleNewest, 0},
	{"CPY-1", "copies", ruleCopies, 0},
	{"CPY-3", "no copies into silence", ruleQuiet, 0},
}

// Without returns the profile without a rule of Rules.
func (p Profile) Without(i int) Profile {
	p.without, p.paceWithout = Rules[i].rule, Rules[i].pace
	return p
}
