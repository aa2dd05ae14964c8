package udp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hasControl is true where a read gives the messages that readControl reads.
const hasControl = true

// batchSize is how many arrivals a call takes. Each has room for as much as the system joins.
const batchSize = 8

// batchReader takes many datagrams in a call: the datagrams of a run that the system has not cut or has joined (UDP_GRO, since
// Linux 5.0), and several runs (recvmmsg). It is for the goroutine that reads.
type batchReader struct {
	raw     syscall.RawConn
	peer    Addr                  // the only one, if there is one
	attempt func(fd uintptr) bool // r.try, made once
	in      *inbox                // with what arrived
	count   int
	err     error
	zone    zone
	poll    func(fd uintptr) // r.pollOut, made once
	room    [1]unix.PollFd   // of hasRoom
}

// message is struct mmsghdr of Linux.
type message struct {
	header unix.Msghdr
	size   uint32
}

// inbox is the memory of a call. A socket has one only while something is there: at rest thousands of sockets need no
// memory for reading.
type inbox struct {
	messages [batchSize]message
	vectors  [batchSize]unix.Iovec
	names    [batchSize]unix.RawSockaddrInet6 // which is larger than an address of IPv4
	arrivals [batchSize]Arrival
	controls [batchSize][controlSpace]byte
	data     [batchSize][readSize]byte
}

var inboxes = sync.Pool{New: func() any {
	in := new(inbox)
	for i := range in.messages {
		h := &in.messages[i].header
		in.vectors[i].Base = &in.data[i][0]
		in.vectors[i].SetLen(readSize)
		h.Iov = &in.vectors[i]
		h.SetIovlen(1)
		h.Name = (*byte)(unsafe.Pointer(&in.names[i]))
		h.Control = &in.controls[i][0]
	}
	return in
}}

// newBatchReader returns nil if the socket does not give its descriptor.
func newBatchReader(conn *net.UDPConn, peer Addr) *batchReader {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	r := &batchReader{raw: raw, peer: peer}
	r.attempt, r.poll = r.try, r.pollOut
	if os.Getenv(noOffload) == "" {
		raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), solUDP, udpGRO, 1) // an older kernel gives one by one
		})
	}
	return r
}

// hasRoom reports whether a write finds room now: half of the send buffer is free.
func (r *batchReader) hasRoom() bool {
	r.room[0].Revents = 0
	return r.raw.Control(r.poll) == nil && r.room[0].Revents&unix.POLLOUT != 0
}

func (r *batchReader) pollOut(fd uintptr) {
	r.room[0].Fd, r.room[0].Events = int32(fd), unix.POLLOUT
	_, _ = unix.Poll(r.room[:], 0)
}

// read gives what there is to take, or waits. It is not ok if the system has no such call.
func (r *batchReader) read(take func([]Arrival)) (ok bool, err error) {
	r.in, r.err = nil, nil
	if err := r.raw.Read(r.attempt); err != nil || r.err != nil {
		if r.err != nil {
			err = os.NewSyscallError("recvmmsg", r.err)
		}
		return r.err != syscall.ENOSYS && r.err != syscall.EPERM, err
	}
	in := r.in
	for i := range in.arrivals[:r.count] {
		in.arrivals[i] = r.arrival(in, i)
	}
	take(in.arrivals[:r.count])
	inboxes.Put(in)
	return true, nil
}

// try takes what there is; false to wait.
func (r *batchReader) try(fd uintptr) bool {
	in := inboxes.Get().(*inbox)
	for i := range in.messages {
		h := &in.messages[i].header
		h.Namelen = uint32(unsafe.Sizeof(in.names[i]))
		h.SetControllen(controlSpace)
	}
	for {
		n, _, errno := syscall.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&in.messages[0])), batchSize, unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			r.in, r.count = in, int(n)
			return true
		case syscall.EINTR:
			continue
		}
		inboxes.Put(in)
		if errno == syscall.EAGAIN {
			return false
		}
		r.err = errno
		return true
	}
}

// arrival returns what one of the messages holds.
func (r *batchReader) arrival(in *inbox, i int) Arrival {
	m := &in.messages[i]
	a := Arrival{Data: in.data[i][:m.size:m.size], Size: int(m.size), From: r.peer}
	if !r.peer.Known() {
		a.From = r.source(&in.names[i], m.header.Namelen)
	}
	a.Cut = m.header.Flags&unix.MSG_TRUNC != 0
	a.readControl(in.controls[i][:m.header.Controllen])
	return a
}

// source returns the address of the system's name for it.
func (r *batchReader) source(name *unix.RawSockaddrInet6, size uint32) Addr {
	port := func(p *uint16) uint16 { return binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(p))[:]) }
	switch {
	case name.Family == syscall.AF_INET && size >= syscall.SizeofSockaddrInet4:
		four := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		return AddrOf(netip.AddrPortFrom(netip.AddrFrom4(four.Addr), port(&four.Port)))
	case name.Family == syscall.AF_INET6 && size >= syscall.SizeofSockaddrInet6:
		ip := netip.AddrFrom16(name.Addr)
		if name.Scope_id != 0 {
			ip = ip.WithZone(r.zone.of(name.Scope_id))
		}
		return AddrOf(netip.AddrPortFrom(ip, port(&name.Port)))
	}
	return Addr{}
}

// zone is the name of an interface, of which addresses of one link need mostly one.
type zone struct {
	id   uint32
	name string
}

func (z *zone) of(id uint32) string {
	if z.id != id {
		z.id, z.name = id, strconv.Itoa(int(id))
		if i, err := net.InterfaceByIndex(int(id)); err == nil {
			z.name = i.Name
		}
	}
	return z.name
}
