package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Suite is what can be put to a port.
type Suite struct {
	Files       []testvectors.File
	Accumulated []testvectors.Accumulated
}

// Embedded returns the vectors that come with this program.
func Embedded() (Suite, error) {
	files, err := testvectors.Load()
	if err != nil {
		return Suite{}, err
	}
	runs, err := testvectors.LoadAccumulated()
	return Suite{files, runs}, err
}

// ReadDir returns the vectors of a folder.
func ReadDir(dir string) (Suite, error) {
	files, err := testvectors.LoadFS(os.DirFS(dir), ".")
	if err != nil {
		return Suite{}, err
	}
	runs, err := readAccumulated(filepath.Join(dir, testvectors.AccumulatedName))
	if err == nil && len(files)+len(runs) == 0 {
		err = fmt.Errorf("no vectors in %s", dir)
	}
	return Suite{files, runs}, err
}

// readAccumulated returns the seeded runs of a folder, which need not have any.
func readAccumulated(name string) ([]testvectors.Accumulated, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file testvectors.AccumulatedFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return file.Runs, nil
}

// has reports whether something in the suite is called by a name.
func (s *Suite) has(name string) bool {
	for _, f := range s.Files {
		for _, v := range f.Vectors {
			if v.Name == name {
				return true
			}
		}
	}
	for _, a := range s.Accumulated {
		if a.Name == name {
			return true
		}
	}
	return name == endOfInput
}
