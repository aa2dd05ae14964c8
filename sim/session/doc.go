// Package session judges the handshake of spec/CONNECTION.md.
//
// Its tests hold a model of the client's and the server's table in explicit states
// (handshake_*_test.go), written from the document and not from the code: some clients and
// a server, a network that is the set of all that was ever sent, and an attacker without
// keys. Package sim/explore visits all that can happen.
package session
