// Command many measures one server, one socket and many connections over loopback
// UDP, with keys, next to loops that send the same bytes without any protocol.
//
//	go run ./many                # every table of MANY.md, some ten minutes
//	go run ./many --help
//
// Unlike the rest of bench this is real time on a real machine: figures differ
// from run to run, so every table is one run whose rows take turns, and says how
// they spread.
//
// The command starts itself again, as a server and as a few processes of
// clients, so that processor time and memory of each end are its own.
package main
