package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// scriptKinds add the vectors of a script, by the kind of its group.
var scriptKinds = map[string]func(*group, script.Script) error{
	"sender": (*group).sender, "receiver": (*group).receiver, "conversation": (*group).conversation,
	"endpoint": machine(packets.Endpoint), "congestion": machine(packets.Congestion),
	"channel-receiver": machine(channels.Receiver), "channel-sender": machine(channels.Sender),
	"repair-receiver": (*group).repairReceiver, "repair-sender": (*group).repairSender,
	"session-client": machine(sessions.Client), "session-server": machine(sessions.Server), "connection-endpoint": machine(connections.Op),
}

// scripts adds the vectors of the scripts of a group.
func (g *group) scripts(add func(*group, script.Script) error) error {
	archive, err := testvectors.Traces.ReadFile("traces/" + g.file.Group + ".txtar")
	if err != nil {
		return err
	}
	list, err := script.Read(archive)
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range list {
		if s.Level == "" {
			s.Level = g.level
		}
		if err := add(g, s); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

// addScript adds a vector of a script. others are ids of sentences and rows that are
// about the other machine: a conversation names those of both.
func (g *group) addScript(s script.Script, suffix string, others []string, q, a json.RawMessage) {
	g.addVector(testvectors.Vector{
		Name: s.Name + suffix, Comment: s.Comment, Flags: s.Flags, Level: s.Level,
		Sentences: slices.DeleteFunc(slices.Clone(s.Sentences), func(id string) bool { return slices.Contains(others, id) }),
		Request:   q, Response: a,
	})
}

// begin returns the ids that begin with one of the prefixes. A prefix without a dash is
// that of rows.
func begin(ids []string, prefixes string) (list []string) {
	for _, id := range ids {
		for prefix := range strings.FieldsSeq(prefixes) {
			if strings.HasSuffix(prefix, "-") && strings.HasPrefix(id, prefix) || regexp.MustCompile("^"+prefix+`\d+$`).MatchString(id) {
				list = append(list, id)
			}
		}
	}
	return list
}
