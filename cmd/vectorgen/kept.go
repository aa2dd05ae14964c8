package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// kept makes the vectors of a group whose requests are data: its own file has them, with
// their names, comments and sentences, and oracles answer them. A new vector is an entry
// without a response. Those of a document are exemplary: they name what they show.
func (g *group) kept(dir string, exemplary bool) error {
	vectors, err := g.read(dir)
	if err != nil {
		return err
	}
	answers := make([]answer, len(vectors))
	for i, v := range vectors {
		if answers[i], err = answered(v.Request); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		if !sameValue(answers[i].response, v.Response) { // else its members keep their order
			v.Response = answers[i].response
		}
		g.addVector(v)
	}
	if exemplary {
		return nil
	}
	return named(g.file.Group, vectors, answers)
}

// given makes the vectors of a group about what ports cannot read: their responses are data, too.
func (g *group) given(dir string) error {
	vectors, err := g.read(dir)
	for _, v := range vectors {
		if valueOf(v.Response) == nil {
			return fmt.Errorf("%s: no response: no oracle reads such requests", v.Name)
		}
		g.addVector(v)
	}
	return err
}

// read reads the file of a group. Names lack the group's.
func (g *group) read(dir string) ([]testvectors.Vector, error) {
	file, err := testvectors.ReadFile(os.DirFS(dir), g.file.Group+".json")
	if err != nil {
		return nil, err
	}
	for i := range file.Vectors {
		v, ok := &file.Vectors[i], false
		if v.Name, ok = strings.CutPrefix(v.Name, g.file.Group+"/"); !ok {
			return nil, fmt.Errorf("%s is not a name of this group", v.Name)
		}
	}
	return file.Vectors, nil
}

// named checks that vectors name the sentences that refuse them, and no rows that they do not take.
// Of ends that talk to each other each names rows that one of them takes.
func named(group string, vectors []testvectors.Vector, answers []answer) error {
	taken := map[string][]string{}
	for i, v := range vectors {
		if by := answers[i].refusedBy; by != "" && !slices.Contains(v.Sentences, by) {
			return fmt.Errorf("%s: refused by %s, and names %s", v.Name, by, strings.Join(v.Sentences, " "))
		}
		taken[conversationOf(v.Name)] = append(taken[conversationOf(v.Name)], answers[i].rows...)
	}
	for _, v := range vectors {
		if err := namesRows(group+"/"+v.Name, v.Sentences, taken[conversationOf(v.Name)]); err != nil {
			return err
		}
	}
	return nil
}

// conversationOf is the name of a vector without the name of its end.
func conversationOf(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		return name[:i]
	}
	return name
}

// namesRows fails if a vector names rows that no trace takes.
func namesRows(name string, sentences, taken []string) error {
	for _, id := range sentences {
		if !strings.Contains(id, "-") && !slices.Contains(taken, id) && tooMuch[name] != id {
			return fmt.Errorf("%s: takes no row %s", name, id)
		}
	}
	return nil
}

// tooMuch are rows that vectors name and do not take. They were released before that was looked at.
var tooMuch = map[string]string{
	"sender/ack-of-256-all-but-one":   "S10",
	"conversation/slow-reader-sender": "S9", "conversation/forged-ack-sender": "S7",
	"conversation/paced-ten-percent-receiver": "R7", "conversation/paced-article-on-a-slow-path-receiver": "R14",
}

// disagrees returns where this module's packages answer something else than a group's
// vectors say. The expected responses do not come from them.
func (g *group) disagrees() error {
	var errs []error
	for _, v := range g.file.Vectors {
		if got := port.Answer(withFirstID(v.Request)); !sameValue(got, withFirstID(v.Response)) {
			errs = append(errs, fmt.Errorf("%s: the package differs (-oracle +package):\n%s", v.Name, cmp.Diff(valueOf(withFirstID(v.Response)), valueOf(got))))
		}
	}
	return errors.Join(errs...)
}

// sameValue reports whether two texts are the same JSON value, numbers digit for digit.
func sameValue(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || cmp.Equal(valueOf(a), valueOf(b))
}

func valueOf(text json.RawMessage) (v any) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if in.Decode(&v) != nil {
		return nil // of a vector that has no response yet
	}
	return v
}
