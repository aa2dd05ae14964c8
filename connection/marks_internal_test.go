package connection

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

func agreedMarks() *marks { return newMarks(session.Agreed{Extensions: session.ExtensionECN}) }

// says lets the other end say what it counted, in a packet, which acks packets of this end.
func (m *marks) says(now core.Micros, number core.Number, said Marks, acked ...core.Number) (marked int) {
	m.took(number)
	m.hear(number, &Record{Type: TypeECN, Marks: said})
	for _, n := range acked {
		m.settle(packet.Event{Number: n, Kind: packet.EventAcked})
	}
	return m.judge(now)
}

// A path that was not trusted is tried again when it is another one: what went over the old one,
// and arrives late, says nothing (CXM-17, CXL-10).
func TestANewPathIsTriedAgain(t *testing.T) {
	m := agreedMarks()
	for n := range core.Number(4) {
		check.That(t, m.mark(0, n), "a probe")
	}
	check.Equal(t, "told", m.says(1, 0, Marks{Arrived: 1, Congested: 1}, 0, 1), 1)
	check.That(t, !m.mark(1, 4), "one did not arrive as it went")
	m.forgetPath(5)
	for n := range core.Number(ECNProbes) {
		check.That(t, m.mark(2, 5+n), "a probe of the new path")
	}
	check.That(t, !m.mark(2, 5+ECNProbes), "no more than those")
	check.Equal(t, "told", m.says(3, 1, Marks{Arrived: 1, Congested: 1}, 2, 3), 0)
	check.That(t, !m.failed, "packets of the old path do not count")
	check.Equal(t, "told", m.says(4, 2, Marks{Arrived: 2, Congested: 2}, 5), 1)
	check.That(t, m.mark(4, 6+ECNProbes), "it is trusted")
	check.Equal(t, "told", m.says(5, 3, Marks{Arrived: 2, Congested: 2}, 6), 0)
	check.That(t, m.failed, "the new path is judged like the old one")
}

// An end that moves, or hears that the other one has, forgets that the old path was not trusted (CXM-17, CXL-10).
func TestAMoveForgetsMarks(t *testing.T) {
	agreed := session.Agreed{Link: 1, Extensions: session.ExtensionECN, Timeout: 10 * core.Second}
	c := check.Must(NewConn(Config{}, session.NewLink(session.LinkConfig{Mode: session.CRC, Agreed: agreed}), ClientSide, 0))
	c.marks.failed = true
	c.move(1)
	check.That(t, !c.marks.failed, "the new path is tried")
}

// A packet that was overtaken by another one, which said nothing, is not judged by what that has acked; the
// next one is (CXM-16).
func TestAnOvertakenCountIsNotJudged(t *testing.T) {
	m := agreedMarks()
	for n := range core.Number(4) {
		m.mark(0, n)
		m.settle(packet.Event{Number: n, Kind: packet.EventAcked})
	}
	m.took(11)
	check.Equal(t, "told", m.says(2, 10, Marks{Arrived: 2, Congested: 1}), 1)
	check.That(t, m.mark(2, 4), "it is trusted")
	check.Equal(t, "told", m.says(3, 12, Marks{Arrived: 3, Congested: 1}), 0)
	check.That(t, m.failed, "one of four did not arrive as it went")
}

// Counts wrap, and packets far behind the newest are not looked for (CXM-13, CXM-15, CXM-16).
func TestCountsWrap(t *testing.T) {
	sender, receiver := agreedMarks(), agreedMarks()
	told := 0
	for n := range core.Number(100_000) {
		check.That(t, sender.mark(0, n), "it is trusted")
		receiver.opened([]ECN{ECT0, CE}[n%2])
		told += sender.says(0, n, receiver.here, n)
	}
	check.Equal(t, "told", told, 50_000)
	check.Equal(t, "counted", int(sender.counted), 100_000)
	sender.settle(packet.Event{Number: 100_000 - ECNNumbers - 1, Kind: packet.EventAcked})
	check.Equal(t, "acked", int(sender.acked), 100_000)
}

// The field has two bits.
func TestFieldECN(t *testing.T) {
	for ecn, want := range map[ECN]string{NotECT: "not-ECT", ECT1: "ECT(1)", ECT0: "ECT(0)", CE: "CE"} {
		check.Equal(t, "name", ecn.String(), want)
	}
}
