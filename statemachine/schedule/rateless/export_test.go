package rateless

import "github.com/chunkwire/chunkwire/statemachine/schedule/control"

// Rules that a test can switch off, by what REPAIR.md and RECOVERY.md call them.
var Rules = []struct {
	ID, Name string
	rule     rule
	pace     control.Rule
}{
	{"RPL-2", "after a long hold one slice asks", ruleAsk, 0},
	{"RPL-4", "the estimate may be wrong", ruleDoubt, 0},
	{"RPL-5, step 2", "an outage is no loss", ruleOutage, 0},
}

// Without returns the profile without a rule of Rules.
func (p Profile) Without(i int) Profile {
	p.without, p.paceWithout = Rules[i].rule, Rules[i].pace
	return p
}
