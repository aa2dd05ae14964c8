package plain_test

import (
	"errors"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// repairFramer is the framer of the one lane of a connection with repair slices (RPI-1).
var repairFramer = codec.Repair.Framer(protocolID + connection.RepairIDs)

// repairBeginning is a slice with an id of the first chunk.
func repairBeginning(id, numSlices int) []byte {
	s := codec.Slice{SliceID: id, NumSlices: numSlices, LastBytes: codec.SliceSize, Data: make([]byte, codec.SliceSize)}
	datagram, _ := repairFramer.AppendSlice(nil, s)
	return datagram
}

// Any slice of the first chunk begins a connection: the first may be lost (RPI-5).
func TestAnySliceBeginsAConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, variant{true}.with(nil))
		s.says("source slice", repairBeginning(2, 3))
		s.says("repair slice", repairBeginning(5000, 3))
		if st := s.b.Stats(); st.Peers != 2 || st.UnknownPeers != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// With LimitUnvalidated slices go one at a time, each a new one, until an ack says that one
// has arrived; a hold does not (RPX-12, SEC-4, SEC-7).
func TestLimitUnvalidatedWithRepair(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := serve(t, variant{true}.with(func(cfg *plain.Config) { cfg.LimitUnvalidated = true }))
		var ids []int
		pushToAll(s.b, content(262_144, 1))
		s.says("victim", repairBeginning(0, 1))
		victim := s.senders["victim"]
		read := func() {
			buffer := make([]byte, 2000)
			for {
				victim.SetReadDeadline(time.Now().Add(ms))
				n, _, err := victim.ReadFrom(buffer)
				if err != nil {
					return
				}
				if p, err := repairFramer.Decode(buffer[:n]); err == nil && p.Type == codec.TypeSlice {
					ids = append(ids, p.Slice.SliceID)
				} else if errors.Is(err, codec.ErrCRCMismatch) {
					t.Error("a datagram of another id")
				}
			}
		}
		answer := func(have, top int) {
			datagram, _ := repairFramer.AppendAck(nil, codec.Ack{NumSlices: 256, Have: have, Top: top})
			s.says("victim", datagram)
		}
		time.Sleep(9 * time.Second)
		answer(0, 0)
		read()
		if len(ids) != 6 {
			t.Errorf("%d slices in 9 s and after a hold, want 6", len(ids))
		}
		for i, id := range ids {
			if id != i {
				t.Errorf("slice %d has id %d", i, id)
			}
		}
		answer(1, 1)
		time.Sleep(100 * ms)
		read()
		if len(ids) < 14 { // 16 measured: six before, and what the first flight still allows
			t.Errorf("%d slices after an ack", len(ids))
		}
	})
}
