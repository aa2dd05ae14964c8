//! The receiver of repair slices (REPAIR.md, section 6).

use crate::ack_timer::{AckTimer, Due};
use crate::limits::{ChunkSize, NumSlices, SLICE_SIZE};
use crate::receiver::ReceiverState;
use crate::repair_code::{repair_memory, Block, Decoder};
use crate::repair_packet::{id_of, number_of_arrival, RepairAck, RepairSlice};
use crate::time::{earlier, Clock, Config, Micros, Polled};
use core::fmt;

use RepairReceiverRow::*;

/// The rows of section 6.2.
#[allow(missing_docs)]
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairReceiverRow {
    U1, U2, U3, U4, U5, U6, U7, U8, U9, U10, U11, U12, U13, U14, U15, U16, U17, U18, U19, U20,
    U21, U22, U23, U24, U25, U26, U27, U28, U29,
}

/// There is no complete chunk to read; the row says why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoChunk(
    /// U18, U19 or U28.
    pub RepairReceiverRow,
);

impl fmt::Display for NoChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing_to_read")
    }
}

/// Puts chunks together from slices of which any will do, and says which acks to send.
///
/// The memory is the caller's, [`repair_memory`] bytes of it for chunks of so many slices: 320 KiB
/// for every chunk. A chunk that a smaller one cannot hold never arrives (RCV-18).
#[derive(Clone, Debug)]
pub struct RepairReceiver<M> {
    memory: M,
    give_up: Micros,
    clock: Clock,
    chunk_id: u16,
    phase: Phase,
    decoder: Option<Decoder>,           // of the chunk that arrives, or arrived last
    previous: Option<(NumSlices, u32)>, // slices and top of the chunk completed last
    held: Option<NumSlices>,
    acks: AckTimer,
    spare: Spare,
    conflicts: u64,
    inconsistent: u64,
}

/// A state, with what is there in that state alone.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Waiting,
    Receiving { top: u32, progress_at: Micros },
    Ready { compared: bool }, // whether a late slice was compared with the chunk (RPR-11)
    Failed,
}

/// The first dependent repair slice (RPR-11).
#[derive(Clone, Copy, Debug)]
struct Spare {
    slice_id: Option<u16>,
    data: Block,
    len: usize,
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> RepairReceiver<M> {
    /// A new receiver in WAITING.
    pub fn new(config: Config, memory: M) -> RepairReceiver<M> {
        RepairReceiver {
            memory,
            give_up: config.give_up(),
            clock: Clock::default(),
            chunk_id: config.first_id(),
            phase: Phase::Waiting,
            decoder: None,
            previous: None,
            held: None,
            acks: AckTimer::default(),
            spare: Spare { slice_id: None, data: [0; SLICE_SIZE], len: 0 },
            conflicts: 0,
            inconsistent: 0,
        }
    }

    /// A slice has arrived. `None`: there is no memory for its chunk, and it counts as not arrived.
    pub fn slice(&mut self, now: Micros, slice: &RepairSlice<'_>) -> Option<RepairReceiverRow> {
        let now = self.clock.observe(now);
        if matches!(self.phase, Phase::Failed) {
            return Some(U27);
        }
        if self.is_previous(slice) {
            self.acks.due_soon(Due::Previous, now); // RCV-13
            self.compare_late(slice);
            return Some(self.row([U3, U12, U15, U27]));
        }
        if slice.chunk_id() != self.chunk_id {
            return Some(self.row([U4, U13, U16, U27])); // RCV-4
        }
        match (self.phase, self.decoder) {
            (Phase::Receiving { top, progress_at }, Some(decoder)) if decoder.size() == slice.size() => {
                Some(self.go_on(now, slice, top, progress_at))
            }
            (Phase::Receiving { progress_at, .. }, _) if now - progress_at < self.give_up / 2 => {
                self.conflicts = self.conflicts.saturating_add(1); // RPR-4
                Some(U9)
            }
            (Phase::Receiving { .. }, _) => self.begin(now, slice, U10, U11),
            (Phase::Ready { .. }, _) => {
                self.held = Some(slice.num_slices()); // RCV-14
                self.acks.due_soon(Due::Hold, now);
                Some(U14)
            }
            _ => self.begin(now, slice, U2, U1),
        }
    }

    /// RCV-3, RCV-6.
    fn is_previous(&self, slice: &RepairSlice<'_>) -> bool {
        let previous = self.previous.map(|(num_slices, _)| num_slices);
        slice.chunk_id() == self.previous_id() && previous == Some(slice.num_slices())
    }

    /// START and STORE (RPR-7).
    fn begin(
        &mut self,
        now: Micros,
        slice: &RepairSlice<'_>,
        adds: RepairReceiverRow,
        completes: RepairReceiverRow,
    ) -> Option<RepairReceiverRow> {
        if self.memory.as_ref().len() < repair_memory(slice.num_slices()) {
            return None;
        }
        self.decoder = Some(Decoder::new(slice.size()));
        self.spare.slice_id = None;
        self.held = None;
        self.acks.start();
        let top = number_of_arrival(slice.num_slices(), 0, slice.slice_id()) + 1;
        self.store(now, slice, top);
        Some(if self.completes(now, top) { completes } else { adds })
    }

    /// RPR-5, RPR-6.
    fn go_on(&mut self, now: Micros, slice: &RepairSlice<'_>, top: u32, progress_at: Micros) -> RepairReceiverRow {
        let top = top.max(number_of_arrival(slice.num_slices(), top, slice.slice_id()) + 1);
        self.phase = Phase::Receiving { top, progress_at };
        let here = self.decoder.map_or(false, |decoder| decoder.has(slice.slice_id()));
        if !here && self.store(now, slice, top) {
            return if self.completes(now, top) { U6 } else { U5 };
        }
        self.acks.due_soon(Due::Current, now); // RCV-13
        if here {
            return U7;
        }
        if slice.is_repair() && self.spare.slice_id.is_none() {
            self.spare.slice_id = Some(slice.slice_id());
            self.spare.len = slice.data().len();
            self.spare.data.iter_mut().zip(slice.data()).for_each(|(to, from)| *to = *from);
        }
        U8
    }

    /// STORE (RPR-8); false: the slice is dependent, and is not stored (RPR-10).
    fn store(&mut self, now: Micros, slice: &RepairSlice<'_>, top: u32) -> bool {
        let memory = self.memory.as_mut();
        let added = self.decoder.as_mut().map_or(false, |d| d.add(memory, slice.slice_id(), slice.data()));
        if added {
            self.phase = Phase::Receiving { top, progress_at: now };
            self.acks.stored(now, slice.slice_id());
        }
        added
    }

    /// COMPLETE if nothing is missing any more (RPR-9); returns whether that is so.
    fn completes(&mut self, now: Micros, top: u32) -> bool {
        let decoder = match self.decoder {
            Some(decoder) if decoder.is_complete() => decoder,
            _ => return false,
        };
        if !decoder.is_consistent(self.memory.as_ref()) {
            self.inconsistent = self.inconsistent.saturating_add(1);
        }
        decoder.clear_tail(self.memory.as_mut());
        if let Some(id) = self.spare.slice_id {
            let data = self.spare.data;
            self.compare(id, data.get(..self.spare.len).unwrap_or(&[]));
        }
        self.previous = Some((decoder.size().num_slices(), top));
        self.chunk_id = self.chunk_id.wrapping_add(1);
        self.acks.completed(now);
        self.phase = Phase::Ready { compared: false };
        true
    }

    /// Step 3 of RPR-11.
    fn compare_late(&mut self, slice: &RepairSlice<'_>) {
        let new = self.decoder.map_or(false, |d| d.size() == slice.size() && !d.has(slice.slice_id()));
        if matches!(self.phase, Phase::Ready { compared: false }) && slice.is_repair() && new {
            self.phase = Phase::Ready { compared: true };
            self.compare(slice.slice_id(), slice.data());
        }
    }

    fn compare(&mut self, slice_id: u16, data: &[u8]) {
        let memory = self.memory.as_ref();
        if !self.decoder.map_or(true, |decoder| decoder.matches(memory, slice_id, data)) {
            self.inconsistent = self.inconsistent.saturating_add(1);
        }
    }

    /// The complete chunk, once (U17). It lies in the memory, and is gone with the next slice.
    pub fn read(&mut self, now: Micros) -> Result<&[u8], NoChunk> {
        self.clock.observe(now);
        match (self.phase, self.decoder) {
            (Phase::Ready { .. }, Some(decoder)) => {
                self.phase = Phase::Waiting;
                Ok(self.memory.as_ref().get(..decoder.size().bytes()).unwrap_or(&[]))
            }
            _ => Err(NoChunk(self.row([U18, U19, U18, U28]))),
        }
    }

    /// Which ack goes out now? U24 reports that the receiver gave up.
    pub fn poll(&mut self, now: Micros) -> Polled<RepairReceiverRow, RepairAck> {
        let now = self.clock.observe(now);
        match self.phase {
            Phase::Failed => return Polled::nothing(U29),
            Phase::Receiving { progress_at, .. } if now - progress_at >= self.give_up => {
                self.phase = Phase::Failed; // RPR-13
                self.acks = AckTimer::default();
                return Polled::nothing(U24);
            }
            _ => {}
        }
        match self.acks.take(now) {
            Some(due) => Polled { row: self.row([U20, U22, U25, U29]), packet: self.ack(due) },
            None => Polled::nothing(self.row([U21, U23, U26, U29])),
        }
    }

    /// RCV-16, RPR-12.
    fn ack(&self, due: Due) -> Option<RepairAck> {
        let (chunk_id, num_slices, have, top) = match (due, self.phase, self.decoder) {
            (Due::Previous, _, _) => {
                let (num_slices, top) = self.previous?;
                (self.previous_id(), num_slices, num_slices.get(), top)
            }
            (Due::Current, Phase::Receiving { top, .. }, Some(decoder)) => {
                (self.chunk_id, decoder.size().num_slices(), decoder.rank(), top)
            }
            (Due::Current, _, _) => return None,
            (Due::Hold, _, _) => (self.chunk_id, self.held?, 0, 0),
        };
        RepairAck::new(chunk_id, num_slices, have, id_of(num_slices, top)).ok()
    }

    /// When to poll next; `None` is NEVER (RCV-17).
    #[must_use]
    pub fn deadline(&self) -> Option<Micros> {
        match self.phase {
            Phase::Receiving { progress_at, .. } => earlier(self.acks.deadline(), Some(progress_at + self.give_up)),
            _ => self.acks.deadline(),
        }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> ReceiverState {
        match self.phase {
            Phase::Waiting => ReceiverState::Waiting,
            Phase::Receiving { .. } => ReceiverState::Receiving,
            Phase::Ready { .. } => ReceiverState::Ready,
            Phase::Failed => ReceiverState::Failed,
        }
    }

    /// The id of the current chunk: the one that arrives, or is to come next.
    #[must_use]
    pub fn chunk_id(&self) -> u16 {
        self.chunk_id
    }

    /// Of the chunk that arrives: how many independent slices are here, and one more than the
    /// highest number that arrived.
    #[must_use]
    pub fn counts(&self) -> Option<(ChunkSize, u16, u32)> {
        match (self.phase, self.decoder) {
            (Phase::Receiving { top, .. }, Some(decoder)) => Some((decoder.size(), decoder.rank(), top)),
            _ => None,
        }
    }

    /// How many slices conflicted (U9).
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// How often a slice and a rebuilt chunk did not agree, so that one was forged (RPR-11).
    #[must_use]
    pub fn inconsistent(&self) -> u64 {
        self.inconsistent
    }

    fn previous_id(&self) -> u16 {
        self.chunk_id.wrapping_sub(1)
    }

    /// The row of an event in WAITING, RECEIVING, READY and FAILED.
    fn row(&self, rows: [RepairReceiverRow; 4]) -> RepairReceiverRow {
        let [waiting, receiving, ready, failed] = rows;
        match self.phase {
            Phase::Waiting => waiting,
            Phase::Receiving { .. } => receiving,
            Phase::Ready { .. } => ready,
            Phase::Failed => failed,
        }
    }
}
