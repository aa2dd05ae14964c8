package main

import (
	"regexp"
	"strconv"
	"strings"
)

// heard is what a fuzzing process has said so far.
type heard struct {
	executions  int64 // all of them, also those for the warm-up
	warmup      int64 // inputs of the corpora, which are run first
	interesting int   // entries that are new in the corpus
	reproducer  string
	seed        string // a committed input or one of f.Add that fails, such as "FuzzBits/seed#3"
	deadline    bool   // a bare "context deadline exceeded"
	unexplained bool   // any other sign of a failure
}

var (
	executions = regexp.MustCompile(`^fuzz: elapsed: \S+, execs: (\d+) \(\d+/sec\)(?:, new interesting: (\d+) \(total: \d+\))?$`)
	warmup     = regexp.MustCompile(`^fuzz: elapsed: \S+, (?:gathering baseline coverage|testing seed corpus): \d+/(\d+) completed`)
	reproducer = regexp.MustCompile(`^\s*Failing input written to (\S+)$`)
	failedSeed = regexp.MustCompile(`^failure while testing seed corpus entry: (\S+)$`)
	ordinary   = regexp.MustCompile(`^(PASS|FAIL|exit status 1|--- FAIL: Fuzz\w+ \(\S+\)|)$`)
)

// line takes in one line of what go test -fuzz prints.
func (h *heard) line(text string) {
	if m := executions.FindStringSubmatch(text); m != nil {
		h.executions = number(m[1])
		h.interesting = int(number(m[2]))
		return
	}
	switch m := warmup.FindStringSubmatch(text); {
	case m != nil:
		h.warmup = number(m[1])
		return
	case strings.HasPrefix(text, "fuzz: "):
		return
	}
	if m := reproducer.FindStringSubmatch(text); m != nil {
		h.reproducer = m[1]
		return
	}
	if m := failedSeed.FindStringSubmatch(text); m != nil {
		h.seed = m[1]
		return
	}
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "context deadline exceeded":
		h.deadline = true
	case !ordinary.MatchString(trimmed):
		h.unexplained = true
	}
}

// counted are the executions of inputs that the fuzzer made.
func (h *heard) counted() int64 { return max(h.executions-h.warmup, 0) }

// number reads digits. Those of the patterns above fit.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// verdict is how a slice ended.
type verdict int

const (
	clean   verdict = iota
	isFind          // a reproducer, a seed that fails, or a failure without either
	nothing         // ended early without any reason (golang/go#75804)
)

// judge says what a process means that ended well or not.
func (h *heard) judge(endedWell bool) verdict {
	switch {
	case endedWell && h.reproducer == "":
		return clean
	case h.reproducer == "" && h.seed == "" && h.deadline && !h.unexplained:
		return nothing
	}
	return isFind
}
