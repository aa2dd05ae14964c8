package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// quantity is a flag value with a suffix: a rate in bits a second (k, M, G are
// powers of 1000) or a size in bytes (K, M, G are powers of 1024).
type quantity struct {
	value *int64
	unit  string
	base  float64
	limit int64
}

func bitRate(value *int64, preset int64) pflag.Value {
	*value = preset
	return &quantity{value, "BITS", 1000, 8_000_000_000}
}

func byteSize(value *int64, preset, limit int64) pflag.Value {
	*value = preset
	return &quantity{value, "BYTES", 1024, limit}
}

func (q *quantity) Type() string { return q.unit }

func (q *quantity) String() string {
	v, base, suffix := *q.value, int64(q.base), ""
	for _, s := range []string{"K", "M", "G"} {
		if v == 0 || v%base != 0 {
			break
		}
		v, suffix = v/base, s
	}
	if q.base == 1000 {
		suffix = strings.Replace(suffix, "K", "k", 1)
	}
	return strconv.FormatInt(v, 10) + suffix
}

func (q *quantity) Set(text string) error {
	number, factor := text, 1.0
	if n := len(text); n > 0 {
		if power := strings.IndexByte("KMG", text[n-1]&^0x20) + 1; power > 0 {
			number, factor = text[:n-1], math.Pow(q.base, float64(power))
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || v < 0 {
		return fmt.Errorf("want a number such as 1500, 64k or 1.5M")
	}
	if v*factor > float64(q.limit) {
		return fmt.Errorf("more than the limit of %d", q.limit)
	}
	*q.value = int64(v * factor)
	return nil
}

// percent is a flag value in percent.
type percent struct{ value *float64 }

func (p percent) Type() string   { return "PERCENT" }
func (p percent) String() string { return strconv.FormatFloat(*p.value, 'f', -1, 64) }

func (p percent) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return fmt.Errorf("want a number from 0 to 100")
	}
	*p.value = v
	return nil
}

// protocolID is a flag value: 32 bits, decimal or with 0x.
type protocolID struct{ id *uint32 }

func (p protocolID) Type() string   { return "ID" }
func (p protocolID) String() string { return fmt.Sprintf("%#x", *p.id) }

func (p protocolID) Set(text string) error {
	v, err := strconv.ParseUint(text, 0, 32)
	if err != nil {
		return fmt.Errorf("want a number of 32 bits, such as 0x11223344")
	}
	*p.id = uint32(v)
	return nil
}

// formatBytes writes a number of bytes as people read it.
func formatBytes(n float64) string { return formatScaled(n, 1024, "B", "KiB", "MiB", "GiB", "TiB") }

// exactBytes writes a number of bytes exactly, and as people read it.
func exactBytes(n int64) string {
	if n < 1024 {
		return countOf(n, "byte")
	}
	return fmt.Sprintf("%d bytes (%s)", n, formatBytes(float64(n)))
}

// countOf writes a number of things.
func countOf(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// formatBits writes a rate in bits a second as people read it.
func formatBits(n float64) string {
	return formatScaled(n, 1000, "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
}

func formatScaled(n, base float64, units ...string) string {
	i := 0
	for n >= base && i < len(units)-1 {
		n, i = n/base, i+1
	}
	if i == 0 || n >= 100 {
		return fmt.Sprintf("%.0f %s", n, units[i])
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}
