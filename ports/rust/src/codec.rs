//! Encoding and decoding (sections 4 to 6): each value has one encoding, and everything else is
//! refused (LAW-1, LAW-2).

use crate::bits::{Reader, Writer};
use crate::crc32::frame_crc;
use crate::limits::{NumSlices, MAX_DATAGRAM, SLICE_SIZE};
use crate::packet::{Ack, Kind, Packet, Slice};
use crate::set::SliceSet;
use core::{fmt, ops::Deref};

const END_CHECK: u32 = 0x9908_ACE2; // FRM-6

/// The bytes of a packet: a datagram or a bare body.
#[derive(Clone, Copy)]
pub struct Encoded {
    bytes: [u8; MAX_DATAGRAM],
    len: usize,
}

impl Deref for Encoded {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Encodes a packet without a frame, for transports that have one of their own (FRM-7).
#[must_use]
pub fn encode_body(packet: &Packet<'_>) -> Encoded {
    encode(|w| put_body(w, packet))
}

/// Encodes a packet as a datagram (FRM-1).
///
/// ```
/// use chunkwire::{decode_packet, encode_packet, NumSlices, Slice};
/// let slice = Slice::new(1, 2, NumSlices::new(3).unwrap(), &[1, 2, 3, 4, 5]).unwrap().into();
/// let datagram = encode_packet(0x1122_3344, &slice);
/// assert_eq!(datagram.len(), 19); // the example of section 6.4
/// assert_eq!(decode_packet(0x1122_3344, &datagram), Ok(slice));
/// ```
#[must_use]
pub fn encode_packet(protocol_id: u32, packet: &Packet<'_>) -> Encoded {
    encode_frame(protocol_id, packet.kind(), |w| put_body(w, packet))
}

/// A body in its frame (FRM-1).
pub(crate) fn encode_frame(protocol_id: u32, kind: Kind, put: impl FnOnce(&mut Writer<'_>)) -> Encoded {
    let mut datagram = encode(|w| {
        w.bits(0, 32);
        w.bool(kind == Kind::Ack); // FRM-3
        put(w);
        w.align();
        w.bits(END_CHECK, 32);
    });
    let crc = frame_crc(protocol_id, datagram.get(4..).unwrap_or(&[]));
    Writer::new(&mut datagram.bytes).bits(crc, 32);
    datagram
}

pub(crate) fn encode(write: impl FnOnce(&mut Writer<'_>)) -> Encoded {
    let mut encoded = Encoded { bytes: [0; MAX_DATAGRAM], len: 0 };
    let mut w = Writer::new(&mut encoded.bytes);
    write(&mut w);
    encoded.len = w.len();
    encoded
}

fn put_body(w: &mut Writer<'_>, packet: &Packet<'_>) {
    match packet {
        Packet::Slice(slice) => put_slice(w, slice),
        Packet::Ack(ack) => put_ack(w, ack),
    }
}

/// SLC-1.
fn put_slice(w: &mut Writer<'_>, slice: &Slice<'_>) {
    w.bits(slice.chunk_id().into(), 16);
    w.bits(slice.slice_id().into(), 8);
    w.bits(slice.num_slices().last().into(), 8);
    if slice.is_last() {
        w.bits(slice.data().len() as u32 - 1, 10);
    }
    w.bytes(slice.data());
}

/// ACK-1.
fn put_ack(w: &mut Writer<'_>, ack: &Ack) {
    w.bits(ack.chunk_id().into(), 16);
    w.bits(ack.num_slices().last().into(), 8);
    (0..=ack.num_slices().last()).for_each(|k| w.bool(ack.acked().contains(k)));
}

/// Decodes a packet without a frame, whose type the transport gives (DEC-17).
pub fn decode_body(kind: Kind, body: &[u8]) -> Result<Packet<'_>, DecodeError> {
    decode(body, |r| get_body(r, kind))
}

/// Decodes the whole of some bytes (DEC-14).
pub(crate) fn decode<'a, P>(
    bytes: &'a [u8],
    get: impl FnOnce(&mut Reader<'a>) -> Result<P, DecodeError>,
) -> Result<P, DecodeError> {
    let mut r = Reader::new(bytes);
    let packet = get(&mut r)?;
    get_end(&r)?;
    Ok(packet)
}

/// Decodes a datagram; data stays where it is. Whatever the bytes are, the answer is the one
/// packet that they encode, or the first check of section 6.3 that fails (DEC-15).
///
/// ```
/// use chunkwire::{decode_packet, Check, Code};
/// let error = decode_packet(7, &[1, 2, 3]).unwrap_err();
/// assert_eq!((error.check, error.place), (Check::Dec1, 0));
/// assert_eq!(error.code(), Code::Truncated);
/// assert_eq!(error.to_string(), "truncated at bit 0 (DEC-1)");
/// ```
pub fn decode_packet(protocol_id: u32, datagram: &[u8]) -> Result<Packet<'_>, DecodeError> {
    decode_frame(protocol_id, datagram, get_body)
}

/// Decodes the frame of a datagram around its body.
pub(crate) fn decode_frame<'a, P>(
    protocol_id: u32,
    datagram: &'a [u8],
    body: impl FnOnce(&mut Reader<'a>, Kind) -> Result<P, DecodeError>,
) -> Result<P, DecodeError> {
    decode(datagram, |r| {
        let crc = get(r, 32, Check::Dec1)?;
        if crc != frame_crc(protocol_id, datagram.get(4..).unwrap_or(&[])) {
            return Err(DecodeError { check: Check::Dec2, place: 0 });
        }
        let kind = if get(r, 1, Check::Dec3)? == 0 { Kind::Slice } else { Kind::Ack };
        let packet = body(r, kind)?;
        let place = r.place();
        if get(r, 32, Check::Dec12)? != END_CHECK {
            return Err(DecodeError { check: Check::Dec13, place });
        }
        Ok(packet)
    })
}

fn get_body<'a>(r: &mut Reader<'a>, kind: Kind) -> Result<Packet<'a>, DecodeError> {
    match kind {
        Kind::Slice => get_slice(r).map(Packet::Slice),
        Kind::Ack => get_ack(r).map(Packet::Ack),
    }
}

fn get_slice<'a>(r: &mut Reader<'a>) -> Result<Slice<'a>, DecodeError> {
    let chunk_id = get(r, 16, Check::Dec4)? as u16;
    let place = r.place();
    let slice_id = get(r, 8, Check::Dec5)? as u8;
    let num_slices = NumSlices::with_last(get(r, 8, Check::Dec6)? as u8);
    if slice_id > num_slices.last() {
        return Err(DecodeError { check: Check::Dec7, place });
    }
    let mut size = SLICE_SIZE;
    if slice_id == num_slices.last() {
        size = get(r, 10, Check::Dec8)? as usize + 1;
    }
    get_align(r)?;
    let place = r.place();
    let data = r.bytes(size).ok_or(DecodeError { check: Check::Dec11, place })?;
    Slice::new(chunk_id, slice_id, num_slices, data).map_err(|_| DecodeError { check: Check::Dec11, place })
}

fn get_ack(r: &mut Reader<'_>) -> Result<Ack, DecodeError> {
    let chunk_id = get(r, 16, Check::Dec4)? as u16;
    let num_slices = NumSlices::with_last(get(r, 8, Check::Dec6)? as u8);
    let place = r.place();
    let truncated = DecodeError { check: Check::Dec9, place };
    let mut acked = SliceSet::EMPTY;
    for k in 0..=num_slices.last() {
        if r.bits(1).ok_or(truncated)? == 1 {
            acked.insert(k);
        }
    }
    get_align(r)?;
    Ack::new(chunk_id, num_slices, acked).map_err(|_| truncated)
}

/// A field of `n` bits, which `check` demands.
pub(crate) fn get(r: &mut Reader<'_>, n: u32, check: Check) -> Result<u32, DecodeError> {
    r.bits(n).ok_or(DecodeError { check, place: r.place() })
}

pub(crate) fn get_align(r: &mut Reader<'_>) -> Result<(), DecodeError> {
    let place = r.place();
    if r.align() {
        Ok(())
    } else {
        Err(DecodeError { check: Check::Dec10, place })
    }
}

fn get_end(r: &Reader<'_>) -> Result<(), DecodeError> {
    if r.left() == 0 {
        Ok(())
    } else {
        Err(DecodeError { check: Check::Dec14, place: r.place() })
    }
}

/// Why bytes were refused, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// The check of section 6.3 that failed.
    pub check: Check,
    /// The offset in bits of the field that the check names.
    pub place: usize,
}

impl DecodeError {
    /// The code of the check.
    #[must_use]
    pub fn code(&self) -> Code {
        self.check.code()
    }

    /// The id of the sentence, such as "DEC-7".
    #[must_use]
    pub fn sentence(&self) -> &'static str {
        self.check.sentence()
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at bit {} ({})", self.code(), self.place, self.sentence())
    }
}

/// The codes of decoders (appendix E).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The datagram ends inside a field.
    Truncated,
    /// The crc does not match the bytes and the protocol id.
    CrcMismatch,
    /// `slice_id` is not below `num_slices`.
    SliceIdOutOfRange,
    /// `have` of an ack of repair slices is above `num_slices`.
    HaveOutOfRange,
    /// A padding bit is set.
    NonzeroPadding,
    /// The end check is another number.
    BadEndCheck,
    /// Bytes follow the packet.
    TrailingData,
}

impl Code {
    /// As the document writes it, such as "truncated".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Code::Truncated => "truncated",
            Code::CrcMismatch => "crc_mismatch",
            Code::SliceIdOutOfRange => "slice_id_out_of_range",
            Code::HaveOutOfRange => "have_out_of_range",
            Code::NonzeroPadding => "nonzero_padding",
            Code::BadEndCheck => "bad_end_check",
            Code::TrailingData => "trailing_data",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! checks {
    ($($check:ident $sentence:literal $code:ident: $text:literal,)*) => {
        /// The checks of a decoder, in the order in which they are made (section 6.3).
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Check {
            $(#[doc = concat!($sentence, ": ", $text, ".")] $check,)*
        }

        impl Check {
            /// The id of its sentence, such as "DEC-7".
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Check::$check => $sentence,)*
                }
            }

            /// The code if it fails.
            #[must_use]
            pub fn code(self) -> Code {
                match self {
                    $(Check::$check => Code::$code,)*
                }
            }
        }
    };
}

checks! {
    Dec1 "DEC-1" Truncated: "the datagram has 4 bytes for the crc",
    Dec2 "DEC-2" CrcMismatch: "the crc is right (FRM-2)",
    Dec3 "DEC-3" Truncated: "1 bit is left for the type",
    Dec4 "DEC-4" Truncated: "16 bits are left for `chunk_id`",
    Dec5 "DEC-5" Truncated: "slice: 8 bits are left for `slice_id`",
    Dec6 "DEC-6" Truncated: "8 bits are left for `num_slices`",
    Dec7 "DEC-7" SliceIdOutOfRange: "slice: `slice_id < num_slices`",
    Dec8 "DEC-8" Truncated: "last slice: 10 bits are left for `slice_bytes`",
    Dec9 "DEC-9" Truncated: "ack: `num_slices` bits are left for the bits",
    Dec10 "DEC-10" NonzeroPadding: "the padding bits are all zero",
    Dec11 "DEC-11" Truncated: "slice: the bytes of the data are left",
    Dec12 "DEC-12" Truncated: "datagram: 4 bytes are left for the end check",
    Dec13 "DEC-13" BadEndCheck: "datagram: the end check is right (FRM-6)",
    Rpd1 "RPD-1" Truncated: "slice of REPAIR.md: 13 bits are left for `slice_id`",
    Rpd2 "RPD-2" Truncated: "slice of REPAIR.md: 10 bits are left for `last_bytes`",
    Rpd3 "RPD-3" Truncated: "ack of REPAIR.md: 9 bits are left for `have`",
    Rpd4 "RPD-4" HaveOutOfRange: "ack of REPAIR.md: `have <= num_slices`",
    Rpd5 "RPD-5" Truncated: "ack of REPAIR.md: 13 bits are left for `top`",
    Dec14 "DEC-14" TrailingData: "nothing is left",
}
