package connection

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/core"
)

// Each code that a decoder of bodies can give is one of a record, too (CXR-26). Those of the
// frame are not: a record has none.
func TestCodesOfBodies(t *testing.T) {
	frame := map[string]bool{"crc_mismatch": true, "bad_end_check": true, "invalid_field": true}
	tried := 0
	for _, c := range layout.Formats().Checks {
		if c.Document != "spec/PROTOCOL.md" && c.Document != "spec/REPAIR.md" {
			continue
		}
		for _, row := range c.Rows {
			for _, code := range row.Codes {
				if frame[code] {
					continue
				}
				tried++
				inner := (&core.Format{Name: "codec", Unit: "bit"}).Rule(row.ID, core.Code(code), "", 8, 8)
				check.Equal(t, row.ID, inBody(inner.At(8), 3).Code(), core.Code(code))
			}
		}
	}
	check.That(t, tried > 10, "the documents have codes")
}
