package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/chunkwire/chunkwire/cmd/chunkwire/internal/conformance"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/spf13/cobra"
)

// servePortLive does what the environment of a live port asks for.
func servePortLive(cmd *cobra.Command) error {
	id, err := strconv.ParseUint(os.Getenv(conformance.LiveProtocolID), 10, 32)
	if err != nil {
		return usageError(cmd, fmt.Errorf("%s: %w", conformance.LiveProtocolID, err))
	}
	cfg := transport.Config{ProtocolID: uint32(id), MaxPeers: 1}
	address := os.Getenv(conformance.LiveAddress)
	switch mode := os.Getenv(conformance.LiveMode); mode {
	case conformance.LiveSend:
		return portSend(cmd.Context(), cfg, address, cmd.InOrStdin())
	case conformance.LiveRecv:
		return portRecv(cmd.Context(), cfg, address, cmd.OutOrStdout())
	default:
		return usageError(cmd, fmt.Errorf("%s is %q, not %s or %s", conformance.LiveMode, mode, conformance.LiveSend, conformance.LiveRecv))
	}
}

func portSend(ctx context.Context, cfg transport.Config, address string, in io.Reader) error {
	chunk, err := io.ReadAll(io.LimitReader(in, codec.MaxChunkSize+1))
	if err != nil {
		return err
	}
	conn, err := transport.Dial(ctx, "udp", address, cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Send(ctx, chunk)
}

func portRecv(ctx context.Context, cfg transport.Config, address string, out io.Writer) error {
	endpoint, err := transport.Listen("udp", address, cfg)
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
	return lingerFor(ctx, conn, conformance.LiveQuiet)
}
