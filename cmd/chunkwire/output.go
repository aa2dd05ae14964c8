package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// output is where a received file goes.
type output interface {
	// open begins the file; the context also ends its writes.
	open(context.Context) (sink, error)
	// discard removes a file that is not committed.
	discard()
	// another returns an output in the same place, of which only one can be committed; nil if
	// bytes appear as they come.
	another() output
}

// sink takes the bytes of a file, and then gives it its name.
type sink interface {
	io.Writer
	Commit() error
}

// newOutput returns what a value of --out means, and checks early that it can be
// written. With keep a file that is there is not replaced.
func newOutput(name string, stdout io.Writer, keep bool) (output, error) {
	if name == "-" {
		return &stream{w: stdout}, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newFile(name)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; --out wants a file", name)
	case !info.Mode().IsRegular():
		return &stream{name: name}, nil
	case keep:
		return nil, fmt.Errorf("%s exists, and --no-replace is given", name)
	}
	return overwrite(name, info.Mode().Perm())
}

// isStdout reports whether a name, such as /dev/stdout, is standard output.
func isStdout(name string, stdout io.Writer) bool {
	if name == "-" {
		return true
	}
	f, ok := stdout.(*os.File)
	if !ok {
		return false
	}
	here, err1 := f.Stat()
	there, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}

// regular is a regular file. Its bytes first go to a part file beside it, so that
// the name never shows half of it.
type regular struct {
	name string
	part string
	mode fs.FileMode // of the file that is there, or 0
	f    *os.File    // the part file while it is open
}

func newFile(name string) (*regular, error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s is a symbolic link to a file that does not exist", name)
	}
	return checkFile(name, 0)
}

// overwrite replaces a file, and not a symbolic link to it. One that cannot be
// written is not replaced either, although its folder would allow that.
func overwrite(name string, mode fs.FileMode) (*regular, error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return checkFile(target, mode)
}

func checkFile(name string, mode fs.FileMode) (*regular, error) {
	if folder := filepath.Dir(name); !isFolder(folder) {
		return nil, fmt.Errorf("there is no folder %s", folder)
	}
	o := &regular{name: name, mode: mode, part: partFileName(name)}
	err := o.create()
	o.discard()
	return o, err
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// longestName is the most bytes that a name has on common file systems.
const longestName = 255

// partFileName returns the name of the part file, in the same folder: as long as a name
// can be, it begins like the file's.
func partFileName(name string) string {
	suffix := "." + strings.ToLower(rand.Text()[:8]) + ".part"
	dir, base := filepath.Split(name)
	if most := longestName - len(suffix); len(base) > most {
		base = strings.ToValidUTF8(base[:most], "")
	}
	return dir + base + suffix
}

func (o *regular) create() (err error) {
	mode := o.mode
	if mode == 0 {
		mode = 0o666
	}
	if o.f, err = os.OpenFile(o.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
		o.f = nil
		return err
	}
	if o.mode != 0 {
		return o.f.Chmod(o.mode) // what the umask took away
	}
	return nil
}

func (o *regular) open(context.Context) (sink, error) { return o, o.create() }

func (o *regular) another() output {
	return &regular{name: o.name, mode: o.mode, part: partFileName(o.name)}
}

func (o *regular) Write(p []byte) (int, error) { return o.f.Write(p) }

// Commit gives the file its name.
func (o *regular) Commit() error {
	if err := errors.Join(o.f.Sync(), o.f.Close()); err != nil {
		return err
	}
	err := os.Rename(o.part, o.name)
	if err == nil {
		o.f = nil
	}
	return err
}

func (o *regular) discard() {
	if o.f != nil {
		_ = o.f.Close()
		_ = os.Remove(o.part)
		o.f = nil
	}
}

// stream is what cannot be put aside and renamed: standard output, a named
// pipe, a device. It is written straight to.
type stream struct {
	name string // empty for standard output
	w    io.Writer
	f    *os.File // if it was opened here
	ctx  context.Context
}

// open opens a named pipe or a device only now: a pipe waits for its reader.
func (s *stream) open(ctx context.Context) (sink, error) {
	s.ctx = ctx
	ignoreBrokenPipe()
	if s.name == "" {
		return s, nil
	}
	opened := make(chan *os.File, 1)
	err := orEnd(ctx, func() error {
		f, err := os.OpenFile(s.name, os.O_WRONLY, 0)
		opened <- f
		return err
	})
	if err == nil {
		s.f = <-opened
		s.w = s.f
	}
	return s, err
}

func (s *stream) another() output { return nil }

func (s *stream) Write(p []byte) (int, error) {
	err := orEnd(s.ctx, func() error {
		_, err := s.w.Write(p)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *stream) Commit() error {
	if s.f == nil {
		return nil
	}
	f := s.f
	s.f = nil
	return f.Close()
}

func (s *stream) discard() {
	if s.f != nil {
		_ = s.f.Close()
	}
}
