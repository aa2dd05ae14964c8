/* The controller of a sender of repair slices: when what is known of the path lets a slice go
 * (spec/RECOVERY.md, sections 3 to 10). See chunkwire_repair.h. */
#include "chunkwire_repair.h"

#include <string.h>

#define MS ((cw_time)1000)
#define LONGEST_SAMPLE ((cw_time)1 << 40)
#define ACK_DELAY (2 * MS)
#define MIN_RTT_LIFE (10000 * MS)
#define DRAIN_EVERY (10000 * MS)
#define DRAIN_LATE (7000 * MS)
#define DRAIN_FIRST (2500 * MS)
#define DRAIN_SOON (500 * MS)
#define ALARM_FIRST (1000 * MS)
#define FALL (1 * MS)
#define TRAIN_TIME (20 * MS)
#define RATE_EPOCH (10 * MS)
#define TARGET_LEAST (5 * MS)
#define TARGET_MOST (20 * MS)
#define LEAST_RISE (10 * MS)
#define RISE_SLACK (5 * MS)
#define CALM_QUEUE (5 * MS)
#define QUIET (20000 * MS)
#define STEADY_BAND (2 * MS)
#define SLOWEST_PROBE (250 * MS)
#define LONGEST_PROBE (1000 * MS)
#define CATCH_UP (20 * MS)
#define FASTEST ((int64_t)7000) /* ns, as those below */
#define SLOWEST ((int64_t)1000000000)
#define BURST_INTERVAL ((int64_t)85000)
#define DATAGRAM_BITS ((int64_t)8 * 1066)

enum {
    DRAIN_MISSES = 3,
    DRAIN_WINDOW = 4,
    LEAST_WINDOW = 8,
    YIELD_WINDOW = 20,
    LONG_TRAIN = 16,
    SHORT_TRAIN = 4,
    WHOLE = 8, /* eighths of a slice, as the three below */
    FIRST_LIMIT = 256,
    LEAST_LIMIT = 4,
    TWO_SLICES = 16,
    SPARE = 2,
    SUM_MOST = 256,
    CALM_MOST = 1024,
    CALM_PRIOR = 64,
    RISES = 8,
    CALM_ROUNDS = 2,
    STEADY = 4,
    CROWD = 64,
    ACCOUNT_SLICES = 128,
    ACCOUNT_ROUNDS = 8,
    LOOK_SLICES = 64,
    CAP_SLICES = 32,
    CAP_ROUNDS = 4,
    CAP_BAD = 4,
    MUCH_LOST = 128, /* 1024ths */
    MOST_LOST = 768,
    LEAST_LOST = 16,
    FIRST_WAIT = 24,
    LONGEST_WAIT = 384,
    FIRST_LOST = 16, /* sixteenths of a slice, as the four below */
    FIRST_ARRIVED = 512,
    SETTLED = 1536,
    PRIOR = 448,
    MOST_COUNTED = 16384,
    MOST_DOUBLED = 10,
    SILENT_TIMERS = 3,
    SILENT_ACKS = 8
};

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* RTT-7 */
static cw_time since(cw_time now, cw_time at) { return min_i64(now - at, LONGEST_SAMPLE); }

int64_t cwr_root(int64_t x)
{
    int64_t root = 0;
    for (int64_t bit = (int64_t)1 << 30; bit > 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= x) {
            root += bit;
        }
    }
    return root;
}

/* ---- The round trip (section 3) --------------------------------------------- */

/* RTT-5 */
static void smooth(cwr_control *c, cw_time sample)
{
    cw_time d = min_i64(sample, c->srtt * 3 / 2 + MS) - c->srtt;
    cw_time deviation = d >= 0 ? d : min_i64(-d, c->rttvar);
    c->rttvar += (deviation - c->rttvar) / 4;
    c->srtt += d / (d >= 0 ? 8 : 4);
}

/* RTT-2 */
static void measure(cwr_control *c, cw_time sample)
{
    if (c->known == CW_MEASURED) {
        smooth(c, sample);
        return;
    }
    c->srtt = sample;
    c->rttvar = sample / 8;
    c->known = CW_MEASURED;
}

/* RTT-6 */
static void use_bound(cwr_control *c)
{
    if (c->known == CW_MEASURED || c->bound == CW_NEVER) {
        return;
    }
    c->srtt = c->bound;
    c->rttvar = c->bound / 16;
    c->known = CW_KNOWN_BOUND;
}

/* RTT-4 */
void cwr_control_bound(cwr_control *c, cw_time now, cw_time at)
{
    if (c->known != CW_MEASURED) {
        c->bound = min_i64(c->bound, since(now, at));
    }
}

/* V and D of TMR-2, M of TMR-3 */
static cw_time variation(const cwr_control *c) { return max_i64(max_i64(5 * MS, c->srtt / 8), 4 * c->rttvar); }

cw_time cwr_control_delay(const cwr_control *c)
{
    return c->known == CW_KNOWN_NOTHING ? 250 * MS : min_i64(c->srtt + variation(c), 3000 * MS);
}

cw_time cwr_control_margin(const cwr_control *c)
{
    return c->known == CW_KNOWN_NOTHING ? 0 : min_i64(variation(c), cwr_control_delay(c));
}

/* H of TMR-6 */
cw_time cwr_control_hold_delay(const cwr_control *c, cw_time lasted)
{
    cw_time least = c->known == CW_KNOWN_NOTHING ? SLOWEST_PROBE : max_i64(c->srtt, ACK_DELAY);
    return min_i64(max_i64(least, lasted / 4), SLOWEST_PROBE);
}

/* ---- The round trip without a queue (EST-6 to EST-10) ----------------------- */

static bool drains(const cwr_control *c) { return c->drain_until != 0; }

/* EST-7 */
static void drain(cwr_control *c, cw_time now, cw_time r)
{
    c->drain_until = now + 2 * max_i64(c->srtt, r);
    c->drain_full_at = now + r;
    c->drain_min = r;
}

static bool drain_due(const cwr_control *c, cw_time now)
{
    return now >= c->drain_at &&
           (c->contested || now - c->busy_since >= DRAIN_FIRST || now - c->drain_at >= DRAIN_LATE);
}

/* EST-9 */
static void stop_drain(cwr_control *c, cw_time now)
{
    c->drain_until = 0;
    c->ended_at = now;
    c->drain_at = now + DRAIN_EVERY;
    c->gap = min_i64(2 * max_i64(c->gap, ALARM_FIRST), DRAIN_EVERY);
    if (c->fell) {
        c->drain_at = now + DRAIN_SOON;
        c->gap = DRAIN_SOON;
    }
    c->fell = false;
}

/* A drain whose time is over says nothing of the path if no sample ended it. */
static void expire_drain(cwr_control *c, cw_time now)
{
    if (drains(c) && now >= c->drain_until) {
        stop_drain(c, now);
    }
}

/* EST-10 */
static void end_drain(cwr_control *c, cw_time now, bool near)
{
    stop_drain(c, now);
    if (near) {
        c->misses = 0;
    } else if (!c->contested && ++c->misses == DRAIN_MISSES) {
        c->min_rtt = c->drain_min;
        c->misses = 0;
    }
}

/* EST-8 */
static void lower_min_rtt(cwr_control *c, cw_time now, cw_time r)
{
    if (c->min_rtt - r >= FALL) {
        c->fell = true;
        if (!drains(c) && !c->contested) {
            drain(c, now, r);
        }
    }
    c->min_rtt = r;
}

static void end_contest(cwr_control *c, cw_time now);

/* CTD-3, CTD-5 */
static void drain_ended(cwr_control *c, cw_time now, bool near)
{
    c->noise = c->noise * 3 / 4;
    if (c->contested && near) {
        end_contest(c, now);
    }
}

/* EST-6 to EST-9 */
static void sample_min_rtt(cwr_control *c, cw_time now, cw_time r)
{
    bool silent = c->min_rtt == 0 || now - c->sample_at >= MIN_RTT_LIFE;
    bool ended = false;
    bool near = false;
    c->sample_at = now;
    if (silent) {
        c->min_rtt = r;
        c->drain_until = 0;
        c->drain_at = now + DRAIN_FIRST;
        c->misses = 0;
        return;
    }
    if (r < c->min_rtt) {
        lower_min_rtt(c, now, r);
    }
    if (drains(c)) {
        c->drain_min = min_i64(c->drain_min, r);
        near = c->drain_min <= c->min_rtt + max_i64(c->min_rtt / 8, ACK_DELAY);
        ended = now >= c->drain_until || (near && !c->fell && now >= c->drain_full_at);
    }
    if (ended) {
        end_drain(c, now, near);
    }
    if (!drains(c) && drain_due(c, now)) {
        drain(c, now, r);
    }
    if (ended) {
        drain_ended(c, now, near);
    }
}

/* EST-2 */
void cwr_control_sample(cwr_control *c, cw_time now, cw_time at)
{
    cw_time r = max_i64(since(now, at), 1);
    measure(c, r);
    c->sampled = true;
    c->latest = r;
    sample_min_rtt(c, now, r);
}

/* ---- The rate (section 4) --------------------------------------------------- */

void cwr_control_end_train(cwr_control *c) { c->train = false; }

void cwr_control_dry(cwr_control *c, cw_time now) { c->ran_dry_at = now; }

/* RAT-5; 0: unknown */
static int64_t measured_rate(const cwr_control *c)
{
    return c->epoch_before > 0 ? min_i64(c->epoch_smallest, c->epoch_before) : c->epoch_smallest;
}

/* PRO-4 */
static int64_t per_slice(const cwr_control *c)
{
    return c->profile.fixed ? max_i64(c->limit_interval, FASTEST) : measured_rate(c);
}

static void count_rate(cwr_control *c, cw_time now, int64_t x)
{
    if (c->epoch_smallest == 0 || now - c->epoch_at >= max_i64(c->srtt, RATE_EPOCH)) {
        c->epoch_before = c->epoch_smallest;
        c->epoch_smallest = x;
        c->epoch_at = now;
    }
    c->epoch_smallest = min_i64(c->epoch_smallest, x);
}

/* RAT-2 to RAT-4 */
static void sample_rate(cwr_control *c, cw_time now)
{
    int64_t took = 1000 * since(now, c->train_since);
    int64_t x = took / c->gained;
    int64_t known = measured_rate(c);
    c->arrival = max_i64(took - 1000 * min_i64(c->train_pause, LONGEST_SAMPLE), 0) / c->gained;
    if (c->passed > c->gained) {
        int64_t least = x * (1024 - min_i64(max_i64(c->cap_calm, 256), 512)) / 1024;
        x = max_i64(took / c->passed, least);
    }
    x = max_i64(x, FASTEST);
    if (known == 0 || x < known || c->ran_dry_at < c->train_since - c->srtt) {
        count_rate(c, now, x);
    }
}

/* RAT-1 */
static void note_train(cwr_control *c, cw_time now, int64_t gained, int64_t passed)
{
    c->passed += passed;
    if (gained == 0) {
        return;
    }
    if (c->train) {
        c->gained += gained;
        c->train_pause = max_i64(c->train_pause, now - c->train_news_at);
        c->train_news_at = now;
        if (c->gained < LONG_TRAIN &&
            (c->gained < SHORT_TRAIN || now - c->train_since < max_i64(c->min_rtt / 2, TRAIN_TIME))) {
            return;
        }
        sample_rate(c, now);
    }
    c->train = true;
    c->train_since = c->train_news_at = now;
    c->train_pause = 0;
    c->gained = c->passed = 0;
}

/* In how many nanoseconds a slice arrived of late; 0: unknown (CAP-2). */
static int64_t arrival(const cwr_control *c, cw_time now)
{
    if (!c->train || c->gained < 2) {
        return c->arrival;
    }
    return max_i64(c->arrival, 1000 * since(now, c->train_since + c->train_pause) / c->gained);
}

/* ---- Window and limit (sections 5 and 6) ------------------------------------ */

/* WIN-2, WIN-4, WIN-5 */
static int64_t window(const cwr_control *c)
{
    int64_t holds;
    if (per_slice(c) == 0) {
        return INT32_MAX;
    }
    if (drains(c)) {
        return DRAIN_WINDOW;
    }
    holds = (c->min_rtt + ACK_DELAY) * 1000 / per_slice(c);
    return (c->yields ? holds : holds * 3 / 2) + LEAST_WINDOW;
}

/* LMT-9, WIN-5 */
static int64_t limit_slices(const cwr_control *c)
{
    int64_t n = max_i64(c->limit, TWO_SLICES) / WHOLE;
    return c->yields && per_slice(c) == 0 ? min_i64(n, YIELD_WINDOW) : n;
}

/* WIN-3, LMT-9 */
bool cwr_control_has_room(cwr_control *c)
{
    if (c->profile.burst || c->profile.fixed) {
        return true;
    }
    if (c->flight >= limit_slices(c)) {
        c->full = c->blocked = true;
        return false;
    }
    return (c->contested && !drains(c)) || c->flight < window(c);
}

/* LMT-2 */
static cw_time target(const cwr_control *c) { return min_i64(max_i64(c->min_rtt / 4, TARGET_LEAST), TARGET_MOST); }

static cw_time queue(const cwr_control *c, cw_time r) { return r - c->min_rtt - c->noise; }

static void cut(cwr_control *c, int64_t limit)
{
    c->limit = max_i64(limit, LEAST_LIMIT);
    c->step = WHOLE;
    c->opening = false;
}

/* LMT-7 */
static void grow(cwr_control *c, bool empty)
{
    if (!empty) {
        c->step = WHOLE;
    }
    c->limit += c->step;
    if (empty) {
        c->step = min_i64(2 * c->step, c->limit / 2);
    }
    c->step = max_i64(c->step, max_i64(min_i64(WHOLE, c->limit / 4), 1));
}

/* LMT-3: losses while the queue is short */
static void count_calm(cwr_control *c)
{
    c->calm_lost += max_i64(c->round_lost, 0);
    c->calm_passed += max_i64(c->round_passed, 0);
    if (c->calm_passed > CALM_MOST) {
        c->calm_lost /= 2;
        c->calm_passed /= 2;
    }
}

/* LMT-3 */
static bool is_lossy(cwr_control *c, cw_time q, cw_time t)
{
    int64_t expected, beyond;
    bool lossy;
    c->sum_lost += c->round_lost;
    c->sum_passed += c->round_passed;
    expected = 5 * c->sum_passed * c->calm_lost / (4 * (c->calm_passed + CALM_PRIOR));
    beyond = c->sum_lost - expected - 2 * cwr_root(expected);
    lossy = beyond > SPARE || (c->contested && beyond > 0);
    if (lossy) {
        c->sum_lost = c->sum_passed = 0;
    } else if (c->sum_passed > SUM_MOST) {
        c->sum_lost /= 2;
        c->sum_passed /= 2;
    }
    if (!c->contested && q <= t / 2) {
        count_calm(c);
    }
    return lossy;
}

/* LMT-4 */
static void alarm_drain(cwr_control *c, cw_time now, int64_t used, cw_time q, cw_time t)
{
    if (c->round_lost < 3 || q > t) {
        return;
    }
    if (8 * c->round_lost >= c->round_passed && !c->contested && !drains(c) && now - c->busy_since >= ALARM_FIRST &&
        now - c->ended_at >= c->gap) {
        drain(c, now, c->latest);
    }
    if (c->opening && 4 * c->round_lost >= c->round_passed && q >= t / 8) {
        c->opening = false;
        c->step = max_i64(used / 4, 1);
    }
}

/* ---- Contested paths (section 7) -------------------------------------------- */

static void clear_row(cwr_control *c) { memset(&c->row, 0, sizeof c->row); }

static void contest(cwr_control *c, cw_time now, int64_t limit)
{
    c->contested = true;
    c->calm = 0;
    c->rises = 0;
    clear_row(c);
    c->limit = max_i64(limit, TWO_SLICES);
    c->drain_until = 0;
    c->drain_at = now + DRAIN_EVERY;
}

/* CTD-3 */
static void end_contest(cwr_control *c, cw_time now)
{
    c->contested = false;
    c->rises = 0;
    clear_row(c);
    c->drain_at = now + DRAIN_SOON;
}

/* CTD-4 */
static void reopen(cwr_control *c)
{
    cw_time d = c->low - c->min_rtt;
    if (d <= c->min_rtt) {
        c->noise = d;
    } else {
        c->min_rtt = c->low;
        c->noise = 0;
    }
    c->limit = max_i64(c->limit, c->row.limit);
    c->opening = true;
    clear_row(c);
}

/* CTD-8: how often the queue rose */
static void note_rise(cwr_control *c, cw_time q)
{
    if (c->rises == 0) {
        c->rises = 1;
        c->rises_from = c->low;
    } else if (c->low > c->low_before) {
        c->rises++;
    } else if (c->low < c->low_before - max_i64(RISE_SLACK, q / 16)) {
        c->rises = 0;
    }
}

/* CTD-8 */
static void note_row(cwr_control *c, cw_time now, int64_t used, cw_time q, cw_time t)
{
    cw_time d = c->low - c->row.flat_low;
    note_rise(c, q);
    if (c->row.n == 0) {
        c->row.at = now;
        c->row.limit = used;
    }
    c->row.n++;
    c->row.lost += c->round_lost;
    c->row.abrupt = c->row.abrupt || q > 2 * t;
    if (c->round_lost > 0) {
        return;
    }
    if (c->row.flat > 0 && max_i64(d, -d) <= max_i64(STEADY_BAND, c->min_rtt / 32)) {
        c->row.flat++;
    } else {
        c->row.flat = 1;
        c->row.flat_low = c->low;
    }
}

/* Whether no crowd made the queue (CTD-4). */
static bool beyond_crowd(const cwr_control *c, cw_time q, int64_t used)
{
    return 1000 * WHOLE * q > CROWD * max_i64(used, TWO_SLICES) * min_i64(per_slice(c), SLOWEST);
}

/* CTD-1, CTD-4, CTD-2 */
static void judge_row(cwr_control *c, cw_time now, int64_t used, cw_time q, cw_time t)
{
    bool yielded = c->limit <= max_i64(c->row.limit / 2, TWO_SLICES);
    if (c->rises >= RISES && c->low >= c->rises_from + max_i64(t * 3 / 2, LEAST_RISE)) {
        contest(c, now, max_i64(used, c->row.limit / 2));
    } else if (yielded && c->row.flat >= STEADY && c->row.abrupt && beyond_crowd(c, q, used)) {
        reopen(c);
    } else if (yielded && c->row.lost == 0 && now - c->row.at >= QUIET) {
        contest(c, now, max_i64(used, c->row.limit));
    }
}

/* CTD-7 */
static void judge_contest(cwr_control *c, cw_time now, int64_t used, cw_time q, cw_time t)
{
    if (drains(c)) {
        return;
    }
    if (c->contested) {
        c->calm = q > max_i64(t, CALM_QUEUE) ? 0 : c->calm + 1;
        if (c->calm == CALM_ROUNDS) {
            end_contest(c, now);
        }
    } else if (q <= t) {
        c->rises = 0;
        clear_row(c);
    } else {
        note_row(c, now, used, q, t);
        judge_row(c, now, used, q, t);
    }
}

/* CTD-6 */
static void compete(cwr_control *c, int64_t used, bool lossy)
{
    if (lossy) {
        c->limit = max_i64(used * 7 / 10, LEAST_LIMIT);
    } else if (c->full) {
        c->limit += min_i64(WHOLE, c->limit / 4);
    }
}

/* LMT-3 to LMT-8 */
static void judge(cwr_control *c, cw_time now)
{
    cw_time q = queue(c, c->low);
    cw_time t = target(c);
    int64_t used = c->full ? c->limit : min_i64(c->most, c->limit);
    bool lossy = is_lossy(c, q, t);
    alarm_drain(c, now, used, q, t);
    judge_contest(c, now, used, q, t);
    q = queue(c, c->low); /* CTD-4 may have changed them */
    t = target(c);
    if (drains(c)) {
        return;
    }
    if (c->contested) {
        compete(c, used, lossy);
    } else if (q > t) {
        cut(c, max_i64(used * (c->min_rtt + c->noise + t / 2) / c->low, used / 2)); /* LMT-5 */
    } else if (lossy && q > t / 2) {
        cut(c, used * 7 / 8); /* LMT-6 */
    } else if (c->full && !c->opening) {
        grow(c, q < t / 2);
    }
}

/* Whether a decision is due (LMT-2). */
static bool decision_due(cwr_control *c, cw_time now)
{
    if (!c->sampled) {
        return false;
    }
    c->sampled = false;
    if (c->round_at == 0) {
        c->round_at = now + c->latest;
    }
    if (c->closes_at != 0) {
        c->low = min_i64(c->low, c->latest);
        return now >= c->closes_at;
    }
    if (now >= c->round_at) {
        c->closes_at = now + c->latest / 4;
        c->low = c->latest;
    }
    return false;
}

/* LMT-1, LMT-2 */
static void decide(cwr_control *c, cw_time now, int64_t gained, int64_t missing)
{
    c->round_lost += missing;
    c->round_passed += missing + gained;
    if (c->opening && queue(c, c->latest) <= target(c) / 2) {
        c->limit += WHOLE * max_i64(min_i64(2 * (gained + missing), 3 * gained), 0);
        c->limit = min_i64(c->limit, max_i64(3 * c->most, FIRST_LIMIT));
    }
    if (!decision_due(c, now)) {
        return;
    }
    judge(c, now);
    c->low_before = c->low;
    c->most = WHOLE * c->flight;
    c->full = false;
    c->round_lost = c->round_passed = 0;
    c->closes_at = 0;
    c->round_at = now + c->latest;
}

/* ---- The cap (section 8) ---------------------------------------------------- */

/* CAP-8 */
static void count_losses(cwr_control *c, int64_t gained, int64_t missing)
{
    c->arrived += 16 * gained;
    c->lost = max_i64(c->lost + 16 * missing, 0);
    if (!c->settled && c->arrived >= SETTLED) {
        c->arrived -= PRIOR;
        c->settled = true;
    }
    if (c->lost + c->arrived > MOST_COUNTED) {
        c->lost /= 2;
        c->arrived = max_i64(c->arrived / 2, 1);
    }
}

/* CAP-3: no more loss is known than does not depend on the rate, and a little. */
static void forget_losses(cwr_control *c)
{
    c->lost = min_i64(c->lost, c->arrived * (c->cap_calm + 8) / (1024 - min_i64(c->cap_calm, 1000)));
}

/* CAP-1 */
static void start_account(cwr_control *c, cw_time at)
{
    c->account_at = at;
    c->account_arrived = c->account_lost = 0;
}

/* CAP-7 */
static void raise_cap(cwr_control *c, cw_time now)
{
    int64_t i = c->cap;
    int64_t sum = 4000 * c->srtt + i;
    if (i == 0 || c->look > 0 || c->seeking || now - c->raised_at < c->srtt) {
        return;
    }
    c->raised_at = now;
    c->cap = max_i64(i - (i * i + sum - 1) / sum, 1);
}

/* PAC-1 to PAC-3 */
static int64_t path_interval(const cwr_control *c) { return min_i64(measured_rate(c) * 7 / 8, SLOWEST); }

/* CAP-2 */
static void suspect(cwr_control *c, cw_time now, int64_t p, int64_t interval)
{
    int64_t arrives = arrival(c, now);
    if (p < MUCH_LOST || c->account_lost < LEAST_LOST || p <= c->cap_calm * 5 / 4 + 16 || now < c->look_at) {
        start_account(c, now);
        return;
    }
    c->look = max_i64(arrives, path_interval(c));
    c->before = p;
    if (p >= MOST_LOST || arrives == 0) {
        c->look = min_i64(max_i64(c->look, interval), SLOWEST);
    }
    start_account(c, now + c->latest);
}

/* CAP-3, CAP-4 */
static void judge_look(cwr_control *c, cw_time now, int64_t n, int64_t p, int64_t interval)
{
    int64_t expected = c->before * n / 1024;
    int64_t lost = c->account_lost;
    if (4 * lost < 3 * expected && lost + 3 * cwr_root(lost + 1) < expected) {
        c->cap = min_i64(max_i64(c->look, interval), SLOWEST);
        c->seeking = true;
        c->bad = 0;
        forget_losses(c);
        c->look = 0;
    } else if (p >= MOST_LOST && interval >= 2 * c->look && interval < SLOWEST) {
        c->look = interval;
    } else {
        c->cap_calm = p;
        c->look = 0;
        c->wait = min_i64(max_i64(2 * c->wait, FIRST_WAIT), LONGEST_WAIT);
        c->look_at = now + c->wait * c->srtt;
    }
    start_account(c, now + c->latest);
}

/* CAP-5 */
static void keep_cap(cwr_control *c, cw_time now)
{
    c->bad = 0;
    if (c->seeking) {
        c->cap = c->cap * 3 / 4;
    }
    if (c->cap < per_slice(c) * 5 / 8) {
        c->cap = 0;
    }
    start_account(c, now);
}

/* CAP-5, CAP-6 */
static void judge_cap(cwr_control *c, cw_time now, int64_t n, int64_t p, int64_t interval)
{
    int64_t expected = 5 * c->cap_calm * n / 4096;
    if (c->account_lost <= expected + 2 + 2 * cwr_root(expected)) {
        keep_cap(c, now);
        return;
    }
    c->bad++;
    if (c->bad >= CAP_BAD && 2 * p > c->before) {
        c->cap = 0;
        c->cap_calm = p;
    } else {
        c->cap = min_i64(max_i64(c->cap * 8 / 7, min_i64(interval, 2 * c->cap)), SLOWEST);
        c->seeking = false;
    }
    start_account(c, now + c->latest);
}

/* Whether the account is complete (CAP-1, CAP-3, CAP-5). */
static bool account_complete(const cwr_control *c, int64_t n, cw_time took)
{
    int64_t slices = ACCOUNT_SLICES;
    int64_t rounds = ACCOUNT_ROUNDS;
    if (c->look > 0) {
        slices = LOOK_SLICES;
    } else if (c->cap > 0) {
        slices = CAP_SLICES;
        rounds = CAP_ROUNDS;
    }
    return n > 0 && took >= c->srtt && (n >= slices || took >= rounds * c->srtt);
}

/* CAP-1 */
static void account(cwr_control *c, cw_time now, int64_t gained, int64_t missing)
{
    int64_t n, p, interval;
    cw_time took = since(now, c->account_at);
    if (c->srtt == 0 || now < c->account_at) {
        return;
    }
    c->account_arrived += gained;
    c->account_lost = max_i64(c->account_lost + missing, 0);
    raise_cap(c, now);
    n = c->account_arrived + c->account_lost;
    if (!account_complete(c, n, took)) {
        return;
    }
    interval = 1000 * took / max_i64(c->account_arrived, 1);
    p = c->account_lost * 1024 / n;
    if (c->look > 0) {
        judge_look(c, now, n, p, interval);
    } else if (c->cap > 0) {
        judge_cap(c, now, n, p, interval);
    } else {
        suspect(c, now, p, interval);
    }
}

/* ---- The pace (section 9) --------------------------------------------------- */

/* pace_at is a time in microseconds and a rest in nanoseconds, so that it holds every time. */
static void wait_pace(cwr_control *c, cw_time at)
{
    if (c->pace_at < at) {
        c->pace_at = at;
        c->pace_ns = 0;
    }
}

cw_time cwr_control_next(const cwr_control *c) { return c->pace_at + (c->pace_ns > 0 ? 1 : 0); }

/* PAC-2, PAC-6, PAC-7 */
static int64_t pace_interval(cwr_control *c)
{
    int64_t ns = path_interval(c);
    int64_t round = c->latest * 1000 * WHOLE / c->limit;
    if (c->contested) {
        ns = min_i64(ns, round * 3 / 4);
    } else if (c->limit < TWO_SLICES) {
        ns = max_i64(ns, round);
        c->full = c->blocked = true;
    } else if (!c->opening) {
        ns = max_i64(ns, round / 2);
    }
    return min_i64(max_i64(ns, max_i64(c->cap, c->look)), SLOWEST);
}

/* PRO-1, PRO-2, PRO-4 */
static int64_t interval(cwr_control *c, bool fresh)
{
    if (fresh && c->profile.burst) {
        return max_i64(BURST_INTERVAL, c->limit_interval);
    }
    if (c->profile.fixed) {
        return per_slice(c);
    }
    return max_i64(max_i64(pace_interval(c), FASTEST), c->limit_interval);
}

/* PAC-4, PAC-5, PTO-6 */
bool cwr_control_go(cwr_control *c, cw_time now, bool wants, bool fresh)
{
    int64_t ns;
    if (drains(c) || c->blocked) {
        cwr_control_dry(c, now);
        c->blocked = false;
    }
    if (c->idle) {
        wait_pace(c, now);
    }
    c->idle = !wants;
    if (!wants || now < cwr_control_next(c)) {
        return false;
    }
    if (c->pace_at < now - CATCH_UP) {
        cwr_control_dry(c, now);
    }
    c->unanswered++;
    wait_pace(c, now - CATCH_UP);
    ns = c->pace_ns + interval(c, fresh);
    c->pace_at += ns / 1000;
    c->pace_ns = ns % 1000;
    return true;
}

/* ---- The timer (section 10) ------------------------------------------------- */

/* Whether eight acks were to be expected (PTO-7). */
static bool is_too_silent(const cwr_control *c)
{
    int64_t counted = c->arrived + c->lost;
    return c->unanswered * c->arrived / counted * c->arrived / counted >= SILENT_ACKS;
}

/* PTO-7 */
static void lower_limit(cwr_control *c)
{
    if (c->known != CW_MEASURED) {
        c->limit = max_i64(min_i64(c->limit, c->most) / 2, TWO_SLICES);
    } else if (!c->silenced && c->timeouts >= SILENT_TIMERS && is_too_silent(c)) {
        c->limit = max_i64(c->limit / 2, min_i64(c->limit, TWO_SLICES));
    } else {
        return;
    }
    c->silenced = true;
    c->step = max_i64(c->limit / 4, 1);
}

/* PTO-3 */
void cwr_control_timed_out(cwr_control *c, cw_time now)
{
    cw_time delay = cwr_control_delay(c) / (c->known == CW_MEASURED ? 8 : 1);
    cwr_control_end_train(c);
    c->probe_at = now + min_i64(delay * ((int64_t)1 << min_i64(c->timeouts, MOST_DOUBLED)), LONGEST_PROBE);
    c->timeouts++;
    lower_limit(c);
}

/* ---- A chunk, and news ------------------------------------------------------ */

void cwr_control_flight(cwr_control *c, int64_t slices)
{
    c->flight = slices;
    c->most = max_i64(c->most, WHOLE * slices);
}

/* REC-2 */
void cwr_control_start(cwr_control *c, cw_time now)
{
    c->flight = 0;
    c->busy_since = now;
    c->look = 0;
    start_account(c, now);
    c->idle = true;
    use_bound(c);
    cwr_control_end_train(c);
}

/* REC-11, PTO-6 */
void cwr_control_news(cwr_control *c, cw_time now, int64_t gained, int64_t passed, int64_t missing)
{
    if (gained > 0) {
        c->timeouts = 0;
        c->unanswered = 0;
        c->silenced = false;
        c->probe_at = 0;
    }
    expire_drain(c, now);
    count_losses(c, gained, missing);
    note_train(c, now, gained, passed);
    account(c, now, gained, missing);
    decide(c, now, gained, missing);
}

/* PRO-1, PRO-4 */
static bool profile_allowed(const cwr_profile *p)
{
    bool limited = p->limit >= 8 * 1066 && p->limit <= 8 * (int64_t)1000000000;
    return (limited || (p->limit == 0 && !p->fixed)) && (p->burst ? 1 : 0) + (p->fixed ? 1 : 0) + (p->redundant ? 1 : 0) <= 1;
}

/* REC-8 */
bool cwr_control_init(cwr_control *c, cwr_profile profile)
{
    memset(c, 0, sizeof *c);
    if (!profile_allowed(&profile)) {
        return false;
    }
    c->profile = profile;
    c->limit_interval = profile.limit == 0 ? 0 : DATAGRAM_BITS * 1000000000 / profile.limit;
    c->known = CW_KNOWN_NOTHING;
    c->bound = CW_NEVER;
    c->ran_dry_at = -CW_NEVER;
    c->limit = FIRST_LIMIT;
    c->step = WHOLE;
    c->opening = true;
    c->lost = FIRST_LOST;
    c->arrived = FIRST_ARRIVED;
    c->idle = true;
    return true;
}
