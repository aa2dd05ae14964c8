package wireshark_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// transfer is one of send and recv, with flags that both have.
type transfer struct {
	name    string
	flags   string
	key     bool
	repair  bool
	lanes   int // of a plain transfer
	offload bool
	port    int
}

func (x *transfer) title() string { return fmt.Sprintf("%s, offload %v", x.name, x.offload) }

func (x *transfer) plain() bool { return strings.Contains(x.flags, "--plain") }

// transfers returns one of each kind, with and without segmentation offload.
func transfers(t *testing.T) (list []*transfer) {
	t.Helper()
	for _, offload := range []bool{true, false} {
		list = append(list,
			&transfer{name: "plain", flags: "--plain --repair=false", lanes: 1},
			&transfer{name: "plain repair", flags: "--plain --repair", repair: true, lanes: 1},
			&transfer{name: "plain repair lanes", flags: "--plain --repair --lanes 2", repair: true, lanes: 2},
			&transfer{name: "plain lanes", flags: "--plain --repair=false --lanes 3", lanes: 3},
			&transfer{name: "crc", flags: "--mode unprotected"},
			&transfer{name: "crc slices", flags: "--mode unprotected --repair=false"},
			&transfer{name: "mac", flags: "--mode mac", key: true},
			&transfer{name: "aead", flags: "--mode aead", key: true})
		for _, x := range list[len(list)-8:] {
			x.offload, x.port = offload, freePort(t)
		}
	}
	return list
}

// freePort returns a port of UDP that nobody has.
func freePort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

// What the dissector says of transfers over loopback is what the codecs say, datagram by
// datagram, without a port among the preferences.
func TestLive(t *testing.T) {
	need(t, "tshark")
	need(t, "tcpdump")
	list := transfers(t)
	name := record(t, list)
	byPort := map[int]*transfer{}
	for _, x := range list {
		byPort[x.port] = x
	}
	said := map[*transfer][]frame{}
	for _, f := range dissect(t, name) {
		for _, p := range f.ports {
			if x := byPort[p]; x != nil {
				said[x] = append(said[x], f)
			}
		}
	}
	for _, x := range list {
		t.Run(x.title(), func(t *testing.T) { x.judge(t, said[x]) })
	}
}

// record makes the transfers, and returns the capture of them all.
func record(t *testing.T, list []*transfer) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	command := filepath.Join(dir, "chunkwire")
	run(t, exec.CommandContext(ctx, "go", "build", "-o", command, "../../cmd/chunkwire"))
	run(t, exec.CommandContext(ctx, command, "keygen", "--out", filepath.Join(dir, "key")))
	data := make([]byte, 300_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	if err := os.WriteFile(filepath.Join(dir, "in"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "live.pcap")
	stop := listen(ctx, t, name, list)
	t.Run("transfers", func(t *testing.T) {
		for _, x := range list {
			t.Run(x.title(), func(t *testing.T) {
				t.Parallel()
				x.run(ctx, t, dir, command)
			})
		}
	})
	stop()
	return name
}

func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, out)
	}
}

// listen begins a capture of the ports, and returns what ends it.
func listen(ctx context.Context, t *testing.T, name string, list []*transfer) (stop func()) {
	t.Helper()
	var ports []string
	for _, x := range list {
		ports = append(ports, fmt.Sprintf("udp port %d", x.port))
	}
	cmd := exec.CommandContext(ctx, "tcpdump", "-i", "lo", "-n", "-U", "--immediate-mode", "-B", "65536", "-w", name, strings.Join(ports, " or "))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "listening on") {
		if strings.Contains(lines.Text(), "permission") && !*required {
			_ = cmd.Wait()
			t.Skip(lines.Text())
		}
	}
	return func() {
		settle(name)
		_ = cmd.Process.Signal(os.Interrupt)
		for lines.Scan() {
			if text := lines.Text(); strings.Contains(text, "dropped by kernel") && !strings.HasPrefix(text, "0 ") {
				t.Fatal(text)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// settle waits until a file does not grow any more.
func settle(name string) {
	before := int64(-1)
	for {
		info, err := os.Stat(name)
		if err != nil || info.Size() == before {
			return
		}
		before = info.Size()
		time.Sleep(200 * time.Millisecond)
	}
}

// run makes a transfer.
func (x *transfer) run(ctx context.Context, t *testing.T, dir, command string) {
	t.Helper()
	flags := strings.Fields(x.flags)
	if x.key {
		flags = append(flags, "--key", filepath.Join(dir, "key"))
	}
	environment := os.Environ()
	if !x.offload {
		environment = append(environment, "CHUNKWIRE_NO_OFFLOAD=1")
	}
	address, out := fmt.Sprintf("127.0.0.1:%d", x.port), filepath.Join(dir, x.title())
	recv := exec.CommandContext(ctx, command, append([]string{"recv", "--listen", address, "--out", out, "--wait", "20s"}, flags...)...)
	send := exec.CommandContext(ctx, command, append([]string{"send", "--to", address, filepath.Join(dir, "in")}, flags...)...)
	recv.Env, send.Env = environment, environment
	stderr, err := recv.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = recv.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "listening on") {
	}
	run(t, send)
	for lines.Scan() {
		t.Log(lines.Text())
	}
	if err := recv.Wait(); err != nil {
		t.Fatalf("%s: %v", x.name, err)
	}
}

// judge compares what the dissector says of a transfer with the codecs.
func (x *transfer) judge(t *testing.T, frames []frame) {
	o := oracle{x: x}
	joined, all := 0, 0
	for i, f := range frames {
		parts := o.cut(f.payload)
		if len(parts) != len(f.datagrams) {
			t.Fatalf("frame %d of %d bytes: %d datagrams, want %d", i, len(f.payload), len(f.datagrams), len(parts))
		}
		if len(parts) > 1 {
			joined++
		}
		for k, part := range parts {
			all++
			if f.datagrams[k].has("refused") {
				t.Fatalf("frame %d: %v", i, f.datagrams[k].values)
			}
			o.judge(t, part, f.datagrams[k])
		}
	}
	switch {
	case all < 290:
		t.Fatalf("%d datagrams", all)
	case !x.offload && joined > 0:
		t.Fatalf("%d frames of several datagrams without offload", joined)
	case x.offload && joined == 0:
		t.Log("this system joined no datagrams")
	}
	t.Logf("%d frames, of which %d have several datagrams; %d datagrams", len(frames), joined, all)
}

// oracle knows what a transfer's datagrams are by the codecs.
type oracle struct {
	x      *transfer
	linked map[string]any // what the ends of a connection agreed on
}

// ask puts a request to the port of this implementation.
func ask(op string, b []byte, more map[string]any) map[string]any {
	q := map[string]any{"id": 1, "op": op, "hex": hex.EncodeToString(b)}
	for name, value := range more {
		q[name] = value
	}
	line, err := json.Marshal(q)
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(bytes.NewReader(port.Answer(line)))
	d.UseNumber()
	var response map[string]any
	if err = d.Decode(&response); err != nil {
		panic(err)
	}
	return response
}

const protocolID = 0x11223344 // the default of send and recv, and of the dissector

// id returns the protocol id of a lane (LAN-2, RPI-1).
func (x *transfer) id(lane int) uint32 {
	id := uint32(protocolID + 16*(x.lanes-1) + lane)
	if x.repair {
		id += connection.RepairIDs
	}
	return id
}

// chunk decodes a datagram of a plain transfer.
func (o *oracle) chunk(b []byte) (packet any, lane int, ok bool) {
	op := "decode_packet"
	if o.x.repair {
		op = "repair_decode"
	}
	for k := range o.x.lanes {
		response := ask(op, b, map[string]any{"protocol_id": o.x.id(k)})
		if response["ok"] == true {
			return response["packet"], k, true
		}
	}
	return nil, 0, false
}

// hasFrame reports whether bytes are one datagram of a plain transfer.
func (o *oracle) hasFrame(b []byte) bool {
	for k := range o.x.lanes {
		_, err := codec.NewFramer(o.x.id(k)).Decode(b)
		if o.x.repair {
			_, err = codec.Repair.Framer(o.x.id(k)).Decode(b)
		}
		if err == nil {
			return true
		}
	}
	return false
}

// decodes reports whether bytes are one datagram, as far as one sees without the key.
func (o *oracle) decodes(b []byte, number int, first []byte) bool {
	if o.x.plain() {
		return o.hasFrame(b)
	}
	m, err := session.Decode(b)
	if err != nil || number == 0 {
		return err == nil
	}
	before, err := session.Decode(first)
	return err == nil && m.Kind == before.Kind && m.Agreed.Link == before.Agreed.Link && m.Counter == before.Counter+uint32(number)
}

// cut returns the datagrams of which a frame consists: they are equally large, and the last may
// be smaller.
func (o *oracle) cut(b []byte) [][]byte {
	if o.x.plain() && o.hasFrame(b) {
		return [][]byte{b}
	}
	for size := 12; size < len(b); size++ {
		if parts := o.cutTo(b, size); parts != nil {
			return parts
		}
	}
	return [][]byte{b}
}

func (o *oracle) cutTo(b []byte, size int) (parts [][]byte) {
	for number := 0; number*size < len(b); number++ {
		part := b[number*size : min(len(b), (number+1)*size)]
		if !o.decodes(part, number, b[:size]) {
			return nil
		}
		parts = append(parts, part)
	}
	return parts
}

func (o *oracle) judge(t *testing.T, b []byte, n tree) {
	t.Helper()
	if o.x.plain() {
		want, lane, _ := o.chunk(b)
		same(t, chunkFacts(n), want)
		same(t, facts{"lane": n.number("lane"), "lanes": n.number("lanes"), "id": n.number("protocol_id")}, map[string]any{"lane": lane, "lanes": o.x.lanes, "id": protocolID})
		return
	}
	m := ask("session_decode", b, nil)["message"].(map[string]any)
	if m["type"] == "linked" {
		o.linked = map[string]any{"lanes": m["lanes"], "variant": m["variant"], "extensions": m["extensions"]}
	}
	body := m["body"]
	delete(m, "body")
	same(t, messageFacts(n), m)
	if m["type"] == "data" && m["mode"] == "aead" {
		same(t, facts{"body": n.bytes("encrypted")}, map[string]any{"body": body})
	} else if m["type"] == "data" {
		o.judgeBody(t, body.(string), n)
	}
}

// judgeBody compares a packet and its records.
func (o *oracle) judgeBody(t *testing.T, body string, n tree) {
	t.Helper()
	b, err := hex.DecodeString(body)
	if err != nil {
		t.Fatal(err)
	}
	p := ask("packet_decode", b, map[string]any{"fragment_size": 1024, "max_fragments": 16})["packet"].(map[string]any)
	got := packetFacts(n)
	payload, whole := p["payload"].(string)
	if whole {
		delete(p, "payload")
		delete(got, "payload")
	}
	same(t, got, p)
	if b, err = hex.DecodeString(payload); err != nil || !whole {
		return
	}
	same(t, recordsFacts(n), ask("connection_decode", b, o.linked)["records"])
}

// same compares what the dissector says with what the codecs say.
func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(textOf(plainFacts(want)), textOf(plainFacts(got))); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}
