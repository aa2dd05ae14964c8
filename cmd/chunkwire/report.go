package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chunkwire/chunkwire/transport"
)

// fileReport is what send and recv tell at the end, and print with --json.
type fileReport struct {
	OK             bool    `json:"ok"`
	Error          string  `json:"error,omitempty"`
	Peer           string  `json:"peer,omitempty"`
	Bytes          int64   `json:"bytes"`
	SHA256         string  `json:"sha256,omitempty"`
	Seconds        float64 `json:"seconds"`
	BitsPerSecond  float64 `json:"bits_per_second"`
	SlicesSent     int64   `json:"slices_sent"`
	SlicesResent   int64   `json:"slices_resent"`
	SlicesReceived int64   `json:"slices_received"`
	Duplicates     int64   `json:"duplicates_received"`
	AcksSent       int64   `json:"acks_sent"`
	AcksReceived   int64   `json:"acks_received"`
	RTTms          float64 `json:"rtt_ms"`
	Garbage        int64   `json:"garbage_datagrams"`
}

// newFileReport sums up a transfer; conn is nil when there was none.
func newFileReport(conn *transport.Conn, endpoint transport.EndpointStats, info transport.FileInfo, took time.Duration, err error) fileReport {
	r := fileReport{OK: err == nil, Seconds: took.Seconds(), Garbage: int64(endpoint.Garbage)}
	if err != nil {
		r.Error = sentence(err)
	}
	if conn != nil {
		s := conn.Stats()
		r.Peer = conn.RemoteAddr().String()
		r.SlicesSent, r.SlicesResent = s.Sender.SlicesSent, s.Sender.SlicesResent
		r.SlicesReceived, r.Duplicates = s.Receiver.SlicesReceived, s.Receiver.Duplicates
		r.AcksSent, r.AcksReceived = s.Receiver.AcksSent, s.Sender.AcksReceived
		r.RTTms = float64(s.Sender.Schedule.SmoothedRTT) / 1000
	}
	if err == nil {
		r.Bytes, r.SHA256 = info.Size, hex.EncodeToString(info.SHA256[:])
		r.BitsPerSecond = 8 * float64(info.Size) / took.Seconds()
	}
	return r
}

// teller prints the report of a send or a recv, once.
type teller struct {
	w    io.Writer
	line func(fileReport) string // what a good one is without --json
	json bool
	told bool
}

func (t *teller) tell(r fileReport) error {
	t.told = true
	if t.json {
		return json.NewEncoder(t.w).Encode(r)
	}
	if !r.OK {
		return nil // main tells the error
	}
	_, err := fmt.Fprintln(t.w, t.line(r))
	return err
}

// end tells of a failure that came before there was anything to report.
func (t *teller) end(err error) error {
	if err == nil || t.told {
		return err
	}
	return errors.Join(err, t.tell(fileReport{Error: sentence(err)}))
}

func sentLine(r fileReport) string {
	return fmt.Sprintf("sent %s, %s sent, %d of them again", r.essence(), countOf(r.SlicesSent, "slice"), r.SlicesResent)
}

func receivedLine(r fileReport) string {
	return fmt.Sprintf("received %s, %s received, %s", r.essence(), countOf(r.SlicesReceived, "slice"), countOf(r.Duplicates, "duplicate"))
}

func (r fileReport) essence() string {
	return fmt.Sprintf("%s in %.3f s, %s, sha256 %.16s…", exactBytes(r.Bytes), r.Seconds, formatBits(r.BitsPerSecond), r.SHA256)
}
