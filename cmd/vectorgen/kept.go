package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// kept makes the vectors of a group whose requests are data: its own file has them, with
// their names, comments and sentences, and the layouts of spec/formats.json answer them. A
// new vector is an entry without a response.
func (g *group) kept(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, g.file.Group+".json"))
	if err != nil {
		return err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	var file testvectors.File
	if err := in.Decode(&file); err != nil {
		return err
	}
	for _, v := range file.Vectors {
		name, ok := strings.CutPrefix(v.Name, g.file.Group+"/")
		if !ok {
			return fmt.Errorf("%s is not a name of this group", v.Name)
		}
		response, sentence, err := byLayout(v.Request)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		if !sameValue(response, v.Response) { // else its members keep their order
			v.Response = response
		}
		if sentence != "" && !slices.Contains(v.Sentences, sentence) {
			return fmt.Errorf("%s: refused by %s, and names %s", v.Name, sentence, strings.Join(v.Sentences, " "))
		}
		v.Name = name
		g.addVector(v)
	}
	return nil
}

// byLayout is what a port of the layouts answers, and the sentence on which a refusal rests.
func byLayout(request json.RawMessage) (response json.RawMessage, sentence string, err error) {
	fields, ok := bytes.CutPrefix(request, []byte("{"))
	if !ok {
		return nil, "", errors.New("the request is no object")
	}
	line := append([]byte(`{"id":0,`), fields...)
	rest, _ := bytes.CutPrefix(port.AnswerBy(formats.Layouts(&sentence), line), []byte(`{"id":0,`))
	return append([]byte("{"), rest...), sentence, nil
}

// sameValue reports whether two texts are the same JSON value, numbers digit for digit.
func sameValue(a, b json.RawMessage) bool {
	return cmp.Equal(valueOf(a), valueOf(b))
}

func valueOf(text json.RawMessage) (v any) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if in.Decode(&v) != nil {
		return nil // of a vector that has no response yet
	}
	return v
}
