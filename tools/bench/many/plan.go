//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// plan is what is measured, and how often.
type plan struct {
	repeats int
	most    int
}

// section writes one table of the page.
type section struct {
	name  string
	write func(plan, io.Writer) error
}

var sections = []section{
	{"limits", plan.limits},
	{"connections", plan.connections},
	{"loss", plan.loss},
	{"profiles", plan.profiles},
	{"memory", plan.memory},
}

func (p plan) print(name string) error {
	for _, s := range sections {
		if s.name == name {
			return s.write(p, os.Stdout)
		}
	}
	return fmt.Errorf("no table %q", name)
}

func (p plan) write(path string) error {
	var page bytes.Buffer
	writeHead(&page, p)
	for _, s := range sections {
		fmt.Fprintln(os.Stderr, "measuring:", s.name)
		if err := s.write(p, &page); err != nil {
			return errors.Join(err, os.WriteFile(path, page.Bytes(), 0o644)) // the tables before are good
		}
	}
	writeTail(&page)
	return os.WriteFile(path, page.Bytes(), 0o644)
}

// noOffload makes the transport send one datagram a call.
const noOffload = "CHUNKWIRE_NO_OFFLOAD=1"

// usual is the default profile.
const usual = "adaptive"

func server(conns, rounds, loss int, pace string) task {
	return task{Role: roleServer, Conns: conns, Rounds: rounds, Loss: loss, Pace: pace}
}

// limits compares the transport with loops that have no protocol.
func (p plan) limits(w io.Writer) error {
	conns := min(1000, p.most)
	bare := func(way string) row {
		return row{name: "bare, " + way, clients: roleDiscard, server: task{Role: roleBare, Conns: conns, Rounds: 1, Way: way}}
	}
	ours := server(conns, 1, 0, usual)
	rows := []row{
		bare(wayOne), bare(waySendmmsg), bare(wayOffload),
		{name: "chunkwire, one call a datagram", server: ours, clients: roleClients, environment: []string{noOffload}},
		{name: "chunkwire, offload (as it is)", server: ours, clients: roleClients},
	}
	if err := measureInTurn(rows, p.repeats); err != nil {
		return err
	}
	fmt.Fprintf(w, limitsText, conns)
	fmt.Fprintln(w, "| sender | datagrams/s | ns of processor a datagram | of that user | spread | a processor second sends, of bare sendmmsg | of bare offload |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|")
	for i := range rows {
		r := &rows[i]
		cost := r.of(processor)
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %s | %.0f %% | %.0f %% |\n", r.name, r.of(perSecond),
			cost, r.of(user), r.spread(processor), 100*rows[1].of(processor)/cost, 100*rows[2].of(processor)/cost)
	}
	return nil
}

// connections shows how cost grows with them.
func (p plan) connections(w io.Writer) error {
	var rows []row
	for conns := 1; conns <= p.most; conns *= 10 {
		rounds := max(1, 1000/conns)
		rows = append(rows, row{
			name:   fmt.Sprintf("%d | %d", conns, rounds),
			server: server(conns, rounds, 0, usual), clients: roleClients,
		})
	}
	return p.table(w, connectionsText, "connections | worlds each", rows)
}

// loss shows what it costs.
func (p plan) loss(w io.Writer) error {
	var rows []row
	for _, loss := range []int{0, 1, 5, 20} {
		rows = append(rows, row{
			name:   fmt.Sprintf("%d %%", loss),
			server: server(min(1000, p.most), 1, loss, usual), clients: roleClients,
		})
	}
	return p.table(w, fmt.Sprintf(lossText, min(1000, p.most)), "loss each way", rows)
}

// profiles compares paces.
func (p plan) profiles(w io.Writer) error {
	var rows []row
	for _, pace := range slices.Sorted(maps.Keys(paces)) {
		rows = append(rows, row{name: pace, server: server(min(1000, p.most), 1, 0, pace), clients: roleClients})
	}
	return p.table(w, fmt.Sprintf(profilesText, min(1000, p.most)), "profile", rows)
}

func (p plan) table(w io.Writer, text, first string, rows []row) error {
	if err := measureInTurn(rows, p.repeats); err != nil {
		return err
	}
	fmt.Fprint(w, text)
	columns := 1 + strings.Count(first, "|")
	fmt.Fprintf(w, "| %s | datagrams/s | server: ns of processor a datagram sent | of that user | spread | clients: ns a datagram read | sent beyond the world | acks a slice | median, ms | slowest, ms |\n", first)
	fmt.Fprintln(w, "|"+strings.Repeat("---:|", columns+9))
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %s | %.0f | %.1f %% | %.2f | %.0f | %.0f |\n", r.name,
			r.of(perSecond), r.of(processor), r.of(user), r.spread(processor), r.of(receiving),
			r.of(resent), r.of(acks), r.of(median), r.of(slowest))
	}
	return nil
}

// memory measures the memory of both ends.
func (p plan) memory(w io.Writer) error {
	fmt.Fprint(w, memoryText)
	fmt.Fprintln(w, "| connections | server: fresh | at rest | stacks | sending | dialed: fresh | at rest | stacks | sending |")
	fmt.Fprintln(w, "|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for conns := 100; conns <= p.most; conns *= 10 {
		server, client, err := runMemory(server(conns, 1, 0, usual))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %d |", conns)
		for _, m := range []footprint{server, client} {
			fmt.Fprintf(w, " %d | %d | %d | %d |", m.fresh, m.rest, m.stacks, m.sending)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// profile shows where the processor time of both ends goes: one file for the server, another for some clients.
func (p plan) profile(path string) error {
	t := server(p.most, max(1, 1000/p.most), 0, usual)
	t.Profile, t.ClientProfile = path, path+".clients"
	_, err := run(t, roleClients)
	return err
}
