package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// readLog reads a log, each record of which must meet the schema.
func readLog(t *testing.T, path string) eventlog.File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return logtest.Read(t, b)
}

// countKinds counts the events of each kind.
func countKinds(events []eventlog.Event) map[eventlog.Kind]int {
	n := map[eventlog.Kind]int{}
	for _, e := range events {
		n[e.Kind]++
	}
	return n
}

// The logs of both ends of a transfer through loss agree: with each other, as to the
// connection and each slice that arrived, and with what the commands report.
func TestLogsOfBothEnds(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"crc": nil, "crc, slices": {"--repair=false"}, "plain": {"--plain"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			atRecv, atSend := filepath.Join(dir, "recv.log"), filepath.Join(dir, "send.log")
			addr, ended := startRecv(t, append(flags, "--out", filepath.Join(dir, "out"), "--log", atRecv)...)
			relay := startRelay(t, addr, "--loss", "5", "--rtt", "10ms")
			sent := runCommand(t, nil, append(append([]string{"send"}, flags...), "--json", "--log", atSend, "--to", relay.addr, inputFile(t, simulate.Pattern(300_000, 1)))...)
			received := <-ended
			check.Equal(t, "exit codes", []int{sent.code, received.code}, []int{exitOK, exitOK})

			s, r := readLog(t, atSend), readLog(t, atRecv)
			check.Equal(t, "title", []string{s.Header.Title, r.Header.Title}, []string{"chunkwire send", "chunkwire recv"})
			out := map[string]int{}
			for _, e := range s.Events {
				if e.Kind == eventlog.SliceSent {
					out[fmt.Sprint(e.Lane, e.ChunkID, e.SliceID)]++
				}
			}
			for _, e := range r.Events {
				if e.Kind == eventlog.SliceReceived && out[fmt.Sprint(e.Lane, e.ChunkID, e.SliceID)] == 0 {
					t.Fatalf("a slice arrived that was not sent: %+v", e)
				}
			}
			var report struct {
				SlicesSent int `json:"slices_sent"`
			}
			check.Same(t, "the report", json.Unmarshal([]byte(sent.stdout), &report), nil)
			n := countKinds(s.Events)
			// The report is printed before the sender leaves; it may resend while it does.
			check.That(t, n[eventlog.SliceSent] >= report.SlicesSent && report.SlicesSent > 0, "slices sent")
			at := countKinds(r.Events)
			check.Equal(t, "begun and ended", []int{
				n[eventlog.ConnectionStarted], n[eventlog.ConnectionEnded], at[eventlog.ConnectionStarted], at[eventlog.ConnectionEnded],
			}, []int{1, 1, 1, 1})
			groups := map[int]bool{}
			for _, e := range append(s.Events, r.Events...) {
				if e.Group != 0 {
					groups[e.Group] = true
				}
			}
			check.Equal(t, "connections in both logs", len(groups), 1)
		})
	}
}

// The demonstration has both ends in one file.
func TestLogsOfDemonstrations(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"demo", "--size", "50K", "--rtt", "10ms"},
		{"demo", "--size", "50K", "--rtt", "10ms", "--plain"},
	} {
		path := filepath.Join(t.TempDir(), "log")
		r := runCommand(t, nil, append(args, "--log", path)...)
		if r.code != exitOK {
			t.Fatalf("%v: %+v", args, r)
		}
		ends := map[eventlog.End]bool{}
		for _, e := range readLog(t, path).Events {
			ends[e.End] = true
		}
		check.That(t, ends[eventlog.Client] && ends[eventlog.Server], args[0]+": both ends")
	}
}

// A log that cannot be opened is an error before anything is sent.
func TestLogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, "send", "--to", "127.0.0.1:9", "--log", filepath.Join(t.TempDir(), "none", "log"), inputFile(t, []byte("x")))
	check.Equal(t, "exit code", r.code, exitFailed)
}
