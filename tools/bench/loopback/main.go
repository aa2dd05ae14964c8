// Command loopback sends a file between two processes of this machine, with SHA-256 at both ends: by `chunkwire send`
// and `chunkwire recv`, over one stream of quic-go, and over TCP. It prints the processor time of each end, and the
// throughput: medians of repeats that take turns, since the machine may be busy. Run it in the folder tools/bench.
//
// Other builds of chunkwire can run beside: --also before=/path/to/chunkwire.
package main

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// subject is a way to send a file: the arguments of its two processes, whose receiver says in its first line of
// standard error where it listens.
type subject struct {
	name       string
	recv, send []string
	runs       []figures
}

// figures are of one transfer.
type figures struct {
	send, recv time.Duration // of the processor
	took       time.Duration
}

func main() {
	size := flag.Int("mib", 512, "MiB of the file")
	repeats := flag.Int("repeats", 5, "how often each is measured")
	only := flag.String("only", "", "measure only what has this in its name")
	var also []string
	flag.Func("also", "`NAME=PATH` of another build of chunkwire; can be repeated", func(v string) error {
		if !strings.Contains(v, "=") {
			return errors.New("not NAME=PATH")
		}
		also = append(also, v)
		return nil
	})
	flag.Parse()
	err := error(nil)
	if p, ok := peers[flag.Arg(0)]; ok {
		err = p(flag.Arg(1), flag.Arg(2))
	} else {
		err = run(*size<<20, *repeats, *only, also)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "loopback:", err)
		os.Exit(1)
	}
}

func run(size, repeats int, only string, also []string) error {
	dir, err := os.MkdirTemp("", "loopback-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, err := makeFile(dir, size)
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, "chunkwire")
	build := exec.Command("go", "build", "-o", binary, "./cmd/chunkwire")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	all := subjects(append([]string{"chunkwire=" + binary}, also...), file)
	all = slices.DeleteFunc(all, func(s *subject) bool { return !strings.Contains(s.name, only) })
	for range repeats {
		for _, s := range all {
			f, err := s.measure()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.runs = append(s.runs, f)
		}
	}
	printTable(all, size, repeats)
	return nil
}

func makeFile(dir string, size int) (name string, err error) {
	f, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		return "", err
	}
	_, err = io.CopyN(f, rand.Reader, int64(size))
	return f.Name(), errors.Join(err, f.Close())
}

func subjects(builds []string, file string) (all []*subject) {
	for _, mode := range []string{"unprotected", "aead"} {
		for _, b := range builds {
			name, binary, _ := strings.Cut(b, "=")
			all = append(all, &subject{
				name: name + " " + mode,
				recv: []string{binary, "recv", "--mode", mode, "--listen", "127.0.0.1:0", "--out", os.DevNull},
				send: []string{binary, "send", "--mode", mode, "--to", "", file},
			})
		}
	}
	self, err := os.Executable()
	if err != nil {
		panic(err) // every system that this runs on knows
	}
	for _, name := range []string{"quic", "tcp"} {
		all = append(all, &subject{name: name, recv: []string{self, name + "-recv"}, send: []string{self, name + "-send", "", file}})
	}
	return all
}

// measure sends the file once.
func (s *subject) measure() (f figures, err error) {
	recv := exec.Command(s.recv[0], s.recv[1:]...)
	out, err := recv.StderrPipe()
	if err != nil {
		return f, err
	}
	if err := recv.Start(); err != nil {
		return f, err
	}
	defer recv.Process.Kill()
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		return f, err
	}
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(lines)
		rest <- string(b)
	}()
	args := slices.Clone(s.send)
	args[slices.Index(args, "")] = strings.TrimPrefix(strings.TrimSpace(line), "listening on ")
	send := exec.Command(args[0], args[1:]...)
	began := time.Now()
	if out, err := send.CombinedOutput(); err != nil {
		return f, fmt.Errorf("the sender: %w: %s", err, out)
	}
	f.took = time.Since(began)
	text := <-rest
	if err := recv.Wait(); err != nil {
		return f, fmt.Errorf("the receiver: %w: %s", err, text)
	}
	f.send, f.recv = processor(send), processor(recv)
	return f, nil
}

func processor(c *exec.Cmd) time.Duration {
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

func printTable(all []*subject, size, repeats int) {
	fmt.Printf("%d MiB, medians of %d, chunkwire of %s, %s, %d processors\n\n", size>>20, repeats, commit(), runtime.Version(), runtime.NumCPU())
	fmt.Println("| | ns a byte to send | to receive | seconds | Mbit/s |")
	fmt.Println("|---|--:|--:|--:|--:|")
	for _, s := range all {
		took := median(s.runs, func(f figures) time.Duration { return f.took })
		aByte := func(of func(figures) time.Duration) float64 { return float64(median(s.runs, of)) / float64(size) }
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.0f |\n", s.name, aByte(func(f figures) time.Duration { return f.send }),
			aByte(func(f figures) time.Duration { return f.recv }), took.Seconds(), float64(size)*8e-6/took.Seconds())
	}
}

func median[T cmp.Ordered](runs []figures, of func(figures) T) T {
	var all []T
	for _, r := range runs {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// commit returns what is measured.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "an unknown commit"
	}
	return strings.TrimSpace(string(out))
}
