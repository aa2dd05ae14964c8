package main

import (
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
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"time"

	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
)

// path is of WebTransport.
const path = "/game"

//go:embed page
var page embed.FS

// server has the pages, and WebTransport for them.
type server struct {
	options
	port        fs.FS
	certificate tls.Certificate
	h3          *webtransport.Server
	gate        *gate
}

func newServer(port fs.FS, local net.Addr, o options) (*server, error) {
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	s := &server{options: o, port: port, certificate: certificate, gate: newGate(local, o.loss, o.seed)}
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

// accept lets a page in.
func (s *server) accept(w http.ResponseWriter, r *http.Request) {
	session, err := s.h3.Upgrade(w, r)
	if err != nil {
		slog.Error("no session", "error", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	go s.gate.enter(session)
}
