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
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/transport/file"
)

type recvFlags struct {
	connectionFlags
	listen    string
	metrics   string
	out       string
	noReplace bool
	maxSize   int64
	wait      time.Duration
	linger    time.Duration
}

// defaultMaxSize is more than a game's world, and less than a disk has.
const defaultMaxSize = 1 << 30

// otherPeers is how many peers can be there besides the one that sends the file.
const otherPeers = 63

func newRecv() *cobra.Command {
	var flags recvFlags
	cmd := &cobra.Command{
		Use:   "recv --listen HOST:PORT --out FILE",
		Short: "Receive one file from a send, then exit",
		Long: `recv waits for one file, checks its size and SHA-256, and only then gives it its
name. Until then the bytes are in FILE.<random>.part, which an interrupted receive
removes; only kill -9 or a crash can leave it. An existing file is replaced, unless
--no-replace is given.

Up to three senders are accepted at once, and the first file that is complete and verified
is stored; the others are notified, and try again by themselves. If there are three, a new
sender replaces one that sends less than 8 KiB a second. With --plain, and where bytes
appear as they arrive, only the first sender is accepted.
With --key only senders whose identity and key are in that file are accepted, and their
files are encrypted. Without it the sender can be anyone who receives at its source
address. A file of more than 1 GiB is refused unless --max-size allows it, so that such a
sender cannot fill the disk; --no-replace keeps an existing file.

FILE can be - for standard output, a named pipe or a device. Bytes then appear as they
arrive, and only the exit code shows whether they are correct. With - the report is
written to standard error.

Senders with and without repair slices are accepted; only with --plain the sender must
have the same --repair.

With --plain anyone who can send datagrams to the address can be the sender, under any
address, and two datagrams are enough to replace a file by an empty one: use it only on a
network that you trust.
` + exitHelp,
		Example: `  chunkwire recv --listen :9000 --out world.bin
  chunkwire recv --listen :9000 --key senders.key --out world.bin
  chunkwire recv --listen :9000 --out world.bin --max-size 20G --no-replace
  chunkwire recv --listen localhost:9000 --out - | tar x
  chunkwire recv --listen :9000 --plain --raw --out level.bin
  chunkwire recv --listen :9000 --plain --repair --out level.bin`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "", "address to listen on, `HOST:PORT`")
	f.StringVar(&flags.out, "out", "", "where to put the `FILE`; - is standard output")
	f.BoolVar(&flags.noReplace, "no-replace", false, "fail if FILE exists")
	f.Var(byteSize(&flags.maxSize, defaultMaxSize, 1<<62), "max-size", "refuse a file that is larger; 0 is any size")
	f.DurationVar(&flags.wait, "wait", 0, "how long to wait for a sender; 0 is without limit")
	f.DurationVar(&flags.linger, "linger", 2*time.Second, "with --raw, how long to answer a sender that possibly does not know that it is done")
	f.StringVar(&flags.metrics, "metrics", "", "address where metrics are served by HTTP meanwhile, `HOST:PORT`: /metrics for Prometheus, and /debug/vars")
	flags.add(cmd)
	f.Lookup("timeout").Usage = "longest time of the transfer from its begin; 0: no limit"
	return cmd
}

// check returns the fault of the flags, if any.
func (flags *recvFlags) check(lingerGiven bool) error {
	err := flags.connectionFlags.check("")
	if err == nil {
		err = checkAddress("--listen", flags.listen, 0)
	}
	switch {
	case err != nil:
	case flags.metrics != "" && flags.plain:
		err = errors.New("--metrics is for connections; --plain has none")
	case flags.metrics != "" && checkAddress("--metrics", flags.metrics, 0) != nil:
		err = checkAddress("--metrics", flags.metrics, 0)
	case flags.out == "":
		err = errors.New("--out FILE is needed")
	case flags.wait < 0 || flags.linger < 0:
		err = errors.New("--wait and --linger must not be negative")
	case lingerGiven && !flags.raw:
		err = errors.New("--linger is for --raw only")
	}
	return err
}

// ask is what recv asks of the protocol.
func (flags *recvFlags) ask() ask {
	a := ask{maxPeers: otherPeers + 1}
	if flags.plain || flags.raw {
		a.lanes = 1
	}
	if flags.raw {
		a.recvLimit = 1
	}
	return a
}

func (flags *recvFlags) run(cmd *cobra.Command) error {
	if err := flags.check(cmd.Flags().Changed("linger")); err != nil {
		return usageError(cmd, err)
	}
	r := &reporter{w: cmd.OutOrStdout(), line: receivedLine, json: flags.json}
	if isStdout(flags.out, cmd.OutOrStdout()) { // the report must not mix with the file
		flags.out, r.w = "-", cmd.ErrOrStderr()
	}
	return r.end(flags.listenAndReceive(cmd, r))
}

func (flags *recvFlags) listenAndReceive(cmd *cobra.Command, r *reporter) (err error) {
	n := note{cmd.ErrOrStderr()}
	if flags.events, err = flags.logFlag.open("recv", eventlog.Server); err != nil {
		return err
	}
	defer flags.events.close(n)
	protocol, err := flags.protocol(n, flags.ask())
	if err != nil {
		return err
	}
	out, err := newOutput(flags.out, cmd.OutOrStdout(), flags.noReplace)
	if err != nil {
		return err
	}
	defer out.discard()
	g, err := protocol.listen(flags.listen)
	if err != nil {
		return err
	}
	defer g.Close()
	if source, ok := g.(peerGate); ok {
		stop, err := serveMetrics(flags.metrics, source.Server, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		defer stop()
	}
	warnOfSmallBuffers(cmd.ErrOrStderr(), g.socket())
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %v\n", g.Addr())

	e := newEntrance(flags, g, n)
	defer close(e.over)
	began := time.Now()
	first, err := e.wait(cmd.Context())
	if err != nil {
		err = fmt.Errorf("waiting for a sender: %w", err)
		return errors.Join(err, r.report(newFileReport(nil, g.socket(), first.info, time.Since(began), err)))
	}
	rc := &receiving{flags: flags, protocol: protocol, entrance: e, note: n, stderr: cmd.ErrOrStderr(), sender: first, out: out}
	return rc.run(cmd.Context(), r)
}

// receiving is the transfers from the peers that were taken.
type receiving struct {
	flags    *recvFlags
	protocol protocol
	entrance *entrance
	note     note
	stderr   io.Writer
	sender   arrival // of the file that is stored, or that failed last; with --raw, of the chunk that was complete first
	out      output
	far      course
}

// run receives, reports, and lingers if need be.
func (rc *receiving) run(parent context.Context, r *reporter) error {
	flags, began := rc.flags, rc.sender.at
	ctx, cancel := withTimeout(parent, flags.timeout, fmt.Sprintf("not received within %v; allow more with --timeout", flags.timeout))
	defer cancel()
	info, err := rc.receive(ctx)
	from := rc.sender.from
	st := from.socket()
	err = rc.protocol.explain(err, from.RemoteAddr(), rc.far, st)
	if printed := r.report(newFileReport(from, st, info, time.Since(began), err)); err == nil {
		err = printed
	}
	switch {
	case err != nil:
	case flags.raw:
		from.linger(parent, flags.linger)
		err = parent.Err()
	case from.SenderStats().Chunks == 0 && !leftWell(from):
		rc.note.printf("the file is stored, but %v did not take the receipt, and possibly does not know that", from.RemoteAddr())
	}
	if err != nil {
		from.part(parent, farewellOf(parent, err))
	}
	return err
}

// receive stores what the sender sends.
func (rc *receiving) receive(ctx context.Context) (file.Info, error) {
	show, end := progress(rc.stderr, "receiving")
	defer end()
	if rc.flags.raw {
		return rc.receiveRaw(ctx, show)
	}
	last := rc.race(ctx, show)
	rc.sender, rc.far = last.sender, last.far
	return last.sender.info, last.err
}

// patient is a remote that is left when it sends nothing for too long: a connection that
// is kept alive does not end by itself.
type patient struct {
	remote
	most time.Duration
}

func (p patient) RecvAppend(ctx context.Context, dst []byte) ([]byte, error) {
	tick := time.NewTicker(p.most / 8)
	defer tick.Stop()
	for slices, since := p.ReceiverStats().SlicesStored, time.Now(); ; {
		select {
		case <-p.RecvReady():
			return p.remote.RecvAppend(ctx, dst)
		case <-tick.C:
		case <-ctx.Done():
			return dst, ended(ctx)
		}
		if now := p.ReceiverStats().SlicesStored; now > slices {
			slices, since = now, time.Now()
		} else if time.Since(since) > p.most {
			return dst, timeoutError(fmt.Sprintf("%v is there, but sends nothing more (waited %v, %d times --give-up)", p.RemoteAddr(), p.most, idleGiveUps))
		}
	}
}

// receiveRaw takes one chunk as the whole file.
func (rc *receiving) receiveRaw(ctx context.Context, show func(done, total int64)) (file.Info, error) {
	stop := watchSlices(rc.entrance.slices, show)
	a, err := rc.entrance.nextChunk(ctx)
	have, all := stop()
	if a.from != nil {
		rc.sender = a
	}
	if err != nil {
		rc.far.follow(show)(int64(have)*codec.SliceSize, int64(all)*codec.SliceSize)
		return file.Info{}, err
	}
	if file.IsHeader(a.chunk) {
		rc.note.printf("this looks like the beginning of a send without --raw; give --raw at both ends or at none")
	}
	info := file.Info{Size: int64(len(a.chunk)), SHA256: sha256.Sum256(a.chunk)}
	w, err := rc.out.open(ctx)
	if err != nil {
		return info, err
	}
	if _, err := w.Write(a.chunk); err != nil {
		return info, err
	}
	return info, w.Commit()
}
