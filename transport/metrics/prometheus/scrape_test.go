package prometheus_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var required = flag.Bool("prometheus.required", false, "fail if there is no prometheus to test with")

// patience is how long a process may take for anything.
const patience = 30 * time.Second

// Prometheus scrapes a recv while a send runs, and its API knows what happened.
func TestPrometheusScrapesARecv(t *testing.T) {
	server, err := exec.LookPath("prometheus")
	if err != nil && *required {
		t.Fatal(err)
	} else if err != nil {
		t.Skip("there is no prometheus")
	}
	dir := t.TempDir()
	chunkwire := filepath.Join(dir, "chunkwire")
	build := exec.Command("go", "build", "-o", chunkwire, "./cmd/chunkwire")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	in := filepath.Join(dir, "in")
	if err := os.WriteFile(in, bytes.Repeat([]byte("0123456789abcdef"), 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}

	recv := start(t, chunkwire, "recv", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--out", filepath.Join(dir, "out"))
	target, err := url.Parse(recv.says("metrics at "))
	if err != nil {
		t.Fatal(err)
	}
	listening := recv.says("listening on ")
	api := startPrometheus(t, server, dir, target.Host)
	api.until(`up`, 1)                                                                                   // it looks for targets every five seconds
	send := start(t, chunkwire, "send", "--to", listening, "--profile", "fixed", "--max-rate", "3M", in) // 3 s

	api.until(`chunkwire_connections`, 1)
	api.until(`chunkwire_chunks_total{direction="in"}`, 2)
	api.until(`chunkwire_chunk_in_seconds_count`, 2)
	api.until(`chunkwire_slices_total{direction="in"}`, 100)
	api.until(`chunkwire_datagrams_total{direction="out"}`, 10)
	send.wait()
	recv.wait()
	api.until(`max_over_time(chunkwire_datagram_bytes_total{direction="in"}[1m])`, 500_000)
}

// process is a program that a test started, and what it says on standard error.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	ended chan error
}

func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(name, args...), lines: make(chan string, 10_000), ended: make(chan error, 1)}
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer func() { p.ended <- p.cmd.Wait() }()
		defer close(p.lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			select {
			case p.lines <- s.Text():
			default: // nobody needs so much
			}
		}
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// says waits for a line that begins in a way, and returns the rest of it.
func (p *process) says(begins string) string {
	p.t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("%v has ended, and did not say %q: %v", p.cmd.Args, begins, <-p.ended)
			}
			if rest, ok := strings.CutPrefix(line, begins); ok {
				return rest
			}
		case <-late:
			p.t.Fatalf("%v does not say %q", p.cmd.Args, begins)
		}
	}
}

func (p *process) wait() {
	p.t.Helper()
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Errorf("%v: %v", p.cmd.Args, err)
		}
	case <-time.After(patience):
		p.t.Fatalf("%v does not end", p.cmd.Args)
	}
}

// api is the api of a Prometheus.
type api struct {
	t       *testing.T
	address string
}

// startPrometheus starts one that scrapes a target four times a second.
func startPrometheus(t *testing.T, server, dir, target string) api {
	t.Helper()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 250ms, scrape_timeout: 200ms}\nscrape_configs: [{job_name: chunkwire, static_configs: [{targets: [%q]}]}]\n", target)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := api{t, freeAddress(t)}
	start(t, server, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", a.address)
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if r, err := http.Get("http://" + a.address + "/-/ready"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return a
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("prometheus does not get ready")
		}
	}
}

// freeAddress returns an address where nobody listens now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// until asks until an expression has one value, of at least so much.
func (a api) until(expression string, least float64) {
	a.t.Helper()
	last := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		r, err := http.Get("http://" + a.address + "/api/v1/query?query=" + url.QueryEscape(expression))
		if err != nil {
			a.t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		last = string(body)
		var answer struct {
			Data struct{ Result []struct{ Value [2]any } }
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			a.t.Fatalf("%s: %v", body, err)
		}
		if len(answer.Data.Result) != 1 {
			continue
		}
		text, _ := answer.Data.Result[0].Value[1].(string)
		if v, err := strconv.ParseFloat(text, 64); err == nil && v >= least {
			return
		}
	}
	a.t.Fatalf("%s is not %v or more: %s", expression, least, last)
}
