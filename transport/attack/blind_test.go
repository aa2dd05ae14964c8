package attack

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
)

var modes = []session.Mode{session.CRC, session.MAC, session.AEAD}

// blind is what somebody can send to a server of connections who has seen nothing of
// it but its address.
func blind() []forgery {
	offer := session.Offer{Mode: session.CRC, Lanes: 1, Variants: 1, Timeout: session.DefaultTimeout, Nonce: session.Nonce{1}}
	keyed, resuming := offer, offer
	keyed.Identity, keyed.Mode = 1, session.AEAD
	resuming.Resume = 7
	agreed := session.Agreed{Link: 7, Lanes: 1, Variant: 1, Timeout: session.DefaultTimeout}
	all := []forgery{
		{"LINK", encode(session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}, Offer: offer})},
		{"LINK with an identity", encode(session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}, Offer: keyed})},
		{"LINK that resumes", encode(session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}, Offer: resuming})},
		{"CHALLENGE", encode(session.Message{Kind: session.KindChallenge, Offer: offer})},
		{"PROOF", encode(session.Message{Kind: session.KindProof, Offer: offer})},
		{"PROOF with an identity", encode(session.Message{Kind: session.KindProof, Offer: keyed})},
		{"PROOF that resumes", encode(session.Message{Kind: session.KindProof, Offer: resuming})},
		{"LINKED", encode(session.Message{Kind: session.KindLinked, Offer: offer, Agreed: agreed})},
		{"REFUSED", encode(session.Message{Kind: session.KindRefused, Offer: offer, Reason: session.ConnectionClosed})},
		{"a slice of the chunk protocol", firstSlice()},
		{"nothing", nil},
		{"zeros", make([]byte, 1200)},
	}
	for _, mode := range modes {
		all = append(all, forgery{"data, " + mode.String(), dataDatagram(mode, 7, 0, 1)},
			forgery{"1,160 bytes of data, " + mode.String(), dataDatagram(mode, 7, 0, 1160)})
	}
	return append(all, otherVersions()...)
}

// someOfBlind is eight of them, others for each i.
func someOfBlind(i int) (some [][]byte) {
	all := blind()
	for k := range 8 {
		some = append(some, all[(8*i+k)%len(all)].datagram)
	}
	return some
}

// otherVersions is LINK and PROOF of another version, of all sizes.
func otherVersions() (all []forgery) {
	for _, kind := range []session.Kind{session.KindLink, session.KindProof} {
		for size := 2; size <= 120; size++ {
			datagram := make([]byte, size)
			datagram[0], datagram[1] = byte(kind), session.Version+1
			all = append(all, forgery{fmt.Sprintf("%d bytes of %v of another version", size, kind), datagram})
		}
	}
	return all
}

func encode(m session.Message) []byte { return check.Must(m.Append(nil)) }

// dataDatagram is data with a tag of zeros.
func dataDatagram(mode session.Mode, link, counter uint32, body int) []byte {
	return encode(session.Message{
		Kind: session.Kind(mode), Agreed: session.Agreed{Link: link}, Counter: counter,
		Body: make([]byte, body), Tag: make([]byte, mode.Overhead()-9),
	})
}

// flooder makes the datagrams of a flood: a quarter each LINK with a nonce of its own,
// PROOF with a cookie of its own, data of some link, and garbage. Of the data every
// second one names a living link, if any is given.
type flooder struct {
	link, proof, data []byte
	links             []uint32
}

func newFlooder(mode session.Mode, identity uint64, links ...uint32) *flooder {
	offer := session.Offer{Mode: mode, Lanes: 1, Variants: 1, Timeout: session.DefaultTimeout, Identity: identity}
	return &flooder{
		link:  encode(session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}, Offer: offer}),
		proof: encode(session.Message{Kind: session.KindProof, Offer: offer}),
		data:  dataDatagram(mode, 1, 0, 1100), links: links,
	}
}

// next returns the next datagram, which is good until the one after it.
func (f *flooder) next(rng *rand.Rand) []byte {
	switch rng.IntN(4) {
	case 0:
		binary.LittleEndian.PutUint64(f.link[2:], rng.Uint64())
		return f.link
	case 1:
		binary.LittleEndian.PutUint64(f.proof[2:], rng.Uint64())
		binary.LittleEndian.PutUint64(f.proof[57:], rng.Uint64())
		return f.proof
	case 2:
		link := rng.Uint32()
		if len(f.links) > 0 && rng.IntN(2) == 0 {
			link = f.links[rng.IntN(len(f.links))]
		}
		binary.LittleEndian.PutUint32(f.data[1:], link)
		binary.LittleEndian.PutUint32(f.data[5:], rng.Uint32N(1000))
		return f.data[:9+16+1+rng.IntN(1000)]
	}
	garbage := make([]byte, 1+rng.IntN(1200))
	for i := range garbage {
		garbage[i] = byte(rng.Uint32())
	}
	return garbage
}
