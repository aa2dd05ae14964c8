// Package stream has what the oracles of all protocols share: bits packed one by
// one (section 3 of spec/PROTOCOL.md), the CRC-32, and the random numbers of
// appendix B. It is slow and literal, imports the standard library alone, and
// shares no code with what it judges.
package stream
