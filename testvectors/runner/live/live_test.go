package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/testvectors/runner"
	"github.com/chunkwire/chunkwire/testvectors/runner/live"
)

// testPort as its first argument makes the test binary a live port; the second says
// in what way it is a bad one.
const testPort = "test-live-port"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == testPort {
		if err := playPort(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// The race detector holds up each exit for a second, and ports exit often.
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(m.Run())
}

func playPort(mode string) error {
	getenv, out := os.Getenv, os.Stdout
	switch mode {
	case "idle":
		return nil
	case "stays":
		select {}
	case "other-id":
		getenv = func(name string) string {
			if name == live.EnvProtocolID {
				return "1"
			}
			return os.Getenv(name)
		}
	case "no-repair":
		getenv = func(name string) string {
			if name == live.EnvVariant {
				return ""
			}
			return os.Getenv(name)
		}
	case "chatty":
		fmt.Println("working")
	case "fails":
		return errors.New("no random bytes")
	}
	return live.Serve(context.Background(), getenv, os.Stdin, out)
}

func port(mode string) []string { return []string{os.Args[0], testPort, mode} }

func TestGoodPorts(t *testing.T) {
	for name, cfg := range map[string]live.Config{
		"with the reference": {}, "port to port": {With: port("good")},
		"with the reference, repair": {Variant: live.Repair}, "port to port, repair": {With: port("good"), Variant: live.Repair},
		"with the reference, connection": {Variant: live.Connection}, "port to port, connection": {With: port("good"), Variant: live.Connection},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg.Command, cfg.Loss = port("good"), 20
			report, err := live.Run(t.Context(), cfg)
			var out bytes.Buffer
			report.Print(&out)
			if err != nil || !report.OK || len(report.Results) != 16 || report.Failed() != 0 || strings.Count(out.String(), "passed") != 16 {
				t.Fatalf("%v\n%s", err, out.String())
			}
		})
	}
}

// Each bad port is reported for what it is.
func TestBadPorts(t *testing.T) {
	for _, c := range []struct {
		mode    string
		failed  int
		timeout time.Duration
		says    []string
	}{
		{"idle", 8, 0, []string{"no slice came", "no datagram came from the sender", "no datagram came from the receiver"}},
		{"stays", 8, 500 * time.Millisecond, []string{"not done within 500ms"}},
		{"other-id", 8, time.Second, []string{"datagrams came from the sender, all refused: crc_mismatch"}},
		{"no-repair", 8, time.Second, []string{"datagrams came from the sender, all refused: crc_mismatch"}},
		{"fails", 8, 0, []string{"exit status 1; its standard error begins with:\nno random bytes"}},
		{"chatty", 8, 0, []string{"writes on standard output", "they differ from byte 0 on"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			report, err := live.Run(t.Context(), live.Config{Command: port(c.mode), Timeout: c.timeout, Variant: map[string]string{"no-repair": live.Repair}[c.mode]})
			var out bytes.Buffer
			report.Print(&out)
			if err != nil || report.OK || report.Failed() != c.failed {
				t.Errorf("%d failed, %v\n%s", report.Failed(), err, out.String())
			}
			for _, want := range c.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, out.String())
				}
			}
		})
	}
}

func TestNoPort(t *testing.T) {
	report, err := live.Run(t.Context(), live.Config{Command: []string{"no-such-command-anywhere"}})
	if !errors.Is(err, runner.ErrPort) || report.OK || report.Error == "" {
		t.Errorf("%v, %+v", err, report)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if report, err := live.Run(ctx, live.Config{Command: port("good")}); !errors.Is(err, context.Canceled) || report.Results[0].Message != "not run" {
		t.Errorf("canceled: %v, %+v", err, report.Results[0])
	}
}

func TestServeNeedsItsEnvironment(t *testing.T) {
	for _, env := range []map[string]string{{}, {live.EnvProtocolID: "x"}, {live.EnvProtocolID: "4294967296"}, {live.EnvProtocolID: "1", live.EnvMode: "fly"}} {
		if err := live.Serve(t.Context(), func(name string) string { return env[name] }, nil, nil); !errors.Is(err, live.ErrEnvironment) {
			t.Errorf("%v: %v", env, err)
		}
	}
}
