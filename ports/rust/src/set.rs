//! Sets of slice ids, and tables with a place for each slice.

use crate::limits::NumSlices;
use core::ops::{BitAnd, BitOr, Not};

/// A set of slice ids, 0 to 255.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SliceSet([u64; 4]);

impl SliceSet {
    /// The empty set.
    pub const EMPTY: SliceSet = SliceSet([0; 4]);

    /// All slices of a chunk.
    #[must_use]
    pub fn all(num_slices: NumSlices) -> SliceSet {
        (0..=num_slices.last()).collect()
    }

    /// Whether slice `k` is in the set.
    #[must_use]
    pub fn contains(&self, k: u8) -> bool {
        self.word(k) >> (k % 64) & 1 == 1
    }

    /// Adds slice `k`.
    pub fn insert(&mut self, k: u8) {
        if let Some(word) = self.0.get_mut(usize::from(k / 64)) {
            *word |= 1 << (k % 64);
        }
    }

    /// Removes slice `k`.
    pub fn remove(&mut self, k: u8) {
        if let Some(word) = self.0.get_mut(usize::from(k / 64)) {
            *word &= !(1 << (k % 64));
        }
    }

    /// How many slices are in the set.
    #[must_use]
    pub fn len(&self) -> u16 {
        self.0.iter().map(|word| word.count_ones() as u16).sum()
    }

    /// Whether no slice is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == SliceSet::EMPTY
    }

    /// The slices in ascending order; from the end in descending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u8> {
        let set = *self;
        (0..=u8::MAX).filter(move |&k| set.contains(k))
    }

    /// The smallest slice from `from` on, which is 0 to 256.
    pub(crate) fn first_from(&self, from: u16) -> Option<u8> {
        self.iter().find(|&k| u16::from(k) >= from)
    }

    /// The largest slice below `below`, which is 0 to 256.
    pub(crate) fn last_below(&self, below: u16) -> Option<u8> {
        self.iter().rev().find(|&k| u16::from(k) < below)
    }

    fn word(&self, k: u8) -> u64 {
        self.0.get(usize::from(k / 64)).copied().unwrap_or(0)
    }

    fn zip(self, other: SliceSet, f: fn(u64, u64) -> u64) -> SliceSet {
        let (SliceSet([a, b, c, d]), SliceSet([e, g, h, i])) = (self, other);
        SliceSet([f(a, e), f(b, g), f(c, h), f(d, i)])
    }
}

impl FromIterator<u8> for SliceSet {
    fn from_iter<I: IntoIterator<Item = u8>>(ids: I) -> SliceSet {
        let mut set = SliceSet::EMPTY;
        ids.into_iter().for_each(|k| set.insert(k));
        set
    }
}

impl BitAnd for SliceSet {
    type Output = SliceSet;
    fn bitand(self, other: SliceSet) -> SliceSet {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for SliceSet {
    type Output = SliceSet;
    fn bitor(self, other: SliceSet) -> SliceSet {
        self.zip(other, |a, b| a | b)
    }
}

impl Not for SliceSet {
    type Output = SliceSet;
    fn not(self) -> SliceSet {
        self.zip(SliceSet::EMPTY, |a, _| !a)
    }
}

/// A table with an entry for each of the 256 slice ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerSlice<T>([T; 256]);

impl<T: Copy> PerSlice<T> {
    pub(crate) fn new(entry: T) -> PerSlice<T> {
        PerSlice([entry; 256])
    }
}

// A u8 is a place in each array of 256.
#[allow(clippy::indexing_slicing)]
impl<T> core::ops::Index<u8> for PerSlice<T> {
    type Output = T;
    fn index(&self, k: u8) -> &T {
        &self.0[usize::from(k)]
    }
}

#[allow(clippy::indexing_slicing)]
impl<T> core::ops::IndexMut<u8> for PerSlice<T> {
    fn index_mut(&mut self, k: u8) -> &mut T {
        &mut self.0[usize::from(k)]
    }
}
