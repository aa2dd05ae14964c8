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
	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

type recvFlags struct {
	connectionFlags
	listen    string
	out       string
	noReplace bool
	maxSize   int64
	wait      time.Duration
	linger    time.Duration
}

// otherPeers is how many peers may be there besides the one that sends the file.
const otherPeers = 63

func newRecv() *cobra.Command {
	var flags recvFlags
	cmd := &cobra.Command{
		Use:   "recv --listen HOST:PORT --out FILE",
		Short: "Receive one file from a send, then exit",
		Long: `recv waits for one file, checks its size and SHA-256, and only then gives it its
name: until then the bytes are in FILE.<random>.part, which an interrupted receive
removes; only kill -9 or a crash may leave it. A file that is there is replaced, unless
--no-replace is given.

FILE may be - for standard output, a named pipe or a device. Bytes then appear as they
come, and only the exit code says whether they are right. With - the report goes to
standard error.

Anyone who can send datagrams to the address can be the sender: the default
--protocol-id is public, and nothing is encrypted or authenticated. On a network that
you do not trust, bound what may come with --max-size, and keep what is there with
--no-replace.
` + exitHelp,
		Example: `  chunkwire recv --listen :9000 --out world.bin
  chunkwire recv --listen :9000 --out world.bin --max-size 1G --no-replace
  chunkwire recv --listen localhost:9000 --out - | tar x
  chunkwire recv --listen :9000 --raw --out level.bin`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "", "address to listen on, `HOST:PORT`")
	f.StringVar(&flags.out, "out", "", "where to put the `FILE`; - is standard output")
	f.BoolVar(&flags.noReplace, "no-replace", false, "fail if FILE exists")
	f.Var(byteSize(&flags.maxSize, 0, 1<<62), "max-size", "refuse a file that is larger; 0 is any size")
	f.DurationVar(&flags.wait, "wait", 0, "how long to wait for a sender; 0 is without limit")
	f.DurationVar(&flags.linger, "linger", 2*time.Second, "with --raw, how long to go on answering a sender that may not know that it is done")
	flags.add(f)
	f.Lookup("timeout").Usage = "how long the transfer may take once it has begun; 0 is without limit"
	return cmd
}

// check returns the transport's configuration that the flags ask for.
func (flags *recvFlags) check(lingerGiven bool) (plain.Config, error) {
	cfg, err := flags.config()
	cfg.MaxPeers = otherPeers + 1
	if flags.raw {
		cfg.RecvLimit = 1
	}
	if err == nil {
		err = checkAddress("--listen", flags.listen, 0)
	}
	switch {
	case err != nil:
	case flags.out == "":
		err = errors.New("--out FILE is needed")
	case flags.wait < 0 || flags.linger < 0:
		err = errors.New("--wait and --linger must not be negative")
	case lingerGiven && !flags.raw:
		err = errors.New("--linger is for --raw only")
	}
	return cfg, err
}

func (flags *recvFlags) run(cmd *cobra.Command) error {
	cfg, err := flags.check(cmd.Flags().Changed("linger"))
	if err != nil {
		return usageError(cmd, err)
	}
	r := &reporter{w: cmd.OutOrStdout(), line: receivedLine, json: flags.json}
	if isStdout(flags.out, cmd.OutOrStdout()) { // the report must not mix with the file
		flags.out, r.w = "-", cmd.ErrOrStderr()
	}
	return r.end(flags.listenAndReceive(cmd, cfg, r))
}

func (flags *recvFlags) listenAndReceive(cmd *cobra.Command, cfg plain.Config, r *reporter) error {
	out, err := newOutput(flags.out, cmd.OutOrStdout(), flags.noReplace)
	if err != nil {
		return err
	}
	defer out.discard()
	endpoint, err := plain.Listen("udp", flags.listen, cfg)
	if err != nil {
		return err
	}
	defer endpoint.Close()
	warnOfSmallBuffers(cmd.ErrOrStderr(), endpoint.Stats())
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %v\n", endpoint.Addr())

	e := newEntrance(flags, endpoint, note{cmd.ErrOrStderr()})
	began := time.Now()
	first, err := e.wait(cmd.Context())
	if err != nil {
		err = fmt.Errorf("waiting for a sender: %w", err)
		return errors.Join(err, r.report(newFileReport(nil, endpoint.Stats(), first.info, time.Since(began), err)))
	}
	rc := &receiving{flags: flags, entrance: e, note: e.note, stderr: cmd.ErrOrStderr(), sender: first, out: out}
	return rc.run(cmd.Context(), r)
}

// receiving is the transfer from the peer that was chosen.
type receiving struct {
	flags    *recvFlags
	entrance *entrance
	note     note
	stderr   io.Writer
	sender   arrival // with --raw, of the peer whose chunk was complete first
	out      output
	far      course
}

// run receives, reports, and lingers if need be.
func (rc *receiving) run(parent context.Context, r *reporter) error {
	flags, began := rc.flags, rc.sender.at
	ctx, cancel := withTimeout(parent, flags.timeout, fmt.Sprintf("not received within %v; allow more with --timeout", flags.timeout))
	defer cancel()
	info, err := rc.receive(ctx)
	conn := rc.sender.conn
	st := conn.Endpoint().Stats()
	err = flags.explain(err, conn.RemoteAddr(), rc.far, st)
	if printed := r.report(newFileReport(conn, st, info, time.Since(began), err)); err == nil {
		err = printed
	}
	switch {
	case err != nil:
		return err
	case flags.raw:
		return lingerFor(parent, conn, flags.linger)
	case conn.Stats().Sender.Chunks == 0:
		rc.note.printf("the file is stored, but %v did not take the receipt, and may not know that", conn.RemoteAddr())
	}
	return nil
}

// lingerFor answers late duplicates; a peer that has gone is no failure any more.
func lingerFor(ctx context.Context, conn *plain.Conn, quiet time.Duration) error {
	if err := conn.Linger(ctx, quiet); ctx.Err() != nil {
		return err
	}
	return nil
}

// receive stores what the sender sends.
func (rc *receiving) receive(ctx context.Context) (file.Info, error) {
	show, end := progress(rc.stderr, "receiving")
	defer end()
	if rc.flags.raw {
		return rc.receiveRaw(ctx, show)
	}
	info := rc.sender.info
	if most := rc.flags.maxSize; most > 0 && info.Size > most {
		file.Refuse(ctx, rc.sender.conn)
		return info, fmt.Errorf("%v sends %s, more than --max-size %s", rc.sender.conn.RemoteAddr(), exactBytes(info.Size), exactBytes(most))
	}
	w, err := rc.out.open(ctx)
	if err != nil {
		file.Refuse(ctx, rc.sender.conn)
		return info, err
	}
	return info, file.ReceiveContent(ctx, rc.sender.conn, info, w, &file.ReceiveOptions{Commit: w.Commit, Progress: rc.far.follow(show)})
}

// receiveRaw takes one chunk as the whole file.
func (rc *receiving) receiveRaw(ctx context.Context, show func(done, total int64)) (file.Info, error) {
	stop := watchSlices(rc.entrance.slices, show)
	a, err := rc.entrance.nextChunk(ctx)
	have, all := stop()
	if a.conn != nil {
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
