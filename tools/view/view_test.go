package view_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/spec"
	"github.com/chunkwire/chunkwire/tools/view"
)

const hostile = `"><script src="https://example.invalid/x.js"></script><img src=x>{{script}}`

func page(t *testing.T, logs ...view.Log) string {
	t.Helper()
	var b bytes.Buffer
	if err := view.Page(&b, logs...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// unpacked returns the data of the blocks of a page whose attributes have a text.
func unpacked(t *testing.T, page, attribute string) (all []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`<script type="application/gzip" ([^>]*)>([^<]*)</script>`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(m[1], attribute) {
			continue
		}
		packed, err := base64.StdEncoding.DecodeString(m[2])
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	return all
}

func TestPageHoldsTheLogs(t *testing.T) {
	p := page(t, view.Log{Name: "sent.log", Data: []byte(hostile)}, view.Log{Name: "received.log", Data: nil})
	logs := unpacked(t, p, "data-log")
	if len(logs) != 2 || logs[0] != hostile || logs[1] != "" {
		t.Errorf("%q", logs)
	}
	if !strings.Contains(p, "<title>chunkwire: sent.log and received.log</title>") || !strings.Contains(p, `data-name="received.log"`) {
		t.Error("the names are missing")
	}
}

func TestPageHoldsTheSpecification(t *testing.T) {
	var documents []struct {
		Document  string
		Sentences []struct{ ID string }
		Tables    []struct{ Name string }
	}
	blocks := unpacked(t, page(t), `id="specification"`)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks", len(blocks))
	}
	if err := json.Unmarshal([]byte(blocks[0]), &documents); err != nil {
		t.Fatal(err)
	}
	held := map[string][2]int{} // sentences and tables
	for _, d := range documents {
		held[d.Document] = [2]int{len(d.Sentences), len(d.Tables)}
	}
	for _, d := range spec.Documents() {
		if got, want := held[d.File], [2]int{len(d.Sentences), len(d.Tables)}; got != want {
			t.Errorf("%s: %v sentences and tables, not %v", d.File, got, want)
		}
	}
}

// What a name says is text, and nothing is loaded from anywhere.
func TestPageIsClosed(t *testing.T) {
	p := page(t, view.Log{Name: hostile, Data: []byte(hostile)})
	if strings.Contains(p, "example.invalid/x.js\">") || strings.Contains(p, "<img") || strings.Contains(p, "<script src") {
		t.Error("a name is markup")
	}
	if found := regexp.MustCompile(`(?i)\b(src|href)\s*=\s*"|@import|url\(["'h/]|https?://[^w]`).FindAllString(page(t), -1); found != nil {
		t.Errorf("the page refers to %q", found)
	}
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(p)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; script-src 'sha256-") || strings.Contains(policy[1], "unsafe-inline") {
		t.Errorf("policy %q", policy)
	}
	for _, left := range []string{"{{policy}}", "{{style}}", "{{data}}", "{{kind}}", "\nimport ", "\nexport "} {
		if strings.Contains(p, left) {
			t.Errorf("%q is left in the page", left)
		}
	}
}

func TestPlaygroundHoldsTheMachines(t *testing.T) {
	var b bytes.Buffer
	if err := view.Playground(&b, []byte("\x00asm"), []byte("globalThis.Go = 1;")); err != nil {
		t.Fatal(err)
	}
	if wasm := unpacked(t, b.String(), `id="machines-wasm"`); len(wasm) != 1 || wasm[0] != "\x00asm" {
		t.Errorf("%q", wasm)
	}
	if !strings.Contains(b.String(), `<body class="playground">`) || !strings.Contains(b.String(), "globalThis.Go = 1;") {
		t.Error("no playground")
	}
}

// Each event of the log has its words on the page.
func TestEveryEventHasWords(t *testing.T) {
	words, err := os.ReadFile("page/words.js")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ OneOf []struct{ Title string } }
	if err := json.Unmarshal(eventlog.Schema, &schema); err != nil || len(schema.OneOf) < 20 {
		t.Fatalf("%v, and %d events", err, len(schema.OneOf))
	}
	for _, event := range schema.OneOf {
		if !regexp.MustCompile(`\b` + event.Title + `\b`).Match(words) {
			t.Errorf("tools/view/page/words.js has no words for %s", event.Title)
		}
	}
}
