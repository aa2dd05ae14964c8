//! The pace (RECOVERY.md), and what profiles change of it.

use super::*;

const CATCH_UP: Micros = 20 * MS;
const BURST_INTERVAL: Number = 85_000;

/// What a profile sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    /// The limit's interval (PRO-1), 0 for none.
    pub(crate) interval: Number,
    pub(crate) burst: bool,
    pub(crate) fixed: bool,
}

/// `pace_at`, in microseconds and a rest of nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Pace {
    micros: Micros,
    nanos: Number, // below 1000
}

impl Pace {
    fn at(micros: Micros) -> Pace {
        Pace { micros, nanos: 0 }
    }

    fn plus(self, interval: Number) -> Pace {
        let nanos = self.nanos + interval;
        Pace { micros: self.micros + nanos / 1000, nanos: nanos % 1000 }
    }
}

impl Controller {
    /// When the pace lets the next slice go, rounded up to a microsecond.
    pub(crate) fn pace_at(&self) -> Micros {
        self.pace.micros + Micros::from(self.pace.nanos > 0)
    }

    /// REC-5: a poll of a sender that was `idle`.
    pub(crate) fn polled(&mut self, now: Micros, idle: bool) {
        if idle {
            self.pace = self.pace.max(Pace::at(now)); // PAC-5
        }
    }

    /// REC-5: whether a slice is sent (PAC-4, PTO-6).
    pub(crate) fn lets_go(&mut self, now: Micros, fresh: bool) -> bool {
        if Pace::at(now) < self.pace {
            return false;
        }
        let earliest = Pace::at(now - CATCH_UP);
        self.unanswered += 1;
        self.pace = self.pace.max(earliest).plus(self.interval(fresh));
        true
    }

    /// Before it no probe goes (PTO-2).
    pub(crate) fn probe_at(&self) -> Micros {
        self.probe_at
    }

    /// From then on ROOM-7 holds.
    pub(crate) fn silent_at(&self) -> Micros {
        self.heard_at + self.round_trip.base_delay()
    }

    /// PRO-1, PRO-2 and PRO-4.
    fn interval(&self, fresh: bool) -> Number {
        if fresh && self.speed.burst {
            return BURST_INTERVAL.max(self.speed.interval);
        }
        let path = if self.speed.fixed { 0 } else { self.controlled_interval() };
        path.max(FASTEST).max(self.speed.interval)
    }

    /// PAC-3, PAC-8, PAC-9.
    fn controlled_interval(&self) -> Number {
        if self.min_rtt == 0 {
            return BURST_INTERVAL;
        }
        let mut interval = self.round_trip.srtt() * 1000 * WHOLE / self.limit.max(1);
        if self.opening {
            interval /= 2;
        } else if self.limit >= TWO_SLICES {
            interval = interval * 15 / 16;
        }
        interval.min(SLOWEST)
    }
}
