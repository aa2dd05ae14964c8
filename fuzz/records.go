package fuzz

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// An input is a format as readFormat reads it, and a byte that says what the rest is, by its
// remainder of 3: 0 a payload; 1 a row of records as readRecords reads it, in range or not;
// 2 missing sequences as readMissing reads them.
var targetRecords = newTarget("Records", "the codec of records does what its oracle does: values, or code and byte; canonical both ways", runRecords, seedRecords)

func runRecords(t T, data []byte) {
	s := script{data}
	f := readFormat(&s)
	switch s.byte() % 3 {
	case 0:
		runPayload(t, f, s.left)
	case 1:
		runRow(t, f, readRecords(&s))
	case 2:
		runReport(t, &s)
	}
}

// readFormat reads the power of two of WINDOW, a byte; DATA - 1, 2 bytes; GROUP - 2, a byte.
func readFormat(s *script) channel.Format {
	return channel.Format{Window: 32 << (s.byte() % 10), Data: 1 + int(s.uint16())%1024, Group: 2 + int(s.byte())%63}
}

func oracleFormat(f channel.Format) channeloracle.Format {
	return channeloracle.Format{Window: int64(f.Window), Data: int64(f.Data), Group: int64(f.Group)}
}

// runPayload decodes any bytes (CHR-1 to CHR-12).
func runPayload(t T, f channel.Format, payload []byte) {
	t.Helper()
	before := bytes.Clone(payload)
	got, err := decodeRecords(f, payload)
	want, wantErr := channeloracle.Decode(oracleFormat(f), before)
	if verbose() {
		t.Logf("%+v, %x: %+v, %v", f, before, got, err)
	}
	if !bytes.Equal(before, payload) {
		t.Fatalf("decoding changed the payload")
	}
	compareCodes(t, err, wantErr)
	checkMux(t, f, payload, wantErr)
	if err != nil {
		return
	}
	again := []byte(nil)
	for i := range got {
		if !sameRecords(got[i], want[i]) {
			t.Fatalf("record %d is %+v, the oracle's %+v", i, got[i], want[i])
		}
		if again, err = f.Append(again, &got[i]); err != nil {
			t.Fatalf("accepted, but record %d does not encode: %v", i, err)
		}
	}
	if !bytes.Equal(again, payload) || len(got) != len(want) {
		t.Fatalf("accepted, but it encodes to %x", again)
	}
}

// decodeRecords decodes a payload to its end.
func decodeRecords(f channel.Format, payload []byte) (list []channel.Record, err error) {
	for at := 0; at < len(payload) || at == 0; {
		var r channel.Record
		if at, err = f.Decode(payload, at, &r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// checkMux gives a payload to all channels of an end: it refuses what the oracle refuses, no
// later, and then nothing has changed but a counter (CHR-1). Channels that do not fit the
// record, or are not there, are its own to refuse.
func checkMux(t T, f channel.Format, payload []byte, wantErr error) {
	t.Helper()
	kinds := []channel.Kind{channel.Ordered, channel.Unordered, channel.Unreliable}
	var configs []channel.Config
	for id := range uint8(9) {
		configs = append(configs, channel.Config{ID: id, Kind: kinds[id%3], Format: f})
	}
	m, err := channel.NewMux(channel.MuxConfig{Channels: configs})
	if err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	_, err = m.Handle(0, 0, core.NoNumber, payload)
	if err == nil {
		if wantErr != nil {
			t.Fatalf("the channels take what the oracle refuses: %v", wantErr)
		}
		return
	}
	refused := err.(*core.Error)
	own := refused.Code() == channel.CodeChannelKind || refused.Code() == channel.CodeUnknownChannel
	w, _ := wantErr.(*channeloracle.Error)
	stats := m.Stats()
	switch {
	case w == nil && !own, w != nil && refused.Place() > w.At, w != nil && !own && (refused.Place() != w.At || string(refused.Code()) != w.Code):
		t.Fatalf("the channels refuse it with %v, the oracle with %v", err, wantErr)
	case m.Deadline() != core.Never || stats.Payloads != 0 || stats.Refused(refused.Code()) != 1:
		t.Fatalf("refused with %v, but something is due at %d: %+v", err, m.Deadline(), stats)
	}
}

// compareCodes: both take it, or both refuse it with the same code and byte.
func compareCodes(t T, err, want error) {
	t.Helper()
	if err == nil && want == nil {
		return
	}
	got, isOurs := err.(*core.Error)
	w, refused := want.(*channeloracle.Error)
	if !isOurs || !refused || string(got.Code()) != w.Code || got.Place() != w.At {
		t.Fatalf("the codec says %v, the oracle %v", err, want)
	}
}

func sameRecords(a channel.Record, b channeloracle.Record) bool {
	o := oracleRecord(a)
	return o.Type == b.Type && o.Channel == b.Channel && o.Sequence == b.Sequence && o.Index == b.Index && o.Count == b.Count &&
		o.Room == b.Room && slices.Equal(o.Groups, b.Groups) && bytes.Equal(o.Data, b.Data)
}

// oracleRecord returns a record as the oracle has it.
func oracleRecord(r channel.Record) channeloracle.Record {
	o := channeloracle.Record{
		Type: r.Type.String(), Channel: int64(r.Channel), Sequence: int64(r.Sequence), Index: int64(r.Index),
		Count: int64(r.Count), Room: int64(r.Room), Data: r.Data,
	}
	for _, g := range r.Groups {
		o.Groups = append(o.Groups, channeloracle.Group{Start: int64(g.Start), Bits: int64(g.Bits)})
	}
	return o
}

// ourRecord returns a record of the oracle as the codec has it.
func ourRecord(o channeloracle.Record) channel.Record {
	r := channel.Record{
		Channel: uint8(o.Channel), Sequence: uint16(o.Sequence), Index: int(o.Index), Count: int(o.Count), Room: int(o.Room), Data: o.Data,
	}
	for t := channel.TypePad; t <= channel.TypeStatus; t++ {
		if t.String() == o.Type {
			r.Type = t
		}
	}
	for _, g := range o.Groups {
		r.Groups = append(r.Groups, channel.Group{Start: uint16(g.Start), Bits: uint32(g.Bits)})
	}
	return r
}

// readRecords reads records until the script ends, at most 8, and one at least. Each is its
// type and its channel, a byte each, its sequence, 2 bytes, and its other fields.
func readRecords(s *script) (list []channel.Record) {
	for range 8 {
		r := channel.Record{Type: channel.Type(s.byte() % 9), Channel: s.byte(), Sequence: s.uint16()}
		switch r.Type {
		case channel.TypeUnreliable, channel.TypeMessage:
			r.Data = noise[:int(s.uint16())%1200]
		case channel.TypeFragment:
			r.Index, r.Count = int(int8(s.byte())), int(int8(s.byte()))
			r.Data = noise[:int(s.uint16())%1200]
		case channel.TypeSkip:
			r.Count = int(int16(s.uint16()))
		case channel.TypeReport:
			r.Room = int(int16(s.uint16()))
			for range s.byte() % 36 {
				r.Groups = append(r.Groups, channel.Group{Start: s.uint16(), Bits: s.uint32()})
			}
		}
		if list = append(list, r); !s.more() {
			break
		}
	}
	return list
}

// recordsScript is the inverse of readRecords.
func recordsScript(list []channel.Record) (out []byte) {
	for _, r := range list {
		out = appendUint16(append(out, byte(r.Type), r.Channel), r.Sequence)
		switch r.Type {
		case channel.TypeUnreliable, channel.TypeMessage:
			out = appendUint16(out, uint16(len(r.Data)))
		case channel.TypeFragment:
			out = appendUint16(append(out, byte(r.Index), byte(r.Count)), uint16(len(r.Data)))
		case channel.TypeSkip:
			out = appendUint16(out, uint16(r.Count))
		case channel.TypeReport:
			out = append(appendUint16(out, uint16(r.Room)), byte(len(r.Groups)))
			for _, g := range r.Groups {
				out = appendUint32(appendUint16(out, g.Start), g.Bits)
			}
		}
	}
	return out
}

// runRow encodes records with any fields (CHR-7, CHR-13).
func runRow(t T, f channel.Format, list []channel.Record) {
	t.Helper()
	var records []channeloracle.Record
	for _, r := range list {
		records = append(records, oracleRecord(r))
	}
	want, wantErr := channeloracle.Encode(oracleFormat(f), records)
	var got []byte
	var err error
	for i := 0; i < len(list) && err == nil; i++ {
		before := len(got)
		if got, err = f.Append(got, &list[i]); err == nil && len(got)-before != list[i].Size() {
			t.Fatalf("record %d has %d bytes, not %d", i, len(got)-before, list[i].Size())
		} else if err != nil && len(got) != before {
			t.Fatalf("record %d is refused, but %d bytes were written", i, len(got)-before)
		}
	}
	if verbose() {
		t.Logf("%+v, %+v: %x, %v", f, list, got, err)
	}
	compareCodes(t, err, wantErr)
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("encoded to %x, by the oracle to %x", got, want)
	}
	if err == nil {
		runPayload(t, f, got)
	}
}

// runReport makes the report of missing sequences (CHV-6): channel, base, room, and distances.
func runReport(t T, s *script) {
	t.Helper()
	id, base, room := s.byte(), s.uint16(), int(s.uint16())
	var missing []uint16
	var list []int64
	for d := 0; s.more() && d < 1<<16; d += 1 + int(s.byte())*int(s.byte())/8 {
		missing = append(missing, base+uint16(d))
		list = append(list, int64(base)+int64(d))
	}
	r := channel.NewReport(id, base, room, missing)
	want := channeloracle.Record{Type: channeloracle.Report, Channel: int64(id), Sequence: int64(base), Room: int64(room), Groups: channeloracle.Groups(list, channeloracle.MostGroups)}
	if verbose() {
		t.Logf("%d missing: %+v", len(missing), r)
	}
	if !sameRecords(r, want) {
		t.Fatalf("the report is %+v, the oracle's %+v", r, want)
	}
	f := channel.Format{Window: 16384}
	got, err := f.Append(nil, &r)
	encoded, wantErr := channeloracle.Encode(channeloracle.Usual, []channeloracle.Record{want})
	compareCodes(t, err, wantErr)
	if !bytes.Equal(got, encoded) {
		t.Fatalf("encoded to %x, by the oracle to %x", got, encoded)
	}
}

// usualFormat is the script of the format in which vectors have their records (CHO-3).
var usualFormat = []byte{9, 0xff, 3, 62}

// seedRecords are the vectors of the codec, and payloads of the machines' traces.
func seedRecords(files []testvectors.File) (seeds [][]byte) {
	add := func(format []byte, kind byte, rest []byte) {
		seeds = append(seeds, append(append(slices.Clip(format), kind), rest...))
	}
	for _, q := range requests[contract.RecordsDecodeRequest](files, contract.OpRecordsDecode) {
		add(usualFormat, 0, bytesOf(&q.Hex))
	}
	for _, q := range requests[contract.RecordsEncodeRequest](files, contract.OpRecordsEncode) {
		if list, ok := recordsOf(q.Records); ok {
			add(usualFormat, 1, recordsScript(list))
		}
	}
	for _, q := range requests[contract.ChannelReportRequest](files, contract.OpChannelReport) {
		out := appendUint16(appendUint16([]byte{byte(q.Channel)}, q.Base), uint16(q.Room))
		for i := 1; i < len(q.Missing); i++ {
			d := q.Missing[i] - q.Missing[i-1] - 1
			out = append(out, byte(min(d, 255)), 8) // those far apart come nearer
		}
		add(usualFormat, 2, out)
	}
	small := []byte{1, 3, 0, 2} // a window of 64, 4 bytes, 4 fragments
	for n, r := range [][]byte{{3, 1, 0, 0, 3, 4, 4, 0}, {3, 1, 0, 0, 3, 5, 4, 0}, {3, 1, 0, 0, 2, 4, 3, 0}, {3, 1, 0, 0, 0xff, 4, 4, 0}, {2, 1, 0, 0, 5, 0}, {2, 64, 0, 0, 1, 0}, {7, 1}, {8, 1}, {0, 1, 0, 0, 0}, {5, 1, 0, 0, 0xff, 0xff, 0}, {4, 1, 0, 0, 0, 0}} {
		add(small, 1, r)
		add(small, 1, append(recordsScript([]channel.Record{{Type: channel.TypeStatus, Channel: byte(n)}}), r...))
	}
	return seeds
}

// recordsOf returns records of a request that the fields of the codec can hold.
func recordsOf(list []contract.Record) (out []channel.Record, ok bool) {
	for _, r := range list {
		o := channeloracle.Record{Type: r.Type, Data: bytesOf(r.Data)}
		for _, f := range []struct {
			to   *int64
			from *int64
			low  int64
			high int64
		}{
			{&o.Channel, r.Channel, 0, 255}, {&o.Sequence, r.Sequence, 0, 65535}, {&o.Sequence, r.First, 0, 65535}, {&o.Sequence, r.Base, 0, 65535},
			{&o.Sequence, r.Next, 0, 65535}, {&o.Index, r.Index, -128, 127}, {&o.Count, r.Count, -128, 127}, {&o.Room, r.Room, -32768, 32767},
		} {
			if f.from == nil {
				continue
			}
			if *f.to = *f.from; *f.from < f.low || *f.from > f.high {
				return nil, false
			}
		}
		if r.Groups != nil {
			for _, g := range *r.Groups {
				if g[0]>>16 != 0 || g[1]>>32 != 0 {
					return nil, false
				}
				o.Groups = append(o.Groups, channeloracle.Group{Start: g[0], Bits: g[1]})
			}
		}
		out = append(out, ourRecord(o))
	}
	return out, len(out) > 0
}
