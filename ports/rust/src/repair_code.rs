//! The code of repair slices (REPAIR.md, section 3). Ids such as RPC-2 are sentences of that document.

use crate::limits::{start_of, ChunkSize, NumSlices, SLICE_SIZE};
use crate::set::{PerSlice, SliceSet};

/// Ids of slices (RPN-6).
pub const MAX_IDS: u16 = 8192;

const CODE_SEED: u32 = 6535;
const SUMS: u8 = 16;
const POLYNOMIAL: u8 = 0x1d; // and x^8

/// The data of a slice, filled up with zeros.
pub(crate) type Block = [u8; SLICE_SIZE];

/// RPC-1.
fn mix(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// The exponent of source slice `i` in repair slice `j` (RPC-2).
#[must_use]
pub fn exponent(j: u16, i: u8) -> u8 {
    let word = mix(u32::from(j) * 32 + u32::from(i / 8) + CODE_SEED);
    (word >> (4 * (i % 8)) & 15) as u8
}

/// Times x (RPC-3).
fn double(v: u8) -> u8 {
    v << 1 ^ if v < 128 { 0 } else { POLYNOMIAL }
}

fn power(exponent: u8) -> u8 {
    (0..exponent).fold(1, |v, _| double(v))
}

fn times(a: u8, b: u8) -> u8 {
    (0..8).rev().fold(0, |sum, bit| double(sum) ^ if b >> bit & 1 == 1 { a } else { 0 })
}

/// The inverse of a value other than 0: its power of 254.
fn inverse(a: u8) -> u8 {
    let v = (0..6).fold(a, |v, _| times(times(v, v), a));
    times(v, v)
}

/// What each byte is times a factor.
fn products(factor: u8) -> PerSlice<u8> {
    let mut table = PerSlice::new(0);
    let mut part = factor;
    for bit in 0..8 {
        for below in 0..1_u8 << bit {
            table[1 << bit | below] = table[below] ^ part;
        }
        part = double(part);
    }
    table
}

/// Bytes of slice `id` of a chunk of this size (RPS-2).
#[must_use]
pub fn repair_slice_bytes(size: ChunkSize, id: u16) -> usize {
    let last = size.num_slices().last();
    if last == 0 || id == u16::from(last) {
        size.slice_bytes(last)
    } else {
        SLICE_SIZE
    }
}

fn add(sum: &mut [u8], data: &[u8]) {
    sum.iter_mut().zip(data).for_each(|(to, from)| *to ^= from);
}

/// Repair slice `j`: the sum of x^a(j, i) times slice i (RPC-4).
pub(crate) fn repair_sum<'a>(num_slices: NumSlices, j: u16, slice: impl Fn(u8) -> &'a [u8]) -> Block {
    let mut exponents = PerSlice::new(0);
    (0..=num_slices.last()).for_each(|i| exponents[i] = exponent(j, i));
    let mut sum = [0; SLICE_SIZE];
    for e in (0..SUMS).rev() {
        sum.iter_mut().for_each(|v| *v = double(*v));
        (0..=num_slices.last()).filter(|&i| exponents[i] == e).for_each(|i| add(&mut sum, slice(i)));
    }
    sum
}

/// An equation: the coefficients of the columns that are missing, and what their sum is.
#[derive(Clone, Copy)]
struct Line {
    row: PerSlice<u8>,
    data: Block,
}

impl Line {
    /// Minus `factor` times another one.
    fn subtract(&mut self, factor: u8, num_slices: NumSlices, other: &Line) {
        let table = products(factor);
        (0..=num_slices.last()).for_each(|c| self.row[c] ^= table[other.row[c]]);
        self.data.iter_mut().zip(&other.data).for_each(|(to, from)| *to ^= table[*from]);
    }

    fn scale(&mut self, factor: u8, num_slices: NumSlices) {
        let table = products(factor);
        (0..=num_slices.last()).for_each(|c| self.row[c] = table[self.row[c]]);
        self.data.iter_mut().for_each(|v| *v = table[*v]);
    }
}

/// The bytes that a receiver of repair slices needs for chunks of up to so many slices.
#[must_use]
pub fn repair_memory(num_slices: NumSlices) -> usize {
    let n = usize::from(num_slices.get());
    n * SLICE_SIZE + n * n
}

/// Rebuilds a chunk from slices whose rows are independent (RPC-5, RPC-6). The caller's memory has
/// the data of each column, and then the row of each: of a source slice that is here its data; of
/// the equation of which a column is the pivot what is left of it. A pivot is 1 in its own equation
/// and 0 in all others, so that when no column is missing the data are the chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder {
    size: ChunkSize,
    sources: SliceSet,
    pivots: SliceSet,
    ids: PerSlice<u16>, // of the equations, by their pivots
}

impl Decoder {
    pub(crate) fn new(size: ChunkSize) -> Decoder {
        Decoder { size, sources: SliceSet::EMPTY, pivots: SliceSet::EMPTY, ids: PerSlice::new(0) }
    }

    pub(crate) fn size(&self) -> ChunkSize {
        self.size
    }

    fn num_slices(&self) -> NumSlices {
        self.size.num_slices()
    }

    /// How many slices are held; all of them are independent.
    pub(crate) fn rank(&self) -> u16 {
        self.sources.len() + self.pivots.len()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.rank() == self.num_slices().get()
    }

    /// Whether a slice is held.
    pub(crate) fn has(&self, id: u16) -> bool {
        match u8::try_from(id) {
            Ok(k) if k <= self.num_slices().last() => self.sources.contains(k),
            _ => self.pivots.iter().any(|p| self.ids[p] == id),
        }
    }

    /// Takes a slice; false if it is here or follows from those that are.
    pub(crate) fn add(&mut self, memory: &mut [u8], id: u16, data: &[u8]) -> bool {
        if self.is_complete() || self.has(id) {
            return false;
        }
        let mut line = Line { row: PerSlice::new(0), data: [0; SLICE_SIZE] };
        add(&mut line.data, data);
        match u8::try_from(id) {
            Ok(i) if i <= self.num_slices().last() => self.add_source(memory, i, &mut line),
            _ => self.add_repair(memory, id, &mut line),
        }
    }

    /// A source slice makes its column known. If that was a pivot its equation needs another one, or was the slice's own.
    fn add_source(&mut self, memory: &mut [u8], i: u8, line: &mut Line) -> bool {
        let own = self.pivots.contains(i).then(|| self.load(memory, i));
        let column = own.and_then(|own| self.missing().iter().find(|&c| c != i && own.row[c] != 0));
        if own.is_some() && column.is_none() {
            return false;
        }
        line.row[i] = 1;
        for p in self.pivots.iter() {
            self.eliminate(memory, p, i, line);
        }
        let own = own.map(|_| self.load(memory, i));
        self.pivots.remove(i);
        self.sources.insert(i);
        self.store(memory, i, line);
        if let (Some(mut own), Some(column)) = (own, column) {
            self.pivot_on(memory, self.ids[i], column, &mut own);
        }
        true
    }

    fn add_repair(&mut self, memory: &mut [u8], id: u16, line: &mut Line) -> bool {
        let j = id.wrapping_sub(self.num_slices().get());
        (0..=self.num_slices().last()).for_each(|i| line.row[i] = power(exponent(j, i)));
        for c in (self.sources | self.pivots).iter() {
            if line.row[c] != 0 {
                let known = self.load(memory, c);
                line.subtract(line.row[c], self.num_slices(), &known);
            }
        }
        match self.missing().iter().find(|&c| line.row[c] != 0) {
            Some(column) => self.pivot_on(memory, id, column, line),
            None => return false,
        }
        true
    }

    /// The columns whose source slice is not here.
    fn missing(&self) -> SliceSet {
        SliceSet::all(self.num_slices()) & !self.sources
    }

    /// Makes a column the pivot of an equation, and 0 in all others.
    fn pivot_on(&mut self, memory: &mut [u8], id: u16, column: u8, line: &mut Line) {
        line.scale(inverse(line.row[column]), self.num_slices());
        for p in self.pivots.iter() {
            self.eliminate(memory, p, column, line);
        }
        self.pivots.insert(column);
        self.ids[column] = id;
        self.store(memory, column, line);
    }

    /// Makes the column of an equation 0 with a line in which it is 1.
    fn eliminate(&self, memory: &mut [u8], p: u8, column: u8, line: &Line) {
        let mut other = self.load(memory, p);
        let factor = other.row[column];
        if factor != 0 {
            other.subtract(factor, self.num_slices(), line);
            self.store(memory, p, &other);
        }
    }

    /// Where the row of a column lies.
    fn row_at(&self, column: u8) -> usize {
        let n = usize::from(self.num_slices().get());
        n * (SLICE_SIZE + usize::from(column))
    }

    fn load(&self, memory: &[u8], column: u8) -> Line {
        let mut line = Line { row: PerSlice::new(0), data: [0; SLICE_SIZE] };
        add(&mut line.data, memory.get(start_of(column)..).unwrap_or(&[]));
        let row = memory.get(self.row_at(column)..).unwrap_or(&[]);
        (0..=self.num_slices().last()).zip(row).for_each(|(c, v)| line.row[c] = *v);
        line
    }

    fn store(&self, memory: &mut [u8], column: u8, line: &Line) {
        if let Some(to) = memory.get_mut(start_of(column)..) {
            to.iter_mut().zip(&line.data).for_each(|(to, from)| *to = *from);
        }
        if let Some(to) = memory.get_mut(self.row_at(column)..) {
            to.iter_mut().zip(0..=self.num_slices().last()).for_each(|(to, c)| *to = line.row[c]);
        }
    }

    /// Of a complete chunk: whether what its last slice was filled up with came out as zeros.
    pub(crate) fn is_consistent(&self, memory: &[u8]) -> bool {
        let last = start_of(self.num_slices().last());
        let tail = memory.get(self.size.bytes()..last + SLICE_SIZE).unwrap_or(&[]);
        tail.iter().all(|&v| v == 0)
    }

    /// Fills the last slice up with zeros.
    pub(crate) fn clear_tail(&self, memory: &mut [u8]) {
        let last = start_of(self.num_slices().last());
        if let Some(tail) = memory.get_mut(self.size.bytes()..last + SLICE_SIZE) {
            tail.iter_mut().for_each(|v| *v = 0);
        }
    }

    /// Whether these are the data of a repair slice of the complete chunk.
    pub(crate) fn matches(&self, memory: &[u8], id: u16, data: &[u8]) -> bool {
        let slice = |i| memory.get(start_of(i)..start_of(i) + SLICE_SIZE).unwrap_or(&[]);
        let sum = repair_sum(self.num_slices(), id.wrapping_sub(self.num_slices().get()), slice);
        data.iter().zip(&sum).all(|(a, b)| a == b)
    }
}
