//! The packets of repair slices (REPAIR.md, section 4), and the numbers of transmissions (section
//! 2.3). A value of these types is valid: what cannot be encoded cannot be made.

use crate::bits::{Reader, Writer};
use crate::codec::{decode, decode_frame, encode, encode_frame, get, get_align, Check, DecodeError, Encoded};
use crate::limits::{ChunkSize, NumSlices, SLICE_SIZE};
use crate::packet::{InvalidField, Kind};
use crate::repair_code::{repair_slice_bytes, MAX_IDS};

/// A slice, source or repair (4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepairSlice<'a> {
    chunk_id: u16,
    slice_id: u16,
    size: ChunkSize,
    data: &'a [u8],
}

impl<'a> RepairSlice<'a> {
    /// Refuses what is no slice of a chunk of this size (RPE-1, RPE-3).
    pub fn new(chunk_id: u16, slice_id: u16, size: ChunkSize, data: &'a [u8]) -> Result<RepairSlice<'a>, InvalidField> {
        if slice_id >= MAX_IDS {
            return Err(InvalidField("slice_id"));
        }
        if data.len() != repair_slice_bytes(size, slice_id) {
            return Err(InvalidField("data"));
        }
        Ok(RepairSlice { chunk_id, slice_id, size, data })
    }

    /// The id of its chunk.
    #[must_use]
    pub fn chunk_id(&self) -> u16 {
        self.chunk_id
    }

    /// Which slice it is, 0 to 8,191; a source slice is below the number of slices.
    #[must_use]
    pub fn slice_id(&self) -> u16 {
        self.slice_id
    }

    /// The size of the chunk.
    #[must_use]
    pub fn size(&self) -> ChunkSize {
        self.size
    }

    /// How many slices the chunk has.
    #[must_use]
    pub fn num_slices(&self) -> NumSlices {
        self.size.num_slices()
    }

    /// Whether it is a repair slice.
    #[must_use]
    pub fn is_repair(&self) -> bool {
        self.slice_id >= self.num_slices().get()
    }

    /// Its bytes.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.data
    }
}

/// How many independent slices have arrived, and up to which (4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepairAck {
    chunk_id: u16,
    num_slices: NumSlices,
    have: u16,
    top: u16,
}

impl RepairAck {
    /// Refuses more than the chunk has, and what is no id (RPE-4, RPE-5).
    pub fn new(chunk_id: u16, num_slices: NumSlices, have: u16, top: u16) -> Result<RepairAck, InvalidField> {
        if have > num_slices.get() {
            return Err(InvalidField("have"));
        }
        if top >= MAX_IDS {
            return Err(InvalidField("top"));
        }
        Ok(RepairAck { chunk_id, num_slices, have, top })
    }

    /// The id of the chunk.
    #[must_use]
    pub fn chunk_id(&self) -> u16 {
        self.chunk_id
    }

    /// How many slices the chunk has.
    #[must_use]
    pub fn num_slices(&self) -> NumSlices {
        self.num_slices
    }

    /// How many independent slices are there.
    #[must_use]
    pub fn have(&self) -> u16 {
        self.have
    }

    /// The field: an id.
    #[must_use]
    pub fn top(&self) -> u16 {
        self.top
    }
}

/// What a datagram holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairPacket<'a> {
    /// From the sender to the receiver.
    Slice(RepairSlice<'a>),
    /// From the receiver to the sender.
    Ack(RepairAck),
}

impl RepairPacket<'_> {
    /// Which of the two it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            RepairPacket::Slice(_) => Kind::Slice,
            RepairPacket::Ack(_) => Kind::Ack,
        }
    }
}

impl<'a> From<RepairSlice<'a>> for RepairPacket<'a> {
    fn from(slice: RepairSlice<'a>) -> Self {
        RepairPacket::Slice(slice)
    }
}

impl From<RepairAck> for RepairPacket<'_> {
    fn from(ack: RepairAck) -> Self {
        RepairPacket::Ack(ack)
    }
}

/// The protocol id of repair slices (RPI-1); a connection has one lane.
#[must_use]
pub fn repair_protocol_id(protocol_id: u32) -> u32 {
    protocol_id.wrapping_add(256)
}

/// Encodes a packet without a frame.
#[must_use]
pub fn encode_repair_body(packet: &RepairPacket<'_>) -> Encoded {
    encode(|w| put_body(w, packet))
}

/// Encodes a packet as a datagram (FRM-1).
#[must_use]
pub fn encode_repair_packet(protocol_id: u32, packet: &RepairPacket<'_>) -> Encoded {
    encode_frame(protocol_id, packet.kind(), |w| put_body(w, packet))
}

fn put_body(w: &mut Writer<'_>, packet: &RepairPacket<'_>) {
    match packet {
        RepairPacket::Slice(slice) => {
            let last = slice.num_slices().last();
            w.bits(slice.chunk_id.into(), 16); // RPS-1
            w.bits(slice.slice_id.into(), 13);
            w.bits(last.into(), 8);
            w.bits(slice.size.slice_bytes(last) as u32 - 1, 10);
            w.bytes(slice.data);
        }
        RepairPacket::Ack(ack) => {
            w.bits(ack.chunk_id.into(), 16); // RPA-1
            w.bits(ack.num_slices.last().into(), 8);
            w.bits(ack.have.into(), 9);
            w.bits(ack.top.into(), 13);
        }
    }
}

/// Decodes a packet without a frame (RPD-6).
pub fn decode_repair_body(kind: Kind, body: &[u8]) -> Result<RepairPacket<'_>, DecodeError> {
    decode(body, |r| get_body(r, kind))
}

/// Decodes a datagram (RPD-6); data stays where it is.
pub fn decode_repair_packet(protocol_id: u32, datagram: &[u8]) -> Result<RepairPacket<'_>, DecodeError> {
    decode_frame(protocol_id, datagram, get_body)
}

fn get_body<'a>(r: &mut Reader<'a>, kind: Kind) -> Result<RepairPacket<'a>, DecodeError> {
    match kind {
        Kind::Slice => get_slice(r).map(RepairPacket::Slice),
        Kind::Ack => get_ack(r).map(RepairPacket::Ack),
    }
}

fn get_slice<'a>(r: &mut Reader<'a>) -> Result<RepairSlice<'a>, DecodeError> {
    let chunk_id = get(r, 16, Check::Dec4)? as u16;
    let slice_id = get(r, 13, Check::Rpd1)? as u16;
    let num_slices = NumSlices::with_last(get(r, 8, Check::Dec6)? as u8);
    let size = ChunkSize::of_slices(num_slices, get(r, 10, Check::Rpd2)? as u16 + 1);
    get_align(r)?;
    let place = r.place();
    let truncated = DecodeError { check: Check::Dec11, place };
    let data = r.bytes(repair_slice_bytes(size, slice_id)).ok_or(truncated)?;
    RepairSlice::new(chunk_id, slice_id, size, data).map_err(|_| truncated)
}

fn get_ack(r: &mut Reader<'_>) -> Result<RepairAck, DecodeError> {
    let chunk_id = get(r, 16, Check::Dec4)? as u16;
    let num_slices = NumSlices::with_last(get(r, 8, Check::Dec6)? as u8);
    let place = r.place();
    let have = get(r, 9, Check::Rpd3)? as u16;
    if have > num_slices.get() {
        return Err(DecodeError { check: Check::Rpd4, place });
    }
    let top = get(r, 13, Check::Rpd5)? as u16;
    get_align(r)?;
    RepairAck::new(chunk_id, num_slices, have, top).map_err(|_| DecodeError { check: Check::Rpd4, place })
}

/// How many ids take turns once all are used up.
fn repeating(num_slices: NumSlices) -> u32 {
    u32::from(MAX_IDS.saturating_sub(num_slices.get())).max(1)
}

/// The id of a transmission (RPN-2).
pub(crate) fn id_of(num_slices: NumSlices, number: u32) -> u16 {
    let n = u32::from(num_slices.get());
    let id = if number < MAX_IDS.into() { number } else { n + (number - n) % repeating(num_slices) };
    id as u16
}

/// The number of an id that arrives at a receiver (RPN-3).
pub(crate) fn number_of_arrival(num_slices: NumSlices, top: u32, id: u16) -> u32 {
    let (n, ids) = (u32::from(num_slices.get()), repeating(num_slices));
    if u32::from(id) < n {
        return id.into();
    }
    let near = top.max(n);
    let ahead = (u32::from(id) + ids - u32::from(id_of(num_slices, near))) % ids;
    let number = near + ahead;
    if ahead < ids / 2 || number < n + ids {
        number
    } else {
        number - ids
    }
}

/// The number of an ack's field at a sender of `sent` slices, if there is one (RPN-5).
pub(crate) fn number_of_field(num_slices: NumSlices, sent: u32, field: u16) -> Option<u32> {
    let field = u32::from(field);
    if field > sent {
        return None;
    }
    if field < num_slices.get().into() {
        return Some(field);
    }
    Some(sent - (sent - field) % repeating(num_slices))
}

const _: () = assert!(SLICE_SIZE == 1024); // the 10 bits of last_bytes
