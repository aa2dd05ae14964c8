// Package wireshark_test puts captures to tshark with the dissector of this folder, and compares
// what it says with the vectors and the codecs.
package wireshark_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var required = flag.Bool("tshark.required", false, "fail where tshark or tcpdump is missing")

// need skips a test, or fails it, if a command is missing.
func need(t *testing.T, command string) {
	t.Helper()
	if _, err := exec.LookPath(command); err == nil {
		return
	}
	if *required {
		t.Fatalf("there is no %s", command)
	}
	t.Skipf("there is no %s", command)
}

// datagram is one of a capture, over IPv4.
type datagram struct {
	from, to uint16 // ports
	data     []byte
}

// capture writes datagrams to a pcap file, one a millisecond, as raw IP.
func capture(t *testing.T, list []datagram) string {
	t.Helper()
	return captureShort(t, list, 1<<16)
}

// captureShort is capture for one that has only the first bytes of each frame.
func captureShort(t *testing.T, list []datagram, most int) string {
	t.Helper()
	const rawIP = 101
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = le.AppendUint16(le.AppendUint16(b, 2), 4)
	for _, v := range []uint32{0, 0, 1 << 17, rawIP} {
		b = le.AppendUint32(b, v)
	}
	for i, d := range list {
		ip := packetOf(d)
		here := min(len(ip), most)
		for _, v := range []uint32{uint32(i / 1000), uint32(i % 1000 * 1000), uint32(here), uint32(len(ip))} {
			b = le.AppendUint32(b, v)
		}
		b = append(b, ip[:here]...)
	}
	name := filepath.Join(t.TempDir(), "capture.pcap")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// packetOf returns the headers of IPv4 and UDP and the data. tshark checks no sums.
func packetOf(d datagram) []byte {
	be := binary.BigEndian
	ip := []byte{0x45, 0}
	ip = be.AppendUint16(ip, uint16(28+len(d.data)))
	ip = append(ip, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 1)
	for _, v := range []uint16{d.from, d.to, uint16(8 + len(d.data)), 0} {
		ip = be.AppendUint16(ip, v)
	}
	return append(ip, d.data...)
}

// tree is a part of what tshark says: values by the names of fields, and parts by those of
// fields that have such.
type tree struct {
	values map[string][]string
	parts  map[string][]tree
}

const prefix = "chunkwire."

// UnmarshalJSON reads an object of tshark.
func (n *tree) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	*n = tree{map[string][]string{}, map[string][]tree{}}
	for name, member := range members {
		name = strings.TrimPrefix(name, prefix)
		if values, ok := oneOrMore[string](member); ok {
			n.values[name] = values
		} else if parts, ok := oneOrMore[tree](member); ok {
			n.parts[strings.TrimSuffix(name, "_tree")] = parts
		}
	}
	return nil
}

// oneOrMore reads a value, or a list of values.
func oneOrMore[V any](text []byte) (list []V, ok bool) {
	if json.Unmarshal(text, &list) == nil {
		return list, true
	}
	var one V
	if json.Unmarshal(text, &one) != nil {
		return nil, false
	}
	return []V{one}, true
}

// has reports whether there is a field.
func (n tree) has(name string) bool { return len(n.values[name]) > 0 }

// text returns the value of a field that is there once, or nothing.
func (n tree) text(name string) string {
	if len(n.values[name]) != 1 {
		return ""
	}
	return n.values[name][0]
}

// number returns the value of a field that is there once, in decimal digits, or nothing.
func (n tree) number(name string) string { return decimal(n.text(name)) }

func decimal(text string) string {
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(v, 10)
}

// bytes returns the value of a field that is there once, in hex.
func (n tree) bytes(name string) string { return strings.ReplaceAll(n.text(name), ":", "") }

// frame is what tshark says of one.
type frame struct {
	ports     []int
	payload   []byte // of UDP
	datagrams []tree
}

// dissect returns what tshark says of a capture, and checks that the dissector had no error.
func dissect(t *testing.T, name string, preferences ...string) []frame {
	t.Helper()
	args := []string{"-2", "-T", "json", "--no-duplicate-keys", "-J", "udp chunkwire"}
	for _, p := range preferences {
		args = append(args, "-o", prefix+p)
	}
	out, err := tshark(t, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(out, []byte("Lua Error")); i >= 0 {
		t.Fatalf("%.500s", out[i:])
	}
	return framesOf(t, out)
}

// tshark reads a capture with the dissector. It fails if there is a word on standard error.
func tshark(t *testing.T, name string, args ...string) (out []byte, err error) {
	t.Helper()
	lua, err := filepath.Abs(dissector)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("tshark", append([]string{"-X", "lua_script:" + lua, "-r", name, "-n"}, args...)...)
	// Nothing that a user has configured counts, and no plugin is loaded twice.
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if out, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, complaints.Bytes())
	}
	for line := range strings.Lines(complaints.String()) {
		if !strings.HasPrefix(line, "Running as user \"root\"") {
			return nil, fmt.Errorf("tshark says: %s", line)
		}
	}
	return out, nil
}

func framesOf(t *testing.T, out []byte) (list []frame) {
	t.Helper()
	var all []struct {
		Source struct {
			Layers struct {
				UDP       tree
				Chunkwire json.RawMessage
			}
		} `json:"_source"`
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		layers := one.Source.Layers
		payload, err := hex.DecodeString(layers.UDP.bytes("udp.payload"))
		if err != nil {
			t.Fatal(err)
		}
		f := frame{payload: payload}
		for _, p := range layers.UDP.values["udp.port"] {
			number, _ := strconv.Atoi(p)
			f.ports = append(f.ports, number)
		}
		if layers.Chunkwire != nil {
			f.datagrams, _ = oneOrMore[tree](layers.Chunkwire)
		}
		list = append(list, f)
	}
	return list
}
