package main

import (
	"math"
	"testing"
	"time"
)

func TestQuantities(t *testing.T) {
	cases := []struct {
		text  string
		bits  int64 // -1: refused
		bytes int64
	}{
		{"0", 0, 0}, {"1500", 1500, 1500}, {"64k", 64_000, 65_536}, {"64K", 64_000, 65_536},
		{"1.5M", 1_500_000, 1_572_864}, {"2G", 2_000_000_000, 2_147_483_648},
		{"", -1, -1}, {"k", -1, -1}, {"-1", -1, -1}, {"1T", -1, -1}, {"NaN", -1, -1}, {"1e99", -1, -1}, {"9G", -1, -1},
	}
	for _, c := range cases {
		var bits, bytes int64
		for _, q := range []struct {
			err       error
			got, want int64
		}{
			{bitRate(&bits, 0).Set(c.text), bits, c.bits},
			{byteSize(&bytes, 0, 4<<30).Set(c.text), bytes, c.bytes},
		} {
			if q.want == -1 {
				if q.err == nil {
					t.Errorf("%q was taken", c.text)
				}
			} else if q.err != nil {
				t.Errorf("%q: %v", c.text, q.err)
			}
		}
		if c.bits >= 0 && (bits != c.bits || bytes != c.bytes) {
			t.Errorf("%q is %d bits and %d bytes, want %d and %d", c.text, bits, bytes, c.bits, c.bytes)
		}
	}
}

func TestQuantitiesShowAsTheyAreWritten(t *testing.T) {
	var v int64
	for _, text := range []string{"0", "1500", "64k", "3M", "1G"} {
		if err := bitRate(&v, 0).Set(text); err != nil || bitRate(&v, v).String() != text {
			t.Errorf("%s shows as %s (%v)", text, bitRate(&v, v), err)
		}
	}
}

func TestPercent(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "5": 5, "0.5%": 0.5, "100": 100, "101": -1, "-1": -1, "x": -1, "NaN": -1} {
		value := -1.0
		err := percent{&value}.Set(text)
		if value != want || (err == nil) != (want >= 0) {
			t.Errorf("%q is %v %%, %v", text, value, err)
		}
	}
}

func TestProtocolID(t *testing.T) {
	var id uint32
	for text, want := range map[string]uint32{"0x11223344": 0x11223344, "7": 7, "4294967295": math.MaxUint32} {
		if err := (protocolID{&id}).Set(text); err != nil || id != want {
			t.Errorf("%s: %d, %v", text, id, err)
		}
	}
	if err := (protocolID{&id}).Set("4294967296"); err == nil {
		t.Error("33 bits were taken")
	}
}

// The article's arithmetic: 1 % loss, 256 fragments.
func TestFragmentingEstimate(t *testing.T) {
	f := estimateFragmenting(262144, 1, 50*time.Millisecond, 0)
	if math.Abs(f.Whole-0.0763) > 0.0001 || math.Abs(f.Attempts-13.1) > 0.01 {
		t.Errorf("%.4f arrive whole, %.2f attempts", f.Whole, f.Attempts)
	}
	if f := estimateFragmenting(262144, 100, 0, 0); formatSeconds(f.Seconds) != "never" || formatCount(f.Attempts) != "never" {
		t.Errorf("with all lost: %+v", f)
	}
	// A link of 1 Mbit/s sets the pace: 2.18 s for all bytes.
	if f := estimateFragmenting(262144, 0, 0, 1e6); math.Abs(f.Seconds-2.181) > 0.001 {
		t.Errorf("%.4f s at 1 Mbit/s", f.Seconds)
	}
}

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		formatSeconds(0.147): "147 ms", formatSeconds(9.97): "10.0 s", formatSeconds(600): "10 minutes",
		formatSeconds(36000): "10.0 hours", formatSeconds(10 * 86400): "10 days", formatSeconds(1e9): "31.7 years",
		formatCount(13.1): "13.1", formatCount(504379): "504379", formatCount(1.29e8): "129.0 million", formatCount(3e10): "30.0 billion", formatCount(1e15): "more than a trillion",
		formatSeconds(1e13): "316881 years", formatSeconds(1e14): "more than a million years", formatSeconds(math.Inf(1)): "never",
		formatRate(0): "none", formatRate(1e-9): "less than 1 bit/s", formatRate(58): "58 bit/s",
		formatBytes(262144): "256 KiB", formatBytes(1): "1 B", formatBits(1.5e6): "1.5 Mbit/s",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
