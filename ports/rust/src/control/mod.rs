//! The controller of RECOVERY.md: what the path carries, and what others need of it (sections 3 to
//! 10 and 13). Its ids such as LMT-2 are sentences of that document. Times are in microseconds and
//! intervals in nanoseconds; 0 is none of either.

mod cap;
mod limit;
mod pace;

use crate::round_trip::{RoundTrip, LONGEST_SAMPLE};
use crate::time::{Micros, MS};
use core::cell::Cell;

pub(crate) use pace::Speed;

/// Nanoseconds, slices, or eighths of a slice.
type Number = i64;

const ACK_DELAY: Micros = 2 * MS;
const MIN_RTT_LIFE: Micros = 10_000 * MS;
const DRAIN_FIRST: Micros = 2500 * MS;
const DRAIN_EVERY: Micros = 10_000 * MS;
const DRAIN_LATE: Micros = 7000 * MS;
const DRAIN_SOON: Micros = 500 * MS;
const DRAIN_MISSES: u32 = 3;
const FALL: Micros = MS;
const LONG_TRAIN: Number = 16;
const SHORT_TRAIN: Number = 4;
const TRAIN_TIME: Micros = 20 * MS;
const RATE_EPOCH: Micros = 10 * MS;
const FASTEST: Number = 7000;
const SLOWEST: Number = 1_000_000_000;
const FIRST_LIMIT: Number = 256;
const TWO_SLICES: Number = 16;
const ALARM_FIRST: Micros = 1000 * MS;
const LONGEST_PROBE: Micros = 1000 * MS;
const SILENT_TIMERS: u32 = 3;
const SILENT_ACKS: Number = 8;
const FIRST_LOST: Number = 16;
const FIRST_ARRIVED: Number = 512;
const SETTLED: Number = 1536;
const PRIOR: Number = 448;
const MOST_COUNTED: Number = 16_384;

/// RTT-7.
fn clip(time: Micros) -> Micros {
    time.min(LONGEST_SAMPLE)
}

/// The variables are those of REC-8, LMT-1, CTD-7 and CAP-1.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    speed: Speed,
    yields: bool,
    flight: Number, // slices

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
    ended_at: Micros,
    gap: Micros,
    fell: bool,
    misses: u32,
    busy_since: Micros,

    // The rate (RAT-1 to RAT-5).
    train: Option<Train>,
    gone_by: Number,
    arrival: Number,
    rate_of_epoch: Number,
    rate_before: Number,
    epoch_at: Micros,
    ran_dry_at: Option<Micros>,

    // The limit (LMT-1).
    limit: Number,
    step: Number,
    opening: bool,
    round_at: Micros,
    closes_at: Micros,
    low: Micros,
    low_before: Micros,
    most: Number,
    full: Cell<bool>, // set when somebody asks for room (LMT-9)
    blocked: Cell<bool>,
    round_lost: Number,
    round_passed: Number,
    marked: Number,
    sum_lost: Number,
    sum_passed: Number,
    calm_lost: Number,
    calm_passed: Number,
    noise: Micros,

    // Whose the queue is (CTD-7).
    contested: bool,
    calm_rounds: u32,
    rises: u32,
    rises_from: Micros,
    row: Option<limit::Row>,

    // Losses that a rate causes (CAP-1), and those of late (CAP-8).
    cap: Number,
    look: Number,
    seeking: bool,
    bad: u32,
    raised_at: Micros,
    loss_before: Number,
    calm: Number,
    look_at: Micros,
    wait: Number,
    account: cap::Account,
    lost: Number,
    arrived: Number,
    settled: bool,

    // Pace and timers.
    pace: pace::Pace,
    heard_at: Micros,
    timeouts: u32,
    unanswered: Number,
    silenced: bool,
    probe_at: Micros,
}

/// RAT-1.
#[derive(Clone, Copy, Debug)]
struct Train {
    since: Micros,
    news_at: Micros,
    gained: Number,
    pause: Micros,
}

impl Controller {
    /// Of who knows nothing of the path (REC-8).
    pub(crate) fn new(speed: Speed) -> Controller {
        Controller {
            speed,
            yields: false,
            flight: 0,
            round_trip: RoundTrip::new(),
            latest: 0,
            sampled: false,
            min_rtt: 0,
            sample_at: 0,
            drain_until: 0,
            drain_full_at: 0,
            drain_min: 0,
            drain_at: 0,
            ended_at: 0,
            gap: 0,
            fell: false,
            misses: 0,
            busy_since: 0,
            train: None,
            gone_by: 0,
            arrival: 0,
            rate_of_epoch: 0,
            rate_before: 0,
            epoch_at: 0,
            ran_dry_at: None,
            limit: FIRST_LIMIT,
            step: 8,
            opening: true,
            round_at: 0,
            closes_at: 0,
            low: 0,
            low_before: 0,
            most: 0,
            full: Cell::new(false),
            blocked: Cell::new(false),
            round_lost: 0,
            round_passed: 0,
            marked: 0,
            sum_lost: 0,
            sum_passed: 0,
            calm_lost: 0,
            calm_passed: 0,
            noise: 0,
            contested: false,
            calm_rounds: 0,
            rises: 0,
            rises_from: 0,
            row: None,
            cap: 0,
            look: 0,
            seeking: false,
            bad: 0,
            raised_at: 0,
            loss_before: 0,
            calm: 0,
            look_at: 0,
            wait: 0,
            account: cap::Account::default(),
            lost: FIRST_LOST,
            arrived: FIRST_ARRIVED,
            settled: false,
            pace: pace::Pace::default(),
            heard_at: 0,
            timeouts: 0,
            unanswered: 0,
            silenced: false,
            probe_at: 0,
        }
    }

    /// The controller's part of REC-2; `busy` is whether a chunk was in flight.
    pub(crate) fn begin(&mut self, now: Micros, busy: bool) {
        if !busy {
            self.busy_since = now;
            self.look = 0;
            self.begin_account(now);
        }
        self.round_trip.start();
        self.end_train();
    }

    /// So many slices are in flight (LMT-1).
    pub(crate) fn set_flight(&mut self, slices: u16) {
        self.flight = slices.into();
        self.most = self.most.max(8 * self.flight);
    }

    /// News of `n` slices that arrived and `missing` that were found lost (REC-11).
    pub(crate) fn news(&mut self, now: Micros, n: u16, passed: Number, missing: u16) {
        let (n, missing) = (n.into(), missing.into());
        if n > 0 {
            self.heard_at = now; // PTO-6
            self.timeouts = 0;
            self.unanswered = 0;
            self.probe_at = 0;
            self.silenced = false;
        }
        if self.draining() && now >= self.drain_until {
            self.end_drain(now);
        }
        self.count(n, missing);
        self.on_train(now, n, passed);
        self.on_account(now, n, missing);
        self.on_round(now, n, missing);
    }

    /// CAP-8.
    fn count(&mut self, n: Number, missing: Number) {
        self.arrived += 16 * n;
        self.lost = (self.lost + 16 * missing).max(0);
        if !self.settled && self.arrived >= SETTLED {
            self.arrived -= PRIOR;
            self.settled = true;
        }
        if self.lost + self.arrived > MOST_COUNTED {
            self.lost /= 2;
            self.arrived = (self.arrived / 2).max(1);
        }
    }

    /// ECN-1.
    pub(crate) fn marks(&mut self, count: u16) {
        self.marked = self.marked.saturating_add(count.into());
    }

    /// WIN-5.
    pub(crate) fn yields(&mut self, yields: bool) {
        self.yields = yields;
    }

    /// A probe timer ran out (PTO-3, PTO-7).
    pub(crate) fn timer_ran_out(&mut self, now: Micros) {
        self.end_train();
        let delay = self.round_trip.base_delay();
        let measured = self.round_trip.is_measured();
        let first = if measured { delay / 8 } else { delay };
        self.probe_at = now + (first << self.timeouts.min(10)).min(LONGEST_PROBE);
        self.timeouts = self.timeouts.saturating_add(1);
        if !measured {
            self.limit = (self.limit.min(self.most) / 2).max(TWO_SLICES);
        } else if !self.silenced && self.timeouts >= SILENT_TIMERS && self.acks_expected() >= SILENT_ACKS {
            self.limit = (self.limit / 2).max(self.limit.min(TWO_SLICES));
        } else {
            return;
        }
        self.silenced = true;
        self.step = (self.limit / 4).max(1);
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

    /// A clean sample of the round trip (EST-2).
    pub(crate) fn clean_sample(&mut self, now: Micros, r: Micros) {
        let r = clip(r).max(1);
        self.round_trip.sample(r);
        self.latest = r;
        self.sampled = true;
        let forgotten = self.min_rtt == 0 || now - self.sample_at >= MIN_RTT_LIFE;
        self.sample_at = now;
        if forgotten {
            self.min_rtt = r; // EST-6
            self.misses = 0;
            self.drain_at = now + DRAIN_FIRST;
            self.drain_until = 0;
            return;
        }
        if r < self.min_rtt {
            self.round_trip_fell(now, r);
        }
        let ended = if self.draining() { self.drained(now, r) } else { None };
        let busy = self.contested || now - self.busy_since >= DRAIN_FIRST || now - self.drain_at >= DRAIN_LATE;
        if !self.draining() && now >= self.drain_at && busy {
            self.begin_drain(now, r);
        }
        if let Some(near) = ended {
            self.noise = self.noise * 3 / 4; // CTD-5
            if self.contested && near {
                self.end_contest(now);
            }
        }
    }

    /// EST-8.
    fn round_trip_fell(&mut self, now: Micros, r: Micros) {
        if self.min_rtt - r >= FALL {
            self.fell = true;
            if !self.draining() && !self.contested {
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
    fn drained(&mut self, now: Micros, r: Micros) -> Option<bool> {
        self.drain_min = self.drain_min.min(r);
        let near = self.drain_min <= self.min_rtt + (self.min_rtt / 8).max(ACK_DELAY);
        if now < self.drain_until && !(near && !self.fell && now >= self.drain_full_at) {
            return None;
        }
        self.end_drain(now);
        if near {
            self.misses = 0;
        } else if !self.contested {
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
        self.ended_at = now;
        self.drain_at = now + DRAIN_EVERY;
        self.gap = (2 * self.gap.max(ALARM_FIRST)).min(DRAIN_EVERY);
        if self.fell {
            self.drain_at = now + DRAIN_SOON;
            self.gap = DRAIN_SOON;
        }
        self.fell = false;
    }

    /// Something else than the path and the pace held the sender back.
    pub(crate) fn ran_dry(&mut self, now: Micros) {
        self.ran_dry_at = Some(now);
    }

    pub(crate) fn end_train(&mut self) {
        self.train = None;
    }

    /// RAT-1.
    fn on_train(&mut self, now: Micros, n: Number, passed: Number) {
        self.gone_by += passed;
        if n == 0 {
            return;
        }
        if let Some(train) = &mut self.train {
            train.gained += n;
            train.pause = train.pause.max(now - train.news_at);
            train.news_at = now;
            let train = *train;
            let long = now - train.since >= (self.min_rtt / 2).max(TRAIN_TIME);
            if train.gained < LONG_TRAIN && (train.gained < SHORT_TRAIN || !long) {
                return;
            }
            self.on_whole_train(now, train);
        }
        self.train = Some(Train { since: now, news_at: now, gained: 0, pause: 0 });
        self.gone_by = 0;
    }

    /// RAT-2 to RAT-4.
    fn on_whole_train(&mut self, now: Micros, train: Train) {
        let (took, gained) = (1000 * clip(now - train.since), train.gained.max(1));
        self.arrival = (took - 1000 * clip(train.pause)).max(0) / gained;
        let mut x = took / gained;
        if self.gone_by > gained {
            let slower = x * (1024 - self.calm.clamp(256, 512)) / 1024;
            x = (took / self.gone_by.max(1)).max(slower); // RAT-3
        }
        x = x.max(FASTEST);
        let known = self.measured_per_slice();
        let dry = self.ran_dry_at.map_or(false, |at| at >= train.since - self.round_trip.srtt());
        if known == 0 || x < known || !dry {
            self.keep_rate(now, x);
        }
    }

    /// RAT-5.
    fn keep_rate(&mut self, now: Micros, x: Number) {
        if self.rate_of_epoch == 0 || now - self.epoch_at >= self.round_trip.srtt().max(RATE_EPOCH) {
            self.rate_before = self.rate_of_epoch;
            self.rate_of_epoch = x;
            self.epoch_at = now;
        }
        self.rate_of_epoch = self.rate_of_epoch.min(x);
    }

    /// 0 while it is unknown.
    fn measured_per_slice(&self) -> Number {
        match self.rate_before {
            0 => self.rate_of_epoch,
            before => before.min(self.rate_of_epoch),
        }
    }

    /// The same, as the profile has it (PRO-4).
    fn per_slice(&self) -> Number {
        match self.speed.fixed {
            true => self.speed.interval.max(FASTEST),
            false => self.measured_per_slice(),
        }
    }
}
