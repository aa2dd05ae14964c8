package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// openInput opens a file. Standard input and what else can be read only once is
// put aside, since its hash goes ahead.
func openInput(ctx context.Context, name string, stdin io.Reader) (io.ReadSeekCloser, error) {
	if name == "-" {
		return putAside(ctx, stdin, "standard input")
	}
	var file *os.File
	err := orEnd(ctx, func() (err error) { // a named pipe waits for its writer
		file, err = os.Open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, fmt.Errorf("%s is a directory; send an archive of it, such as tar makes", name)
	}
	if _, err := file.Seek(0, io.SeekCurrent); err != nil {
		defer file.Close()
		return putAside(ctx, file, name)
	}
	return file, nil
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
