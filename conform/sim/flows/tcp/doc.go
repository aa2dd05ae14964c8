// Package tcp has models of bulk senders that share a path with ours, each with its
// receiver: TCP with NewReno, CUBIC and BBR, quic-go, and kcp-go without congestion control.
// They are machines without clock, socket or goroutine, in integers and virtual time. All
// datagrams with data are of one size, and windows count datagrams, not bytes.
//
// Modeled of TCP:
//
//   - selective acks with three blocks, the most recent first (RFC 2018);
//   - an ack for each second segment or after 25 ms, at once for what is out of order or fills
//     a gap (RFC 5681, 4.2);
//   - loss recovery by blocks (RFC 6675): a segment is lost when three above it have arrived;
//     pipe; what is lost goes before what is new; one cut a recovery (RFC 6582);
//   - the retransmission timer of RFC 6298 with Karn's rule and back-off: 1 s at first, later
//     the smoothed round trip and four variations, of these at least 200 ms, as in Linux. When
//     it runs out, all that has not arrived counts as lost, and slow start begins with one
//     segment;
//   - the windows of RFC 5681 (NewReno) and RFC 9438 (CUBIC, with fast convergence and the
//     Reno-friendly region); a first window of ten segments (RFC 6928); windows grow by what
//     is acked (RFC 3465), and only while they limit the sender;
//   - by option HyStart++ (RFC 9406), and pacing.
//
// Not modeled of TCP: handshake and end; the receiver's window, which is never full; rules 3
// and 4 of NextSeg and tail loss probes (RFC 8985), which matter at the end of data; loss found
// by time, so that a retransmission that is lost waits for the timer (RFC 8985 finds it);
// proportional rate reduction (RFC 6937): after a cut nothing goes until pipe is below the
// window; undoing a cut that was wrong (RFC 5682, RFC 3522): reordering by three segments costs
// a cut; ECN (RFC 3168).
// So the models get somewhat less than a current Linux where much is lost or late. They were
// compared with formulas and with the RFCs' text, not with a kernel.
//
// The model of quic-go follows internal/congestion and internal/ackhandler of v0.65.0, file by
// file: Reno with a beta of 7/10, hybrid slow start, pacer, loss by packets and by time, probe
// timeouts. A first packet goes alone, as the handshake gives the first sample. Not modeled:
// changing the size of packets, taking a cut back after a loss that was none, tolerating more
// reordering after one, numbers that are skipped, ECN.
//
// The model of kcp-go follows kcp.go of v5.6.72 with NoDelay(1, 10, 2, 1) and windows of 1024,
// acks on ticks, for an application that always has more to send. Giving up after twenty
// transmissions is not modeled, as kcp-go's sessions do not either.
//
// The model of BBR has the filters, gains, cycle and states of draft-cardwell-iccrg-bbr-congestion-control-00
// over the same loss recovery as the other TCPs. It measures bandwidth over rounds and not with each ack, begins
// its cycle at one place, and does not save the window in a recovery. It was compared with what the draft
// promises, not with a kernel.
//
// quic-go and kcp-go were compared with their originals over the same simulated links (agree_test.go).
package tcp
