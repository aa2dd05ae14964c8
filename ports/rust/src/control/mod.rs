//! The controller of RECOVERY.md: what the path carries, and what others need of it. Its ids such as
//! DCS-2 are sentences of that document. Times are in microseconds and intervals in nanoseconds; 0 is
//! none of either.

mod limit;
mod pace;

use crate::round_trip::{RoundTrip, LONGEST_SAMPLE};
use crate::time::{Micros, MS};

pub(crate) use pace::Speed;

/// Nanoseconds, slices, or 64ths of a slice.
type Number = i64;

const SECOND: Micros = 1000 * MS;
const LIFE: Micros = 10 * SECOND;
const DRAIN_FIRST: Micros = 2500 * MS;
const DRAIN_MISSES: u32 = 3;
const FASTEST: Number = 7000;
const SLOWEST: Number = 1_000_000_000;
const WHOLE: Number = 64;
const FIRST_LIMIT: Number = 16 * WHOLE;
const TWO_SLICES: Number = 2 * WHOLE;
const STEP: Number = 24;
const PART: Number = 4;
const PRIOR_PASSED: Number = 32;
const GAP_SIZE: Number = 2;
const SILENT_DELAYS: Micros = 3;
const SILENT_ACKS: Number = 8;
const FIRST_LOST: Number = 16;
const FIRST_ARRIVED: Number = 16 * PRIOR_PASSED;
const MOST_COUNTED: Number = 16 * 1024;

/// RTT-7.
fn clip(time: Micros) -> Micros {
    time.min(LONGEST_SAMPLE)
}

/// The square root, rounded down; the value is below 2^62.
fn root(value: Number) -> Number {
    let mut root = 0;
    for bit in (0..31).rev() {
        let next: Number = root + (1 << bit);
        if next * next <= value {
            root = next;
        }
    }
    root
}

/// The variables are those of section 2 of RECOVERY.md.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    speed: Speed,
    yields: bool,
    flight: Number, // slices
    active: bool,   // a chunk is in flight

    // The round trip (EST-1 to EST-10).
    pub(crate) round_trip: RoundTrip,
    latest: Micros,
    sampled: bool,
    min_rtt: Micros,
    sample_at: Micros,
    drain_until: Micros,
    drain_full_at: Micros,
    drain_min: Micros,
    drain_at: Micros,
    fell: bool,
    misses: u32,

    // The limit, and the decision at hand.
    limit: Number,
    step: Number,
    quiet: Number,
    ceiling: Number,
    low: Number,
    opening: bool,
    began_at: Micros,
    decides_at: Micros,
    counts_at: Micros,
    least: Micros,
    waits: Micros,
    samples: Number,
    least_wait: Micros,
    most: Number,
    round_lost: Number,
    round_passed: Number,
    marked: Number,

    // Whose the queue is (OTH-2 to OTH-4).
    others: bool,
    above: u32,
    from: Number,
    from_speed: Number,
    hit: bool,

    // The answer to loss (LSS-1 to LSS-8).
    phase: limit::Phase,
    before: limit::Before,
    sum_lost: Number,
    sum_passed: Number,
    calm_lost: Number,
    calm_passed: Number,

    // The circuit breaker (BRK-3 to BRK-5).
    broken: bool,
    calm_at: Micros,
    group_lost: Number,
    group_passed: Number,

    // Losses of late (CAP-8).
    lost: Number,
    arrived: Number,

    // Pace and timers.
    pace: pace::Pace,
    heard_at: Micros,
    timeouts: u32,
    unanswered: Number,
    suspects: Number,
    silenced: bool,
    probe_at: Micros,
}

impl Controller {
    /// Of who knows nothing of the path (REC-8).
    pub(crate) fn new(speed: Speed) -> Controller {
        Controller {
            speed,
            yields: false,
            flight: 0,
            active: false,
            round_trip: RoundTrip::new(),
            latest: 0,
            sampled: false,
            min_rtt: 0,
            sample_at: 0,
            drain_until: 0,
            drain_full_at: 0,
            drain_min: 0,
            drain_at: 0,
            fell: false,
            misses: 0,
            limit: FIRST_LIMIT,
            step: STEP,
            quiet: 0,
            ceiling: 0,
            low: 0,
            opening: true,
            began_at: 0,
            decides_at: 0,
            counts_at: 0,
            least: 0,
            waits: 0,
            samples: 0,
            least_wait: 0,
            most: 0,
            round_lost: 0,
            round_passed: 0,
            marked: 0,
            others: false,
            above: 0,
            from: 0,
            from_speed: 0,
            hit: false,
            phase: limit::Phase::Steady,
            before: limit::Before::default(),
            sum_lost: 0,
            sum_passed: 0,
            calm_lost: 0,
            calm_passed: 0,
            broken: false,
            calm_at: 0,
            group_lost: 0,
            group_passed: 0,
            lost: FIRST_LOST,
            arrived: FIRST_ARRIVED,
            pace: pace::Pace::default(),
            heard_at: 0,
            timeouts: 0,
            unanswered: 0,
            suspects: 0,
            silenced: false,
            probe_at: 0,
        }
    }

    /// The controller's part of REC-2.
    pub(crate) fn begin(&mut self, now: Micros) {
        if !self.active {
            self.resume(now);
            self.active = true;
        }
        self.set_flight(0);
        self.round_trip.start();
    }

    /// IDL-1, IDL-2, DCS-4.
    fn resume(&mut self, now: Micros) {
        let mut idle = now - self.heard_at;
        if self.decides_at == 0 {
            return;
        }
        if idle >= self.latest {
            self.heard_at = now;
            self.began_at += idle;
            self.decides_at += idle;
            self.calm_at += idle;
            self.drain_at = self.drain_at.max(now + DRAIN_FIRST);
            while idle >= 2 * LIFE && self.limit > FIRST_LIMIT {
                self.limit = (self.limit / 2).max(FIRST_LIMIT);
                idle -= LIFE;
            }
        }
        if self.counts_at == 0 {
            self.counts_at = now + self.decision_time();
            self.decides_at = self.decides_at.max(self.counts_at + self.latest / PART);
        }
    }

    /// So many slices are in flight.
    pub(crate) fn set_flight(&mut self, slices: u16) {
        self.flight = slices.into();
        self.most = self.most.max(WHOLE * self.flight);
    }

    /// All of the chunk has arrived.
    pub(crate) fn leave(&mut self) {
        self.set_flight(0);
        self.active = false;
    }

    /// News of `n` slices that arrived and `missing` that were found lost, or fewer than none if some came late (REC-11, SUS-3, SUS-4).
    pub(crate) fn news(&mut self, now: Micros, n: u16, missing: Number) {
        let n = Number::from(n);
        let mut counted = missing;
        if n > 0 {
            if !self.silenced && self.active && self.limit < (GAP_SIZE + 1) * WHOLE {
                counted += self.suspects;
            } else {
                self.group_lost += self.suspects;
                self.group_passed += self.suspects;
            }
            self.suspects = 0;
            self.heard_at = now; // PTO-6
            self.timeouts = 0;
            self.unanswered = 0;
            self.probe_at = 0;
            self.silenced = false;
        }
        if self.draining() && now >= self.drain_until {
            self.end_drain(now);
            self.restart(now);
        }
        self.count(n, missing);
        self.decide(now, n, counted);
    }

    /// CAP-8.
    fn count(&mut self, n: Number, missing: Number) {
        self.arrived += 16 * n;
        self.lost = (self.lost + 16 * missing).max(0);
        if self.lost + self.arrived > MOST_COUNTED {
            self.lost /= 2;
            self.arrived = (self.arrived / 2).max(1);
        }
    }

    /// ECN-1.
    pub(crate) fn marks(&mut self, count: u16) {
        self.marked = self.marked.saturating_add(count.into());
    }

    /// ROOM-3.
    pub(crate) fn yields(&mut self, yields: bool) {
        self.yields = yields;
    }

    /// A probe timer ran out, and so many slices were given up (PTO-3, PTO-7, SUS-1).
    pub(crate) fn timer_ran_out(&mut self, now: Micros, given_up: Number) {
        let delay = self.round_trip.base_delay();
        self.suspects += given_up;
        self.probe_at = now + (delay << self.timeouts.min(10)).min(delay.max(SLOWEST / 1000));
        self.timeouts = self.timeouts.saturating_add(1);
        if !self.round_trip.is_measured() {
            self.limit = (self.limit.min(self.most) / 2).max(TWO_SLICES);
        } else if !self.silenced && now - self.heard_at >= SILENT_DELAYS * delay && self.acks_expected() >= SILENT_ACKS
        {
            self.ceiling = self.limit;
            self.limit = (self.limit / 2).max(self.limit.min(TWO_SLICES));
        } else {
            return;
        }
        self.silenced = true;
        self.step = STEP;
        self.quiet = 0;
        self.opening = !self.broken;
    }

    /// So much of what a timer had given up has arrived (SUS-2).
    pub(crate) fn late(&mut self, count: Number) {
        self.suspects = (self.suspects - count.max(0)).max(0);
    }

    /// How many slices must be under way for `missing` to arrive (RPL-4 of REPAIR.md), with the square of so many
    /// standard deviations, and `most` at the most.
    pub(crate) fn need(&self, missing: u16, deviations: Number, most: Number) -> Number {
        let missing = Number::from(missing);
        let arrived = self.arrived.max(1);
        let lost = self.lost.min(32 * arrived);
        let mean = 256 * missing * lost / arrived;
        let variance = mean + mean * lost / arrived;
        let variance = variance + variance * 16 * missing / arrived;
        (missing + (mean + root(256 * deviations * variance) + 128) / 256).min(most)
    }

    /// How many acks those that went out should have drawn (PTO-7).
    fn acks_expected(&self) -> Number {
        let all = (self.arrived + self.lost).max(1);
        self.unanswered * self.arrived / all * self.arrived / all
    }

    /// The smallest clean sample of late, 0 before there is one.
    pub(crate) fn min_rtt(&self) -> Micros {
        self.min_rtt
    }

    /// A clean sample of the round trip (EST-2, LSS-8, OTH-4).
    pub(crate) fn clean_sample(&mut self, now: Micros, r: Micros) {
        let (r, was, t) = (clip(r).max(1), self.min_rtt, self.target());
        self.round_trip.sample(r);
        self.latest = r;
        self.sampled = true;
        let ended = self.sample_min_rtt(now, r, t);
        if was - self.min_rtt >= t / PART {
            self.forget_calm();
        }
        if let Some(near) = ended {
            if near && self.others {
                self.others = false;
                self.above = 0;
                self.drain_at = now + LIFE;
            }
            self.restart(now);
        }
    }

    /// A sample of a slice that was sent again (EST-3).
    pub(crate) fn resent_sample(&mut self, r: Micros) {
        let r = clip(r).max(1);
        self.round_trip.smooth(r);
        self.wait(self.queue(r).max(0));
    }

    /// EST-6 to EST-10, with the target as it was before the sample: if a drain has ended, whether its smallest sample was near.
    fn sample_min_rtt(&mut self, now: Micros, r: Micros, t: Micros) -> Option<bool> {
        let forgotten = self.min_rtt == 0 || now - self.sample_at >= LIFE;
        self.sample_at = now;
        if forgotten {
            self.min_rtt = r; // EST-6
            self.misses = 0;
            self.drain_at = now + DRAIN_FIRST;
            self.drain_until = 0;
            return None;
        }
        if r < self.min_rtt {
            self.round_trip_fell(now, r, t);
        }
        let ended = if self.draining() { self.drained(now, r, t) } else { None };
        if !self.draining() && now >= self.drain_at && (!self.others || now - self.drain_at >= LIFE) {
            self.begin_drain(now, r);
        }
        ended
    }

    /// EST-8.
    fn round_trip_fell(&mut self, now: Micros, r: Micros, t: Micros) {
        if self.min_rtt - r >= t / PART {
            self.fell = true;
            if !self.draining() && !self.others {
                self.begin_drain(now, r);
            }
        }
        self.min_rtt = r;
    }

    fn draining(&self) -> bool {
        self.drain_until != 0
    }

    /// EST-7.
    fn begin_drain(&mut self, now: Micros, r: Micros) {
        self.drain_until = now + 2 * self.round_trip.srtt().max(r);
        self.drain_full_at = now + r;
        self.drain_min = r;
    }

    /// A sample in a drain (EST-9, EST-10): if it ends the drain, whether its smallest one was near.
    fn drained(&mut self, now: Micros, r: Micros, t: Micros) -> Option<bool> {
        self.drain_min = self.drain_min.min(r);
        let near = self.drain_min <= self.min_rtt + t / 2;
        if now < self.drain_until && !(near && !self.fell && now >= self.drain_full_at) {
            return None;
        }
        self.end_drain(now);
        if near {
            self.misses = 0;
        } else {
            self.misses += 1;
            if self.misses == DRAIN_MISSES {
                self.min_rtt = self.drain_min;
                self.misses = 0;
            }
        }
        Some(near)
    }

    /// EST-9.
    fn end_drain(&mut self, now: Micros) {
        self.drain_until = 0;
        self.drain_at = now + if self.fell { DRAIN_FIRST } else { LIFE };
        self.fell = false;
    }
}
