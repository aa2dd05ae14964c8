// Package connectionoracle is a second implementation of connections, written from
// spec/CONNECTION.md alone: slow and literal, a sentence after the other, on the oracles of
// the layers below. The expected responses of the vectors come from it, and it judges the fast
// one. It shares no code with that: a test checks what it imports. The machines of chunks are
// given to it.
package connectionoracle
