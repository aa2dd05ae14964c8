// Package reliable is a stand-in for the library reliable 1.4.0 by Glenn Fiedler, whose
// bytes the packet layer has: an endpoint with its wire format, its buffers and its
// behavior, as far as these are known from its documents and from recordings. It is not
// that library, and no port of its code: the test of this module puts to it what the
// library itself has sent and answered.
//
// It shares nothing with package packet. What it does as the library does, and packet
// does not: numbers of 16 bits are compared as they are; nothing times out; nothing is
// sent but what the caller sends; a reassembly takes the memory of all its fragments at
// once; headers that are not minimal are taken; the round trip is smoothed by 0.25 %.
package reliable

import "encoding/binary"

// The library's defaults.
const (
	FragmentSize  = 1024
	MaxFragments  = 16
	FragmentAbove = 1024

	numbersKept      = 256
	reassemblies     = 64
	smoothing        = 0.0025
	smallestFragment = 5
)

type (
	sent struct {
		at    int64
		acked bool
	}
	received   struct{}
	reassembly struct {
		here  [MaxFragments]bool
		count int // of fragments that are here
		total int
		last  int // bytes of the last fragment
		head  header
		data  []byte
	}
)

// Endpoint is one end of a connection.
type Endpoint struct {
	next     uint16
	sent     *buffer[sent]
	received *buffer[received]
	parts    *buffer[reassembly]
	rtt      float64 // microseconds

	// Invalid and Stale count datagrams that were not taken.
	Invalid, Stale int
}

// New returns an endpoint both of whose directions begin with a number.
func New(first uint16) *Endpoint {
	return &Endpoint{
		next: first, sent: newBuffer[sent](numbersKept, first),
		received: newBuffer[received](numbersKept, first), parts: newBuffer[reassembly](reassemblies, first),
	}
}

// RTT returns the smoothed round trip in microseconds.
func (e *Endpoint) RTT() float64 { return e.rtt }

// header is that of a packet.
type header struct {
	sequence, ack uint16
	bits          uint32
}

// append appends the header's bytes.
func (h header) append(b []byte) []byte {
	prefix := byte(0)
	var bytes []byte
	for i := range 4 {
		if v := byte(h.bits >> (8 * i)); v != 0xff {
			prefix |= 2 << i
			bytes = append(bytes, v)
		}
	}
	distance := int(h.sequence) - int(h.ack)
	if distance < 0 {
		distance += 65536
	}
	if distance <= 255 {
		prefix |= 1 << 5
	}
	b = append(b, prefix, byte(h.sequence), byte(h.sequence>>8))
	if distance <= 255 {
		b = append(b, byte(distance))
	} else {
		b = append(b, byte(h.ack), byte(h.ack>>8))
	}
	return append(b, bytes...)
}

// Header returns the bytes of a header.
func Header(sequence, ack uint16, bits uint32) []byte {
	return header{sequence, ack, bits}.append(nil)
}

// readHeader returns a header and what follows it.
func readHeader(b []byte) (h header, rest []byte, ok bool) {
	take := func(n int) (v []byte) {
		if ok = ok && len(b) >= n; ok {
			v, b = b[:n], b[n:]
			return v
		}
		return make([]byte, n)
	}
	ok = true
	prefix := take(1)[0]
	h.sequence = binary.LittleEndian.Uint16(take(2))
	if prefix&(1<<5) != 0 {
		h.ack = h.sequence - uint16(take(1)[0])
	} else {
		h.ack = binary.LittleEndian.Uint16(take(2))
	}
	h.bits = 0xffffffff
	for i := range 4 {
		if prefix&(2<<i) != 0 {
			h.bits &^= 0xff << (8 * i)
			h.bits |= uint32(take(1)[0]) << (8 * i)
		}
	}
	return h, b, ok && prefix&1 == 0
}

// Send returns the datagrams of a payload, and its number.
func (e *Endpoint) Send(now int64, payload []byte) (datagrams [][]byte, number uint16) {
	h := header{sequence: e.next}
	h.ack, h.bits = e.received.acks()
	e.next++
	*e.sent.insert(h.sequence) = sent{at: now}
	if len(payload) <= FragmentAbove {
		return [][]byte{append(h.append(nil), payload...)}, h.sequence
	}
	count := (len(payload) + FragmentSize - 1) / FragmentSize
	for id := range count {
		b := []byte{1, byte(h.sequence), byte(h.sequence >> 8), byte(id), byte(count - 1)}
		if id == 0 {
			b = h.append(b)
		}
		part := payload[id*FragmentSize : min((id+1)*FragmentSize, len(payload))]
		datagrams = append(datagrams, append(b, part...))
	}
	return datagrams, h.sequence
}

// Receive takes a datagram. It returns the payload that it completes, or nil, and the
// numbers that were acked.
func (e *Endpoint) Receive(now int64, datagram []byte) (number uint16, payload []byte, acked []uint16) {
	if len(datagram) > 0 && datagram[0]&1 == 1 {
		return e.fragment(now, datagram)
	}
	h, payload, ok := readHeader(datagram)
	if !ok {
		e.Invalid++
		return 0, nil, nil
	}
	return e.packet(now, h, payload)
}

func (e *Endpoint) packet(now int64, h header, payload []byte) (uint16, []byte, []uint16) {
	if !e.received.fits(h.sequence) || e.received.find(h.sequence) != nil {
		e.Stale++
		return 0, nil, nil
	}
	e.received.insert(h.sequence)
	e.parts.advance(h.sequence)
	return h.sequence, payload, e.acks(now, h)
}

func (e *Endpoint) acks(now int64, h header) (acked []uint16) {
	for n := range uint16(32) {
		number := h.ack - n
		if h.bits>>n&1 == 0 {
			continue
		}
		s := e.sent.find(number)
		if s == nil || s.acked {
			continue
		}
		s.acked = true
		acked = append(acked, number)
		rtt := float64(now - s.at)
		if e.rtt == 0 {
			e.rtt = rtt
		} else {
			e.rtt += (rtt - e.rtt) * smoothing
		}
	}
	return acked
}

func (e *Endpoint) fragment(now int64, b []byte) (uint16, []byte, []uint16) {
	if len(b) <= smallestFragment || b[0] != 1 || int(b[4])+1 > MaxFragments || b[3] > b[4] {
		e.Invalid++
		return 0, nil, nil
	}
	number, id, total := binary.LittleEndian.Uint16(b[1:]), int(b[3]), int(b[4])+1
	data, h, ok := b[smallestFragment:], header{}, true
	if id == 0 {
		h, data, ok = readHeader(data)
	}
	if !ok || id == 0 && h.sequence != number || len(data) > FragmentSize || id < total-1 && len(data) != FragmentSize {
		e.Invalid++
		return 0, nil, nil
	}
	if e.received.find(number) != nil {
		e.Stale++
		return 0, nil, nil
	}
	r := e.parts.find(number)
	if r == nil {
		if r = e.parts.insert(number); r == nil {
			e.Stale++
			return 0, nil, nil
		}
		r.total, r.data = total, make([]byte, total*FragmentSize)
		e.received.advance(number)
	}
	if r.total != total || r.here[id] {
		e.Stale++
		return 0, nil, nil
	}
	r.here[id] = true
	r.count++
	copy(r.data[id*FragmentSize:], data)
	if id == 0 {
		r.head = h
	}
	if id == total-1 {
		r.last = len(data)
	}
	if r.count < total {
		return 0, nil, nil
	}
	h, data = r.head, r.data[:(total-1)*FragmentSize+r.last]
	e.parts.remove(number)
	return e.packet(now, h, data)
}
