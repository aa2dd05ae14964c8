//! The sender of repair slices (REPAIR.md, section 5), and the interface of its scheduler.

use crate::limits::{start_of, ChunkSize, NumSlices, SLICE_SIZE};
use crate::repair_code::{repair_slice_bytes, repair_sum, Block, MAX_IDS};
use crate::repair_packet::{id_of, number_of_field, RepairAck, RepairSlice};
use crate::sender::SenderState;
use crate::time::{earlier, Clock, Config, Micros, Polled};
use core::fmt;

use RepairSenderRow::*;

/// Decides when the next slice goes out (section 5.4). The times that it is given never go back.
pub trait RepairScheduler {
    /// A chunk begins.
    fn start(&mut self, now: Micros, num_slices: NumSlices);

    /// What has arrived, as numbers; one of them has grown.
    fn news(&mut self, now: Micros, have: u16, top: u32);

    /// The peer is there and cannot take the chunk yet (T8).
    fn hold(&mut self, now: Micros);

    /// Whether the next slice goes out now; then it counts as sent.
    fn next(&mut self, now: Micros) -> bool;

    /// When to ask again if no ack arrives before; `None` is NEVER (RPX-10).
    fn deadline(&self) -> Option<Micros>;
}

/// The rows of section 5.2.
#[allow(missing_docs)]
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairSenderRow {
    T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16,
}

/// Why a chunk was refused, which is given back (SND-1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairSubmitError<C> {
    /// It has no bytes, or too many (T2).
    ChunkSize(C),
    /// Another chunk is in flight (T3).
    Busy(C),
    /// The sender gave up (T4).
    GaveUp(C),
}

impl<C> RepairSubmitError<C> {
    /// The row that refused it.
    pub fn row(&self) -> RepairSenderRow {
        match self {
            RepairSubmitError::ChunkSize(_) => T2,
            RepairSubmitError::Busy(_) => T3,
            RepairSubmitError::GaveUp(_) => T4,
        }
    }

    /// The code of PROTOCOL.md.
    pub fn code(&self) -> &'static str {
        match self {
            RepairSubmitError::ChunkSize(_) => "chunk_size",
            RepairSubmitError::Busy(_) => "busy",
            RepairSubmitError::GaveUp(_) => "gave_up",
        }
    }
}

impl<C> fmt::Display for RepairSubmitError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Sends chunks, one after the other: first their slices, then as many repair slices as it takes.
#[derive(Clone, Debug)]
pub struct RepairSender<C, S> {
    scheduler: S,
    give_up: Micros,
    clock: Clock,
    chunk_id: u16,
    phase: Phase<C>,
    repair: Block, // the repair slice that was sent last
}

/// A state, with what is there in that state alone.
#[derive(Clone, Debug)]
enum Phase<C> {
    Idle,
    Sending(InFlight<C>),
    Failed,
}

#[derive(Clone, Debug)]
struct InFlight<C> {
    chunk: C,
    size: ChunkSize,
    sent: u32,
    have: u16,
    top: u32,
    heard_at: Micros,
}

/// Writes the data of slice `id` of a chunk, source or repair, and returns how many bytes they are;
/// `None` if there is no such chunk or slice.
pub fn repair_slice_of(chunk: &[u8], id: u16, data: &mut [u8; SLICE_SIZE]) -> Option<usize> {
    let size = ChunkSize::new(chunk.len()).filter(|_| id < MAX_IDS)?;
    let flight = InFlight { chunk, size, sent: 0, have: 0, top: 0, heard_at: 0 };
    let mut block = [0; SLICE_SIZE];
    let made = flight.data(id, &mut block);
    data.iter_mut().zip(made).for_each(|(to, from)| *to = *from);
    Some(made.len())
}

impl<C: AsRef<[u8]>> InFlight<C> {
    /// The bytes of source slice `k`.
    fn source(&self, k: u8) -> &[u8] {
        let start = start_of(k);
        self.chunk.as_ref().get(start..start + self.size.slice_bytes(k)).unwrap_or(&[])
    }

    /// The data of any slice; a repair slice is made in `block`.
    fn data<'a>(&'a self, id: u16, block: &'a mut Block) -> &'a [u8] {
        match u8::try_from(id) {
            Ok(k) if k <= self.size.num_slices().last() => self.source(k),
            _ => {
                let j = id.wrapping_sub(self.size.num_slices().get());
                *block = repair_sum(self.size.num_slices(), j, |i| self.source(i));
                block.get(..repair_slice_bytes(self.size, id)).unwrap_or(&[])
            }
        }
    }
}

impl<C: AsRef<[u8]>, S: RepairScheduler> RepairSender<C, S> {
    /// A new sender in IDLE.
    pub fn new(config: Config, scheduler: S) -> RepairSender<C, S> {
        RepairSender {
            scheduler,
            give_up: config.give_up(),
            clock: Clock::default(),
            chunk_id: config.first_id(),
            phase: Phase::Idle,
            repair: [0; SLICE_SIZE],
        }
    }

    /// The application wants a chunk sent.
    pub fn submit(&mut self, now: Micros, chunk: C) -> Result<(), RepairSubmitError<C>> {
        let now = self.clock.observe(now);
        match self.phase {
            Phase::Sending(_) => return Err(RepairSubmitError::Busy(chunk)),
            Phase::Failed => return Err(RepairSubmitError::GaveUp(chunk)),
            Phase::Idle => {}
        }
        let size = match ChunkSize::new(chunk.as_ref().len()) {
            Some(size) => size,
            None => return Err(RepairSubmitError::ChunkSize(chunk)),
        };
        self.phase = Phase::Sending(InFlight { chunk, size, sent: 0, have: 0, top: 0, heard_at: now }); // RPX-5
        self.scheduler.start(now, size.num_slices());
        Ok(())
    }

    /// An ack has arrived. T10 reports the chunk as delivered.
    pub fn ack(&mut self, now: Micros, ack: &RepairAck) -> RepairSenderRow {
        let now = self.clock.observe(now);
        let flight = match &mut self.phase {
            Phase::Idle => return T5,
            Phase::Failed => return T11,
            Phase::Sending(flight) => flight,
        };
        let num_slices = flight.size.num_slices();
        if ack.chunk_id() != self.chunk_id || ack.num_slices() != num_slices {
            return T6;
        }
        let top = match number_of_field(num_slices, flight.sent, ack.top()) {
            Some(top) if u32::from(ack.have()) <= top => top, // RPX-3
            _ => return T6,
        };
        if ack.have() > flight.have || top > flight.top {
            flight.heard_at = now; // NOTE: RPX-6
            flight.have = flight.have.max(ack.have());
            flight.top = flight.top.max(top);
            self.scheduler.news(now, flight.have, flight.top);
            if flight.have < num_slices.get() {
                return T9;
            }
            self.chunk_id = self.chunk_id.wrapping_add(1); // COMPLETE: RPX-8
            self.phase = Phase::Idle;
            return T10;
        }
        if flight.have > 0 || flight.top > 0 || flight.sent == 0 {
            return T7;
        }
        flight.heard_at = now; // HEAR: SND-11
        self.scheduler.hold(now);
        T8
    }

    /// Which slice goes out now? T15 reports that the sender gave up.
    pub fn poll(&mut self, now: Micros) -> Polled<RepairSenderRow, RepairSlice<'_>> {
        let now = self.clock.observe(now);
        match &self.phase {
            Phase::Idle => return Polled::nothing(T12),
            Phase::Failed => return Polled::nothing(T16),
            Phase::Sending(flight) if now - flight.heard_at >= self.give_up => {
                self.phase = Phase::Failed; // SND-9
                return Polled::nothing(T15);
            }
            Phase::Sending(_) => {}
        }
        match (self.scheduler.next(now), &mut self.phase) {
            (true, Phase::Sending(flight)) => {
                let id = id_of(flight.size.num_slices(), flight.sent); // RPX-7
                flight.sent = flight.sent.saturating_add(1);
                let slice = RepairSlice::new(self.chunk_id, id, flight.size, flight.data(id, &mut self.repair));
                Polled { row: T13, packet: slice.ok() }
            }
            _ => Polled::nothing(T14),
        }
    }

    /// When to poll next; `None` is NEVER (SND-16).
    #[must_use]
    pub fn deadline(&self) -> Option<Micros> {
        match &self.phase {
            Phase::Sending(flight) => earlier(self.scheduler.deadline(), Some(flight.heard_at + self.give_up)),
            _ => None,
        }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> SenderState {
        match self.phase {
            Phase::Idle => SenderState::Idle,
            Phase::Sending(_) => SenderState::Sending,
            Phase::Failed => SenderState::Failed,
        }
    }

    /// The id of the chunk in flight, else of the next one.
    #[must_use]
    pub fn chunk_id(&self) -> u16 {
        self.chunk_id
    }

    /// Of the chunk in flight: how many slices were sent, how many independent ones arrived, and up
    /// to which; zeros if there is none.
    #[must_use]
    pub fn counts(&self) -> (u32, u16, u32) {
        match &self.phase {
            Phase::Sending(flight) => (flight.sent, flight.have, flight.top),
            _ => (0, 0, 0),
        }
    }

    /// The scheduler.
    pub fn scheduler(&mut self) -> &mut S {
        &mut self.scheduler
    }
}
