package udp

import (
	"bytes"
	"testing"
)

// Any bytes are control messages, or end what can be read of them: the field ECN is one of four. What this end sets is
// read as it was set, also behind other messages.
func FuzzControlMessages(f *testing.F) {
	for _, ipv6 := range []bool{false, true} {
		message := appendECT(nil, ipv6)
		for _, seed := range [][]byte{message, append(appendSegmentSize(nil, 1000), message...), message[:len(message)-1], message[:5], append([]byte{255, 255, 255, 255}, message...), bytes.Repeat([]byte{0}, 64)} {
			f.Add(seed)
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, control []byte) {
		kept := bytes.Clone(control)
		if ecn := ecnOf(control); ecn > CE || !bytes.Equal(kept, control) {
			t.Fatalf("the field is %d", ecn)
		}
		for _, ipv6 := range []bool{false, true} {
			if ecn := ecnOf(append(appendECT(nil, ipv6), control...)); ecn != ECT0 {
				t.Fatalf("ECT0 is read as %d", ecn)
			}
		}
	})
}
