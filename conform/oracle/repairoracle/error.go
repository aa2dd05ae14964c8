package repairoracle

// The codes that repair adds or uses.
const (
	Truncated      = "truncated"
	CRCMismatch    = "crc_mismatch"
	NonzeroPadding = "nonzero_padding"
	HaveOutOfRange = "have_out_of_range"
	BadEndCheck    = "bad_end_check"
	TrailingData   = "trailing_data"
	InvalidField   = "invalid_field"
)

// Error is a refusal.
type Error struct {
	Code     string
	Sentence string // the one that is not met
	Bit      int    // a decoder's: the place of the field
}

func (e *Error) Error() string { return e.Code + " (" + e.Sentence + ")" }
