package main

import (
	"os"
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
	f.StringVar(&l.log, "log", "", "write an event log to this `FILE`; 'chunkwire view' shows it")
}

// eventLog is a file that is being written; nil is none.
type eventLog struct {
	start  time.Time
	file   *os.File
	writer *eventlog.Writer
}

// open begins the file.
func (l *logFlag) open(command string, end eventlog.End) (*eventLog, error) {
	if l.log == "" {
		return nil, nil
	}
	f, err := os.Create(l.log)
	if err != nil {
		return nil, err
	}
	header := logHeader(command, end)
	header.Wall = time.Now()
	return &eventLog{header.Wall, f, eventlog.NewWriter(f, header)}, nil
}

// fromNow returns a log whose time 0 is now, as that of a socket's driver is when it begins.
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
