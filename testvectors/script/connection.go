package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// ConnectionConversation is the client and the server of a connection with a network between
// them. The server's end begins when the first datagram can have arrived.
type ConnectionConversation struct {
	Config contract.ConnectionConfig // of the client; side and keys aside that of both
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
	c := &ConnectionConversation{Carriage: Carriage{Seed: 1, names: [2]string{contract.SideClient, contract.SideServer}}}
	var w words
	c.Config = ConnectionDefaults()
	w.connectionConfig(&c.Config, with)
	for _, text := range lines {
		if c.set(&w, text, strings.Fields(text)); w.err != nil {
			return nil, fmt.Errorf("%q: %w", text, w.err)
		}
	}
	c.complete(&w)
	return c, w.err
}

// ConnectionDefaults is what scripts of connections begin with: channel 0 is unreliable, 1
// ordered and 2 unordered.
func ConnectionDefaults() contract.ConnectionConfig {
	reliable := func(id int64, kind string) contract.ConnectionChannel {
		return contract.ConnectionChannel{
			ID: id, Kind: kind, Window: number(64), Data: number(1024), Group: number(16), SendQueue: number(256), GiveUp: number(20_000_000), Priority: 1,
		}
	}
	return contract.ConnectionConfig{
		Mode: "crc", Link: 0x55667788, Lanes: 1, Timeout: 100, Tick: 16_667, MessageRate: 8_000_000, Profile: contract.LaneProfile{Named: namedProfiles["article"]},
		Channels: []contract.ConnectionChannel{{ID: 0, Kind: contract.KindUnreliable, Priority: 2}, reliable(1, contract.KindOrdered), reliable(2, contract.KindUnordered)},
	}
}

func (w *words) connectionConfig(cfg *contract.ConnectionConfig, with map[string]string) {
	if with["variant"] == "2" {
		cfg.Variant, cfg.Profile = contract.VariantRepair, contract.LaneProfile{Repair: &contract.RepairProfile{}}
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
			if cfg.Profile.Repair != nil {
				cfg.Profile.Repair = w.repairProfile(value)
			} else if p := w.profile(value); p != nil {
				cfg.Profile.Named = *p
			}
		case "give_up":
			for i := range cfg.Channels {
				if cfg.Channels[i].GiveUp != nil {
					us := w.time(value)
					cfg.Channels[i].GiveUp = &us
				}
			}
		case "channels":
			if value == "none" {
				cfg.Channels = []contract.ConnectionChannel{}
			}
		default:
			w.bad("setting", key)
		}
	}
}

// ConnectionConfig reads what the first line of a script sets.
func ConnectionConfig(with map[string]string) (contract.ConnectionConfig, error) {
	var w words
	cfg := ConnectionDefaults()
	w.connectionConfig(&cfg, with)
	return cfg, w.err
}

func (c *ConnectionConversation) set(w *words, text string, fields []string) {
	args := fields[1:]
	end := 0
	if len(args) > 0 && (args[0] == contract.SideClient || args[0] == contract.SideServer) {
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
func (c *ConnectionConversation) CheckConnection(end int, steps []contract.ConnectionStep) error {
	got := map[string]int{}
	for _, s := range steps {
		got["datagrams"] += len(s.Datagrams)
		switch {
		case s.Read != nil && s.Read.Skipped:
			got["skipped"]++
		case s.Read != nil:
			got["delivered"]++
		}
		if s.Chunk != nil {
			got["chunks"]++
		}
		if s.Refused != nil {
			got["refused"]++
		}
		for _, row := range s.Rows {
			got[row]++
		}
	}
	if last := steps[len(steps)-1]; last.Ended != nil {
		got[last.Ended.Why] = 1
		if last.Ended.Remote != nil && *last.Ended.Remote {
			got["remote"] = 1
		}
	}
	return c.count(end, got)
}

func number(n int) *int64 {
	v := int64(n)
	return &v
}
