package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/cmd/chunkwire/internal/conformance"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// testPort as its first argument makes the test binary a port; the second says
// in what way it is a bad one.
const testPort = "test-port"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == testPort {
		os.Exit(playPort(os.Args[2]))
	}
	// The race detector holds up each exit for a second, and ports exit often.
	_ = os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// playPort answers as the reference port does, but for the op decode_body, of
// which the suite has one, or whatever else the mode says.
func playPort(mode string) int {
	if mode == "live" {
		return execute(context.Background(), os.Stdin, os.Stdout, os.Stderr, "port", "--live")
	}
	p := &badPort{mode: mode, out: os.Stdout}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		p.serve(line)
	}
	switch mode {
	case "exits-with-4":
		return 4
	case "stays":
		select {}
	case "farewell":
		fmt.Println("bye")
	}
	return 0
}

type badPort struct {
	mode  string
	out   *os.File
	lines int
	held  string
}

func (p *badPort) serve(line []byte) {
	p.lines++
	answer := port.Answer(line)
	op := answerable(line).Op
	text := string(answer) + "\n"
	switch {
	case op == "decode_body":
		text = p.spoilOne(text)
	case op != "no_such_op" || p.mode == "no-proof" || p.mode == "silent" || p.mode == "counts-lines":
		text = p.spoilAny(op, text)
	}
	_, _ = p.out.WriteString(text + p.held)
	p.held = ""
	if op == "decode_body" && p.mode == "late" {
		p.held = string(answer) + "\n"
	}
}

func answerable(line []byte) (q struct {
	ID json.RawMessage
	Op string
}) {
	_ = json.Unmarshal(line, &q)
	return q
}

// spoilOne changes the answer to the op decode_body.
func (p *badPort) spoilOne(text string) string {
	switch p.mode {
	case "wrong":
		return strings.Replace(text, `"chunk_id":4660`, `"chunk_id":13330`, 1)
	case "extra-line":
		return text + text
	case "chatty":
		return "decoding\n" + text
	case "missing-line", "late":
		return ""
	case "crash":
		fmt.Fprintln(os.Stderr, "segmentation fault, of sorts")
		os.Exit(3)
	case "half-a-line":
		_, _ = p.out.WriteString(text[:10])
		os.Exit(0)
	case "hang":
		time.Sleep(time.Hour)
	case "garbage":
		return "{what?\n"
	case "wrong-id":
		return strings.Replace(text, `{"id":`, `{"id":9`, 1)
	case "extra-field":
		return strings.Replace(text, `"chunk_id"`, `"note":0,"chunk_id"`, 1)
	case "missing-field":
		return strings.Replace(text, `,"acked":"101"`, "", 1)
	case "twice":
		return strings.Replace(text, `"chunk_id"`, `"chunk_id":4660,"chunk_id"`, 1)
	case "float":
		return strings.Replace(text, "4660", "4660.0", 1)
	}
	return p.spoilAny("decode_body", text)
}

// spoilAny changes answers of any op.
func (p *badPort) spoilAny(op, text string) string {
	id := answerable([]byte(text)).ID
	switch p.mode {
	case "no-proof":
		return strings.Replace(text, "unsupported", "bad_request", 1)
	case "silent":
		return ""
	case "counts-lines":
		return strings.Replace(text, string(id), fmt.Sprint(p.lines), 1)
	case "unsupported":
		return `{"id":` + string(id) + `,"ok":false,"error":"unsupported"}` + "\n"
	case "one-shot":
		os.Exit(0)
	case "other-deadlines":
		return strings.ReplaceAll(text, `"deadline_us":10000000`, `"deadline_us":77`)
	case "wrong-step":
		return strings.Replace(text, `"row":"S9"`, `"row":"S8"`, 1)
	case "wrong-packets":
		if op == "encode_packet" && p.lines > 100 {
			return strings.Replace(text, `e2ac0899"`, `e2ac0898"`, 1)
		}
	}
	return text
}

type handVector struct{ name, level, request, response string }

// handmade is a small suite: of each kind of vector one.
var handmade = []handVector{
	{"encode", "required", `{"op":"encode_body","packet":{"type":"slice","chunk_id":0,"slice_id":0,"num_slices":1,"data":"41"}}`, `{"ok":true,"hex":"00000000000041"}`},
	{"decode", "required", `{"op":"decode_body","type":"ack","hex":"34120205"}`, `{"ok":true,"packet":{"type":"ack","chunk_id":4660,"acked":"101"}}`},
	{"refused", "required", `{"op":"decode_packet","protocol_id":1,"hex":"ca918a1e682400000600deadbeefe2ac0899"}`, `{"ok":false,"error":"crc_mismatch"}`},
	{"sender", "required", senderRequest, senderResponse},
	{"receiver", "required", receiverRequest, receiverResponse},
	{"receiver-in-time", "recommended", receiverRequest, receiverResponse},
}

const (
	senderRequest    = `{"op":"sender","config":{"first_chunk_id":0,"give_up_us":10000000,"profile":null},"events":[{"at":0,"event":"submit","size":3000},{"at":0,"event":"poll","due":[0,1,2]},{"at":50000,"event":"ack","chunk_id":0,"acked":"101"},{"at":60000,"event":"poll","due":[1]},{"at":110000,"event":"ack","chunk_id":0,"acked":"111"}]}`
	senderResponse   = `{"ok":true,"steps":[{"event":0,"row":"S1","state":"SENDING","chunk_id":0,"acked":"000","deadline_us":10000000,"packets":[]},{"event":1,"row":"S14","state":"SENDING","chunk_id":0,"acked":"000","deadline_us":10000000,"packets":[{"type":"slice","chunk_id":0,"slice_id":0,"num_slices":3,"size":1024,"crc32":3070970918},{"type":"slice","chunk_id":0,"slice_id":1,"num_slices":3,"size":1024,"crc32":72712389},{"type":"slice","chunk_id":0,"slice_id":2,"num_slices":3,"size":952,"crc32":38423719}]},{"event":2,"row":"S9","state":"SENDING","chunk_id":0,"acked":"101","deadline_us":10050000,"packets":[]},{"event":3,"row":"S14","state":"SENDING","chunk_id":0,"acked":"101","deadline_us":10050000,"packets":[{"type":"slice","chunk_id":0,"slice_id":1,"num_slices":3,"size":1024,"crc32":72712389}]},{"event":4,"row":"S10","state":"IDLE","chunk_id":1,"acked":"","deadline_us":null,"packets":[]}]}`
	receiverRequest  = `{"op":"receiver","config":{"first_chunk_id":0,"give_up_us":10000000},"events":[{"at":0,"event":"slice","chunk_id":0,"slice_id":0,"num_slices":2,"size":1024},{"at":0,"event":"poll"}]}`
	receiverResponse = `{"ok":true,"steps":[{"event":0,"row":"R2","state":"RECEIVING","chunk_id":0,"received":"10","deadline_us":0,"packets":[]},{"event":1,"row":"R22","state":"RECEIVING","chunk_id":0,"received":"10","deadline_us":10000000,"packets":[{"type":"ack","chunk_id":0,"acked":"10"}]}]}`
)

func handmadeVectors(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeVectors(t, dir, handmade)
	write(t, filepath.Join(dir, "accumulated.json"), `{"format":1,"description":"Random.","license":"CC0-1.0","runs":[
		{"name":"accumulated/1000","comment":"Many.","sentences":["ACC-3"],"seed":1,"packets":1000,"sha256":"c276c9b513e1806fbb010a34535526ac0f0f7a826619575705d90899a55f7ad5"},
		{"name":"accumulated/1000000","comment":"More.","sentences":["ACC-3"],"seed":2,"packets":1000000,"sha256":"00"}]}`)
	return dir
}

func writeVectors(t *testing.T, dir string, vectors []handVector) {
	t.Helper()
	var list []string
	for _, v := range vectors {
		list = append(list, fmt.Sprintf(`{"name":"hand/%s","comment":"Kills who cannot %s.","flags":["wrong"],"sentences":["LAW-1"],"level":%q,"request":%s,"response":%s}`, v.name, v.name, v.level, v.request, v.response))
	}
	write(t, filepath.Join(dir, "hand.json"), `{"format":1,"group":"hand","description":"Made by hand.","license":"CC0-1.0","flags":{"wrong":{"mistake":"does it wrong","effect":"nobody understands"}},"vectors":[`+strings.Join(list, ",")+`]}`)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// conform puts the handmade suite to a port that is bad in some way.
func conform(t *testing.T, mode string, flags ...string) result {
	t.Helper()
	args := append([]string{"conformance", "--vectors", handmadeVectors(t)}, flags...)
	return runCommand(t, nil, append(args, "--", os.Args[0], testPort, mode)...)
}

const decode, contract = "hand/decode", "process/end-of-input"

// badPorts are the modes of a port and what must be said of each.
var badPorts = []struct {
	mode  string
	fails string // the names that fail
	kind  conformance.Kind
	says  string
}{
	{"good", "", "", ""},
	{"wrong", decode, conformance.Differs, "packet.chunk_id"},
	{"extra-line", decode, conformance.ExtraLine, "answered twice"},
	{"chatty", decode, conformance.ExtraLine, `"decoding"`},
	{"missing-line", decode, conformance.MissingLine, "hand/refused"},
	{"late", decode, conformance.OutOfOrder, "after a later request"},
	{"crash", decode, conformance.Crash, "exit status 3; its standard error ends with:\nsegmentation fault"},
	{"half-a-line", decode, conformance.Crash, "in the middle of a line"},
	{"hang", decode, conformance.Hang, "no answer within 2s"},
	{"garbage", decode, conformance.Garbage, "{what?"},
	{"wrong-id", decode, conformance.WrongID, "has the id 9"},
	{"extra-field", decode, conformance.Differs, "packet.note"},
	{"missing-field", decode, conformance.Differs, "packet.acked"},
	{"twice", decode, conformance.Garbage, "comes twice"},
	{"float", decode, conformance.Differs, "packet.chunk_id"},
	{"wrong-step", "hand/sender", conformance.Differs, "steps[2].row"},
	{"other-deadlines", "hand/sender hand/receiver-in-time", conformance.Differs, "deadline_us"},
	{"wrong-packets", "accumulated/1000", conformance.Differs, "packet 48 of 1000, encode_packet"},
	{"exits-with-4", contract, conformance.Crash, "exit status 4"},
	{"stays", contract, conformance.Hang, "does not exit"},
	{"farewell", contract, conformance.ExtraLine, "bye"},
}

// Each bad port is told for what it is, and nothing else fails because of it
// (PRT-4).
func TestConformanceTellsBadPorts(t *testing.T) {
	for _, c := range badPorts {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			match := "^hand"
			if c.mode == "good" || c.mode == "wrong-packets" {
				match = "."
			}
			r := conform(t, c.mode, "--json", "--timeout", "2s", "--run", match)
			var report conformance.Report
			if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
				t.Fatalf("%v: %+v", err, r)
			}
			var fails []string
			for _, result := range report.Results {
				if result.Status == conformance.Passed {
					continue
				}
				fails = append(fails, result.Name)
				if result.Kind != c.kind || !strings.Contains(result.Message, c.says) {
					t.Errorf("%s: %s, %q, want %s, %q", result.Name, result.Kind, result.Message, c.kind, c.says)
				}
			}
			code := exitFailed
			if c.fails == "" {
				code = exitOK
			}
			if strings.Join(fails, " ") != c.fails || r.code != code || report.OK != (c.fails == "") {
				t.Errorf("exit %d, fails %v, want %d, %v\n%s", r.code, fails, code, c.fails, r.stderr)
			}
		})
	}
}

func TestConformanceRefusesPorts(t *testing.T) {
	for _, c := range []struct{ mode, says string }{
		{"no-proof", `but it answers "{`},
		{"counts-lines", `but it answers "{`},
		{"silent", "does it flush"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			r := conform(t, c.mode, "--timeout", "500ms", "--run", "^hand")
			if r.code != exitPort || !strings.Contains(r.stderr, c.says) {
				t.Errorf("%+v", r)
			}
		})
	}
	r := runCommand(t, nil, "conformance", "--vectors", handmadeVectors(t), "--", "no-such-command-anywhere")
	if r.code != exitPort || !strings.Contains(r.stderr, "cannot start") {
		t.Errorf("%+v", r)
	}
}

// A port that does not survive a single request is given up.
func TestConformanceGivesUp(t *testing.T) {
	var many []handVector
	for i := range 30 {
		v := handmade[0]
		v.name = fmt.Sprint("encode-", i)
		many = append(many, v)
	}
	dir := t.TempDir()
	writeVectors(t, dir, many)
	r := runCommand(t, nil, "conformance", "--vectors", dir, "--", os.Args[0], testPort, "one-shot")
	for _, want := range []string{"FAIL hand/encode-0 ", "… and 11 more failures; --all", "the run ended early: 9"} {
		if r.code != exitPort || !strings.Contains(r.stdout, want) || !strings.Contains(r.stderr, "gave up after 20 restarts") {
			t.Errorf("exit %d, %s, want %q in:\n%s", r.code, r.stderr, want, r.stdout)
		}
	}
}

func TestConformanceIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	var stdout, stderr lockedBuffer
	code := execute(ctx, nil, &stdout, &stderr, "conformance", "--vectors", handmadeVectors(t), "--", os.Args[0], testPort, "hang")
	if code != exitSignal || !strings.Contains(stdout.String(), "the run ended early") {
		t.Errorf("exit %d: %s%s", code, stdout.String(), stderr.String())
	}
}

func TestConformanceHelp(t *testing.T) {
	for _, command := range []string{"conformance", "live"} {
		r := runCommand(t, nil, command, "--help")
		if r.code != exitOK || !strings.Contains(r.stdout, "Examples:") || !strings.Contains(r.stdout, "Exit codes: 0 all") {
			t.Errorf("%s --help: %+v", command, r)
		}
	}
}

func TestConformanceSkips(t *testing.T) {
	r := conform(t, "unsupported")
	if r.code != exitOK || !strings.Contains(r.stdout, "port does not have them (7)") || !strings.Contains(r.stdout, "  hand: all 6\n") {
		t.Errorf("%+v", r)
	}
	if r := conform(t, "unsupported", "--all"); !strings.Contains(r.stdout, "    hand/refused\n") {
		t.Errorf("with --all: %+v", r)
	}
	if r := conform(t, "unsupported", "--no-skip"); r.code != exitFailed {
		t.Errorf("with --no-skip: %+v", r)
	}
}

func TestConformanceKnownFailures(t *testing.T) {
	list := filepath.Join(t.TempDir(), "known")
	write(t, list, "# all that is wrong\nhand/decode # some day\n\n")
	if r := conform(t, "crash", "--known-failures", list, "--run", "^hand"); r.code != exitOK || !strings.Contains(r.stdout, "known failures (1)") {
		t.Errorf("a known failure: %+v", r)
	}
	if r := conform(t, "good", "--known-failures", list, "--run", "^hand"); r.code != exitFailed || !strings.Contains(r.stdout, "take it off the list") {
		t.Errorf("a known failure that passes: %+v", r)
	}
	write(t, list, "hand/other\n")
	if r := conform(t, "good", "--known-failures", list); r.code != exitUsage || !strings.Contains(r.stderr, "hand/other") {
		t.Errorf("an unknown name: %+v", r)
	}
}

func TestConformanceChooses(t *testing.T) {
	r := conform(t, "wrong", "--run", "^hand/(encode|refused)$", "--json")
	var report conformance.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != exitOK || report.Counts[0].Group != "hand" || report.Counts[0].Passed != 2 {
		t.Errorf("--run: %+v, %v", r, err)
	}
	if r := conform(t, "other-deadlines", "--level", "required", "--run", "receiver"); r.code != exitOK {
		t.Errorf("--level: %+v", r)
	}
	for _, flags := range []string{"--run nothing", "--run (", "--level best", "--timeout 0s", "--known-failures nowhere"} {
		if r := conform(t, "good", strings.Fields(flags)...); r.code != exitUsage {
			t.Errorf("%s: %+v", flags, r)
		}
	}
	if r := runCommand(t, nil, "conformance"); r.code != exitUsage {
		t.Errorf("no command: %+v", r)
	}
}

// What people see of failures.
func TestConformanceExplains(t *testing.T) {
	r := conform(t, "wrong")
	for _, want := range []string{
		"FAIL hand/decode (required)", "why: Kills who cannot decode.", "wrong: does it wrong; nobody understands",
		"sentences: LAW-1", "num_slices-1  2          bits 16 to 23", "- packet.chunk_id  4660", "+ packet.chunk_id  13330",
		"accumulated/1000000 is left out",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is not in:\n%s", want, r.stdout)
		}
	}
	r = conform(t, "wrong-step", "--run", "^hand")
	for _, want := range []string{"the first step that differs is 2 (from 0)", `{"at":50000,"event":"ack"`, `- row          "S9"`, `+ row          "S8"`} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is not in:\n%s", want, r.stdout)
		}
	}
	r = conform(t, "wrong-packets")
	for _, want := range []string{"- end check", "+ end check", "0x9808ace2 bits 160 to 191", "wrong: of these bytes it is"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is not in:\n%s", want, r.stdout)
		}
	}
}

func TestConformanceJUnit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.xml")
	conform(t, "crash", "--junit", name)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal(text, &suites); err != nil || suites.Tests != 8 || suites.Failures != 1 || !bytes.Contains(text, []byte("segmentation fault")) {
		t.Errorf("%+v, %v:\n%s", suites, err, text)
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	r := runCommand(t, nil, "live", "--json", "--loss", "20", "--", os.Args[0], testPort, "live")
	var report conformance.LiveReport
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != exitOK || len(report.Results) != 16 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestLiveTellsBadPorts(t *testing.T) {
	t.Parallel()
	// A port that exits at once without a word sends nothing and writes nothing.
	r := runCommand(t, nil, "live", "--loss", "0", "--", os.Args[0], testPort, "good")
	if r.code != exitFailed || !strings.Contains(r.stdout, "no slice came") || !strings.Contains(r.stderr, "8 of 8") {
		t.Errorf("%+v", r)
	}
	r = runCommand(t, nil, "live", "--loss", "0", "--timeout", "500ms", "--", os.Args[0], testPort, "stays")
	if r.code != exitFailed || !strings.Contains(r.stdout, "not done within 500ms") {
		t.Errorf("%+v", r)
	}
	r = runCommand(t, nil, "live", "--", "no-such-command-anywhere")
	if r.code != exitPort {
		t.Errorf("%+v", r)
	}
}
