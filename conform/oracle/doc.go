// Package oracle makes the random packets of appendix B of spec/PROTOCOL.md, and the hash of what
// becomes of them, by the layouts of spec/formats.json. Each protocol has an oracle of its own in
// a package below it, written from its specification alone: slow, one sentence after the other. They
// share no code with what they judge: a test checks what they import. Package stream is what
// they have in common.
package oracle
