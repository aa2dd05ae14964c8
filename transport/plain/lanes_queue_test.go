package plain_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
)

// Lanes leave a thin path no pause in which its queue empties. Unless they empty
// it themselves, together, they take it for the path's length, and it overflows
// (LAN-10, and WIN-4 of RECOVERY.md).
func TestLanesOnAThinPathKeepTheQueueShort(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const chunks = 16 // 35 s
		path := netsim.Path{Delay: 50 * ms, Rate: million, Queue: 64 << 10, Overhead: 28}
		bubble(t, func(t *testing.T) {
			r := connect(t, path, v.lanes(8))
			stream(t, r.toB, r.toA, chunks, func(int) int { return codec.MaxChunkSize })
			st := r.toB.Stats().Sender
			t.Logf("%d of %d slices resent, smallest round trip %d us", st.SlicesResent, st.SlicesSent, st.Schedule.MinRTT)
			if st.SlicesResent*20 > st.SlicesSent || st.Schedule.MinRTT > 125_000 {
				t.Errorf("%d of %d slices resent, smallest round trip %d us, not 109,096", st.SlicesResent, st.SlicesSent, st.Schedule.MinRTT)
			}
		})
	})
}
