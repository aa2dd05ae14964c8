package packets_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/conform/packets"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

var operations = []*conform.Op{packets.Endpoint, packets.Path, packets.Congestion}

// The vectors of packet_estimates among them (PKO-7, PKO-8).
func TestVectors(t *testing.T) { conformtest.Vectors(t, operations...) }

func TestInput(t *testing.T) { conformtest.Input(t, operations...) }

func TestScripts(t *testing.T) {
	conformtest.Scripts(t, packets.Endpoint, "packet-endpoint")
	conformtest.Scripts(t, packets.Path, "packet-estimates")
	conformtest.Scripts(t, packets.Congestion, "packet-congestion")
}

// In any conversation what is given up was sent, once, as it was; acked is true; every
// number is settled in time; and at last both ends, polled at their deadlines alone (PKI-4, PKC-8), fall
// silent (PKT-SAFE-1 to PKT-SAFE-3, PKT-LIVE-2, PKT-LIVE-5). Nothing old comes back, however often it arrives (PKR-3, P3).
func TestConversations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		packets.Converse(t, conformtest.Source(t, rapid.IntRange(0, 80).Draw(t, "events")), 400)
	})
}

// Ten packets a second each way, over a path that becomes bad and good again: both modes
// come, with each profile, and what is counted leaves the last ten seconds (PKE-9).
func TestLongConversations(t *testing.T) {
	for _, profile := range []string{"article", "default"} {
		c := packets.Whole.Config.(packets.WholeConfig)
		c.Profile = profile
		v := packets.NewConversation(c, func(op *conform.Op, config any) conform.Oracle { return op.Pair(t, config) })
		v.Mend(0)
		carry, random := v.Carry, stream.Random(7)
		v.Carry = func(at int64, from *conform.End, e conform.Event, b conform.Bytes) {
			delay, lost := int64(60_000), uint32(3)
			if at > 12_000_000 && at < 16_000_000 { // bad
				delay, lost = 450_000, 30
			}
			if random.Next()%100 >= lost {
				carry(at+delay+int64(random.Next()%30_000), from, e, b)
			}
		}
		good := 0
		const steps = 300
		for n := range int64(steps) {
			now := n * 99_999
			v.Run(now, nil)
			for _, end := range v.Ends {
				if now < 20_000_000 || now > 22_000_000 {
					v.Do(now, end, packets.Send{Payload: conform.Bytes(make([]byte, 2+random.Next()%20))})
				}
				v.Do(now, end, packets.Poll{})
			}
			if v.Ends[0].Machine.(*conform.Pair).Oracle.(*packets.OracleEndpoint).Congestion().Good() {
				good++
			}
		}
		check.That(t, good > steps/4 && good < steps*3/4, "both modes come")
		t.Logf("%s: good %d of %d", profile, good, steps)
	}
}
