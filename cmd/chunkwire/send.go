package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/transport/file"
)

type sendFlags struct {
	connectionFlags
	paceFlags
	to string
}

func newSend() *cobra.Command {
	flags := sendFlags{connectionFlags: connectionFlags{sends: true}}
	cmd := &cobra.Command{
		Use:   "send --to HOST:PORT FILE",
		Short: "Send a file to a waiting recv",
		Long: `send sends a file of any size to a 'chunkwire recv'. It succeeds only if the receiver
has stored the file and verified its size and SHA-256. FILE can be - for standard input,
or a named pipe; these are first copied to a temporary file, since the size is sent first.

With --key the file is encrypted, and only the owner of the key can receive it. Without
it the file is encrypted against passive observers only: an attacker that changes the
handshake can read the file, and change it.

Loss costs no round trip: repair slices replace lost slices, as many as the path has lost
before. If the receiver does not support them, or with --repair=false, lost slices are
resent. --profile sets the pace and the number of additional slices; redundant sends more.

With --plain an attacker that can forge a source address can stop a transfer, and make a
failed send look successful: use it only on networks that you trust.
` + variantHelp + `duplicates_received,
dependent_received and inconsistent count received slices.
` + exitHelp,
		Example: `  chunkwire send --to 192.0.2.7:9000 world.bin
  tar c saves | chunkwire send --to localhost:9000 -
  chunkwire send --to 192.0.2.7:9000 --key alice.key --max-rate 20M big.bin
  chunkwire send --to 192.0.2.7:9000 --profile redundant world.bin
  chunkwire send --to 192.0.2.7:9000 --repair=false --json world.bin
  chunkwire send --to localhost:9000 --plain --raw level.bin
  chunkwire send --to localhost:9000 --plain --repair level.bin`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.to, "to", "", "address of the receiver, `HOST:PORT`")
	flags.paceFlags.add(cmd, "rate")
	flags.connectionFlags.add(cmd)
	f.Lookup("timeout").Usage = "longest time, including reading the file; 0: no limit"
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("send wants one FILE, and there are %d", len(args))
	}
	return nil
}

// check returns what the flags ask of the protocol.
func (flags *sendFlags) check() (ask, error) {
	err := flags.connectionFlags.check(flags.profile)
	if err == nil {
		err = checkAddress("--to", flags.to, 1)
	}
	switch {
	case err != nil:
		return ask{}, err
	case pace.NeedsRate(flags.profile) && flags.maxRate < 0:
		return ask{}, fmt.Errorf("--profile %s needs --max-rate, such as --max-rate 20M", flags.profile)
	case flags.lanes > 1 && pace.IsBase(flags.profile):
		return ask{}, fmt.Errorf("--profile %s allows only --lanes 1: its lanes would not share their estimates of the path, and flood it", flags.profile)
	}
	a := ask{}
	if flags.plain || flags.raw || pace.IsBase(flags.profile) {
		a.lanes = 1
	}
	a.pace, err = pace.Of(flags.profile, flags.maxRate)
	return a, err
}

func (flags *sendFlags) run(cmd *cobra.Command, name string) error {
	a, err := flags.check()
	if err != nil {
		return usageError(cmd, err)
	}
	ctx, cancel := withTimeout(cmd.Context(), flags.timeout, fmt.Sprintf("not sent within %v; allow more with --timeout", flags.timeout))
	defer cancel()
	r := &reporter{w: cmd.OutOrStdout(), line: sentLine, json: flags.json}
	return r.end(flags.open(ctx, cmd, a, name, r))
}

// open opens the file and sends it.
func (flags *sendFlags) open(ctx context.Context, cmd *cobra.Command, a ask, name string, r *reporter) (err error) {
	n := note{cmd.ErrOrStderr()}
	if flags.events, err = flags.logFlag.open("send", eventlog.Client); err != nil {
		return err
	}
	defer flags.events.close(n)
	protocol, err := flags.protocol(n, a)
	if err != nil {
		return err
	}
	source, err := openInput(ctx, name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer source.Close()
	c, err := flags.describe(cmd, source)
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		busy, err := flags.try(ctx, cmd, protocol, c, r)
		if !busy || !waitForBusy(ctx, n, err, tries) {
			return err
		}
		if _, err := source.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
}

// busyMost is the longest wait before another try; the first is a second.
const busyMost = 16 * time.Second

// waitForBusy waits before another try, each time longer; false if the time is over.
func waitForBusy(ctx context.Context, n note, why error, tries int) bool {
	if tries == 0 {
		n.printf("%v; trying again until it has time, or none is there any more", why)
	}
	select {
	case <-time.After(min(time.Second<<min(tries, 10), busyMost)):
		return true
	case <-ctx.Done():
		return false
	}
}

// try sends once. It reports whether the other end is there, and has no time.
func (flags *sendFlags) try(ctx context.Context, cmd *cobra.Command, protocol protocol, c content, r *reporter) (busy bool, err error) {
	to, err := protocol.dial(ctx, flags.to)
	if err != nil {
		return isFull(err), err
	}
	warnOfSmallBuffers(cmd.ErrOrStderr(), to.socket())
	began := time.Now()
	far, err := flags.send(ctx, cmd.ErrOrStderr(), to, &c)
	if err != nil && leftBusy(ctx, to) {
		to.part(ctx, farewellFailed)
		return true, fmt.Errorf("%v: %s", to.RemoteAddr(), farewellBusy.text)
	}
	took := time.Since(began)
	st := to.socket()
	err = protocol.explain(err, to.RemoteAddr(), far, st)
	if errors.Is(err, file.ErrPeerRefused) {
		err = fmt.Errorf("%w; another sender was first, or the file is larger than its --max-size, or it could not be written there: recv says which", err)
	}
	if printed := r.report(newFileReport(to, st, c.info, took, err)); err == nil {
		err = printed
	}
	to.part(ctx, farewellOf(ctx, err))
	return false, err
}

// content is what is sent: with --raw, all of it in memory.
type content struct {
	info   file.Info
	source io.Reader
	chunk  []byte
}

// send sends, and returns how far it came.
func (flags *sendFlags) send(ctx context.Context, stderr io.Writer, to remote, c *content) (far course, err error) {
	show, end := progress(stderr, "sending")
	defer end()
	if !flags.raw {
		hint := time.AfterFunc(hintAfter, func() { hintAtRaw(note{stderr}, to) })
		defer hint.Stop()
		receipt := time.AfterFunc(time.Hour, func() { hintAtReceipt(note{stderr}, to) })
		defer receipt.Stop()
		follow := far.follow(show)
		progress := func(done, total int64) {
			follow(done, total)
			if done == total {
				receipt.Reset(hintAfter)
			}
		}
		err = file.Send(ctx, to, c.source, &file.SendOptions{Info: &c.info, Progress: progress})
		return far, err
	}
	acked := func() (have, all int) { return int(to.SenderStats().SlicesAcked), codec.NumSlices(len(c.chunk)) }
	stop := watchSlices(acked, show)
	err = to.Send(ctx, c.chunk)
	have, _ := stop()
	return course{have > 0, min(int64(have)*codec.SliceSize, c.info.Size), c.info.Size}, err
}

// hintAfter is how long a peer can take for the second chunk's first slice, and for
// the receipt, before a note says what that can mean.
const hintAfter = 2 * time.Second

// hintAtRaw says what it can mean that a peer has the header of a file and takes
// nothing after it.
func hintAtRaw(n note, to remote) {
	st := to.SenderStats()
	if st.Chunks > 0 && st.SlicesAcked == 1 && st.SlicesSent-st.SlicesRepair > 1 && to.Err() == nil {
		n.printf("%v took the first chunk and nothing after it; a recv --raw and other implementations need --raw here", to.RemoteAddr())
	}
}

// hintAtReceipt says why a send goes on waiting after everything has arrived.
func hintAtReceipt(n note, to remote) {
	if to.Err() == nil {
		n.printf("%v has the whole file; waiting until it says that it is stored; an implementation that never does needs --raw here", to.RemoteAddr())
	}
}

func (flags *sendFlags) describe(cmd *cobra.Command, source io.ReadSeeker) (content, error) {
	if flags.raw {
		chunk, err := io.ReadAll(io.LimitReader(source, codec.MaxChunkSize+1))
		if err == nil && (len(chunk) == 0 || len(chunk) > codec.MaxChunkSize) {
			err = usageError(cmd, fmt.Errorf("--raw takes a file of 1 to %d bytes", codec.MaxChunkSize))
		}
		return content{info: file.Info{Size: int64(len(chunk)), SHA256: sha256.Sum256(chunk)}, chunk: chunk}, err
	}
	size, err := source.Seek(0, io.SeekEnd)
	if err != nil {
		return content{}, err
	}
	_, err = source.Seek(0, io.SeekStart)
	return content{info: file.Info{Size: size}, source: source}, err
}
