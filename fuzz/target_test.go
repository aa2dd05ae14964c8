package fuzz

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Each target has a file with the function of its name and no other, for engines that
// compile one file; and no other file of the folder has that name in it, for those
// that search for it, but where it begins a longer one: the build script hides those.
func TestEachTargetHasItsFile(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range Targets() {
		names = append(names, "Fuzz"+target.Name)
	}
	functions := 0
	for _, name := range files {
		text := check.Must(os.ReadFile(name))
		functions += bytes.Count(text, []byte("\nfunc Fuzz"))
		for _, word := range regexp.MustCompile(`\bFuzz\w+`).FindAllString(string(text), -1) {
			if own := strings.ToLower(strings.TrimPrefix(word, "Fuzz")) + "_test.go"; slices.Contains(names, word) && name != own {
				t.Errorf("%s has the name %s", name, word)
			}
		}
	}
	for _, word := range names {
		own := strings.ToLower(strings.TrimPrefix(word, "Fuzz")) + "_test.go"
		if text := check.Must(os.ReadFile(own)); bytes.Count(text, []byte("\nfunc "+word+"(")) != 1 {
			t.Errorf("%s has no function %s", own, word)
		}
	}
	check.Same(t, "the number of fuzz functions", functions, len(Targets()))
}

func TestFind(t *testing.T) {
	check.Same(t, "Formats", check.Must(Find("Fuzz"+"Formats")), targetFormats)
	if _, err := Find("Bits"); err == nil {
		t.Error("found a target that is not there")
	}
}

// Seeds are always the same, each once, and a run changes none.
func TestSeeds(t *testing.T) {
	for _, target := range Targets() {
		seeds := target.Seeds()
		if len(seeds) < 16 || !slices.EqualFunc(seeds, target.makeSeeds(), bytes.Equal) {
			t.Errorf("%s has %d seeds, or not always the same", target.Name, len(seeds))
		}
		for i := 0; i < len(seeds); i += 1 + len(seeds)/12 {
			kept := bytes.Clone(seeds[i])
			target.Run(t, seeds[i])
			if !bytes.Equal(kept, seeds[i]) {
				t.Errorf("%s changed seed %d", target.Name, i)
			}
		}
	}
}

// The seeds of machines take every row of their tables, as the log of their runs
// says.
func TestSeedsTakeAllRows(t *testing.T) {
	before := verbose
	verbose = func() bool { return true }
	defer func() { verbose = before }()
	var out strings.Builder
	log := recorder{func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }}
	for _, target := range []*Target{targetReceiver, targetSender, targetRepairReceiver, targetRepairSender, targetPacketEndpoint, targetChannelReceiver, targetChannelSender} {
		for _, seed := range target.Seeds() {
			target.Run(log, seed)
		}
	}
	text := out.String()
	for _, line := range slices.Concat(statemachine.ReceiverTable(codec.Named), statemachine.SenderTable(codec.Named), statemachine.ReceiverTable(codec.Repair), statemachine.SenderTable(codec.Repair), channel.ReceiverTable(), channel.SenderTable(),
		packet.EndpointTable(), packet.SentTable()) {
		if !strings.Contains(text, "Row:"+string(line.Row)+" ") {
			t.Errorf("no seed takes %v", line.Row)
		}
	}
}

func TestParseInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		got, err := ParseInput(FormatInput(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%x is read as %x, %v", data, got, err)
		}
	})
	for _, bad := range []string{"go test fuzz v1\nint(1)\n", "go test fuzz v1\n[]byte(1)\n", "go test fuzz v1\n"} {
		if _, err := ParseInput([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if raw, err := ParseInput([]byte("raw\nbytes")); err != nil || string(raw) != "raw\nbytes" {
		t.Errorf("raw: %q, %v", raw, err)
	}
}

// A failure ends a run; a panic of the code under test is none.
func TestRecorder(t *testing.T) {
	if err := caught(func() { recorder{}.Fatalf("byte %d", 7) }); err == nil || err.Error() != "byte 7" {
		t.Error(err)
	}
	defer func() {
		if recover() != "a panic" {
			t.Error("a panic was taken for a failure")
		}
	}()
	_ = caught(func() { panic("a panic") })
}
