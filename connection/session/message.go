package session

import (
	"encoding/binary"

	"github.com/chunkwire/chunkwire/core"
)

// Kind is the first byte of a datagram. Those of data are modes.
type Kind uint8

// The kinds (section 3).
const (
	KindCRC       = Kind(CRC)
	KindMAC       = Kind(MAC)
	KindAEAD      = Kind(AEAD)
	KindLink      = Kind(0x48)
	KindChallenge = Kind(0x49)
	KindProof     = Kind(0x4A)
	KindLinked    = Kind(0x4B)
	KindRefused   = Kind(0x4C)
)

func (k Kind) String() string {
	switch {
	case k.isData():
		return "DATA"
	case k >= KindLink && k <= KindRefused:
		return [...]string{"LINK", "CHALLENGE", "PROOF", "LINKED", "REFUSED"}[k-KindLink]
	}
	return "unknown"
}

func (k Kind) isData() bool { return Mode(k) >= CRC && Mode(k) <= AEAD }

// Version is the version of the protocol.
const Version = 2

// The sizes of section 3.2, and where fields are, in bytes (CXH-1).
const (
	linkSize      = 64
	challengeSize = 50
	proofSize     = 153
	linkedSize    = 75
	refusedSize   = 35

	tagSize      = 16 // of cookies and proofs
	listSize     = 8  // of versions
	reservedSize = 38
	helloSize    = 97
	moveAt       = helloSize + 24
	proofProof   = proofSize - tagSize // where the proof of a PROOF is

	versionAt = 1
	nonceAt   = 2 // of an offer
	modeAt    = 22
	lanesAt   = 23
	timeoutAt = 27

	answerNonceAt = 1 // of CHALLENGE, LINKED and REFUSED

	stampAt      = 17 // of a CHALLENGE
	choiceAt     = 41
	listAt       = 42 // of a CHALLENGE; of a LINK it is at 18
	proofStampAt = helloSize

	agreedLinkAt    = 17
	agreedShareAt   = 21
	agreedLanesAt   = 53
	agreedVariantAt = 54
	agreedTimeoutAt = 57
	linkedProof     = linkedSize - tagSize

	refusedVersionAt = 17
	reasonAt         = 18
	refusedProof     = refusedSize - tagSize

	dataLinkAt    = 1
	dataCounterAt = 5
	crcTag        = 4
	macTag        = 8
	aeadTag       = 16

	// HeadSize is how many bytes an envelope has before its body.
	HeadSize = 9
	// MaxOverhead is the most that an envelope adds to a body.
	MaxOverhead = HeadSize + aeadTag
	// LargestBody is the most that an envelope holds, LargestDatagram the largest that is opened.
	LargestBody     = 1200
	LargestDatagram = LargestBody + MaxOverhead

	stampEnd = 1 << 62
)

// Share is what an end gives to the keys: a public key of X25519, or random bytes where nothing is
// protected (CXK-12).
type Share [32]byte

// Versions is a list of versions, 0 where there is none (CXH-14).
type Versions [listSize]uint8

// Offer is what a client asks for (CXH-2).
type Offer struct {
	Nonce      Nonce
	Protocol   uint32
	Mode       Mode
	Lanes      int
	Variants   uint8
	Extensions uint16
	Timeout    core.Micros
	Format     [8]byte
	Identity   uint64
	Resume     uint32   // the link that goes on at another address; 0: a new connection
	Digest     [16]byte // of the LINK before it
	Share      Share
}

// Agreed is what a server makes of an offer (CXP-3).
type Agreed struct {
	Link       uint32
	Lanes      int
	Variant    uint8 // 0 without lanes
	Extensions uint16
	Timeout    core.Micros
}

// Message is a datagram. Each kind uses some of the fields.
type Message struct {
	Kind     Kind
	Offer                       // of PROOF; of the others the Nonce alone, and of LINKED the Share
	Versions Versions           // of LINK and CHALLENGE: the versions of the sender
	Reserved [reservedSize]byte // of LINK
	Stamp    uint64             // of CHALLENGE and PROOF
	Cookie   [16]byte           // of CHALLENGE and PROOF
	Move     [16]byte           // of PROOF: that it can move the connection that it resumes
	Proof    [16]byte           // of PROOF, LINKED and REFUSED
	Agreed   Agreed             // of LINKED; of data the Link alone
	Version  uint8              // of CHALLENGE: the choice; of REFUSED: the server's
	Reason   Reason             // of REFUSED
	Counter  uint32             // of data: the low bits
	Body     []byte             // of data, sealed; points into the datagram
	Tag      []byte             // of data; points into the datagram
}

// Validate returns why a message cannot be encoded: what a decoder would say of it (CXH-11).
func (m *Message) Validate() error {
	if err := m.validate(); err != nil {
		return err
	}
	return nil
}

func (m *Message) validate() *Error {
	switch m.Kind {
	case KindLink:
		return nil
	case KindProof:
		if err := m.Offer.validate(); err != nil {
			return err
		}
		return checkStamp(m.Stamp, proofStampAt)
	case KindChallenge:
		return checkStamp(m.Stamp, stampAt)
	case KindLinked:
		return m.Agreed.validate()
	case KindRefused:
		return m.Reason.validate()
	}
	return m.validateData()
}

func (m *Message) validateData() *Error {
	switch size := HeadSize + len(m.Body) + len(m.Tag); {
	case !m.Kind.isData():
		return kindUnknown.At(0)
	case len(m.Body) == 0 || len(m.Tag) != Mode(m.Kind).tagSize():
		return dataMissing.At(size)
	case size > LargestDatagram:
		return dataTooLong.At(LargestDatagram)
	}
	return nil
}

func (o *Offer) validate() *Error {
	switch {
	case o.Mode < CRC || o.Mode > AEAD:
		return modeUnknown.At(modeAt)
	case o.Lanes < 0 || o.Lanes > MostLanes:
		return lanesTooMany.At(lanesAt)
	}
	if err := checkTimeout(o.Timeout, timeoutOutside, timeoutAt); err != nil {
		return err
	}
	if o.Mode == CRC && o.Identity != 0 {
		return identityIsBare.At(modeAt)
	}
	return nil
}

func (a *Agreed) validate() *Error {
	switch {
	case a.Link == 0:
		return linkIs0.At(agreedLinkAt)
	case a.Lanes < 0 || a.Lanes > MostLanes:
		return agreedLanes.At(agreedLanesAt)
	case a.Variant&(a.Variant-1) != 0 || (a.Variant == 0) != (a.Lanes == 0):
		return variantNotOne.At(agreedVariantAt)
	}
	return checkTimeout(a.Timeout, agreedTimeout, agreedTimeoutAt)
}

func (r Reason) validate() *Error {
	if r == 0 {
		return reasonIs0.At(reasonAt)
	}
	return nil
}

func checkStamp(stamp uint64, at int) *Error {
	if stamp >= stampEnd {
		return stampTooLarge.At(at)
	}
	return nil
}

func checkTimeout(timeout core.Micros, outside *core.Rule, at int) *Error {
	switch {
	case timeout < leastTimeout || timeout > mostTimeout:
		return outside.At(at)
	case timeout%timeoutUnit != 0:
		return timeoutNotWhole.At(at)
	}
	return nil
}

// Append appends the datagram of m to dst. It fails as Validate does, and then returns dst as
// it was.
func (m *Message) Append(dst []byte) ([]byte, error) {
	if err := m.validate(); err != nil {
		return dst, err
	}
	return m.append(dst), nil
}

// append appends a message that is sound (CXH-3 to CXH-7, CXN-4).
func (m *Message) append(dst []byte) []byte {
	dst = append(dst, byte(m.Kind))
	switch m.Kind {
	case KindLink:
		dst = append(append(dst, Version), m.Nonce[:]...)
		return append(append(dst, m.Versions[:]...), m.Reserved[:]...)
	case KindProof:
		dst = binary.LittleEndian.AppendUint64(m.Offer.append(dst), m.Stamp)
		dst = append(append(dst, m.Cookie[:]...), m.Move[:]...)
	case KindChallenge:
		dst = binary.LittleEndian.AppendUint64(append(dst, m.Nonce[:]...), m.Stamp)
		return append(append(append(dst, m.Cookie[:]...), m.Version), m.Versions[:]...)
	case KindLinked:
		dst = m.appendAgreed(append(dst, m.Nonce[:]...))
	case KindRefused:
		dst = append(append(dst, m.Nonce[:]...), m.Version, byte(m.Reason))
	default:
		dst = binary.LittleEndian.AppendUint32(dst, m.Agreed.Link)
		dst = binary.LittleEndian.AppendUint32(dst, m.Counter)
		return append(append(dst, m.Body...), m.Tag...)
	}
	return append(dst, m.Proof[:]...)
}

// append appends an offer, which is a hello behind its kind.
func (o *Offer) append(dst []byte) []byte {
	dst = append(append(dst, Version), o.Nonce[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, o.Protocol)
	dst = append(dst, byte(o.Mode), byte(o.Lanes), o.Variants)
	dst = binary.LittleEndian.AppendUint16(dst, o.Extensions)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(o.Timeout/timeoutUnit))
	dst = append(dst, o.Format[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, o.Identity)
	dst = binary.LittleEndian.AppendUint32(dst, o.Resume)
	return append(append(dst, o.Digest[:]...), o.Share[:]...)
}

func (m *Message) appendAgreed(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, m.Agreed.Link)
	return m.Agreed.append(append(dst, m.Share[:]...))
}

// append appends lanes, variant, extensions and timeout.
func (a *Agreed) append(dst []byte) []byte {
	dst = append(dst, byte(a.Lanes), a.Variant)
	dst = binary.LittleEndian.AppendUint16(dst, a.Extensions)
	return binary.LittleEndian.AppendUint16(dst, uint16(a.Timeout/timeoutUnit))
}

// Decode decodes a datagram. The checks and their order are in section 3.3 (CXH-9). It
// takes exactly what Append makes, reads nothing beyond the datagram and allocates nothing
// (CXH-10, CXH-12). Of data it takes the fields apart and opens nothing.
func Decode(datagram []byte) (m Message, err error) {
	if e := m.decode(datagram); e != nil {
		return Message{}, e
	}
	return m, nil
}

// decode decodes a datagram to an empty message. When it fails the message means nothing.
func (m *Message) decode(b []byte) *Error {
	if len(b) == 0 {
		return kindMissing.At(0)
	}
	m.Kind = Kind(b[0])
	switch m.Kind {
	case KindLink:
		return m.decodeLink(b)
	case KindChallenge:
		return m.decodeChallenge(b)
	case KindProof:
		return m.decodeProof(b)
	case KindLinked:
		return m.decodeLinked(b)
	case KindRefused:
		return m.decodeRefused(b)
	}
	return m.decodeData(b)
}

// checkSize makes sure that a message has its size.
func checkSize(b []byte, size int) *Error {
	switch {
	case len(b) < size:
		return messageMissing.At(len(b))
	case len(b) > size:
		return messageTooLong.At(size)
	}
	return nil
}

// checkVersion makes sure that a message of a client has the version of this package, and its size.
// The version comes first: others can have other sizes.
func checkVersion(b []byte, size int) *Error {
	if len(b) > versionAt && b[versionAt] != Version {
		return versionDiffers.At(versionAt)
	}
	return checkSize(b, size)
}

// decodeOffer decodes the offer of a PROOF.
func (m *Message) decodeOffer(b []byte) *Error {
	m.Offer = Offer{
		Nonce: Nonce(b[nonceAt:]), Protocol: binary.LittleEndian.Uint32(b[18:]),
		Mode: Mode(b[modeAt]), Lanes: int(b[lanesAt]), Variants: b[24], Extensions: binary.LittleEndian.Uint16(b[25:]),
		Timeout: core.Micros(binary.LittleEndian.Uint16(b[timeoutAt:])) * timeoutUnit,
		Format:  [8]byte(b[29:]), Identity: binary.LittleEndian.Uint64(b[37:]), Resume: binary.LittleEndian.Uint32(b[45:]),
		Digest: [16]byte(b[49:]), Share: Share(b[65:]),
	}
	return m.Offer.validate()
}

func (m *Message) decodeLink(b []byte) *Error {
	if err := checkVersion(b, linkSize); err != nil {
		return err
	}
	m.Nonce, m.Versions, m.Reserved = Nonce(b[nonceAt:]), Versions(b[18:]), [reservedSize]byte(b[26:])
	return nil
}

func (m *Message) decodeProof(b []byte) *Error {
	if err := checkVersion(b, proofSize); err != nil {
		return err
	}
	if err := m.decodeOffer(b); err != nil {
		return err
	}
	m.decodeCookie(b[proofStampAt:])
	m.Move = [16]byte(b[moveAt:])
	m.Proof = [16]byte(b[proofProof:])
	return checkStamp(m.Stamp, proofStampAt)
}

func (m *Message) decodeChallenge(b []byte) *Error {
	if err := checkSize(b, challengeSize); err != nil {
		return err
	}
	m.Nonce = Nonce(b[answerNonceAt:])
	m.decodeCookie(b[stampAt:])
	m.Version, m.Versions = b[choiceAt], Versions(b[listAt:])
	return checkStamp(m.Stamp, stampAt)
}

func (m *Message) decodeCookie(b []byte) {
	m.Stamp = binary.LittleEndian.Uint64(b)
	m.Cookie = [16]byte(b[8:])
}

func (m *Message) decodeLinked(b []byte) *Error {
	if err := checkSize(b, linkedSize); err != nil {
		return err
	}
	m.Nonce = Nonce(b[answerNonceAt:])
	m.Share = Share(b[agreedShareAt:])
	m.Agreed = Agreed{
		Link: binary.LittleEndian.Uint32(b[agreedLinkAt:]), Lanes: int(b[agreedLanesAt]), Variant: b[agreedVariantAt],
		Extensions: binary.LittleEndian.Uint16(b[55:]),
		Timeout:    core.Micros(binary.LittleEndian.Uint16(b[agreedTimeoutAt:])) * timeoutUnit,
	}
	m.Proof = [16]byte(b[linkedProof:])
	return m.Agreed.validate()
}

func (m *Message) decodeRefused(b []byte) *Error {
	if err := checkSize(b, refusedSize); err != nil {
		return err
	}
	m.Nonce = Nonce(b[answerNonceAt:])
	m.Version, m.Reason = b[refusedVersionAt], Reason(b[reasonAt])
	m.Proof = [16]byte(b[refusedProof:])
	return m.Reason.validate()
}

func (m *Message) decodeData(b []byte) *Error {
	if !m.Kind.isData() {
		return kindUnknown.At(0)
	}
	end := len(b) - Mode(m.Kind).tagSize()
	switch {
	case end <= HeadSize:
		return dataMissing.At(len(b))
	case len(b) > LargestDatagram:
		return dataTooLong.At(LargestDatagram)
	}
	m.Agreed.Link = binary.LittleEndian.Uint32(b[dataLinkAt:])
	m.Counter = binary.LittleEndian.Uint32(b[dataCounterAt:])
	m.Body, m.Tag = b[HeadSize:end:end], b[end:len(b):len(b)]
	return nil
}
