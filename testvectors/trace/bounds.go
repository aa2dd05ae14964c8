package trace

import "encoding/hex"

// longestUS is the longest time that a trace of a connection has in a field.
const longestUS = 1 << 40

// bounded reads a field that must be there, within bounds.
func bounded(p *int64, low, high int64) (int64, error) {
	if p == nil || *p < low || *p > high {
		return 0, ErrBadRequest
	}
	return *p, nil
}

func bytesOf(text *string) ([]byte, error) {
	if text == nil {
		return nil, ErrBadRequest
	}
	b, err := hex.DecodeString(*text)
	if err != nil {
		return nil, ErrBadRequest
	}
	return b, nil
}
