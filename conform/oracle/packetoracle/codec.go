package packetoracle

import "github.com/chunkwire/chunkwire/conform/oracle/stream"

// Header is what every packet carries once (PKT-1).
type Header struct {
	Sequence uint16
	Ack      uint16
	AckBits  uint32
}

// Packet is a regular packet, or a fragment.
type Packet struct {
	IsFragment bool
	Header     Header // of a fragment other than the first it has Sequence only
	Data       []byte // the payload, or the fragment's part of it

	ID, Count int // of a fragment
}

// HasHeader reports whether a packet carries acks.
func (p *Packet) HasHeader() bool { return !p.IsFragment || p.ID == 0 }

// EncodeHeader returns the bytes of a header (PKT-1, PKT-2).
func EncodeHeader(h Header) []byte {
	var s stream.Stream
	addHeader(&s, h)
	return s.Pack()
}

// EncodeRegular returns a regular packet.
func EncodeRegular(h Header, payload []byte) []byte { return append(EncodeHeader(h), payload...) }

// EncodeFragment returns the fragment id of count. data is its part of the payload.
func EncodeFragment(h Header, id, count int, data []byte) []byte {
	var s stream.Stream
	s.Bits(1, 8)
	s.Bits(uint64(h.Sequence), 16)
	s.Bits(uint64(id), 8)
	s.Bits(uint64(count-1), 8)
	if id == 0 {
		addHeader(&s, h)
	}
	return append(s.Pack(), data...)
}

// Distance is how far a packet's number is ahead of its ack.
func (h Header) Distance() int { return modulo(int64(h.Sequence) - int64(h.Ack)) }

func addHeader(s *stream.Stream, h Header) {
	var parts [4]uint64
	for n := range parts {
		parts[n] = uint64(h.AckBits) >> (8 * n) & 0xFF
	}
	near := h.Distance() <= 255
	s.Bool(false)
	for _, part := range parts {
		s.Bool(part != 0xFF)
	}
	s.Bool(near)
	s.Bits(0, 2)
	s.Bits(uint64(h.Sequence), 16)
	if near {
		s.Bits(uint64(h.Distance()), 8)
	} else {
		s.Bits(uint64(h.Ack), 16)
	}
	for _, part := range parts {
		if part != 0xFF {
			s.Bits(part, 8)
		}
	}
}

// modulo is v mod 65536, which is never negative.
func modulo(v int64) int {
	for v < 0 {
		v += 65536 * (1 + -v/65536)
	}
	return int(v % 65536)
}

// Limits are those of section 2 that both ends share.
type Limits struct{ FragmentSize, MaxFragments int }

// MaxPacket is the most bytes of a payload.
func (l Limits) MaxPacket() int { return l.FragmentSize * l.MaxFragments }

// Decode decodes a datagram: PKD-1 to PKD-11, in this order. Its error is an *Error.
func Decode(l Limits, datagram []byte) (p Packet, err error) {
	r := reader{stream.NewReader(datagram)}
	if r.left() < 1 {
		return p, r.fault(Truncated, "PKD-1", 0)
	}
	prefix := r.Bits(8)
	p.IsFragment = prefix&1 == 1
	if p.IsFragment && prefix != 1 || !p.IsFragment && prefix>>6 != 0 {
		return p, r.fault(ReservedBits, "PKD-2", 0)
	}
	if r.left() < 2 {
		return p, r.fault(Truncated, "PKD-3", 1)
	}
	p.Header.Sequence = uint16(r.Bits(16))
	if p.IsFragment {
		err = r.fragment(l, &p)
	} else {
		err = r.regular(l, &p, prefix)
	}
	if err != nil {
		return Packet{}, err
	}
	return p, nil
}

// reader reads whole bytes.
type reader struct{ *stream.Reader }

func (r reader) left() int { return r.Left() / 8 }
func (r reader) at() int   { return r.At() / 8 }

func (r reader) fault(code, check string, at int) error {
	return &Error{Code: code, Check: check, At: at}
}

// acks reads what follows the sequence of a header: PKD-4 and PKD-5.
func (r reader) acks(h *Header, prefix uint64) error {
	size, at := 2, r.at()
	if prefix>>5&1 == 1 {
		size = 1
	}
	if r.left() < size {
		return r.fault(Truncated, "PKD-4", at)
	}
	if size == 1 {
		h.Ack = uint16(modulo(int64(h.Sequence) - int64(r.Bits(8))))
	} else if h.Ack = uint16(r.Bits(16)); h.Distance() <= 255 {
		return r.fault(NotMinimal, "PKD-4", at)
	}
	for n := range 4 {
		part := uint64(0xFF)
		if prefix>>(1+n)&1 == 1 {
			at := r.at()
			if r.left() < 1 {
				return r.fault(Truncated, "PKD-5", at)
			}
			if part = r.Bits(8); part == 0xFF {
				return r.fault(NotMinimal, "PKD-5", at)
			}
		}
		h.AckBits |= uint32(part) << (8 * n)
	}
	return nil
}

func (r reader) regular(l Limits, p *Packet, prefix uint64) error {
	if err := r.acks(&p.Header, prefix); err != nil {
		return err
	}
	switch {
	case r.left() < 1:
		return r.fault(EmptyPayload, "PKD-6", r.at())
	case r.left() > l.MaxPacket():
		return r.fault(TooLarge, "PKD-6", r.at())
	}
	p.Data = r.Bytes(r.left())
	return nil
}

func (r reader) fragment(l Limits, p *Packet) error {
	if r.left() < 1 {
		return r.fault(Truncated, "PKD-7", 3)
	}
	p.ID = int(r.Bits(8))
	if r.left() < 1 {
		return r.fault(Truncated, "PKD-7", 4)
	}
	p.Count = int(r.Bits(8)) + 1
	switch {
	case p.Count > l.MaxFragments:
		return r.fault(TooManyFragments, "PKD-8", 4)
	case p.Count < 2:
		return r.fault(SingleFragment, "PKD-8", 4)
	case p.ID >= p.Count:
		return r.fault(FragmentIDOutOfRange, "PKD-9", 3)
	}
	if p.ID == 0 {
		if err := r.embedded(p); err != nil {
			return err
		}
	}
	at, size := r.at(), r.left()
	last := p.ID == p.Count-1
	if size > l.FragmentSize || last && size < 1 || !last && size != l.FragmentSize {
		return r.fault(FragmentSizeIsAnother, "PKD-11", at)
	}
	p.Data = r.Bytes(size)
	return nil
}

// embedded reads the header in the first fragment (PKD-10), by the steps of PKD-14.
func (r reader) embedded(p *Packet) error {
	if r.left() < 1 {
		return r.fault(Truncated, "PKD-14", 5)
	}
	prefix := r.Bits(8)
	if prefix&1 != 0 || prefix>>6 != 0 {
		return r.fault(ReservedBits, "PKD-14", 5)
	}
	if r.left() < 2 {
		return r.fault(Truncated, "PKD-14", 6)
	}
	inner := Header{Sequence: uint16(r.Bits(16))}
	if err := r.acks(&inner, prefix); err != nil {
		return err
	}
	if inner.Sequence != p.Header.Sequence {
		return r.fault(SequenceMismatch, "PKD-14", 6)
	}
	p.Header = inner
	return nil
}
