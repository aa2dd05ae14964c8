package runner_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/testvectors/contract"
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
		time.Sleep(time.Hour) // without an end, for what waits for it; nothing else is left that could wake a select
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
	op := header(line).Op
	text := string(answer) + "\n"
	switch {
	case string(header(answer).ID) == "null":
		op, text = "", p.spoilLine(line, text)
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

func header(line []byte) (h contract.Header) {
	_ = json.Unmarshal(line, &h)
	return h
}

// spoilLine changes the answer to a line that is no request.
func (p *badPort) spoilLine(line []byte, text string) string {
	switch noJSON := !json.Valid(line); {
	case p.mode == "exits-at-no-json" && noJSON:
		os.Exit(1)
	case p.mode == "ignores-no-json" && noJSON:
		return ""
	case p.mode == "lines-are-unsupported":
		return strings.Replace(text, contract.BadRequest, contract.Unsupported, 1)
	}
	return text
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
	id := header([]byte(text)).ID
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
