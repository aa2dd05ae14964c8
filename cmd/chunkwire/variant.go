package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// variantFlags say in which of its two variants a chunk is sent: the same in send, recv, demo
// and simulate.
type variantFlags struct {
	plain  bool
	asked  choice // --repair
	repair bool   // what resolve found
}

// variantHelp explains what --json has of a variant; the sentence goes on.
const variantHelp = `
With --json, variant is "repair" or "slices"; slices_sent counts all slices sent, of which
slices_repair are repair slices and slices_resent were sent before; `

// plainSlices is what --plain is where both ends are ours.
const plainSlices = "lost slices are resent, as in the article; the same as --repair=false"

// add adds the flags to a command; plainly says what --plain is there.
func (v *variantFlags) add(cmd *cobra.Command, plainly string) {
	f := cmd.Flags()
	f.BoolVar(&v.plain, "plain", false, plainly)
	f.Var(&v.asked, "repair", "repair slices, so that a loss costs no round trip; =false resends lost slices, as --plain does without --repair")
	f.Lookup("repair").NoOptDefVal = "true"
	f.Lookup("repair").DefValue = "true"
}

// resolve finds out what the flags mean with a profile; there is none where nothing is sent.
func (v *variantFlags) resolve(profile string) error {
	switch {
	case !v.asked.given:
		v.repair = !v.plain && !pace.IsBase(profile)
	case v.asked.on && pace.IsBase(profile):
		return fmt.Errorf("--profile %s has no repair slices; leave out --repair", profile)
	default:
		v.repair = v.asked.on
	}
	return nil
}

// choice is a flag that is on or off, or was not given.
type choice struct{ given, on bool }

func (c *choice) Type() string   { return "bool" }
func (c *choice) String() string { return strconv.FormatBool(c.on) }

func (c *choice) Set(text string) (err error) {
	c.given = true
	c.on, err = strconv.ParseBool(text)
	return err
}

// variantText says what the variants are.
var variantText = map[string]string{simulate.VariantSlices: "slices sent again", simulate.VariantRepair: "repair slices"}
