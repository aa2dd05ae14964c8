package eventlog

import (
	"encoding/json"
	"time"
)

// The names of the format (qlog's main schema) and of the events.
const (
	fileSchema    = "urn:ietf:params:qlog:file:sequential"
	serialization = "application/qlog+json-seq"
	eventSchema   = "urn:chunkwire:events:chunkwire-1"
)

// Header is the first record of a file.
type Header struct {
	Title string    // the command, such as "chunkwire send"
	By    string    // what wrote the file, such as "chunkwire 0.1.0"
	View  End       // Client, Server, or Network if both ends are in the file
	Wall  time.Time // the wall clock at time 0; zero in virtual time
}

// The header as JSON.
type (
	fileHeader struct {
		FileSchema    string      `json:"file_schema"`
		Serialization string      `json:"serialization_format"`
		Title         string      `json:"title"`
		Trace         traceHeader `json:"trace"`
	}
	traceHeader struct {
		VantagePoint vantagePoint `json:"vantage_point"`
		CommonFields commonFields `json:"common_fields"`
		EventSchemas []string     `json:"event_schemas"`
	}
	vantagePoint struct {
		Name string `json:"name"`
		Type End    `json:"type"`
	}
	commonFields struct {
		TimeFormat    string        `json:"time_format"`
		ReferenceTime referenceTime `json:"reference_time"`
	}
	referenceTime struct {
		ClockType string `json:"clock_type"`
		Epoch     string `json:"epoch"`
		WallClock string `json:"wall_clock_time,omitempty"`
	}
)

const wallFormat = "2006-01-02T15:04:05.000000Z"

// AppendHeader appends the record of a header to dst.
func AppendHeader(dst []byte, h Header) []byte {
	reference := referenceTime{ClockType: "monotonic", Epoch: "unknown"}
	if !h.Wall.IsZero() {
		reference.WallClock = h.Wall.UTC().Format(wallFormat)
	}
	record, _ := json.Marshal(fileHeader{fileSchema, serialization, h.Title, traceHeader{
		vantagePoint{h.By, h.View}, commonFields{"relative_to_epoch", reference}, []string{eventSchema},
	}})
	return append(append(append(dst, recordStart), record...), recordEnd)
}
