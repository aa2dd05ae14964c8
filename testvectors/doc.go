// Package testvectors holds the golden test vectors: requests of the port contract
// with the responses that they must get, in files/*.json, which schema.json
// describes and cmd/vectorgen generates. The vectors are dedicated to the public
// domain (LICENSE).
//
// Below it are the packages that make, answer and run them: contract, the words of
// requests and responses; script, the language in which traces are written; port,
// which answers the contract; runner and live, which test a port in any language.
package testvectors
