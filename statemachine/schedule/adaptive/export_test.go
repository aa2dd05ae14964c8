package adaptive

// Rules that a test can switch off, by what RECOVERY.md calls them.
var Rules = []struct {
	ID, Name string
	rule     rule
}{
	{"LOS-3", "patience with reordering", rulePatience},
	{"EST-3", "round trips from resends", ruleResentRTT},
	{"EST-5", "15/16 of the smallest", ruleSlack},
	{"PTO-1", "a timer for each slice", ruleEachTimer},
	{"PTO-2", "newly acked slices put the timer off", ruleSettle},
	{"PTO-4", "the newest first", ruleNewest},
	{"CPY-1", "copies", ruleCopies},
	{"CPY-3", "no copies into silence", ruleQuiet},
}

// Without returns the profile without a rule of Rules.
func (p Profile) Without(i int) Profile {
	p.without = Rules[i].rule
	return p
}
