package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// ConnectionConversation is the client and the server of a connection with a network between
// them. The server's end begins when the first datagram can have arrived.
type ConnectionConversation struct {
	Config connections.Config // of the client; side and keys aside that of both
	Sends  [2][]ConnectionSending
	Chunks [2][]Sending
	Closes [2][]ConnectionClose
	Idle   [2][]int64 // from when on, and until when, its application reads nothing
	Carriage
}

// ConnectionSending is messages that are sent on a channel.
type ConnectionSending struct {
	Sending
	Channel  int64
	Lifetime *int64
}

// ConnectionClose is that an application closes.
type ConnectionClose struct {
	At, Code int64
	Text     string
}

// The ends of a connection.
const (
	ClientEnd = iota
	ServerEnd
)

// ParseConnectionConversation reads the lines of a conversation.
func ParseConnectionConversation(lines []string) (*ConnectionConversation, error) {
	with, lines := settings(lines)
	c := &ConnectionConversation{Carriage: Carriage{Seed: 1, names: [2]string{connections.Client, connections.Server}}}
	var w words
	c.Config = connections.Usual()
	w.connectionConfig(&c.Config, with)
	for _, text := range lines {
		if c.set(&w, text, strings.Fields(text)); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	c.complete(&w)
	return c, w.err
}

func (w *words) connectionConfig(cfg *connections.Config, with map[string]string) {
	if with["variant"] == "2" {
		cfg.Variant, cfg.Profile = contract.VariantRepair, connections.Profile{Rule: conform.Some(connections.Rule{})}
	}
	for key, value := range with {
		switch key {
		case "variant":
		case "mode":
			cfg.Mode = value
		case "side":
			cfg.Side = value
		case "extensions":
			cfg.Extensions = w.time(value)
		case "lanes":
			cfg.Lanes = w.time(value)
		case "timeout":
			cfg.Timeout = w.time(value) / 100_000
		case "tick":
			cfg.Tick = w.time(value)
		case "rate":
			cfg.MessageRate = w.time(value)
		case "begin":
			cfg.Begin = w.time(value)
		case "profile":
			if cfg.Profile.Rule.Is {
				if p := w.repairProfile(value); p != nil {
					cfg.Profile.Rule.V = connections.Rule(*p)
				}
			} else if p := w.profile(value); p != nil {
				cfg.Profile.Base = connections.Base(*p)
			}
		case "give_up":
			for i := range cfg.Channels {
				if cfg.Channels[i].GiveUp.Is {
					cfg.Channels[i].GiveUp.V = w.time(value)
				}
			}
		case "channels":
			if value == "none" {
				cfg.Channels = []connections.Channel{}
			}
		default:
			w.bad("setting", key)
		}
	}
}

// ConnectionConfig reads what the first line of a script sets.
func ConnectionConfig(with map[string]string) (connections.Config, error) {
	var w words
	cfg := connections.Usual()
	w.connectionConfig(&cfg, with)
	return cfg, w.err
}

func (c *ConnectionConversation) set(w *words, text string, fields []string) {
	args := fields[1:]
	end := 0
	if len(args) > 0 && (args[0] == connections.Client || args[0] == connections.Server) {
		end = c.end(w, args[0])
	}
	switch {
	case fields[0] == "send" && len(args) > 3: // send client CHANNEL FROM/STEP/COUNT SIZES [life=TIME]
		s := ConnectionSending{Sending: w.sending(args[2], args[3]), Channel: int64(w.number(args[1]))}
		if len(args) > 4 {
			life := w.time(strings.TrimPrefix(args[4], "life="))
			s.Lifetime = &life
		}
		c.Sends[end] = append(c.Sends[end], s)
	case fields[0] == "chunk" && len(args) == 3: // chunk client FROM/STEP/COUNT SIZES
		c.Chunks[end] = append(c.Chunks[end], w.sending(args[1], args[2]))
	case fields[0] == "close" && len(args) > 2: // close client TIME CODE [TEXT]
		code, _ := strconv.ParseInt(args[2], 10, 64)
		c.Closes[end] = append(c.Closes[end], ConnectionClose{w.time(args[1]), code, strings.Join(args[3:], " ")})
	case fields[0] == "idle" && len(args) == 3: // idle client FROM UNTIL
		c.Idle[end] = []int64{w.time(args[1]), w.time(args[2])}
	default:
		c.Carriage.set(w, text, fields)
	}
}

// CheckConnection compares the steps of an end with what is wanted: counts of datagrams,
// delivered, skipped, chunks, refused, or of a row; and closed, timeout or failed.
func (c *ConnectionConversation) CheckConnection(end int, steps []conform.Step) error {
	got := map[string]int{}
	for _, step := range steps {
		s := step.(connections.Step)
		got["datagrams"] += len(s.Datagrams)
		switch {
		case s.Read.Is && s.Read.V.Skipped:
			got["skipped"]++
		case s.Read.Is:
			got["delivered"]++
		}
		if s.Chunk.Is {
			got["chunks"]++
		}
		if s.Refused.Is {
			got["refused"]++
		}
		for _, row := range s.Rows {
			got[row]++
		}
	}
	if last := steps[len(steps)-1].(connections.Step).Ended; last.Is {
		got[last.V.Why] = 1
		if last.V.Remote.V {
			got["remote"] = 1
		}
	}
	return c.count(end, got)
}
