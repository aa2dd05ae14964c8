package bench

import (
	"errors"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/conform/sim/flows/tcp"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
)

// modelShares follow a stream of ours beside models of TCP, without sockets.
func modelShares() (shares []Share, err error) {
	for _, of := range []struct {
		model tcp.Config
		name  string
		late  [2]time.Duration // when ours and the model begin
	}{
		{tcp.Config{Model: tcp.NewReno}, "NewReno", [2]time.Duration{0, 10 * time.Second}},
		{tcp.Config{Model: tcp.NewReno}, "NewReno", [2]time.Duration{10 * time.Second, 0}},
		{tcp.Config{Model: tcp.Cubic, HyStart: true}, "CUBIC", [2]time.Duration{10 * time.Second, 0}},
	} {
		s, err := modelShare(besideCells()[0], of.name, of.model, of.late)
		if err != nil {
			return nil, err
		}
		shares = append(shares, s)
	}
	return shares, nil
}

func modelShare(c Cell, name string, model tcp.Config, late [2]time.Duration) (s Share, err error) {
	w, err1 := flows.NewWorld(flows.Path{Down: c.down(), Up: c.up()}, 1)
	ours, err2 := w.AddChunks("repair", flows.Options{Lanes: lanes.Config{Repair: true}, Start: core.FromDuration(late[0])})
	if err := errors.Join(err1, err2); err != nil {
		return s, err
	}
	model.Start = core.FromDuration(late[1])
	sends, receives := tcp.New(model)
	theirs := w.Add(name, sends, receives)
	w.Run(core.FromDuration(2 * time.Minute))
	both := []*flows.Flow{ours.Flow, theirs}
	if late[1] < late[0] {
		both[0], both[1] = both[1], both[0]
	}
	s = Share{Name: c.Network, Flows: []string{both[0].Name, both[1].Name}}
	for second := range 120 {
		from := core.Micros(second) * core.Second
		f := w.Figures(flows.Down, from, from+core.Second, both...)
		point := SharePoint{Second: second + 1, Wait: f.Wait.Mean}
		for _, bytes := range f.Shares {
			point.Mbits = append(point.Mbits, float64(bytes)*8/1e6)
		}
		s.Points = append(s.Points, point)
	}
	return s, nil
}
