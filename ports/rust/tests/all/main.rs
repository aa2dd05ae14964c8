//! Tests, as conversations: send, lose, let time pass, expect.

mod adaptive;
mod base;
mod codec;
mod receiver;
mod repair;
mod sender;
mod transfer;

use chunkwire::{Ack, NumSlices, Slice, SliceSet};

const MS: i64 = 1000;
const SECOND: i64 = 1_000_000;

fn num(n: usize) -> NumSlices {
    NumSlices::new(n).unwrap()
}

/// `n` bytes that differ from slice to slice.
fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i + 31 * (i / 1024)) as u8).collect()
}

/// Slice k of a chunk of n full slices.
fn slice(chunk_id: u16, k: u8, n: usize) -> Slice<'static> {
    const DATA: [u8; 1024] = [7; 1024];
    Slice::new(chunk_id, k, num(n), &DATA).unwrap()
}

/// An ack from a character for each slice.
fn ack(chunk_id: u16, bits: &str) -> Ack {
    let acked: SliceSet = (0..=255).zip(bits.chars()).filter(|&(_, bit)| bit == '1').map(|(k, _)| k).collect();
    Ack::new(chunk_id, num(bits.len()), acked).unwrap()
}

/// The same random numbers each time (ACC-1).
struct Random(u32);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }
}
