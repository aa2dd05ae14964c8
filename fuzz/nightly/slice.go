package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// slice is a number of executions of one target, in a process of its own.
type slice struct {
	target
	binary   string
	corpus   string // folder of the package's corpora
	n        int64
	minimize int64 // executions that the fuzzer may spend on making one input small
	parallel int
	hang     time.Duration
}

// result is what came of a slice.
type result struct {
	heard
	verdict verdict
	took    time.Duration // without the start and the warm-up
	log     []byte
}

// run runs the slice. When ctx ends it ends the process in good order.
func (s slice) run(ctx context.Context) (result, error) {
	cmd := exec.CommandContext(ctx, s.binary,
		"-test.run=^$", "-test.fuzz=^"+s.name+"$", fmt.Sprintf("-test.fuzztime=%dx", s.n),
		fmt.Sprintf("-test.fuzzminimizetime=%dx", s.minimize), "-test.fuzzcachedir="+s.corpus,
		fmt.Sprintf("-test.parallel=%d", s.parallel), "-test.paniconexit0")
	cmd.Dir = s.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	var r result
	var progress atomic.Int64 // the latest count
	read := make(chan struct{})
	go func() {
		defer close(read)
		r.listen(reader, &progress, &start)
	}()
	watched, unwatch := context.WithCancel(ctx)
	go unhang(watched, cmd.Process, &progress, s.hang)
	err := cmd.Wait()
	unwatch()
	end := time.Now()
	_ = writer.Close()
	<-read
	r.took = end.Sub(start)
	r.verdict = r.judge(err == nil)
	if ctx.Err() != nil && r.reproducer == "" && r.seed == "" {
		r.verdict = clean // it was interrupted
	}
	return r, nil
}

// longest is how much of a slice's output is kept; the end matters most.
const longest = 1 << 20

// listen takes in the output of the process, and notes when the warm-up is over.
func (r *result) listen(out io.Reader, progress *atomic.Int64, start *time.Time) {
	var kept bytes.Buffer
	for lines := bufio.NewReader(out); ; {
		text, err := lines.ReadString('\n')
		r.line(strings.TrimSuffix(text, "\n"))
		if progress.Store(r.executions); strings.Contains(text, "now fuzzing with") {
			*start = time.Now()
		}
		kept.WriteString(text)
		if kept.Len() > 2*longest {
			kept.Next(kept.Len() - longest)
		}
		if err != nil {
			r.log = kept.Bytes()
			return
		}
	}
}

// unhang waits for a process that executes nothing for too long. The fuzzer has no
// time-out for one execution, but when a worker is made to quit, it writes its input
// down as failing.
func unhang(ctx context.Context, p *os.Process, progress *atomic.Int64, limit time.Duration) {
	last := int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(limit):
		}
		now := progress.Load()
		if now != last {
			last = now
			continue
		}
		for _, worker := range children(p.Pid) {
			_ = worker.Signal(syscall.SIGQUIT)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(30 * time.Second):
			_ = p.Kill()
			return
		}
	}
}

// children are the processes that a process has started, as far as the system
// tells in /proc.
func children(parent int) (list []*os.Process) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// "pid (name) state parent …", and the name may hold anything.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			if p, err := os.FindProcess(pid); err == nil {
				list = append(list, p)
			}
		}
	}
	return list
}
