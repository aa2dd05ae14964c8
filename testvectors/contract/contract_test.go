package contract_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

func TestBits(t *testing.T) {
	for _, text := range []string{"0", "1", "0110"} {
		set, n, err := contract.ParseBits(text)
		if err != nil || contract.Bits(set, n) != text {
			t.Errorf("%s comes back as %s, %v", text, contract.Bits(set, n), err)
		}
	}
	for _, text := range []string{"", "2", string(make([]byte, 257))} {
		if _, _, err := contract.ParseBits(text); !errors.Is(err, codec.ErrInvalidField) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
