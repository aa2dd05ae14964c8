package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/chunkwire/chunkwire/testvectors"
)

// blockPattern finds a block of requests, each with its response on the next line.
var blockPattern = regexp.MustCompile("(?s)```json\n(\\{\"id\".*?)\n```")

// examples checks that the worked examples of a document are vectors of a group, in its order and
// byte for byte, so that they are run and cannot rot. The group can have more: long traces, of
// which the document has a table and names the vector.
func (g *group) examples(document []byte) error {
	vectors := g.file.Vectors
	for _, block := range blockPattern.FindAllSubmatch(document, -1) {
		lines := bytes.Split(block[1], []byte("\n"))
		if len(lines)%2 != 0 {
			return fmt.Errorf("not requests and responses: %s", block[1])
		}
		for i := 0; i < len(lines); i += 2 {
			request, err := withoutID(lines[i])
			response, err2 := withoutID(lines[i+1])
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			at := slices.IndexFunc(vectors, func(v testvectors.Vector) bool {
				return bytes.Equal(v.Request, request) && bytes.Equal(v.Response, response)
			})
			if at < 0 {
				return fmt.Errorf("no vector of %s, in order, is the example\n%s\n%s", g.file.Group, request, response)
			}
			vectors = vectors[at+1:]
		}
	}
	return nil
}

// withoutID takes the id out of a request or a response, and leaves the rest as it stands.
func withoutID(line []byte) (json.RawMessage, error) {
	var object struct{ ID json.RawMessage }
	if err := json.Unmarshal(line, &object); err != nil {
		return nil, err
	}
	rest, found := bytes.CutPrefix(line, append(append([]byte(`{"id":`), object.ID...), ','))
	if !found {
		return nil, fmt.Errorf("the id is not the first field: %s", line)
	}
	return append([]byte("{"), rest...), nil
}
