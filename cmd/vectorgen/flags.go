package main

import "github.com/chunkwire/chunkwire/testvectors"

// mistakes are the flags of the groups of packets.
var mistakes = map[string]testvectors.Flag{
	"bit-order":     {Mistake: "The bits of a field or of a byte are taken from the most significant one on.", Effect: "No packet is understood by another implementation."},
	"byte-order":    {Mistake: "A field of several bytes is big-endian.", Effect: "Values whose bytes are equal pass, all others come out wrong."},
	"field-width":   {Mistake: "A field has a bit too many or too few, or is in another place.", Effect: "Everything behind it is shifted; large values are cut off."},
	"minus-one":     {Mistake: "num_slices or slice_bytes is stored as it is, not less one.", Effect: "Every count is wrong by one, and the largest does not fit."},
	"word-boundary": {Mistake: "A set of bits is held in words of 8, 32 or 64 bits, and mixed up where they meet.", Effect: "Acks of larger chunks tell of the wrong slices."},
	"last-slice":    {Mistake: "The last slice is not told from the others, or slice_bytes stands in every slice or in none.", Effect: "Data is shifted or has the wrong length."},
	"data-length":   {Mistake: "The data's length is taken from elsewhere than the document says.", Effect: "Data is cut off, or other bytes are taken for data."},
	"alignment":     {Mistake: "The align before the data or after the bits is missing, or always takes a byte.", Effect: "What follows is shifted by some bits."},
	"frame-offset":  {Mistake: "align counts from the body's first bit, not from the datagram's.", Effect: "Data and end check stand a bit off in datagrams, though bare bodies are right."},
	"size-limit":    {Mistake: "The largest or smallest allowed size is refused, or the next one is accepted.", Effect: "A full chunk, or one of a single byte, cannot be sent; or buffers run over."},
	"content":       {Mistake: "The data is looked at: for an end check, for zeros, for text.", Effect: "Some chunks can never be sent."},
	"type-bit":      {Mistake: "The type is ignored, turned around, or has more than one bit.", Effect: "Slices are taken for acks."},
	"crc-input":     {Mistake: "The crc is taken over something else than FRM-2 says.", Effect: "Every datagram of another implementation is dropped."},
	"crc-algorithm": {Mistake: "Another crc, another initial value or final xor, or another byte order on the wire.", Effect: "Every datagram of another implementation is dropped."},
	"crc-unchecked": {Mistake: "The crc, or a part of it, is not compared.", Effect: "Damaged datagrams are taken for genuine."},
	"protocol-id":   {Mistake: "The protocol id is left out of the crc, or not all of its bytes are in it.", Effect: "Connections are not told apart."},
	"truncation":    {Mistake: "Fields are read without a look at what is left.", Effect: "Memory beyond the datagram is read, or the program ends."},
	"padding":       {Mistake: "Padding bits are not looked at.", Effect: "One value has several encodings: datagrams can be changed without notice, and signatures or caches over them break."},
	"end-check":     {Mistake: "The end check, or a part of it, is not compared.", Effect: "A datagram that was misread passes."},
	"trailing-data": {Mistake: "Bytes after the end are ignored.", Effect: "One value has endless encodings, and data can be smuggled in."},
	"slice-id":      {Mistake: "slice_id is not compared with num_slices.", Effect: "Data is stored outside of the chunk."},
	"check-order":   {Mistake: "Checks are made in another order than the wire's.", Effect: "Implementations count different faults for the same datagram, and a later check may rest on a field that an earlier one should have refused."},
	"encoder":       {Mistake: "An encoder writes what it was given, or cuts it off.", Effect: "The other end gets another packet than was meant, or drops it."},
	"integer-wrap":  {Mistake: "A number is stored in a type that is too small before it is checked.", Effect: "65536 becomes 0 and passes."},
	"contract":      {Mistake: "The port crashes, is silent, or makes up an answer.", Effect: "The runner cannot tell what the port can do."},
}
