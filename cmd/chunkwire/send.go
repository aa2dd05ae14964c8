package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/spf13/cobra"
)

type sendFlags struct {
	connectionFlags
	to      string
	profile string
	rate    int64
}

func newSend() *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:   "send --to HOST:PORT FILE",
		Short: "Send a file to a waiting recv",
		Long: `send sends a file of any size to a 'chunkwire recv', and ends well only when the
other end has stored it and found size and SHA-256 right. FILE may be - for standard
input, or a named pipe; these are first put aside in a temporary file, since the hash
goes ahead.
` + exitHelp,
		Example: `  chunkwire send --to 192.0.2.7:9000 world.bin
  tar c saves | chunkwire send --to localhost:9000 -
  chunkwire send --to localhost:9000 --raw level.bin`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.to, "to", "", "address of the receiver, `HOST:PORT`")
	f.StringVar(&flags.profile, "profile", profileNames[0], profileUsage)
	f.Var(bitRate(&flags.rate, -1), "rate", "no more than so many bits a second; the rate itself of fixed and article, the least of base; 0 is unlimited")
	f.Lookup("rate").DefValue = "profile's"
	flags.add(f)
	f.Lookup("timeout").Usage = "how long it may take, with the reading and hashing of the file; 0 is without limit"
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("send wants one FILE, and there are %d", len(args))
	}
	return nil
}

func (flags *sendFlags) run(cmd *cobra.Command, name string) error {
	cfg, err := flags.config()
	if err == nil {
		err = checkAddress("--to", flags.to, 1)
	}
	if err == nil && needsRate(flags.profile) && flags.rate < 0 {
		err = fmt.Errorf("--profile %s needs --rate, such as --rate 20M", flags.profile)
	}
	if err == nil && flags.lanes > 1 && !sharesPath(flags.profile) {
		err = fmt.Errorf("--profile %s allows --lanes 1 only: its lanes would not share what they know of the path, and flood it", flags.profile)
	}
	if err == nil {
		var p pace
		p, err = paceOf(flags.profile, flags.rate)
		cfg.NewScheduler = p.make
	}
	if err != nil {
		return usageError(cmd, err)
	}
	ctx, cancel := withTimeout(cmd.Context(), flags.timeout, fmt.Sprintf("not sent within %v; allow more with --timeout", flags.timeout))
	defer cancel()
	t := &teller{w: cmd.OutOrStdout(), line: sentLine, json: flags.json}
	return t.end(flags.open(ctx, cmd, cfg, name, t))
}

// open opens the file and sends it.
func (flags *sendFlags) open(ctx context.Context, cmd *cobra.Command, cfg transport.Config, name string, t *teller) error {
	file, err := openInput(ctx, name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := flags.describe(ctx, cmd, file)
	if err != nil {
		return err
	}
	conn, err := transport.Dial(ctx, "udp", flags.to, cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	warnOfSmallBuffers(cmd.ErrOrStderr(), conn.Endpoint().Stats())
	began := time.Now()
	far, err := flags.send(ctx, cmd.ErrOrStderr(), conn, content)
	took := time.Since(began)
	err = flags.explain(err, conn.RemoteAddr(), far)
	err = errors.Join(err, t.tell(newFileReport(conn, conn.Endpoint().Stats(), content.info, took, err)))
	if err == nil && !flags.raw {
		_ = conn.Linger(ctx, transport.FileLinger) // it only helps the peer to leave sooner
	}
	return err
}

// content is what is sent: with --raw, all of it in memory.
type content struct {
	info  transport.FileInfo
	file  io.Reader
	chunk []byte
}

// send sends, and returns how far it came.
func (flags *sendFlags) send(ctx context.Context, stderr io.Writer, conn *transport.Conn, c content) (far course, err error) {
	show, end := progress(stderr, "sending")
	defer end()
	if !flags.raw {
		err = transport.SendFile(ctx, conn, c.info, c.file, far.follow(show))
		return far, err
	}
	acked := func() (have, all int) { return int(conn.Stats().Sender.SlicesAcked), codec.NumSlices(len(c.chunk)) }
	stop := watchSlices(acked, show)
	err = conn.Send(ctx, c.chunk)
	stop()
	have, _ := acked()
	return course{have > 0, int64(have) * codec.SliceSize, c.info.Size}, err
}

func (flags *sendFlags) describe(ctx context.Context, cmd *cobra.Command, file io.ReadSeeker) (content, error) {
	if flags.raw {
		chunk, err := io.ReadAll(io.LimitReader(file, codec.MaxChunkSize+1))
		if err == nil && (len(chunk) == 0 || len(chunk) > codec.MaxChunkSize) {
			err = usageError(cmd, fmt.Errorf("--raw takes a file of 1 to %d bytes", codec.MaxChunkSize))
		}
		return content{info: transport.FileInfo{Size: int64(len(chunk)), SHA256: sha256.Sum256(chunk)}, chunk: chunk}, err
	}
	info, err := transport.Describe(ctx, file)
	if err != nil {
		return content{}, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return content{info: info, file: file}, err
}
