package runner

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform/layout"
)

// list writes a few paths.
func list(paths []string) string {
	const most = 4
	if len(paths) > most {
		return strings.Join(paths[:most], ", ") + fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return strings.Join(paths, ", ")
}

// explain shows what was asked, and where the answer differs.
func (q *question) explain(want, got any) []string {
	request, err := parseValue(q.request)
	if err != nil {
		return nil
	}
	lines := describe(request)
	wanted, steps := get(want, "steps"), get(got, "steps")
	if w, ok := wanted.([]any); ok {
		if g, ok := steps.([]any); ok {
			return append(lines, q.explainSteps(request, want, got, w, g)...)
		}
	}
	if events := get(request, "events"); events != nil && wanted == nil { // no step shows the event at fault
		lines = append(lines, indented(rows("events", events))...)
	}
	lines = append(lines, legend)
	return append(lines, compare(responseRows(request, want), responseRows(request, got))...)
}

const legend = "answer (- expected, + actual):"

// describe draws a request.
func describe(request any) []string {
	lines := []string{"request: " + text(request, "op")}
	o, ok := request.(layout.Object)
	if !ok {
		return []string{"request: " + shortened(compact(request))}
	}
	for _, m := range o {
		switch s, isText := m.Value.(string); {
		case m.Name == "id" || m.Name == "op" || m.Name == "events":
		case m.Name == "hex" && isText:
			lines = append(lines, indented(drawHex(request, s))...)
		default:
			lines = append(lines, indented(rows(m.Name, m.Value))...)
		}
	}
	return lines
}

// responseRows returns the rows of a response. Bytes are drawn field by field.
func responseRows(request, response any) (list []row) {
	o, ok := response.(layout.Object)
	if !ok {
		return []row{{"", shortened(compact(response))}}
	}
	for _, m := range o {
		s, isText := m.Value.(string)
		if m.Name != "hex" || !isText {
			list = append(list, rows(m.Name, m.Value)...)
			continue
		}
		if strings.ToLower(s) != s {
			list = append(list, row{"hex", "not in lower case"})
		}
		list = append(list, drawHex(request, s)...)
	}
	return list
}

// rows returns the fields of a value. The elements of lists stay on one line.
func rows(name string, v any) []row {
	switch v := v.(type) {
	case layout.Object:
		if len(v) == 0 {
			return []row{{name, "{}"}}
		}
		var out []row
		for _, m := range v {
			out = append(out, rows(strings.TrimPrefix(name+"."+m.Name, "."), m.Value)...)
		}
		return out
	case []any:
		out := []row{{name, fmt.Sprintf("%d of them", len(v))}}
		for i, e := range v {
			out = append(out, row{fmt.Sprintf("%s[%d]", name, i), shortened(compact(e))})
		}
		return out
	case string:
		if b, err := hex.DecodeString(v); err == nil && strings.HasSuffix(name, "data") {
			return []row{{name, content(b)}}
		}
		return []row{{name, strconv.Quote(shortened(v))}}
	}
	return []row{{name, compact(v)}}
}

// compare puts two lists of rows into one: what is equal, what was expected and
// what came.
func compare(want, got []row) []string {
	width := 0
	for _, r := range append(slices.Clone(want), got...) {
		width = max(width, len(r.name))
	}
	show := func(mark string, r row) string { return fmt.Sprintf("  %s %-*s  %s", mark, width, r.name, r.value) }
	var lines []string
	left := slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(left, func(g row) bool { return g.name == w.name })
		if i >= 0 && left[i].value == w.value {
			lines = append(lines, show(" ", w))
			left = slices.Delete(left, i, i+1)
			continue
		}
		lines = append(lines, show("-", w))
		if i >= 0 {
			lines = append(lines, show("+", left[i]))
			left = slices.Delete(left, i, i+1)
		}
	}
	for _, g := range left {
		lines = append(lines, show("+", g))
	}
	return lines
}

func indented(list []row) []string {
	lines := make([]string, len(list))
	width := 0
	for _, r := range list {
		width = max(width, len(r.name))
	}
	for i, r := range list {
		lines[i] = fmt.Sprintf("    %-*s  %s", width, r.name, r.value)
	}
	return lines
}

// explainSteps shows the first step that differs, and its event.
func (q *question) explainSteps(request, want, got any, wanted, steps []any) []string {
	var lines []string
	if a, b := around(want), around(got); len(differences(a, b)) > 0 { // what stands beside the steps
		lines = append(append(lines, legend), compare(rows("", a), rows("", b))...)
	}
	if len(wanted) != len(steps) {
		lines = append(lines, fmt.Sprintf("%d steps were expected, %d came", len(wanted), len(steps)))
	}
	for i := range max(len(wanted), len(steps)) {
		w, g := element(wanted, i), element(steps, i)
		if i < len(wanted) && i < len(steps) && len(differences(w, g, q.open()...)) == 0 {
			continue
		}
		events, _ := get(request, "events").([]any)
		lines = append(lines, fmt.Sprintf("the first step that differs is %d (from 0), at the event", i), "    "+shortened(compact(element(events, i))))
		lines = append(lines, "step (- expected, + actual):")
		lines = append(lines, compare(rowsOfStep(w), rowsOfStep(g))...)
		return append(lines, q.known(i)...)
	}
	return lines
}

// around is a response without its steps.
func around(response any) any {
	return slices.DeleteFunc(slices.Clone(response.(layout.Object)), func(m layout.Member) bool { return m.Name == "steps" })
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func rowsOfStep(step any) []row {
	if step == nil {
		return nil
	}
	return rows("", step)
}
