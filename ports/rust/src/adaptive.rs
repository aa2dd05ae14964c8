//! The recommended scheduler (RECOVERY.md): lost slices and copies (sections 2, 11 and 12) on the
//! controller. Its ids such as REC-5 are sentences of that document.

use crate::control::{Controller, Speed};
use crate::limits::{ChunkSize, OutOfRange, MAX_SLICES};
use crate::round_trip::LONGEST_SAMPLE;
use crate::sender::Scheduler;
use crate::set::{PerSlice, SliceSet};
use crate::time::{earlier, Micros};

const GAP_SIZE: u64 = 2;
const PROBES: usize = 2;
const MAX_COPIES: i64 = 4;
const COPY_BUDGET: i64 = 64;
const SPREAD_BUDGET: i64 = 512;
const LEAST_RATE: u64 = 8 * 1066;
const MOST_RATE: u64 = 8_000_000_000;

/// How the scheduler sends (RECOVERY.md, section 14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recovery {
    /// Controls congestion; the default.
    Adaptive,
    /// The same, with more copies where slices are lost: some 5 to 10 % more bytes, and fewer late ends.
    Redundant,
    /// The first flight at 100 Mbit/s whatever the path carries: for paths of which the rate is known.
    Burst,
    /// The rate of the limit, which it needs: for paths of which the rate is known.
    Fixed,
}

/// The recommended scheduler. It adapts to the path, and may be used beside others.
///
/// ```
/// use chunkwire::{Adaptive, Config, Recovery, Sender};
/// let mut sender = Sender::new(Config::default(), Adaptive::new(Recovery::Adaptive, 0).unwrap());
/// sender.submit(0, vec![1; 5000]).unwrap();
/// assert_eq!(sender.poll(0).packet.unwrap().slice_id(), 0);
/// assert_eq!(sender.deadline(), Some(85)); // 85 us, while nothing is known
/// ```
#[derive(Clone, Debug)]
pub struct Adaptive {
    redundant: bool,
    path: Controller,
    patience: Micros,
    now: Micros,     // of the latest event
    num_slices: u16, // from here on anew with each chunk (REC-2)
    unacked: SliceSet,
    fresh: u16,
    lost: SliceSet,
    count: u64,
    newest: u64,
    refused: u64, // up to this number the peer may have refused transmissions (SUS-5)
    sent: PerSlice<Sent>,
    sent_at: Micros,
    news_at: Micros,
    gap_at: Option<Micros>,
    oldest: Option<u8>,
    held_at: Option<Micros>, // Some while held
    idle: bool,
}

/// What is recorded of a slice.
#[derive(Clone, Copy, Default, Debug)]
struct Sent {
    first: u64,
    main: u64,
    last: u64,
    first_at: Micros,
    main_at: Micros,
    last_at: Micros,
    resends: u8,
    copies: u8,
    by_timer: bool,
}

/// What a profile with a limit in bits a second sets (PRO-1, PRO-4).
pub(crate) fn speed_of(recovery: Recovery, limit: u64) -> Result<Speed, OutOfRange> {
    let fixed = recovery == Recovery::Fixed;
    if limit == 0 && fixed || limit != 0 && !(LEAST_RATE..=MOST_RATE).contains(&limit) {
        return Err(OutOfRange("limit"));
    }
    let interval = 8 * 1066 * 1_000_000_000_u64;
    let interval = interval.checked_div(limit).unwrap_or(0) as i64;
    Ok(Speed { interval, burst: recovery == Recovery::Burst, fixed })
}

impl Adaptive {
    /// With a limit in bits a second with headers, 8,528 to 8 * 10^9, or 0 for none; `Fixed` needs
    /// one (PRO-1, PRO-4).
    pub fn new(recovery: Recovery, limit: u64) -> Result<Adaptive, OutOfRange> {
        Ok(Adaptive {
            redundant: recovery == Recovery::Redundant,
            path: Controller::new(speed_of(recovery, limit)?),
            patience: 0,
            now: 0,
            num_slices: 0,
            unacked: SliceSet::EMPTY,
            fresh: 0,
            lost: SliceSet::EMPTY,
            count: 0,
            newest: 0,
            refused: 0,
            sent: PerSlice::new(Sent::default()),
            sent_at: 0,
            news_at: 0,
            gap_at: None,
            oldest: None,
            held_at: None,
            idle: true,
        })
    }

    /// So many slices more arrived with a mark of congestion (ECN-1).
    pub fn marks(&mut self, count: u16) {
        self.path.marks(count);
    }

    /// From now on other packets on the path must not wait behind slices, or may (ROOM-3).
    pub fn yields(&mut self, yields: bool) {
        self.path.yields(yields);
    }

    /// The slices that are flying (REC-2).
    fn flying(&self) -> SliceSet {
        let sent: SliceSet = (0..=u8::MAX).take_while(|&k| u16::from(k) < self.fresh).collect();
        self.unacked & sent & !self.lost
    }

    fn update_flight(&mut self) {
        if self.unacked.is_empty() {
            self.path.leave();
        } else {
            self.path.set_flight(self.flying().len());
        }
    }

    /// The flying slice that was sent longest ago.
    fn find_oldest(&mut self) {
        self.oldest = self.flying().iter().min_by_key(|&k| self.sent[k].last);
    }

    /// EST-2 to EST-4.
    fn take_sample(&mut self, now: Micros, news: &SliceSet) {
        let (least, srtt) = (self.least(), self.path.round_trip.srtt());
        let follows = |sent: &Sent| now - sent.main_at >= least && (sent.copies == 0 || now - sent.main_at < srtt);
        if let Some(sent) = self.latest_of(news, |sent| sent.resends == 0 && sent.copies == 0) {
            self.path.clean_sample(now, now - sent.last_at);
        } else if self.path.round_trip.is_measured() {
            if let Some(sent) = self.latest_of(news, follows) {
                self.path.resent_sample(now - sent.main_at);
            }
        } else if let Some(sent) = self.latest_of(news, |_| true) {
            self.path.round_trip.bounded_by(now - sent.first_at);
        }
    }

    /// EST-1.
    fn latest_of(&self, news: &SliceSet, eligible: impl Fn(&Sent) -> bool) -> Option<Sent> {
        news.iter().map(|k| self.sent[k]).filter(eligible).max_by_key(|sent| sent.last)
    }

    /// EST-5.
    fn least(&self) -> Micros {
        self.path.min_rtt() * 15 / 16
    }

    /// The number of the transmission that arrived (LOS-1).
    fn arrived_as(&mut self, now: Micros, k: u8) -> u64 {
        let sent = self.sent[k];
        let measured = self.path.round_trip.is_measured();
        if sent.resends == 0 || measured && !self.lost.contains(k) && now - sent.main_at >= self.least() {
            return sent.main;
        }
        if measured && sent.by_timer {
            self.path.late(1);
        } else if measured && sent.resends == 1 {
            let late = (now - sent.first_at).min(LONGEST_SAMPLE) * 9 / 8; // LOS-4
            self.patience = self.patience.max(late.min(self.path.round_trip.srtt() * 3 / 2));
        }
        sent.first
    }

    /// LOS-2, LOS-3, PTO-1, SUS-5: how many it finds that the path has lost.
    fn find_lost(&mut self, now: Micros) -> u16 {
        let mut missing = 0;
        self.gap_at = None;
        for k in self.flying().iter() {
            let patient_until = self.sent[k].last_at + self.patience;
            if self.sent[k].last + GAP_SIZE > self.newest {
                continue;
            }
            if now < patient_until {
                self.gap_at = earlier(self.gap_at, Some(patient_until));
                continue;
            }
            missing += u16::from(self.sent[k].last > self.refused);
            self.lose(k, false);
        }
        self.find_oldest();
        self.update_flight();
        missing
    }

    fn lose(&mut self, k: u8, by_timer: bool) {
        self.lost.insert(k);
        self.sent[k].by_timer = by_timer;
    }

    /// The probe timer (PTO-1, PTO-2, PTO-5).
    fn timer(&self) -> Option<Micros> {
        if let Some(held_at) = self.held_at {
            return Some(self.sent_at.max(held_at) + self.path.round_trip.hold_delay(self.sent_at - held_at));
        }
        let oldest = self.sent[self.oldest?];
        let round_trip = &self.path.round_trip;
        let at = (oldest.last_at + round_trip.base_delay()).max(self.news_at + round_trip.margin());
        Some(at.max(self.path.probe_at()))
    }

    /// PTO-3, PTO-4.
    fn timer_ran_out(&mut self, now: Micros) {
        if self.held_at.is_some() {
            return self.hold_timer_ran_out();
        }
        let mut given_up = 0;
        for _ in 0..PROBES {
            let order = |k: &u8| (core::cmp::Reverse(self.sent[*k].resends), self.sent[*k].last);
            if let Some(k) = self.flying().iter().max_by_key(order) {
                self.lose(k, true);
                given_up += 1;
            }
        }
        self.path.timer_ran_out(now, given_up);
        self.update_flight();
    }

    /// PTO-5.
    fn hold_timer_ran_out(&mut self) {
        if let Some(k) = self.unacked.last_below(self.fresh) {
            self.lose(k, true);
        }
        self.update_flight();
    }

    /// `next` of REC-9.
    fn wanted(&self) -> Option<u8> {
        if let Some(k) = self.lost.first_from(0) {
            if self.path.has_room() {
                return Some(k);
            }
            let may = self.held_at.is_some() || self.now >= self.path.silent_at();
            return self.lost_by_timer().filter(|_| may);
        }
        if self.fresh == self.num_slices || self.held_at.is_some() || !self.path.has_room() {
            return None;
        }
        u8::try_from(self.fresh).ok()
    }

    /// The smallest slice of `lost` that a timer found lost.
    fn lost_by_timer(&self) -> Option<u8> {
        self.lost.iter().find(|&k| self.sent[k].by_timer)
    }

    /// `chosen` of REC-9, and whether it is a copy.
    fn chosen(&self) -> Option<(u8, bool)> {
        if let Some(k) = self.wanted() {
            return Some((k, false));
        }
        let nothing_else = self.lost.is_empty() && self.fresh == self.num_slices && self.held_at.is_none();
        if !nothing_else || !self.path.has_room() {
            return None;
        }
        self.copied().map(|k| (k, true))
    }

    /// CPY-1 to CPY-3.
    fn copied(&self) -> Option<u8> {
        let round_trip = &self.path.round_trip;
        if round_trip.is_unknown() || self.now - self.news_at > 4 * round_trip.base_delay() {
            return None;
        }
        let (budget, more) = if self.redundant { (SPREAD_BUDGET, 2) } else { (COPY_BUDGET, 1) }; // PRO-3
        let budget = budget.min(self.path.path_slices().min(MAX_SLICES as i64) / 2);
        let each = budget / i64::from(self.unacked.len().max(1));
        let may = |k: &u8| {
            let sent = self.sent[*k];
            let most = MAX_COPIES.min(more + i64::from(sent.resends)).min(each);
            1 + i64::from(sent.copies) < most && self.now - sent.main_at < round_trip.srtt() / 2
        };
        self.flying().iter().filter(may).min_by_key(|&k| self.sent[k].last)
    }

    /// REC-6.
    fn send(&mut self, now: Micros, k: u8, copy: bool) {
        self.count += 1;
        let fresh = u16::from(k) == self.fresh;
        let sent = &mut self.sent[k];
        sent.last = self.count;
        sent.last_at = now;
        self.sent_at = now;
        if copy {
            sent.copies = sent.copies.saturating_add(1);
        } else {
            sent.main = self.count;
            sent.main_at = now;
            if fresh {
                sent.first = self.count.min(65_535);
                sent.first_at = now;
                self.fresh += 1;
            } else {
                sent.resends = sent.resends.saturating_add(1);
                sent.copies = 0;
                self.lost.remove(k);
            }
        }
        if self.oldest.map_or(true, |oldest| oldest == k) {
            self.find_oldest();
        }
        self.update_flight();
    }
}

impl Scheduler for Adaptive {
    /// REC-2.
    fn start(&mut self, now: Micros, chunk: ChunkSize) {
        self.now = now;
        self.num_slices = chunk.num_slices().get();
        self.fresh = 0;
        self.lost = SliceSet::EMPTY;
        self.unacked = SliceSet::all(chunk.num_slices());
        self.path.begin(now);
        self.count = 0;
        self.newest = 0;
        self.refused = 0;
        self.sent = PerSlice::new(Sent::default());
        self.sent_at = now;
        self.news_at = now;
        self.gap_at = None;
        self.oldest = None;
        self.held_at = None;
        self.idle = true;
        self.patience -= self.patience / 16;
    }

    /// REC-3.
    fn newly_acked(&mut self, now: Micros, slices: &SliceSet) {
        self.now = now;
        self.take_sample(now, slices);
        for k in slices.iter() {
            self.newest = self.arrived_as(now, k).max(self.newest);
        }
        self.unacked = self.unacked & !*slices;
        self.lost = self.lost & !*slices;
        if self.held_at.is_some() {
            self.refused = self.count;
        }
        self.news_at = now;
        self.held_at = None;
        let missing = self.find_lost(now);
        self.path.news(now, slices.len(), missing.into());
    }

    /// REC-4.
    fn hold(&mut self, now: Micros) {
        self.now = now;
        self.held_at = self.held_at.or(Some(now));
        self.lost = SliceSet::EMPTY;
        self.update_flight();
    }

    /// REC-5.
    fn next(&mut self, now: Micros) -> Option<u8> {
        self.now = now;
        if self.gap_at.map_or(false, |at| now >= at) {
            let missing = self.find_lost(now);
            self.path.news(now, 0, missing.into());
        }
        if self.wanted().is_none() && self.timer().map_or(false, |at| now >= at) {
            self.timer_ran_out(now);
        }
        let chosen = self.chosen();
        self.path.polled(now, self.idle);
        self.idle = chosen.is_none();
        let (k, copy) = chosen?;
        if !self.path.lets_go(now, u16::from(k) == self.fresh) {
            return None;
        }
        self.send(now, k, copy);
        Some(k)
    }

    /// REC-7.
    fn deadline(&self) -> Option<Micros> {
        if self.unacked.is_empty() {
            return None;
        }
        if self.chosen().is_some() {
            return Some(self.path.pace_at());
        }
        let silent_at = self.lost_by_timer().map(|_| self.path.silent_at());
        earlier(earlier(self.timer(), self.gap_at), silent_at)
    }
}
