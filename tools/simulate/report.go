package simulate

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
)

// Report is what `simulate --json` prints.
type Report struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Size  int64  `json:"size"`
	PathReport
	Variant        string                     `json:"variant"` // VariantRepair or VariantSlices
	Profile        string                     `json:"profile"`
	SendRateBits   int64                      `json:"send_rate_bits"`
	Warm           bool                       `json:"warm"`
	Seed           uint64                     `json:"seed"`
	Seeds          int                        `json:"seeds"`
	LimitMS        float64                    `json:"limit_ms"`
	Failed         int                        `json:"failed"`
	DeliverMS      *measure.Quantile[float64] `json:"deliver_ms"` // nil, as the others, when all failed
	AckedMS        *measure.Quantile[float64] `json:"acked_ms"`
	BytesDownRatio *float64                   `json:"bytes_down_ratio"`
	BytesUpRatio   *float64                   `json:"bytes_up_ratio"`
	SlicesSent     *float64                   `json:"slices_sent"`
}

// The names of the variants in reports: slices are sent again.
const (
	VariantSlices = "slices"
	VariantRepair = "repair"
)

// VariantName returns the name of a variant.
func VariantName(repair bool) string {
	if repair {
		return VariantRepair
	}
	return VariantSlices
}

// Report sums up transfers; one that failed is nil.
func (s *Settings) Report(transfers []*chunk.Transfer) Report {
	r := Report{
		OK: true, Size: s.Size, PathReport: s.Path.Report(), Variant: VariantName(s.Repair), Profile: s.Pace.Name, SendRateBits: s.Pace.Rate, Warm: s.Warm,
		Seed: s.Seed, Seeds: s.Seeds, LimitMS: milliseconds(s.Limit),
	}
	var deliver, acked, down, up, slices []float64
	for _, t := range transfers {
		if t == nil {
			r.Failed++
			continue
		}
		deliver = append(deliver, float64(t.Delivered)/1000)
		acked = append(acked, float64(t.Acked)/1000)
		down = append(down, float64(t.BytesDown)/float64(s.Size))
		up = append(up, float64(t.BytesUp)/float64(s.Size))
		slices = append(slices, float64(t.SlicesSent))
	}
	r.DeliverMS, r.AckedMS = measure.Quantiles(deliver), measure.Quantiles(acked)
	r.BytesDownRatio, r.BytesUpRatio = median(down), median(up)
	r.SlicesSent = median(slices)
	if r.Failed == s.Seeds {
		r.OK, r.Error = false, s.noneDone()
	}
	return r
}

// noneDone says that no transfer was done.
func (s *Settings) noneDone() string {
	transfers := fmt.Sprintf("%d transfers", s.Seeds)
	if s.Seeds == 1 {
		transfers = "1 transfer"
	}
	return fmt.Sprintf("none of %s was done within %v of virtual time; allow more with --limit", transfers, s.Limit)
}

// median is the median alone, or nil where there are no values.
func median(values []float64) *float64 {
	if q := measure.Quantiles(values); q != nil {
		return &q.Median
	}
	return nil
}
