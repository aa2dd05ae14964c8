// Command sockets sends files with real processes over real sockets of this machine, through `chunkwire relay`, and
// simulates the same path: what the sender takes the path to carry, and what arrives, are to be alike within 1.5
// times, however busy the machine is. Run it in the folder tools/bench.
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/measure"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
)

// The path of all transfers, in each direction.
const (
	rate  = 20_000_000
	queue = 256 << 10
	trip  = 50 * time.Millisecond
	apart = 1.5 // how many times a figure may be another
)

// transfer is a file and how it is sent.
type transfer struct {
	lanes  int
	repair bool
	loss   float64
}

var transfers = []transfer{{1, true, 5}, {4, true, 5}, {8, true, 5}, {8, false, 5}, {8, true, 0}}

func (t transfer) String() string {
	kind := "repair"
	if !t.repair {
		kind = "named"
	}
	return fmt.Sprintf("%s x%d, %.0f %% lost", kind, t.lanes, t.loss)
}

// figures are Mbit/s: of what arrived, and the median of what the sender took the path to carry in the second half.
type figures struct{ got, estimate float64 }

func main() {
	size := flag.Int("mib", 16, "MiB of each file")
	page := flag.String("page", "", "write the table into this Markdown file, too")
	flag.Parse()
	if err := run(*size<<20, *page); err != nil {
		fmt.Fprintln(os.Stderr, "sockets:", err)
		os.Exit(1)
	}
}

func run(size int, page string) error {
	dir, err := os.MkdirTemp("", "sockets-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "chunkwire")
	build := exec.Command("go", "build", "-o", binary, "./cmd/chunkwire")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	file := make([]byte, size)
	_, _ = rand.Read(file)
	if err := os.WriteFile(filepath.Join(dir, "file"), file, 0o600); err != nil {
		return err
	}
	var rows []string
	var failed error
	for _, t := range transfers {
		real, err := t.real(binary, dir, size)
		if err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
		simulated, err := t.simulated(size)
		if err != nil {
			return err
		}
		rows = append(rows, fmt.Sprintf("| %v | %.1f | %.1f | %.2f | %.1f | %.1f | %.2f |", t, real.got, simulated.got, real.got/simulated.got,
			real.estimate, simulated.estimate, real.estimate/simulated.estimate))
		fmt.Println(rows[len(rows)-1])
		for _, r := range []float64{real.got / simulated.got, real.estimate / simulated.estimate} {
			if !(math.Abs(math.Log(r)) <= math.Log(apart)) {
				failed = errors.Join(failed, fmt.Errorf("%v: %.2f times the simulation", t, r))
			}
		}
	}
	if page == "" {
		return failed
	}
	name, err := measure.Controller("../..")
	return errors.Join(failed, err, measure.WriteTable(page, "sockets", rows),
		measure.WriteTable(page, "controller of the sockets", []string{"| real processes | `" + name + "` |"}))
}

// real sends the file with three processes.
func (t transfer) real(binary, dir string, size int) (f figures, err error) {
	server, relay, err := ports()
	if err != nil {
		return f, err
	}
	log := filepath.Join(dir, "log")
	path := []string{"--rate", fmt.Sprint(rate), "--queue", fmt.Sprint(queue), "--rtt", trip.String(), "--loss", fmt.Sprint(t.loss)}
	recv := exec.Command(binary, "recv", "--listen", server, "--out", filepath.Join(dir, "out"))
	between := exec.Command(binary, append([]string{"relay", "--listen", relay, "--to", server}, path...)...)
	for _, c := range []*exec.Cmd{recv, between} {
		if err := started(c); err != nil {
			return f, err
		}
		defer c.Wait()
		defer c.Process.Kill()
	}
	send := exec.Command(binary, "send", "--to", relay, "--lanes", fmt.Sprint(t.lanes), fmt.Sprintf("--repair=%v", t.repair), "--log", log, "--json",
		"--timeout", "2m", filepath.Join(dir, "file"))
	out, err := send.Output()
	if err != nil {
		return f, fmt.Errorf("send: %w: %s", err, out)
	}
	var report struct {
		Rate float64 `json:"bits_per_second"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return f, err
	}
	text, err := os.ReadFile(log)
	f.got = report.Rate / 1e6
	f.estimate = estimate(bytes.NewReader(text))
	return f, err
}

// started starts a process, and waits for the line in which it says that it listens.
func started(c *exec.Cmd) error {
	out, err := c.StderrPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(c.Args[1:], " "), err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return nil
}

// ports returns two addresses that are free.
func ports() (a, b string, err error) {
	one, err1 := net.ListenPacket("udp", "127.0.0.1:0")
	two, err2 := net.ListenPacket("udp", "127.0.0.1:0")
	if err := errors.Join(err1, err2); err != nil {
		return "", "", err
	}
	defer one.Close()
	defer two.Close()
	return one.LocalAddr().String(), two.LocalAddr().String(), nil
}

// estimate reads a log of events.
func estimate(log io.Reader) float64 {
	var rates []float64
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var e struct {
			Name string
			Data struct{ Rate float64 }
		}
		if json.Unmarshal(bytes.TrimPrefix(lines.Bytes(), []byte{0x1e}), &e) == nil && strings.HasSuffix(e.Name, ":metrics") && e.Data.Rate > 0 {
			rates = append(rates, e.Data.Rate/1e6)
		}
	}
	return half(rates)
}

// half returns the median of the second half.
func half(rates []float64) float64 {
	rates = slices.Sorted(slices.Values(rates[len(rates)/2:]))
	if len(rates) == 0 {
		return math.NaN()
	}
	return rates[len(rates)/2]
}

// simulated sends as many chunks in virtual time.
func (t transfer) simulated(size int) (f figures, err error) {
	path := netsim.Path{Rate: rate, Queue: queue, Delay: trip / 2, Loss: t.loss, Overhead: codec.HeaderBytes}
	w, err := flows.NewWorld(flows.Path{Down: path, Up: path}, 1)
	if err != nil {
		return f, err
	}
	var rates []float64
	log := func(e eventlog.Event) {
		if e.Kind == eventlog.Metrics && e.Rate > 0 {
			rates = append(rates, float64(e.Rate)/1e6)
		}
	}
	c, err := w.AddChunks("file", flows.Options{Chunks: size / codec.MaxChunkSize, Lanes: lanes.Config{Lanes: t.lanes, Repair: t.repair, Log: log}})
	if err != nil {
		return f, err
	}
	w.Run(600 * core.Second)
	f.got, f.estimate = float64(size)*8e-6/c.Done().Duration().Seconds(), half(rates)
	return f, nil
}
