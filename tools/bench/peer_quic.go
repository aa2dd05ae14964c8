package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"time"

	"github.com/quic-go/quic-go"
)

// quicPeer is quic-go: one stream, windows that never limit.
func quicPeer() Peer {
	return Peer{Name: "quic-go", Note: "one stream, windows of 32 MiB, TLS as QUIC wants it", Connect: connectQUIC}
}

func quicConfig() *quic.Config {
	return &quic.Config{
		InitialStreamReceiveWindow: 32 << 20, MaxStreamReceiveWindow: 32 << 20,
		InitialConnectionReceiveWindow: 32 << 20, MaxConnectionReceiveWindow: 32 << 20,
		MaxIdleTimeout: time.Minute,
	}
}

func connectQUIC(ctx context.Context, p *path) (*pipe, error) {
	c, out, in, err := quicStream(ctx, p, quicConfig())
	if err != nil {
		return nil, err
	}
	way := streamPipe(out, in)
	way.back, way.close = streamPipe(in, out), c.close
	return way, nil
}

// quicStream connects, and opens a stream: its end at the server and that at the client.
func quicStream(ctx context.Context, p *path, cfg *quic.Config) (c *quicConn, server, client *quic.Stream, err error) {
	if c, err = dialQUIC(ctx, p, cfg); err != nil {
		return nil, nil, nil, err
	}
	if client, err = c.client.OpenStreamSync(ctx); err != nil {
		return nil, nil, nil, err
	}
	if _, err = client.Write([]byte{1}); err != nil {
		return nil, nil, nil, err
	}
	if server, err = c.server.AcceptStream(ctx); err != nil {
		return nil, nil, nil, err
	}
	_, err = readBlock(server, 1)
	return c, server, client, err
}

// quicConn is both ends of a connection.
type quicConn struct {
	server, client *quic.Conn
	close          func()
}

func dialQUIC(ctx context.Context, p *path, cfg *quic.Config) (*quicConn, error) {
	serverTransport := &quic.Transport{Conn: p.server}
	clientTransport := &quic.Transport{Conn: p.client}
	listener, err := serverTransport.Listen(serverTLS(), cfg)
	if err != nil {
		return nil, err
	}
	client, err := clientTransport.Dial(ctx, serverAddr, clientTLS, cfg)
	if err != nil {
		return nil, err
	}
	server, err := listener.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return &quicConn{server, client, func() {
		_ = client.CloseWithError(0, "")
		_ = server.CloseWithError(0, "")
		_ = listener.Close()
		_ = serverTransport.Close()
		_ = clientTransport.Close()
	}}, nil
}

var clientTLS = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"bench"}}

// serverTLS makes a certificate that nobody checks.
func serverTLS() *tls.Config {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err) // only without a source of randomness
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		panic(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}, NextProtos: []string{"bench"}}
}
