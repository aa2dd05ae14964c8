// Package flows lets several flows share a path, in virtual time, and measures what each of
// them gets and what all of them do to the path.
//
// A [World] has a link down and a link up, which all flows share, and a [Flow] two ends, of
// which the first sends over the link down. An [End] is anything that sends datagrams:
// [World.AddChunks] adds chunks over the lanes of a connection, package tcp has models of other
// protocols, and tests have their own. Whatever is sent, dropped, lost and new at its receiver is
// counted by flow, link and [Slot], so that every figure can be had of any stretch of time.
package flows
