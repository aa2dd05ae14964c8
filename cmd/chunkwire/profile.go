package main

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/statemachine"
)

// profileNames are the values of --profile, the default first.
var profileNames = []string{"burst", "fixed", "article"}

var profileUsage = "how to pace what is sent: " + strings.Join(profileNames, ", ")

// profileOf returns the profile of a name. The rate is in bits a second, 0 for
// unlimited, negative for the profile's own.
func profileOf(name string, bits int64) (statemachine.Profile, error) {
	rate := bits / 8
	if bits < 0 {
		rate = statemachine.DefaultRegularRate
	}
	if rate < statemachine.MinRate && bits != 0 {
		return statemachine.Profile{}, fmt.Errorf("a rate below %d bits a second would stall: one slice a second at least", statemachine.MinRate*8)
	}
	switch name {
	case "burst":
		p := statemachine.Burst()
		p.Rate = rate
		return p, nil
	case "fixed":
		return statemachine.Fixed(rate), nil
	case "article":
		return statemachine.Article(rate), nil
	}
	return statemachine.Profile{}, fmt.Errorf("no profile %q; there are: %s", name, strings.Join(profileNames, ", "))
}
