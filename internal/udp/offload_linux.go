package udp

import (
	"encoding/binary"
	"errors"
	"net"
	"strconv"
	"syscall"
)

// From linux/udp.h; the syscall package has no names for them.
const (
	solUDP     = 17
	udpSegment = 103
)

// canOffload asks the kernel whether it knows the option: Linux does since 4.18.
func canOffload(conn *net.UDPConn) (can bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	raw.Control(func(fd uintptr) {
		_, err := syscall.GetsockoptInt(int(fd), solUDP, udpSegment)
		can = err == nil
	})
	return can
}

// appendSegmentSize appends the control message UDP_SEGMENT: a cmsghdr, whose
// length is as wide as a pointer, and a number of 16 bits.
func appendSegmentSize(b []byte, size int) []byte {
	const header, payload = strconv.IntSize/8 + 8, 2
	if strconv.IntSize == 64 {
		b = binary.NativeEndian.AppendUint64(b, header+payload)
	} else {
		b = binary.NativeEndian.AppendUint32(b, header+payload)
	}
	b = binary.NativeEndian.AppendUint32(b, solUDP)
	b = binary.NativeEndian.AppendUint32(b, udpSegment)
	b = binary.NativeEndian.AppendUint16(b, uint16(size))
	for len(b) < syscall.CmsgSpace(payload) {
		b = append(b, 0)
	}
	return b
}

// deviceCannot reports whether the kernel knows the offload but the device cannot
// do what it needs, so that every run will fail.
func deviceCannot(err error) bool { return errors.Is(err, syscall.EIO) }

// segmentsRefused reports whether the kernel did not take this run: the path to
// the peer is too narrow, or a driver takes no run at all.
func segmentsRefused(err error) bool { return errors.Is(err, syscall.EINVAL) }
