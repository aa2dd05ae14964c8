package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/port"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// packetCodec writes the datagrams of scripts with the oracle.
var packetCodec = script.Codec{
	Encode: func(d script.Datagram) []byte {
		h := packetoracle.Header{Sequence: d.Sequence, Ack: d.Ack, AckBits: d.AckBits}
		if d.Count == 0 {
			return packetoracle.EncodeRegular(h, d.Data)
		}
		return packetoracle.EncodeFragment(h, d.ID, d.Count, d.Data)
	},
	Describe: func(b []byte) string {
		p, err := packetoracle.Decode(packetoracle.Limits{FragmentSize: 1160, MaxFragments: 256}, b)
		var refused *packetoracle.Error
		switch h := p.Header; {
		case b[0] == 1:
			return fmt.Sprintf("%d.%d", uint16(b[1])|uint16(b[2])<<8, b[3])
		case errors.As(err, &refused):
			return refused.Error()
		default:
			return fmt.Sprintf("%d:%d/%x", h.Sequence, h.Ack, h.AckBits)
		}
	},
}

// endpoint adds a trace of an endpoint.
func (g *group) endpoint(s script.Script) error {
	t, err := script.ParseEndpoint(s.Lines, packetCodec)
	if err != nil {
		return err
	}
	return g.endpointTrace(s, "", t.Config, t.Events, t.Check)
}

// endpointTrace runs the oracle's endpoint, and checks by the script what it does.
func (g *group) endpointTrace(s script.Script, suffix string, cfg contract.EndpointConfig, events []contract.EndpointEvent,
	check func([]contract.EndpointStep, [][]string) error,
) error {
	steps := endpointSteps(cfg, events)
	response := endpointResponse(steps)
	rows := make([][]string, len(steps))
	for i, s := range steps {
		rows[i] = s.Rows
	}
	err := check(response.Steps, rows)
	if err == nil && suffix == "" {
		err = namesRows(s, rows)
	}
	if err != nil {
		return err
	}
	g.addScript(s, suffix, notTaken(s, rows), asJSON(contract.EndpointRequest{Op: contract.OpPacketEndpoint, Config: cfg, Events: events}), asJSON(response))
	return nil
}

// notTaken returns the rows that a script names and a trace does not take: those of the
// other end.
func notTaken(s script.Script, rows [][]string) (names []string) {
	taken := slices.Concat(rows...)
	for _, id := range s.Sentences {
		if !strings.Contains(id, "-") && !slices.Contains(taken, id) {
			names = append(names, id)
		}
	}
	return names
}

// namesRows fails if a script names a row that its trace does not take.
func namesRows(s script.Script, rows [][]string) error {
	if names := notTaken(s, rows); len(names) > 0 {
		return fmt.Errorf("takes no row %s", strings.Join(names, ", "))
	}
	return nil
}

// congestion adds a trace of congestion avoidance.
func (g *group) congestion(s script.Script) error {
	c, err := script.ParseCongestion(s.Lines)
	if err != nil {
		return err
	}
	q := contract.CongestionRequest{Op: contract.OpPacketCongestion, Config: c.Config, Events: c.Events}
	steps, rows := congestionSteps(q)
	if err := errors.Join(c.Check(steps, rows), namesRows(s, rows)); err != nil {
		return err
	}
	g.addScript(s, "", nil, asJSON(q), asJSON(contract.CongestionResponse{Answer: ok, Steps: steps}))
	return nil
}

// disagrees returns where this module's packages answer something else than a group's
// vectors say. The expected responses do not come from them.
func (g *group) disagrees() error {
	var errs []error
	for _, v := range g.file.Vectors {
		request, want := withFirstID(v.Request), withFirstID(v.Response)
		got := port.Answer(request)
		if bytes.Equal(got, want) {
			continue
		}
		if diff := diffJSON(want, got); diff != "" { // members may be in another order
			errs = append(errs, fmt.Errorf("%s: the package differs (-oracle +package):\n%s", v.Name, diff))
		}
	}
	return errors.Join(errs...)
}

func withFirstID(text json.RawMessage) []byte { return append([]byte(`{"id":1,`), text[1:]...) }

func diffJSON(want, got []byte) string {
	var a, b any
	read := func(text []byte, v any) error {
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber() // of 64 bits
		return in.Decode(v)
	}
	if err := errors.Join(read(want, &a), read(got, &b)); err != nil {
		return err.Error()
	}
	return cmp.Diff(a, b)
}
