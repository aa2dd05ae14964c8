package contract

// This file has the operations of connections (CONNECTION.md) beside those of sessions.

// The operations.
const (
	OpConnectionEncode = "connection_encode"
	OpConnectionDecode = "connection_decode"
	OpConnection       = "connection"
)

var connectionOperations = []Operation{{Name: OpConnectionEncode}, {Name: OpConnectionDecode}, {Name: OpConnection}}

// The types of records that a connection adds to those of the channels, beside TypeSlice.
const (
	RecordClose    = "close"
	RecordChunkAck = "chunk_ack"
	RecordECN      = "ecn"
)

// ConnectionRecord is a record of a payload: fields that only some types have are pointers.
type ConnectionRecord struct {
	Record
	Lane      *int64  `json:"lane,omitempty"` // of a slice or a chunk ack, as the next four
	ChunkID   *int64  `json:"chunk_id,omitempty"`
	SliceID   *int64  `json:"slice_id,omitempty"`
	NumSlices *int64  `json:"num_slices,omitempty"`
	Acked     *string `json:"acked,omitempty"`
	LastBytes *int64  `json:"last_bytes,omitempty"` // in variant 2, as the next two, of a chunk ack
	Have      *int64  `json:"have,omitempty"`
	Top       *int64  `json:"top,omitempty"`
	Code      *int64  `json:"code,omitempty"` // of a close, as the text
	Text      *string `json:"text,omitempty"`
	Arrived   *int64  `json:"arrived,omitempty"` // of an ECN, as the next
	Congested *int64  `json:"congested,omitempty"`
}

// ConnectionEncodeRequest asks for the payload of records, without its id. The response is a
// Response with Hex.
type ConnectionEncodeRequest struct {
	Op         string             `json:"op"`
	Lanes      int64              `json:"lanes"`
	Variant    int64              `json:"variant,omitempty"` // 0: 1
	Extensions int64              `json:"extensions,omitempty"`
	Records    []ConnectionRecord `json:"records"`
}

// ConnectionDecodeRequest asks which records a payload has, without its id.
type ConnectionDecodeRequest struct {
	Op         string `json:"op"`
	Lanes      int64  `json:"lanes"`
	Variant    int64  `json:"variant,omitempty"` // 0: 1
	Extensions int64  `json:"extensions,omitempty"`
	Hex        string `json:"hex"`
}

// ExtensionECN is the extension of marks of congestion.
const ExtensionECN = 1

// VariantRepair is the variant of slices with repair slices.
const VariantRepair = 2

// ConnectionDecodeResponse is the response to it, without its id.
type ConnectionDecodeResponse struct {
	Answer
	Records []ConnectionRecord `json:"records"`
}
