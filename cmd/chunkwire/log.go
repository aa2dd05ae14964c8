package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// logHeader is the header of a command's event log.
func logHeader(command string, end eventlog.End) eventlog.Header {
	return eventlog.Header{Title: "chunkwire " + command, By: "chunkwire " + version(), View: end}
}

// logFlag is --log of commands that run in real time.
type logFlag struct{ log string }

func (l *logFlag) add(f *pflag.FlagSet) {
	f.StringVar(&l.log, "log", "", "write an event log to this `FILE`, compressed if its name ends with .gz; 'chunkwire view' shows it")
}

// eventLog is a file that is being written; nil is none.
type eventLog struct {
	start  time.Time
	file   *loggedFile
	writer *eventlog.Writer
}

// open begins the file.
func (l *logFlag) open(command string, end eventlog.End) (*eventLog, error) {
	if l.log == "" {
		return nil, nil
	}
	f, err := createLog(l.log)
	if err != nil {
		return nil, err
	}
	header := logHeader(command, end)
	header.Wall = time.Now()
	return &eventLog{header.Wall, f, eventlog.NewWriter(f, header)}, nil
}

// fromNow returns a log whose time 0 is now, as for the log of a socket's driver when it begins.
func (l *eventLog) fromNow() eventlog.Log {
	if l == nil {
		return nil
	}
	begins := core.FromDuration(time.Since(l.start))
	return func(e eventlog.Event) {
		e.At += begins
		l.writer.Log(e)
	}
}

// close ends the file, and reports what is missing in it.
func (l *eventLog) close(n note) {
	if l == nil {
		return
	}
	err := l.writer.Close()
	if closed := l.file.Close(); err == nil {
		err = closed
	}
	switch dropped := l.writer.Dropped(); {
	case err != nil:
		n.printf("the log is not complete: %v", err)
	case dropped > 0:
		n.printf("the log is not complete: %d events came faster than %s could take them", dropped, l.file.Name())
	}
}

// loggedFile is a file that is compressed if its name ends with .gz.
type loggedFile struct {
	*os.File
	compressed *gzip.Writer // or nil
}

func createLog(name string) (*loggedFile, error) {
	f, err := os.Create(name)
	l := &loggedFile{File: f}
	if strings.HasSuffix(name, ".gz") {
		l.compressed = gzip.NewWriter(f)
	}
	return l, err
}

func (l *loggedFile) Write(b []byte) (int, error) {
	if l.compressed != nil {
		return l.compressed.Write(b)
	}
	return l.File.Write(b)
}

func (l *loggedFile) Close() (err error) {
	if l.compressed != nil {
		err = l.compressed.Close()
	}
	return errors.Join(err, l.File.Close())
}

// readLogged reads a file, and expands it if it is compressed.
func readLogged(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, err
	}
	in, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(in)
}
