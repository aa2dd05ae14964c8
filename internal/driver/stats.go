package driver

import "github.com/chunkwire/chunkwire/internal/udp"

// Traffic counts datagrams, and bytes of their UDP payload, without IP and UDP
// headers.
type Traffic struct {
	DatagramsIn, DatagramsOut int64
	BytesIn, BytesOut         int64
}

// In counts a datagram that came.
func (t *Traffic) In(size int) {
	t.DatagramsIn++
	t.BytesIn += int64(size)
}

// Out counts a datagram that goes.
func (t *Traffic) Out(size int) {
	t.DatagramsOut++
	t.BytesOut += int64(size)
}

// Add adds what another has counted.
func (t *Traffic) Add(o Traffic) {
	t.DatagramsIn += o.DatagramsIn
	t.DatagramsOut += o.DatagramsOut
	t.BytesIn += o.BytesIn
	t.BytesOut += o.BytesOut
}

func (t *Traffic) outRun(r *udp.Run) {
	t.DatagramsOut += int64(r.Count())
	t.BytesOut += int64(len(r.Data))
}

// Stats has the counts of a driver so far.
type Stats struct {
	Traffic // all that was read, and given to the socket

	ReadErrors     int64 // failed reads that were survived
	WriteErrors    int64 // datagrams that the system did not take
	LastWriteError error // why it did not take the latest of those
	WriteError     error // of the latest write; nil if the system took it
	Buffers        udp.Buffers
	OffloadRefusal error // why the system refused the latest run that it did; nil while no peer goes without segmentation offload for that
}

// StatsLocked returns a snapshot.
func (d *Driver) StatsLocked() Stats { return d.stats }
