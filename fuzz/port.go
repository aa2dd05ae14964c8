package fuzz

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// An input is what a port reads: lines, of which maxPortInput bytes are taken. For
// each line it must answer one, with the request's id, or null if it has none, and
// results or a code (PRT-1 to PRT-4). What is in them is for the other targets to say.
var targetPort = newTarget("Port", "the port answers each line by one line, with the request's id or null", runPort, seedPort)

// Events of traces can ask for much work with few bytes.
const maxPortInput = 16 << 10

func runPort(t T, data []byte) {
	data = data[:min(len(data), maxPortInput)]
	var out bytes.Buffer
	if err := port.Serve(bytes.NewReader(data), &out); err != nil {
		t.Fatalf("serve: %v", err)
	}
	if verbose() {
		t.Logf("%s\n%s", data, &out)
	}
	asked := linesOf(data)
	answers := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
	if len(asked) == 0 {
		if out.Len() != 0 {
			t.Fatalf("nothing was asked, and answered %q", out.Bytes())
		}
		return
	}
	if !bytes.HasSuffix(out.Bytes(), []byte("\n")) || len(answers) != len(asked) {
		t.Fatalf("%d lines, %d answers", len(asked), len(answers))
	}
	for i, line := range asked {
		checkAnswer(t, line, answers[i])
	}
}

// linesOf splits an input as a port does: the last line may lack its end.
func linesOf(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}

// object is a JSON object.
type object map[string]json.RawMessage

var (
	integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	aCode   = regexp.MustCompile(`^"[a-z_]+"$`)
)

func checkAnswer(t T, line, answer []byte) {
	t.Helper()
	var a, q object
	if err := json.Unmarshal(answer, &a); err != nil || a == nil {
		t.Fatalf("the answer is no object: %q, %v", answer, err)
	}
	if json.Unmarshal(line, &q) != nil {
		q = nil
	}
	id := "null"
	if integer.Match(q["id"]) {
		id = string(q["id"])
	}
	if string(a["id"]) != id {
		t.Fatalf("the request's id is %s, the answer's %s", id, a["id"])
	}
	code, refused := a["error"]
	switch ok := string(a["ok"]); {
	case ok != "true" && ok != "false" || refused == (ok == "true"):
		t.Fatalf("the answer is %s", answer)
	case ok == "true" && (len(a) < 3 || id == "null"):
		t.Fatalf("%s is answered with %s", line, answer)
	case refused && !isRefusal(a):
		t.Fatalf("a refusal is %s", answer)
	case id == "null" && string(code) != `"bad_request"`:
		t.Fatalf("a line without an id is refused by %s", answer)
	}
}

// isRefusal reports whether an answer has a code, and a place if its code has one, and nothing else.
func isRefusal(a object) bool {
	fields := 3
	if at, is := a["at"]; is {
		if fields++; !integer.Match(at) {
			return false
		}
	}
	return len(a) == fields && aCode.Match(a["error"])
}

// longestPortSeed keeps the replay of the seeds short: longer traces are left out.
const longestPortSeed = 6000

func seedPort(files []testvectors.File) (seeds [][]byte) {
	for _, f := range files {
		for _, v := range f.Vectors {
			line := append([]byte(`{"id":1,`), v.Request[1:]...)
			if string(v.Request) == "{}" {
				line = []byte(`{"id":1}`)
			}
			var q object
			if json.Unmarshal(line, &q) != nil || len(line) > longestPortSeed {
				continue
			}
			seeds = append(seeds, compact(line))
		}
	}
	return append(seeds, nil, []byte("\n"), []byte("{}\n{}"), []byte(`{"id":99999999999999999999,"op":"fly"}`+"\n"))
}

// compact writes JSON on one line.
func compact(text []byte) []byte {
	b, _ := json.Marshal(json.RawMessage(text))
	return append(b, '\n')
}
