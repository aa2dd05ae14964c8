package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/connectionsim"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

// encryptedCapture returns a capture of a chunk over an encrypted connection, and the log of its keys.
func encryptedCapture(t *testing.T) (file []byte, keys string) {
	t.Helper()
	var out bytes.Buffer
	w, flush := captureWriter(t, &out, layers.LinkTypeRaw, false)
	net := connectionsim.NewNetwork(1, func(now time.Duration, l connectionsim.Letter, deliver func(time.Duration, connectionsim.Letter)) {
		from, to := 1, 2
		if l.From == connectionsim.ServerAddress {
			from, to = to, from
		}
		b := wrap(t, layers.LinkTypeRaw, from, to, l.Data)
		check.Must(0, w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(1, 0).Add(now), CaptureLength: len(b), Length: len(b)}, b))
		deliver(now+10*time.Millisecond, l)
	})
	cfg := connection.Config{Terms: session.Terms{Mode: session.AEAD}, KeyLog: func(link uint32, c2s, s2c session.Key) {
		keys = fmt.Sprintf("%08x %x %x\n", link, c2s, s2c)
	}}
	key := session.Key{1, 2, 3}
	net.Server.Server = check.Must(connection.NewServer(connection.ServerConfig{Config: cfg, Keys: func(uint64) (session.Key, bool) { return key, true }, Random: connectionsim.Random(1)}))
	client := net.Clients[0]
	client.Client = check.Must(connection.NewClient(connection.ClientConfig{Config: cfg, Identity: 7, Key: key, Random: connectionsim.Random(2)}, 0))
	begun, done := false, false
	client.Happened = func(now core.Micros) {
		if conn := client.Conn(); conn != nil {
			if !begun {
				check.Must(conn.SendChunk(now, make([]byte, 5000)))
			}
			begun = true
			_, done = conn.ChunkDone()
		}
	}
	net.Server.Events.Happened = func(now core.Micros, p *connection.ServerConn) { p.ReadChunk(now, nil) }
	check.That(t, net.Run(20*core.Second, func() bool { return done }), "the chunk has arrived")
	check.Must(0, flush())
	return out.Bytes(), keys
}

// The capture that --decrypt writes tells without keys what the encrypted one tells with them.
func TestInspectDecrypts(t *testing.T) {
	capture, keys := encryptedCapture(t)
	dir := t.TempDir()
	log, in, out := filepath.Join(dir, "keys"), filepath.Join(dir, "in.pcap"), filepath.Join(dir, "out.pcap")
	check.Must(0, os.WriteFile(log, []byte(keys), 0o600))
	check.Must(0, os.WriteFile(in, capture, 0o600))
	story := func(args ...string) *inspect.Story {
		r := runCommand(t, nil, append([]string{"inspect", "--json", "--file"}, args...)...)
		check.Same(t, "exit code", r.code, exitOK)
		var report captureReport
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
			t.Fatal(err)
		}
		check.Same(t, "stories", len(report.Stories), 1)
		return report.Stories[0]
	}
	check.Same(t, "chunks without keys", len(story(in).Chunks), 0)
	want := story(in, "--key-log", log, "--decrypt", out)
	got := story(out)
	check.Same(t, "chunks", len(got.Chunks), 1)
	check.Same(t, "chunks", string(check.Must(json.Marshal(got.Chunks))), string(check.Must(json.Marshal(want.Chunks))))
	check.Same(t, "refused", len(got.Refused), 0)
	info, err := os.Stat(out)
	check.That(t, err == nil && info.Mode().Perm() == 0o600, "only its owner can read it")
}
