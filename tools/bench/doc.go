// Package bench measures chunkwire next to what people use instead: kcp-go,
// quic-go, go-raknet and pion's SCTP.
//
// All run over the same simulated sockets (package netsim) in the virtual time
// of a testing/synctest bubble: a figure depends on the seeds, and on the order of
// goroutines at one virtual instant, but not on how fast the machine is. The command
//
//	go run ./results
//
// makes every table and plot of RESULTS.md (blocks) and MESSAGES.md (messages). It
// is a module of its own, so that none of this reaches the library's go.mod.
package bench
