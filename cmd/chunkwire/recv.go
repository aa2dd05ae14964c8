package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/spf13/cobra"
)

type recvFlags struct {
	connectionFlags
	listen string
	out    string
	wait   time.Duration
	linger time.Duration
}

// strayPeers is how many peers may be there that send no file, besides the one
// that does.
const strayPeers = 15

func newRecv() *cobra.Command {
	var flags recvFlags
	cmd := &cobra.Command{
		Use:   "recv --listen HOST:PORT --out FILE",
		Short: "Receive one file from a send, then exit",
		Long: `recv waits for one file, checks its size and SHA-256, and only then gives it its
name: until then the bytes are in FILE.<random>.part, which an interrupted receive
removes; only kill -9 or a crash may leave it.

FILE may be - for standard output, a named pipe or a device. Bytes then appear as they
come, and only the exit code tells whether they are right. With - the report goes to
standard error.
` + exitHelp,
		Example: `  chunkwire recv --listen :9000 --out world.bin
  chunkwire recv --listen localhost:9000 --out - | tar x
  chunkwire recv --listen :9000 --raw --out level.bin`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "", "address to listen on, `HOST:PORT`")
	f.StringVar(&flags.out, "out", "", "where to put the `FILE`; - is standard output")
	f.DurationVar(&flags.wait, "wait", 0, "how long to wait for a sender; 0 is for ever")
	f.DurationVar(&flags.linger, "linger", 2*time.Second, "with --raw, how long to go on answering a sender that may not know that it is done")
	flags.add(f)
	f.Lookup("timeout").Usage = "how long the transfer may take once there is a sender; 0 is without limit"
	return cmd
}

// check returns the transport's configuration that the flags ask for.
func (flags *recvFlags) check(lingerGiven bool) (transport.Config, error) {
	cfg, err := flags.config()
	cfg.MaxPeers = strayPeers + 1
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
	t := &teller{w: cmd.OutOrStdout(), line: receivedLine, json: flags.json}
	if flags.out == "-" { // the report must not mix with the file
		t.w = cmd.ErrOrStderr()
	}
	return t.end(flags.listenAndReceive(cmd, cfg, t))
}

func (flags *recvFlags) listenAndReceive(cmd *cobra.Command, cfg transport.Config, t *teller) error {
	out, err := newOutput(flags.out, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	defer out.discard()
	endpoint, err := transport.Listen("udp", flags.listen, cfg)
	if err != nil {
		return err
	}
	defer endpoint.Close()
	warnOfSmallBuffers(cmd.ErrOrStderr(), endpoint.Stats())
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %v\n", endpoint.Addr())

	waiting, cancel := withTimeout(cmd.Context(), flags.wait, fmt.Sprintf("no sender of a file within %v; allow more with --wait", flags.wait))
	defer cancel()
	for {
		conn, err := endpoint.Accept(waiting)
		if err != nil {
			return fmt.Errorf("waiting for a sender: %w", err)
		}
		r := &receiving{flags: flags, cmd: cmd, conn: conn, out: out}
		err = r.run(t)
		_ = conn.Close()
		if !r.stray(err) {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "chunkwire: note: what %v sends is no file; waiting for another sender\n", conn.RemoteAddr())
	}
}

// receiving is what comes from one peer.
type receiving struct {
	flags *recvFlags
	cmd   *cobra.Command
	conn  *transport.Conn
	out   output
	far   course
	begun bool // there was a header
}

// stray reports whether a peer failed without having begun a file.
func (r *receiving) stray(err error) bool {
	if r.flags.raw || r.begun {
		return false
	}
	for _, is := range []error{transport.ErrNotAFile, transport.ErrGaveUp, transport.ErrIdle, transport.ErrEvicted} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// run receives, tells, and lingers if need be.
func (r *receiving) run(t *teller) error {
	flags, began := r.flags, time.Now()
	ctx, cancel := withTimeout(r.cmd.Context(), flags.timeout, fmt.Sprintf("not received within %v; allow more with --timeout", flags.timeout))
	defer cancel()
	info, err := r.receive(ctx)
	if r.stray(err) {
		return err
	}
	err = flags.explain(err, r.conn.RemoteAddr(), r.far)
	report := newFileReport(r.conn, r.conn.Endpoint().Stats(), info, time.Since(began), err)
	err = errors.Join(err, t.tell(report))
	if flags.raw && err == nil {
		err = lingerFor(r.cmd.Context(), r.conn, flags.linger)
	}
	return err
}

func (r *receiving) receive(ctx context.Context) (transport.FileInfo, error) {
	show, end := progress(r.cmd.ErrOrStderr(), "receiving")
	defer end()
	if r.flags.raw {
		return r.receiveRaw(ctx, show)
	}
	open := func(transport.FileInfo) (transport.FileSink, error) {
		r.begun = true
		return r.out.open(ctx)
	}
	return transport.RecvFile(ctx, r.conn, open, r.far.follow(show))
}

// receiveRaw takes one chunk as the whole file.
func (r *receiving) receiveRaw(ctx context.Context, show func(done, total int64)) (transport.FileInfo, error) {
	slices := func() (have, all int) {
		s := r.conn.Stats().Receiving
		return s.Received.Count(), s.NumSlices
	}
	stop := watchSlices(slices, show)
	chunk, err := r.conn.Recv(ctx)
	stop()
	if err != nil {
		have, all := slices()
		r.far.follow(show)(int64(have)*codec.SliceSize, int64(all)*codec.SliceSize)
		return transport.FileInfo{}, err
	}
	if transport.IsFileHeader(chunk) {
		fmt.Fprintln(r.cmd.ErrOrStderr(), "chunkwire: note: this looks like the beginning of a send without --raw; give --raw at both ends or at none")
	}
	info := transport.FileInfo{Size: int64(len(chunk)), SHA256: sha256.Sum256(chunk)}
	w, err := r.out.open(ctx)
	if err != nil {
		return info, err
	}
	if _, err := w.Write(chunk); err != nil {
		return info, err
	}
	return info, w.Commit()
}

// lingerFor answers late duplicates; a peer that has gone is no failure any more.
func lingerFor(ctx context.Context, conn *transport.Conn, quiet time.Duration) error {
	if err := conn.Linger(ctx, quiet); ctx.Err() != nil {
		return err
	}
	return nil
}
