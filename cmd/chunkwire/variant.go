package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// variantFlags say in which of its two variants a chunk is sent: the same in send, recv, demo
// and simulate.
type variantFlags struct {
	plain  bool
	repair bool // after resolve

	flags *pflag.FlagSet
}

// add adds the flags to a command; plainly says what --plain is there.
func (v *variantFlags) add(cmd *cobra.Command, plainly string) {
	v.flags = cmd.Flags()
	v.flags.BoolVar(&v.plain, "plain", false, plainly)
	v.flags.BoolVar(&v.repair, "repair", true, "repair slices, so that a loss costs no round trip; false is slices that are sent again, as is the default with --plain")
}

// resolve finds out what the flags mean with a profile.
func (v *variantFlags) resolve(profile string) error {
	switch {
	case !v.flags.Changed("repair"):
		v.repair = !v.plain && !isBase(profile)
	case v.repair && isBase(profile):
		return fmt.Errorf("--profile %s knows no repair slices; leave out --repair", profile)
	}
	return nil
}

// plainSlices is what --plain is where both ends are ours.
const plainSlices = "slices that are sent again, as the article has it; the same as --repair=false"

// The names of the variants in reports.
const (
	variantSlices = "slices"
	variantRepair = "repair"
)

func variantName(repair bool) string {
	if repair {
		return variantRepair
	}
	return variantSlices
}
