// Package testvectors holds the golden test vectors of the chunk protocol (Load,
// LoadAccumulated): requests of the port contract with the responses that they
// must get, in files/*.json, which schema.json describes and cmd/vectorgen
// generates. The vectors are dedicated to the public domain (LICENSE).
//
// It also runs the machines through traces, the form in which the
// specification's appendix B writes down what a sender or a receiver does at
// each of a list of events. Ports in any language answer the same traces.
package testvectors
