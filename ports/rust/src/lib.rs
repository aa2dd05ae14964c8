//! The chunk protocol: blocks of 1 to 262,144 bytes that reach a peer whole, over UDP.
//!
//! Written from `spec/PROTOCOL.md` alone; ids such as RCV-13 are its sentences.
//! [`Sender`] and [`Receiver`] are machines without sockets and clocks: a driver gives them what
//! arrives and the time, polls them, and sends what they return. `src/bin/chunkwire-live.rs` is a whole driver.
//!
//! The crate needs neither `std` nor `alloc`, allocates nothing, and depends on nothing.
//! No input makes it panic.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[cfg(feature = "std")]
extern crate std;

mod ack_timer;
mod adaptive;
mod base;
mod bits;
mod codec;
mod control;
mod crc32;
mod limits;
mod packet;
mod rateless;
mod receiver;
mod repair_code;
mod repair_packet;
mod repair_receiver;
mod repair_sender;
mod round_trip;
mod sender;
mod set;
mod time;

pub use adaptive::{Adaptive, Recovery};
pub use base::{Base, Profile};
pub use codec::{decode_body, decode_packet, encode_body, encode_packet, Check, Code, DecodeError, Encoded};
pub use crc32::crc32;
pub use limits::{ChunkSize, NumSlices, OutOfRange, HEADER, MAX_ACK, MAX_CHUNK, MAX_DATAGRAM, MAX_SLICES, SLICE_SIZE};
pub use packet::{Ack, InvalidField, Kind, Packet, Slice};
pub use rateless::Rateless;
pub use receiver::{NothingToRead, Receiver, ReceiverRow, ReceiverState};
pub use repair_code::{exponent, repair_memory, repair_slice_bytes, MAX_IDS};
pub use repair_packet::{
    decode_repair_body, decode_repair_packet, encode_repair_body, encode_repair_packet, repair_protocol_id, RepairAck,
    RepairPacket, RepairSlice,
};
pub use repair_receiver::{NoChunk, RepairReceiver, RepairReceiverRow};
pub use repair_sender::{repair_slice_of, RepairScheduler, RepairSender, RepairSenderRow, RepairSubmitError};
pub use sender::{Scheduler, Sender, SenderRow, SenderState, SubmitError};
pub use set::SliceSet;
pub use time::{Config, Micros, Polled, DEFAULT_GIVE_UP, MAX_GIVE_UP};

#[cfg(feature = "std")]
mod errors {
    impl std::error::Error for crate::DecodeError {}
    impl std::error::Error for crate::InvalidField {}
    impl std::error::Error for crate::NothingToRead {}
    impl std::error::Error for crate::NoChunk {}
    impl std::error::Error for crate::OutOfRange {}
    impl<C: core::fmt::Debug> std::error::Error for crate::RepairSubmitError<C> {}
    impl<C: core::fmt::Debug> std::error::Error for crate::SubmitError<C> {}
}
