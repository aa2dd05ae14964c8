package main

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/inspect"
	"github.com/chunkwire/chunkwire/internal/check"
)

// What inspect prints of datagrams, and how it ends.
func TestInspectDatagrams(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  string
		stdin string
		code  int
		want  string // each line of it is in what is printed
	}{
		{"an ack", "60:84:65:cb bd810100 0xe2ac0899", "", exitOK, `chunks, 12 bytes: ack: chunk 49374, 0 of 1 slice
  protocol id 0x11223344, lane 0 of 1
      33    16  chunk_id               49374                         ACK-1
      57     1  acked                  0  (0 of 1)                   ACK-2
      64    32  end_check              0x9908ace2                    FRM-6`},
		{"lines", "", "608465cbbd810100e2ac0899\n\n2064000178\n", exitOK, "chunks, 12 bytes\npackets, 5 bytes: packet 100, 1 byte"},
		{"another protocol id", "--protocol-id 7 9e3c8bab0300040ee2ac0899", "", exitMismatch, "crc_mismatch at bit 0"},
		{"a record", "--as records --explain 06010200ff", "", exitMismatch, "unknown_record at byte 4\nCHR-21 (required, spec/CHANNELS.md"},
		{"bits", "--bits 608465cbbd810100e2ac0899", "", exitOK, "       4  bd   10111101  type | chunk_id"},
		{"a field", "--field crc 608465cbbd810100e2ac0899", "", exitOK, "FRM-2 (required, spec/PROTOCOL.md"},
		{"nothing", "", "", exitMismatch, "unknown, 0 bytes"},
		{"no digits", "xyz", "", exitUsage, ""},
		{"no protocol", "--as tcp 00", "", exitUsage, ""},
		{"no file", "--file /nonexistent", "", exitFailed, ""},
	} {
		r := runCommand(t, strings.NewReader(c.stdin), append([]string{"inspect"}, strings.Fields(c.args)...)...)
		check.Same(t, c.name+": exit code", r.code, c.code)
		for _, line := range strings.Split(c.want, "\n") {
			check.That(t, strings.Contains(r.stdout, line), c.name+": "+line+" is in:\n"+r.stdout+r.stderr)
		}
	}
}

// wrap puts bytes into UDP, IP and what a link has around it.
func wrap(t testing.TB, link layers.LinkType, from, to int, b []byte) []byte {
	t.Helper()
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{192, 0, 2, byte(from)}, DstIP: net.IP{192, 0, 2, byte(to)}}
	udp := &layers.UDP{SrcPort: layers.UDPPort(1000 * from), DstPort: layers.UDPPort(1000 * to)}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	list := []gopacket.SerializableLayer{ip, udp, gopacket.Payload(b)}
	switch link {
	case layers.LinkTypeEthernet:
		mac := net.HardwareAddr{0, 0, 0, 0, 0, 0}
		vlan := &layers.Dot1Q{VLANIdentifier: 5, Type: layers.EthernetTypeIPv4}
		list = append([]gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeDot1Q}, vlan}, list...)
	case layers.LinkTypeNull:
		list = append([]gopacket.SerializableLayer{&layers.Loopback{Family: layers.ProtocolFamilyIPv4}}, list...)
	}
	out := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, list...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// captureOf makes a capture of a chunk of 4 slices, of which the second is lost and sent again after one
// that came later.
func captureOf(t testing.TB, link layers.LinkType, ng, joined bool) []byte {
	t.Helper()
	var file bytes.Buffer
	now := time.Unix(1_700_000_000, 0)
	var write func(b []byte)
	if ng {
		w, err := pcapgo.NewNgWriter(&file, link)
		if err != nil {
			t.Fatal(err)
		}
		write = func(b []byte) {
			err = w.WritePacket(gopacket.CaptureInfo{Timestamp: now, CaptureLength: len(b), Length: len(b)}, b)
			if err = w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	} else {
		w := pcapgo.NewWriter(&file)
		if err := w.WriteFileHeader(65536, link); err != nil {
			t.Fatal(err)
		}
		write = func(b []byte) {
			if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: now, CaptureLength: len(b), Length: len(b)}, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	framer := codec.NewFramer(defaultProtocolID)
	slice := func(b []byte, id int) []byte {
		return check.Must(framer.AppendSlice(b, codec.Slice{SliceID: id, NumSlices: 4, Data: make([]byte, codec.SliceSize)}))
	}
	var run []byte
	for id := range 3 {
		if run = slice(run, id); !joined {
			write(wrap(t, link, 1, 2, run))
			now, run = now.Add(time.Millisecond), nil
		}
	}
	if joined {
		write(wrap(t, link, 1, 2, run))
		now = now.Add(time.Millisecond)
	}
	write(wrap(t, link, 1, 2, slice(nil, 3)))
	ack := func(set bitset.Set) {
		now = now.Add(40 * time.Millisecond)
		write(wrap(t, link, 2, 1, check.Must(framer.AppendAck(nil, codec.Ack{NumSlices: 4, Acked: set}))))
	}
	ack(bitset.Set{0b1101})
	write(wrap(t, link, 1, 2, slice(nil, 1)))
	ack(bitset.Set{0b1111})
	return file.Bytes()
}

// A capture of any kind tells the same story, whether datagrams were joined or not.
func TestInspectCaptures(t *testing.T) {
	for _, link := range []layers.LinkType{layers.LinkTypeEthernet, layers.LinkTypeNull, layers.LinkTypeRaw} {
		for _, ng := range []bool{false, true} {
			for _, joined := range []bool{false, true} {
				r := runCommand(t, bytes.NewReader(captureOf(t, link, ng, joined)), "inspect", "--json")
				check.Same(t, "exit code", r.code, exitOK)
				var report captureReport
				if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
					t.Fatal(err)
				}
				check.That(t, report.Datagrams == 7 && len(report.Stories) == 1, "7 datagrams, one story: "+r.stdout)
				check.Same(t, "cut", report.Joined == 1, joined)
				s := report.Stories[0]
				check.Equal(t, "why slices were sent again", s.Chunks[0].Resent, inspect.Resent{Lost: 1})
				check.Same(t, "verdict", s.Verdict, "nobody was at fault; the path lost 20.0 % of what 192.0.2.1:1000 sent.")
			}
		}
	}
}

// Any bytes that begin as a capture are read as far as they are sound.
func FuzzCapture(f *testing.F) {
	for _, ng := range []bool{false, true} {
		f.Add(captureOf(f, layers.LinkTypeEthernet, ng, true))
		f.Add(captureOf(f, layers.LinkTypeRaw, ng, false))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !isCapture(b) {
			return
		}
		c, err := readCapture(b)
		if err != nil {
			return
		}
		c.inspect(inspect.Options{ProtocolIDs: []uint32{defaultProtocolID}})
		if _, err := json.Marshal(inspect.Stories(c.list)); err != nil {
			t.Fatal(err)
		}
	})
}
