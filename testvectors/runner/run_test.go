package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/runner"
)

type handVector struct {
	name              string
	level             testvectors.Level
	request, response string
}

// handVectors are a small suite: of each kind of vector one.
var handVectors = []handVector{
	{"encode", testvectors.Required, `{"op":"encode_body","packet":{"type":"slice","chunk_id":0,"slice_id":0,"num_slices":1,"data":"41"}}`, `{"ok":true,"hex":"00000000000041"}`},
	{"decode", testvectors.Required, `{"op":"decode_body","type":"ack","hex":"34120205"}`, `{"ok":true,"packet":{"type":"ack","chunk_id":4660,"acked":"101"}}`},
	{"refused", testvectors.Required, `{"op":"decode_packet","protocol_id":1,"hex":"ca918a1e682400000600deadbeefe2ac0899"}`, `{"ok":false,"error":"crc_mismatch"}`},
	{"sender", testvectors.Required, senderRequest, senderResponse},
	{"receiver", testvectors.Required, receiverRequest, receiverResponse},
	{"receiver-in-time", testvectors.Recommended, receiverRequest, receiverResponse},
	{"paced", testvectors.Recommended, pacedRequest, pacedResponse},
}

const (
	senderRequest    = `{"op":"sender","config":{"first_chunk_id":0,"give_up_us":10000000,"profile":null},"events":[{"at":0,"event":"submit","size":3000},{"at":0,"event":"poll","due":[0,1,2]},{"at":50000,"event":"ack","chunk_id":0,"acked":"101"},{"at":60000,"event":"poll","due":[1]},{"at":110000,"event":"ack","chunk_id":0,"acked":"111"}]}`
	senderResponse   = `{"ok":true,"steps":[{"event":0,"row":"S1","state":"SENDING","chunk_id":0,"acked":"000","deadline_us":10000000,"packets":[]},{"event":1,"row":"S14","state":"SENDING","chunk_id":0,"acked":"000","deadline_us":10000000,"packets":[{"type":"slice","chunk_id":0,"slice_id":0,"num_slices":3,"size":1024,"crc32":3070970918},{"type":"slice","chunk_id":0,"slice_id":1,"num_slices":3,"size":1024,"crc32":72712389},{"type":"slice","chunk_id":0,"slice_id":2,"num_slices":3,"size":952,"crc32":38423719}]},{"event":2,"row":"S9","state":"SENDING","chunk_id":0,"acked":"101","deadline_us":10050000,"packets":[]},{"event":3,"row":"S14","state":"SENDING","chunk_id":0,"acked":"101","deadline_us":10050000,"packets":[{"type":"slice","chunk_id":0,"slice_id":1,"num_slices":3,"size":1024,"crc32":72712389}]},{"event":4,"row":"S10","state":"IDLE","chunk_id":1,"acked":"","deadline_us":null,"packets":[]}]}`
	receiverRequest  = `{"op":"receiver","config":{"first_chunk_id":0,"give_up_us":10000000},"events":[{"at":0,"event":"slice","chunk_id":0,"slice_id":0,"num_slices":2,"size":1024},{"at":0,"event":"poll"}]}`
	receiverResponse = `{"ok":true,"steps":[{"event":0,"row":"R2","state":"RECEIVING","chunk_id":0,"received":"10","deadline_us":0,"packets":[]},{"event":1,"row":"R22","state":"RECEIVING","chunk_id":0,"received":"10","deadline_us":10000000,"packets":[{"type":"ack","chunk_id":0,"acked":"10"}]}]}`
	pacedRequest     = `{"op":"sender","config":{"first_chunk_id":0,"give_up_us":10000000,"profile":{"rate":0,"cap":17056,"burst":0,"acks_pay":false,"spacing_us":0,"resend_delay_us":0}},"events":[{"at":0,"event":"submit","size":2048},{"at":0,"event":"poll"},{"at":40000,"event":"ack","chunk_id":0,"acked":"01"}]}`
	pacedResponse    = `{"ok":true,"steps":[{"event":0,"row":"S1","state":"SENDING","chunk_id":0,"acked":"00","deadline_us":0,"packets":[]},{"event":1,"row":"S14","state":"SENDING","chunk_id":0,"acked":"00","deadline_us":250000,"packets":[{"type":"slice","chunk_id":0,"slice_id":0,"num_slices":2,"size":1024,"crc32":3070970918},{"type":"slice","chunk_id":0,"slice_id":1,"num_slices":2,"size":1024,"crc32":72712389}]},{"event":2,"row":"S9","state":"SENDING","chunk_id":0,"acked":"01","deadline_us":60000,"packets":[]}]}`
)

func suiteOf(vectors []handVector) runner.Suite {
	f := testvectors.File{Group: "hand", Flags: map[string]testvectors.Flag{"wrong": {Mistake: "does it wrong", Effect: "nobody understands"}}}
	for _, v := range vectors {
		f.Vectors = append(f.Vectors, testvectors.Vector{
			Name: "hand/" + v.name, Comment: "Catches who cannot " + v.name + ".", Flags: []string{"wrong"}, Sentences: []string{"LAW-1"},
			Level: v.level, Request: json.RawMessage(v.request), Response: json.RawMessage(v.response),
		})
	}
	return runner.Suite{Files: []testvectors.File{f}}
}

// handmade is the small suite with seeded runs and lines that are no requests.
func handmade(t *testing.T) runner.Suite {
	t.Helper()
	s := suiteOf(handVectors)
	s.Accumulated = []testvectors.Accumulated{
		{Name: "accumulated/1000", Comment: "Many.", Sentences: []string{"ACC-3"}, Seed: 1, Packets: 1000, SHA256: "c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5"},
		{Name: "accumulated/1000000", Comment: "More.", Sentences: []string{"ACC-3"}, Seed: 2, Packets: 1_000_000, SHA256: "00"},
	}
	var err error
	if s.Lines, err = testvectors.Lines(); err != nil {
		t.Fatal(err)
	}
	return s
}

// run tests a port that is bad in some way with the small suite.
func run(t *testing.T, mode string, cfg runner.Config) (*runner.Report, error) {
	t.Helper()
	cfg.Command = []string{os.Args[0], testPort, mode}
	return runner.Run(t.Context(), cfg, handmade(t))
}

const (
	decode     = "hand/decode"
	endOfInput = "process/end-of-input"
)

// allLines are the names of the lines that are no requests.
func allLines(t *testing.T) (names []string) {
	for _, l := range handmade(t).Lines {
		names = append(names, l.Name)
	}
	return names
}

// badPorts are the modes of a port and what must be reported of each.
var badPorts = []struct {
	mode  string
	fails string // the names that fail
	kind  runner.Kind
	says  string
}{
	{"good", "", "", ""},
	{"wrong", decode, runner.Differs, "packet.chunk_id"},
	{"extra-line", decode, runner.ExtraLine, "answered twice"},
	{"chatty", decode, runner.ExtraLine, `"decoding"`},
	{"missing-line", decode, runner.MissingLine, "hand/refused"},
	{"late", decode, runner.OutOfOrder, "after a later request"},
	{"crash", decode, runner.Crash, "exit status 3; its standard error ends with:\nsegmentation fault"},
	{"half-a-line", decode, runner.Crash, "in the middle of a line"},
	{"hang", decode, runner.Hang, "no answer within 2s"},
	{"garbage", decode, runner.Garbage, "{what?"},
	{"wrong-id", decode, runner.WrongID, "has the id 9"},
	{"extra-field", decode, runner.Differs, "packet.note"},
	{"missing-field", decode, runner.Differs, "packet.acked"},
	{"twice", decode, runner.Garbage, "comes twice"},
	{"float", decode, runner.Differs, "packet.chunk_id"},
	{"wrong-step", "hand/sender hand/paced", runner.Differs, "steps[2].row"},
	{"other-deadlines", "hand/sender hand/receiver-in-time", runner.Differs, "deadline_us"},
	{"wrong-packets", "accumulated/1000", runner.Differs, "packet 47 of 1000, encode_packet"},
	{"exits-with-4", endOfInput, runner.Crash, "exit status 4"},
	{"stays", endOfInput, runner.Hang, "does not exit"},
	{"farewell", endOfInput, runner.ExtraLine, "bye"},
	{"exits-at-no-json", "process/empty-line process/not-json process/half-an-object", runner.Crash, "ended"},
	{"ignores-no-json", "process/empty-line process/not-json process/half-an-object", runner.MissingLine, "no answer"},
	{"lines-are-unsupported", "all lines", runner.Differs, "error"},
}

// Each bad port is reported for what it is, and nothing else fails because of it
// (PRT-4).
func TestBadPorts(t *testing.T) {
	for _, c := range badPorts {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			cfg := runner.Config{Timeout: 2 * time.Second, Match: regexp.MustCompile("^hand|^process")}
			if c.mode == "good" || c.mode == "wrong-packets" {
				cfg.Match = nil
			}
			report, err := run(t, c.mode, cfg)
			if err != nil {
				t.Fatal(err)
			}
			var fails []string
			for _, r := range report.Results {
				if r.Status == runner.Passed {
					continue
				}
				fails = append(fails, r.Name)
				if r.Kind != c.kind || !strings.Contains(r.Message, c.says) {
					t.Errorf("%s: %s, %q, want %s, %q", r.Name, r.Kind, r.Message, c.kind, c.says)
				}
			}
			want := strings.Fields(c.fails)
			if c.fails == "all lines" {
				want = allLines(t)
			}
			if diff := cmp.Diff(strings.Join(want, " "), strings.Join(fails, " ")); diff != "" || report.OK != (c.fails == "") {
				t.Errorf("OK is %t; what fails (-want +got):\n%s", report.OK, diff)
			}
		})
	}
}

func TestRefusesPorts(t *testing.T) {
	for _, c := range []struct{ mode, says string }{
		{"no-proof", `but it answers "{`},
		{"counts-lines", `but it answers "{`},
		{"silent", "does it flush"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			if _, err := run(t, c.mode, runner.Config{Timeout: 500 * time.Millisecond}); !errors.Is(err, runner.ErrPort) || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
		})
	}
	report, err := runner.Run(t.Context(), runner.Config{Command: []string{"no-such-command-anywhere"}}, handmade(t))
	if !errors.Is(err, runner.ErrPort) || !strings.Contains(err.Error(), "cannot start") || report == nil {
		t.Error(err)
	}
}

// A port that does not survive a single request is given up.
func TestGivesUp(t *testing.T) {
	var many []handVector
	for i := range 30 {
		v := handVectors[0]
		v.name = fmt.Sprint("encode-", i)
		many = append(many, v)
	}
	report, err := runner.Run(t.Context(), runner.Config{Command: []string{os.Args[0], testPort, "one-shot"}}, suiteOf(many))
	var out bytes.Buffer
	report.Print(&out, 10)
	for _, want := range []string{"FAIL hand/encode-0 ", "… and 11 more failures; --all", "the run ended early: 9"} {
		if !errors.Is(err, runner.ErrPort) || !strings.Contains(err.Error(), "gave up after 20 restarts") || !strings.Contains(out.String(), want) {
			t.Errorf("%v, want %q in:\n%s", err, want, out.String())
		}
	}
}

func TestIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	report, err := runner.Run(ctx, runner.Config{Command: []string{os.Args[0], testPort, "hang"}}, handmade(t))
	if !errors.Is(err, context.Canceled) || report.Total("").NotRun == 0 {
		t.Errorf("%v, %+v", err, report.Counts)
	}
}

func TestSkips(t *testing.T) {
	report, err := run(t, "unsupported", runner.Config{})
	if err != nil || !report.OK || report.Total("").Skipped != len(handVectors)+1 {
		t.Errorf("%v, %+v", err, report.Counts)
	}
	for limit, want := range map[int]string{10: "  hand: all 7\n", -1: "    hand/refused\n"} {
		var out bytes.Buffer
		if report.Print(&out, limit); !strings.Contains(out.String(), want) {
			t.Errorf("limit %d: %q is not in:\n%s", limit, want, out.String())
		}
	}
	if report, err := run(t, "unsupported", runner.Config{NoSkip: true}); err != nil || report.OK || report.Total("").Failed != len(handVectors)+1 {
		t.Errorf("NoSkip: %v, %+v", err, report.Counts)
	}
}

func TestKnownFailures(t *testing.T) {
	known := runner.Config{Known: []string{decode}, Match: regexp.MustCompile("^hand")}
	if report, err := run(t, "crash", known); err != nil || !report.OK || report.Total("").Known != 1 {
		t.Errorf("a known failure: %v, %+v", err, report.Counts)
	}
	report, err := run(t, "good", known)
	if err != nil || report.OK || report.Results[1].Kind != runner.UnexpectedPass {
		t.Errorf("a known failure that passes: %v, %+v", err, report.Results[1])
	}
	for _, name := range []string{endOfInput, "process/not-json", "accumulated/1000"} {
		if _, err := run(t, "good", runner.Config{Known: []string{name}, Match: regexp.MustCompile("^hand/encode")}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := run(t, "good", runner.Config{Known: []string{"hand/other"}}); !errors.Is(err, runner.ErrConfig) {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestChooses(t *testing.T) {
	report, err := run(t, "wrong", runner.Config{Match: regexp.MustCompile("^hand/(encode|refused)$")})
	if err != nil || !report.OK || report.Counts[0].Passed != 2 {
		t.Errorf("by name: %v, %+v", err, report.Counts)
	}
	report, err = run(t, "other-deadlines", runner.Config{Levels: []testvectors.Level{testvectors.Required}, Match: regexp.MustCompile("receiver")})
	if err != nil || !report.OK || report.Total("").Passed != 2 {
		t.Errorf("by level: %v, %+v", err, report.Counts)
	}
	if _, err := run(t, "good", runner.Config{Match: regexp.MustCompile("nothing")}); !errors.Is(err, runner.ErrConfig) {
		t.Errorf("nothing: %v", err)
	}
}
