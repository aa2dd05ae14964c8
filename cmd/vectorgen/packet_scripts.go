package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors/port"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// notTaken returns the rows that a script names and a trace does not take: those of the
// other end.
func notTaken(s script.Script, rows [][]string) (names []string) {
	taken := slices.Concat(rows...)
	for _, id := range s.Sentences {
		if !strings.Contains(id, "-") && !slices.Contains(taken, id) {
			names = append(names, id)
		}
	}
	return names
}

// namesRows fails if a script names a row that its trace does not take.
func namesRows(s script.Script, rows [][]string) error {
	if names := notTaken(s, rows); len(names) > 0 {
		return fmt.Errorf("takes no row %s", strings.Join(names, ", "))
	}
	return nil
}

// disagrees returns where this module's packages answer something else than a group's
// vectors say. The expected responses do not come from them.
func (g *group) disagrees() error {
	var errs []error
	for _, v := range g.file.Vectors {
		request, want := withFirstID(v.Request), withFirstID(v.Response)
		got := port.Answer(request)
		if bytes.Equal(got, want) {
			continue
		}
		if diff := diffJSON(want, got); diff != "" { // members may be in another order
			errs = append(errs, fmt.Errorf("%s: the package differs (-oracle +package):\n%s", v.Name, diff))
		}
	}
	return errors.Join(errs...)
}

func withFirstID(text json.RawMessage) []byte { return append([]byte(`{"id":1,`), text[1:]...) }

func diffJSON(want, got []byte) string {
	var a, b any
	read := func(text []byte, v any) error {
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber() // of 64 bits
		return in.Decode(v)
	}
	if err := errors.Join(read(want, &a), read(got, &b)); err != nil {
		return err.Error()
	}
	return cmp.Diff(a, b)
}
