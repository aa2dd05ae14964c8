package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/chunkwire/chunkwire/lanes"
	"github.com/chunkwire/chunkwire/repair"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
)

// profileNames are the values of --profile, the default first. base is the burst
// of the base algorithm, article the article's own.
var profileNames = []string{"adaptive", "burst", "redundant", "fixed", "base", "article"}

// paceFlags say how a sender paces what it sends: the same in send, demo and
// simulate.
type paceFlags struct {
	profile string
	maxRate int64 // bits a second; 0 is unlimited, negative the profile's own
}

// add adds the flags to a command. The name that --max-rate had before is still
// taken, if there was one.
func (p *paceFlags) add(cmd *cobra.Command, before string) {
	f := cmd.Flags()
	f.StringVar(&p.profile, "profile", profileNames[0], "how to pace what is sent: "+strings.Join(profileNames, ", "))
	f.Var(bitRate(&p.maxRate, -1), "max-rate", "the sender's limit in bits a second; the rate itself of fixed and article, the least of base; 0 is unlimited")
	f.Lookup("max-rate").DefValue = "profile's"
	if before != "" {
		f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			if name == before {
				name = "max-rate"
			}
			return pflag.NormalizedName(name)
		})
	}
	completeFrom(cmd, "profile", profileNames)
}

// completeFrom makes shells complete a flag of the command from these values.
func completeFrom(cmd *cobra.Command, flag string, values []string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag
	}
}

// pace returns what the flags ask for. A profile that needs a rate has that of the
// link, where nothing else is said.
func (p *paceFlags) pace(link int64) (pace, error) {
	if p.maxRate < 0 && needsRate(p.profile) {
		return paceOf(p.profile, link)
	}
	return paceOf(p.profile, p.maxRate)
}

// pace is what --profile and a rate say: how a sender decides what goes out, and
// when.
type pace struct {
	name    string
	rate    int64 // bits a second; 0 is unlimited
	profile lanes.Profile
	base    func() (statemachine.Scheduler, error) // of base and article, which are no such profiles
}

// needsRate reports whether a profile sends at a rate that must be given.
func needsRate(profile string) bool { return profile == "fixed" || profile == "article" }

// isBase reports whether a profile is one of the base algorithm: it has names for slices, and
// does not pace several lanes as one (LAN-9, LAN-10).
func isBase(profile string) bool { return profile == "base" || profile == "article" }

// limit returns the rate that limits the sender, if it is one.
func (p pace) limit() int64 {
	if p.base != nil {
		return 0
	}
	return p.rate
}

// scheduler makes one for slices with names, repairScheduler one for repair slices.
func (p pace) scheduler() (statemachine.Scheduler, error) {
	if p.base != nil {
		return p.base()
	}
	return p.profile.NewScheduler(p.rate)
}

func (p pace) repairScheduler() (repair.Scheduler, error) {
	return p.profile.NewRepairScheduler(p.rate)
}

// paceOf returns the pace of a profile. The rate is in bits a second: the rate
// itself of fixed and article, the least of base, and a limit of the others; 0 for
// unlimited, negative for the profile's own.
func paceOf(name string, bits int64) (pace, error) {
	p := pace{name: name, rate: max(bits, 0) / 8 * 8}
	if bits < 0 && (needsRate(name) || name == "base") {
		p.rate = base.Burst().Rate
	}
	if p.rate < statemachine.MinRate && bits > 0 {
		return pace{}, fmt.Errorf("a rate below %d bits a second would stall: one slice a second at least", statemachine.MinRate)
	}
	switch name {
	case "adaptive":
		p.profile = lanes.Adaptive
	case "burst":
		p.profile = lanes.Burst
	case "redundant":
		p.profile = lanes.Redundant
	case "fixed":
		p.profile = lanes.Fixed
		p.rate = cmp.Or(p.rate, statemachine.MaxRate)
	case "base":
		profile := base.Burst()
		profile.Rate = p.rate
		p.base = baseAt(profile)
	case "article":
		p.base = baseAt(base.Article(p.rate))
	default:
		return pace{}, fmt.Errorf("no profile %q; there are: %s", name, strings.Join(profileNames, ", "))
	}
	return p, nil
}

func baseAt(p base.Profile) func() (statemachine.Scheduler, error) {
	return func() (statemachine.Scheduler, error) { return base.New(p) }
}
