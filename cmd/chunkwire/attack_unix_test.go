//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

// A8: a reader that is slow at the end. Both ends say the same of the file.
func TestA8(t *testing.T) {
	t.Parallel()
	for _, kind := range kindsOfSend {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			fifo := makeFIFO(t)
			want := simulate.Pattern(2_000_000, 5)
			done := make(chan []byte, 1)
			go func() {
				f, err := os.Open(fifo)
				if err != nil {
					t.Error(err)
					done <- nil
					return
				}
				defer f.Close()
				var got bytes.Buffer
				_, _ = io.CopyN(&got, f, 750_000)
				time.Sleep(5 * time.Second)
				_, _ = io.Copy(&got, f)
				done <- got.Bytes()
			}()
			addr, ended := startRecv(t, append(kind.flags, "--give-up", "1s", "--out", fifo)...)
			start := time.Now()
			sent := runCommand(t, nil, append([]string{"send", "--give-up", "1s", "--to", addr, inputFile(t, want)}, kind.flags...)...)
			took := time.Since(start)
			received := <-ended
			got := <-done
			t.Logf("%s: a pause of 5 s while the last 1.25 MB wait: send exit %d after %v, recv exit %d, %d bytes are there", kind.name, sent.code, took, received.code, len(got))
			if kind.name == "connections" && (sent.code != exitOK || received.code != exitOK || !bytes.Equal(got, want)) {
				t.Errorf("send: %+v\nrecv: %+v", sent, received)
			}
		})
	}
}
