// Package handshake is an explicit model of the handshake of spec/CONNECTION.md: the client's
// table, the server's, a network and an attacker without keys. It is written from the document
// and not from the code, and knows no bytes. Package conform/sim/explore visits all its states; package
// session's tests make the real machines follow it.
package handshake
