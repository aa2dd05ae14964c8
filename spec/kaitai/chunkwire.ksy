# The datagrams of spec/PROTOCOL.md. README.md beside this file says what is not checked here.
meta:
  id: chunkwire
  title: Chunkwire, plain chunks
  license: CC0-1.0
  endian: le
  bit-endian: le
doc: |
  A datagram with a slice of a chunk, or with an ack. It is one flat type: a type of its own
  would begin at a whole byte, and the fields of the body begin in the middle of one (FRM-4).
doc-ref: spec/PROTOCOL.md, sections 4 and 5
seq:
  - id: crc
    type: u4
    doc: CRC-32 of the protocol id, 4 zero bytes and all that follows (FRM-2). Not checked.
  - id: packet_type
    type: b1
    enum: packet_type
  - id: chunk_id
    type: b16
  # A slice (section 4.1)
  - id: slice_id
    type: b8
    if: is_slice
  - id: num_slices_minus_1
    type: b8
    valid:
      expr: is_ack or slice_id <= _ # DEC-7
  - id: slice_bytes_minus_1
    type: b10
    if: is_last
    doc: only the last slice says how long it is
  - id: padding_of_last
    type: b5
    if: is_last
    valid: 0 # DEC-10
  - id: padding_of_other
    type: b7
    if: is_slice and not is_last
    valid: 0
  # An ack (section 4.2)
  - id: acked
    type: b1
    repeat: expr
    repeat-expr: num_slices
    if: is_ack
    doc: of each slice, whether it has arrived
  - id: padding_of_ack
    type: b1
    repeat: expr
    repeat-expr: (8 - (57 + num_slices) % 8) % 8
    if: is_ack
    valid: false
  # The end of both. Kaitai goes to a whole byte before data, also where there are none.
  - id: data
    size: data_size
    if: is_slice
  - id: end_check
    type: u4
    valid: '0x9908ACE2' # DEC-13; quoted, since the compiler reads numbers above 2^31 wrong
  - id: trailing
    size-eos: true
    valid:
      expr: _.length == 0 # DEC-14
instances:
  is_ack:
    value: packet_type == packet_type::ack
  is_slice:
    value: packet_type == packet_type::slice
  num_slices:
    value: num_slices_minus_1 + 1
  is_last:
    value: is_slice and slice_id == num_slices_minus_1
  data_size:
    value: 'is_last ? slice_bytes_minus_1 + 1 : 1024'
enums:
  packet_type:
    0: slice
    1: ack
