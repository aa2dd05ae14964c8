package script

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/sessions"
)

// SessionConversation is clients and the server of a session with a network between them. A
// client that is linked sends a datagram of its connection at once and each second, which the
// server answers.
type SessionConversation struct {
	With    map[string]string // of the server
	Clients []SessionClient   // the first letter of a name says the identity
	Happens []SessionHappens
	Carriage
}

// SessionClient is a client that begins at a time.
type SessionClient struct {
	Name, Address string
	At            int64
}

// SessionHappens is that a client moves, knowing it or not, or closes; or that the server ends
// its connection.
type SessionHappens struct {
	At      int64
	What    string // move, moved, close or end
	Name    string
	Address string // of a move
	Reason  int64  // of an end
}

// ParseSessionConversation reads the lines of a conversation.
func ParseSessionConversation(lines []string) (*SessionConversation, error) {
	with, lines := settings(lines)
	c := &SessionConversation{With: with, Carriage: Carriage{Seed: 1, names: [2]string{"client", "server"}}}
	var w words
	for _, text := range lines {
		fields := strings.Fields(text)
		switch args := fields[1:]; {
		case fields[0] == "begin" && len(args) == 3: // begin NAME TIME ADDRESS
			c.Clients = append(c.Clients, SessionClient{args[0], args[2], w.time(args[1])})
		case (fields[0] == "move" || fields[0] == "moved") && len(args) == 3: // move NAME TIME ADDRESS
			c.Happens = append(c.Happens, SessionHappens{At: w.time(args[1]), What: fields[0], Name: args[0], Address: args[2]})
		case fields[0] == "close" && len(args) == 2: // close NAME TIME
			c.Happens = append(c.Happens, SessionHappens{At: w.time(args[1]), What: fields[0], Name: args[0]})
		case fields[0] == "drop" && len(args) == 3: // drop NAME TIME REASON
			c.Happens = append(c.Happens, SessionHappens{At: w.time(args[1]), What: "end", Name: args[0], Reason: int64(w.number(args[2]))})
		default:
			c.Carriage.set(&w, text, fields)
		}
		if w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	c.complete(&w)
	return c, w.err
}

// CheckClients compares the steps of the clients, and CheckServer those of the server, with what
// is wanted: counts of a row, or of a reason with which a client ended.
func (c *SessionConversation) CheckClients(steps []conform.Step) error {
	got := map[string]int{}
	for _, s := range steps {
		for _, row := range s.(sessions.ClientStep).Rows {
			got[row]++
		}
	}
	return c.count(ClientEnd, got)
}

// CheckServer does so for the server.
func (c *SessionConversation) CheckServer(steps []conform.Step) error {
	got := map[string]int{}
	for _, step := range steps {
		s := step.(sessions.ServerStep)
		for _, row := range s.Rows {
			got[row]++
		}
		if s.Counted.Is {
			got[s.Counted.V]++
		}
		if s.Answer.Is {
			got["answers"]++
		}
		got["living"], got["ended"] = int(s.Living), int(s.Ended)
	}
	return c.count(ServerEnd, got)
}
