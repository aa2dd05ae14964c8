// Package packetoracle is a second implementation of the packet layer, written from
// spec/PACKETS.md alone: slow and literal, a sentence after the other. The expected
// responses of the vectors come from it, and it judges the fast one. It shares no
// code with that: a test checks what it imports.
package packetoracle
