// Package core holds the words that all protocols of the family share. It knows no
// protocol.
//
//   - [Micros] is time; every machine takes it from its caller.
//   - [Number] counts packets and never wraps. A [Space] turns it into the bits on the
//     wire and back (section 4 of spec/PACKETS.md). A [Window] is a set of numbers.
//   - [Set] is a set of slices.
//   - [Error] says which sentence of a document bytes or a value broke, and where.
//   - [ErrConfig] is wrapped by every error about a bad configuration.
//   - [Line] is a row of a transition table, in the words of the document.
package core
