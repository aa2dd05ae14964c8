package transport_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/chunkwire/chunkwire/transport"
)

// The chunks of a file, one by one, to a peer that knows nothing but the
// specification: the header (FIL-1), the content (FIL-2); and its receipt (FIL-4).
func TestWhatAFileLooksLike(t *testing.T) {
	for _, c := range []struct {
		size   int
		chunks []int
	}{
		{0, nil},
		{1, []int{1}},
		{262_144, []int{262_144}},
		{262_145, []int{262_144, 1}},
		{600_000, []int{262_144, 262_144, 75_712}},
	} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, with(nil))
			file := content(c.size, 1)
			info := describe(t, file)
			sent := during(func() error { return transport.SendFile(background, w.toB, info, bytes.NewReader(file), nil) })
			mustRecv(t, w.toA, headerOf(file))
			rest := file
			for _, n := range c.chunks {
				mustRecv(t, w.toA, rest[:n])
				rest = rest[n:]
			}
			mustSend(t, w.toA, []byte("CWR1\x00"))
			wantErr(t, "SendFile", <-sent, nil)
			wantNothing(t, w.toA)
		})
	}
}

// headerOf writes a header down by hand.
func headerOf(file []byte) []byte {
	header := binary.LittleEndian.AppendUint64([]byte("CWF1"), uint64(len(file)))
	sum := sha256.Sum256(file)
	return append(header, sum[:]...)
}

// Each receipt, to a sender that knows nothing but the specification (FIL-3,
// FIL-4).
func TestWhatAReceiptLooksLike(t *testing.T) {
	file := []byte("what is sent")
	for receipt, change := range map[string]func(content []byte, s *sink){
		"CWR1\x00": func([]byte, *sink) {},
		"CWR1\x01": func(content []byte, _ *sink) { content[3] ^= 1 },
		"CWR1\x02": func(_ []byte, s *sink) { s.commitErr = errBroken },
	} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, with(nil))
			var got sink
			arriving := bytes.Clone(file)
			change(arriving, &got)
			received := during(func() error {
				_, err := transport.RecvFile(background, w.toA, got.open, nil)
				return err
			})
			mustSend(t, w.toB, headerOf(file))
			mustSend(t, w.toB, arriving)
			mustRecv(t, w.toB, []byte(receipt))
			if err := <-received; (err == nil) != (receipt == "CWR1\x00") || (err == nil) != got.committed {
				t.Errorf("receipt %q: RecvFile returns %v; committed: %v", receipt, err, got.committed)
			}
		})
	}
}
