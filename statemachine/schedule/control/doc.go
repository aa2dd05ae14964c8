// Package control learns what the path carries and what others need of it, and
// holds a sender to that: it is the controller of spec/RECOVERY.md, sections 3 to
// 14. Which slice goes next, and which are lost, is a scheduler's to decide:
// statemachine/schedule/adaptive and statemachine/schedule/rateless both stand on a [Controller].
//
// Everything is integers and virtual time. A Controller serves the
// schedulers of a connection and, like them, is not safe for concurrent use.
package control
