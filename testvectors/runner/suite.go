package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Suite is what a port can be asked.
type Suite struct {
	Files       []testvectors.File
	Accumulated []testvectors.Accumulated
	Lines       []testvectors.Line
}

// Embedded returns the vectors of the repository, or of the release.
func Embedded() (Suite, error) {
	files, err := testvectors.Load()
	if err != nil {
		return Suite{}, err
	}
	runs, err := testvectors.LoadAccumulated()
	if err != nil {
		return Suite{}, err
	}
	lines, err := testvectors.Lines()
	return Suite{files, runs, lines}, err
}

// ReadDir returns the vectors of a folder, which need not have seeded runs.
func ReadDir(dir string) (Suite, error) {
	files, err := testvectors.LoadFS(os.DirFS(dir), ".")
	if err != nil {
		return Suite{}, err
	}
	runs, err := testvectors.LoadAccumulatedFS(os.DirFS(dir), ".")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && len(files)+len(runs) == 0 {
		err = fmt.Errorf("no vectors in %s", dir)
	}
	return Suite{Files: files, Accumulated: runs}, err
}

// has reports whether something in the suite is called by a name.
func (s *Suite) has(name string) bool {
	_, ok := s.Vector(name)
	return ok || name == endOfInput ||
		slices.ContainsFunc(s.Accumulated, func(a testvectors.Accumulated) bool { return a.Name == name }) ||
		slices.ContainsFunc(s.Lines, func(l testvectors.Line) bool { return l.Name == name })
}

// Vector returns a vector by its name.
func (s *Suite) Vector(name string) (testvectors.Vector, bool) {
	for _, f := range s.Files {
		for _, v := range f.Vectors {
			if v.Name == name {
				return v, true
			}
		}
	}
	return testvectors.Vector{}, false
}

// Request returns the request of a vector as a line for a port.
func (s *Suite) Request(name string) ([]byte, bool) {
	v, ok := s.Vector(name)
	if !ok {
		return nil, false
	}
	return withID(v.Request, "1"), true
}
