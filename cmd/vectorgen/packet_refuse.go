package main

import (
	"bytes"
)

// with is b with one byte replaced.
func with(b []byte, at int, v byte) []byte {
	b = bytes.Clone(b)
	b[at] = v
	return b
}
