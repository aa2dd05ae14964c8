package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// doubleDash lets the flags be spelled with one dash too, as the go tool's are.
func doubleDash(cmd *cobra.Command, args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = arg
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if cmd.Flags().Lookup(name) != nil && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") {
			out[i] = "-" + arg
		}
	}
	return out
}
