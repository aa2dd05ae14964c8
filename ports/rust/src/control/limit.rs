//! The limit: what may be in flight, and the decisions about it (RECOVERY.md).

use super::*;

const LEAST_LIMIT: Number = WHOLE / 2;
const DRAIN_SLICES: Number = 4;
const OPEN_FACTOR: Number = 3;
const QUIET_MOST: Number = 32;
const DOUBLE_PART: Number = 8;
const FOE_ROWS: u32 = 6;
const TARGET_LEAST: Micros = 5 * MS;
const TARGET_MOST: Micros = 20 * MS;
const PRIOR_LOST: Number = 2;
const CALM_MOST: Number = 8192;
const CALM_PART: Number = 2;
const OPEN_PART: Number = 8;
const SUM_MOST: Number = 64;
const VARIANCES: Number = 18;

/// Of the answer to a loss (LSS-2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Steady,
    Recovers,
    Looks,
}

/// What was before a cut for loss; no limit: nothing that can be undone.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Before {
    limit: Number,
    ceiling: Number,
    lost: Number,
    passed: Number,
    opening: bool,
}

impl Controller {
    /// How many slices may be in flight (ROOM-1).
    pub(crate) fn path_slices(&self) -> Number {
        let slices = self.limit.max(TWO_SLICES) / WHOLE;
        if self.draining() {
            slices.min(DRAIN_SLICES)
        } else {
            slices
        }
    }

    /// ROOM-1, PRO-2, PRO-4.
    pub(crate) fn has_room(&self) -> bool {
        self.speed.burst || self.speed.fixed || self.flight < self.path_slices()
    }

    pub(super) fn queue(&self, r: Micros) -> Micros {
        r - self.min_rtt
    }

    /// ROOM-3, DCS-7.
    pub(super) fn target(&self) -> Micros {
        let t = (self.min_rtt / PART).clamp(TARGET_LEAST, TARGET_MOST);
        if self.yields {
            t / 2
        } else {
            t
        }
    }

    /// Begins the time of the next decision (DCS-3, DCS-6).
    pub(super) fn restart(&mut self, now: Micros) {
        self.most = self.flight * WHOLE;
        self.round_lost = 0;
        self.round_passed = 0;
        self.waits = 0;
        self.samples = 0;
        self.least = 0;
        self.counts_at = 0;
        self.begin_decision(now);
    }

    fn begin_decision(&mut self, now: Micros) {
        self.began_at = now;
        self.decides_at = now + self.decision_time();
    }

    /// How long it is until a decision (DCS-6).
    pub(super) fn decision_time(&self) -> Micros {
        self.latest + self.latest / PART
    }

    /// DCS-1.
    pub(super) fn decide(&mut self, now: Micros, n: Number, missing: Number) {
        self.round_lost += missing;
        self.round_passed += missing + n;
        self.open(n);
        if self.latest == 0 {
            return;
        }
        if self.decides_at == 0 {
            self.begin_decision(now);
            self.calm_at = now;
        }
        self.count_sample(now);
        if now >= self.decides_at {
            self.judge(now);
            self.restart(now);
        }
    }

    /// DCS-2.
    fn count_sample(&mut self, now: Micros) {
        if !self.sampled {
            return;
        }
        self.sampled = false;
        self.wait(self.queue(self.latest));
        if now >= self.counts_at && (self.least == 0 || now <= self.decides_at && self.latest < self.least) {
            self.least = self.latest;
        }
    }

    /// ROOM-4, ROOM-5.
    fn open(&mut self, n: Number) {
        if !self.opening || n <= 0 || self.queue(self.latest) > self.target() / 2 {
            return;
        }
        let mut limit = (self.limit + (OPEN_FACTOR - 1) * WHOLE * n).min(OPEN_FACTOR * self.most);
        if self.ceiling > 0 && limit >= self.ceiling {
            limit = self.ceiling;
            self.opening = false;
        }
        self.limit = self.limit.max(limit);
    }

    /// ROOM-6, DLY-2.
    fn cut(&mut self, limit: Number) {
        self.limit = limit.max(LEAST_LIMIT);
        self.step = STEP;
        self.quiet = 0;
        self.opening = false;
    }

    /// Calm loss, p of b (LSS-1).
    fn calm(&self) -> (Number, Number) {
        let b = self.calm_passed + 16 * PRIOR_PASSED;
        ((self.calm_lost + PRIOR_LOST).min(b / CALM_PART), b)
    }

    /// LSS-1; of LSS-3, where the same is lost after a cut.
    fn exceeds(&self, lost: Number, passed: Number, same: bool) -> bool {
        let (mut p, b) = self.calm();
        if self.opening {
            p = p.max(b / OPEN_PART);
        }
        if same {
            p = b / CALM_PART;
        }
        let e = WHOLE * passed * p / b.max(1);
        let x = WHOLE * lost - e;
        x > 0 && x * x > VARIANCES * WHOLE * (e * (b - p) / b.max(1))
    }

    /// Whether most of the calm loss is not lost at a lower rate (LSS-3).
    fn is_gone(&self, lost: Number, passed: Number) -> bool {
        let (p, b) = self.calm();
        passed * p >= PART * b && 2 * lost * b < passed * p
    }

    /// DCS-9.
    pub(super) fn wait(&mut self, w: Micros) {
        self.least_wait = if self.samples > 0 { self.least_wait.min(w) } else { w };
        self.waits += w;
        self.samples += 1;
    }

    /// DCS-7: a queue that does not empty is full, however short it is.
    fn is_short(&self, t: Micros) -> bool {
        let average = self.waits / self.samples.max(1);
        let least = self.least_wait;
        let stands = self.samples >= PART && 2 * least > average && least > t / (PART * PART);
        self.samples > 0 && !stands && average <= t / PART
    }

    /// LSS-6.
    fn learn(&mut self, lost: Number, passed: Number, short: bool) {
        let (p, b) = self.calm();
        if !short && lost * b > passed * p {
            return;
        }
        self.calm_lost += 16 * lost;
        self.calm_passed += 16 * passed;
        if self.calm_passed > 16 * CALM_MOST {
            self.calm_lost /= 2;
            self.calm_passed /= 2;
        }
    }

    /// LSS-3.
    fn end_look(&mut self, lost: Number, passed: Number, short: bool) {
        let before = self.before;
        let same = before.limit > 0
            && short
            && passed > 0
            && PART * before.lost >= before.passed
            && PART * lost * before.passed >= (PART - 1) * before.lost * passed;
        self.phase = Phase::Steady;
        if same {
            self.learn(before.lost, before.passed, short);
        }
        if self.is_gone(lost, passed) {
            self.forget_calm();
        }
        self.learn(lost, passed, short);
        if before.limit > 0 && !self.broken && !self.exceeds(before.lost, before.passed, same) {
            self.limit = self.limit.max(before.limit);
            self.ceiling = before.ceiling;
            self.opening = before.opening;
        }
        self.sum_lost = 0;
        self.sum_passed = 0;
        self.before = Before::default();
    }

    /// LSS-3, LSS-8.
    pub(super) fn forget_calm(&mut self) {
        self.calm_lost = 0;
        self.calm_passed = 0;
    }

    /// Whether more was lost than does not depend on the rate (LSS-2 to LSS-4).
    fn judge_loss(&mut self, t: Micros) -> bool {
        let short = self.is_short(t);
        let (lost, passed) = (self.round_lost.max(0), self.round_passed.max(0));
        if self.phase == Phase::Recovers {
            self.phase = Phase::Looks;
            self.marked = 0;
            return false;
        }
        self.sum_lost += lost;
        self.sum_passed += passed;
        if self.phase == Phase::Looks {
            let before = &self.before;
            if before.limit == 0 || self.sum_passed * before.lost >= PART * before.passed || self.sum_lost >= PART {
                self.end_look(self.sum_lost, self.sum_passed, short);
            }
            return false;
        }
        if self.exceeds(self.sum_lost, self.sum_passed, false) {
            return true;
        }
        while self.sum_passed > SUM_MOST {
            self.sum_lost /= 2;
            self.sum_passed /= 2;
        }
        if self.limit <= self.low + self.low / PART {
            self.learn(lost, passed, short);
        }
        false
    }

    /// LSS-5, ECN-3, OTH-3.
    fn cut_for_loss(&mut self, now: Micros, used: Number, limit: Number) {
        self.cut(limit);
        self.ceiling = used;
        self.low = self.limit;
        self.hit = true;
        self.phase = Phase::Recovers;
        self.sum_lost = 0;
        self.sum_passed = 0;
        if self.others && now >= self.drain_at {
            self.begin_drain(now, self.latest);
        }
    }

    /// The decision (DCS-8).
    fn judge(&mut self, now: Micros) {
        let low = if self.least == 0 { self.min_rtt } else { self.least };
        let (q, t) = (self.queue(low), self.target());
        let lossy = self.judge_loss(t);
        if self.draining() {
            return; // marks wait
        }
        let used = self.most.min(self.limit);
        let full = self.most + WHOLE > self.limit * 7 / 8;
        self.judge_others(now, used, q, t);
        let half = used * (self.min_rtt + t / 2) / low.max(1);
        let limit = if q > t && !self.others { half.max(used / 2) } else { used };
        if lossy {
            let arrived = used * (self.round_passed - self.round_lost).max(0) / self.round_passed.max(1);
            self.before = Before {
                limit: self.limit,
                ceiling: self.ceiling,
                lost: self.sum_lost,
                passed: self.sum_passed,
                opening: self.opening,
            };
            self.cut_for_loss(now, used, limit.min(used - used / PART).min(arrived * 7 / 8));
        } else if self.marked > 0 {
            self.cut_for_loss(now, used, limit.min(used - used / PART));
        } else if limit < used {
            self.cut(limit);
            self.ceiling = 0;
        } else if full && !self.opening && !self.broken && self.phase != Phase::Looks {
            self.grow(q < t / 2);
            if q > t / 2 && !self.others {
                self.limit -= (used - half) / PART; // DLY-3
            }
        }
        self.marked = 0;
        self.judge_breaker(now);
    }

    /// GRO-1 to GRO-5.
    fn grow(&mut self, short: bool) {
        let least = if self.others { WHOLE } else { STEP };
        if if self.others { self.hit } else { !short } {
            self.step = least;
            self.quiet = 0;
        } else if !self.others && self.limit < self.ceiling {
            self.step = STEP.max((self.ceiling - self.limit) / QUIET_MOST);
            self.quiet = 0;
        } else {
            self.quiet += 1;
            let doubled = (2 * self.step).min(self.limit / DOUBLE_PART);
            self.step = if self.quiet > QUIET_MOST { doubled.max(least) } else { least };
        }
        self.limit += self.step.min(self.limit / PART);
    }

    /// OTH-2, OTH-3.
    fn judge_others(&mut self, now: Micros, used: Number, q: Micros, t: Micros) {
        if self.others {
            if now >= self.drain_at && !self.hit {
                self.begin_drain(now, self.latest);
            }
            return;
        }
        if q <= t {
            if q <= t / 2 {
                self.above = self.above.saturating_sub(1);
            }
            return;
        }
        // DCS-7
        let speed = (self.round_passed - self.round_lost).max(0) * 1_000_000 / (now - self.began_at).max(1);
        if self.above == 0 {
            self.from = used;
            self.from_speed = speed;
        }
        self.above = (self.above + 1) % FOE_ROWS;
        if self.above == 0 && (used <= WHOLE || PART * speed < (PART - 1) * self.from_speed) {
            self.others = true;
            self.hit = false;
            self.quiet = 0;
            self.limit = self.limit.max(self.from);
            self.drain_at = now + DRAIN_FIRST;
        }
    }

    /// BRK-3 to BRK-5.
    fn judge_breaker(&mut self, now: Micros) {
        self.group_lost += self.round_lost.max(0);
        self.group_passed += self.round_passed.max(0);
        if self.group_passed < SUM_MOST {
            return;
        }
        if CALM_PART * self.group_lost <= self.group_passed {
            self.broken = false;
            self.calm_at = now;
        }
        if now - self.calm_at >= LIFE {
            self.broken = true;
            self.cut(LEAST_LIMIT);
        }
        self.group_lost = 0;
        self.group_passed = 0;
    }
}
