// Package inspect shows what datagrams hold: any bytes become a tree of fields, each with
// its place in bits, its value, its meaning and the sentence of the specification that it
// comes from, or a refusal with its code, its place and its sentence.
//
// The codecs of the protocols decide whether a datagram is refused, and why; names, places, values and sentences of
// the fields come from the layouts of the specification (spec/formats.json).
// Every bit of a datagram is in exactly one leaf of its tree, also when it is refused.
//
// [Datagram] is about one datagram, [Story] about what two ends said to each other.
package inspect
