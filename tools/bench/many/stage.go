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

// footprint is what a connection takes of each end, in bytes: objects, and at rest stacks.
type footprint struct {
	fresh, rest, sending, stacks int64
}

// rests is how long connections have nothing to do until their memory at rest is measured: longer than packets and
// what is known of them are kept.
const rests = 12 * time.Second

// runMemory measures the memory of each end: fresh, at rest after a world each way, and what a world in flight adds
// while the other end is stopped.
func runMemory(t task) (server, client footprint, err error) {
	one := t
	one.Conns = 1
	empty, err := lookOnce(one)
	if err != nil {
		return server, client, err
	}
	s, err := open(t, roleClients)
	if err != nil {
		return server, client, err
	}
	defer s.close()
	do := func(clients, server string) (b both) {
		if err == nil {
			b, err = s.do(clients, server)
		}
		return b
	}
	try := func(failed error) { err = errors.Join(err, failed) }
	n := int64(t.Conns)
	ofServer := func(b both) int64 { return (b.server.Heap - empty.server.Heap) / n }
	ofClient := func(b both) int64 { return (b.clients.Heap - int64(len(s.clients))*empty.clients.Heap) / n }
	b := do(orderLook, orderLook)
	server.fresh, client.fresh = ofServer(b), ofClient(b)
	do(orderEcho, orderEcho)
	do(orderFetch, orderFetch)
	time.Sleep(rests)
	b = do(orderLook, orderLook)
	server.rest, client.rest = ofServer(b), ofClient(b)
	server.stacks = (b.server.Stacks - empty.server.Stacks) / n
	client.stacks = (b.clients.Stacks - int64(len(s.clients))*empty.clients.Stacks) / n
	try(s.pauseClients(true))
	do("", orderBegin)
	server.sending = ofServer(do("", orderLook)) - server.rest
	try(s.pauseClients(false))
	do(orderFetch, "")
	time.Sleep(rests)
	rest := ofClient(do(orderLook, orderLook))
	try(s.server.pause(true))
	do(orderBegin, "")
	client.sending = ofClient(do(orderLook, "")) - rest
	return server, client, err
}

// lookOnce returns figures of a server with a client, and of that.
func lookOnce(t task) (b both, err error) {
	s, err := open(t, roleClients)
	if err != nil {
		return b, err
	}
	defer s.close()
	return s.do(orderLook, orderLook)
}
