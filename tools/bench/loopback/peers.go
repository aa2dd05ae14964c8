package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/quic-go/quic-go"
)

// peers are the processes of what stands beside. Each sends the content, and then its hash, and waits for a byte.
var peers = map[string]func(to, file string) error{
	"tcp-send": tcpSend, "tcp-recv": tcpReceive, "quic-send": quicSend, "quic-recv": quicReceive,
}

// buffer is as large as a chunk.
const buffer = 256 << 10

// way is a stream in both directions, of which one can be ended.
type way interface {
	io.ReadWriter
	end() error
}

func send(w way, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	for b := make([]byte, buffer); ; {
		n, err := f.Read(b)
		if n == 0 {
			break
		}
		sum.Write(b[:n])
		if _, err = w.Write(b[:n]); err != nil {
			return err
		}
	}
	if _, err := w.Write(sum.Sum(nil)); err != nil {
		return err
	}
	if err := w.end(); err != nil {
		return err
	}
	_, err = io.ReadFull(w, make([]byte, 1))
	return err
}

func receive(w way) error {
	sum := sha256.New()
	var last [sha256.Size]byte // the last bytes that were read: they can be the hash
	b := make([]byte, sha256.Size, buffer+sha256.Size)
	held := 0
	for {
		n, err := w.Read(b[held:cap(b)])
		all := b[:held+n]
		if len(all) > sha256.Size {
			sum.Write(all[:len(all)-sha256.Size])
		}
		held = copy(b[:sha256.Size], all[max(0, len(all)-sha256.Size):])
		if errors.Is(err, io.EOF) {
			copy(last[:], b)
			break
		} else if err != nil {
			return err
		}
	}
	if !verified(sum, last[:]) {
		return errors.New("the hash differs")
	}
	_, err := w.Write([]byte{1})
	return err
}

func verified(sum hash.Hash, want []byte) bool { return bytes.Equal(sum.Sum(nil), want) }

type tcpWay struct{ *net.TCPConn }

func (w tcpWay) end() error { return w.CloseWrite() }

func tcpSend(to, file string) error {
	c, err := net.Dial("tcp", to)
	if err != nil {
		return err
	}
	defer c.Close()
	return send(tcpWay{c.(*net.TCPConn)}, file)
}

func tcpReceive(string, string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, l.Addr())
	c, err := l.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	return receive(tcpWay{c.(*net.TCPConn)})
}

type quicWay struct{ *quic.Stream }

func (w quicWay) end() error { return w.Close() }

func quicConfig() *quic.Config {
	const window = 32 << 20
	return &quic.Config{
		InitialStreamReceiveWindow: window, MaxStreamReceiveWindow: window,
		InitialConnectionReceiveWindow: window, MaxConnectionReceiveWindow: window,
	}
}

func quicSend(to, file string) error {
	ctx := context.Background()
	c, err := quic.DialAddr(ctx, to, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"bench"}}, quicConfig())
	if err != nil {
		return err
	}
	defer c.CloseWithError(0, "")
	s, err := c.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	return send(quicWay{s}, file)
}

func quicReceive(string, string) error {
	ctx := context.Background()
	l, err := quic.ListenAddr("127.0.0.1:0", serverTLS(), quicConfig())
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintln(os.Stderr, l.Addr())
	c, err := l.Accept(ctx)
	if err != nil {
		return err
	}
	s, err := c.AcceptStream(ctx)
	if err != nil {
		return err
	}
	err = receive(quicWay{s})
	_ = s.Close()
	<-c.Context().Done()
	return err
}

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
