// Package sessionoracle is a second implementation of sessions, written from
// spec/CONNECTION.md alone: slow and literal, a sentence after the other. The expected
// responses of the vectors come from it, and it judges the fast one. It shares no
// code with that: a test checks what it imports. HMAC-SHA-256 and ChaCha20-Poly1305 are
// those of every Go program.
package sessionoracle
