package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport/file"
)

// fileReport is what send and recv report at the end, and print with --json.
type fileReport struct {
	OK             bool    `json:"ok"`
	Error          string  `json:"error,omitempty"`
	Peer           string  `json:"peer,omitempty"`
	Bytes          int64   `json:"bytes"`
	SHA256         string  `json:"sha256,omitempty"`
	Seconds        float64 `json:"seconds"`
	BitsPerSecond  float64 `json:"bits_per_second"`
	Variant        string  `json:"variant,omitempty"` // repair, or slices, which are sent again
	SlicesSent     int64   `json:"slices_sent"`
	SlicesResent   int64   `json:"slices_resent"` // 0 with repair
	SlicesRepair   int64   `json:"slices_repair"` // of those sent; 0 without repair
	SlicesReceived int64   `json:"slices_received"`
	Duplicates     int64   `json:"duplicates_received"` // also those that arrived when a chunk was complete
	Dependent      int64   `json:"dependent_received"`  // repair slices that added nothing
	Inconsistent   int64   `json:"inconsistent"`        // found when chunks were made of repair slices: something was forged
	AcksSent       int64   `json:"acks_sent"`
	AcksReceived   int64   `json:"acks_received"`
	RTTms          float64 `json:"rtt_ms"`
	Undecodable    int64   `json:"garbage_datagrams"`
	WriteErrors    int64   `json:"write_errors"`
	WriteError     string  `json:"write_error,omitempty"`
}

// newFileReport sums up a transfer; from is nil when there was none.
func newFileReport(from remote, st socketStats, info file.Info, took time.Duration, err error) fileReport {
	r := fileReport{OK: err == nil, Seconds: took.Seconds(), Undecodable: st.undecodable, WriteErrors: st.writeErrors}
	if err != nil {
		r.Error = sentence(err)
	}
	if st.lastWriteError != nil {
		r.WriteError = st.lastWriteError.Error()
	}
	if from != nil {
		sent, received := from.SenderStats(), from.ReceiverStats()
		r.Peer = from.RemoteAddr().String()
		r.Variant = simulate.VariantName(from.repaired())
		r.SlicesSent, r.SlicesResent, r.SlicesRepair = sent.SlicesSent, sent.SlicesResent, sent.SlicesRepair
		r.SlicesReceived, r.Duplicates = received.SlicesReceived, received.Duplicates
		r.Dependent, r.Inconsistent = received.Dependent, received.Inconsistent
		r.AcksSent, r.AcksReceived = received.AcksSent, sent.AcksReceived
		r.RTTms = float64(sent.Schedule.SmoothedRTT) / 1000
	}
	if err == nil {
		r.Bytes, r.SHA256 = info.Size, hex.EncodeToString(info.SHA256[:])
		r.BitsPerSecond = 8 * float64(info.Size) / took.Seconds()
	}
	return r
}

// reporter prints the report of a send or a recv, once.
type reporter struct {
	w       io.Writer
	line    func(fileReport) string // what a good one is without --json
	json    bool
	printed bool
}

func (p *reporter) report(r fileReport) error {
	p.printed = true
	if p.json {
		return json.NewEncoder(p.w).Encode(r)
	}
	if !r.OK {
		return nil // main prints the error
	}
	_, err := fmt.Fprintln(p.w, p.line(r))
	return err
}

// end reports a failure that came before there was anything else to report.
func (p *reporter) end(err error) error {
	if err == nil || p.printed {
		return err
	}
	return errors.Join(err, p.report(fileReport{Error: sentence(err)}))
}

func sentLine(r fileReport) string {
	if r.Variant == simulate.VariantRepair {
		return fmt.Sprintf("sent %s, %s sent, %d of them for repair", r.essence(), countOf(r.SlicesSent, "slice"), r.SlicesRepair)
	}
	return fmt.Sprintf("sent %s, %s sent, %d of them again", r.essence(), countOf(r.SlicesSent, "slice"), r.SlicesResent)
}

func receivedLine(r fileReport) string {
	if r.Variant == simulate.VariantRepair {
		return fmt.Sprintf("received %s, %s received, %d more than needed", r.essence(), countOf(r.SlicesReceived, "slice"), r.Duplicates+r.Dependent)
	}
	return fmt.Sprintf("received %s, %s received, %s", r.essence(), countOf(r.SlicesReceived, "slice"), countOf(r.Duplicates, "duplicate"))
}

func (r fileReport) essence() string {
	return fmt.Sprintf("%s in %.3f s, %s, sha256 %.16s…", exactBytes(r.Bytes), r.Seconds, formatBits(r.BitsPerSecond), r.SHA256)
}
