package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/transport"
)

// messageSize is how many bytes of a chunk each message of the channel has.
const messageSize = 1024

// connected is this implementation as an end of a connection.
type connected struct {
	*transfer
	server *transport.Server
}

// connectionConfig is what both ends agree on (testvectors/LIVE.md).
func connectionConfig(protocolID uint32) transport.Config {
	return transport.Config{ProtocolID: protocolID, MaxPeers: 1, Timeout: DefaultTimeout, Channels: []channel.Config{{ID: 0, Kind: channel.Ordered}}}
}

func (*connected) isPort() bool { return false }

func (c *connected) address() (address net.Addr, err error) {
	c.server, err = transport.Listen("udp", loopback, connectionConfig(c.protocolID))
	if err != nil {
		return nil, err
	}
	return c.server.Addr(), nil
}

func (c *connected) receive(ctx context.Context) ([]byte, error) { return takeOver(ctx, c.server) }

func (c *connected) send(ctx context.Context, to string) error {
	return giveOver(ctx, to, c.protocolID, c.chunk)
}

func (c *connected) close() {
	if c.server != nil {
		_ = c.server.Close()
	}
}

// giveOver sends a chunk over a connection to an address, and again as messages.
func giveOver(ctx context.Context, to string, protocolID uint32, chunk []byte) error {
	peer, err := transport.Dial(ctx, "udp", to, connectionConfig(protocolID))
	if err != nil {
		return fmt.Errorf("no connection: %w", err)
	}
	for message := range slices.Chunk(chunk, messageSize) {
		if err := peer.Channel(0).SendWait(ctx, message); err != nil {
			return errors.Join(err, peer.Close(0, ""))
		}
	}
	err = peer.Chunks().Send(ctx, chunk)
	return errors.Join(err, peer.Flush(ctx), peer.Close(0, ""))
}

// takeTo writes the chunk that comes over a connection to an address.
func takeTo(ctx context.Context, protocolID uint32, address string, out io.Writer) error {
	server, err := transport.Listen("udp", address, connectionConfig(protocolID))
	if err != nil {
		return err
	}
	defer server.Close()
	chunk, err := takeOver(ctx, server)
	if err == nil {
		_, err = out.Write(chunk)
	}
	return err
}

// takeOver returns the chunk of the first connection of a server, when that is closed.
func takeOver(ctx context.Context, server *transport.Server) ([]byte, error) {
	peer, err := server.Accept(ctx)
	if err != nil {
		return nil, fmt.Errorf("no connection came: %w", err)
	}
	chunk, err := peer.Chunks().Recv(ctx)
	if err != nil {
		return nil, fmt.Errorf("no whole chunk came: %w", err)
	}
	var messages []byte
	for {
		message, err := peer.Channel(0).Recv(ctx)
		switch {
		case err == nil:
			messages = append(messages, message...)
		case !errors.Is(err, transport.ErrClosedRemotely):
			return nil, fmt.Errorf("the connection was not closed: %w", err)
		case !bytes.Equal(messages, chunk):
			return nil, fmt.Errorf("the messages have %d bytes, and are not the chunk of %d", len(messages), len(chunk))
		default:
			return chunk, nil
		}
	}
}
