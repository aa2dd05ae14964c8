package stream

import (
	"hash/crc32"
	"testing"
)

func TestCRC32(t *testing.T) {
	if got := CRC32([]byte("123456789")); got != 0xCBF43926 {
		t.Errorf("the check value is %#x", got)
	}
	for n := range 300 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*i + n)
		}
		if got, want := CRC32(b), crc32.ChecksumIEEE(b); got != want {
			t.Fatalf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}
