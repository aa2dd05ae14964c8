package main

import "testing"

// Each variation fits the present source of package channel, and names scenarios that exist.
func TestVariations(t *testing.T) {
	names := map[string]bool{}
	for _, v := range variations {
		if names[v.name] {
			t.Errorf("%s is there twice", v.name)
		}
		names[v.name] = true
		if _, err := v.apply("../../../../channel"); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		if len(v.where) == 0 {
			t.Errorf("%s is measured nowhere", v.name)
		}
		for _, where := range v.where {
			if w, ok := scenarios[where]; !ok || w.Messages() == 0 {
				t.Errorf("%s: no scenario %q", v.name, where)
			}
		}
	}
	wrong := variation{edits: []edit{{"config.go", "no such line", ""}}}
	if _, err := wrong.apply("../../../../channel"); err == nil {
		t.Error("a text that is not there is replaced")
	}
}
