// Package repairoracle is a second implementation of repair slices, written from
// spec/REPAIR.md and spec/RECOVERY.md alone: the code byte by byte, with plain Gaussian
// elimination; the packets bit by bit; both machines, and the sender's rule, one sentence
// after the other. The expected responses of the vectors come from it. It shares no code
// with what it judges: a test checks what it imports.
package repairoracle
