# The datagrams of spec/REPAIR.md. README.md beside this file says what is not checked here.
meta:
  id: chunkwire_repair
  title: Chunkwire, plain chunks with repair slices
  license: CC0-1.0
  endian: le
  bit-endian: le
doc: |
  A datagram with a source slice or a repair slice of a chunk, or with an ack. It is flat, as
  chunkwire.ksy is.
doc-ref: spec/REPAIR.md, section 4
seq:
  - id: crc
    type: u4
    doc: as in chunkwire.ksy. Not checked.
  - id: packet_type
    type: b1
    enum: packet_type
  - id: chunk_id
    type: b16
  # A slice (section 4.1)
  - id: slice_id
    type: b13
    if: is_slice
    doc: from num_slices on it is a repair slice
  - id: num_slices_minus_1
    type: b8
  - id: last_bytes_minus_1
    type: b10
    if: is_slice
  # An ack (section 4.2)
  - id: have
    type: b9
    if: is_ack
    valid:
      max: num_slices # RPD-4
  - id: top
    type: b13
    if: is_ack
  - id: padding
    type: b1
    if: is_ack
    valid: false # DEC-10
  # The end of both. Kaitai goes to a whole byte before data, also where there are none.
  - id: data
    size: data_size
    if: is_slice
  - id: end_check
    type: u4
    valid: '0x9908ACE2' # DEC-13
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
    value: num_slices == 1 or slice_id == num_slices_minus_1
  data_size:
    value: 'is_last ? last_bytes_minus_1 + 1 : 1024'
enums:
  packet_type:
    0: slice
    1: ack
