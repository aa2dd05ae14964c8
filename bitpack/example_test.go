package bitpack_test

import (
	"fmt"

	"github.com/chunkwire/chunkwire/bitpack"
)

// The first fields of a slice: chunk id 0x1234, slice 2 of 3.
func Example() {
	w := bitpack.NewWriter(nil)
	w.Bits(0x1234, 16)
	w.Int(2, 0, 255)
	w.Int(3, 1, 256)
	stream, err := w.Finish()
	fmt.Printf("%x %v\n", stream, err)

	r := bitpack.NewReader(stream)
	chunk, _ := r.Bits(16)
	slice, _ := r.Int(0, 255)
	slices, _ := r.Int(1, 256)
	fmt.Printf("%#x %d/%d\n", chunk, slice, slices)
	// Output:
	// 34120202 <nil>
	// 0x1234 2/3
}
