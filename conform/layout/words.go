package layout

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Words are the members of an object as words KEY=VALUE of a script. A text goes without quotes
// unless it would be something else then.
func (o Object) Words() (words []string) {
	for _, m := range o {
		value, err := json.Marshal(m.Value)
		if err != nil {
			panic(err) // values are strings, numbers and lists
		}
		if text, is := m.Value.(string); is && text != "" && !json.Valid([]byte(text)) && !strings.ContainsAny(text, " \t\n") {
			value = []byte(text)
		}
		words = append(words, fmt.Sprintf("%s=%s", m.Name, value))
	}
	return words
}

// FromWords is the inverse of Words.
func FromWords(words []string) map[string]json.RawMessage {
	object := map[string]json.RawMessage{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if object[key] = []byte(value); !json.Valid([]byte(value)) {
			object[key], _ = json.Marshal(value) // text
		}
	}
	return object
}
