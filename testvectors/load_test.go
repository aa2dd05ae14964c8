package testvectors_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/chunkwire/chunkwire/testvectors"
)

func TestLoad(t *testing.T) {
	list, err := testvectors.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no files")
	}
}

// Every sentence that a vector names is one of the specification.
func TestVectorsNameSentencesThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, name := range []string{"../spec/PROTOCOL.md", "../spec/REPAIR.md", "../spec/RECOVERY.md", "../spec/PACKETS.md", "../spec/CHANNELS.md", "../spec/CONNECTION.md"} {
		spec, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:- |\| )(?:\*\*([A-Z]{3,4}(?:-(?:SAFE|LIVE|BND))?-\d+)\*\*|([SRTUPLCDVIJK]\d+) \|)`).FindAllStringSubmatch(string(spec), -1) {
			known[m[1]+m[2]] = true
		}
	}
	list, err := testvectors.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		for _, v := range f.Vectors {
			for _, id := range v.Sentences {
				if !known[id] {
					t.Errorf("%s: no sentence %s", v.Name, id)
				}
			}
		}
	}
}

const minimal = `{"format":1,"group":"g","description":"d","license":"CC0-1.0",
"flags":{"f":{"mistake":"m","effect":"e"}},
"vectors":[{"name":"g/a","comment":"c","flags":["f"],"sentences":["BIT-1"],"level":"required","request":{"op":"x"},"response":{"ok":false,"error":"unsupported"}}]}`

func TestLoadRefuses(t *testing.T) {
	cases := map[string]struct{ old, new, want string }{
		"unknown field":     {`"comment"`, `"remark"`, "unknown field"},
		"another format":    {`"format":1`, `"format":2`, "format 2"},
		"another license":   {"CC0-1.0", "MIT", "license"},
		"unknown flag":      {`"flags":["f"]`, `"flags":["f","g"]`, "unknown flag"},
		"unused flag":       {`"flags":["f"]`, `"flags":[]`, "not used"},
		"flag unexplained":  {`"mistake":"m"`, `"mistake":""`, "not explained"},
		"another group":     {`"group":"g"`, `"group":"h"`, "group"},
		"name of elsewhere": {`"g/a"`, `"h/a"`, "does not begin"},
		"no comment":        {`"comment":"c"`, `"comment":""`, "no comment"},
		"unknown level":     {`"required"`, `"perhaps"`, "level"},
		"an id":             {`{"op"`, `{"id":1,"op"`, "has an id"},
		"no object":         {`{"op":"x"}`, `[]`, "no object"},
		"two values":        {`{"format"`, `{} {"format"`, "more than one"},
		"no vectors":        {minimal[strings.Index(minimal, `[{"name`):], `[]}`, "no vectors"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(minimal, c.old, c.new, 1)
			fsys := fstest.MapFS{"files/g.json": {Data: []byte(text)}}
			if _, err := testvectors.LoadFS(fsys, "files"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := testvectors.LoadFS(fstest.MapFS{"files/g.json": {Data: []byte(minimal)}}, "files"); err != nil {
		t.Errorf("the minimal file: %v", err)
	}
}

// Names are unique over all files, since a runner is given them without.
func TestNamesAreUnique(t *testing.T) {
	list, err := testvectors.LoadFS(fstest.MapFS{"files/g.json": {Data: []byte(minimal)}}, "files")
	if err != nil {
		t.Fatal(err)
	}
	if err := testvectors.Validate(append(list, list...)); err == nil || !strings.Contains(err.Error(), "taken") {
		t.Errorf("got %v", err)
	}
}
