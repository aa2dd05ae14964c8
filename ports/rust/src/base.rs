//! The base algorithm (appendix G).

use crate::limits::{ChunkSize, OutOfRange, HEADER, MAX_DATAGRAM};
use crate::round_trip::RoundTrip;
use crate::sender::Scheduler;
use crate::set::{PerSlice, SliceSet};
use crate::time::{Micros, MAX_GIVE_UP, MS};
use core::num::NonZeroU64;

const GAP_SIZE: u64 = 2;
const PROBES: u16 = 2;
const MAX_BACKOFF: u32 = 3;
const REPEAT_DELAY: Micros = 250 * MS;
const BUDGET_MIN: u32 = 1066;
const BUDGET_MAX: u32 = 1_000_000_000;
const LONGEST_PAY: Micros = 1_000_000 * MS;
const CATCH_UP: Micros = 20 * MS;
const MILLION: i64 = 1_000_000;
const LARGEST_COST: u32 = (MAX_DATAGRAM + HEADER) as u32; // bytes

/// How fast the algorithm sends (appendix G.5); the limits are those of BUD-1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Bytes a second, with headers, 1,066 to 10^9; 0: unlimited.
    pub rate: u32,
    /// The most bytes that the budget holds, 1,066 to 10^9.
    pub cap: u32,
    /// What it holds at least when a chunk begins, in bytes, 0 to the cap.
    pub burst: u32,
    /// Whether what arrives refills it (BUD-6).
    pub acks_pay: bool,
    /// Between two slices, 0 to [`MAX_GIVE_UP`].
    pub spacing: Micros,
    /// The wait before a slice is resent by a timer, 0 to [`MAX_GIVE_UP`]; 0: from the round trip.
    pub resend_delay: Micros,
}

impl Profile {
    /// All slices at once, at 100 Mbit/s; then as much as arrives, but 1 Mbit/s at least.
    pub const BURST: Profile = Profile {
        rate: 125_000,
        cap: 256 * LARGEST_COST,
        burst: 256 * LARGEST_COST,
        acks_pay: true,
        spacing: 85,
        resend_delay: 0,
    };

    /// A fixed rate in bytes a second.
    #[must_use]
    pub fn fixed(rate: u32) -> Profile {
        let cap = (16 * LARGEST_COST).max(rate / 50);
        Profile { rate, cap, burst: 0, acks_pay: false, spacing: 0, resend_delay: 0 }
    }

    /// A fixed rate in bytes a second, and resends after 100 ms, as in the article.
    #[must_use]
    pub fn article(rate: u32) -> Profile {
        Profile { resend_delay: 100 * MS, ..Profile::fixed(rate) }
    }

    /// BUD-1.
    fn check(&self) -> Result<(), OutOfRange> {
        let limits = BUDGET_MIN..=BUDGET_MAX;
        let within = [
            ("rate", self.rate == 0 || limits.contains(&self.rate)),
            ("cap", limits.contains(&self.cap)),
            ("burst", self.burst <= self.cap),
            ("spacing", (0..=MAX_GIVE_UP).contains(&self.spacing)),
            ("resend_delay", (0..=MAX_GIVE_UP).contains(&self.resend_delay)),
        ];
        within.iter().find(|(_, within)| !within).map_or(Ok(()), |(figure, _)| Err(OutOfRange(figure)))
    }
}

/// The base algorithm, a scheduler for paths of which the application knows the rate (section 1.3).
#[derive(Clone, Debug)]
pub struct Base {
    profile: Profile,
    round_trip: RoundTrip,
    budget: Budget,
    spaced_until: Micros,
    chunk: Option<ChunkSize>, // from here on anew with each chunk (SCH-5)
    unacked: SliceSet,
    due: SliceSet,
    cursor: u16,
    probe: u16,
    count: u64,
    arrived: u64,
    at_best: u64,
    sent: PerSlice<Sent>,
    sent_at: Micros,
    news_at: Micros,
    held_at: Option<Micros>, // Some while held
    backoff: u32,
}

/// The transmissions of a slice, by number and time; 0 if it was never sent.
#[derive(Clone, Copy, Default, Debug)]
struct Sent {
    first: u64,
    last: u64,
    first_at: Micros,
    last_at: Micros,
}

impl Sent {
    fn resent(&self) -> bool {
        self.first != self.last
    }
}

impl Base {
    /// Refuses figures outside their limits (BUD-1).
    pub fn new(profile: Profile) -> Result<Base, OutOfRange> {
        profile.check()?;
        Ok(Base {
            profile,
            round_trip: RoundTrip::new(),
            budget: Budget::new(&profile),
            spaced_until: 0,
            chunk: None,
            unacked: SliceSet::EMPTY,
            due: SliceSet::EMPTY,
            cursor: 0,
            probe: 0,
            count: 0,
            arrived: 0,
            at_best: 0,
            sent: PerSlice::new(Sent::default()),
            sent_at: 0,
            news_at: 0,
            held_at: None,
            backoff: 0,
        })
    }

    fn num_slices(&self) -> u16 {
        self.chunk.map_or(0, |chunk| chunk.num_slices().get())
    }

    /// BUD-2, in millionths of a byte. The frame has 13 bytes around the data, 14 in the last slice.
    fn cost(&self, k: u8) -> i64 {
        let bytes = self.chunk.map_or(0, |chunk| chunk.slice_bytes(k) + usize::from(k == chunk.num_slices().last()));
        (bytes + 13 + HEADER) as i64 * MILLION
    }

    /// SPC-3.
    fn enter_due(&mut self, now: Micros, k: u8) {
        if self.due.is_empty() {
            self.spaced_until = self.spaced_until.max(now);
        }
        self.due.insert(k);
    }

    /// RTT-1 to RTT-4.
    fn take_sample(&mut self, now: Micros, news: &SliceSet) {
        if let Some(sent) = self.latest_of(news, |sent| !sent.resent()) {
            self.round_trip.sample(now - sent.last_at);
        } else if let Some(min_rtt) = self.round_trip.min_rtt() {
            if let Some(sent) = self.latest_of(news, |sent| now - sent.last_at >= min_rtt) {
                self.round_trip.smooth(now - sent.last_at);
            }
        } else if let Some(sent) = self.latest_of(news, |_| true) {
            self.round_trip.bounded_by(now - sent.first_at);
        }
    }

    /// Of these slices that `eligible` takes, the one with the largest `last`.
    fn latest_of(&self, news: &SliceSet, eligible: impl Fn(&Sent) -> bool) -> Option<Sent> {
        news.iter().map(|k| self.sent[k]).filter(eligible).max_by_key(|sent| sent.last)
    }

    /// GAP-1.
    fn note_arrival(&mut self, now: Micros, k: u8) {
        let sent = self.sent[k];
        let in_time = self.round_trip.min_rtt().map_or(false, |min_rtt| now - sent.last_at >= min_rtt);
        let number = if !sent.resent() || in_time { sent.last } else { sent.first };
        self.arrived = self.arrived.max(number);
        self.at_best = self.at_best.max(sent.last);
    }

    /// GAP-2.
    fn find_lost(&mut self, now: Micros) {
        let outstanding = self.unacked & !self.due;
        for k in outstanding.iter() {
            if self.sent[k].last + GAP_SIZE <= self.arrived {
                self.enter_due(now, k);
            }
        }
    }

    /// The end of a hold: what was never sent is due again (SCH-8).
    fn release(&mut self, now: Micros) {
        if self.held_at.take().is_none() {
            return;
        }
        for k in self.unacked.iter() {
            if self.sent[k].last == 0 {
                self.enter_due(now, k);
            }
        }
    }

    /// When the resend timer runs out (TMR-1, TMR-6).
    fn timer(&self) -> Micros {
        match self.held_at {
            Some(held_at) => self.sent_at.max(held_at) + self.hold_delay(held_at),
            None => (self.sent_at + self.resend_delay()).max(self.news_at + self.margin()),
        }
    }

    /// TMR-5.
    fn resend_delay(&self) -> Micros {
        let base = match self.profile.resend_delay {
            0 => self.round_trip.base_delay(),
            fixed => fixed,
        };
        let longest = (base / 8).max(REPEAT_DELAY);
        match self.backoff {
            0 => base,
            _ if base >= longest => longest, // and what is shifted does not overflow
            backoff => (base << backoff).min(longest),
        }
    }

    /// TMR-3.
    fn margin(&self) -> Micros {
        match self.profile.resend_delay {
            0 => self.round_trip.margin(),
            _ => 0,
        }
    }

    /// H of TMR-6.
    fn hold_delay(&self, held_at: Micros) -> Micros {
        match self.profile.resend_delay {
            0 => self.round_trip.hold_delay(self.sent_at - held_at),
            fixed => fixed,
        }
    }

    /// TMR-4.
    fn timer_ran_out(&mut self, now: Micros) {
        self.arrived = self.at_best;
        self.find_lost(now);
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        let probes = if self.held_at.is_some() { 1 } else { PROBES << (self.backoff - 1) };
        for _ in 0..probes.min(self.unacked.len()) {
            let below = self.unacked.last_below(self.probe);
            if let Some(k) = below.or_else(|| self.unacked.last_below(256)) {
                self.probe = k.into();
                self.enter_due(now, k);
            }
        }
    }

    /// Step 3 of SCH-6.
    fn next_due(&self) -> Option<u8> {
        self.due.first_from(self.cursor).or_else(|| self.due.first_from(0))
    }

    /// SCH-7, SPC-2.
    fn send(&mut self, now: Micros, k: u8) {
        self.count += 1;
        let sent = &mut self.sent[k];
        if sent.first == 0 {
            sent.first = self.count;
            sent.first_at = now;
        }
        sent.last = self.count;
        sent.last_at = now;
        self.sent_at = now;
        self.due.remove(k);
        self.cursor = u16::from(k) + 1;
        self.spaced_until = self.spaced_until.max(now - CATCH_UP) + self.profile.spacing;
    }
}

impl Scheduler for Base {
    /// SCH-5.
    fn start(&mut self, now: Micros, chunk: ChunkSize) {
        self.round_trip.start();
        self.chunk = Some(chunk);
        self.unacked = SliceSet::all(chunk.num_slices());
        self.due = self.unacked;
        self.cursor = 0;
        self.probe = self.num_slices();
        self.count = 0;
        self.arrived = 0;
        self.at_best = 0;
        self.sent = PerSlice::new(Sent::default());
        self.sent_at = now;
        self.news_at = now;
        self.held_at = None;
        self.backoff = 0;
        self.spaced_until = self.spaced_until.max(now);
        self.budget.time_pays(now);
        self.budget.start();
    }

    /// SCH-8.
    fn newly_acked(&mut self, now: Micros, slices: &SliceSet) {
        self.news_at = now;
        self.backoff = 0;
        self.probe = self.num_slices();
        self.take_sample(now, slices);
        slices.iter().for_each(|k| self.note_arrival(now, k));
        self.unacked = self.unacked & !*slices;
        self.due = self.due & !*slices;
        self.release(now);
        self.find_lost(now);
        self.budget.time_pays(now);
        self.budget.acks_pay(slices.iter().map(|k| self.cost(k)).sum());
    }

    /// SCH-10.
    fn hold(&mut self, now: Micros) {
        self.held_at = self.held_at.or(Some(now));
        self.due = SliceSet::EMPTY;
    }

    /// SCH-6.
    fn next(&mut self, now: Micros) -> Option<u8> {
        if self.due.is_empty() && !self.unacked.is_empty() && now >= self.timer() {
            self.timer_ran_out(now);
        }
        let k = self.next_due()?;
        if now < self.spaced_until {
            return None; // SPC-1
        }
        self.budget.time_pays(now);
        if !self.budget.take(self.cost(k)) {
            return None;
        }
        self.send(now, k);
        Some(k)
    }

    /// SCH-9.
    fn deadline(&self) -> Option<Micros> {
        match self.next_due() {
            Some(k) => Some(self.spaced_until.max(self.budget.covers_at(self.cost(k)))),
            None if self.unacked.is_empty() => None,
            None => Some(self.timer()),
        }
    }
}

/// What may be sent (appendix G.4), in millionths of a byte.
#[derive(Clone, Copy, Debug)]
struct Budget {
    rate: i64, // millionths of a byte in a microsecond
    cap: i64,
    burst: i64,
    acks_pay: bool,
    left: i64,
    by_time: i64,
    paid_at: Micros,
}

impl Budget {
    fn new(profile: &Profile) -> Budget {
        let cap = i64::from(profile.cap) * MILLION;
        Budget {
            rate: profile.rate.into(),
            cap,
            burst: i64::from(profile.burst) * MILLION,
            acks_pay: profile.acks_pay,
            left: cap,
            by_time: 0,
            paid_at: 0,
        }
    }

    /// BUD-5.
    fn start(&mut self) {
        self.left = self.left.max(self.burst);
        self.by_time = 0;
    }

    /// BUD-3.
    fn time_pays(&mut self, now: Micros) {
        let earned = self.rate * (now - self.paid_at).min(LONGEST_PAY);
        self.paid_at = now;
        self.by_time = (self.by_time + earned).min(self.cap);
        self.left = (self.left + earned).min(self.cap);
    }

    /// BUD-6.
    fn acks_pay(&mut self, acked: i64) {
        if !self.acks_pay {
            return;
        }
        if acked > self.by_time {
            self.left = (self.left + acked - self.by_time).min(self.cap);
        }
        self.by_time = 0;
    }

    /// Takes the cost if the budget covers it (BUD-2).
    fn take(&mut self, cost: i64) -> bool {
        if self.rate == 0 {
            return true;
        }
        let covered = self.left >= cost;
        if covered {
            self.left -= cost;
        }
        covered
    }

    /// BUD-4.
    fn covers_at(&self, cost: i64) -> Micros {
        match NonZeroU64::new(self.rate as u64) {
            Some(rate) if self.left < cost => {
                let short = (cost - self.left) as u64;
                self.paid_at + ((short + rate.get() - 1) / rate) as Micros
            }
            _ => self.paid_at,
        }
    }
}
