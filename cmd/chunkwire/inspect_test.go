package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/tools/inspect"
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

// wrap puts bytes into UDP, IP and what a link has around it: IPv6 if the link has it, or is Linux's second kind
// of cooked ones.
func wrap(t testing.TB, link layers.LinkType, from, to int, b []byte) []byte {
	t.Helper()
	udp := &layers.UDP{SrcPort: layers.UDPPort(1000 * from), DstPort: layers.UDPPort(1000 * to)}
	var ip interface {
		gopacket.SerializableLayer
		gopacket.NetworkLayer
	}
	ip = &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{192, 0, 2, byte(from)}, DstIP: net.IP{192, 0, 2, byte(to)}}
	if link == layers.LinkTypeIPv6 || link == layers.LinkTypeLinuxSLL2 {
		address := func(n int) net.IP { return net.ParseIP(fmt.Sprintf("2001:db8::%d", n)) }
		ip = &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP, SrcIP: address(from), DstIP: address(to)}
	}
	check.Must(0, udp.SetNetworkLayerForChecksum(ip))
	return serialize(append(around(link), ip, udp, gopacket.Payload(b)))
}

// around returns what a link has around IP.
func around(link layers.LinkType) []gopacket.SerializableLayer {
	switch link {
	case layers.LinkTypeEthernet:
		mac := net.HardwareAddr{0, 0, 0, 0, 0, 0}
		vlan := &layers.Dot1Q{VLANIdentifier: 5, Type: layers.EthernetTypeIPv4}
		return []gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeDot1Q}, vlan}
	case layers.LinkTypeNull:
		return []gopacket.SerializableLayer{&layers.Loopback{Family: layers.ProtocolFamilyIPv4}}
	case layers.LinkTypeLinuxSLL: // type, kind of address, its length, address, protocol
		return []gopacket.SerializableLayer{gopacket.Payload{0, 0, 0x03, 0x04, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x00}}
	case layers.LinkTypeLinuxSLL2: // protocol, reserved, interface, kind of address, type, length, address
		return []gopacket.SerializableLayer{gopacket.Payload{0x86, 0xDD, 0, 0, 0, 0, 0, 1, 0x03, 0x04, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0}}
	}
	return nil
}

func serialize(list []gopacket.SerializableLayer) []byte {
	out := gopacket.NewSerializeBuffer()
	check.Must(0, gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, list...))
	return out.Bytes()
}

// captureWriter writes a pcap or pcapng file.
func captureWriter(t testing.TB, file io.Writer, link layers.LinkType, ng bool) (w interface {
	WritePacket(gopacket.CaptureInfo, []byte) error
}, flush func() error) {
	t.Helper()
	if ng {
		w := check.Must(pcapgo.NewNgWriter(file, link))
		return w, w.Flush
	}
	old := pcapgo.NewWriter(file)
	check.Must(0, old.WriteFileHeader(65536, link))
	return old, func() error { return nil }
}

// captureOf makes a capture of a chunk of 4 slices, of which the second is lost and sent again after one
// that came later.
func captureOf(t testing.TB, link layers.LinkType, ng, joined bool) []byte {
	t.Helper()
	var file bytes.Buffer
	now := time.Unix(1_700_000_000, 0)
	w, flush := captureWriter(t, &file, link, ng)
	write := func(b []byte) {
		check.Must(0, w.WritePacket(gopacket.CaptureInfo{Timestamp: now, CaptureLength: len(b), Length: len(b)}, b))
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
	ack := func(set core.Set) {
		now = now.Add(40 * time.Millisecond)
		write(wrap(t, link, 2, 1, check.Must(framer.AppendAck(nil, codec.Ack{NumSlices: 4, Acked: set}))))
	}
	ack(core.Set{0b1101})
	write(wrap(t, link, 1, 2, slice(nil, 1)))
	ack(core.Set{0b1111})
	check.Must(0, flush())
	return file.Bytes()
}

// What inspect prints of a capture.
func TestInspectPrintsAStory(t *testing.T) {
	r := runCommand(t, bytes.NewReader(captureOf(t, layers.LinkTypeRaw, false, true)), "inspect", "--each")
	check.Same(t, "what is printed", r.stdout, `7 datagrams; 1 packet of segmentation offload cut
  0.000000  192.0.2.1:1000 > 192.0.2.2:2000  slice 0 of chunk 0, which has 4 slices; 1024 bytes
  0.000000  192.0.2.1:1000 > 192.0.2.2:2000  slice 1 of chunk 0, which has 4 slices; 1024 bytes
  0.000000  192.0.2.1:1000 > 192.0.2.2:2000  slice 2 of chunk 0, which has 4 slices; 1024 bytes
  0.001000  192.0.2.1:1000 > 192.0.2.2:2000  slice 3 of chunk 0, which has 4 slices; 1024 bytes
  0.041000  192.0.2.2:2000 > 192.0.2.1:1000  ack: chunk 0, 3 of 4 slices
  0.041000  192.0.2.1:1000 > 192.0.2.2:2000  slice 1 of chunk 0, which has 4 slices; 1024 bytes
  0.081000  192.0.2.2:2000 > 192.0.2.1:1000  ack: chunk 0 complete, 4 slices

A 192.0.2.1:1000, B 192.0.2.2:2000: chunks, protocol id 0x11223344, 1 lane, 0.081 s
      0.000  A begins chunk 0 on lane 0, 4 slices
      0.081  B has all of chunk 0 on lane 0 after 0.081 s; 5 slices for 4; 1 again: 1 lost
  A sent 5 datagrams, 5186 bytes
  B sent 2 datagrams, 24 bytes
  lost between the capture and B: 1 of 5 slices of A (20.0 %)
  round trip between the capture and B: 41.0 ms (40.0 to 41.0, 3 samples)
  end: the capture ends with its chunk complete
  verdict: nobody was at fault; the path lost 20.0 % of what 192.0.2.1:1000 sent.
`)
}

// captureLinks are the links of captures.
var captureLinks = []layers.LinkType{layers.LinkTypeEthernet, layers.LinkTypeNull, layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6, layers.LinkTypeLinuxSLL, layers.LinkTypeLinuxSLL2}

// A capture of any kind has the same story, whether datagrams were joined or not.
func TestInspectCaptures(t *testing.T) {
	for _, link := range captureLinks {
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
				check.Same(t, "verdict", s.Verdict, "nobody was at fault; the path lost 20.0 % of what "+s.Ends[0].Address+" sent.")
			}
		}
	}
}

// IP fragments, other packets, and those that the capture has in part are counted.
func TestInspectLeavesOut(t *testing.T) {
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	check.Must(0, w.WriteFileHeader(65536, layers.LinkTypeRaw))
	write := func(b []byte, size int) {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(1, 0), CaptureLength: len(b), Length: size}
		check.Must(0, w.WritePacket(info, b))
	}
	ack := check.Must(codec.NewFramer(defaultProtocolID).AppendAck(nil, codec.Ack{NumSlices: 4}))
	whole := wrap(t, layers.LinkTypeRaw, 1, 2, ack)
	write(whole, len(whole))
	write(whole[:36], len(whole))
	ip := layers.IPv4{Version: 4, TTL: 64, SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2}}
	for _, part := range []struct {
		protocol layers.IPProtocol
		flags    layers.IPv4Flag
		offset   uint16
	}{{layers.IPProtocolUDP, layers.IPv4MoreFragments, 0}, {layers.IPProtocolUDP, 0, 185}, {layers.IPProtocolTCP, 0, 0}} {
		ip.Protocol, ip.Flags, ip.FragOffset = part.protocol, part.flags, part.offset
		b := serialize([]gopacket.SerializableLayer{&ip, gopacket.Payload(make([]byte, 64))})
		write(b, len(b))
	}
	ip.Protocol, ip.Flags, ip.FragOffset = layers.IPProtocolUDP, layers.IPv4MoreFragments, 0
	vxlan := &layers.UDP{SrcPort: 1000, DstPort: 4789} // a port of which more is known is as good as another
	check.Must(0, vxlan.SetNetworkLayerForChecksum(&ip))
	inside := serialize([]gopacket.SerializableLayer{&layers.VXLAN{}, &layers.Ethernet{EthernetType: layers.EthernetTypeIPv4, SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6)}, &ip, gopacket.Payload(make([]byte, 64))})
	ip.Flags = 0
	outside := serialize([]gopacket.SerializableLayer{&ip, vxlan, gopacket.Payload(inside)})
	write(outside, len(outside))
	r := runCommand(t, &file, "inspect")
	check.Same(t, "exit code", r.code, exitOK)
	head, _, _ := strings.Cut(r.stdout, "\n")
	check.Same(t, "what is left out", head, "2 datagrams; left out: 2 IP fragments, 1 packet without UDP, 1 packet that the capture has in part")
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

// The JSON in the help has only members that there are, and those of the examples that are there have these values.
func TestInspectHelpShowsJSON(t *testing.T) {
	text := newInspect().Long
	object := func(begins, ends string, into any) {
		_, b, _ := strings.Cut(text, begins)
		b, _, _ = strings.Cut(b, ends)
		d := json.NewDecoder(strings.NewReader(begins + b + ends))
		d.DisallowUnknownFields()
		check.Must(0, d.Decode(into))
	}
	var said, is inspect.Result
	object(`{"protocol"`, `]}`, &said)
	r := runCommand(t, nil, "inspect", "--json", "608465cbbd810100e2ac0899")
	check.Must(0, json.Unmarshal([]byte(r.stdout), &is))
	said.Fields, is.Fields = said.Fields[:1], is.Fields[:1]
	said.Notes, is.Notes = nil, nil
	check.Equal(t, "a datagram", check.Must(json.Marshal(said)), check.Must(json.Marshal(is)))

	var told, was captureReport
	object(`{"datagrams"`, `"..."}]}`, &told)
	r = runCommand(t, bytes.NewReader(captureOf(t, layers.LinkTypeRaw, false, true)), "inspect", "--json")
	check.Must(0, json.Unmarshal([]byte(r.stdout), &was))
	a, b := told.Stories[0], was.Stories[0]
	check.Equal(t, "an end", a.Ends[0], b.Ends[0])
	b.Chunks[0].Judged, b.Chunks[0].Have, b.Chunks[0].Began, b.Chunks[0].Completed = 0, 0, 0, 0
	check.Equal(t, "a chunk", check.Must(json.Marshal(a.Chunks[0])), check.Must(json.Marshal(b.Chunks[0])))
}
