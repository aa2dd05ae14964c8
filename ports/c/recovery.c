/* The recommended scheduler of plain slices (spec/RECOVERY.md, sections 2 and 10 to 12), on the
 * controller of repair_control.c. See chunkwire_recovery.h. */
#include "chunkwire_recovery.h"

#include <string.h>

enum {
    NONE = -1,
    GAP_SIZE = 2,
    PROBES = 2,
    MAX_COPIES = 4,
    COPY_BUDGET = 64,
    SPREAD_BUDGET = 512,
    MOST_NUMBER = 65535,
    MOST_COUNTED = 255
};

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* RTT-7 */
static cw_time since(cw_time now, cw_time at) { return min_i64(now - at, (cw_time)1 << 40); }

/* The controller: its own, or one that lanes share. */
static cwr_control *path(cw_recovery *r) { return r->shared != NULL ? r->shared : &r->control; }
static const cwr_control *known_path(const cw_recovery *r) { return r->shared != NULL ? r->shared : &r->control; }

/* ---- Slices (REC-2) --------------------------------------------------------- */

static bool flies(const cw_recovery *r, uint32_t k)
{
    return k < r->fresh && cw_set_has(&r->unacked, k) && !cw_set_has(&r->lost, k);
}

static bool sent_once(const cw_recovery_slice *s) { return s->resends == 0 && s->copies == 0; } /* EST-1 */

static void note_flight(cw_recovery *r)
{
    int64_t n = 0;
    for (uint32_t k = 0; k < r->fresh; k++) {
        n += flies(r, k) ? 1 : 0;
    }
    if (cw_set_empty(&r->unacked)) {
        cwr_control_leave(path(r), &r->share);
    } else {
        cwr_control_flight(path(r), &r->share, n);
    }
}

static void lose(cw_recovery *r, uint32_t k, bool by_timer)
{
    cw_set_add(&r->lost, k);
    if (by_timer) {
        cw_set_add(&r->by_timer, k);
    } else {
        cw_set_remove(&r->by_timer, k);
    }
}

/* The smallest slice of lost, or of those of it that the timer found; or none. */
static int smallest_lost(const cw_recovery *r, bool by_timer)
{
    for (uint32_t k = 0; k < r->num_slices; k++) {
        if (cw_set_has(&r->lost, k) && (!by_timer || cw_set_has(&r->by_timer, k))) {
            return (int)k;
        }
    }
    return NONE;
}

/* Of PTO-1. */
static void find_oldest(cw_recovery *r)
{
    r->oldest = NONE;
    for (uint32_t k = 0; k < r->fresh; k++) {
        if (flies(r, k) && (r->oldest == NONE || r->slice[k].last < r->slice[r->oldest].last)) {
            r->oldest = (int)k;
        }
    }
}

/* ---- The round trip (section 3) --------------------------------------------- */

/* EST-5 */
static cw_time least(const cw_recovery *r) { return known_path(r)->min_rtt * 15 / 16; }

typedef bool (*slice_test)(const cw_recovery *r, cw_time now, const cw_recovery_slice *s);

static bool gives_clean(const cw_recovery *r, cw_time now, const cw_recovery_slice *s)
{
    (void)r, (void)now;
    return sent_once(s);
}

/* EST-3 */
static bool gives_sample(const cw_recovery *r, cw_time now, const cw_recovery_slice *s)
{
    cw_time took = now - s->main_at;
    return took >= least(r) && (s->copies == 0 || took < known_path(r)->srtt);
}

static bool gives_bound(const cw_recovery *r, cw_time now, const cw_recovery_slice *s)
{
    (void)r, (void)now, (void)s;
    return true;
}

/* The newly acked slice that passes and was sent last, or NULL. */
static const cw_recovery_slice *latest_of(const cw_recovery *r, cw_time now, const cw_set *news, slice_test passes)
{
    const cw_recovery_slice *best = NULL;
    for (uint32_t k = 0; k < r->num_slices; k++) {
        const cw_recovery_slice *s = &r->slice[k];
        if (cw_set_has(news, k) && s->first > r->moved && passes(r, now, s) && (best == NULL || s->last > best->last)) {
            best = s;
        }
    }
    return best;
}

/* EST-2 to EST-4 */
static void sample(cw_recovery *r, cw_time now, const cw_set *news)
{
    const cw_recovery_slice *s = latest_of(r, now, news, gives_clean);
    if (s != NULL) {
        cwr_control_sample(path(r), now, s->last_at);
    } else if (known_path(r)->known != CW_MEASURED) {
        s = latest_of(r, now, news, gives_bound);
        if (s != NULL) {
            cwr_control_bound(path(r), now, s->first_at);
        }
    } else if ((s = latest_of(r, now, news, gives_sample)) != NULL) {
        cwr_control_resample(path(r), now, s->main_at);
    }
}

/* ---- Lost slices (section 11) ----------------------------------------------- */

/* LOS-1, LOS-4: the number of the transmission of a newly acked slice that has arrived. */
static uint64_t arrived_as(cw_recovery *r, cw_time now, uint32_t k)
{
    const cw_recovery_slice *s = &r->slice[k];
    if (s->resends == 0) {
        return s->main;
    }
    if (known_path(r)->known != CW_MEASURED) {
        return s->first;
    }
    if (!cw_set_has(&r->lost, k) && now - s->main_at >= least(r)) {
        return s->main;
    }
    if (cw_set_has(&r->by_timer, k)) {
        cwr_control_late(path(r), 1);
    } else if (s->resends == 1) {
        cw_time patience = min_i64(since(now, s->first_at) * 9 / 8, known_path(r)->srtt * 3 / 2);
        r->patience = max_i64(r->patience, patience);
    }
    return s->first;
}

/* LOS-2, LOS-3, SUS-5: how many slices it finds that the path has lost. */
static int64_t find_lost(cw_recovery *r, cw_time now)
{
    int64_t missing = 0;
    r->gap_at = CW_NEVER;
    for (uint32_t k = 0; k < r->fresh; k++) {
        cw_time lost_at = r->slice[k].last_at + r->patience;
        if (!flies(r, k) || r->slice[k].last + GAP_SIZE > r->newest) {
            continue;
        }
        if (lost_at > now) {
            r->gap_at = min_i64(r->gap_at, lost_at);
        } else {
            missing += r->slice[k].last > r->refused && r->slice[k].last > r->moved ? 1 : 0;
            lose(r, k, false);
        }
    }
    find_oldest(r);
    note_flight(r);
    return missing;
}

/* ---- The timer (section 10) ------------------------------------------------- */

/* PTO-1, PTO-2, PTO-5 */
static cw_time timer(const cw_recovery *r)
{
    const cwr_control *c = known_path(r);
    if (r->held) {
        return max_i64(r->sent_at, r->held_at) + cwr_control_hold_delay(c, r->sent_at - r->held_at);
    }
    if (r->oldest == NONE) {
        return CW_NEVER;
    }
    return max_i64(max_i64(r->slice[r->oldest].last_at + cwr_control_delay(c), r->news_at + cwr_control_margin(c)),
                   c->probe_at);
}

/* The flying slice that a timer finds lost first, or none (PTO-4). */
static int probe(const cw_recovery *r)
{
    int best = NONE;
    for (uint32_t k = 0; k < r->fresh; k++) {
        const cw_recovery_slice *s = &r->slice[k];
        if (flies(r, k) &&
            (best == NONE || s->resends < r->slice[best].resends ||
             (s->resends == r->slice[best].resends && s->last > r->slice[best].last))) {
            best = (int)k;
        }
    }
    return best;
}

/* PTO-5: one probe for a peer that cannot take the chunk. */
static void probe_held(cw_recovery *r)
{
    for (uint32_t k = r->fresh; k-- > 0;) {
        if (cw_set_has(&r->unacked, k)) {
            lose(r, k, true);
            return;
        }
    }
}

/* PTO-3, PTO-4 */
static void timer_ran_out(cw_recovery *r, cw_time now)
{
    if (r->held) {
        probe_held(r);
    } else {
        int given_up = 0;
        for (int i = 0; i < PROBES; i++) {
            int k = probe(r);
            if (k != NONE) {
                lose(r, (uint32_t)k, true);
                given_up += r->slice[k].last > r->moved ? 1 : 0;
            }
        }
        cwr_control_timed_out(path(r), now, given_up);
    }
    note_flight(r);
}

/* ---- Copies (section 12) ---------------------------------------------------- */

/* B / left of CPY-2 */
static int64_t copies_each(const cw_recovery *r)
{
    int64_t window = min_i64(cwr_control_path_slices(known_path(r)), CW_MAX_SLICES);
    int64_t budget = known_path(r)->profile.redundant ? SPREAD_BUDGET : COPY_BUDGET;
    return min_i64(budget, window / 2) / (int64_t)cw_set_count(&r->unacked);
}

/* CPY-1 to CPY-3: the slice that goes out once more, or none. */
static int copied(const cw_recovery *r)
{
    const cwr_control *c = known_path(r);
    int64_t most = min_i64(MAX_COPIES, copies_each(r));
    int best = NONE;
    if (c->known == CW_KNOWN_NOTHING || r->latest - r->news_at > 4 * cwr_control_delay(c)) {
        return NONE;
    }
    for (uint32_t k = 0; k < r->fresh; k++) {
        const cw_recovery_slice *s = &r->slice[k];
        int64_t worth = s->resends + (c->profile.redundant ? 2 : 1);
        if (flies(r, k) && 1 + s->copies < min_i64(most, worth) && r->latest - s->main_at < c->srtt / 2 &&
            (best == NONE || s->last < r->slice[best].last)) {
            best = (int)k;
        }
    }
    return best;
}

/* ---- What goes next (REC-9) ------------------------------------------------- */

static int next_of(cw_recovery *r)
{
    int k = smallest_lost(r, false);
    if (k != NONE) {
        if (cwr_control_has_room(known_path(r))) {
            return k;
        }
        return r->held || r->latest >= cwr_control_silent_at(known_path(r)) ? smallest_lost(r, true) : NONE;
    }
    if (r->fresh == r->num_slices || r->held || !cwr_control_has_room(known_path(r))) {
        return NONE;
    }
    return (int)r->fresh;
}

static void choose(cw_recovery *r)
{
    r->is_copy = false;
    r->chosen = NONE;
    if (cw_set_empty(&r->unacked)) {
        return;
    }
    r->chosen = next_of(r);
    if (r->chosen == NONE && r->fresh == r->num_slices && cw_set_empty(&r->lost) && !r->held &&
        cwr_control_has_room(known_path(r))) {
        r->chosen = copied(r);
        r->is_copy = true;
    }
}

/* REC-6 */
static void send_one(cw_recovery *r, cw_time now, uint32_t k)
{
    cw_recovery_slice *s = &r->slice[k];
    s->last = ++r->count;
    s->last_at = r->sent_at = now;
    if (r->is_copy) {
        s->copies = (unsigned)min_i64(s->copies + 1, MOST_COUNTED);
    } else {
        s->main = r->count;
        s->main_at = now;
        if (k == r->fresh) {
            s->first = (uint64_t)min_i64((int64_t)r->count, MOST_NUMBER);
            s->first_at = now;
            r->fresh++;
        } else {
            s->resends = (unsigned)min_i64(s->resends + 1, MOST_COUNTED);
            s->copies = 0;
            cw_set_remove(&r->lost, k);
        }
    }
    if (r->oldest == NONE || r->oldest == (int)k) {
        find_oldest(r);
    }
    note_flight(r);
}

/* ---- The functions of cw_scheduler, which is the first member --------------- */

/* REC-2 */
static void recovery_start(cw_scheduler *scheduler, cw_time now, size_t chunk_size)
{
    cw_recovery *r = (cw_recovery *)scheduler;
    r->num_slices = cw_num_slices(chunk_size);
    r->fresh = 0;
    cw_set_fill(&r->unacked, r->num_slices);
    cw_set_clear(&r->lost);
    cw_set_clear(&r->by_timer);
    r->count = r->newest = r->refused = r->moved = 0;
    memset(r->slice, 0, sizeof r->slice);
    r->oldest = NONE;
    r->sent_at = r->news_at = now;
    r->gap_at = CW_NEVER;
    r->held = false;
    cwr_control_start(path(r), &r->share, now);
    r->patience -= r->patience / 16;
    choose(r);
}

/* REC-3 */
static void recovery_news(cw_scheduler *scheduler, cw_time now, const cw_set *news)
{
    cw_recovery *r = (cw_recovery *)scheduler;
    int64_t missing;
    int64_t gained = 0;
    r->latest = now;
    sample(r, now, news);
    for (uint32_t k = 0; k < r->num_slices; k++) {
        if (cw_set_has(news, k)) {
            uint64_t number = arrived_as(r, now, k);
            r->newest = number > r->newest ? number : r->newest;
            gained += number > r->moved ? 1 : 0;
        }
    }
    for (uint32_t k = 0; k < r->num_slices; k++) {
        if (cw_set_has(news, k)) {
            cw_set_remove(&r->unacked, k);
            cw_set_remove(&r->lost, k);
        }
    }
    if (r->held) {
        r->refused = r->count;
    }
    r->news_at = now;
    r->held = false;
    missing = find_lost(r, now);
    cwr_control_news(path(r), now, gained, missing);
    choose(r);
}

/* REC-4 */
static void recovery_hold(cw_scheduler *scheduler, cw_time now)
{
    cw_recovery *r = (cw_recovery *)scheduler;
    if (!r->held) {
        r->held = true;
        r->held_at = now;
    }
    cw_set_clear(&r->lost);
    note_flight(r);
    choose(r);
}

/* REC-5 */
static int recovery_next(cw_scheduler *scheduler, cw_time now)
{
    cw_recovery *r = (cw_recovery *)scheduler;
    int k;
    r->latest = now;
    if (now >= r->gap_at) {
        int64_t missing = find_lost(r, now);
        cwr_control_news(path(r), now, 0, missing);
    }
    if (next_of(r) == NONE && now >= timer(r)) {
        timer_ran_out(r, now);
    }
    choose(r);
    k = r->chosen;
    if (!cwr_control_go(path(r), &r->share, now, k != NONE, k == (int)r->fresh)) {
        k = NONE;
    } else {
        send_one(r, now, (uint32_t)k);
    }
    choose(r);
    return k;
}

/* REC-7 */
static cw_time recovery_deadline(const cw_scheduler *scheduler)
{
    const cw_recovery *r = (const cw_recovery *)scheduler;
    cw_time at;
    if (cw_set_empty(&r->unacked)) {
        return CW_NEVER;
    }
    if (r->chosen != NONE) {
        return cwr_control_next(known_path(r));
    }
    at = min_i64(timer(r), r->gap_at);
    return smallest_lost(r, true) != NONE ? min_i64(at, cwr_control_silent_at(known_path(r))) : at;
}

void cw_recovery_marks(cw_recovery *r, int64_t count) { cwr_control_marks(path(r), count); }

void cw_recovery_yield(cw_recovery *r, bool yields)
{
    path(r)->yields = yields;
    choose(r);
}

void cw_recovery_share(cw_recovery *r, cwr_control *shared) { r->shared = shared; }

void cw_recovery_refresh(cw_recovery *r) { choose(r); }

void cw_recovery_forget_path(cw_recovery *r)
{
    cwr_control_take(path(r), &r->share);
    r->patience = 0;
    r->moved = r->count;
    if (!cw_set_empty(&r->unacked)) {
        note_flight(r);
    }
    choose(r);
}

/* REC-8 */
bool cw_recovery_init(cw_recovery *r, cwr_profile profile)
{
    memset(r, 0, sizeof *r);
    r->scheduler.start = recovery_start;
    r->scheduler.news = recovery_news;
    r->scheduler.hold = recovery_hold;
    r->scheduler.next = recovery_next;
    r->scheduler.deadline = recovery_deadline;
    r->oldest = r->chosen = NONE;
    return cwr_control_init(&r->control, profile);
}
