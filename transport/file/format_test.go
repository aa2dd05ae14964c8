package file_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/transport/file"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// The chunks of a file, one by one, to a peer that knows nothing but the
// specification: the header (FIL-1), the content (FIL-2), its hash (FIL-2); and its receipt (FIL-4).
func TestWhatAFileLooksLike(t *testing.T) {
	for _, c := range []struct {
		size   int
		chunks []int
	}{
		{0, []int{32}},
		{1, []int{33}},
		{262_112, []int{262_144}},
		{262_113, []int{262_144, 1}},
		{262_144, []int{262_144, 32}},
		{600_000, []int{262_144, 262_144, 75_744}},
	} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, plain.Config{})
			data := content(c.size, 1)
			sent := during(func() error { return file.Send(background, w.toB, bytes.NewReader(data), announced(c.size)) })
			mustRecv(t, w.toA, headerOf(data))
			rest := append(bytes.Clone(data), hashOf(data)...)
			for _, n := range c.chunks {
				mustRecv(t, w.toA, rest[:n])
				rest = rest[n:]
			}
			mustSend(t, w.toA, []byte("CWR1\x00"))
			wantErr(t, "Send", <-sent, nil)
			time.Sleep(time.Minute)
			if st := w.toA.Stats(); st.RecvQueued != 0 || st.Receiving.NumSlices != 0 {
				t.Errorf("more came: %+v", st.Receiving)
			}
		})
	}
}

// headerOf writes a header down by hand.
func headerOf(data []byte) []byte {
	return binary.LittleEndian.AppendUint64([]byte("CWF2"), uint64(len(data)))
}

func hashOf(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// Each receipt, to a sender that knows nothing but the specification (FIL-3,
// FIL-4).
func TestWhatAReceiptLooksLike(t *testing.T) {
	data := []byte("what is sent")
	for receipt, change := range map[string]func(content []byte, s *sink){
		"CWR1\x00": func([]byte, *sink) {},
		"CWR1\x01": func(content []byte, _ *sink) { content[3] ^= 1 },
		"CWR1\x02": func(_ []byte, s *sink) { s.commitErr = errors.New("disk full") },
	} {
		bubble(t, func(t *testing.T) {
			w := connect(t, short, plain.Config{})
			var got sink
			arriving := bytes.Clone(data)
			change(arriving, &got)
			received := during(func() error {
				_, err := got.receive(w.toA)
				return err
			})
			mustSend(t, w.toB, headerOf(data))
			mustSend(t, w.toB, append(arriving, hashOf(data)...))
			mustRecv(t, w.toB, []byte(receipt))
			if err := <-received; (err == nil) != (receipt == "CWR1\x00") || (err == nil) != got.committed {
				t.Errorf("receipt %q: Receive returns %v; committed: %v", receipt, err, got.committed)
			}
		})
	}
}
