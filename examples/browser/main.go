// Command browser is a small game for pages in browsers: the TypeScript port in a page has a connection, with channels
// and chunks, over the datagrams of WebTransport.
//
//	npm --prefix ports/typescript install && npm --prefix ports/typescript run build
//	cd examples/browser && go run . --loss 10
//
// Then open the address that it prints in a browser with WebTransport.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"

	"github.com/chunkwire/chunkwire/transport"
)

func main() {
	var o options
	flag.StringVar(&o.address, "listen", "127.0.0.1:0", "address of the page, by TCP, and of WebTransport, by UDP")
	flag.StringVar(&o.port, "port", "../../ports/typescript/dist", "folder of the TypeScript port, built")
	flag.Float64Var(&o.loss, "loss", 0, "percent of the datagrams that are dropped on purpose, each way")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the losses and of the island")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
}

type options struct {
	address, port string
	loss          float64
	seed          uint64
}

// run serves until ctx ends.
func run(ctx context.Context, o options) error {
	port := os.DirFS(o.port)
	if _, err := fs.Stat(port, "index.js"); err != nil {
		return fmt.Errorf("%s has no index.js: npm --prefix ports/typescript run build makes it, or --port says where it is", o.port)
	}
	if o.loss < 0 || o.loss >= 100 {
		return errors.New("--loss must be at least 0, and less than 100")
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return err
	}
	// The same port by UDP, so that one address is all that there is to say.
	socket, err := net.ListenPacket("udp", listener.Addr().String())
	if err != nil {
		listener.Close()
		return err
	}
	s, err := newServer(port, socket.LocalAddr(), o)
	if err != nil {
		return err
	}
	peers, err := transport.New(s.gate, config())
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s.pages()}
	over := make(chan struct{})
	go func() {
		defer close(over)
		newGame(peers, newIsland(o.seed)).run(ctx) // it tells the pages when it ends
		s.close()
		web.Close()
		socket.Close()
	}()
	go func() {
		if err := s.serve(socket); ctx.Err() == nil {
			slog.Error("WebTransport", "error", err)
		}
	}()
	fmt.Printf("http://%s/\n", listener.Addr())
	if err := web.Serve(listener); ctx.Err() == nil {
		return err
	}
	<-over
	return nil
}
