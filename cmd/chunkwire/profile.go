package main

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/recovery"
	"github.com/chunkwire/chunkwire/statemachine"
)

// pace is what --profile and a rate say: how a sender decides what goes out, and
// when.
type pace struct {
	name string
	rate int64 // bytes a second; 0 is unlimited
	make func() statemachine.Scheduler
}

// profileNames are the values of --profile, the default first. base is the burst
// of the base algorithm, article the article's own.
var profileNames = []string{"adaptive", "burst", "redundant", "fixed", "base", "article"}

var profileUsage = "how to pace what is sent: " + strings.Join(profileNames, ", ")

// needsRate tells which profiles send at a rate that somebody must name.
func needsRate(profile string) bool { return profile == "fixed" || profile == "article" }

// sharesPath tells which profiles pace several lanes as one (LAN-9, LAN-10).
func sharesPath(profile string) bool { return profile != "base" && profile != "article" }

// paceOf returns the pace of a profile. The rate is in bits a second: the rate
// itself of fixed and article, the least of base, and a limit of the others; 0 for
// unlimited, negative for the profile's own.
func paceOf(name string, bits int64) (pace, error) {
	p := pace{name: name, rate: bits / 8}
	if bits < 0 {
		p.rate = 0
		if needsRate(name) || name == "base" {
			p.rate = statemachine.DefaultRegularRate
		}
	}
	if p.rate < statemachine.MinRate && bits > 0 {
		return pace{}, fmt.Errorf("a rate below %d bits a second would stall: one slice a second at least", statemachine.MinRate*8)
	}
	switch name {
	case "adaptive":
		p.make = recoveryAt(recovery.Adaptive(), p.rate)
	case "burst":
		p.make = recoveryAt(recovery.Burst(), p.rate)
	case "redundant":
		p.make = recoveryAt(recovery.Redundant(), p.rate)
	case "fixed":
		p.make = recoveryAt(recovery.Fixed(p.rate), p.rate)
	case "base":
		base := statemachine.Burst()
		base.Rate = p.rate
		p.make = baseAt(base)
	case "article":
		p.make = baseAt(statemachine.Article(p.rate))
	default:
		return pace{}, fmt.Errorf("no profile %q; there are: %s", name, strings.Join(profileNames, ", "))
	}
	return p, nil
}

func recoveryAt(p recovery.Profile, rate int64) func() statemachine.Scheduler {
	p.MaxRate = rate
	return func() statemachine.Scheduler { return recovery.New(p) }
}

func baseAt(p statemachine.Profile) func() statemachine.Scheduler {
	return func() statemachine.Scheduler { return statemachine.NewBase(p) }
}
