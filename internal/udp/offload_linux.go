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
	udpGRO     = 104
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

// appendSegmentSize appends the control message UDP_SEGMENT, a number of 16 bits.
func appendSegmentSize(b []byte, size int) []byte {
	var number [2]byte
	binary.NativeEndian.PutUint16(number[:], uint16(size))
	return appendControl(b, solUDP, udpSegment, number[:])
}

// appendControl appends a control message: a cmsghdr, whose length is as wide as a pointer, and
// its data.
func appendControl(b []byte, level, kind uint32, data []byte) []byte {
	const header = strconv.IntSize/8 + 8
	end := len(b) + syscall.CmsgSpace(len(data))
	if strconv.IntSize == 64 {
		b = binary.NativeEndian.AppendUint64(b, uint64(header+len(data)))
	} else {
		b = binary.NativeEndian.AppendUint32(b, uint32(header+len(data)))
	}
	b = binary.NativeEndian.AppendUint32(b, level)
	b = binary.NativeEndian.AppendUint32(b, kind)
	b = append(b, data...)
	for len(b) < end {
		b = append(b, 0)
	}
	return b
}

// segmentsRefused reports whether the kernel did not take this run: the path to
// the peer is too narrow or encrypted, or its device lacks what the offload needs.
func segmentsRefused(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EIO)
}
