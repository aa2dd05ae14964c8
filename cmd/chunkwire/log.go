package main

import "github.com/chunkwire/chunkwire/eventlog"

// logHeader is the header of a command's event log.
func logHeader(command string, end eventlog.End) eventlog.Header {
	return eventlog.Header{Title: "chunkwire " + command, By: "chunkwire " + version(), View: end}
}
