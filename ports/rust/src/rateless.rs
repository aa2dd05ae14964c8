//! The rule of a sender of repair slices (REPAIR.md, section 7), on the controller of RECOVERY.md.

use crate::adaptive::{speed_of, Recovery};
use crate::control::Controller;
use crate::limits::{NumSlices, OutOfRange};
use crate::repair_sender::RepairScheduler;
use crate::round_trip::LONGEST_SAMPLE;
use crate::time::Micros;

const MOST_NEED: i64 = 1024;
const KEPT_TIMES: usize = 1024;
const PROBES: u32 = 2;

/// Sends as many slices as it takes for the missing ones to arrive, with what it knows of the
/// losses, as fast as the path takes them.
#[derive(Clone, Debug)]
pub struct Rateless {
    deviations: i64, // squared
    path: Controller,
    num_slices: u16, // from here on anew with each chunk (RPL-2)
    have: u16,
    sent: u32,
    top: u32,
    gone: u32,          // what has a number below is not under way any more, by the timer
    quota: Option<u32>, // how many slices may still go out without news; None: any
    main_at: Micros,
    last_at: Micros,
    news_at: Micros,
    held_at: Option<Micros>,
    was_held: bool,
    idle: bool,
    sent_at: [Micros; KEPT_TIMES],
}

impl Rateless {
    /// With a limit in bits a second with headers, 8,528 to 8 * 10^9, or 0 for none; `Fixed` needs
    /// one (PRO-1, PRO-4).
    pub fn new(recovery: Recovery, limit: u64) -> Result<Rateless, OutOfRange> {
        Ok(Rateless {
            deviations: if recovery == Recovery::Redundant { 9 } else { 4 },
            path: Controller::new(speed_of(recovery, limit)?),
            num_slices: 0,
            have: 0,
            sent: 0,
            top: 0,
            gone: 0,
            quota: None,
            main_at: 0,
            last_at: 0,
            news_at: 0,
            held_at: None,
            was_held: false,
            idle: true,
            sent_at: [0; KEPT_TIMES],
        })
    }

    /// So many slices more arrived with a mark of congestion (ECN-1).
    pub fn marks(&mut self, count: u16) {
        self.path.marks(count);
    }

    /// Whether other packets on the path must not wait behind slices (ROOM-3).
    pub fn yields(&mut self, yields: bool) {
        self.path.yields(yields);
    }

    fn missing(&self) -> u16 {
        self.num_slices - self.have
    }

    /// How many are under way.
    fn in_flight(&self) -> u32 {
        self.sent.saturating_sub(self.top.max(self.gone))
    }

    fn note_flight(&mut self) {
        if self.missing() == 0 {
            self.path.leave();
            self.idle = true;
        } else {
            self.path.set_flight(u16::try_from(self.in_flight()).unwrap_or(u16::MAX));
        }
    }

    /// RPL-3.
    fn is_wanted(&self) -> bool {
        let missing = self.missing();
        if missing == 0 || i64::from(self.in_flight()) >= self.path.need(missing, self.deviations, MOST_NEED) {
            return false;
        }
        self.quota.map_or_else(|| self.path.has_room(), |quota| quota > 0)
    }

    /// When a transmission went out, if that is still known.
    fn sent_at(&self, number: u32) -> Option<Micros> {
        let kept = u64::from(number) + KEPT_TIMES as u64 >= self.sent.into();
        kept.then_some(*self.sent_at.get(number as usize % KEPT_TIMES)?)
    }

    /// Step 1 of RPL-5, for the latest number that arrived.
    fn sample(&mut self, now: Micros, have: u16, top: u32) {
        let sent_at = match self.sent_at(top.saturating_sub(1)) {
            Some(sent_at) => sent_at,
            None => return,
        };
        let r = (now - sent_at).min(LONGEST_SAMPLE);
        if have < self.num_slices || top > self.gone {
            self.path.clean_sample(now, r);
        } else if !self.path.round_trip.is_measured() {
            self.path.round_trip.bounded_by(r);
        }
    }

    /// Step 2 of RPL-5: how many were found lost. What the peer could not take is not lost, and what
    /// is under way may still be taken.
    fn found_lost(&mut self, now: Micros, gained: i64, top: u32) -> i64 {
        let (before, gone) = (i64::from(self.top), i64::from(self.gone));
        let top = i64::from(top);
        if let Some(held_at) = self.held_at {
            self.gone = 0;
            self.note_flight();
            self.was_held |= now - held_at > 2 * self.path.round_trip.srtt();
            return 0;
        }
        if before < gone && gone < top {
            return (top - gone - gained).max(0);
        }
        top - before - gained
    }

    /// RPL-10.
    fn timer(&self) -> Micros {
        let round_trip = &self.path.round_trip;
        if let Some(held_at) = self.held_at {
            return self.last_at.max(held_at) + round_trip.hold_delay(self.last_at - held_at);
        }
        let at = (self.main_at + round_trip.base_delay()).max(self.news_at + round_trip.margin());
        at.max(self.path.probe_at())
    }

    /// RPL-11.
    fn timer_ran_out(&mut self, now: Micros) {
        let given_up = self.in_flight().min(PROBES);
        self.gone = self.sent;
        self.quota = Some(if self.held_at.is_some() { 1 } else { PROBES });
        self.note_flight();
        if self.held_at.is_none() {
            self.path.timer_ran_out(now, given_up.into());
        }
    }
}

impl RepairScheduler for Rateless {
    /// RPL-2.
    fn start(&mut self, now: Micros, num_slices: NumSlices) {
        self.num_slices = num_slices.get();
        self.have = 0;
        (self.sent, self.top, self.gone) = (0, 0, 0);
        self.quota = self.was_held.then_some(1);
        (self.main_at, self.last_at, self.news_at) = (now, now, now);
        self.held_at = None;
        self.was_held = false;
        self.path.begin(now);
    }

    /// RPL-5.
    fn news(&mut self, now: Micros, have: u16, top: u32) {
        let gained = have.saturating_sub(self.have);
        if top > self.top {
            self.sample(now, have, top);
        }
        let lost = self.found_lost(now, gained.into(), top);
        if self.top < self.gone {
            self.path.late(i64::from(gained) - (i64::from(top) - i64::from(self.gone)).max(0));
            // SUS-2
        }
        self.have = have;
        self.top = top;
        self.note_flight();
        self.path.news(now, gained, lost);
        self.held_at = None;
        if gained == 0 && i64::from(top) - i64::from(have) > MOST_NEED {
            self.quota = Some(0); // a peer that denies everything draws probes only
            return;
        }
        self.news_at = now;
        self.quota = None;
    }

    /// RPL-12.
    fn hold(&mut self, now: Micros) {
        self.held_at = self.held_at.or(Some(now));
        self.gone = self.sent;
        self.quota = Some(0);
        self.note_flight();
    }

    /// RPL-9.
    fn next(&mut self, now: Micros) -> bool {
        if self.missing() == 0 {
            return false;
        }
        if !self.is_wanted() && now >= self.timer() {
            self.timer_ran_out(now);
        }
        let wanted = self.is_wanted();
        self.path.polled(now, self.idle);
        self.idle = !wanted;
        if !wanted || !self.path.lets_go(now, self.sent < self.num_slices.into()) {
            return false;
        }
        if let Some(at) = self.sent_at.get_mut(self.sent as usize % KEPT_TIMES) {
            *at = now;
        }
        self.last_at = now;
        match &mut self.quota {
            Some(quota) => *quota -= 1,
            None => self.main_at = now,
        }
        self.sent = self.sent.saturating_add(1);
        self.note_flight();
        true
    }

    /// RPL-13.
    fn deadline(&self) -> Option<Micros> {
        if self.missing() == 0 {
            return None;
        }
        Some(if self.is_wanted() { self.path.pace_at() } else { self.timer() })
    }
}
