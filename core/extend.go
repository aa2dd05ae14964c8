package core

// Extend appends b to dst. What stands in the memory behind dst already, where it would be
// appended, is not copied.
func Extend(dst, b []byte) []byte {
	if n := len(dst); len(b) > 0 && len(b) <= cap(dst)-n && &dst[:n+1][n] == &b[0] {
		return dst[:n+len(b)]
	}
	return append(dst, b...)
}
