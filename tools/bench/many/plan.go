//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
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
			return err
		}
	}
	writeTail(&page)
	return os.WriteFile(path, page.Bytes(), 0o644)
}

// noOffload makes the transport send one datagram a call.
const noOffload = "CHUNKWIRE_NO_OFFLOAD=1"

func server(conns, rounds, loss int, pace string) task {
	return task{Role: roleServer, Conns: conns, Rounds: rounds, Loss: loss, Pace: pace}
}

// limits compares the transport with loops that have no protocol.
func (p plan) limits(w io.Writer) error {
	conns := min(1000, p.most)
	bare := func(way string) row {
		return row{name: "bare, " + way, receivers: roleDiscard, server: task{Role: roleBare, Conns: conns, Rounds: 1, Way: way}}
	}
	ours := server(conns, 1, 0, paceUnlimited)
	rows := []row{
		bare(wayOne), bare(waySendmmsg), bare(wayOffload),
		{name: "chunkwire, one call a datagram", server: ours, receivers: roleFetch, environment: []string{noOffload}},
		{name: "chunkwire, offload (as it is)", server: ours, receivers: roleFetch},
	}
	if err := measureInTurn(rows, p.repeats); err != nil {
		return err
	}
	fmt.Fprintf(w, limitsText, conns)
	fmt.Fprintln(w, "| sender | datagrams/s | MB/s | ns of processor a datagram | of that user | spread | a processor second sends, of bare sendmmsg | of bare offload |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|")
	for i := range rows {
		r := &rows[i]
		cost := r.of(processor)
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.0f | %s | %.0f %% | %.0f %% |\n", r.name, r.of(perSecond), r.of(megabytes),
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
			server: server(conns, rounds, 0, paceUnlimited), receivers: roleFetch,
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
			server: server(min(1000, p.most), 1, loss, paceUnlimited), receivers: roleFetch,
		})
	}
	return p.table(w, fmt.Sprintf(lossText, min(1000, p.most)), "loss each way", rows)
}

// profiles compares paces.
func (p plan) profiles(w io.Writer) error {
	var rows []row
	for _, pace := range []string{paceUnlimited, paceBurst, paceNamed, paceRepair} {
		rows = append(rows, row{name: pace, server: server(min(1000, p.most), 1, 0, pace), receivers: roleFetch})
	}
	return p.table(w, fmt.Sprintf(profilesText, min(1000, p.most)), "profile", rows)
}

func (p plan) table(w io.Writer, text, first string, rows []row) error {
	if err := measureInTurn(rows, p.repeats); err != nil {
		return err
	}
	fmt.Fprint(w, text)
	columns := 1 + strings.Count(first, "|")
	fmt.Fprintf(w, "| %s | datagrams/s | MB/s | ns of processor a datagram | of that user | spread | server busy | resent | acks a 100 slices | median, ms | slowest, ms | slowest to median |\n", first)
	fmt.Fprint(w, "|")
	for range columns + 11 {
		fmt.Fprint(w, "---:|")
	}
	fmt.Fprintln(w)
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.0f | %s | %.0f %% | %.1f %% | %.1f | %.0f | %.0f | %.2f |\n", r.name,
			r.of(perSecond), r.of(megabytes), r.of(processor), r.of(user), r.spread(processor), r.of(busy),
			r.of(resent), r.of(acks), r.of(median), r.of(slowest), r.of(unfair))
	}
	return nil
}

// memory measures the server's heap in use.
func (p plan) memory(w io.Writer) error {
	fmt.Fprint(w, memoryText)
	fmt.Fprintln(w, "| connections | profile | idle | sending | receiving |")
	fmt.Fprintln(w, "|---:|---|---:|---:|---:|")
	for _, pace := range []string{paceBurst, paceNamed, paceRepair} {
		for conns := 1000; conns <= p.most; conns *= 10 {
			var idle, receiving memory
			if err := runMemory(task{Role: roleHolder, Conns: conns, Pace: pace}, &idle); err != nil {
				return err
			}
			if err := runMemory(task{Role: roleHolder, Conns: conns, Pace: pace, Upload: uploaded}, &receiving); err != nil {
				return err
			}
			n := int64(conns)
			fmt.Fprintf(w, "| %d | %s | %d | %d | %d |\n", conns, pace, (idle.Connected-idle.Empty)/n,
				(idle.Sending-idle.Connected)/n, (receiving.Connected-receiving.Empty)/n-uploaded*1024)
		}
	}
	return nil
}

// profile shows where the server's processor time goes.
func (p plan) profile(path string) error {
	t := server(min(1000, p.most), 10, 0, paceUnlimited)
	t.Profile = path
	_, err := run(t, roleFetch)
	return err
}

// uploaded is how many slices of 256 a receiving connection holds.
const uploaded = 16

func runMemory(t task, m *memory) error {
	return stage(t, roleSilent, nil, func(s *process) error { return s.hear(m) })
}
