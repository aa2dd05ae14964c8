package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan is for who packages the command, and not in its help.
func newMan() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use:   "man",
		Short: "Write the manual pages",
		Long: `man writes a manual page for each command into a folder, which it makes. The date on them is
that of SOURCE_DATE_EPOCH, or today's.`,
		Example: "  chunkwire man --out man1",
		Hidden:  true,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usageError(cmd, errors.New("--out is needed"))
			}
			if err := os.MkdirAll(out, 0o777); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // pages of one source are equal
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "chunkwire", Manual: "chunkwire"}, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FOLDER` for the pages")
	return cmd
}
