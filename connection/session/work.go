package session

// operation is a kind of work that a message can cost an end.
type operation uint8

const (
	hashes    operation = iota // SHA-256
	macs                       // HMAC: also each step of HKDF is one
	exchanges                  // X25519
	tags                       // a datagram of data that is opened
	operations
)

// spent counts what is computed, for tests (CXT-BND-5); nobody else has one.
var spent *[operations]int

func spend(o operation) {
	if spent != nil {
		spent[o]++
	}
}
