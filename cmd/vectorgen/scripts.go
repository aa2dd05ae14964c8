package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// scripted returns what adds the vectors of a script, by the kind of its group: the operation of its machine.
func scripted(kind string) (add func(*group, script.Script) error, ok bool) {
	switch kind {
	case "conversation":
		return (*group).simulation, true
	case "repair-conversation":
		return (*group).repairSimulation, true
	case "connection-conversation":
		return (*group).connectionSimulation, true
	}
	i := slices.IndexFunc(port.Machines, func(op *conform.Op) bool { return op.Name == kind })
	if i < 0 {
		return nil, false
	}
	return machine(port.Machines[i]), true
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
