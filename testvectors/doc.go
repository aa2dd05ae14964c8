// Package testvectors holds the golden test vectors: requests of the port contract
// with the responses that they must get, in files/*.json, which schema.json
// describes and cmd/vectorgen generates. The vectors are dedicated to the public
// domain (LICENSE).
//
// Below it are the packages that make, answer and run them: contract, the JSON of
// requests and responses; oracle, an independent codec; trace, which runs the
// machines on lists of events; script, the language in which traces are written;
// port, which answers the contract; runner and live, which test a port in any
// language.
package testvectors
