package testvectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Validate checks what a reader of the files may rely on, and returns all that
// is wrong.
func Validate(list []File) error {
	var errs []error
	names := map[string]bool{}
	for _, f := range list {
		for _, err := range f.faults() {
			errs = append(errs, fmt.Errorf("%s: %w", f.Group, err))
		}
		for _, v := range f.Vectors {
			if names[v.Name] {
				errs = append(errs, fmt.Errorf("%s: the name is taken", v.Name))
			}
			names[v.Name] = true
			for _, err := range v.faults(f) {
				errs = append(errs, fmt.Errorf("%s: %w", v.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (f *File) faults() (errs []error) {
	if f.Format != FormatVersion {
		errs = append(errs, fmt.Errorf("format %d, not %d", f.Format, FormatVersion))
	}
	if f.License != License {
		errs = append(errs, fmt.Errorf("license %q, not %q", f.License, License))
	}
	if f.Description == "" || len(f.Vectors) == 0 {
		errs = append(errs, errors.New("no description, or no vectors"))
	}
	used := map[string]bool{}
	for _, v := range f.Vectors {
		for _, flag := range v.Flags {
			used[flag] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Flags)) {
		if flag := f.Flags[name]; flag.Mistake == "" || flag.Effect == "" || !used[name] {
			errs = append(errs, fmt.Errorf("flag %q: not explained, or not used", name))
		}
	}
	return errs
}

var levels = sync.OnceValues(Levels)

func (l Level) known() bool {
	list, err := levels()
	return err == nil && slices.ContainsFunc(list, func(a AboutLevel) bool { return a.Name == l })
}

func (v *Vector) faults(f File) (errs []error) {
	if what, ok := strings.CutPrefix(v.Name, f.Group+"/"); !ok || what == "" {
		errs = append(errs, fmt.Errorf("the name does not begin with %s/", f.Group))
	}
	if v.Comment == "" || len(v.Sentences) == 0 || len(v.Flags) == 0 {
		errs = append(errs, errors.New("no comment, sentence or flag"))
	}
	for _, flag := range v.Flags {
		if _, ok := f.Flags[flag]; !ok {
			errs = append(errs, fmt.Errorf("unknown flag %q", flag))
		}
	}
	if !v.Level.known() {
		errs = append(errs, fmt.Errorf("unknown level %q", v.Level))
	}
	for _, part := range []json.RawMessage{v.Request, v.Response} {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(part, &object); err != nil || object == nil {
			errs = append(errs, errors.New("request or response is no object"))
		} else if _, ok := object["id"]; ok {
			errs = append(errs, errors.New("request or response has an id"))
		}
	}
	return errs
}
