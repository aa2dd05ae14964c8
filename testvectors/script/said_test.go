package script

import (
	"strings"
	"testing"
)

// What a line says is read, and compared with what came: rows in their order, figures only where
// the line has them.
func TestSaid(t *testing.T) {
	with, list, err := ParseSaid([]string{"with mode=mac", "10ms/5ms/2 linked a link=7 : I8 made:7 state=OPEN @1s", "0 poll : -"})
	if err != nil || with["mode"] != "mac" || len(list) != 2 {
		t.Fatal(with, list, err)
	}
	line := list[0]
	if line.Event != "linked" || line.Args[0] != "a" || line.With["link"] != "7" || len(line.Times) != 2 || line.Times[1] != 15_000 {
		t.Errorf("%+v", line)
	}
	figures := map[string]string{"state": "OPEN", "@": "1000000", "ended": "no"}
	if err := line.Check([]string{"I8", "made:7", "I8"}, figures); err != nil {
		t.Error(err)
	}
	if err := list[1].Check(nil, figures); err != nil {
		t.Error(err)
	}
}

func TestSaidTellsWhatDiffers(t *testing.T) {
	for text, want := range map[string]string{
		"0 poll : I4":            "got I5",
		"0 poll : I5 I5":         "got I5",
		"0 poll : -":             "got I5",
		"0 poll : I5 state=OPEN": "state is LINKING",
		"0 poll : I5 @1ms":       "@ is never",
		"0 poll : I5 @soon":      "no time",
	} {
		_, list, err := ParseSaid([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		err = list[0].Check([]string{"I5"}, map[string]string{"state": "LINKING", "@": "never"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What cannot be read is an error.
func TestScriptsOfConnectionsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"0 poll", "poll : -", "soon poll : -"} {
		if _, _, err := ParseSaid([]string{text}); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	good := []string{"delay 10ms", "end 1s", ": client datagrams 1-2"}
	if _, err := ParseConnectionConversation(good); err != nil {
		t.Error(err)
	}
	if _, err := ParseSessionConversation(good); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"with speed=9", "send client 1 0 20", "chunk client 0", "close client", "begin a", "move a 1s", "hello"} {
		list := append([]string{text}, good...)
		if _, err := ParseConnectionConversation(list); err == nil && text != "begin a" {
			t.Errorf("a connection: %q is read", text)
		}
		if _, err := ParseSessionConversation(list); err == nil && !strings.HasPrefix(text, "with") {
			t.Errorf("a session: %q is read", text)
		}
	}
	if _, err := ParseConnectionConversation(good[:2]); err == nil {
		t.Error("a conversation of which nothing is expected is read")
	}
}
