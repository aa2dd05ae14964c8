package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

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

func newRecv() *cobra.Command {
	var flags recvFlags
	cmd := &cobra.Command{
		Use:   "recv --listen HOST:PORT --out FILE",
		Short: "Receive one file from a send, then exit",
		Long: `recv waits for one file, checks its size and SHA-256, and only then gives it its
name: an interrupted receive leaves nothing under it. FILE may be - for standard output;
bytes then appear as they come, and only the exit code tells whether they are right.
` + exitHelp,
		Example: `  chunkwire recv --listen :9000 --out world.bin
  chunkwire recv --listen localhost:9000 --out - | tar x
  chunkwire recv --listen :9000 --raw --out level.bin`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "", "address to listen on, HOST:PORT")
	f.StringVar(&flags.out, "out", "", "where to put the file; - is standard output")
	f.DurationVar(&flags.wait, "wait", 0, "how long to wait for a sender; 0 is for ever")
	f.DurationVar(&flags.linger, "linger", 2*time.Second, "with --raw, how long to go on answering a sender that may not know that it is done")
	flags.add(f)
	return cmd
}

func (flags *recvFlags) run(cmd *cobra.Command) error {
	cfg, err := flags.config()
	switch {
	case err != nil:
	case flags.listen == "":
		err = errors.New("--listen HOST:PORT is needed")
	case flags.out == "":
		err = errors.New("--out FILE is needed")
	case flags.wait < 0 || flags.linger < 0:
		err = errors.New("--wait and --linger must not be negative")
	}
	if err != nil {
		return usageError(cmd, err)
	}
	out, err := newOutput(flags.out, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	defer out.discard()

	cfg.MaxPeers = 1 // one file from one peer; others cost nothing
	endpoint, err := transport.Listen("udp", flags.listen, cfg)
	if err != nil {
		return err
	}
	defer endpoint.Close()
	warnOfSmallBuffers(cmd.ErrOrStderr(), endpoint.Stats())
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %v\n", endpoint.Addr())
	return flags.receive(cmd, endpoint, out)
}

func (flags *recvFlags) receive(cmd *cobra.Command, endpoint *transport.Endpoint, out *output) error {
	waiting, cancel := withTimeout(cmd.Context(), flags.wait)
	conn, err := endpoint.Accept(waiting)
	cancel()
	if err != nil {
		return fmt.Errorf("waiting for a sender: %w", err)
	}
	defer conn.Close()
	began := time.Now()
	ctx, cancel := withTimeout(cmd.Context(), flags.timeout)
	defer cancel()

	show, end := progress(cmd.ErrOrStderr(), "receiving")
	var info transport.FileInfo
	if flags.raw {
		info, err = flags.receiveRaw(ctx, conn, out)
	} else {
		info, err = transport.RecvFile(ctx, conn, out.open, show)
	}
	end()
	report := newFileReport(conn, endpoint.Stats(), info, time.Since(began), err)
	// With the file on standard output, the report must not mix with it.
	reportTo := cmd.OutOrStdout()
	if flags.out == "-" {
		reportTo = cmd.ErrOrStderr()
	}
	err = errors.Join(err, report.print(reportTo, "received", flags.json))
	if flags.raw && err == nil {
		err = lingerFor(cmd.Context(), conn, flags.linger)
	}
	return err
}

// receiveRaw takes one chunk as the whole file.
func (flags *recvFlags) receiveRaw(ctx context.Context, conn *transport.Conn, out *output) (transport.FileInfo, error) {
	chunk, err := conn.Recv(ctx)
	if err != nil {
		return transport.FileInfo{}, err
	}
	info := transport.FileInfo{Size: int64(len(chunk)), SHA256: sha256.Sum256(chunk)}
	w, err := out.open(info)
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
