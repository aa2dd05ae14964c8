//go:build linux

package main

import (
	"context"
	"os"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/transport/plain"
)

// result is what a server, or a bare sender, reports at the end.
type result struct {
	Datagrams    int64
	Bytes        int64 // UDP payload
	DatagramsIn  int64
	Resent       int64
	Failed       int64 // that the system did not take
	Took         time.Duration
	User, System time.Duration
	Median       time.Duration // when half of the receivers had everything
	Slowest      time.Duration
}

// greeting is the first line of everything that receivers connect to.
type greeting struct{ Address string }

// serve waits for all receivers and then sends the world to each.
func serve(t task) error {
	e, err := plain.Listen("udp4", "127.0.0.1:0", config(t))
	if err != nil {
		return err
	}
	defer e.Close()
	if err := report(greeting{e.Addr().String()}); err != nil {
		return err
	}
	conns, err := acceptAll(e, t.Conns)
	if err != nil {
		return err
	}
	stopProfile, err := startProfile(t.Profile)
	if err != nil {
		return err
	}
	before := e.Stats()
	took := startMeter()
	times, err := sendAll(conns, makeWorld(), t.Rounds)
	if err != nil {
		return err
	}
	r := took.stop()
	stopProfile()
	after := e.Stats()
	r.Datagrams = after.DatagramsOut - before.DatagramsOut
	r.Bytes = after.BytesOut - before.BytesOut
	r.DatagramsIn = after.DatagramsIn - before.DatagramsIn
	r.Failed = after.WriteErrors - before.WriteErrors
	for _, c := range conns {
		r.Resent += c.Stats().Sender.SlicesResent
	}
	r.Median, r.Slowest = times[len(times)/2], times[len(times)-1]
	if err := report(r); err != nil {
		return err
	}
	waitForStop()
	return nil
}

// acceptAll returns connections with n peers, once each has said hello.
func acceptAll(e *plain.Endpoint, n int) (conns []*plain.Conn, err error) {
	for range n {
		c, err := e.Accept(context.Background())
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	for _, c := range conns {
		if _, err := c.Recv(context.Background()); err != nil {
			return nil, err
		}
	}
	return conns, nil
}

// sendAll sends everybody the world so often and returns when each was done,
// sorted.
func sendAll(conns []*plain.Conn, world []byte, rounds int) ([]time.Duration, error) {
	type outcome struct {
		at  time.Duration
		err error
	}
	began := time.Now()
	outcomes := make(chan outcome)
	for _, c := range conns {
		go func() {
			var err error
			for range rounds {
				if err = c.Send(context.Background(), world); err != nil {
					break
				}
			}
			outcomes <- outcome{time.Since(began), err}
		}()
	}
	var times []time.Duration
	for range conns {
		o := <-outcomes
		if o.err != nil {
			return nil, o.err
		}
		times = append(times, o.at)
	}
	slices.Sort(times)
	return times, nil
}

// meter measures time and processor time.
type meter struct {
	began        time.Time
	user, system time.Duration
}

func startMeter() meter {
	user, system := processorTime()
	return meter{time.Now(), user, system}
}

func (m meter) stop() (r result) {
	user, system := processorTime()
	return result{Took: time.Since(m.began), User: user - m.user, System: system - m.system}
}

// startProfile begins to write a processor profile, unless the path is empty.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(f)
}
