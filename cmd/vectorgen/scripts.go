package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// scriptKinds add the vectors of a script, by the kind of its group.
var scriptKinds = map[string]func(*group, script.Script) error{
	"sender": machine(chunks.Sender), "receiver": machine(chunks.Receiver), "conversation": (*group).simulation, "repair-conversation": (*group).repairSimulation,
	"repair-sender": machine(chunks.RepairSender), "repair-receiver": machine(chunks.RepairReceiver),
	"endpoint": machine(packets.Endpoint), "congestion": machine(packets.Congestion),
	"channel-receiver": machine(channels.Receiver), "channel-sender": machine(channels.Sender),
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

// addScript adds a vector of a script.
func (g *group) addScript(s script.Script, q, a json.RawMessage) {
	g.addVector(testvectors.Vector{Name: s.Name, Comment: s.Comment, Flags: s.Flags, Level: s.Level, Sentences: s.Sentences, Request: q, Response: a})
}
