package runner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

// The runs' hashes come from the oracle; here the codec makes them again. The
// generator is another one than the oracle's, so that its text is tested (ACC-1 to
// ACC-3).
func TestAccumulated(t *testing.T) {
	runs, err := testvectors.LoadAccumulated()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		t.Run(run.Name, func(t *testing.T) {
			if run.Packets > 10_000 && testing.Short() {
				t.Skip("takes long")
			}
			t.Parallel()
			if got := accumulate(t, uint32(run.Seed), run.Packets); got != run.SHA256 {
				t.Errorf("got %s, want %s", got, run.SHA256)
			}
		})
	}
}

func accumulate(t *testing.T, seed uint32, packets int) string {
	x := randomPackets(seed)
	h := sha256.New()
	var out []byte
	for range packets {
		id, p := x.Next()
		framer := codec.NewFramer(id)
		var err error
		if out, err = framer.Append(out[:0], p); err != nil {
			t.Fatal(err)
		}
		h.Write(out)
		x.Spoil(id, out)
		_, err = framer.Decode(out)
		line := "ok\n"
		var refused *codec.Error
		if errors.As(err, &refused) {
			line = string(refused.Code()) + "\n"
		}
		h.Write([]byte(line))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
