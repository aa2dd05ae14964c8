package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

// Files go as repair slices over connections and as slices that are resent with --plain,
// unless --repair says something else; a recv takes both over connections.
func TestVariantsOfFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ recv, send, variant string }{
		"a connection":           {"", "", simulate.VariantRepair},
		"a sender without":       {"", "--repair=false", simulate.VariantSlices},
		"a receiver without":     {"--repair=false", "", simulate.VariantSlices},
		"plain":                  {"--plain", "--plain", simulate.VariantSlices},
		"plain with repair":      {"--plain --repair", "--plain --repair", simulate.VariantRepair},
		"with 8 lanes":           {"--plain --repair --lanes 8", "--plain --repair --lanes 8", simulate.VariantRepair},
		"redundant":              {"", "--profile redundant", simulate.VariantRepair},
		"at a fixed rate":        {"", "--profile fixed --max-rate 50M", simulate.VariantRepair},
		"the base algorithm":     {"", "--profile base", simulate.VariantSlices},
		"one chunk":              {"--raw --linger 100ms", "--raw", simulate.VariantRepair},
		"one chunk, with plain":  {"--plain --raw --linger 100ms", "--plain --raw", simulate.VariantSlices},
		"one chunk, with both":   {"--plain --raw --repair --linger 100ms", "--plain --raw --repair", simulate.VariantRepair},
		"a rate for all 8 lanes": {"", "--max-rate 80M", simulate.VariantRepair},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, out := simulate.Pattern(200_000, 1), filepath.Join(t.TempDir(), "out")
			addr, ended := startRecv(t, append([]string{"--json", "--out", out}, strings.Fields(c.recv)...)...)
			sent := runCommand(t, nil, slices.Concat([]string{"send", "--json", "--to", addr}, strings.Fields(c.send), []string{inputFile(t, want)})...)
			if sent.code != exitOK { // recv would wait for another sender
				t.Fatalf("%+v", sent)
			}
			received := <-ended
			wantStored(t, out, want, sent, received)
			for who, r := range map[string]result{"send": sent, "recv": received} {
				var report fileReport
				if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || report.Variant != c.variant || report.SlicesResent > 0 && c.variant == simulate.VariantRepair {
					t.Errorf("%s: %v: %s", who, err, r.stdout)
				}
			}
		})
	}
}

// What is wrong with flags is said: the base algorithm has no repair slices.
func TestVariantFlags(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"simulate --profile article --repair":        "--profile article has no repair slices; leave out --repair",
		"demo --profile base --repair=true":          "--profile base has no repair slices; leave out --repair",
		"send --profile base --repair --to a:1 FILE": "--profile base has no repair slices; leave out --repair",
		"simulate --repair=perhaps":                  "invalid syntax",
	} {
		if r := runCommand(t, nil, strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	for args, variant := range map[string]string{
		"": simulate.VariantRepair, "--plain": simulate.VariantSlices, "--repair=false": simulate.VariantSlices, "--plain --repair": simulate.VariantRepair,
		"--profile base": simulate.VariantSlices, "--profile burst": simulate.VariantRepair,
	} {
		r := runCommand(t, nil, strings.Fields("simulate --seeds 1 --loss 5 --json "+args)...)
		var report simulate.Report
		if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || report.Variant != variant {
			t.Errorf("%q: %v: %+v", args, err, r)
		}
	}
}
