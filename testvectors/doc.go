// Package testvectors runs the machines through traces, the form in which the
// specification's appendix B writes down what a sender or a receiver does at
// each of a list of events. Ports in any language answer the same traces.
package testvectors
