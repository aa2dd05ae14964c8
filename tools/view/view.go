// Package view makes pages that show what an event log says: one HTML file that needs nothing
// else, and asks for nothing. The playground is the same page with the machines in it.
package view

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/chunkwire/chunkwire/spec"
)

//go:embed page
var files embed.FS

// modules are the page's scripts, each behind those that it imports.
var modules = []string{"pen", "words", "log", "model", "spec", "tracks", "diagram", "map", "playground", "page"}

// Log is an event log, as package eventlog writes it.
type Log struct {
	Name string // of its file
	Data []byte
}

// Page writes a page that shows logs: one, or those of both ends.
func Page(w io.Writer, logs ...Log) error {
	var names, blocks []string
	for _, log := range logs {
		names = append(names, log.Name)
		blocks = append(blocks, block(fmt.Sprintf(`data-log data-name="%s"`, html.EscapeString(log.Name)), log.Data))
	}
	return write(w, "log", "chunkwire: "+strings.Join(names, " and "), "", blocks)
}

// Playground writes a page that simulates: wasm is tools/view/playground as GOOS=js GOARCH=wasm builds
// it, exec the wasm_exec.js of the same Go.
func Playground(w io.Writer, wasm, exec []byte) error {
	return write(w, "playground", "chunkwire: playground", string(exec), []string{block(`id="machines-wasm"`, wasm)})
}

// write writes the page: kind is the class of its body, before a script that goes before the
// modules.
func write(w io.Writer, kind, title, before string, blocks []string) error {
	style, script := read("page.css"), before+"\n"+join()
	policy := fmt.Sprintf("default-src 'none'; script-src 'sha256-%s' 'wasm-unsafe-eval'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", hash(script), hash(style))
	blocks = append(blocks, block(`id="specification"`, specification()))
	_, err := strings.NewReplacer(
		"{{policy}}", policy, "{{title}}", html.EscapeString(title), "{{kind}}", kind, "{{style}}", style,
		"{{data}}", strings.Join(blocks, "\n"), "{{script}}", script,
	).WriteString(w, read("page.html"))
	return err
}

func read(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

var (
	imports = regexp.MustCompile(`(?m)^import (\{.*\}) from '\./(\w+)\.js';$`)
	exports = regexp.MustCompile(`(?m)^export ((?:async )?(?:function|class|const) (\w+))`)
)

// join returns the modules as one script: each is a function that returns what it exports, and
// takes what it imports from those before it.
func join() string {
	var all strings.Builder
	all.WriteString("const modules = {};\n")
	for _, name := range modules {
		text := read(name + ".js")
		var names []string
		for _, export := range exports.FindAllStringSubmatch(text, -1) {
			names = append(names, export[2])
		}
		text = imports.ReplaceAllString(text, "const $1 = modules.$2;")
		text = exports.ReplaceAllString(text, "$1")
		fmt.Fprintf(&all, "modules.%s = (() => {\n%s\nreturn { %s };\n})();\n", name, text, strings.Join(names, ", "))
	}
	return all.String()
}

// specification returns the documents as one JSON array.
func specification() []byte {
	names, _ := fs.Glob(spec.Files, "*.json") // the pattern is well formed
	var all []json.RawMessage
	for _, name := range names {
		text, err := spec.Files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		all = append(all, text)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // it meets its schema
	}
	return text
}

// block returns a script element that is data: compressed, and in an alphabet that no markup
// is of.
func block(attributes string, data []byte) string {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a level that exists
	_, err := z.Write(data)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // into memory
	}
	return fmt.Sprintf(`<script type="application/gzip" %s>%s</script>`, attributes, base64.StdEncoding.EncodeToString(packed.Bytes()))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}
