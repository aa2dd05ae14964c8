//! The receiver (section 8).

use crate::ack_timer::{AckTimer, Due};
use crate::limits::{start_of, ChunkSize, NumSlices};
use crate::packet::{Ack, Slice};
use crate::set::SliceSet;
use crate::time::{earlier, Clock, Config, Micros, Polled};
use core::fmt;

use ReceiverRow::*;

/// The states of section 8.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiverState {
    /// Nothing of the current chunk is here.
    Waiting,
    /// Some slices of the current chunk are here, not all.
    Receiving,
    /// A complete chunk waits to be read.
    Ready,
    /// Gave up; no event leaves this state.
    Failed,
}

/// The rows of section 8.3.
#[allow(missing_docs)]
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceiverRow {
    R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17, R18, R19, R20,
    R21, R22, R23, R24, R25, R26, R27, R28,
}

/// There is no complete chunk to read; the row says why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NothingToRead(
    /// R17, R18 or R27.
    pub ReceiverRow,
);

impl fmt::Display for NothingToRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing_to_read")
    }
}

/// Puts chunks together from slices, and says which acks to send.
///
/// The memory is the caller's: `&mut [u8]`, an array, a `Box<[u8]>` or a `Vec<u8>`, of
/// [`MAX_CHUNK`](crate::MAX_CHUNK) bytes for every chunk. A chunk that a smaller one cannot hold
/// never arrives (RCV-18), and its sender gives up.
///
/// ```
/// use chunkwire::{Config, NumSlices, Receiver, ReceiverRow::*, Slice};
/// let mut receiver = Receiver::new(Config::default(), [0; 2048]);
/// let slice = Slice::new(0, 0, NumSlices::new(1).unwrap(), b"hello").unwrap();
/// assert_eq!(receiver.slice(0, &slice), Some(R1));
/// assert_eq!(receiver.poll(0).packet.unwrap().acked().len(), 1);
/// assert_eq!(receiver.poll(0).row, R25);
/// assert_eq!(receiver.read(0), Ok(&b"hello"[..]));
/// assert_eq!(receiver.slice(0, &slice), Some(R3)); // acked again, but not delivered
/// ```
#[derive(Clone, Debug)]
pub struct Receiver<M> {
    memory: M,
    give_up: Micros,
    clock: Clock,
    chunk_id: u16,
    phase: Phase,
    previous: Option<NumSlices>, // of the chunk completed last
    held: Option<NumSlices>,
    acks: AckTimer,
    conflicts: u64,
}

/// A state, with what is there in that state alone.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Waiting,
    Receiving(Arriving),
    Ready(ChunkSize),
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct Arriving {
    num_slices: NumSlices,
    received: SliceSet,
    last_bytes: u16, // of the last slice, once it is here
    progress_at: Micros,
}

impl<M: AsRef<[u8]> + AsMut<[u8]>> Receiver<M> {
    /// A new receiver in WAITING (RCV-20).
    pub fn new(config: Config, memory: M) -> Receiver<M> {
        Receiver {
            memory,
            give_up: config.give_up(),
            clock: Clock::default(),
            chunk_id: config.first_id(),
            phase: Phase::Waiting,
            previous: None,
            held: None,
            acks: AckTimer::default(),
            conflicts: 0,
        }
    }

    /// A slice has arrived (RCV-21). `None`: there is no memory for it, and it counts as not
    /// arrived (RCV-18).
    pub fn slice(&mut self, now: Micros, slice: &Slice<'_>) -> Option<ReceiverRow> {
        let now = self.clock.observe(now);
        if matches!(self.phase, Phase::Failed) {
            return Some(R26);
        }
        if self.is_previous(slice) {
            self.acks.due_soon(Due::Previous, now); // RCV-13
            return Some(self.row([R3, R11, R14, R26]));
        }
        if slice.chunk_id() != self.chunk_id {
            return Some(self.row([R4, R12, R15, R26])); // RCV-4
        }
        self.current_slice(now, slice)
    }

    /// RCV-3; before the first chunk was completed there is none (RCV-6).
    fn is_previous(&self, slice: &Slice<'_>) -> bool {
        slice.chunk_id() == self.previous_id() && self.previous == Some(slice.num_slices())
    }

    /// A slice of the current chunk.
    fn current_slice(&mut self, now: Micros, slice: &Slice<'_>) -> Option<ReceiverRow> {
        match self.phase {
            Phase::Waiting => self.begin(now, slice, R2, R1),
            Phase::Receiving(chunk) if chunk.num_slices == slice.num_slices() => self.go_on(now, slice, chunk),
            Phase::Receiving(chunk) if now - chunk.progress_at < self.give_up / 2 => {
                self.conflicts = self.conflicts.saturating_add(1); // RCV-7
                Some(R8)
            }
            Phase::Receiving(_) => self.begin(now, slice, R9, R10),
            Phase::Ready(_) => {
                self.held = Some(slice.num_slices()); // RCV-14
                self.acks.due_soon(Due::Hold, now);
                Some(R13)
            }
            Phase::Failed => Some(R26),
        }
    }

    /// START (RCV-10), and what follows.
    fn begin(
        &mut self,
        now: Micros,
        slice: &Slice<'_>,
        adds: ReceiverRow,
        completes: ReceiverRow,
    ) -> Option<ReceiverRow> {
        self.copy(slice)?;
        self.held = None;
        self.acks.start();
        let chunk =
            Arriving { num_slices: slice.num_slices(), received: SliceSet::EMPTY, last_bytes: 0, progress_at: now };
        Some(self.store(now, slice, chunk, adds, completes))
    }

    /// RCV-8.
    fn go_on(&mut self, now: Micros, slice: &Slice<'_>, chunk: Arriving) -> Option<ReceiverRow> {
        if chunk.received.contains(slice.slice_id()) {
            self.acks.due_soon(Due::Current, now); // RCV-13
            return Some(R7);
        }
        self.copy(slice)?;
        Some(self.store(now, slice, chunk, R5, R6))
    }

    /// Copies the data to its place, if there is memory for what is known of the chunk.
    fn copy(&mut self, slice: &Slice<'_>) -> Option<()> {
        let start = start_of(slice.slice_id());
        let memory = self.memory.as_mut();
        if memory.len() <= start_of(slice.num_slices().last()) {
            return None;
        }
        let place = memory.get_mut(start..start + slice.data().len())?;
        place.iter_mut().zip(slice.data()).for_each(|(to, from)| *to = *from);
        Some(())
    }

    /// STORE (RCV-11) without the copy, and COMPLETE if it was the last one missing.
    fn store(
        &mut self,
        now: Micros,
        slice: &Slice<'_>,
        mut chunk: Arriving,
        adds: ReceiverRow,
        completes: ReceiverRow,
    ) -> ReceiverRow {
        chunk.received.insert(slice.slice_id());
        chunk.progress_at = now;
        if slice.is_last() {
            chunk.last_bytes = slice.data().len() as u16;
        }
        self.acks.stored(now, slice.slice_id().into());
        if chunk.received.len() < chunk.num_slices.get() {
            self.phase = Phase::Receiving(chunk);
            return adds;
        }
        self.complete(now, chunk);
        completes
    }

    /// COMPLETE (RCV-12).
    fn complete(&mut self, now: Micros, chunk: Arriving) {
        self.previous = Some(chunk.num_slices);
        self.chunk_id = self.chunk_id.wrapping_add(1);
        self.acks.completed(now);
        self.phase = Phase::Ready(ChunkSize::of_slices(chunk.num_slices, chunk.last_bytes));
    }

    /// The complete chunk, once (R16). It lies in the memory, and is gone with the next slice.
    pub fn read(&mut self, now: Micros) -> Result<&[u8], NothingToRead> {
        self.clock.observe(now);
        match self.phase {
            Phase::Ready(size) => {
                self.phase = Phase::Waiting;
                Ok(self.memory.as_ref().get(..size.bytes()).unwrap_or(&[]))
            }
            _ => Err(NothingToRead(self.row([R17, R18, R16, R27]))),
        }
    }

    /// Which ack goes out now? R23 reports that the receiver gave up.
    pub fn poll(&mut self, now: Micros) -> Polled<ReceiverRow, Ack> {
        let now = self.clock.observe(now);
        match self.phase {
            Phase::Failed => return Polled::nothing(R28),
            Phase::Receiving(chunk) if now - chunk.progress_at >= self.give_up => {
                self.phase = Phase::Failed; // RCV-9, RCV-19
                self.acks = AckTimer::default();
                return Polled::nothing(R23);
            }
            _ => {}
        }
        match self.acks.take(now) {
            Some(due) => Polled { row: self.row([R19, R21, R24, R28]), packet: self.ack(due) },
            None => Polled::nothing(self.row([R20, R22, R25, R28])),
        }
    }

    /// RCV-16.
    fn ack(&self, due: Due) -> Option<Ack> {
        let (chunk_id, num_slices, acked) = match (due, self.phase) {
            (Due::Previous, _) => (self.previous_id(), self.previous?, SliceSet::all(self.previous?)),
            (Due::Current, Phase::Receiving(chunk)) => (self.chunk_id, chunk.num_slices, chunk.received),
            (Due::Current, _) => return None,
            (Due::Hold, _) => (self.chunk_id, self.held?, SliceSet::EMPTY),
        };
        Ack::new(chunk_id, num_slices, acked).ok()
    }

    /// When to poll next; `None` is NEVER (RCV-17).
    #[must_use]
    pub fn deadline(&self) -> Option<Micros> {
        match self.phase {
            Phase::Receiving(chunk) => earlier(self.acks.deadline(), Some(chunk.progress_at + self.give_up)),
            _ => self.acks.deadline(),
        }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> ReceiverState {
        match self.phase {
            Phase::Waiting => ReceiverState::Waiting,
            Phase::Receiving(_) => ReceiverState::Receiving,
            Phase::Ready(_) => ReceiverState::Ready,
            Phase::Failed => ReceiverState::Failed,
        }
    }

    /// The id of the current chunk: the one that arrives, or is to come next.
    #[must_use]
    pub fn chunk_id(&self) -> u16 {
        self.chunk_id
    }

    /// Of the chunk that arrives: how many slices it has, and which of them are here.
    #[must_use]
    pub fn received(&self) -> Option<(NumSlices, SliceSet)> {
        match self.phase {
            Phase::Receiving(chunk) => Some((chunk.num_slices, chunk.received)),
            _ => None,
        }
    }

    /// How many slices conflicted (R8).
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.conflicts
    }

    fn previous_id(&self) -> u16 {
        self.chunk_id.wrapping_sub(1)
    }

    /// The row of an event in WAITING, RECEIVING, READY and FAILED.
    fn row(&self, rows: [ReceiverRow; 4]) -> ReceiverRow {
        let [waiting, receiving, ready, failed] = rows;
        match self.phase {
            Phase::Waiting => waiting,
            Phase::Receiving(_) => receiving,
            Phase::Ready(_) => ready,
            Phase::Failed => failed,
        }
    }
}
