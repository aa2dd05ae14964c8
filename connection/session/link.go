package session

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"hash/crc32"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/chunkwire/chunkwire/core"
)

// counterEnd is above every counter (CXE-10): a connection ends long before.
const counterEnd = 1 << 62

// LinkConfig sets up a Link that no handshake made.
type LinkConfig struct {
	Mode   Mode
	Agreed Agreed
	Seal   Key    // of the direction in which this end sends
	Open   Key    // of the other one
	Next   uint64 // the counter with which this end begins
	Failed uint64 // how many tags were wrong before
}

// Link is the envelope of a connection: it seals what this end sends and opens what it gets,
// each datagram once (section 3.1; SEC-5, PKT-SEC-1, CHT-SEC-1). It lives as long as the
// connection, whatever becomes of the addresses, and so no counter is ever used twice (CXE-5).
type Link struct {
	mode   Mode
	agreed Agreed
	next   uint64 // the counter of the next datagram
	seal   sealer
	open   sealer
	taken  core.Window // CXE-7
	opened uint64      // the counter of the datagram that was opened last
	failed uint64      // datagrams whose tag was wrong
}

// NewLink returns the link of a configuration.
func NewLink(cfg LinkConfig) *Link {
	return &Link{
		mode: cfg.Mode, agreed: cfg.Agreed, next: cfg.Next, seal: newSealer(cfg.Mode, cfg.Seal), open: newSealer(cfg.Mode, cfg.Open),
		taken: core.NewWindow(Replay, 0), failed: cfg.Failed,
	}
}

// ID returns the number by which datagrams name the link.
func (l *Link) ID() uint32 { return l.agreed.Link }

// Agreed returns what the ends agreed on.
func (l *Link) Agreed() Agreed { return l.agreed }

// Mode returns the strength.
func (l *Link) Mode() Mode { return l.mode }

// Overhead returns how many bytes Seal adds to a body.
func (l *Link) Overhead() int { return l.mode.Overhead() }

// Sent returns how many datagrams were sealed, or with which counter the next one is.
func (l *Link) Sent() uint64 { return l.next }

// Opened returns the counter of the datagram that was opened last.
func (l *Link) Opened() uint64 { return l.opened }

// Seal appends the datagram with a body, of 1 to LargestBody bytes, to dst. It uses a counter up,
// whatever becomes of the datagram (CXE-5). A body that stands HeadSize bytes behind the end of
// dst, in the same memory, is sealed there.
func (l *Link) Seal(dst, body []byte) []byte {
	c := l.next
	if c >= counterEnd {
		panic("session: no counter is left")
	}
	l.next++
	at := len(dst)
	dst = append(dst, byte(l.mode))
	dst = binary.LittleEndian.AppendUint32(dst, l.agreed.Link)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(c))
	return l.seal.seal(dst, at, c, body)
}

// Open appends the body of a datagram to dst. It fails with why the datagram is refused, in the
// order of CXE-8, and then has changed only a count.
func (l *Link) Open(dst, datagram []byte) (body []byte, err error) {
	body, err = l.OpenInPlace(dst, datagram)
	if err == nil && l.mode != AEAD {
		body = append(dst, body...)
	}
	return body, err
}

// OpenInPlace is Open, but only what is decrypted is appended to dst: any other body is not
// copied, and returned where it is in the datagram.
func (l *Link) OpenInPlace(dst, datagram []byte) (body []byte, err error) {
	var m Message
	if e := l.check(&m, datagram); e != nil {
		return dst, e
	}
	c := l.counter(m.Counter)
	switch {
	case c < max(0, l.taken.Low()):
		return dst, counterStale.At(dataCounterAt)
	case l.taken.Has(c):
		return dst, counterTwice.At(dataCounterAt)
	}
	spend(tags)
	body, ok := l.open.open(dst, datagram, uint64(c), len(m.Body))
	if !ok {
		l.failed++
		return dst, tagWrong.At(len(datagram) - len(m.Tag))
	}
	l.taken.Add(c)
	l.opened = uint64(c)
	return body, nil
}

// Worn reports whether the keys were used as much as they can be: KeyLife datagrams were sealed, or so many
// tags were invalid that one more guess is too likely to be valid (CXE-10, CXE-11). KeyTime is for the Conn.
func (l *Link) Worn() bool {
	return l.next >= KeyLife || l.mode == AEAD && l.failed >= FailedAEAD || l.mode == MAC && l.failed >= FailedMAC
}

// check makes the checks that need no counter.
func (l *Link) check(m *Message, datagram []byte) *Error {
	switch err := m.decode(datagram); {
	case err != nil:
		return err
	case !m.Kind.isData():
		return kindUnknown.At(0)
	case m.Agreed.Link != l.agreed.Link:
		return linkUnknown.At(dataLinkAt)
	case Mode(m.Kind) != l.mode:
		return modeDiffers.At(0)
	}
	return nil
}

// counter returns the only counter with these low bits that is above highest - 2^31 and not
// above highest + 2^31 (CXE-6).
func (l *Link) counter(low uint32) core.Number {
	highest := l.taken.Next() - 1
	ahead := core.Number(low - uint32(highest))
	if ahead > 1<<31 {
		ahead -= 1 << 32
	}
	return highest + ahead
}

// sealer is the cryptography of one direction.
type sealer interface {
	// seal appends the body and the tag to dst, in which the datagram begins at a place.
	seal(dst []byte, at int, c uint64, body []byte) []byte
	// open returns the body of size bytes if the datagram's tag is valid: appended to dst if it
	// is decrypted, otherwise where it is.
	open(dst, datagram []byte, c uint64, size int) ([]byte, bool)
}

func newSealer(mode Mode, key Key) sealer {
	switch mode {
	case AEAD:
		aead, err := chacha20poly1305.New(key[:])
		if err != nil {
			panic(err) // only a key of another size is refused
		}
		return &aeadSealer{aead: aead}
	case MAC:
		return &macSealer{mac: hmac.New(sha256.New, key[:])}
	}
	return &crcSealer{epoch: [8]byte(key[:])}
}

// aeadSealer is ChaCha20-Poly1305 (CXE-4).
type aeadSealer struct {
	aead  cipher.AEAD
	nonce [chacha20poly1305.NonceSize]byte
}

func (s *aeadSealer) seal(dst []byte, at int, c uint64, body []byte) []byte {
	binary.LittleEndian.PutUint64(s.nonce[4:], c)
	return s.aead.Seal(dst, s.nonce[:], body, dst[at:])
}

func (s *aeadSealer) open(dst, datagram []byte, c uint64, _ int) ([]byte, bool) {
	binary.LittleEndian.PutUint64(s.nonce[4:], c)
	body, err := s.aead.Open(dst, s.nonce[:], datagram[HeadSize:], datagram[:HeadSize])
	return body, err == nil
}

// macSealer is HMAC-SHA-256 (CXE-3).
type macSealer struct {
	mac     hash.Hash
	counter [8]byte
	sum     [sha256.Size]byte
}

// tag returns the tag of a datagram without it.
func (s *macSealer) tag(c uint64, datagram []byte) []byte {
	binary.LittleEndian.PutUint64(s.counter[:], c)
	s.mac.Reset()
	s.mac.Write(s.counter[:])
	s.mac.Write(datagram)
	return s.mac.Sum(s.sum[:0])[:macTag]
}

func (s *macSealer) seal(dst []byte, at int, c uint64, body []byte) []byte {
	dst = core.Extend(dst, body)
	return append(dst, s.tag(c, dst[at:])...)
}

func (s *macSealer) open(dst, datagram []byte, c uint64, size int) ([]byte, bool) {
	end := HeadSize + size
	if subtle.ConstantTimeCompare(s.tag(c, datagram[:end]), datagram[end:]) == 0 {
		return dst, false
	}
	return datagram[HeadSize:end:end], true
}

// crcSealer is CRC-32 over an epoch, the counter and the datagram (CXE-2).
type crcSealer struct {
	epoch [8]byte
	head  [16]byte
}

func (s *crcSealer) tag(c uint64, datagram []byte) uint32 {
	copy(s.head[:], s.epoch[:])
	binary.LittleEndian.PutUint64(s.head[8:], c)
	return crc32.Update(crc32.ChecksumIEEE(s.head[:]), crc32.IEEETable, datagram)
}

func (s *crcSealer) seal(dst []byte, at int, c uint64, body []byte) []byte {
	dst = core.Extend(dst, body)
	return binary.LittleEndian.AppendUint32(dst, s.tag(c, dst[at:]))
}

func (s *crcSealer) open(dst, datagram []byte, c uint64, size int) ([]byte, bool) {
	end := HeadSize + size
	if s.tag(c, datagram[:end]) != binary.LittleEndian.Uint32(datagram[end:]) {
		return dst, false
	}
	return datagram[HeadSize:end:end], true
}
