package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// What page and server agree on.
const (
	protocolID = 0x77656230
	path       = "/world"
)

//go:embed page
var page embed.FS

// server sends one world to every session.
type server struct {
	options
	world       []byte
	encoded     *erasure.Encoded // once for all: its repair slices are shared
	port        fs.FS
	certificate tls.Certificate
	h3          *webtransport.Server
	sessions    atomic.Uint64
}

// content returns what is sent.
func (o options) content() ([]byte, error) {
	if o.world != "" {
		return os.ReadFile(o.world)
	}
	b := make([]byte, 256<<10)
	r := rand.NewChaCha8([32]byte{byte(o.seed)})
	r.Read(b)
	return b, nil
}

func newServer(world []byte, port fs.FS, o options) (*server, error) {
	if len(world) == 0 || len(world) > 256<<10 {
		return nil, fmt.Errorf("a world has 1 to %d bytes, and this one %d: larger ones go by transport/file", 256<<10, len(world))
	}
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	s := &server{options: o, world: world, encoded: erasure.Encode(world), port: port, certificate: certificate}
	mux := http.NewServeMux()
	mux.HandleFunc(path, s.accept)
	h3 := &http3.Server{Handler: mux, TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate}})}
	webtransport.ConfigureHTTP3Server(h3)
	// The page has the same address by http: another origin by its scheme.
	s.h3 = &webtransport.Server{H3: h3, CheckOrigin: func(r *http.Request) bool { return r.Header.Get("Origin") == "http://"+r.Host }}
	return s, nil
}

// selfSigned returns a certificate that a browser takes by its hash (serverCertificateHashes
// of WebTransport): ECDSA, and valid for at most two weeks.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), cryptorand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	about := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "chunkwire example"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(10 * 24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(cryptorand.Reader, about, about, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// pages serves the page, the port, and what the page must know to connect.
func (s *server) pages() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // it is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.Handle("GET /chunkwire/", http.StripPrefix("/chunkwire/", http.FileServerFS(s.port)))
	mux.HandleFunc("GET /about.json", func(w http.ResponseWriter, _ *http.Request) {
		hash := sha256.Sum256(s.certificate.Certificate[0])
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"path": path, "protocolId": protocolID, "certificateHash": hex.EncodeToString(hash[:])})
	})
	return mux
}

func (s *server) serve(socket net.PacketConn) error { return s.h3.Serve(socket) }
func (s *server) close()                            { s.h3.Close() }

// accept sends the world to a page.
func (s *server) accept(w http.ResponseWriter, r *http.Request) {
	session, err := s.h3.Upgrade(w, r)
	if err != nil {
		slog.Error("no session", "error", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	number := s.sessions.Add(1)
	go func() {
		start := time.Now()
		stats, err := s.send(session, number)
		log := slog.With("session", number, "after", time.Since(start).Round(time.Millisecond))
		if err != nil {
			log.Error("the world did not arrive", "error", err)
			return
		}
		log.Info("the world arrived", "slices", stats.SlicesSent, "of them for repair", stats.SlicesRepair)
	}()
}

func (s *server) send(session *webtransport.Session, number uint64) (stats statemachine.SenderStats, err error) {
	conn, err := plain.Over(&datagrams{session: session, loss: s.loss, random: rand.New(rand.NewPCG(s.seed, number))}, plain.Config{ProtocolID: protocolID, Repair: true})
	if err != nil {
		return stats, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(session.Context(), time.Minute)
	defer cancel()
	if err := conn.SendEncoded(ctx, s.encoded); err != nil {
		return stats, err
	}
	return conn.Stats().Sender, nil
}

// datagrams is a session as a net.Conn for plain.Over: each Write sends a datagram and each Read
// receives one. Some are dropped on purpose.
type datagrams struct {
	session *webtransport.Session
	loss    float64
	random  *rand.Rand // of Write, which is called by one goroutine
}

func (d *datagrams) Read(b []byte) (int, error) {
	datagram, err := d.session.ReceiveDatagram(d.session.Context())
	return copy(b, datagram), err
}

func (d *datagrams) Write(b []byte) (int, error) {
	if d.random.Float64()*100 < d.loss {
		return len(b), nil
	}
	return len(b), d.session.SendDatagram(bytes.Clone(b))
}

func (d *datagrams) Close() error         { return d.session.CloseWithError(0, "") }
func (d *datagrams) LocalAddr() net.Addr  { return d.session.LocalAddr() }
func (d *datagrams) RemoteAddr() net.Addr { return d.session.RemoteAddr() }

// Deadlines are not needed: Close ends a Read.
func (d *datagrams) SetDeadline(time.Time) error      { return nil }
func (d *datagrams) SetReadDeadline(time.Time) error  { return nil }
func (d *datagrams) SetWriteDeadline(time.Time) error { return nil }
