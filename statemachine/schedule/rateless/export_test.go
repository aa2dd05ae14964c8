package rateless

// Rules that a test can switch off, by what REPAIR.md and RECOVERY.md call them.
var Rules = []struct {
	ID, Name string
	rule     rule
}{
	{"RPL-2", "after a long hold one slice asks", ruleAsk},
	{"RPL-4", "the estimate may be wrong", ruleDoubt},
	{"RPL-5, step 2", "an outage is no loss", ruleOutage},
}

// Without returns the profile without a rule of Rules.
func (p Profile) Without(i int) Profile {
	p.without = Rules[i].rule
	return p
}
