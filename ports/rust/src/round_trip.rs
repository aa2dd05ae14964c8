//! The round trip (appendix G.2).

use crate::time::{Micros, MS};

const SAMPLE_SLACK: Micros = MS;
pub(crate) const LONGEST_SAMPLE: Micros = 1 << 40;
const INITIAL_DELAY: Micros = 250 * MS;
const LONGEST_DELAY: Micros = 3000 * MS;
const LEAST_MARGIN: Micros = 5 * MS;
const HOLD_DELAY: Micros = 250 * MS;
const SHORTEST_HOLD_DELAY: Micros = 2 * MS;

/// What is known of the round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Nothing,
    Bound,
    Measured,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    known: Known,
    srtt: Micros,
    rttvar: Micros,
    min_rtt: Micros,
    bound: Option<Micros>,
}

impl RoundTrip {
    pub(crate) fn new() -> RoundTrip {
        RoundTrip { known: Known::Nothing, srtt: 0, rttvar: 0, min_rtt: 0, bound: None }
    }

    /// The smoothed round trip, 0 while nothing is known of it.
    pub(crate) fn srtt(&self) -> Micros {
        self.srtt
    }

    /// Whether there was a sample.
    pub(crate) fn is_measured(&self) -> bool {
        self.known == Known::Measured
    }

    /// Whether there is neither a sample nor a bound.
    pub(crate) fn is_unknown(&self) -> bool {
        self.known == Known::Nothing
    }

    /// The shortest one that was measured.
    pub(crate) fn min_rtt(&self) -> Option<Micros> {
        (self.known == Known::Measured).then_some(self.min_rtt)
    }

    /// RTT-6: what is not measured yet is at most the bound.
    pub(crate) fn start(&mut self) {
        if let (Some(bound), Known::Nothing | Known::Bound) = (self.bound, self.known) {
            self.srtt = bound;
            self.rttvar = bound / 16;
            self.known = Known::Bound;
        }
    }

    /// RTT-2: a sample of a slice that was sent once.
    pub(crate) fn sample(&mut self, r: Micros) {
        let r = r.min(LONGEST_SAMPLE);
        if self.known == Known::Measured {
            self.min_rtt = self.min_rtt.min(r);
            self.smooth(r);
        } else {
            *self = RoundTrip { known: Known::Measured, srtt: r, rttvar: r / 8, min_rtt: r, ..*self };
        }
    }

    /// RTT-5.
    pub(crate) fn smooth(&mut self, r: Micros) {
        let d = r.min(LONGEST_SAMPLE).min(self.srtt * 3 / 2 + SAMPLE_SLACK) - self.srtt;
        if d >= 0 {
            self.rttvar += (d - self.rttvar) / 4;
            self.srtt += d / 8;
        } else {
            self.rttvar += ((-d).min(self.rttvar) - self.rttvar) / 4;
            self.srtt += d / 4;
        }
    }

    /// RTT-4: it is not longer than this.
    pub(crate) fn bounded_by(&mut self, r: Micros) {
        let r = r.min(LONGEST_SAMPLE);
        self.bound = Some(self.bound.map_or(r, |before| before.min(r)));
    }

    /// TMR-2, without a fixed delay.
    pub(crate) fn base_delay(&self) -> Micros {
        match self.known {
            Known::Nothing => INITIAL_DELAY,
            _ => (self.srtt + self.variation()).min(LONGEST_DELAY),
        }
    }

    /// TMR-3, without a fixed delay.
    pub(crate) fn margin(&self) -> Micros {
        match self.known {
            Known::Nothing => 0,
            _ => self.variation().min(self.base_delay()),
        }
    }

    /// H of TMR-6, without a fixed delay; a hold that is so old.
    pub(crate) fn hold_delay(&self, since: Micros) -> Micros {
        match self.known {
            Known::Nothing => HOLD_DELAY,
            _ => self.srtt.max(SHORTEST_HOLD_DELAY).max(since / 4).min(HOLD_DELAY),
        }
    }

    /// V of TMR-2.
    fn variation(&self) -> Micros {
        LEAST_MARGIN.max(self.srtt / 8).max(4 * self.rttvar)
    }
}
