/* The rule of a sender of repair slices (section 7), on the estimates of spec/RECOVERY.md. See
 * chunkwire_repair.h. */
#include "chunkwire_repair.h"

#include <string.h>

#define MS ((cw_time)1000)
#define LONGEST_SAMPLE ((cw_time)1 << 40)
#define ACK_DELAY (2 * MS)
#define MIN_RTT_LIFE (10000 * MS)
#define TRAIN_TIME (20 * MS)
#define RATE_EPOCH (10 * MS)
#define PROBE_DELAY (250 * MS)
#define CATCH_UP (20 * MS)
#define FASTEST ((int64_t)7000)         /* ns, as those below */
#define SLOWEST ((int64_t)1000000000)
#define BURST_INTERVAL ((int64_t)85000)
#define DATAGRAM_BITS ((int64_t)8 * 1066)

enum {
    LONG_TRAIN = 16,
    SHORT_TRAIN = 4,
    FIRST_WINDOW = 64,
    YIELD_WINDOW = 16,
    DRAIN_WINDOW = 4,
    PROBES = 2,
    MOST_NEED = 1024,
    FIRST_LOST = 16,
    FIRST_ARRIVED = 512,
    SETTLED = 1536,
    PRIOR = 448,
    MOST_COUNTED = 16384,
    NO_QUOTA = -1
};

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* RTT-7 */
static cw_time since(cw_time now, cw_time at) { return min_i64(now - at, LONGEST_SAMPLE); }

/* ---- The round trip (RECOVERY.md, section 3) -------------------------------- */

/* RTT-5 */
static void smooth(cwr_rule *r, cw_time sample)
{
    cw_time d = min_i64(sample, r->srtt * 3 / 2 + MS) - r->srtt;
    cw_time deviation = d >= 0 ? d : min_i64(-d, r->rttvar);
    r->rttvar += (deviation - r->rttvar) / 4;
    r->srtt += d / (d >= 0 ? 8 : 4);
}

/* A drain ends. */
static void set_min_rtt(cwr_rule *r, cw_time now, cw_time value)
{
    r->min_rtt = value;
    r->near_at = now;
    r->draining = false;
}

/* EST-6, EST-7 */
static void sample_min_rtt(cwr_rule *r, cw_time now, cw_time measured)
{
    cw_time sample = max_i64(measured, 1);
    bool late = !r->sampled || now - r->sample_at >= MIN_RTT_LIFE;
    r->sampled = true;
    r->sample_at = now;
    if (late) {
        set_min_rtt(r, now, sample);
    } else if (sample <= r->min_rtt + max_i64(r->min_rtt / 8, ACK_DELAY)) {
        set_min_rtt(r, now, min_i64(r->min_rtt, sample));
    } else if (r->draining) {
        r->drain_min = min_i64(r->drain_min, sample);
        if (now >= r->drain_until) {
            set_min_rtt(r, now, r->drain_min);
        }
    } else if (now - r->near_at >= MIN_RTT_LIFE) {
        r->draining = true;
        r->drain_until = now + 2 * r->srtt;
        r->drain_min = sample;
    }
}

/* RTT-2 */
static void measure(cwr_rule *r, cw_time now, cw_time sample)
{
    sample_min_rtt(r, now, sample);
    if (r->known == CW_MEASURED) {
        smooth(r, sample);
        return;
    }
    r->srtt = sample;
    r->rttvar = sample / 8;
    r->known = CW_MEASURED;
}

/* RTT-6 */
static void use_bound(cwr_rule *r)
{
    if (r->known == CW_MEASURED || r->bound == CW_NEVER) {
        return;
    }
    r->srtt = r->bound;
    r->rttvar = r->bound / 16;
    r->known = CW_KNOWN_BOUND;
}

/* V and D of TMR-2, M of TMR-3, H of TMR-6 */
static cw_time variation(const cwr_rule *r) { return max_i64(max_i64(5 * MS, r->srtt / 8), 4 * r->rttvar); }

static cw_time base_delay(const cwr_rule *r)
{
    return r->known == CW_KNOWN_NOTHING ? 250 * MS : min_i64(r->srtt + variation(r), 3000 * MS);
}

static cw_time margin(const cwr_rule *r)
{
    return r->known == CW_KNOWN_NOTHING ? 0 : min_i64(variation(r), base_delay(r));
}

static cw_time hold_delay(const cwr_rule *r)
{
    cw_time least = r->known == CW_KNOWN_NOTHING ? 250 * MS : max_i64(r->srtt, 2 * MS);
    return min_i64(max_i64(least, (r->last_at - r->held_at) / 4), 250 * MS);
}

/* ---- The rate (section 4) --------------------------------------------------- */

/* RAT-5; 0: unknown */
static int64_t per_slice(const cwr_rule *r)
{
    return r->epoch_before > 0 ? min_i64(r->epoch_smallest, r->epoch_before) : r->epoch_smallest;
}

static void count_sample(cwr_rule *r, cw_time now, int64_t x)
{
    if (r->epoch_smallest == 0 || now - r->epoch_at >= max_i64(r->srtt, RATE_EPOCH)) {
        r->epoch_before = r->epoch_smallest;
        r->epoch_smallest = x;
        r->epoch_at = now;
    } else {
        r->epoch_smallest = min_i64(r->epoch_smallest, x);
    }
}

/* RAT-2 to RAT-4 */
static void sample_rate(cwr_rule *r, cw_time now)
{
    int64_t took = 1000 * since(now, r->train_since);
    int64_t over = (int64_t)(r->top - r->train_from);
    int64_t x = took / r->gained;
    if (over > r->gained) {
        x = max_i64(took / over, x / 2);
    }
    x = max_i64(x, FASTEST);
    if (per_slice(r) == 0 || x < per_slice(r) || !r->ran_dry || r->ran_dry_at < r->train_since - r->srtt) {
        count_sample(r, now, x);
    }
}

/* RAT-1, with the top as newest */
static void note_train(cwr_rule *r, cw_time now, uint32_t gained)
{
    if (r->train) {
        r->gained += gained;
        if (r->gained < LONG_TRAIN &&
            (r->gained < SHORT_TRAIN || now - r->train_since < max_i64(r->min_rtt / 2, TRAIN_TIME))) {
            return;
        }
        sample_rate(r, now);
    }
    r->train = true;
    r->train_since = now;
    r->train_from = r->top;
    r->gained = 0;
}

static void note_dry(cwr_rule *r, cw_time now)
{
    r->ran_dry = true;
    r->ran_dry_at = now;
}

/* ---- How many --------------------------------------------------------------- */

static uint64_t root(uint64_t x)
{
    uint64_t low = 0;
    uint64_t high = (uint64_t)1 << 32;
    while (low + 1 < high) {
        uint64_t mid = (low + high) / 2;
        if (mid * mid <= x) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return low;
}

/* RPL-4 */
static int64_t need(const cwr_rule *r, int64_t d)
{
    int64_t lost = min_i64(r->lost, 32 * r->arrived);
    int64_t m = 256 * d * lost / r->arrived;
    int64_t v = m + m * lost / r->arrived;
    int64_t z = r->profile.redundant ? 9 : 4;
    v += v * 16 * d / r->arrived;
    return min_i64(d + (m + (int64_t)root((uint64_t)(256 * z * v)) + 128) / 256, MOST_NEED);
}

/* Steps 3 to 5 of RPL-5 */
static void count_losses(cwr_rule *r, int64_t passed, int64_t gained)
{
    r->arrived += 16 * gained;
    r->lost = max_i64(r->lost + 16 * (passed - gained), 0);
    if (!r->settled && r->arrived >= SETTLED) {
        r->arrived -= PRIOR;
        r->settled = true;
    }
    if (r->lost + r->arrived > MOST_COUNTED) {
        r->lost /= 2;
        r->arrived = max_i64(r->arrived / 2, 1);
    }
}

static int64_t flight(const cwr_rule *r)
{
    return (int64_t)(r->sent - (r->top > r->gone ? r->top : r->gone));
}

/* RPL-7 */
static int64_t window(const cwr_rule *r)
{
    int64_t holds;
    if (r->profile.burst || r->profile.fixed) {
        return INT64_MAX;
    }
    if (per_slice(r) == 0) {
        return (r->yields ? YIELD_WINDOW : FIRST_WINDOW) + (int64_t)r->have;
    }
    if (r->draining) {
        return DRAIN_WINDOW;
    }
    holds = (r->min_rtt + ACK_DELAY) * 1000 / per_slice(r);
    return (r->yields ? holds : holds * 3 / 2) + 8;
}

static bool enough(const cwr_rule *r) { return flight(r) >= need(r, (int64_t)(r->num_slices - r->have)); }

/* RPL-3 */
static bool wanted(const cwr_rule *r)
{
    return r->have < r->num_slices && !enough(r) && flight(r) < window(r) && r->quota != 0;
}

/* ---- The pace (section 6), the timer ---------------------------------------- */

/* PAC-1 to PAC-3, PRO-1, PRO-2, PRO-4 */
static int64_t interval(const cwr_rule *r)
{
    int64_t measured = per_slice(r) == 0 ? FASTEST : min_i64(max_i64(per_slice(r) * 7 / 8, FASTEST), SLOWEST);
    if (r->profile.fixed) {
        return max_i64(r->limit, FASTEST);
    }
    if (r->profile.burst && r->sent < r->num_slices) {
        measured = BURST_INTERVAL;
    }
    return max_i64(r->limit, measured);
}

/* RPL-10 */
static cw_time timer(const cwr_rule *r)
{
    if (r->held) {
        return max_i64(r->last_at, r->held_at) + hold_delay(r);
    }
    return max_i64(max_i64(r->main_at + base_delay(r), r->news_at + margin(r)), r->probe_at);
}

/* RPL-11 */
static void timer_ran_out(cwr_rule *r, cw_time now)
{
    cw_time waited = max_i64(base_delay(r), now - r->news_at);
    r->train = false;
    r->gone = r->sent;
    if (r->held) {
        r->quota = 1;
        return;
    }
    r->quota = PROBES;
    r->probe_at = now + min_i64(waited / (r->known == CW_KNOWN_NOTHING ? 4 : 8), PROBE_DELAY);
}

/* pace_at is a time in microseconds and a rest in nanoseconds, so that it holds every time. */
static void set_pace(cwr_rule *r, cw_time at)
{
    r->pace_at = at;
    r->pace_ns = 0;
}

/* Steps 4 to 6 of RPL-9, PAC-4, PAC-5 */
static bool send_one(cwr_rule *r, cw_time now)
{
    if (r->idle && r->pace_at < now) {
        set_pace(r, now);
    }
    r->idle = false;
    if (now < r->pace_at || (now == r->pace_at && r->pace_ns > 0)) {
        return false;
    }
    if (now - r->pace_at > CATCH_UP) {
        note_dry(r, now);
        set_pace(r, now - CATCH_UP);
    }
    r->pace_ns += interval(r);
    r->pace_at += r->pace_ns / 1000;
    r->pace_ns %= 1000;
    r->sent_at[r->sent % CWR_KEPT_TIMES] = now;
    r->last_at = now;
    if (r->quota == NO_QUOTA) {
        r->main_at = now;
    } else {
        r->quota--;
    }
    r->sent++;
    return true;
}

/* ---- The functions of cwr_scheduler, which is the first member -------------- */

/* RPL-2 */
static void rule_start(cwr_scheduler *s, cw_time now, uint32_t num_slices)
{
    cwr_rule *r = (cwr_rule *)s;
    use_bound(r);
    r->num_slices = num_slices;
    r->have = 0;
    r->sent = r->top = r->gone = 0;
    r->main_at = r->last_at = r->news_at = now;
    r->probe_at = 0;
    r->quota = r->was_held ? 1 : NO_QUOTA;
    r->was_held = false;
    r->held = false;
    r->idle = true;
    r->train = false;
}

/* Step 1 of RPL-5 */
static void sample(cwr_rule *r, cw_time now, uint32_t have, uint64_t top)
{
    cw_time took;
    if (top <= r->top || top - 1 + CWR_KEPT_TIMES < r->sent) {
        return;
    }
    took = since(now, r->sent_at[(top - 1) % CWR_KEPT_TIMES]);
    if (have < r->num_slices || top > r->gone) {
        measure(r, now, took);
    } else if (r->known != CW_MEASURED) {
        r->bound = min_i64(r->bound, took); /* RTT-4 */
    }
}

/* News after a hold: what the peer could not take is not lost, and what is under way may still
 * be taken. */
static void release_held(cwr_rule *r, cw_time now)
{
    r->gone = 0;
    r->was_held = r->was_held || now - r->held_at > 2 * r->srtt;
}

/* RPL-5 */
static void rule_news(cwr_scheduler *s, cw_time now, uint32_t have, uint64_t top)
{
    cwr_rule *r = (cwr_rule *)s;
    uint32_t gained = have - r->have;
    int64_t passed = (int64_t)(top - r->top);
    sample(r, now, have, top);
    if (r->held) {
        count_losses(r, gained, gained);
        release_held(r, now);
    } else if (r->top < r->gone && r->gone < top) {
        passed = (int64_t)(top - r->gone);
        count_losses(r, passed, min_i64(gained, passed));
    } else {
        count_losses(r, passed, gained);
    }
    r->have = have;
    r->top = top;
    note_train(r, now, gained);
    r->held = false;
    if (gained == 0 && top - have > MOST_NEED) {
        r->quota = 0; /* a peer that denies everything draws probes only */
        return;
    }
    r->news_at = now;
    r->probe_at = 0;
    r->quota = NO_QUOTA;
}

/* RPL-12 */
static void rule_hold(cwr_scheduler *s, cw_time now)
{
    cwr_rule *r = (cwr_rule *)s;
    if (!r->held) {
        r->held = true;
        r->held_at = now;
    }
    r->gone = r->sent;
    r->quota = 0;
    r->train = false;
}

/* RPL-9 */
static bool rule_next(cwr_scheduler *s, cw_time now)
{
    cwr_rule *r = (cwr_rule *)s;
    if (!wanted(r) && now >= timer(r)) {
        timer_ran_out(r, now);
    }
    if (enough(r) || r->draining) {
        note_dry(r, now);
    }
    if (!wanted(r)) {
        r->idle = true;
        return false;
    }
    return send_one(r, now);
}

/* RPL-13 */
static cw_time rule_deadline(const cwr_scheduler *s)
{
    const cwr_rule *r = (const cwr_rule *)s;
    if (r->have == r->num_slices) {
        return CW_NEVER;
    }
    return wanted(r) ? r->pace_at + (r->pace_ns > 0 ? 1 : 0) : timer(r);
}

/* PRO-1, PRO-4 */
static bool profile_allowed(const cwr_profile *p)
{
    bool limited = p->limit >= 8 * 1066 && p->limit <= 8 * (int64_t)1000000000;
    return (limited || (p->limit == 0 && !p->fixed)) && (p->burst ? 1 : 0) + (p->fixed ? 1 : 0) + (p->redundant ? 1 : 0) <= 1;
}

bool cwr_rule_init(cwr_rule *r, cwr_profile profile)
{
    memset(r, 0, sizeof *r);
    if (!profile_allowed(&profile)) {
        return false;
    }
    r->scheduler.start = rule_start;
    r->scheduler.news = rule_news;
    r->scheduler.hold = rule_hold;
    r->scheduler.next = rule_next;
    r->scheduler.deadline = rule_deadline;
    r->profile = profile;
    r->limit = profile.limit == 0 ? 0 : DATAGRAM_BITS * 1000000000 / profile.limit;
    r->known = CW_KNOWN_NOTHING;
    r->bound = CW_NEVER;
    r->lost = FIRST_LOST;
    r->arrived = FIRST_ARRIVED;
    r->quota = NO_QUOTA;
    return true;
}

cwr_profile cwr_profile_adaptive(void)
{
    cwr_profile p = {0, false, false, false};
    return p;
}
