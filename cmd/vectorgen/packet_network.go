package main

import (
	"errors"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// endpoints adds a trace each of two endpoints that talk over a network. They run the
// oracle; each is polled at its deadlines.
func (g *group) endpoints(s script.Script) error {
	n, err := script.ParseNetwork(s.Lines)
	if err != nil {
		return err
	}
	ends, err := talked(n)
	if err != nil {
		return err
	}
	var errs []error
	var rows [][]string // of both
	for i, name := range []string{"-a", "-b"} {
		end := ends[i]
		rows = append(rows, end.Rows()...)
		errs = append(errs, n.Check(i, end.Steps, end.Rows(), end.Events))
		g.addScript(s, name, notTaken(s, end.Rows()), asJSON(end.Request()), asJSON(conform.Response(end.Steps)))
	}
	return errors.Join(append(errs, namesRows(s, rows))...)
}

// talked lets two endpoints talk. Of what happens at one time datagrams come before sends, and
// polls last (PKI-6).
func talked(n *script.Network) (ends [2]*conform.Recorded, err error) {
	talk, jitter := &conform.Talk{}, n.Jitter()
	var sent [2]int // datagrams
	for i := range ends {
		if ends[i], err = packets.Endpoint.Record(n.Config); err != nil {
			return ends, err
		}
		talk.Ends = append(talk.Ends, &conform.End{
			Op: packets.Endpoint, Config: n.Config, Machine: ends[i], Poll: packets.Poll{},
			Sent: func(s conform.Step) []conform.Bytes { return s.(packets.EndpointStep).Datagrams },
		})
	}
	lose, duplicate := [2]fate{n.Lose[0].Fate(), n.Lose[1].Fate()}, [2]fate{n.Duplicate[0].Fate(), n.Duplicate[1].Fate()}
	talk.Carry = func(at int64, from *conform.End, _ conform.Event, b conform.Bytes) {
		i, to := 0, talk.Other(from)
		if from == talk.Ends[1] {
			i = 1
		}
		sent[i]++
		times := 1
		if lost, twice := lose[i](sent[i], at), duplicate[i](sent[i], at); lost {
			times = 0
		} else if twice {
			times = 2
		}
		for range times {
			talk.Add(at+n.DelayUS+jitter(), conform.Arrival, func(at int64) { talk.Do(at, to, packets.Receive{Datagram: b}) })
		}
	}
	for i, end := range talk.Ends {
		number := 0
		for _, sending := range n.Sends[i] {
			for j := range sending.Count {
				number++
				payload := conform.Bytes(conform.Content(number, sending.Sizes[j%len(sending.Sizes)]))
				talk.Add(sending.From+int64(j)*sending.Every, conform.Action, func(at int64) { talk.Do(at, end, packets.Send{Payload: payload}) })
			}
		}
	}
	talk.Run(n.EndUS, nil)
	return ends, nil
}

// fate is what becomes of what an end sends.
type fate = func(number int, at int64) bool
