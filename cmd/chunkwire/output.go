package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/chunkwire/chunkwire/transport"
)

// output is where a received file goes: first to a temporary file beside its
// name, so that the name never shows half of it, or straight to standard output.
type output struct {
	name   string
	stdout *bufio.Writer // instead of a file
	part   *os.File
}

// newOutput checks early that the name can be written.
func newOutput(name string, stdout io.Writer) (*output, error) {
	if name == "-" {
		return &output{stdout: bufio.NewWriterSize(stdout, 1<<16)}, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; --out wants a file", name)
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", filepath.Dir(name))
	}
	return &output{name: name}, nil
}

// open begins the file.
func (o *output) open(transport.FileInfo) (transport.FileSink, error) {
	if o.stdout != nil {
		return o, nil
	}
	part, err := os.OpenFile(fmt.Sprintf("%s.%d.part", o.name, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	o.part = part
	return o, err
}

func (o *output) Write(p []byte) (int, error) {
	if o.stdout != nil {
		return o.stdout.Write(p)
	}
	return o.part.Write(p)
}

// Commit gives the file its name.
func (o *output) Commit() error {
	if o.stdout != nil {
		return o.stdout.Flush()
	}
	if err := errors.Join(o.part.Sync(), o.part.Close()); err != nil {
		return err
	}
	err := os.Rename(o.part.Name(), o.name)
	if err == nil {
		o.part = nil
	}
	return err
}

// discard removes what was not committed.
func (o *output) discard() {
	if o.part != nil {
		_ = o.part.Close()
		_ = os.Remove(o.part.Name())
	}
}
