package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/chunkwire/chunkwire/connection/lanes/pace"
)

// profileNames are the values of --profile, the default first.
var profileNames = pace.Names()

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
	f.StringVar(&p.profile, "profile", profileNames[0], "how slices are paced: "+strings.Join(profileNames, ", "))
	f.Var(bitRate(&p.maxRate, -1), "max-rate", "most that is sent, in bits a second; with fixed and article exactly that, with base at least that; 0: no limit")
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

// pace returns what the flags ask for. A profile that needs a rate has the rate of the
// link, where nothing else is said.
func (p *paceFlags) pace(link int64) (pace.Pace, error) {
	return pace.OverLink(p.profile, p.maxRate, link)
}
