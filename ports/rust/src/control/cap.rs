//! Losses that a rate causes (RECOVERY.md, section 8).

use super::limit::isqrt;
use super::*;

const MUCH_LOST: Number = 128;
const MOST_LOST: Number = 768;
const FIRST_WAIT: Number = 24;
const LONGEST_WAIT: Number = 384;

/// What arrived and was lost since a time (CAP-1).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Account {
    at: Micros,
    arrived: Number,
    lost: Number,
}

/// An account that is whole: N, p and I of CAP-1.
#[derive(Clone, Copy)]
struct Whole {
    all: Number,
    lost: Number,
    loss: Number,
    interval: Number,
}

impl Controller {
    pub(super) fn begin_account(&mut self, at: Micros) {
        self.account = Account { at, arrived: 0, lost: 0 };
    }

    /// CAP-1.
    pub(super) fn on_account(&mut self, now: Micros, n: Number, missing: Number) {
        if self.round_trip.srtt() == 0 || now < self.account.at {
            return;
        }
        self.account.arrived += n;
        self.account.lost = (self.account.lost + missing).max(0);
        self.raise_cap(now);
        let Account { at, arrived, lost } = self.account;
        let (all, time, srtt) = (arrived + lost, now - at, self.round_trip.srtt());
        let (slices, round_trips) = match (self.look > 0, self.cap > 0) {
            (true, _) => (64, 8),
            (false, true) => (32, 4),
            (false, false) => (128, 8),
        };
        if all == 0 || time < srtt || all < slices && time < round_trips * srtt {
            return;
        }
        let interval = 1000 * clip(time) / arrived.max(1);
        let whole = Whole { all, lost, loss: lost * 1024 / all.max(1), interval };
        match (self.look > 0, self.cap > 0) {
            (true, _) => self.judge_look(now, whole),
            (false, true) => self.judge_cap(now, whole),
            (false, false) => self.suspect(now, whole),
        }
    }

    /// CAP-7.
    fn raise_cap(&mut self, now: Micros) {
        let srtt = self.round_trip.srtt();
        if self.cap == 0 || self.look > 0 || self.seeking || now - self.raised_at < srtt {
            return;
        }
        self.raised_at = now;
        let d = (4000 * srtt + self.cap).max(1);
        self.cap = (self.cap - (self.cap * self.cap + d - 1) / d).max(1);
    }

    /// CAP-2.
    fn suspect(&mut self, now: Micros, account: Whole) {
        let Whole { lost, loss, interval, .. } = account;
        if loss < MUCH_LOST || lost < 16 || loss <= self.calm * 5 / 4 + 16 || now < self.look_at {
            self.begin_account(now);
            return;
        }
        let arrival = match self.train {
            Some(train) if train.gained >= 2 => {
                self.arrival.max(1000 * clip(now - train.since - train.pause) / train.gained.max(1))
            }
            _ => self.arrival,
        };
        self.look = arrival.max(self.path_interval());
        self.loss_before = loss;
        if loss >= MOST_LOST || arrival == 0 {
            self.look = self.look.max(interval).min(SLOWEST);
        }
        self.begin_account(now + self.latest);
    }

    /// CAP-3, CAP-4.
    fn judge_look(&mut self, now: Micros, account: Whole) {
        let Whole { all, lost, loss, interval } = account;
        let e = self.loss_before * all / 1024;
        if 4 * lost < 3 * e && lost + 3 * isqrt(lost + 1) < e {
            self.cap = self.look.max(interval).min(SLOWEST);
            self.seeking = true;
            self.bad = 0;
            self.look = 0;
            self.lost = self.lost.min(self.arrived * (self.calm + 8) / (1024 - self.calm.min(1000)).max(1));
        } else if loss >= MOST_LOST && interval >= 2 * self.look && interval < SLOWEST {
            self.look = interval;
        } else {
            self.look = 0;
            self.calm = loss;
            self.wait = (2 * self.wait).clamp(FIRST_WAIT, LONGEST_WAIT);
            self.look_at = now + self.wait * self.round_trip.srtt();
        }
        self.begin_account(now + self.latest);
    }

    /// CAP-5, CAP-6.
    fn judge_cap(&mut self, now: Micros, account: Whole) {
        let Whole { all, lost, loss, interval } = account;
        let e = 5 * self.calm * all / 4096;
        if lost <= e + 2 + 2 * isqrt(e) {
            self.bad = 0;
            if self.seeking {
                self.cap = self.cap * 3 / 4;
            }
            if self.cap < self.per_slice() * 5 / 8 {
                self.cap = 0;
            }
            self.begin_account(now);
            return;
        }
        self.bad = self.bad.saturating_add(1);
        if self.bad >= 4 && 2 * loss > self.loss_before {
            self.cap = 0;
            self.calm = loss;
        } else {
            self.cap = (self.cap * 8 / 7).max(interval.min(2 * self.cap)).min(SLOWEST);
            self.seeking = false;
        }
        self.begin_account(now + self.latest);
    }
}
