// Package erasure is the code of spec/REPAIR.md, section 3: repair slices of a chunk, and
// the chunk again from any slices that are enough. It knows no protocol.
//
// A chunk is 1 to 256 slices of 1,024 bytes, the last can be shorter. Id i below their
// number k is source slice i. Id k+j is repair slice j, the sum over all i of
// x^[Exponent](j, i) times slice i over GF(2^8). The row of an id is its coefficients.
// Ids are independent if their rows are, and any k independent ids rebuild the chunk.
//
// [Encoded] makes repair slices, each once for all receivers. [Decoder] counts the rank of
// what arrived at once, and touches data only when the chunk is to be rebuilt.
package erasure
