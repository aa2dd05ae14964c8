package channeloracle_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// refusal is what both say of what they refuse.
type refusal struct {
	code string
	at   int
}

func ofPackage(err error) refusal {
	var e *channel.Error
	if !errors.As(err, &e) {
		return refusal{}
	}
	return refusal{string(e.Code()), e.Place()}
}

func ofOracle(err error) refusal {
	var e *channeloracle.Error
	if !errors.As(err, &e) {
		return refusal{}
	}
	return refusal{e.Code, e.At}
}

// typesByName are the package's types by the oracle's names.
var typesByName = map[string]channel.Type{
	channeloracle.Pad: channel.TypePad, channeloracle.Unreliable: channel.TypeUnreliable, channeloracle.Message: channel.TypeMessage, channeloracle.Fragment: channel.TypeFragment,
	channeloracle.Skip: channel.TypeSkip, channeloracle.Report: channel.TypeReport, channeloracle.Status: channel.TypeStatus,
}

// toPackage and toOracle are a record as the other one has it.
func toPackage(r channeloracle.Record) channel.Record {
	p := channel.Record{
		Type: typesByName[r.Type], Channel: uint8(r.Channel), Sequence: uint16(r.Sequence),
		Index: int(r.Index), Count: int(r.Count), Room: int(r.Room), Data: r.Data,
	}
	for _, g := range r.Groups {
		p.Groups = append(p.Groups, channel.Group{Start: uint16(g.Start), Bits: uint32(g.Bits)})
	}
	return p
}

func toOracle(p *channel.Record) channeloracle.Record {
	r := channeloracle.Record{
		Type: p.Type.String(), Channel: int64(p.Channel), Sequence: int64(p.Sequence),
		Index: int64(p.Index), Count: int64(p.Count), Room: int64(p.Room), Data: bytes.Clone(p.Data),
	}
	for _, g := range p.Groups {
		r.Groups = append(r.Groups, channeloracle.Group{Start: int64(g.Start), Bits: int64(g.Bits)})
	}
	return r
}

// decode decodes a payload with the package.
func decode(f channel.Format, payload []byte) (list []channeloracle.Record, err error) {
	var r channel.Record
	for at, more := 0, true; more; more = at < len(payload) {
		if at, err = f.Decode(payload, at, &r); err != nil {
			return nil, err
		}
		list = append(list, toOracle(&r))
	}
	return list, nil
}

// encode encodes records with the package.
func encode(f channel.Format, list []channeloracle.Record) (payload []byte, err error) {
	for _, r := range list {
		p := toPackage(r)
		if payload, err = f.Append(payload, &p); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

func packageFormat(f channeloracle.Format) channel.Format {
	return channel.Format{Window: int(f.Window), Data: int(f.Data), Group: int(f.Group)}
}

func anyFormat(t *rapid.T) channeloracle.Format {
	return channeloracle.Format{
		Window: rapid.SampledFrom([]int64{32, 64, 512, 16384}).Draw(t, "window"), Data: rapid.Int64Range(1, 9).Draw(t, "data"), Group: rapid.Int64Range(2, 64).Draw(t, "group"),
	}
}

var names = []string{channeloracle.Unreliable, channeloracle.Message, channeloracle.Fragment, channeloracle.Skip, channeloracle.Report, channeloracle.Status}

// wildRecord is a record whose values are near what is allowed.
func wildRecord(t *rapid.T, f channeloracle.Format) channeloracle.Record {
	near := func(name string, values ...int64) int64 { return rapid.SampledFrom(values).Draw(t, name) }
	r := channeloracle.Record{
		Type: rapid.SampledFrom(names).Draw(t, "type"), Channel: near("channel", 0, 0, 0, 1, 63, 64, 255), Sequence: near("sequence", 0, 1, 100, 32767, 32768, 65500, 65535),
		Index: near("index", 0, 1, 2, f.Group-1, f.Group, 255), Count: near("count", 2, 2, 3, f.Group, f.Group+1, 1, 256), Room: near("room", 0, 1, 33, 34, f.Window, f.Window+1),
	}
	if r.Type == channeloracle.Report {
		start := r.Sequence
		for range rapid.IntRange(0, 4).Draw(t, "groups") {
			start += near("step", 0, 0, 1, 32, 33, 33, 34, 66)
			r.Groups = append(r.Groups, channeloracle.Group{Start: start & 65535, Bits: int64(rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0, 3), rapid.Just(uint32(0))).Draw(t, "bits"))})
		}
	} else if r.Type != channeloracle.Skip && r.Type != channeloracle.Status {
		size := int(near("size", f.Data, f.Data, 1, 0, f.Data+1))
		r.Data = rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes")
	}
	return r
}

func TestEncodersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFormat(t)
		var list []channeloracle.Record
		for range rapid.IntRange(1, 3).Draw(t, "records") {
			list = append(list, wildRecord(t, f))
		}
		want, err := channeloracle.Encode(f, list)
		got, err2 := encode(packageFormat(f), list)
		if ofOracle(err) != ofPackage(err2) || !bytes.Equal(want, got) {
			t.Fatalf("%+v: %x, %v, the oracle %x, %v", list, got, err2, want, err)
		}
	})
}

// wildPayload is a payload: of records that may be faulty, damaged, cut off, or random.
func wildPayload(t *rapid.T, f channeloracle.Format) (b []byte) {
	if rapid.IntRange(0, 3).Draw(t, "random") == 0 {
		return rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 3, 4, 5, 6, 7, 63, 64, 255}), 0, 40).Draw(t, "bytes")
	}
	wide := channeloracle.Format{Window: 65535, Data: 65535, Group: 256}
	for range rapid.IntRange(1, 3).Draw(t, "records") {
		r := wildRecord(t, f)
		r.Channel = min(r.Channel, 63)
		if part, err := channeloracle.Encode(wide, []channeloracle.Record{r}); err == nil {
			b = append(b, part...)
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		if len(b) > 0 {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
	}
	return b
}

func TestDecodersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFormat(t)
		b := wildPayload(t, f)
		want, err := channeloracle.Decode(f, b)
		got, err2 := decode(packageFormat(f), b)
		if ofOracle(err) != ofPackage(err2) {
			t.Fatalf("%x: %v, the oracle %v", b, err2, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%x (-oracle +package): %s", b, diff)
		}
	})
}

func TestReportsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(rapid.Uint16(), rapid.Just(uint16(65530))).Draw(t, "base")
		missing := []uint16{base}
		numbers := []int64{int64(base)}
		for d := 0; ; {
			if d += rapid.SampledFrom([]int{1, 1, 2, 31, 32, 33, 34, 100, 700}).Draw(t, "step"); d >= 16384 || len(missing) > 90 {
				break
			}
			missing, numbers = append(missing, base+uint16(d)), append(numbers, int64(base)+int64(d))
		}
		want := channeloracle.Record{Type: channeloracle.Report, Sequence: int64(base), Room: 16384, Groups: channeloracle.Groups(numbers, channeloracle.MostGroups)}
		got := channel.NewReport(0, base, 16384, missing)
		if diff := cmp.Diff(want, toOracle(&got)); diff != "" {
			t.Fatalf("%d (-oracle +package): %s", missing, diff)
		}
	})
}
