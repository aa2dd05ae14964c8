package udp

import (
	"encoding/binary"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// canMark asks the kernel for the field of each datagram that arrives. A socket of IPv6 can get
// datagrams of IPv4, too.
func canMark(conn *net.UDPConn) (can bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	raw.Control(func(fd uintptr) {
		err4 := syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, syscall.IP_RECVTOS, 1)
		err6 := syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1)
		can = err4 == nil || err6 == nil
	})
	return can
}

// readControl takes the field and the size of the datagrams out of control messages. The kernel joins only datagrams
// whose fields are equal.
func (a *Arrival) readControl(control []byte) {
	for known := false; len(control) >= unix.SizeofCmsghdr; {
		head, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return
		}
		switch {
		case !known && head.Level == syscall.IPPROTO_IP && head.Type == syscall.IP_TOS && len(data) >= 1:
			a.ECN, known = ECN(data[0])&CE, true
		case !known && head.Level == syscall.IPPROTO_IPV6 && head.Type == unix.IPV6_TCLASS && len(data) >= 4:
			a.ECN, known = ECN(binary.NativeEndian.Uint32(data))&CE, true
		case head.Level == solUDP && head.Type == udpGRO && len(data) >= 4:
			if size := int(binary.NativeEndian.Uint32(data)); size > 0 {
				a.Size = min(size, len(a.Data))
			}
		}
		control = rest
	}
}

// appendECT appends the control message that sets the field to ECT(0).
func appendECT(b []byte, ipv6 bool) []byte {
	var number [4]byte
	binary.NativeEndian.PutUint32(number[:], uint32(ECT0))
	if ipv6 {
		return appendControl(b, syscall.IPPROTO_IPV6, unix.IPV6_TCLASS, number[:])
	}
	return appendControl(b, syscall.IPPROTO_IP, syscall.IP_TOS, number[:])
}
