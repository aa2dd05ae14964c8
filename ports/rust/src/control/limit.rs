//! Window, limit, and whose the queue is (RECOVERY.md, sections 5 to 7).

use super::*;

const YIELD_WINDOW: Number = 20;
const DRAIN_WINDOW: Number = 4;
const MOST_WINDOW: Number = (1 << 31) - 1;
const LEAST_LIMIT: Number = 4;
const TARGET_LEAST: Micros = 5 * MS;
const TARGET_MOST: Micros = 20 * MS;
const SUM_MOST: Number = 256;
const CALM_MOST: Number = 1024;
const CALM_PRIOR: Number = 64;
const RISES: u32 = 8;
const RISE_SLACK: Micros = 5 * MS;
const LEAST_RISE: Micros = 10 * MS;
const CALM_QUEUE: Micros = 5 * MS;
const CALM_ROUNDS: u32 = 2;
const QUIET: Micros = 20_000 * MS;
const STEADY: u32 = 4;
const STEADY_BAND: Micros = 2 * MS;
const CROWD: Number = 64;

/// Decisions in a row with a queue above the target (CTD-7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    at: Micros,
    limit: Number,
    lost: Number,
    abrupt: bool,
    flat: u32,
    flat_low: Micros,
}

/// The largest integer whose square is at most x.
pub(super) fn isqrt(x: Number) -> Number {
    let (mut rest, mut root, mut bit) = (x.max(0) as u64, 0, 1 << 62);
    while bit > 0 {
        if rest >= root + bit {
            rest -= root + bit;
            root += 2 * bit;
        }
        root /= 2;
        bit /= 4;
    }
    root as Number
}

impl Controller {
    /// WIN-3. Who asks is held back if there is none (LMT-9).
    pub(crate) fn has_room(&self) -> bool {
        if self.speed.burst || self.speed.fixed {
            return true;
        }
        if self.flight >= self.limit_in_slices() {
            self.full.set(true);
            self.blocked.set(true);
            return false;
        }
        self.contested && !self.draining() || self.flight < self.window()
    }

    /// WIN-6.
    pub(crate) fn path_slices(&self) -> Number {
        let limit = self.limit_in_slices();
        if self.contested && !self.draining() {
            limit
        } else {
            limit.min(self.window())
        }
    }

    /// LMT-9, WIN-5.
    fn limit_in_slices(&self) -> Number {
        let slices = self.limit.max(TWO_SLICES) / 8;
        if self.yields && self.per_slice() == 0 {
            slices.min(YIELD_WINDOW)
        } else {
            slices
        }
    }

    /// WIN-1, WIN-2, WIN-4, WIN-5.
    fn window(&self) -> Number {
        if self.per_slice() == 0 {
            return MOST_WINDOW;
        }
        if self.draining() {
            return DRAIN_WINDOW;
        }
        let held = (self.min_rtt + ACK_DELAY) * 1000 / self.per_slice().max(1);
        (if self.yields { held } else { held * 3 / 2 } + 8).min(MOST_WINDOW)
    }

    /// LMT-2.
    fn target(&self) -> Micros {
        (self.min_rtt / 4).clamp(TARGET_LEAST, TARGET_MOST)
    }

    /// LMT-1, LMT-2.
    pub(super) fn on_round(&mut self, now: Micros, n: Number, missing: Number) {
        self.round_lost += missing;
        self.round_passed += n + missing;
        if self.opening && self.latest - self.min_rtt - self.noise <= self.target() / 2 {
            self.limit += 8 * (2 * (n + missing)).min(3 * n).max(0);
            self.limit = self.limit.min((3 * self.most).max(FIRST_LIMIT));
        }
        if !self.sampled {
            return;
        }
        self.sampled = false;
        if self.round_at == 0 {
            self.round_at = now + self.latest;
        }
        if self.closes_at == 0 {
            if now >= self.round_at {
                self.closes_at = now + self.latest / 4;
                self.low = self.latest;
            }
            return;
        }
        self.low = self.low.min(self.latest);
        if now >= self.closes_at {
            self.decide(now);
            self.begin_round(now);
        }
    }

    /// LMT-2, step 5.
    fn begin_round(&mut self, now: Micros) {
        self.low_before = self.low;
        self.most = 8 * self.flight;
        self.full.set(false);
        self.round_lost = 0;
        self.round_passed = 0;
        self.marked = 0;
        self.closes_at = 0;
        self.round_at = now + self.latest;
    }

    /// The decision: LMT-3, LMT-4, CTD-7 and LMT-8.
    fn decide(&mut self, now: Micros) {
        let (q, t) = (self.queue(), self.target());
        let tried = if self.full.get() { self.limit } else { self.most.min(self.limit) }; // F
        let lossy = self.is_lossy(q, t);
        if self.round_lost >= 3 && q <= t {
            self.alarm(now, tried, q, t);
        }
        self.judge_contest(now, tried, q, t);
        self.answer(tried, lossy);
    }

    /// q of LMT-2.
    fn queue(&self) -> Micros {
        self.low - self.min_rtt - self.noise
    }

    /// LMT-4.
    fn alarm(&mut self, now: Micros, tried: Number, q: Micros, t: Micros) {
        let may = !self.contested && !self.draining();
        let much = 8 * self.round_lost >= self.round_passed;
        if much && may && now - self.busy_since >= ALARM_FIRST && now - self.ended_at >= self.gap {
            self.begin_drain(now, self.latest);
        }
        if self.opening && 4 * self.round_lost >= self.round_passed && q >= t / 8 {
            self.opening = false;
            self.step = (tried / 4).max(1);
        }
    }

    /// LMT-8.
    fn answer(&mut self, tried: Number, lossy: bool) {
        let (q, t) = (self.queue(), self.target());
        if self.draining() {
            return;
        }
        if self.contested {
            if lossy {
                self.limit = (tried * 7 / 10).max(LEAST_LIMIT); // CTD-6
            } else if self.full.get() {
                self.limit += (self.limit / 4).min(8);
            }
        } else if q > t {
            let rest = tried * (self.min_rtt + self.noise + t / 2) / self.low.max(1);
            self.cut(rest.max(tried / 2)); // LMT-5
        } else if self.marked > 0 || lossy && q > t / 2 {
            self.cut(tried * 7 / 8); // LMT-6
        } else if self.full.get() && !self.opening {
            self.grow(q, t);
        }
    }

    fn cut(&mut self, size: Number) {
        self.limit = size.max(LEAST_LIMIT);
        self.step = 8;
        self.opening = false;
    }

    /// LMT-7.
    fn grow(&mut self, q: Micros, t: Micros) {
        if q >= t / 2 {
            self.step = 8;
        }
        self.limit += self.step;
        if q < t / 2 {
            self.step = (2 * self.step).min(self.limit / 2);
        }
        self.step = self.step.max((self.limit / 4).min(8)).max(1);
    }

    /// LMT-3.
    fn is_lossy(&mut self, q: Micros, t: Micros) -> bool {
        self.sum_lost += self.round_lost;
        self.sum_passed += self.round_passed;
        let e = 5 * self.sum_passed * self.calm_lost / (4 * (self.calm_passed + CALM_PRIOR)).max(1);
        let beyond = self.sum_lost - e - 2 * isqrt(e);
        let lossy = beyond > 2 || self.contested && beyond > 0 || self.marked > 0;
        if lossy {
            self.sum_lost = 0;
            self.sum_passed = 0;
        } else if self.sum_passed > SUM_MOST {
            self.sum_lost /= 2;
            self.sum_passed /= 2;
        }
        if !self.contested && q <= t / 2 {
            self.calm_lost += self.round_lost.max(0);
            self.calm_passed += self.round_passed.max(0);
            if self.calm_passed > CALM_MOST {
                self.calm_lost /= 2;
                self.calm_passed /= 2;
            }
        }
        lossy
    }

    /// CTD-7.
    fn judge_contest(&mut self, now: Micros, tried: Number, q: Micros, t: Micros) {
        if self.draining() {
            return;
        }
        if self.contested {
            self.calm_rounds = if q > t.max(CALM_QUEUE) { 0 } else { self.calm_rounds + 1 };
            if self.calm_rounds == CALM_ROUNDS {
                self.end_contest(now);
            }
            return;
        }
        if q <= t {
            self.rises = 0;
            self.row = None;
            return;
        }
        let row = self.count_decision(now, tried, q, t);
        self.row = Some(row);
        let yielded = self.limit <= (row.limit / 2).max(TWO_SLICES);
        let crowded = CROWD * tried.max(TWO_SLICES) * self.per_slice().min(SLOWEST);
        if self.rises >= RISES && self.low >= self.rises_from + (t * 3 / 2).max(LEAST_RISE) {
            self.contest(now, tried.max(row.limit / 2)); // CTD-1
        } else if yielded && row.flat >= STEADY && row.abrupt && 8000 * q > crowded {
            self.reopen(row);
        } else if yielded && row.lost == 0 && now - row.at >= QUIET {
            self.contest(now, tried.max(row.limit)); // CTD-2
        }
    }

    /// CTD-8.
    fn count_decision(&mut self, now: Micros, tried: Number, q: Micros, t: Micros) -> Row {
        if self.rises == 0 {
            self.rises = 1;
            self.rises_from = self.low;
        } else if self.low > self.low_before {
            self.rises += 1;
        } else if self.low < self.low_before - RISE_SLACK.max(q / 16) {
            self.rises = 0;
        }
        let first = Row { at: now, limit: tried, lost: 0, abrupt: false, flat: 0, flat_low: 0 };
        let mut row = self.row.unwrap_or(first);
        row.lost += self.round_lost;
        row.abrupt |= q > 2 * t;
        if self.round_lost <= 0 {
            let band = STEADY_BAND.max(self.min_rtt / 32);
            if row.flat > 0 && self.low - row.flat_low <= band && row.flat_low - self.low <= band {
                row.flat += 1;
            } else {
                row.flat = 1;
                row.flat_low = self.low;
            }
        }
        row
    }

    /// CTD-4.
    fn reopen(&mut self, row: Row) {
        if self.low - self.min_rtt <= self.min_rtt {
            self.noise = self.low - self.min_rtt;
        } else {
            self.min_rtt = self.low;
            self.noise = 0;
        }
        self.limit = self.limit.max(row.limit);
        self.opening = true;
        self.row = None;
    }

    /// The path becomes contested with x (CTD-1).
    fn contest(&mut self, now: Micros, x: Number) {
        self.contested = true;
        self.calm_rounds = 0;
        self.rises = 0;
        self.row = None;
        self.limit = x.max(TWO_SLICES);
        self.drain_until = 0;
        self.drain_at = now + DRAIN_EVERY;
    }

    /// CTD-3.
    pub(super) fn end_contest(&mut self, now: Micros) {
        self.contested = false;
        self.rises = 0;
        self.row = None;
        self.drain_at = now + DRAIN_SOON;
    }
}

#[cfg(test)]
mod tests {
    use super::isqrt;

    #[test]
    fn roots() {
        for x in 0..1000_i64 {
            let root = isqrt(x * x + x);
            assert_eq!((root, isqrt(x * x)), (x, x));
        }
        assert_eq!((isqrt(-1), isqrt(i64::MAX)), (0, 3_037_000_499));
    }
}
