package main

import (
	"strings"
	"testing"
)

// What go test -fuzz prints, and what it means.
func TestOutput(t *testing.T) {
	cases := []struct {
		name, log string
		endedWell bool
		want      heard
		verdict   verdict
	}{
		{
			name: "a clean slice",
			log: `fuzz: elapsed: 0s, gathering baseline coverage: 0/192 completed
fuzz: elapsed: 0s, gathering baseline coverage: 192/192 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 102543 (34175/sec), new interesting: 2 (total: 194)
fuzz: elapsed: 5s, execs: 200192 (33001/sec), new interesting: 3 (total: 195)
PASS
`,
			endedWell: true,
			want:      heard{executions: 200192, warmup: 192, interesting: 3},
			verdict:   clean,
		},
		{
			name: "a find",
			log: `fuzz: elapsed: 0s, gathering baseline coverage: 0/1 completed
fuzz: elapsed: 0s, gathering baseline coverage: 1/1 completed, now fuzzing with 2 workers
fuzz: minimizing 57-byte failing input file
fuzz: elapsed: 0s, minimizing
--- FAIL: FuzzBits (0.14s)
    --- FAIL: FuzzBits (0.00s)
        bits_test.go:11: the model says 3
    
    Failing input written to testdata/fuzz/FuzzBits/0d5bd9a1
    To re-run:
    go test -run=FuzzBits/0d5bd9a1
FAIL
`,
			want:    heard{warmup: 1, reproducer: "testdata/fuzz/FuzzBits/0d5bd9a1", unexplained: true},
			verdict: isFind,
		},
		{
			name: "a seed that fails",
			log: `fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed
failure while testing seed corpus entry: FuzzBits/seed#2
fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed
--- FAIL: FuzzBits (0.01s)
    --- FAIL: FuzzBits (0.00s)
        bits_test.go:11: the model says 3
FAIL
`,
			want:    heard{warmup: 3, seed: "FuzzBits/seed#2", unexplained: true},
			verdict: isFind,
		},
		{
			name: "golang/go#75804",
			log: `fuzz: elapsed: 0s, gathering baseline coverage: 1/1 completed, now fuzzing with 2 workers
fuzz: elapsed: 10s, execs: 90001 (9000/sec), new interesting: 0 (total: 1)
--- FAIL: FuzzBits (10.01s)
    context deadline exceeded
FAIL
exit status 1
`,
			want:    heard{executions: 90001, warmup: 1, deadline: true},
			verdict: nothing,
		},
		{
			name:    "a target that panics before it fuzzes, and a deadline of its own",
			log:     "panic: no vectors\ncontext deadline exceeded\n",
			want:    heard{deadline: true, unexplained: true},
			verdict: isFind,
		},
		{
			name:    "no word",
			verdict: isFind,
		},
		{
			name:      "without instrumentation",
			log:       "fuzz: elapsed: 0s, testing seed corpus: 2/2 completed, now fuzzing with 2 workers\nfuzz: elapsed: 1s, execs: 12 (10/sec)\nPASS\n",
			endedWell: true,
			want:      heard{executions: 12, warmup: 2},
			verdict:   clean,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var h heard
			for line := range strings.Lines(c.log) {
				h.line(strings.TrimSuffix(line, "\n"))
			}
			if h != c.want {
				t.Errorf("heard %+v\nwant  %+v", h, c.want)
			}
			if got := h.judge(c.endedWell); got != c.verdict {
				t.Errorf("verdict %d, want %d", got, c.verdict)
			}
		})
	}
}

// What the corpora cost is not counted, and nothing is counted before they are through.
func TestCounted(t *testing.T) {
	for _, c := range []struct{ executions, warmup, want int64 }{{1192, 192, 1000}, {100, 192, 0}, {7, 0, 7}} {
		if got := (&heard{executions: c.executions, warmup: c.warmup}).counted(); got != c.want {
			t.Errorf("%+v: counted %d", c, got)
		}
	}
}
