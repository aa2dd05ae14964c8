// Package attack has the attacks on a server and on a connection that somebody has
// carried out, each as a test: what it does to the chunk protocol by itself (package
// plain), and what to a connection (package transport). Both figures are measured
// in the same test, and printed with -v:
//
//	go test -v -run 'TestA1|TestD3' ./transport/attack
//
// A1 to A8 and D1 to D30 are the numbers under which they were found. Who forges a
// source address here binds it: on the system's sockets any of 127.0.0.0/8, and in
// the network in memory, with virtual time, any at all.
package attack
