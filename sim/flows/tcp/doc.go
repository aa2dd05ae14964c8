// Package tcp has models of bulk senders that share a path with ours, each with its
// receiver: TCP with NewReno and with CUBIC. They are machines without clock, socket or
// goroutine, in integers and virtual time. All datagrams with data are of one size, and
// windows count datagrams, not bytes.
//
// What is modeled of TCP:
//
//   - selective acks with three blocks, the most recent first (RFC 2018);
//   - acks for each second segment or after 25 ms, and at once for what is out of order or
//     fills a gap (RFC 5681, 4.2);
//   - loss recovery by blocks (RFC 6675): a segment is lost when three above it have arrived;
//     pipe; what is lost goes before what is new; one cut a recovery (RFC 6582);
//   - the retransmission timer of RFC 6298 with Karn's rule and exponential back-off: 1 s at
//     first, later the smoothed round trip and four variations, at least 200 ms, as in Linux.
//     All that has not arrived counts as lost then, and slow start begins with one segment;
//   - the windows of RFC 5681 (NewReno) and RFC 9438 (CUBIC with fast convergence and the
//     Reno-friendly region); a first window of ten segments (RFC 6928); windows grow by what
//     is acked (RFC 3465) and only while they are used;
//   - by option HyStart++ (RFC 9406) and pacing.
//
// What is not: handshake and end of a connection; the receiver's window, which is never
// full; rules 3 and 4 of NextSeg and tail loss probes (RFC 8985), which matter at the end of
// data only; detection by time of loss and of retransmissions that are lost (RFC 8985): these
// wait for the timer; proportional rate reduction (RFC 6937): after a cut nothing goes until
// pipe is below the window; undoing a cut that was wrong (RFC 5682, 3522): reordering by
// three segments costs a cut; ECN (RFC 3168).
// So the models are a little slower than a current Linux where much is lost. They were
// compared with formulas and with the text of the RFCs, not with a kernel.
package tcp
