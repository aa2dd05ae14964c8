package trace

// longestUS is the longest time that a trace of a connection has in a field.
const longestUS = 1 << 40

// bounded reads a field that must be there, within bounds.
func bounded(p *int64, low, high int64) (int64, error) {
	if p == nil || *p < low || *p > high {
		return 0, ErrBadRequest
	}
	return *p, nil
}
