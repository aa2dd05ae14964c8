package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/chunkwire/chunkwire/tools/inspect"
)

// capture is what a pcap or pcapng file has.
type capture struct {
	list      []inspect.Captured // without results
	payloads  [][]byte
	joined    int    // datagrams that were cut
	fragments int    // of IP, which are not put together
	others    int    // packets that are no UDP
	cutShort  int    // packets that the capture has in part
	damaged   string // why it ends early
}

// captureSource reads one packet after the other.
type captureSource interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// isCapture reports whether bytes begin as a pcap or pcapng file does.
func isCapture(b []byte) bool {
	if len(b) < 24 {
		return false
	}
	switch binary.LittleEndian.Uint32(b) {
	case 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1, 0x0a0d0d0a:
		return true
	}
	return false
}

// readCapture reads a file as far as it is sound.
func readCapture(b []byte) (*capture, error) {
	c := &capture{}
	in := bufio.NewReader(bytes.NewReader(b))
	var source captureSource
	var link func(gopacket.CaptureInfo) layers.LinkType
	if binary.LittleEndian.Uint32(b) == 0x0a0d0d0a {
		r, err := pcapgo.NewNgReader(in, pcapgo.NgReaderOptions{WantMixedLinkType: true})
		if err != nil {
			return nil, fmt.Errorf("no pcapng file: %w", err)
		}
		source, link = r, func(info gopacket.CaptureInfo) layers.LinkType {
			if i, err := r.Interface(info.InterfaceIndex); err == nil {
				return i.LinkType
			}
			return r.LinkType()
		}
	} else {
		r, err := pcapgo.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("no pcap file: %w", err)
		}
		source, link = r, func(gopacket.CaptureInfo) layers.LinkType { return r.LinkType() }
	}
	for {
		data, info, err := source.ReadPacketData()
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			c.damaged = err.Error()
			return c, nil
		}
		c.add(link(info), data, info)
	}
}

// add takes a packet apart.
func (c *capture) add(link layers.LinkType, data []byte, info gopacket.CaptureInfo) {
	p := gopacket.NewPacket(data, decoderOf(link, data), gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	udp, _ := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
	switch { // what is in UDP is not looked at: its port can be one of a protocol that holds IP
	case udp == nil && (p.Layer(gopacket.LayerTypeFragment) != nil || p.Layer(layers.LayerTypeIPv6Fragment) != nil):
		c.fragments++
		return
	case udp == nil:
		c.others++
		return
	case info.CaptureLength < info.Length && len(udp.Payload) < int(udp.Length)-8:
		c.cutShort++
		return
	}
	from, to := ends(p, udp)
	parts := inspect.Cut(udp.Payload)
	if len(parts) > 1 {
		c.joined++
	}
	for _, part := range parts {
		c.list = append(c.list, inspect.Captured{At: info.Timestamp, From: from, To: to})
		c.payloads = append(c.payloads, part)
	}
}

// decoderOf returns what takes a packet of a link apart: raw IP has its version in its first byte.
func decoderOf(link layers.LinkType, data []byte) gopacket.Decoder {
	switch link {
	case layers.LinkTypeRaw, 12, 14, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		if len(data) > 0 && data[0]>>4 == 6 {
			return layers.LayerTypeIPv6
		}
		return layers.LayerTypeIPv4
	case layers.LinkTypeLinuxSLL2:
		return layers.LayerTypeLinuxSLL2
	}
	return link
}

// ends returns the addresses of a datagram.
func ends(p gopacket.Packet, udp *layers.UDP) (from, to netip.AddrPort) {
	var src, dst netip.Addr
	switch ip := p.NetworkLayer().(type) {
	case *layers.IPv4:
		src, _ = netip.AddrFromSlice(ip.SrcIP)
		dst, _ = netip.AddrFromSlice(ip.DstIP)
	case *layers.IPv6:
		src, _ = netip.AddrFromSlice(ip.SrcIP)
		dst, _ = netip.AddrFromSlice(ip.DstIP)
	}
	return netip.AddrPortFrom(src.Unmap(), uint16(udp.SrcPort)), netip.AddrPortFrom(dst.Unmap(), uint16(udp.DstPort))
}

// inspect inspects all datagrams in their order. Where no candidate's protocol id fits, those that several
// datagrams have are tried.
func (c *capture) inspect(opts inspect.Options) {
	in := c.inspectOnce(opts)
	if found := in.ProtocolIDs(); len(found) > 0 && opts.As == inspect.Auto {
		opts.ProtocolIDs = append(opts.ProtocolIDs, found...)
		c.inspectOnce(opts)
	}
}

func (c *capture) inspectOnce(opts inspect.Options) *inspect.Inspector {
	in := inspect.New(opts)
	for i := range c.list {
		c.list[i].Result = in.Datagram(c.list[i].From, c.list[i].To, c.payloads[i])
	}
	return in
}

// writeClear writes the datagrams to a capture of raw IP packets, each alone, and in clear if it was opened.
func (c *capture) writeClear(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // what it holds was secret
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	w := pcapgo.NewWriterNanos(out)
	err = w.WriteFileHeader(1<<16, layers.LinkTypeRaw)
	for i := range c.list {
		d := &c.list[i]
		payload := d.Result.Clear
		if payload == nil {
			payload = c.payloads[i]
		}
		b, wrong := ipPacket(d.From, d.To, payload)
		if wrong == nil {
			wrong = w.WritePacket(gopacket.CaptureInfo{Timestamp: d.At, CaptureLength: len(b), Length: len(b)}, b)
		}
		if err == nil {
			err = wrong
		}
	}
	return errors.Join(err, out.Flush(), f.Close())
}

// ipPacket returns a datagram in UDP and IP.
func ipPacket(from, to netip.AddrPort, payload []byte) ([]byte, error) {
	udp := &layers.UDP{SrcPort: layers.UDPPort(from.Port()), DstPort: layers.UDPPort(to.Port())}
	var ip interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	}
	src, dst := from.Addr().AsSlice(), to.Addr().AsSlice()
	if from.Addr().Is4() && to.Addr().Is4() {
		ip = &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: src, DstIP: dst}
	} else {
		ip = &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP, SrcIP: src, DstIP: dst}
	}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		return nil, err
	}
	out := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(out, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ip, udp, gopacket.Payload(payload))
	return out.Bytes(), err
}
