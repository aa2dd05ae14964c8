package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/tools/simulate"
)

var killSeed = flag.Uint64("kill.seed", 0, "`seed` of the tests that kill processes; 0 draws one")

// Figures of the kill tests. A transfer takes some 400 ms, so that moments within
// it are hit.
const (
	killRounds  = 20
	killSize    = 600_000
	killRate    = "12M"
	killGiveUp  = time.Second
	killAgain   = 10 * time.Second // give-up of another try, which has nothing to wait for
	killWait    = 5 * time.Second
	killLatest  = 600 * time.Millisecond // moment, counted from the start of send
	killPatient = 9 * time.Second        // less than the default give-up, and much for a busy machine
)

// A recv or a send is ended at a random moment: what has the final name is whole,
// the other end says what happened and ends in its timeout, and another try
// succeeds.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	switch runtime.GOOS {
	case "windows", "plan9", "js", "wasip1":
		t.Skipf("%s has no signals that end a process", runtime.GOOS)
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range killRounds {
		t.Run(fmt.Sprint("round ", i), func(t *testing.T) {
			t.Parallel()
			r := drawRound(t, seed, uint64(i), binary)
			defer func() {
				if t.Failed() {
					t.Logf("repeat with -kill.seed=%d: %v to %s after %v, over an old file: %v, plain: %v", seed, r.signal, r.victim, r.moment, r.old != nil, r.plain)
				}
			}()
			r.run()
		})
	}
}

// asCommand, when set in its environment, makes the test's binary the command.
const asCommand = "CHUNKWIRE_AS_COMMAND"

func init() {
	if os.Getenv(asCommand) != "" {
		main() // which exits
	}
}

// killRound is one transfer of which one end is killed.
type killRound struct {
	t      *testing.T
	binary string // the command
	in     string
	out    string
	want   []byte
	old    []byte // what had the final name before; nil: nothing
	plain  bool
	giveUp time.Duration
	victim string
	signal syscall.Signal
	moment time.Duration
}

func drawRound(t *testing.T, seed, i uint64, binary string) *killRound {
	random := rand.New(rand.NewPCG(seed, i))
	dir := t.TempDir()
	r := &killRound{
		t: t, binary: binary, in: filepath.Join(dir, "in"), out: filepath.Join(dir, "out"),
		want: simulate.Pattern(killSize, random.Uint64()), giveUp: killGiveUp, victim: "recv", signal: syscall.SIGKILL,
		moment: time.Duration(random.Int64N(int64(killLatest))),
	}
	if i%2 == 1 {
		r.victim = "send"
	}
	if i%4 >= 2 {
		r.signal = syscall.SIGTERM
	}
	r.plain = i%8 >= 4
	if random.IntN(2) == 0 {
		r.old = []byte("what was here before")
		r.write(r.out, r.old)
	}
	r.write(r.in, r.want)
	return r
}

func (r *killRound) write(name string, content []byte) {
	if err := os.WriteFile(name, content, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *killRound) run() {
	recv, addr := r.recv("--wait", killWait.String())
	send := r.start("send", "--to", addr, "--profile", "fixed", "--max-rate", killRate, r.in)
	time.Sleep(r.moment)
	victim, survivor := recv, send
	if r.victim == "send" {
		victim, survivor = send, recv
	}
	if err := victim.cmd.Process.Signal(r.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.t.Fatal(err)
	}
	r.checkVictim(victim)
	r.checkSurvivor(survivor)
	stored := r.checkFiles()
	if send.code == exitOK && !stored {
		r.t.Error("send ended well, but the file is not there")
	}
	if recv.code == exitOK && !stored {
		r.t.Error("recv ended well, but the file is not there")
	}
	r.retry()
}

// checkVictim: it is killed at once, or interrupted as the help says, or was done.
func (r *killRound) checkVictim(p *killable) {
	p.wait(r.t)
	switch killed := p.code < 0; {
	case p.code == exitOK, r.signal == syscall.SIGKILL && killed, r.signal == syscall.SIGTERM && p.code == exitSignal:
	case r.signal == syscall.SIGTERM && killed && p.stderr.String() == "": // before it could listen to signals
	default:
		r.t.Errorf("%s ended with %d: %s", r.victim, p.code, p.stderr.String())
	}
}

// checkSurvivor: it has what it wanted, or says in time that it has not.
func (r *killRound) checkSurvivor(p *killable) {
	p.wait(r.t)
	if p.code != exitOK && p.code != exitTimeout {
		r.t.Errorf("the other end ended with %d, not %d: %s", p.code, exitTimeout, p.stderr.String())
	}
	if p.code != exitOK && !bytes.Contains([]byte(p.stderr.String()), []byte("chunkwire: ")) {
		r.t.Errorf("the other end does not say what happened: %q", p.stderr.String())
	}
}

var partName = regexp.MustCompile(`^out\.[a-z2-7]{8}\.part$`)

// checkFiles reports whether the file has arrived. Under its name is all of it or
// what was there before; a part file stays only where recv was killed.
func (r *killRound) checkFiles() (stored bool) {
	got, err := os.ReadFile(r.out)
	stored = err == nil && bytes.Equal(got, r.want)
	switch {
	case stored:
	case r.old == nil && !errors.Is(err, os.ErrNotExist), r.old != nil && !bytes.Equal(got, r.old):
		r.t.Errorf("under the final name is neither the file nor what was there, but %d bytes", len(got))
	}
	most := 0
	if r.victim == "recv" && r.signal == syscall.SIGKILL {
		most = 1 // as recv --help says
	}
	if parts := r.parts(); len(parts) > most {
		r.t.Errorf("left behind: %q", parts)
	}
	return stored
}

// parts returns what is in the folder besides the two files.
func (r *killRound) parts() (names []string) {
	entries, err := os.ReadDir(filepath.Dir(r.out))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "in" || name == "out":
		case partName.MatchString(name):
			names = append(names, name)
		default:
			r.t.Errorf("there is a file %q", name)
		}
	}
	return names
}

// retry: what a killed end left behind is in nobody's way.
func (r *killRound) retry() {
	before := len(r.parts())
	r.giveUp = killAgain
	recv, addr := r.recv()
	send := r.start("send", "--to", addr, r.in)
	recv.wait(r.t)
	send.wait(r.t)
	got, err := os.ReadFile(r.out)
	if recv.code != exitOK || send.code != exitOK || !bytes.Equal(got, r.want) {
		r.t.Errorf("another try: recv %d, send %d, %d bytes, %v\n%s%s", recv.code, send.code, len(got), err, recv.stderr.String(), send.stderr.String())
	}
	if after := len(r.parts()); after != before {
		r.t.Errorf("another try makes %d parts of %d", after, before)
	}
}

// killable is a process of the command.
type killable struct {
	cmd    *exec.Cmd
	stderr lockedBuffer
	ended  chan struct{}
	code   int // once it has ended; -1: by a signal
}

func (r *killRound) recv(args ...string) (p *killable, addr string) {
	p = r.start(append([]string{"recv", "--listen", loopback, "--out", r.out}, args...)...)
	return p, listening(r.t, &p.stderr)
}

func (r *killRound) start(args ...string) *killable {
	r.t.Helper()
	args = append(args, "--give-up", r.giveUp.String())
	if r.plain {
		args = append(args, "--plain")
	}
	p := &killable{cmd: exec.Command(r.binary, args...), ended: make(chan struct{})}
	p.stderr.wrote = make(chan struct{}, 1)
	p.cmd.Env = append(os.Environ(), asCommand+"=1")
	p.cmd.Stderr = &p.stderr
	p.run(r.t)
	return p
}

// run starts the process, which ends with the test at the latest.
func (p *killable) run(t *testing.T) {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the code says how
		p.code = p.cmd.ProcessState.ExitCode()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
}

// wait waits for the process to end.
func (p *killable) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(killPatient):
		t.Fatalf("%s does not end in %v: %s", p.cmd.Args[1], killPatient, p.stderr.String())
	}
}
