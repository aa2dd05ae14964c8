//! The sender (section 7), and the interface of its scheduler (section 9).

use crate::limits::{start_of, ChunkSize};
use crate::packet::{Ack, Slice};
use crate::set::SliceSet;
use crate::time::{earlier, Clock, Config, Micros, Polled};
use core::fmt;

use SenderRow::*;

/// Decides which slice goes next and when (section 9). The times that it is given never go back.
pub trait Scheduler {
    /// A chunk begins.
    fn start(&mut self, now: Micros, chunk: ChunkSize);

    /// These slices, at least one, were acked for the first time.
    fn newly_acked(&mut self, now: Micros, slices: &SliceSet);

    /// The peer is there and cannot take the chunk yet (S8).
    fn hold(&mut self, now: Micros);

    /// The slice that goes out now, one that is not acked (SCH-1). While a chunk is in flight there
    /// is one again and again (SCH-2).
    fn next(&mut self, now: Micros) -> Option<u8>;

    /// When there may be a next slice if no ack arrives before; `None` is NEVER (SCH-3).
    fn deadline(&self) -> Option<Micros>;
}

impl<S: Scheduler + ?Sized> Scheduler for &mut S {
    fn start(&mut self, now: Micros, chunk: ChunkSize) {
        (**self).start(now, chunk);
    }
    fn newly_acked(&mut self, now: Micros, slices: &SliceSet) {
        (**self).newly_acked(now, slices);
    }
    fn hold(&mut self, now: Micros) {
        (**self).hold(now);
    }
    fn next(&mut self, now: Micros) -> Option<u8> {
        (**self).next(now)
    }
    fn deadline(&self) -> Option<Micros> {
        (**self).deadline()
    }
}

/// The states of section 7.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenderState {
    /// No chunk.
    Idle,
    /// One chunk is in flight.
    Sending,
    /// Gave up; no event leaves this state.
    Failed,
}

/// The rows of section 7.3.
#[allow(missing_docs)]
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SenderRow {
    S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16,
}

/// Why a chunk was refused, which is given back (SND-1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubmitError<C> {
    /// It has no bytes, or too many (S2).
    ChunkSize(C),
    /// Another chunk is in flight (S3).
    Busy(C),
    /// The sender gave up (S4).
    GaveUp(C),
}

impl<C> SubmitError<C> {
    /// The row that refused it.
    pub fn row(&self) -> SenderRow {
        match self {
            SubmitError::ChunkSize(_) => S2,
            SubmitError::Busy(_) => S3,
            SubmitError::GaveUp(_) => S4,
        }
    }

    /// The code of appendix E.
    pub fn code(&self) -> &'static str {
        match self {
            SubmitError::ChunkSize(_) => "chunk_size",
            SubmitError::Busy(_) => "busy",
            SubmitError::GaveUp(_) => "gave_up",
        }
    }
}

impl<C> fmt::Display for SubmitError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Sends chunks, one after the other. A chunk is anything that holds bytes and keeps them as they
/// are: `&[u8]`, an array, a `Vec<u8>`, an `Arc<[u8]>` (SND-18).
///
/// ```
/// use chunkwire::{Base, Config, Profile, Sender, SenderRow::*};
/// let mut sender = Sender::new(Config::default(), Base::new(Profile::BURST).unwrap());
/// sender.submit(0, b"hello").unwrap();
/// let slice = sender.poll(0).packet.unwrap();
/// assert_eq!((slice.slice_id(), slice.data()), (0, &b"hello"[..]));
/// assert_eq!(sender.poll(0).row, S14);
/// assert_eq!(sender.deadline(), Some(250_000)); // nothing is known of the round trip
/// ```
#[derive(Clone, Debug)]
pub struct Sender<C, S> {
    scheduler: S,
    give_up: Micros,
    clock: Clock,
    chunk_id: u16,
    phase: Phase<C>,
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
    sent: SliceSet,
    acked: SliceSet,
    heard_at: Micros,
}

impl<C: AsRef<[u8]>> InFlight<C> {
    /// Slice `k`, which the chunk has.
    fn slice(&self, chunk_id: u16, k: u8) -> Slice<'_> {
        let start = start_of(k);
        let data = self.chunk.as_ref().get(start..start + self.size.slice_bytes(k));
        Slice::of_chunk(chunk_id, k, self.size, data.unwrap_or(&[]))
    }
}

impl<C: AsRef<[u8]>, S: Scheduler> Sender<C, S> {
    /// A new sender in IDLE (SND-21).
    pub fn new(config: Config, scheduler: S) -> Sender<C, S> {
        Sender {
            scheduler,
            give_up: config.give_up(),
            clock: Clock::default(),
            chunk_id: config.first_id(),
            phase: Phase::Idle,
        }
    }

    /// The application wants a chunk sent.
    pub fn submit(&mut self, now: Micros, chunk: C) -> Result<(), SubmitError<C>> {
        let now = self.clock.observe(now);
        match self.phase {
            Phase::Sending(_) => return Err(SubmitError::Busy(chunk)),
            Phase::Failed => return Err(SubmitError::GaveUp(chunk)),
            Phase::Idle => {}
        }
        let size = match ChunkSize::new(chunk.as_ref().len()) {
            Some(size) => size,
            None => return Err(SubmitError::ChunkSize(chunk)),
        };
        let (sent, acked) = (SliceSet::EMPTY, SliceSet::EMPTY);
        self.phase = Phase::Sending(InFlight { chunk, size, sent, acked, heard_at: now }); // SND-10
        self.scheduler.start(now, size);
        Ok(())
    }

    /// An ack has arrived (SND-22). S10 reports the chunk as delivered.
    pub fn ack(&mut self, now: Micros, ack: &Ack) -> SenderRow {
        let now = self.clock.observe(now);
        let flight = match &mut self.phase {
            Phase::Idle => return S5,
            Phase::Failed => return S11,
            Phase::Sending(flight) => flight,
        };
        if ack.chunk_id() != self.chunk_id || ack.num_slices() != flight.size.num_slices() {
            return S6; // SND-5
        }
        let news = ack.acked() & flight.sent & !flight.acked; // SND-6, SND-7
        if !news.is_empty() {
            return self.note(now, news);
        }
        if ack.is_hold() && flight.acked.is_empty() && !flight.sent.is_empty() {
            flight.heard_at = now; // SND-8, SND-11, SND-23
            self.scheduler.hold(now);
            return S8;
        }
        S7
    }

    /// NOTE (SND-12), and COMPLETE (SND-13) if that was all.
    fn note(&mut self, now: Micros, news: SliceSet) -> SenderRow {
        self.scheduler.newly_acked(now, &news);
        if let Phase::Sending(flight) = &mut self.phase {
            flight.heard_at = now;
            flight.acked = flight.acked | news;
            if flight.acked.len() < flight.size.num_slices().get() {
                return S9;
            }
        }
        self.chunk_id = self.chunk_id.wrapping_add(1);
        self.phase = Phase::Idle;
        S10
    }

    /// Which slice goes out now? S15 reports that the sender gave up.
    pub fn poll(&mut self, now: Micros) -> Polled<SenderRow, Slice<'_>> {
        let now = self.clock.observe(now);
        match &self.phase {
            Phase::Idle => return Polled::nothing(S12),
            Phase::Failed => return Polled::nothing(S16),
            Phase::Sending(flight) if now - flight.heard_at >= self.give_up => {
                self.phase = Phase::Failed; // SND-9, SND-19
                return Polled::nothing(S15);
            }
            Phase::Sending(_) => {}
        }
        match (self.scheduler.next(now), &mut self.phase) {
            (Some(k), Phase::Sending(flight)) if k <= flight.size.num_slices().last() => {
                flight.sent.insert(k); // SND-14
                Polled { row: S13, packet: Some(flight.slice(self.chunk_id, k)) }
            }
            _ => Polled::nothing(S14),
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

    /// Of the chunk in flight: its size, and which slices are known to have arrived.
    #[must_use]
    pub fn acked(&self) -> Option<(ChunkSize, SliceSet)> {
        match &self.phase {
            Phase::Sending(flight) => Some((flight.size, flight.acked)),
            _ => None,
        }
    }

    /// The scheduler, for instance to change its rate.
    pub fn scheduler(&mut self) -> &mut S {
        &mut self.scheduler
    }
}
