package testvectors_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/chunkwire/chunkwire/testvectors"
)

// schemaURL is the $id of schema.json.
const schemaURL = "https://github.com/chunkwire/chunkwire/testvectors/schema.json"

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(testvectors.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaURL, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFilesMeetTheSchema(t *testing.T) {
	s := schema(t)
	paths, err := filepath.Glob("files/*.json")
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(value); err != nil {
				t.Error(err)
			}
			vectors, _ := value.(map[string]any)["vectors"].([]any)
			if vectors == nil || strings.Contains(path, "contract") { // whose requests may have anything
				return
			}
			first := vectors[0].(map[string]any)
			value.(map[string]any)["vectors"] = []any{first}
			for _, member := range []string{"request", "response"} {
				first[member].(map[string]any)["more"] = true
				if s.Validate(value) == nil {
					t.Errorf("a %s may have anything", member)
				}
				delete(first[member].(map[string]any), "more")
			}
		})
	}
}
