package eventlog_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/eventlog"
)

// docs/EVENTS.md has the events and the members of the schema, and no others, and says of each
// member what the schema says.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/EVENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		OneOf []struct {
			Title      string
			Properties struct {
				Data struct {
					Properties map[string]any
					Required   []string
				}
			}
		}
		Defs map[string]struct{ Description string } `json:"$defs"`
	}
	check.Same(t, "the schema", json.Unmarshal(eventlog.Schema, &schema), nil)

	want, members := map[string]string{}, map[string]string{}
	for _, event := range schema.OneOf {
		data := event.Properties.Data
		var list []string
		for name := range data.Properties {
			members[name] = schema.Defs[name].Description
			if !slices.Contains(data.Required, name) {
				name += "?"
			}
			list = append(list, name)
		}
		slices.Sort(list)
		want[event.Title] = strings.Join(list, " ")
	}
	events, meanings, _ := strings.Cut(string(text), "## Members")
	got := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(events, -1) {
		list := strings.FieldsFunc(m[2], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		for i := len(list) - 1; i > 0; i-- { // a question mark stands behind its member
			if list[i] == "?" {
				list[i-1] += "?"
				list = slices.Delete(list, i, i+1)
			}
		}
		slices.Sort(list)
		got[m[1]] = strings.Join(list, " ")
	}
	check.Equal(t, "events", got, want)
	said := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (.*) \\|$").FindAllStringSubmatch(meanings, -1) {
		said[m[1]] = m[2]
	}
	check.Equal(t, "members", said, members)
}
