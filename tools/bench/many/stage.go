//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/codec"
)

// processes is how many share the clients.
const processes = 4

// stage is a server and its clients.
type stage struct {
	server  *process
	clients []*process
}

// open starts a server and its clients, and connects them.
func open(server task, clients string, environment ...string) (*stage, error) {
	p, f, err := start(server, environment...)
	if err != nil {
		return nil, err
	}
	s := &stage{server: p}
	t := server
	t.Role, t.Server, t.First, t.Profile = clients, f.Address, 1, server.ClientProfile
	for i := range min(processes, server.Conns) {
		t.Share = (server.Conns + i) / min(processes, server.Conns)
		p, _, err := start(t, environment...)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.clients = append(s.clients, p)
		t.First += t.Share
		t.Profile = ""
	}
	if _, err := s.do(orderConnect, orderConnect); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stage) close() (err error) {
	for _, p := range s.clients {
		_ = p.kill()
	}
	_ = s.server.kill()
	return nil
}

// both are figures of the server, and of all clients.
type both struct {
	task            task
	server, clients figures
}

// wanted returns how many slices are the worlds that were sent.
func (b *both) wanted() int { return b.task.Conns * b.task.Rounds * codec.MaxSlices }

// do gives an order to the clients, another to the server, and returns their figures when both are done. The empty
// one is for nobody.
func (s *stage) do(clients, server string) (b both, err error) {
	var told []*process
	if clients != "" {
		told = append(told, s.clients...)
	}
	for _, p := range told {
		if err := p.tell(clients); err != nil {
			return b, err
		}
	}
	if server != "" {
		told = append(told, s.server)
		if err := s.server.tell(server); err != nil {
			return b, err
		}
	}
	late := time.AfterFunc(patience, func() { s.close() })
	defer late.Stop()
	for _, p := range told {
		f, err := p.hear()
		if err != nil {
			return b, fmt.Errorf("%s, %s: %w", clients, server, err)
		}
		if p == s.server {
			b.server = f
		} else {
			b.clients.add(&f)
		}
	}
	return b, nil
}

// pauseClients stops the clients, or lets them go on.
func (s *stage) pauseClients(stop bool) (err error) {
	for _, p := range s.clients {
		err = errors.Join(err, p.pause(stop))
	}
	return err
}

// run lets all clients fetch the world as often as the task says, and returns the figures of that.
func run(server task, clients string, environment ...string) (b both, err error) {
	s, err := open(server, clients, environment...)
	if err != nil {
		return b, err
	}
	defer s.close()
	before, err := s.do(orderLook, orderLook)
	if err != nil {
		return b, err
	}
	if b, err = s.do(orderFetch, orderFetch); err != nil {
		return b, err
	}
	b.task = server
	b.server.subtract(&before.server)
	b.clients.subtract(&before.clients)
	return b, nil
}

// shares are the memory of both ends of a connection, in bytes.
type shares struct{ server, client int64 }

// rests is how long connections have nothing to do until their memory at rest is measured.
const rests = 3 * time.Second

// runMemory measures the memory of each end: fresh, at rest after a world each way, and what a world in flight adds
// while the other end is stopped.
func runMemory(server task) (fresh, rest, sending shares, err error) {
	s, err := open(server, roleClients)
	if err != nil {
		return fresh, rest, sending, err
	}
	defer s.close()
	empty, err := s.empty(server)
	look := func() (now shares) {
		b, failed := s.do(orderLook, orderLook)
		err = errors.Join(err, failed)
		n := int64(server.Conns)
		return shares{(b.server.Memory - empty.server) / n, (b.clients.Memory - empty.client) / n}
	}
	do := func(clients, server string) {
		if err == nil {
			_, err = s.do(clients, server)
		}
	}
	fresh = look()
	do(orderEcho, orderEcho)
	do(orderFetch, orderFetch)
	time.Sleep(rests)
	rest = look()
	err = errors.Join(err, s.pauseClients(true))
	do("", orderBegin)
	b, failed := s.do("", orderLook)
	sending.server = (b.server.Memory-empty.server)/int64(server.Conns) - rest.server
	err = errors.Join(err, failed, s.pauseClients(false))
	do(orderFetch, "")
	time.Sleep(rests)
	before := look().client
	err = errors.Join(err, s.server.pause(true))
	do(orderBegin, "")
	b, failed = s.do(orderLook, "")
	sending.client = (b.clients.Memory-empty.client)/int64(server.Conns) - before
	return fresh, rest, sending, errors.Join(err, failed)
}

// empty returns what the processes use that have no connections.
func (s *stage) empty(server task) (shares, error) {
	server.Conns = 1
	one, err := open(server, roleClients)
	if err != nil {
		return shares{}, err
	}
	defer one.close()
	b, err := one.do(orderLook, orderLook)
	return shares{b.server.Memory, b.clients.Memory * int64(len(s.clients))}, err
}
