// Command vectorgen generates the test vectors, testvectors/files/*.json, or checks
// that the committed ones are what it generates.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// The exit codes, as the help lists them.
const (
	exitFailed = 1 // the files differ, or cannot be read or written
	exitUsage  = 2 // a flag is invalid
)

var errUsage = errors.New("usage")

func main() {
	err := newRoot().Execute()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vectorgen: "+err.Error())
	}
	switch {
	case errors.Is(err, errUsage):
		os.Exit(exitUsage)
	case err != nil:
		os.Exit(exitFailed)
	}
}

// options are the flags.
type options struct {
	dir, spec, run, traces string
	check                  bool
	rewrite                []string
}

func newRoot() *cobra.Command {
	o := options{}
	root := &cobra.Command{
		Use:   "vectorgen",
		Short: "Generate the test vectors",
		Long: `vectorgen writes the files of test vectors, the same on every machine byte for
byte. The expected bytes of packets come from conform/oracle, which was
written from the specifications alone, never from the codecs that they test. Most
requests are in the files themselves, and are answered by the layouts of
spec/formats.json and by the oracles: a new vector is an entry without a response.
Other traces come from the scripts in testvectors/traces. The schema of the files,
testvectors/schema.json, follows from the declarations of the operations.
Without a flag it writes all files; accumulated.json takes a minute or two.

Exit codes: 0 done, 1 the files differ or could not be read or written, 2 bad usage.`,
		Example: `  vectorgen
  vectorgen --check
  vectorgen --run '^refuse-frame/'
  vectorgen --rewrite channel-receiver/in-order,channel-sender/groups`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%w: unexpected argument %q", errUsage, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return o.do(cmd.OutOrStdout()) },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w (see 'vectorgen --help')", errUsage, err)
	})
	f := root.Flags()
	f.StringVar(&o.dir, "dir", "testvectors/files", "folder of the files")
	f.StringVar(&o.spec, "spec", "spec", "folder of the specifications")
	f.StringVar(&o.run, "run", "", "only files with a vector whose name matches this `pattern`, and the schema")
	f.StringVar(&o.traces, "traces", "testvectors/traces", "folder of the scripts")
	f.StringSliceVar(&o.rewrite, "rewrite", nil, "rewrite what these scripts of machines expect, each as `GROUP/NAME`, and generate nothing: read the difference")
	f.BoolVar(&o.check, "check", false, "compare with the files instead of writing them")
	return root
}
