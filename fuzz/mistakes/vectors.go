package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/fuzz/internal/variants"
	"github.com/chunkwire/chunkwire/testvectors/runner"
)

// ports says how each port is built and started in a copy of its folder. Warnings
// are no errors: a mistake may well leave something unused.
var ports = map[string]struct{ build, start []string }{
	"ports/c":          {[]string{"make", "-B", "port", "CFLAGS=-std=c99 -O1 -w"}, []string{"./port"}},
	"ports/csharp":     {[]string{"make", "-B", "build~/port.exe", "CSFLAGS=-langversion:7.2 -warn:0"}, []string{"mono", "build~/port.exe"}},
	"ports/python":     {nil, []string{"python3", "-B", "-m", "chunkwire"}},
	"ports/rust":       {[]string{"cargo", "build", "-q", "--offline", "--bin", "chunkwire-port", "--target-dir", "target"}, []string{"target/debug/chunkwire-port"}},
	"ports/typescript": {[]string{"node", "node_modules/typescript/bin/tsc"}, []string{"node", "dist/port.js"}},
}

// runVectors puts the vectors to a port with files replaced: to the reference in
// Go unless another one is named.
func runVectors(b *variants.Build, port string, changed map[string]string) (outcome, error) {
	o := outcome{by: "vectors", message: passed}
	start, err := buildPort(b, port, changed)
	if err != nil {
		return o, err
	}
	suite, err := runner.Embedded()
	if err != nil {
		return o, err
	}
	report, err := runner.Run(context.Background(), runner.Config{Command: start, Timeout: time.Minute, FirstOnly: true}, suite)
	i := slices.IndexFunc(report.Results, func(r *runner.Result) bool { return r.Status == runner.Failed })
	if i < 0 {
		return o, err
	}
	o.failed, o.message = true, report.Results[i].Name
	return o, nil
}

// buildPort returns the command that starts a port.
func buildPort(b *variants.Build, port string, changed map[string]string) ([]string, error) {
	if port == "" {
		binary := filepath.Join(b.Dir, "chunkwire")
		return []string{binary, "port"}, b.Go("build", "-o", binary, "./cmd/chunkwire")
	}
	folder, p := filepath.Join(b.Dir, "port"), ports[port]
	err := os.CopyFS(folder, os.DirFS(port))
	for file, text := range changed {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, strings.TrimPrefix(file, port)), []byte(text), 0o644))
	}
	if err == nil && p.build != nil {
		_, err = variants.Output(folder, p.build...)
	}
	return append([]string{"sh", "-c", `cd "$0" && exec "$@"`, folder}, p.start...), err
}

// missing says what a port lacks to be built or started here, if anything.
func missing(port string) error {
	p := ports[port]
	for _, command := range [][]string{p.build, p.start} {
		if len(command) == 0 || strings.HasPrefix(command[0], "./") || strings.HasPrefix(command[0], "target/") {
			continue // what is built is started
		}
		if _, err := exec.LookPath(command[0]); err != nil {
			return err
		}
	}
	if p.build != nil && strings.HasPrefix(p.build[len(p.build)-1], "node_modules/") {
		if _, err := os.Stat(filepath.Join(port, p.build[len(p.build)-1])); err != nil {
			return fmt.Errorf("%w: run npm install in %s", err, port)
		}
	}
	return nil
}

// possible returns the mistakes that can be tried here, and what keeps the others from it.
func possible(list []*mistake) (tried []*mistake, skipped []string) {
	for _, m := range list {
		if err := missing(m.port()); err != nil {
			skipped = append(skipped, fmt.Sprintf("%s: %v", m.Title, err))
			continue
		}
		tried = append(tried, m)
	}
	return tried, skipped
}
