package eventlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/core"
)

// ErrFormat is what Read fails with when its input is no event log.
var ErrFormat = errors.New("eventlog: not an event log")

// MaxRecord is how long a record can be, in bytes.
const MaxRecord = 1 << 16

// File is what Read has read.
type File struct {
	Header  Header
	Events  []Event
	Unknown int // events of other names, which are left out
}

// Read reads a file. It is strict about the framing of records and the types of the members
// that it knows; it ignores others, and counts events that it does not know. It fails with
// ErrFormat, or what r fails with; then File has the events before it.
func Read(r io.Reader) (File, error) {
	var f File
	in := bufio.NewReaderSize(r, MaxRecord)
	for n := 0; ; n++ {
		record, err := nextRecord(in)
		if err == io.EOF && n > 0 {
			return f, nil
		}
		switch {
		case err != nil:
		case n == 0:
			err = f.readHeader(record)
		default:
			err = f.readEvent(record)
		}
		if err == io.EOF {
			err = fmt.Errorf("%w: it is empty", ErrFormat)
		}
		if err != nil {
			return f, fmt.Errorf("record %d: %w", n, err)
		}
	}
}

// nextRecord returns the text of the next record, or io.EOF behind the last one.
func nextRecord(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice(recordEnd)
	switch {
	case err == io.EOF && len(line) == 0:
		return nil, io.EOF
	case err == io.EOF:
		return nil, fmt.Errorf("%w: a record without its end", ErrFormat)
	case err == bufio.ErrBufferFull:
		return nil, fmt.Errorf("%w: a record of more than %d bytes", ErrFormat, MaxRecord)
	case err != nil:
		return nil, err
	case line[0] != recordStart:
		return nil, fmt.Errorf("%w: a record without its start", ErrFormat)
	}
	return bytes.TrimSuffix(line[1:], []byte{recordEnd}), nil
}

func (f *File) readHeader(record []byte) error {
	var h fileHeader
	if err := json.Unmarshal(record, &h); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if h.FileSchema != fileSchema || h.Serialization != serialization {
		return fmt.Errorf("%w: schema %q, format %q", ErrFormat, h.FileSchema, h.Serialization)
	}
	trace := &h.Trace
	f.Header = Header{Title: h.Title, By: trace.VantagePoint.Name, View: trace.VantagePoint.Type}
	if wall := trace.CommonFields.ReferenceTime.WallClock; wall != "" {
		at, err := time.Parse(time.RFC3339Nano, wall)
		if err != nil {
			return fmt.Errorf("%w: wall_clock_time %q", ErrFormat, wall)
		}
		f.Header.Wall = at
	}
	return nil
}

// event is one as JSON.
type event struct {
	Time  json.Number                `json:"time"`
	Name  string                     `json:"name"`
	Group string                     `json:"group_id"`
	End   End                        `json:"end"`
	Data  map[string]json.RawMessage `json:"data"`
}

func (f *File) readEvent(record []byte) error {
	var in event
	if err := json.Unmarshal(record, &in); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	name, ours := strings.CutPrefix(in.Name, prefix)
	e := Event{Kind: kindOf(name), End: in.End}
	if !ours || e.Kind == None {
		f.Unknown++
		return nil
	}
	var err error
	if e.At, err = micros(in.Time.String()); err != nil {
		return fmt.Errorf("%w: time: %v", ErrFormat, err)
	}
	if in.Group != "" {
		if e.Group, err = strconv.Atoi(in.Group); err != nil || e.Group < 1 {
			return fmt.Errorf("%w: group_id %q", ErrFormat, in.Group)
		}
	}
	for _, m := range kinds[e.Kind].members {
		text, ok := in.Data[m.name]
		if !ok && !m.optional {
			return fmt.Errorf("%w: %s without %s", ErrFormat, in.Name, m.name)
		}
		if !ok {
			continue
		}
		if err := readValue(m.of(&e), text); err != nil {
			return fmt.Errorf("%w: %s of %s: %v", ErrFormat, m.name, in.Name, err)
		}
	}
	f.Events = append(f.Events, e)
	return nil
}

func readValue(to any, text json.RawMessage) error {
	if to, ok := to.(*core.Micros); ok {
		at, err := micros(string(text))
		*to = at
		return err
	}
	if string(text) == "null" {
		return errors.New("null")
	}
	return json.Unmarshal(text, to)
}

// micros returns a time that is given in milliseconds.
func micros(text string) (core.Micros, error) {
	ms, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(ms) > 1<<50 { // of 2^53, 1024 parts are left for the decimals
		return 0, fmt.Errorf("no time: %.40q", text)
	}
	return core.Micros(math.Round(ms * 1000)), nil
}
