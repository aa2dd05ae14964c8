package bench

import (
	"context"
	"io"
	"slices"

	"github.com/pion/logging"
	"github.com/pion/sctp"
)

// sctpPeer is pion's SCTP, which carries the data channels of WebRTC.
func sctpPeer() Peer {
	return Peer{Name: "pion sctp", Note: "one ordered stream, a message of 64 KiB at a time", Connect: connectSCTP}
}

func connectSCTP(_ context.Context, p *path) (*pipe, error) {
	type result struct {
		a   *sctp.Association
		err error
	}
	accepted := make(chan result, 1)
	go func() {
		a, err := sctp.Server(sctpConfig(connected{p.server, clientAddr}))
		accepted <- result{a, err}
	}()
	client, err := sctp.Client(sctpConfig(connected{p.client, serverAddr}))
	if err != nil {
		return nil, err
	}
	server := <-accepted
	if server.err != nil {
		return nil, server.err
	}
	in, err := client.OpenStream(1, sctp.PayloadTypeWebRTCBinary)
	if err != nil {
		return nil, err
	}
	if _, err := in.Write([]byte{1}); err != nil {
		return nil, err
	}
	out, err := server.a.AcceptStream()
	if err != nil {
		return nil, err
	}
	return &pipe{
		push:  func(block []byte) error { return pushMessages(out, block) },
		fetch: func(n int) ([]byte, error) { return fetchMessages(in, n) },
		close: func() {
			_ = client.Close()
			_ = server.a.Close()
		},
	}, nil
}

// pushMessages sends a block as messages below 64 KiB, the most that the
// receiving end takes at once.
func pushMessages(w io.Writer, block []byte) error {
	for message := range slices.Chunk(block, 64<<10-1) {
		if _, err := w.Write(message); err != nil {
			return err
		}
	}
	return nil
}

func fetchMessages(r io.Reader, n int) ([]byte, error) {
	block := make([]byte, 0, n+64<<10)
	for len(block) < n {
		k, err := r.Read(block[len(block):cap(block)])
		if err != nil {
			return nil, err
		}
		block = block[:len(block)+k]
	}
	return block, nil
}

func sctpConfig(c connected) sctp.Config {
	return sctp.Config{NetConn: c, LoggerFactory: logging.NewDefaultLoggerFactory(), MaxReceiveBufferSize: 32 << 20}
}
