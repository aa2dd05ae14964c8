// Package control learns what the path carries and holds a sender to it: the
// round trip, the rate, the window and the pace of spec/RECOVERY.md, sections 3
// to 6. Which slice goes next, and which are lost, is a scheduler's to decide:
// schedule/adaptive and schedule/rateless both stand on a [Controller].
//
// Everything is integers and virtual time. A Controller serves one scheduler and,
// like it, is not safe for concurrent use.
package control
