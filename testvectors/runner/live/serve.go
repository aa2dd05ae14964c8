package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// ErrEnvironment means that the environment asks for nothing that Serve could do.
var ErrEnvironment = errors.New("live: bad environment")

// Serve is what a live port does, by this implementation. getenv is os.Getenv.
func Serve(ctx context.Context, getenv func(string) string, in io.Reader, out io.Writer) error {
	id, err := strconv.ParseUint(getenv(EnvProtocolID), 10, 32)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrEnvironment, EnvProtocolID, err)
	}
	variant := cmp.Or(getenv(EnvVariant), Slices)
	if variant != Slices && variant != Repair && variant != Connection {
		return fmt.Errorf("%w: %s is %q, not %s, %s or %s", ErrEnvironment, EnvVariant, variant, Slices, Repair, Connection)
	}
	cfg := plain.Config{ProtocolID: uint32(id), Repair: variant == Repair, MaxPeers: 1}
	address := getenv(EnvAddress)
	switch mode := getenv(EnvMode); mode {
	case Send:
		chunk, err := io.ReadAll(io.LimitReader(in, codec.MaxChunkSize+1))
		if err == nil && variant == Connection {
			return giveOver(ctx, address, cfg.ProtocolID, chunk)
		}
		if err == nil {
			err = sendOne(ctx, cfg, address, chunk)
		}
		return err
	case Recv:
		if variant == Connection {
			return takeTo(ctx, cfg.ProtocolID, address, out)
		}
		return recvOne(ctx, cfg, address, out)
	default:
		return fmt.Errorf("%w: %s is %q, not %s or %s", ErrEnvironment, EnvMode, mode, Send, Recv)
	}
}

func sendOne(ctx context.Context, cfg plain.Config, address string, chunk []byte) error {
	conn, err := plain.Dial(ctx, "udp", address, cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Send(ctx, chunk)
}

func recvOne(ctx context.Context, cfg plain.Config, address string, out io.Writer) error {
	endpoint, err := plain.Listen("udp", address, cfg)
	if err != nil {
		return err
	}
	defer endpoint.Close()
	conn, err := endpoint.Accept(ctx)
	if err != nil {
		return err
	}
	chunk, err := conn.Recv(ctx)
	if err != nil {
		return err
	}
	if _, err := out.Write(chunk); err != nil {
		return err
	}
	if err := conn.Linger(ctx, Quiet); ctx.Err() != nil {
		return err
	}
	return nil
}
