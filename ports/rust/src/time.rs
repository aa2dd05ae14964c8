//! Times and durations (section 2.2).

use crate::limits::OutOfRange;

/// A time or a duration in microseconds, 0 to 2^62 - 1; times count from any fixed instant of a
/// clock that only runs forward (TIM-2, TIM-3). `Option<Micros>` is a deadline: `None` is NEVER.
pub type Micros = i64;

/// A millisecond.
pub(crate) const MS: Micros = 1000;
const LATEST: Micros = (1 << 62) - 1;

/// `GIVE_UP` unless configured: 10 s (SND-21).
pub const DEFAULT_GIVE_UP: Micros = 10_000 * MS;
/// The longest `GIVE_UP`.
pub const MAX_GIVE_UP: Micros = 1 << 61;

/// The latest time that a machine was given (TIM-1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock(Micros);

impl Clock {
    /// A time before the latest one counts as that; one outside TIM-3 as the last one inside.
    pub(crate) fn observe(&mut self, now: Micros) -> Micros {
        self.0 = now.min(LATEST).max(self.0);
        self.0
    }
}

/// The earlier of two deadlines.
pub(crate) fn earlier(a: Option<Micros>, b: Option<Micros>) -> Option<Micros> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The parameters of a sender or a receiver (SND-21, RCV-20). Both ends need the same first id, and
/// should have the same time to give up (SND-17).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    first_id: u16,
    give_up: Micros,
}

impl Config {
    /// `first_id` is the id of the first chunk; a machine gives up after `give_up` without a sign
    /// of its peer, 1 us to [`MAX_GIVE_UP`].
    pub fn new(first_id: u16, give_up: Micros) -> Result<Config, OutOfRange> {
        if (1..=MAX_GIVE_UP).contains(&give_up) {
            Ok(Config { first_id, give_up })
        } else {
            Err(OutOfRange("give_up"))
        }
    }

    /// The id of the first chunk.
    #[must_use]
    pub fn first_id(&self) -> u16 {
        self.first_id
    }

    /// In microseconds.
    #[must_use]
    pub fn give_up(&self) -> Micros {
        self.give_up
    }
}

impl Default for Config {
    /// First id 0, [`DEFAULT_GIVE_UP`].
    fn default() -> Config {
        Config { first_id: 0, give_up: DEFAULT_GIVE_UP }
    }
}

/// What a poll came to: the row of the transition table, and the packet to send if there is one.
/// Poll again until there is none (SND-3, RCV-1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Polled<R, P> {
    /// The row that was taken.
    pub row: R,
    /// What is to be sent.
    pub packet: Option<P>,
}

impl<R, P> Polled<R, P> {
    pub(crate) fn nothing(row: R) -> Polled<R, P> {
        Polled { row, packet: None }
    }
}
