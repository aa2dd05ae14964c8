package frame

import "github.com/chunkwire/chunkwire/core"

// The codes of section 6.
const (
	CodeTruncated      core.Code = "truncated"
	CodeCRCMismatch    core.Code = "crc_mismatch"
	CodeNonzeroPadding core.Code = "nonzero_padding"
	CodeBadEndCheck    core.Code = "bad_end_check"
	CodeTrailingData   core.Code = "trailing_data"
	CodeInvalidField   core.Code = "invalid_field"
)

// Format is the format of slices and acks.
var Format = &core.Format{Name: "codec", Unit: "bit"}

// Errors are made in advance for places up to these: behind the bits of the largest
// ack, and the largest datagram in bytes.
const (
	lastField = 57 + 256
	lastByte  = 10 + 1024 + 4
)

// FieldRule returns the rule of a sentence about the fields before the data, in
// bits.
func FieldRule(id string, code core.Code, why string) *core.Rule {
	return Format.Rule(id, code, why, 1, lastField)
}

// ByteRule returns the rule of a sentence about whole bytes of a datagram.
func ByteRule(id string, code core.Code, why string) *core.Rule {
	return Format.Rule(id, code, why, 8, 8*lastByte)
}

// What the frame and the fields that all bodies have are refused for (section 6.3).
var (
	crcMissing       = FieldRule("DEC-1", CodeTruncated, "the datagram is too short to hold a crc")
	crcWrong         = FieldRule("DEC-2", CodeCRCMismatch, "the crc does not match the bytes and the protocol id")
	typeMissing      = FieldRule("DEC-3", CodeTruncated, "ends before the type")
	ChunkIDMissing   = FieldRule("DEC-4", CodeTruncated, "ends inside chunk_id")
	NumSlicesMissing = FieldRule("DEC-6", CodeTruncated, "ends inside num_slices")
	paddingNotZero   = FieldRule("DEC-10", CodeNonzeroPadding, "a padding bit is not zero")
	dataMissing      = ByteRule("DEC-11", CodeTruncated, "ends inside the data")
	endCheckMissing  = ByteRule("DEC-12", CodeTruncated, "ends inside the end check")
	endCheckWrong    = ByteRule("DEC-13", CodeBadEndCheck, "end check mismatch")
	bytesLeft        = ByteRule("DEC-14", CodeTrailingData, "bytes follow the packet")
)

// What all encoders refuse (section 6.2).
var (
	NumSlicesInvalid = FieldRule("ENC-2", CodeInvalidField, "num_slices is outside 1..256")
	TypeInvalid      = FieldRule("ENC-6", CodeInvalidField, "the packet is neither a slice nor an ack")
)
