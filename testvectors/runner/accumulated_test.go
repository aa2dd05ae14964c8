package runner

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors"
)

// The runs' hashes come from the oracle; here the codec makes them again (ACC-1 to ACC-3).
func TestAccumulated(t *testing.T) {
	runs, err := testvectors.LoadAccumulated()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		t.Run(run.Name, func(t *testing.T) {
			if run.Packets > 10_000 {
				t.Skip("takes long: chunkwire conformance --long has it")
			}
			var result Result
			a := newAccumulation(run, &result, func(int) {}, func() string { return "1" })
			for a.next() != nil {
			}
			if a.end(); result.Status != Passed {
				t.Errorf("%+v", result)
			}
		})
	}
}
