package runner_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/runner"
)

// What people see of failures.
func TestExplains(t *testing.T) {
	for _, c := range []struct {
		mode, match string
		want        []string
	}{
		{"wrong", "", []string{
			"FAIL hand/decode (required)", "why: Catches who cannot decode.", "wrong: does it wrong; nobody understands",
			"sentences: LAW-1", "num_slices  3          byte 2", "- packet.chunk_id  4660", "+ packet.chunk_id  13330",
			"accumulated/1000000 is left out",
		}},
		{"wrong-step", "^hand/sender", []string{"the first step that differs is 2 (from 0)", `{"at":50000,"event":"ack"`, `- row          "S9"`, `+ row          "S8"`}},
		{"wrong-step", "^hand/paced", []string{"after this event the reference has srtt 40000, min_rtt 40000"}},
		{"wrong-packets", "", []string{"- end_check", "+ end_check", "0x9808ace2 bytes 8 to 11", "wrong: of these bytes it is"}},
	} {
		report, err := run(t, c.mode, runner.Config{Match: regexp.MustCompile(c.match)})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		report.Print(&out, 10)
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in:\n%s", c.mode, want, out.String())
			}
		}
	}
}

func TestJUnit(t *testing.T) {
	report, err := run(t, "crash", runner.Config{Match: regexp.MustCompile("^hand")})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := errors.Join(report.WriteJUnit(&out), xml.Unmarshal(out.Bytes(), &suites)); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != len(handVectors)+1 || suites.Failures != 1 || !strings.Contains(out.String(), "segmentation fault") {
		t.Errorf("%+v:\n%s", suites, out.String())
	}
}

// The vectors of this module, and those of a folder.
func TestSuites(t *testing.T) {
	all, err := runner.Embedded()
	if err != nil || len(all.Files) < 10 || len(all.Accumulated) != 2 || len(all.Lines) == 0 {
		t.Errorf("%d files, %d runs, %d lines, %v", len(all.Files), len(all.Accumulated), len(all.Lines), err)
	}
	if v, ok := all.Vector("sender/submit"); !ok || !strings.HasPrefix(string(v.Request), `{"op":"sender"`) {
		t.Errorf("%s", v.Request)
	}
	if _, err := runner.ReadDir(t.TempDir()); err == nil {
		t.Error("an empty folder has vectors")
	}
	dir := t.TempDir()
	text, err := os.ReadFile("../files/examples.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "examples.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if one, err := runner.ReadDir(dir); err != nil || len(one.Files) != 1 || one.Files[0].Group != "examples" {
		t.Errorf("%+v, %v", one, err)
	}
}
