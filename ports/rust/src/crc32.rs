//! The CRC-32 of IEEE 802.3 (FRM-2).

/// The crc of some bytes, as in zlib. Also what traces describe data with (TRC-1).
///
/// ```
/// assert_eq!(chunkwire::crc32(b"123456789"), 0xCBF4_3926);
/// ```
#[must_use]
pub fn crc32(b: &[u8]) -> u32 {
    !more(u32::MAX, b)
}

/// The crc over what a frame protects: the protocol id, four zero bytes, and what stands behind
/// the crc (FRM-2).
pub(crate) fn frame_crc(protocol_id: u32, rest: &[u8]) -> u32 {
    !more(more(more(u32::MAX, &protocol_id.to_le_bytes()), &[0; 4]), rest)
}

fn more(crc: u32, b: &[u8]) -> u32 {
    b.iter().fold(crc, |crc, &byte| crc >> 8 ^ TABLE[(crc as u8 ^ byte) as usize])
}

static TABLE: Table = Table(table());

/// 256 entries, one for each byte.
struct Table([u32; 256]);

// A byte is a place in an array of 256.
#[allow(clippy::indexing_slicing)]
impl core::ops::Index<usize> for Table {
    type Output = u32;
    fn index(&self, byte: usize) -> &u32 {
        &self.0[byte & 0xff]
    }
}

/// Computed by the compiler; an index outside the table would not compile.
#[allow(clippy::indexing_slicing)]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}
