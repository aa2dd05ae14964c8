/* The rule of a sender of repair slices (section 7), on the controller of repair_control.c. See
 * chunkwire_repair.h. */
#include "chunkwire_repair.h"

#include <string.h>

enum { PROBES = 2, MOST_NEED = 1024, NO_QUOTA = -1 };

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* The controller: its own, or one that lanes share. */
static cwr_control *path(cwr_rule *r) { return r->shared != NULL ? r->shared : &r->control; }
static const cwr_control *known_path(const cwr_rule *r) { return r->shared != NULL ? r->shared : &r->control; }

/* ---- How many --------------------------------------------------------------- */

/* RPL-4 */
static int64_t need(const cwr_rule *r, int64_t d)
{
    const cwr_control *c = known_path(r);
    int64_t lost = min_i64(c->lost, 32 * c->arrived);
    int64_t m = 256 * d * lost / c->arrived;
    int64_t v = m + m * lost / c->arrived;
    int64_t z = c->profile.redundant ? 9 : 4;
    v += v * 16 * d / c->arrived;
    return min_i64(d + (m + cwr_root(256 * z * v) + 128) / 256, MOST_NEED);
}

static int64_t flight(const cwr_rule *r)
{
    return (int64_t)(r->sent - (r->top > r->gone ? r->top : r->gone));
}

static void note_flight(cwr_rule *r)
{
    if (r->have < r->num_slices) {
        cwr_control_flight(path(r), &r->share, flight(r));
    } else {
        cwr_control_leave(path(r), &r->share);
    }
}

static bool enough(const cwr_rule *r)
{
    return r->have == r->num_slices || flight(r) >= need(r, (int64_t)(r->num_slices - r->have));
}

/* RPL-3 */
static bool wanted(cwr_rule *r)
{
    r->wanted = !enough(r) && (r->quota == NO_QUOTA ? cwr_control_has_room(known_path(r)) : r->quota > 0);
    return r->wanted;
}

/* ---- The timer -------------------------------------------------------------- */

/* RPL-10 */
static cw_time timer(const cwr_rule *r)
{
    const cwr_control *c = known_path(r);
    if (r->held) {
        return max_i64(r->last_at, r->held_at) + cwr_control_hold_delay(c, r->last_at - r->held_at);
    }
    return max_i64(max_i64(r->main_at + cwr_control_delay(c), r->news_at + cwr_control_margin(c)), c->probe_at);
}

/* RPL-11 */
static void timer_ran_out(cwr_rule *r, cw_time now)
{
    uint64_t said = r->top > r->gone ? r->top : r->gone;
    int64_t given_up = min_i64((int64_t)(r->sent - (said > r->moved ? said : r->moved)), PROBES); /* SUS-1 */
    r->gone = r->sent;
    note_flight(r);
    if (r->held) {
        r->quota = 1;
        return;
    }
    r->quota = PROBES;
    cwr_control_timed_out(path(r), now, given_up);
}

/* ---- The functions of cwr_scheduler, which is the first member -------------- */

/* RPL-2 */
static void rule_start(cwr_scheduler *s, cw_time now, uint32_t num_slices)
{
    cwr_rule *r = (cwr_rule *)s;
    r->num_slices = num_slices;
    r->have = 0;
    r->sent = r->top = r->gone = r->moved = 0;
    r->main_at = r->last_at = r->news_at = now;
    r->quota = r->was_held ? 1 : NO_QUOTA;
    r->was_held = false;
    r->held = false;
    cwr_control_start(path(r), &r->share, now);
    (void)wanted(r);
}

/* Step 1 of RPL-5 */
static void sample(cwr_rule *r, cw_time now, uint32_t have, uint64_t top)
{
    cw_time at;
    if (top <= r->top || top <= r->moved || top - 1 + CWR_KEPT_TIMES < r->sent) {
        return;
    }
    at = r->sent_at[(top - 1) % CWR_KEPT_TIMES];
    if (have < r->num_slices || top > r->gone) {
        cwr_control_sample(path(r), now, at);
    } else {
        cwr_control_bound(path(r), now, at);
    }
}

/* Step 2 of RPL-5: what is missing, and how many slices are new on this path (RPL-16). What the peer
 * could not take is not lost, and what is under way may still be taken. */
static int64_t missing(cwr_rule *r, cw_time now, uint32_t have, uint64_t top, int64_t *gained)
{
    int64_t passed = (int64_t)(top - r->top);
    *gained = (int64_t)(have - r->have);
    if (r->top < r->moved) {
        passed = max_i64((int64_t)top - (int64_t)r->moved, 0);
        *gained = min_i64(*gained, passed);
    }
    if (r->held) {
        r->gone = 0;
        note_flight(r);
        r->was_held = r->was_held || now - r->held_at > 2 * known_path(r)->srtt;
        return 0;
    }
    if (r->top < r->gone && r->gone < top) {
        passed = (int64_t)(top - (r->gone > r->moved ? r->gone : r->moved));
        return passed - min_i64(*gained, passed);
    }
    return passed - *gained;
}

/* RPL-5 */
static void rule_news(cwr_scheduler *s, cw_time now, uint32_t have, uint64_t top)
{
    cwr_rule *r = (cwr_rule *)s;
    int64_t gained;
    int64_t lost;
    sample(r, now, have, top);
    lost = missing(r, now, have, top, &gained);
    if (r->top < r->gone) { /* SUS-2 */
        cwr_control_late(path(r), gained - max_i64((int64_t)top - (int64_t)r->gone, 0));
    }
    r->have = have;
    r->top = top;
    note_flight(r);
    cwr_control_news(path(r), now, gained, lost);
    r->held = false;
    if (gained == 0 && top - have > MOST_NEED) {
        r->quota = 0; /* a peer that denies everything draws probes only */
    } else {
        r->news_at = now;
        r->quota = NO_QUOTA;
    }
    (void)wanted(r);
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
    note_flight(r);
    (void)wanted(r);
}

/* Step 6 of RPL-9 */
static void send_one(cwr_rule *r, cw_time now)
{
    r->sent_at[r->sent % CWR_KEPT_TIMES] = now;
    r->last_at = now;
    r->sent++;
    note_flight(r);
    if (r->quota == NO_QUOTA) {
        r->main_at = now;
    } else {
        r->quota--;
    }
}

/* RPL-9 */
static bool rule_next(cwr_scheduler *s, cw_time now)
{
    cwr_rule *r = (cwr_rule *)s;
    bool goes;
    if (!wanted(r) && now >= timer(r)) {
        timer_ran_out(r, now);
    }
    goes = cwr_control_go(path(r), &r->share, now, wanted(r), r->sent < r->num_slices);
    if (goes) {
        send_one(r, now);
    }
    (void)wanted(r);
    return goes;
}

/* RPL-13 */
static cw_time rule_deadline(const cwr_scheduler *s)
{
    const cwr_rule *r = (const cwr_rule *)s;
    if (r->have == r->num_slices) {
        return CW_NEVER;
    }
    return r->wanted ? cwr_control_next(known_path(r)) : timer(r);
}

/* RPL-1 */
bool cwr_rule_init(cwr_rule *r, cwr_profile profile)
{
    memset(r, 0, sizeof *r);
    r->scheduler.start = rule_start;
    r->scheduler.news = rule_news;
    r->scheduler.hold = rule_hold;
    r->scheduler.next = rule_next;
    r->scheduler.deadline = rule_deadline;
    r->quota = NO_QUOTA;
    return cwr_control_init(&r->control, profile);
}

void cwr_rule_share(cwr_rule *r, cwr_control *shared) { r->shared = shared; }

void cwr_rule_refresh(cwr_rule *r) { (void)wanted(r); }

bool cwr_rule_needed(const cwr_rule *r) { return !enough(r); }

void cwr_rule_forget_path(cwr_rule *r)
{
    cwr_control_take(path(r), &r->share);
    if (r->have < r->num_slices) {
        r->moved = r->sent;
        note_flight(r);
    }
    (void)wanted(r);
}

cwr_profile cwr_profile_adaptive(void)
{
    cwr_profile p = {0, false, false, false};
    return p;
}
