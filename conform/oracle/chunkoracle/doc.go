// Package chunkoracle is a second implementation of the two machines of a chunk, written from
// spec/PROTOCOL.md and spec/REPAIR.md alone: one machine each, which keeps named slices or
// repair slices; and of the base algorithm, by lists that are walked for every question. The
// expected responses of the vectors come from it. It shares no code with what it judges: a
// test checks what it imports.
package chunkoracle
