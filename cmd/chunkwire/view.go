package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	pages "github.com/chunkwire/chunkwire/tools/view"
)

func newView() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use:   "view FILE [FILE OF THE OTHER END]",
		Short: "Make a page that shows an event log",
		Long: `view makes one HTML file from the event log that --log wrote: slices over time, the map,
rate, limit and round trip, and the states of the machines on their diagrams. Point at a resent
slice, and the page shows why it was resent, with the sentence of the specification.

The file needs no server and makes no network requests. With the logs of both ends, it shows
both on one axis, by the wall clocks of the two.
` + exitHelp,
		Example: `  chunkwire simulate --seeds 1 --loss 5 --log transfer.log && chunkwire view transfer.log -o transfer.html
  chunkwire view sent.log received.log > both.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return fmt.Errorf("view wants one FILE or two, and there are %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f, ok := cmd.OutOrStdout().(*os.File); out == "" && ok && term.IsTerminal(int(f.Fd())) {
				return usageError(cmd, errors.New("the page would be written to the terminal; choose a file with -o page.html"))
			}
			return runView(cmd.OutOrStdout(), args, out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write; standard output if it is not given")
	return cmd
}

func runView(w io.Writer, names []string, out string) error {
	var logs []pages.Log
	for _, name := range names {
		data, err := readLogged(name)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(data, []byte{'\x1e'}) {
			return fmt.Errorf("%s is not an event log; --log of send, recv, simulate and demo writes one", name)
		}
		logs = append(logs, pages.Log{Name: filepath.Base(name), Data: data})
	}
	if out == "" {
		return pages.Page(w, logs...)
	}
	var page bytes.Buffer
	if err := pages.Page(&page, logs...); err != nil {
		return err
	}
	return os.WriteFile(out, page.Bytes(), 0o644)
}
