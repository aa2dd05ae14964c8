// Package runner tests a port of the protocol, a program that answers the port
// contract, with the test vectors, and reports what it got wrong.
//
// From the bottom up: a process is a running port, lines in and lines out; a
// session keeps one alive, sends it requests ahead of their answers and finds out
// which line answers which request; judge compares an answer with what it must be;
// Run takes all vectors through that and makes a Report.
//
// Package live, beside it, lets a port send and receive chunks over UDP.
package runner
