package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/spf13/cobra"
)

type sendFlags struct {
	connectionFlags
	to string
}

func newSend() *cobra.Command {
	var flags sendFlags
	cmd := &cobra.Command{
		Use:   "send --to HOST:PORT FILE",
		Short: "Send a file to a waiting recv",
		Long: `send sends a file of any size to a 'chunkwire recv', and ends well only when the
other end has stored it and found size and SHA-256 right. FILE may be - for standard
input, which is first put aside in a temporary file, since its hash goes ahead.
` + exitHelp,
		Example: `  chunkwire send --to 192.0.2.7:9000 world.bin
  tar c saves | chunkwire send --to localhost:9000 -
  chunkwire send --to localhost:9000 --raw level.bin`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.to, "to", "", "address of the receiver, HOST:PORT")
	flags.add(f)
	return cmd
}

func (flags *sendFlags) run(cmd *cobra.Command, name string) error {
	cfg, err := flags.config()
	if err == nil && flags.to == "" {
		err = errors.New("--to HOST:PORT is needed")
	}
	if err != nil {
		return usageError(cmd, err)
	}
	file, err := openInput(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer file.Close()

	ctx, cancel := withTimeout(cmd.Context(), flags.timeout)
	defer cancel()
	return flags.send(ctx, cmd, cfg, file)
}

func (flags *sendFlags) send(ctx context.Context, cmd *cobra.Command, cfg transport.Config, file io.ReadSeeker) error {
	content, err := flags.describe(cmd, file)
	if err != nil {
		return err
	}
	began := time.Now()
	conn, err := transport.Dial(ctx, "udp", flags.to, cfg)
	if err != nil {
		return flags.finish(cmd, newFileReport(nil, transport.EndpointStats{}, content.info, time.Since(began), err), err)
	}
	defer conn.Close()
	warnOfSmallBuffers(cmd.ErrOrStderr(), conn.Endpoint().Stats())
	show, end := progress(cmd.ErrOrStderr(), "sending")
	if flags.raw {
		err = conn.Send(ctx, content.chunk)
	} else {
		err = transport.SendFile(ctx, conn, content.info, file, show)
	}
	end()
	return flags.finish(cmd, newFileReport(conn, conn.Endpoint().Stats(), content.info, time.Since(began), err), err)
}

func (flags *sendFlags) finish(cmd *cobra.Command, r fileReport, err error) error {
	return errors.Join(err, r.print(cmd.OutOrStdout(), "sent", flags.json))
}

// content is what is sent: with --raw, all of it in memory.
type content struct {
	info  transport.FileInfo
	chunk []byte
}

func (flags *sendFlags) describe(cmd *cobra.Command, file io.ReadSeeker) (content, error) {
	if flags.raw {
		chunk, err := io.ReadAll(io.LimitReader(file, codec.MaxChunkSize+1))
		if err == nil && (len(chunk) == 0 || len(chunk) > codec.MaxChunkSize) {
			err = usageError(cmd, fmt.Errorf("--raw takes a file of 1 to %d bytes", codec.MaxChunkSize))
		}
		return content{transport.FileInfo{Size: int64(len(chunk)), SHA256: sha256.Sum256(chunk)}, chunk}, err
	}
	info, err := transport.Describe(file)
	if err != nil {
		return content{}, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return content{info: info}, err
}

// openInput opens a file, or puts standard input aside so that it can be read
// twice.
func openInput(name string, stdin io.Reader) (*os.File, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		if info, err := file.Stat(); err == nil && info.IsDir() {
			file.Close()
			return nil, fmt.Errorf("%s is a directory; send an archive of it, such as tar makes", name)
		}
		return file, nil
	}
	spool, err := os.CreateTemp("", "chunkwire-*")
	if err != nil {
		return nil, err
	}
	// Unlinked at once where the system allows, so that nothing stays behind.
	_ = os.Remove(spool.Name())
	if _, err = io.Copy(spool, stdin); err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if err != nil {
		spool.Close()
		return nil, fmt.Errorf("putting standard input aside: %w", err)
	}
	return spool, nil
}

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("%w: not done after %v", context.DeadlineExceeded, d))
}
