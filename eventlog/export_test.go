package eventlog

import (
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/core"
)

// Members returns the members of each event, and whether they are required.
func Members() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, k := range kinds[1:] {
		all[k.name] = map[string]bool{}
		for _, m := range k.members {
			all[k.name][m.name] = !m.optional
		}
	}
	return all
}

// Drawn draws events of all kinds, with the members that they have alone.
func Drawn() *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		e := Event{
			Kind:  Kind(rapid.IntRange(1, len(kinds)-1).Draw(t, "kind")),
			At:    core.Micros(rapid.Int64Range(0, 1<<40).Draw(t, "at")),
			Group: rapid.IntRange(0, 1000).Draw(t, "group"),
			End:   rapid.SampledFrom([]End{"", Client, Server, Sender, Receiver, Network}).Draw(t, "end"),
		}
		// What says whether others are left out comes first.
		for range 2 {
			for i := range kinds[e.Kind].members {
				if m := &kinds[e.Kind].members[i]; m.name == "machine" || m.name == "carried" || !e.lacks(m) || isZero(m.of(&e)) {
					draw(t, m, &e)
				}
			}
		}
		for i := range kinds[e.Kind].members {
			if m := &kinds[e.Kind].members[i]; e.lacks(m) {
				clearMember(m.of(&e))
			}
		}
		return e
	})
}

func draw(t *rapid.T, m *member, e *Event) {
	switch to := m.of(e).(type) {
	case *string:
		*to = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "sender", "slice", "ack"})).Draw(t, m.name)
	case *int:
		*to = rapid.IntRange(0, 1<<30).Draw(t, m.name)
	case *int64:
		*to = rapid.Int64Range(0, 1<<53).Draw(t, m.name)
	case *uint16:
		*to = rapid.Uint16().Draw(t, m.name)
	case *bool:
		*to = rapid.Bool().Draw(t, m.name)
	case *core.Micros:
		*to = core.Micros(rapid.Int64Range(0, 1<<40).Draw(t, m.name))
	}
}

func clearMember(value any) {
	switch v := value.(type) {
	case *int:
		*v = 0
	case *uint16:
		*v = 0
	}
}
