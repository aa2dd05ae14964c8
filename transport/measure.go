package transport

import (
	"errors"
	"slices"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// End is how a connection of a server ended.
type End string

// The ends.
const (
	EndClosed         End = "closed"         // at this end, by Close
	EndClosedRemotely End = "closed_by_peer" // ErrClosedRemotely
	EndTimeout        End = "timeout"        // ErrTimeout
	EndReplaced       End = "replaced"       // ErrReplaced
	EndFailed         End = "failed"         // ErrFailed
	EndSocket         End = "socket"         // ErrSocket
	EndCanceled       End = "canceled"       // ErrCanceled: a chunk in flight was canceled
	EndOther          End = "other"          // anything else
)

// Ends are all of them.
var Ends = []End{EndClosed, EndClosedRemotely, EndTimeout, EndReplaced, EndFailed, EndSocket, EndCanceled, EndOther}

// endErrors are the errors of the ends, in their order: the first that matches counts.
var endErrors = []struct {
	err error
	end End
}{
	{ErrClosedRemotely, EndClosedRemotely},
	{ErrTimeout, EndTimeout},
	{ErrReplaced, EndReplaced},
	{ErrFailed, EndFailed},
	{ErrSocket, EndSocket},
	{ErrCanceled, EndCanceled},
	{ErrClosed, EndClosed},
}

// wanted reports whether one of the ends, or a newer connection, wanted it.
func (e End) wanted() bool { return e == EndClosed || e == EndClosedRemotely || e == EndReplaced }

// endOf returns how a connection ended that has an error.
func endOf(err error) End {
	for _, e := range endErrors {
		if errors.Is(err, e.err) {
			return e.end
		}
	}
	return EndOther
}

// HistogramBounds are the upper ends of the buckets of each Histogram, in microseconds: from half a
// millisecond to half a minute.
var HistogramBounds = [...]core.Micros{
	500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
	1_000_000, 2_000_000, 5_000_000, 10_000_000, 30_000_000,
}

// Histogram counts times by buckets.
type Histogram struct {
	// Counts are of the times that are at most as long as the bound of the same index, and longer than
	// the one before; the last are those that are longer than all.
	Counts [len(HistogramBounds) + 1]int64
	Sum    core.Micros // of all times
}

// note counts a time.
func (h *Histogram) note(t core.Micros) {
	i, _ := slices.BinarySearch(HistogramBounds[:], t)
	h.Counts[i]++
	h.Sum += t
}

// Count returns how many times there are.
func (h *Histogram) Count() (n int64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

func (h *Histogram) add(o *Histogram) {
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Sum += o.Sum
}

// Totals are sums over all connections of a server, those that have ended among them.
type Totals struct {
	Sender   statemachine.SenderStats // of chunks
	Receiver statemachine.ReceiverStats

	PacketsSent, PacketsReceived int64 // of messages
	PacketsAcked, PacketsLost    int64 // of those sent
}

// addPeer adds what a connection did.
func (t *Totals) addPeer(p *Peer) {
	st := p.conn.Stats()
	t.Sender.Add(st.Chunks.Sender)
	t.Receiver.Add(st.Chunks.Receiver)
	t.PacketsSent += st.Packets.Sent
	t.PacketsReceived += st.Packets.Received
	t.PacketsAcked += st.Packets.Acked
	t.PacketsLost += st.Packets.Lost
}

func (t *Totals) add(o *Totals) {
	t.Sender.Add(o.Sender)
	t.Receiver.Add(o.Receiver)
	t.PacketsSent += o.PacketsSent
	t.PacketsReceived += o.PacketsReceived
	t.PacketsAcked += o.PacketsAcked
	t.PacketsLost += o.PacketsLost
}

// sampleEvery is how often the round trip of a connection is counted, while it hears something.
const sampleEvery = 100 * core.Millisecond

// sampleLocked counts the round trip of a server's connection, if it is time.
func (p *Peer) sampleLocked(now core.Micros) {
	if p.shard == nil || p.conn == nil || now < p.sampleAt {
		return
	}
	p.sampleAt = now + sampleEvery
	if rtt := p.rttLocked(); rtt > 0 {
		p.shard.stats.roundTrip.note(rtt)
	}
}
