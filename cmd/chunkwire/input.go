package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/term"
)

// openInput opens a file. Standard input and what else can be read only once is
// put aside, since its size goes ahead, and so is a file that does not know it, such as
// those that the system makes up when they are read.
func openInput(ctx context.Context, name string, stdin io.Reader) (io.ReadSeekCloser, error) {
	if name == "-" {
		return putAside(ctx, stdin, "standard input")
	}
	var f *os.File
	err := orEnd(ctx, func() (err error) { // a named pipe waits for its writer
		f, err = os.Open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := checkInput(f, name); err != nil {
		f.Close()
		return nil, err
	}
	if size, err := f.Seek(0, io.SeekEnd); err != nil || size == 0 || isTerminal(f) {
		defer f.Close()
		return putAside(ctx, f, name)
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// checkInput refuses what is no file. A device such as /dev/zero has no end, and so
// no size.
func checkInput(f *os.File, name string) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil // reading says why
	case info.IsDir():
		return fmt.Errorf("%s is a directory; send an archive of it, such as tar makes", name)
	case info.Mode()&fs.ModeCharDevice == 0 || term.IsTerminal(int(f.Fd())):
		return nil
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return nil
	}
	return fmt.Errorf("%s is a device, which can have no end; copy the part that you want to a file or a pipe, for example with head -c", name)
}

// spool is a temporary file.
type spool struct {
	*os.File
	named bool // the system does not remove open files
}

// putAside copies what can be read only once.
func putAside(ctx context.Context, r io.Reader, what string) (*spool, error) {
	f, err := os.CreateTemp("", "chunkwire-*")
	if err != nil {
		return nil, err
	}
	// Removed at once where the system allows, so that nothing stays behind.
	s := &spool{f, os.Remove(f.Name()) != nil}
	err = orEnd(ctx, func() error {
		_, err := io.Copy(f, r)
		return err
	})
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("putting %s aside: %w", what, err)
	}
	return s, nil
}

func (s *spool) Close() error {
	err := s.File.Close()
	if s.named {
		_ = os.Remove(s.Name())
	}
	return err
}
