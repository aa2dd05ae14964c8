/* The controller of a sender, of repair slices or of others (recovery.c): when what is known of
 * the path lets a slice go (spec/RECOVERY.md, sections 3 to 10). See chunkwire_repair.h. */
#include "chunkwire_repair.h"

#include <string.h>

#define MS ((cw_time)1000)
#define SECOND (1000 * MS)
#define LONGEST_SAMPLE ((cw_time)1 << 40)
#define ACK_DELAY (2 * MS)
#define LIFE (10 * SECOND)
#define DRAIN_FIRST (2500 * MS)
#define TARGET_LEAST (5 * MS)
#define TARGET_MOST (20 * MS)
#define SLOWEST_PROBE (250 * MS)
#define CATCH_UP (20 * MS)
#define FASTEST ((int64_t)7000) /* ns, as those below */
#define SLOWEST ((int64_t)1000000000)
#define BURST_INTERVAL ((int64_t)85000)
#define DATAGRAM_BITS ((int64_t)8 * 1066)

enum {
    DRAIN_MISSES = 3,
    DRAIN_SLICES = 4,
    WHOLE = 64, /* a slice; 64ths of one, as the four below */
    FIRST_LIMIT = 16 * WHOLE,
    LEAST_LIMIT = WHOLE / 2,
    TWO_SLICES = 2 * WHOLE,
    STEP = 24,
    PART = 4,
    OPEN_FACTOR = 3,
    QUIET_MOST = 32,
    DOUBLE_PART = 8,
    FOE_ROWS = 6,
    PRIOR_LOST = 2, /* sixteenths of a slice */
    PRIOR_PASSED = 32,
    CALM_MOST = 8192,
    CALM_PART = 2,
    OPEN_PART = 8,
    SUM_MOST = 64,
    VARIANCES = 18,
    GAP_SLICES = 3,
    FIRST_LOST = 16, /* sixteenths of a slice, as the two below */
    FIRST_ARRIVED = 16 * PRIOR_PASSED,
    MOST_COUNTED = 16 * 1024,
    MOST_DOUBLED = 10,
    SILENT_DELAYS = 3,
    SILENT_ACKS = 8
};

enum { STEADY, RECOVERS, LOOKS }; /* phases (LSS-2) */

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
    return now >= c->drain_at && (!c->others || now - c->drain_at >= LIFE);
}

/* EST-9 */
static void stop_drain(cwr_control *c, cw_time now)
{
    c->drain_until = 0;
    c->drain_at = now + (c->fell ? DRAIN_FIRST : LIFE);
    c->fell = false;
}

/* EST-10 */
static void end_drain(cwr_control *c, cw_time now, bool near)
{
    stop_drain(c, now);
    if (near) {
        c->misses = 0;
    } else if (++c->misses == DRAIN_MISSES) {
        c->min_rtt = c->drain_min;
        c->misses = 0;
    }
}

/* EST-8 */
static void lower_min_rtt(cwr_control *c, cw_time now, cw_time r, cw_time t)
{
    if (c->min_rtt - r >= t / PART) {
        c->fell = true;
        if (!drains(c) && !c->others) {
            drain(c, now, r);
        }
    }
    c->min_rtt = r;
}

/* EST-6 to EST-10, with the target before the sample: whether a drain has ended, and whether its smallest sample
 * was near. */
static bool sample_min_rtt(cwr_control *c, cw_time now, cw_time r, cw_time t, bool *near)
{
    bool silent = c->min_rtt == 0 || now - c->sample_at >= LIFE;
    bool ended = false;
    *near = false;
    c->sample_at = now;
    if (silent) {
        c->min_rtt = r;
        c->drain_until = 0;
        c->drain_at = now + DRAIN_FIRST;
        c->misses = 0;
        return false;
    }
    if (r < c->min_rtt) {
        lower_min_rtt(c, now, r, t);
    }
    if (drains(c)) {
        c->drain_min = min_i64(c->drain_min, r);
        *near = c->drain_min <= c->min_rtt + t / 2;
        ended = now >= c->drain_until || (*near && !c->fell && now >= c->drain_full_at);
    }
    if (ended) {
        end_drain(c, now, *near);
    }
    if (!drains(c) && drain_due(c, now)) {
        drain(c, now, r);
    }
    return ended;
}

/* ---- Room and decisions ----------------------------------------------------- */

/* DCS-6: how long it is until a decision */
static cw_time decision_time(const cwr_control *c) { return c->latest + c->latest / PART; }

/* DCS-9 */
static void add_wait(cwr_control *c, cw_time w)
{
    c->least_wait = c->samples > 0 ? min_i64(c->least_wait, w) : w;
    c->waits += w;
    c->samples++;
}

/* DCS-3, DCS-6: the next decision */
static void restart(cwr_control *c, cw_time now)
{
    c->most = c->flight * WHOLE;
    c->round_lost = c->round_passed = 0;
    c->waits = 0;
    c->samples = 0;
    c->least = c->counts_at = 0;
    c->began_at = now;
    c->decides_at = now + decision_time(c);
}

static cw_time queue(const cwr_control *c, cw_time r) { return r - c->min_rtt; }

/* ROOM-3, DCS-7 */
static cw_time target(const cwr_control *c)
{
    cw_time t = min_i64(max_i64(c->min_rtt / PART, TARGET_LEAST), TARGET_MOST);
    return c->yields ? t / 2 : t;
}

/* LSS-3, LSS-8 */
static void forget_calm(cwr_control *c) { c->calm_lost = c->calm_passed = 0; }

/* EST-2, OTH-4 */
void cwr_control_sample(cwr_control *c, cw_time now, cw_time at)
{
    cw_time r = max_i64(since(now, at), 1);
    cw_time was = c->min_rtt;
    cw_time t = target(c);
    bool near;
    bool ended;
    measure(c, r);
    c->sampled = true;
    c->latest = r;
    ended = sample_min_rtt(c, now, r, t, &near);
    if (was - c->min_rtt >= t / PART) {
        forget_calm(c);
    }
    if (!ended) {
        return;
    }
    if (near && c->others) {
        c->others = false;
        c->above = 0;
        c->drain_at = now + LIFE;
    }
    restart(c, now);
}

/* EST-3 */
void cwr_control_resample(cwr_control *c, cw_time now, cw_time at)
{
    cw_time r = max_i64(since(now, at), 1);
    smooth(c, r);
    add_wait(c, max_i64(queue(c, r), 0));
}

/* ROOM-1 */
int64_t cwr_control_path_slices(const cwr_control *c)
{
    int64_t n = max_i64(c->limit, TWO_SLICES) / WHOLE;
    return drains(c) ? min_i64(n, DRAIN_SLICES) : n;
}

bool cwr_control_has_room(const cwr_control *c)
{
    return c->profile.burst || c->profile.fixed || c->flight < cwr_control_path_slices(c);
}

/* ROOM-4, ROOM-5 */
static void open_limit(cwr_control *c, int64_t gained)
{
    int64_t limit;
    if (!c->opening || gained <= 0 || queue(c, c->latest) > target(c) / 2) {
        return;
    }
    limit = min_i64(c->limit + (OPEN_FACTOR - 1) * WHOLE * gained, OPEN_FACTOR * c->most);
    if (c->ceiling > 0 && limit >= c->ceiling) {
        limit = c->ceiling;
        c->opening = false;
    }
    c->limit = max_i64(c->limit, limit);
}

/* ROOM-6, DLY-2 */
static void cut(cwr_control *c, int64_t limit)
{
    c->limit = max_i64(limit, LEAST_LIMIT);
    c->step = STEP;
    c->quiet = 0;
    c->opening = false;
}

/* ---- Loss ------------------------------------------------------------------- */

/* LSS-1: calm loss, p of b */
static void calm(const cwr_control *c, int64_t *p, int64_t *b)
{
    *b = c->calm_passed + 16 * PRIOR_PASSED;
    *p = min_i64(c->calm_lost + PRIOR_LOST, *b / CALM_PART);
}

/* LSS-1; of LSS-3, where the same is lost after a cut */
static bool exceeds(const cwr_control *c, int64_t lost, int64_t passed, bool same)
{
    int64_t p, b, e, x;
    calm(c, &p, &b);
    if (c->opening) {
        p = max_i64(p, b / OPEN_PART);
    }
    if (same) {
        p = b / CALM_PART;
    }
    e = WHOLE * passed * p / b;
    x = WHOLE * lost - e;
    return x > 0 && x * x > VARIANCES * WHOLE * (e * (b - p) / b);
}

/* LSS-3: whether most of the calm loss is not lost at a lower rate */
static bool is_gone(const cwr_control *c, int64_t lost, int64_t passed)
{
    int64_t p, b;
    calm(c, &p, &b);
    return passed * p >= PART * b && 2 * lost * b < passed * p;
}

/* DCS-7: a queue that does not empty is full, however short it is */
static bool has_short_queue(const cwr_control *c, cw_time t)
{
    cw_time average;
    bool stands;
    if (c->samples == 0) {
        return false;
    }
    average = c->waits / c->samples;
    stands = c->samples >= PART && 2 * c->least_wait > average && c->least_wait > t / (PART * PART);
    return !stands && average <= t / PART;
}

/* LSS-6 */
static void learn(cwr_control *c, int64_t lost, int64_t passed, bool is_short)
{
    int64_t p, b;
    calm(c, &p, &b);
    if (!is_short && lost * b > passed * p) {
        return;
    }
    c->calm_lost += 16 * lost;
    c->calm_passed += 16 * passed;
    if (c->calm_passed > 16 * CALM_MOST) {
        c->calm_lost /= 2;
        c->calm_passed /= 2;
    }
}

/* LSS-3 */
static void end_look(cwr_control *c, int64_t lost, int64_t passed, bool is_short)
{
    int64_t before_lost = c->before.lost;
    int64_t before_passed = c->before.passed;
    bool cut_before = c->before.limit > 0;
    bool same = cut_before && is_short && passed > 0 && PART * before_lost >= before_passed &&
                PART * lost * before_passed >= (PART - 1) * before_lost * passed;
    c->phase = STEADY;
    if (same) {
        learn(c, before_lost, before_passed, is_short);
    }
    if (is_gone(c, lost, passed)) {
        forget_calm(c);
    }
    learn(c, lost, passed, is_short);
    if (cut_before && !c->broken && !exceeds(c, before_lost, before_passed, same)) {
        c->limit = max_i64(c->limit, c->before.limit);
        c->ceiling = c->before.ceiling;
        c->opening = c->before.opening;
    }
    c->sum_lost = c->sum_passed = 0;
    memset(&c->before, 0, sizeof c->before);
}

/* LSS-2 to LSS-4: whether more was lost than does not depend on the rate */
static bool judge_loss(cwr_control *c, cw_time t)
{
    bool is_short = has_short_queue(c, t);
    int64_t lost = max_i64(c->round_lost, 0);
    int64_t passed = max_i64(c->round_passed, 0);
    if (c->phase == RECOVERS) {
        c->phase = LOOKS;
        c->marked = 0;
        return false;
    }
    c->sum_lost += lost;
    c->sum_passed += passed;
    if (c->phase == LOOKS) {
        if (c->before.limit == 0 || c->sum_passed * c->before.lost >= PART * c->before.passed || c->sum_lost >= PART) {
            end_look(c, c->sum_lost, c->sum_passed, is_short);
        }
        return false;
    }
    if (exceeds(c, c->sum_lost, c->sum_passed, false)) {
        return true;
    }
    while (c->sum_passed > SUM_MOST) {
        c->sum_lost /= 2;
        c->sum_passed /= 2;
    }
    if (c->limit <= c->low + c->low / PART) {
        learn(c, lost, passed, is_short);
    }
    return false;
}

/* LSS-5, ECN-3, OTH-3 */
static void cut_for_loss(cwr_control *c, cw_time now, int64_t used, int64_t limit)
{
    cut(c, limit);
    c->ceiling = used;
    c->low = c->limit;
    c->hit = true;
    c->phase = RECOVERS;
    c->sum_lost = c->sum_passed = 0;
    if (c->others && now >= c->drain_at) {
        drain(c, now, c->latest);
    }
}

/* ---- Growth, and others ----------------------------------------------------- */

/* GRO-1 to GRO-5 */
static void grow(cwr_control *c, bool is_short)
{
    int64_t least = c->others ? WHOLE : STEP;
    if (c->others ? c->hit : !is_short) {
        c->step = least;
        c->quiet = 0;
    } else if (!c->others && c->limit < c->ceiling) {
        c->step = max_i64(STEP, (c->ceiling - c->limit) / QUIET_MOST);
        c->quiet = 0;
    } else {
        c->quiet++;
        c->step = max_i64(c->quiet > QUIET_MOST ? min_i64(2 * c->step, c->limit / DOUBLE_PART) : 0, least);
    }
    c->limit += min_i64(c->step, c->limit / PART);
}

/* OTH-2, OTH-3 */
static void judge_others(cwr_control *c, cw_time now, int64_t used, cw_time q, cw_time t)
{
    if (c->others) {
        if (now >= c->drain_at && !c->hit) {
            drain(c, now, c->latest);
        }
        return;
    }
    if (q <= t) {
        c->above -= q <= t / 2 && c->above > 0 ? 1 : 0;
        return;
    }
    int64_t speed = max_i64(c->round_passed - c->round_lost, 0) * 1000000 / max_i64(now - c->began_at, 1); /* DCS-7 */
    if (c->above == 0) {
        c->from = used;
        c->from_speed = speed;
    }
    if (++c->above < FOE_ROWS) {
        return;
    }
    c->above = 0;
    if (used > WHOLE && PART * speed >= (PART - 1) * c->from_speed) {
        return;
    }
    c->others = true;
    c->hit = false;
    c->quiet = 0;
    c->limit = max_i64(c->limit, c->from);
    c->drain_at = now + DRAIN_FIRST;
}

/* BRK-3 to BRK-5 */
static void judge_breaker(cwr_control *c, cw_time now)
{
    c->group_lost += max_i64(c->round_lost, 0);
    c->group_passed += max_i64(c->round_passed, 0);
    if (c->group_passed < SUM_MOST) {
        return;
    }
    if (CALM_PART * c->group_lost <= c->group_passed) {
        c->broken = false;
        c->calm_at = now;
    }
    if (now - c->calm_at >= LIFE) {
        c->broken = true;
        cut(c, LEAST_LIMIT);
    }
    c->group_lost = c->group_passed = 0;
}

/* ---- A decision (DCS-8) ----------------------------------------------------- */

static void judge(cwr_control *c, cw_time now)
{
    cw_time low = c->least == 0 ? c->min_rtt : c->least;
    cw_time q = queue(c, low);
    cw_time t = target(c);
    bool lossy = judge_loss(c, t);
    int64_t used, limit, half;
    bool full;
    if (drains(c)) {
        return;
    }
    used = min_i64(c->most, c->limit);
    full = c->most + WHOLE > c->limit * 7 / 8;
    judge_others(c, now, used, q, t);
    half = used * (c->min_rtt + t / 2) / low;
    limit = q > t && !c->others ? max_i64(half, used / 2) : used;
    if (lossy) {
        int64_t arrived = used * max_i64(c->round_passed - c->round_lost, 0) / max_i64(c->round_passed, 1);
        c->before.limit = c->limit;
        c->before.ceiling = c->ceiling;
        c->before.lost = c->sum_lost;
        c->before.passed = c->sum_passed;
        c->before.opening = c->opening;
        cut_for_loss(c, now, used, min_i64(limit, min_i64(used - used / PART, arrived * 7 / 8)));
    } else if (c->marked > 0) {
        cut_for_loss(c, now, used, min_i64(limit, used - used / PART));
    } else if (limit < used) {
        cut(c, limit);
        c->ceiling = 0;
    } else if (full && !c->opening && !c->broken && c->phase != LOOKS) {
        grow(c, q < t / 2);
        if (q > t / 2 && !c->others) {
            c->limit -= (used - half) / PART;
        }
    }
    c->marked = 0;
    judge_breaker(c, now);
}

/* DCS-2 */
static void count_sample(cwr_control *c, cw_time now)
{
    if (!c->sampled) {
        return;
    }
    c->sampled = false;
    add_wait(c, queue(c, c->latest));
    if (now >= c->counts_at && (c->least == 0 || (now <= c->decides_at && c->latest < c->least))) {
        c->least = c->latest;
    }
}

/* DCS-1 */
static void decide(cwr_control *c, cw_time now, int64_t gained, int64_t missing)
{
    c->round_lost += missing;
    c->round_passed += missing + gained;
    open_limit(c, gained);
    if (c->latest == 0) {
        return;
    }
    if (c->decides_at == 0) {
        c->decides_at = now + decision_time(c);
        c->began_at = c->calm_at = now;
    }
    count_sample(c, now);
    if (now >= c->decides_at) {
        judge(c, now);
        restart(c, now);
    }
}

/* CAP-8 */
static void count_losses(cwr_control *c, int64_t gained, int64_t missing)
{
    c->arrived += 16 * gained;
    c->lost = max_i64(c->lost + 16 * missing, 0);
    if (c->lost + c->arrived > MOST_COUNTED) {
        c->lost /= 2;
        c->arrived = max_i64(c->arrived / 2, 1);
    }
}

/* ---- The pace --------------------------------------------------------------- */

/* pace_at is a time in microseconds and a rest in nanoseconds, so that it holds every time. */
static void wait_pace(cwr_control *c, cw_time at)
{
    if (c->pace_at < at) {
        c->pace_at = at;
        c->pace_ns = 0;
    }
}

cw_time cwr_control_next(const cwr_control *c) { return c->pace_at + (c->pace_ns > 0 ? 1 : 0); }

/* PAC-8, PAC-9, PAC-3 */
static int64_t pace_interval(const cwr_control *c)
{
    int64_t ns;
    if (c->min_rtt == 0) {
        return BURST_INTERVAL;
    }
    ns = c->srtt * 1000 * WHOLE / c->limit;
    if (c->opening) {
        ns /= 2;
    } else if (c->limit >= TWO_SLICES) {
        ns = ns * 15 / 16;
    }
    return min_i64(ns, SLOWEST);
}

/* PRO-1, PRO-2, PRO-4 */
static int64_t interval(const cwr_control *c, bool fresh)
{
    if (fresh && c->profile.burst) {
        return max_i64(BURST_INTERVAL, c->limit_interval);
    }
    if (c->profile.fixed) {
        return max_i64(c->limit_interval, FASTEST);
    }
    return max_i64(max_i64(pace_interval(c), FASTEST), c->limit_interval);
}

static void want(cwr_control *c, cwr_share *s, bool wants)
{
    c->wanting += (wants ? 1 : 0) - (s->wants ? 1 : 0);
    s->wants = wants;
}

/* PAC-4, PAC-5, PTO-6 */
bool cwr_control_go(cwr_control *c, cwr_share *s, cw_time now, bool wants, bool fresh)
{
    int64_t ns;
    if (c->wanting == 0) {
        wait_pace(c, now);
    }
    want(c, s, wants);
    if (!wants || now < cwr_control_next(c)) {
        return false;
    }
    c->unanswered++;
    wait_pace(c, now - CATCH_UP);
    ns = c->pace_ns + interval(c, fresh);
    c->pace_at += ns / 1000;
    c->pace_ns = ns % 1000;
    return true;
}

/* ---- The timer -------------------------------------------------------------- */

/* Whether eight acks were to be expected (PTO-7). */
static bool is_too_silent(const cwr_control *c)
{
    int64_t counted = c->arrived + c->lost;
    return c->unanswered * c->arrived / counted * c->arrived / counted >= SILENT_ACKS;
}

/* PTO-7 */
static void lower_limit(cwr_control *c, cw_time now, cw_time delay)
{
    if (c->known != CW_MEASURED) {
        c->limit = max_i64(min_i64(c->limit, c->most) / 2, TWO_SLICES);
    } else if (!c->silenced && now - c->heard_at >= SILENT_DELAYS * delay && is_too_silent(c)) {
        c->ceiling = c->limit;
        c->limit = max_i64(c->limit / 2, min_i64(c->limit, TWO_SLICES));
    } else {
        return;
    }
    c->silenced = true;
    c->step = STEP;
    c->quiet = 0;
    c->opening = !c->broken;
}

/* PTO-3, SUS-1 */
void cwr_control_timed_out(cwr_control *c, cw_time now, int64_t given_up)
{
    cw_time delay = cwr_control_delay(c);
    c->suspects += given_up;
    c->probe_at = now + min_i64(delay * ((int64_t)1 << min_i64(c->timeouts, MOST_DOUBLED)), max_i64(delay, SLOWEST / 1000));
    c->timeouts++;
    lower_limit(c, now, delay);
}

/* SUS-2 */
void cwr_control_late(cwr_control *c, int64_t n) { c->suspects = max_i64(c->suspects - max_i64(n, 0), 0); }

/* ROOM-7 */
cw_time cwr_control_silent_at(const cwr_control *c) { return c->heard_at + cwr_control_delay(c); }

/* ---- A chunk, and news ------------------------------------------------------ */

void cwr_control_flight(cwr_control *c, cwr_share *s, int64_t slices)
{
    c->flight += slices - s->flight;
    s->flight = slices;
    c->most = max_i64(c->most, WHOLE * c->flight);
}

void cwr_control_leave(cwr_control *c, cwr_share *s)
{
    cwr_control_flight(c, s, 0);
    want(c, s, false);
    c->active -= s->active ? 1 : 0;
    s->active = false;
}

/* IDL-1, IDL-2, DCS-4 */
static void resume(cwr_control *c, cw_time now)
{
    cw_time idle = now - c->heard_at;
    if (c->decides_at == 0) {
        return;
    }
    if (idle >= c->latest) {
        c->heard_at = now;
        c->began_at += idle;
        c->decides_at += idle;
        c->calm_at += idle;
        c->drain_at = max_i64(c->drain_at, now + DRAIN_FIRST);
        for (; idle >= 2 * LIFE && c->limit > FIRST_LIMIT; idle -= LIFE) {
            c->limit = max_i64(c->limit / 2, FIRST_LIMIT);
        }
    }
    if (c->counts_at == 0) {
        c->counts_at = now + decision_time(c);
        c->decides_at = max_i64(c->decides_at, c->counts_at + c->latest / PART);
    }
}

/* REC-2 */
void cwr_control_start(cwr_control *c, cwr_share *s, cw_time now)
{
    if (!s->active) {
        if (c->active == 0) {
            resume(c, now);
        }
        s->active = true;
        c->active++;
    }
    cwr_control_flight(c, s, 0);
    use_bound(c);
}

void cwr_control_marks(cwr_control *c, int64_t count) { c->marked += count; }

/* REC-11, PTO-6, SUS-3, SUS-4 */
void cwr_control_news(cwr_control *c, cw_time now, int64_t gained, int64_t missing)
{
    int64_t counted = missing;
    if (gained > 0) {
        if (!c->silenced && c->limit < GAP_SLICES * WHOLE * c->active) {
            counted += c->suspects;
        } else {
            c->group_lost += c->suspects;
            c->group_passed += c->suspects;
        }
        c->suspects = 0;
        c->heard_at = now;
        c->timeouts = 0;
        c->unanswered = 0;
        c->silenced = false;
        c->probe_at = 0;
    }
    if (drains(c) && now >= c->drain_until) { /* it says nothing of the path if no sample ended it */
        stop_drain(c, now);
        restart(c, now);
    }
    count_losses(c, gained, missing);
    decide(c, now, gained, counted);
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
    c->limit = FIRST_LIMIT;
    c->step = STEP;
    c->opening = true;
    c->lost = FIRST_LOST;
    c->arrived = FIRST_ARRIVED;
    return true;
}

void cwr_control_forget_path(cwr_control *c, cw_time now)
{
    bool yields = c->yields;
    cwr_share one = {0, false, false};
    (void)cwr_control_init(c, c->profile);
    cwr_control_start(c, &one, now);
    (void)cwr_control_go(c, &one, now, true, true);
    cwr_control_leave(c, &one);
    c->yields = yields;
}

void cwr_control_take(cwr_control *c, cwr_share *s)
{
    s->flight = 0;
    s->wants = false;
    c->active += s->active ? 1 : 0;
}
