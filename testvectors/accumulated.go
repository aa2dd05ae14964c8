package testvectors

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"path"
)

// AccumulatedName is the name of the file of seeded runs.
const AccumulatedName = "accumulated.json"

// AccumulatedFile is the format of accumulated.json.
type AccumulatedFile struct {
	Format      int           `json:"format"`
	Description string        `json:"description"`
	License     string        `json:"license"`
	Runs        []Accumulated `json:"runs"`
}

// LoadAccumulated returns the seeded runs (appendix B, "Random packets").
func LoadAccumulated() ([]Accumulated, error) { return LoadAccumulatedFS(files, "files") }

// LoadAccumulatedFS returns the seeded runs of a folder. Its error is fs.ErrNotExist's if there are none.
func LoadAccumulatedFS(fsys fs.FS, dir string) ([]Accumulated, error) {
	var f AccumulatedFile
	if err := read(fsys, path.Join(dir, AccumulatedName), &f); err != nil {
		return nil, err
	}
	if f.Format != FormatVersion || f.License != License || len(f.Runs) == 0 {
		return nil, fmt.Errorf("%s: format %d, license %q, %d runs", AccumulatedName, f.Format, f.License, len(f.Runs))
	}
	for _, run := range f.Runs {
		if sum, err := hex.DecodeString(run.SHA256); err != nil || len(sum) != 32 {
			return nil, fmt.Errorf("%s: no SHA-256", run.Name)
		}
		if run.Seed < 1 || run.Seed > math.MaxUint32 || run.Packets < 1 {
			return nil, fmt.Errorf("%s: seed or number of packets out of range", run.Name)
		}
	}
	return f.Runs, nil
}
