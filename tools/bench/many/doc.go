// Command many measures one server, one socket and many receivers over loopback
// UDP, next to loops that send the same bytes without any protocol.
//
//	go run ./many                # every table of MANY.md, some ten minutes
//	go run ./many --help
//
// Unlike the rest of bench this is real time on a real machine: figures differ
// from run to run, so every table is one run whose rows take turns, and says how
// they spread.
//
// The command starts itself again, as a server and as a few processes of
// receivers, so that the server's processor time and memory are its own.
package main
