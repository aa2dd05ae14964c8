//! Packets (section 4). A value of these types is valid (section 6.2): what cannot be encoded
//! cannot be made.

use crate::limits::{ChunkSize, NumSlices, SLICE_SIZE};
use crate::set::SliceSet;
use core::fmt;

/// A slice of a chunk (4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice<'a> {
    chunk_id: u16,
    slice_id: u8,
    num_slices: NumSlices,
    data: &'a [u8],
}

impl<'a> Slice<'a> {
    /// Refuses what is no slice of a chunk (ENC-3, ENC-4).
    pub fn new(chunk_id: u16, slice_id: u8, num_slices: NumSlices, data: &'a [u8]) -> Result<Slice<'a>, InvalidField> {
        if slice_id > num_slices.last() {
            return Err(InvalidField("slice_id"));
        }
        let valid = if slice_id == num_slices.last() { 1..=SLICE_SIZE } else { SLICE_SIZE..=SLICE_SIZE };
        if !valid.contains(&data.len()) {
            return Err(InvalidField("data"));
        }
        Ok(Slice { chunk_id, slice_id, num_slices, data })
    }

    /// Slice `slice_id` of a chunk of this size, which has it.
    pub(crate) fn of_chunk(chunk_id: u16, slice_id: u8, size: ChunkSize, data: &'a [u8]) -> Slice<'a> {
        Slice { chunk_id, slice_id, num_slices: size.num_slices(), data }
    }

    /// The id of its chunk.
    #[must_use]
    pub fn chunk_id(&self) -> u16 {
        self.chunk_id
    }

    /// Which of the chunk's slices it is.
    #[must_use]
    pub fn slice_id(&self) -> u8 {
        self.slice_id
    }

    /// How many slices the chunk has.
    #[must_use]
    pub fn num_slices(&self) -> NumSlices {
        self.num_slices
    }

    /// Its bytes. Of a slice that was decoded they lie in the datagram.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Whether it is the last one, which has the chunk's size.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.slice_id == self.num_slices.last()
    }
}

/// Which slices of a chunk have arrived (4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ack {
    chunk_id: u16,
    num_slices: NumSlices,
    acked: SliceSet,
}

impl Ack {
    /// Refuses a bit for a slice that the chunk does not have (ENC-5).
    pub fn new(chunk_id: u16, num_slices: NumSlices, acked: SliceSet) -> Result<Ack, InvalidField> {
        if (acked & !SliceSet::all(num_slices)).is_empty() {
            Ok(Ack { chunk_id, num_slices, acked })
        } else {
            Err(InvalidField("acked"))
        }
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

    /// The slices that have arrived.
    #[must_use]
    pub fn acked(&self) -> SliceSet {
        self.acked
    }

    /// Whether it says that the receiver is there, and nothing else.
    #[must_use]
    pub fn is_hold(&self) -> bool {
        self.acked.is_empty()
    }
}

/// What a datagram holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet<'a> {
    /// From the sender to the receiver.
    Slice(Slice<'a>),
    /// From the receiver to the sender.
    Ack(Ack),
}

impl Packet<'_> {
    /// Which of the two it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Packet::Slice(_) => Kind::Slice,
            Packet::Ack(_) => Kind::Ack,
        }
    }
}

impl<'a> From<Slice<'a>> for Packet<'a> {
    fn from(slice: Slice<'a>) -> Self {
        Packet::Slice(slice)
    }
}

impl From<Ack> for Packet<'_> {
    fn from(ack: Ack) -> Self {
        Packet::Ack(ack)
    }
}

/// The type of a packet, as a frame has it (FRM-3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// 0.
    Slice,
    /// 1.
    Ack,
}

/// A packet cannot be represented (ENC-7); names the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidField(
    /// The field's name.
    pub &'static str,
);

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid_field: {}", self.0)
    }
}
