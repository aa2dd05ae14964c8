// Package codec turns the two packets of the chunk protocol, [Slice] and
// [Ack], into bytes and back: as bare bodies (FRM-7), and as whole datagrams with
// the frame around them (sections 4 to 6 of spec/PROTOCOL.md). It holds no state. Packets
// of repair slices have other fields in the same frame (section 4 of spec/REPAIR.md); a
// [Kind] says which of the two are meant.
//
// Every value has exactly one encoding (LAW-1). A decoder accepts bytes if and
// only if encoding the decoded value gives the same bytes back (LAW-2); everything
// else is refused with an [*Error] that has the code, the bit where the fault
// begins and the sentence of the specification that was broken. Encoders refuse
// what cannot be represented with [ErrInvalidField].
//
// No encoder or decoder panics, whatever its input (LAW-3), and none allocates,
// errors included, as long as the caller's buffer is large enough (LAW-4).
package codec
