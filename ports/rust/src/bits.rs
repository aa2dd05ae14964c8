//! Bit packing (section 3).

/// Writes a stream of bits into bytes that are zero at first (BIT-7).
pub(crate) struct Writer<'a> {
    out: &'a mut [u8],
    bit: usize,
}

impl<'a> Writer<'a> {
    /// What is written must fit into `out`.
    pub(crate) fn new(out: &'a mut [u8]) -> Writer<'a> {
        Writer { out, bit: 0 }
    }

    /// The low `n` bits of `v`, 1 to 32 (BIT-2).
    pub(crate) fn bits(&mut self, v: u32, n: u32) {
        (0..n).for_each(|i| self.bool(v >> i & 1 == 1));
    }

    /// BIT-1, BIT-4.
    pub(crate) fn bool(&mut self, v: bool) {
        if let Some(byte) = self.out.get_mut(self.bit / 8) {
            *byte |= u8::from(v) << (self.bit % 8);
        }
        self.bit += 1;
    }

    /// BIT-5.
    pub(crate) fn align(&mut self) {
        self.bit = 8 * self.len();
    }

    /// BIT-6.
    pub(crate) fn bytes(&mut self, b: &[u8]) {
        self.align();
        let place = self.len()..self.len() + b.len();
        if let Some(to) = self.out.get_mut(place) {
            to.iter_mut().zip(b).for_each(|(to, from)| *to = *from);
        }
        self.bit += 8 * b.len();
    }

    /// The bytes that the bits so far take.
    pub(crate) fn len(&self) -> usize {
        (self.bit + 7) / 8
    }
}

/// Reads a stream of bits, never beyond its end (LAW-3). A read that fails moves nothing.
pub(crate) struct Reader<'a> {
    data: &'a [u8],
    bit: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Reader<'a> {
        Reader { data, bit: 0 }
    }

    /// How many bits were read.
    pub(crate) fn place(&self) -> usize {
        self.bit
    }

    /// How many bits are left.
    pub(crate) fn left(&self) -> usize {
        8 * self.data.len() - self.bit
    }

    /// `n` bits, 1 to 32, or `None` if fewer are left (BIT-2).
    pub(crate) fn bits(&mut self, n: u32) -> Option<u32> {
        let mut v = 0;
        for i in 0..n {
            let at = self.bit + i as usize;
            v |= u32::from(self.data.get(at / 8)? >> (at % 8) & 1) << i;
        }
        self.bit += n as usize;
        Some(v)
    }

    /// Skips the padding (BIT-5), or is false if one of its bits is set.
    pub(crate) fn align(&mut self) -> bool {
        let n = self.left() as u32 % 8;
        n == 0 || self.bits(n) == Some(0) || {
            self.bit -= n as usize;
            false
        }
    }

    /// `n` bytes, from a whole byte on (BIT-6).
    pub(crate) fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let start = self.bit / 8;
        let b = self.data.get(start..start.checked_add(n)?)?;
        self.bit += 8 * n;
        Some(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_section_3() {
        let mut out = [0; 3];
        let mut w = Writer::new(&mut out);
        w.bits(5, 3);
        w.bits(1, 16);
        w.align();
        assert_eq!(w.len(), 3);
        assert_eq!(out, [0x0d, 0, 0]);
    }

    #[test]
    fn what_was_written_is_read() {
        for n in 1..=32 {
            let mut out = [0; 12];
            let mut w = Writer::new(&mut out);
            w.bool(true);
            w.bits(u32::MAX >> (32 - n), n);
            w.bits(0x8000_0001, 32);
            let mut r = Reader::new(&out);
            assert_eq!(r.bits(1), Some(1));
            assert_eq!(r.bits(n), Some(u32::MAX >> (32 - n)));
            assert_eq!(r.bits(32), Some(0x8000_0001));
        }
    }

    #[test]
    fn a_read_that_fails_moves_nothing() {
        let mut r = Reader::new(&[0xff, 0x80]);
        assert_eq!(r.bits(17), None);
        assert_eq!(r.bits(3), Some(7));
        assert!(!r.align(), "bits 3 to 7 are set");
        assert_eq!((r.place(), r.left()), (3, 13));
        assert_eq!(r.bits(5), Some(31));
        assert!(r.align(), "there is no padding at a whole byte");
        assert_eq!(r.bytes(2), None);
        assert_eq!(r.bytes(1), Some(&[0x80][..]));
        assert_eq!((r.bytes(0), r.left()), (Some(&[][..]), 0));
    }
}
