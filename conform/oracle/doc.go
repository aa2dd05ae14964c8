// Package oracle is a second encoder and decoder of the packets, written from
// spec/PROTOCOL.md alone: slow, bit by bit, one sentence after the other. The
// expected bytes of the vectors come from it, and it judges the fast one. It
// shares no code with that: a test checks what it imports. Another protocol has an
// oracle of its own; package stream is what they share.
package oracle
