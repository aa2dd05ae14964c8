//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// processes is how many share the receivers.
const processes = 4

// run plays a server's role with its receivers and returns what it reports.
func run(server task, receivers string, environment ...string) (result, error) {
	var r result
	err := stage(server, receivers, environment, func(s *process) error { return s.hear(&r) })
	return r, err
}

// stage starts a server and its receivers, waits for what it has to report and
// stops them.
func stage(server task, receivers string, environment []string, listen func(*process) error) error {
	s, err := start(server, environment...)
	if err != nil {
		return err
	}
	all := []*process{s}
	defer func() {
		for _, p := range slices.Backward(all) { // the server last
			p.kill()
		}
	}()
	var hello greeting
	if err := s.hear(&hello); err != nil {
		return err
	}
	for i := range min(processes, server.Conns) {
		t := server
		t.Role, t.Server, t.Number = receivers, hello.Address, i
		t.Share = (server.Conns + i) / min(processes, server.Conns)
		p, err := start(t)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	failed := make(chan error, len(all))
	go func() { failed <- listen(s) }()
	select {
	case err = <-failed:
	case <-time.After(patience):
		err = fmt.Errorf("%+v takes longer than %v", server, patience)
	}
	return err
}
