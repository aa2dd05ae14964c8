//! Constants of the protocol (section 2.3), and the sizes that follow from them.

/// Bytes in every slice but the last (LIM-3).
pub const SLICE_SIZE: usize = 1024;
/// The most slices of a chunk.
pub const MAX_SLICES: usize = 256;
/// The most bytes of a chunk (LIM-1).
pub const MAX_CHUNK: usize = 262_144;
/// The most bytes of a datagram (LIM-4).
pub const MAX_DATAGRAM: usize = 1038;
/// The most bytes of a datagram that holds an ack.
pub const MAX_ACK: usize = 44;
/// Bytes that IPv4 and UDP add to a datagram (BUD-2).
pub const HEADER: usize = 28;

/// How many slices a chunk has: 1 to [`MAX_SLICES`] (ENC-2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumSlices(u8); // less 1, as on the wire

impl NumSlices {
    /// `None` if there are none or more than 256.
    #[must_use]
    pub fn new(n: usize) -> Option<NumSlices> {
        u8::try_from(n.checked_sub(1)?).ok().map(NumSlices)
    }

    /// The number of slices of a chunk whose last slice has this id.
    #[must_use]
    pub fn with_last(last: u8) -> NumSlices {
        NumSlices(last)
    }

    /// 1 to 256.
    #[must_use]
    pub fn get(self) -> u16 {
        u16::from(self.0) + 1
    }

    /// The id of the last slice.
    #[must_use]
    pub fn last(self) -> u8 {
        self.0
    }
}

/// The size of a chunk: 1 to [`MAX_CHUNK`] bytes (LIM-1), and how it is cut (LIM-2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChunkSize {
    num_slices: NumSlices,
    last_bytes: u16,
}

impl ChunkSize {
    /// `None` if the size is not valid.
    ///
    /// ```
    /// use chunkwire::ChunkSize;
    /// let size = ChunkSize::new(1025).unwrap();
    /// assert_eq!((size.num_slices().get(), size.slice_bytes(0), size.slice_bytes(1)), (2, 1024, 1));
    /// assert_eq!(ChunkSize::new(0), None);
    /// assert_eq!(ChunkSize::new(262_145), None);
    /// ```
    #[must_use]
    pub fn new(bytes: usize) -> Option<ChunkSize> {
        let before = bytes.checked_sub(1)?;
        let num_slices = NumSlices::new(before / SLICE_SIZE + 1)?;
        Some(ChunkSize { num_slices, last_bytes: (before % SLICE_SIZE + 1) as u16 })
    }

    /// The size of a chunk of so many slices, whose last one has 1 to 1,024 bytes.
    pub(crate) fn of_slices(num_slices: NumSlices, last_bytes: u16) -> ChunkSize {
        ChunkSize { num_slices, last_bytes }
    }

    /// In bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        start_of(self.num_slices.last()) + usize::from(self.last_bytes)
    }

    /// Into how many slices it is cut (LIM-2).
    #[must_use]
    pub fn num_slices(self) -> NumSlices {
        self.num_slices
    }

    /// The bytes of one slice (LIM-3); 0 if the chunk does not have it.
    #[must_use]
    pub fn slice_bytes(self, slice_id: u8) -> usize {
        let last = self.num_slices.last();
        match slice_id {
            k if k < last => SLICE_SIZE,
            k if k == last => usize::from(self.last_bytes),
            _ => 0,
        }
    }
}

/// The place of a slice's first byte in its chunk (LIM-2).
pub(crate) fn start_of(slice_id: u8) -> usize {
    SLICE_SIZE * usize::from(slice_id)
}

/// A figure of a configuration is outside its limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfRange(
    /// The figure's name.
    pub &'static str,
);

impl core::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} is outside its limits", self.0)
    }
}
