package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// blockPattern finds a block of requests, each with its response on the next line.
var blockPattern = regexp.MustCompile("(?s)```json\n(\\{\"id\".*?)\n```")

// examples checks that the vectors of a group are the worked examples of a document, byte for
// byte, so that they are run and cannot rot.
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
			if len(vectors) == 0 {
				return fmt.Errorf("no vector has the example %s", lines[i])
			}
			if v := vectors[0]; !bytes.Equal(v.Request, request) || !bytes.Equal(v.Response, response) {
				return fmt.Errorf("%s: the document has\n%s\n%s, the vector\n%s\n%s", v.Name, request, response, v.Request, v.Response)
			}
			vectors = vectors[1:]
		}
	}
	if len(vectors) > 0 {
		return fmt.Errorf("%s: no example of the document", vectors[0].Name)
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
