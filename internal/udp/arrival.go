package udp

import (
	"errors"
	"net"
	"net/netip"
)

// Arrival is one or more datagrams of one peer that arrived together, with one value of the field ECN. They lie one
// after the other in Data and have Size bytes each, except the last, which can have fewer.
type Arrival struct {
	Data []byte
	Size int
	From Addr
	ECN  ECN
	Cut  bool // a datagram of which the socket could not give all
}

// Next takes the first datagram out of the arrival; false if the arrival is empty. A datagram can have no bytes.
func (a *Arrival) Next() (datagram []byte, ok bool) {
	if a.Size < 0 {
		return nil, false
	}
	if len(a.Data) <= a.Size {
		datagram, a.Data, a.Size = a.Data, nil, -1
		return datagram, true
	}
	datagram, a.Data = a.Data[:a.Size:a.Size], a.Data[a.Size:]
	return datagram, true
}

// readSize exceeds every UDP datagram, and what the system joins: some systems report one that does not fit as an
// error.
const readSize = 1 << 16

// single reads one datagram a call. It is for the goroutine that reads.
type single struct {
	buf []byte // made with the first call
	one [1]Arrival
}

// read gives the datagram of a method that reads to take. A failed read can have taken a datagram from the socket all
// the same, as one does that could not take all of it: such a socket works.
func (s *single) read(from func(buf []byte) (Arrival, error), take func([]Arrival)) error {
	if s.buf == nil {
		s.buf = make([]byte, readSize)
	}
	a, err := from(s.buf)
	if err != nil {
		if len(a.Data) == 0 && !MessageTooLong(err) || errors.Is(err, net.ErrClosed) {
			return err
		}
		a.Cut = true
	}
	s.one[0] = a
	take(s.one[:])
	return nil
}

// udpReader reads from a UDP socket: many datagrams a call where the system can. It is for the goroutine that reads.
type udpReader struct {
	*net.UDPConn
	peer    Addr         // the only one, as it was dialed, and not as the system names it; if there is one
	batch   *batchReader // nil: the system cannot
	input   single
	one     func(buf []byte) (Arrival, error) // r.readOne, made once
	control [controlSpace]byte
}

func newUDPReader(conn *net.UDPConn, peer Addr) udpReader {
	return udpReader{UDPConn: conn, peer: peer, batch: newBatchReader(conn, peer)}
}

func (r *udpReader) Gathers() bool { return r.batch != nil }

func (r *udpReader) HasRoom() bool { return r.batch != nil && r.batch.hasRoom() }

func (r *udpReader) Read(take func([]Arrival)) error {
	if r.batch != nil {
		ok, err := r.batch.read(take)
		if ok {
			return err
		}
		r.batch = nil
	}
	if r.one == nil {
		r.one = r.readOne
	}
	return r.input.read(r.one, take)
}

// readOne reads what one call gives that is for one datagram. Linux can have joined that, too.
func (r *udpReader) readOne(buf []byte) (Arrival, error) {
	a, port, err := Arrival{}, netip.AddrPort{}, error(nil)
	if hasControl {
		var control int
		a.Size, control, _, port, err = r.ReadMsgUDPAddrPort(buf, r.control[:])
		a.Data = buf[:max(0, a.Size)] // -1: nothing
		a.readControl(r.control[:control])
	} else {
		a.Size, port, err = r.ReadFromUDPAddrPort(buf)
		a.Data = buf[:max(0, a.Size)]
	}
	if a.From = r.peer; !r.peer.Known() {
		a.From = AddrOf(port)
	}
	return a, err
}
