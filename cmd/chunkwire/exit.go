package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/runner"
	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// The exit codes, as every command's help lists them.
const (
	exitOK       = 0
	exitFailed   = 1 // anything else: a file, a socket
	exitUsage    = 2 // a flag or an argument is invalid
	exitTimeout  = 3 // nobody is there, or the peer did not answer in time
	exitMismatch = 4 // what arrived differs from what the sender has
	exitPort     = 5 // the port that is tested does not work
	exitSignal   = 130
)

const exitHelp = `
Exit codes: 0 done, 1 failed, 2 bad usage, 3 time-out or no peer, 4 mismatch,
130 interrupted.`

var (
	errUsage    = errors.New("usage")
	errMismatch = errors.New("the bytes that arrived differ from the bytes that were sent")
)

func exitCode(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errMismatch), errors.Is(err, errRefused), errors.Is(err, file.ErrMismatch), errors.Is(err, file.ErrPeerMismatch):
		return exitMismatch
	case errors.Is(err, runner.ErrPort):
		return exitPort
	case errors.Is(err, errFailures):
		return exitFailed
	case ctx.Err() != nil:
		return exitSignal
	case isTimeout(err):
		return exitTimeout
	}
	return exitFailed
}

func isTimeout(err error) bool {
	for _, is := range []error{os.ErrDeadlineExceeded, context.DeadlineExceeded, statemachine.ErrGaveUp, plain.ErrRefused} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// timeoutError is a timeout that says all there is to say, so that nothing
// that wraps it is shown.
type timeoutError string

func (t timeoutError) Error() string        { return string(t) }
func (t timeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// usageError marks an error as one of usage, and points to the help.
func usageError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w: %w (see '%s --help')", errUsage, err, cmd.CommandPath())
}

// usageArgs makes what a command says of its arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(cmd, err)
		}
		return nil
	}
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but there is %q", cmd.Name(), args[0])
	}
	return nil
}

// sentence returns an error as a person at the command line wants to read it: what
// happened, and what to do.
func sentence(err error) string {
	var timeout timeoutError
	switch {
	case errors.As(err, &timeout):
		return timeout.Error()
	case errors.Is(err, errUsage):
		return err.Error()
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		return brief(err) + "; allow more with --timeout"
	case isTimeout(err):
		return brief(err) + "; is the peer running, reachable, and using the same --protocol-id and --lanes?"
	}
	return brief(err)
}

// brief is an error's text without the names of packages, which each layer adds
// again.
func brief(err error) string {
	return strings.NewReplacer("transport/file: ", "", "transport: ", "", "connection: ", "", "session: ", "", "lanes: ", "", "statemachine: ", "", "netsim: ", "", "bad configuration: ", "").Replace(err.Error())
}
