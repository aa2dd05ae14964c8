/* The receiver of a reliable channel (section 5). See chunkwire_channel.h. */
#include "chunkwire_channel.h"

#include <string.h>

/* What a sequence is in `have`. */
enum { NOTHING, MESSAGE, FRAGMENT, SKIPPED };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Memory ----------------------------------------------------------------- */

static size_t have_size(const cwc_receiver *r) { return r->config.window * sizeof(cwc_held); }
static size_t ready_size(const cwc_receiver *r) { return r->config.window * sizeof(uint16_t); }

static void give(cwc_receiver *r, void *block, size_t size)
{
    if (block != NULL) {
        r->memory.give(r->memory.owner, block, size);
    }
}

static void drop(cwc_receiver *r, cwc_held *h)
{
    give(r, h->data, h->size);
    h->data = NULL;
}

bool cwc_receiver_init(cwc_receiver *r, const cwc_config *config, uint8_t channel, cwp_memory memory)
{
    if (!cwc_config_allowed(config) || config->kind == CWC_UNRELIABLE || channel >= CWC_CHANNELS) {
        return false;
    }
    memset(r, 0, sizeof *r);
    r->config = *config;
    r->channel = channel;
    r->memory = memory;
    r->tail = config->first;
    r->base = config->first;
    r->top = config->first;
    r->report_at = CWP_NEVER;
    r->have = (cwc_held *)memory.take(memory.owner, have_size(r));
    r->ready = (uint16_t *)memory.take(memory.owner, ready_size(r));
    if (r->have == NULL || r->ready == NULL) {
        give(r, r->have, have_size(r));
        give(r, r->ready, ready_size(r));
        return false;
    }
    memset(r->have, 0, have_size(r));
    return true;
}

void cwc_receiver_end(cwc_receiver *r)
{
    for (uint32_t i = 0; i < r->config.window; i++) {
        drop(r, &r->have[i]);
    }
    give(r, r->have, have_size(r));
    give(r, r->ready, ready_size(r));
}

void cwc_receiver_path(cwc_receiver *r, const cwc_path *path) { r->path = *path; }

/* ---- Sequences -------------------------------------------------------------- */

/* CHN-3 */
static cwp_time observe(cwc_receiver *r, cwp_time now)
{
    r->latest = larger(r->latest, now);
    return r->latest;
}

static int64_t limit(const cwc_receiver *r) { return r->tail + (int64_t)r->config.window; }

/* CHN-4 */
static int64_t nearest(const cwc_receiver *r, int64_t sequence)
{
    int64_t d = (uint16_t)(cwp_on_wire(sequence) - cwp_on_wire(r->base));
    return r->base + (d <= 32768 ? d : d - 65536);
}

static cwc_held *place(const cwc_receiver *r, int64_t n)
{
    return &r->have[(uint64_t)n & (r->config.window - 1)];
}

/* NULL: n is not in `have`. */
static cwc_held *held(const cwc_receiver *r, int64_t n)
{
    if (n < r->tail || n >= r->top || place(r, n)->kind == NOTHING) {
        return NULL;
    }
    return place(r, n);
}

static bool is_new(const cwc_receiver *r, int64_t n) { return n >= r->base && held(r, n) == NULL; }

static bool is_missing(const void *receiver, int64_t n) { return held((const cwc_receiver *)receiver, n) == NULL; }

/* ---- Groups (CHG-1 to CHG-4) ------------------------------------------------ */

/* The count of a message is 0: it belongs to no group. */
typedef struct {
    int64_t begin;
    int64_t count;
} group;

static bool lies_in(int64_t n, group g) { return n >= g.begin && n < g.begin + g.count; }

static bool same(group a, group b) { return a.begin == b.begin && a.count == b.count; }

/* The group of what is held at n, one of no sequence if that is no fragment. */
static group group_of(const cwc_receiver *r, int64_t n)
{
    const cwc_held *h = held(r, n);
    group g = {0, 0};
    if (h != NULL && h->kind == FRAGMENT) {
        g.begin = n - h->index;
        g.count = h->count;
    }
    return g;
}

/* CHG-2, 1: only fragments less than a group away can be of a group in which n lies. */
static bool lies_in_another(const cwc_receiver *r, int64_t n, group own)
{
    int64_t reach = (int64_t)r->config.group - 1;
    for (int64_t m = n - reach; m <= n + reach; m++) {
        group g = group_of(r, m);
        if (lies_in(n, g) && !same(g, own)) {
            return true;
        }
    }
    return false;
}

/* CHG-2, 3 */
static bool is_mixed(const cwc_receiver *r, group own)
{
    for (int64_t m = own.begin; lies_in(m, own); m++) {
        const cwc_held *h = held(r, m);
        if (h != NULL && h->kind != SKIPPED && !same(group_of(r, m), own)) {
            return true;
        }
    }
    return false;
}

/* CHG-2 */
static bool conflicts(const cwc_receiver *r, int64_t n, group own)
{
    return lies_in_another(r, n, own) || (own.count > 0 && own.begin < r->config.first) || is_mixed(r, own);
}

/* CHG-4 */
static bool is_lost(const cwc_receiver *r, group own)
{
    if (own.count > 0 && own.begin < r->tail) {
        return true;
    }
    for (int64_t m = own.begin; lies_in(m, own); m++) {
        const cwc_held *h = held(r, m);
        if (h != NULL && h->kind == SKIPPED) {
            return true;
        }
    }
    return false;
}

static bool is_whole(const cwc_receiver *r, group g)
{
    for (int64_t m = g.begin; lies_in(m, g); m++) {
        if (!same(group_of(r, m), g)) {
            return false;
        }
    }
    return g.count > 0;
}

/* ---- Times of reports ------------------------------------------------------- */

static void report_until(cwc_receiver *r, cwp_time at) { r->report_at = smaller(r->report_at, at); }

/* CHV-4 */
static void soon(cwc_receiver *r, cwp_time now)
{
    report_until(r, r->reported ? larger(now, r->last_report + CWC_REPORT_SPACING) : now);
}

/* REPEAT of CHV-5 */
static cwp_time repeat(const cwc_receiver *r)
{
    cwp_time x = r->path.measured ? larger(r->path.srtt, CWC_REPEAT_LEAST) : CWC_REPEAT_UNMEASURED;
    return smaller(x << r->wait, larger(2 * r->path.srtt, CWC_LEAST_CAP));
}

static bool repeats(const cwc_receiver *r) { return r->base < r->top && r->reported; }

/* CHV-5 */
static bool report_due(const cwc_receiver *r, cwp_time now)
{
    return now >= r->report_at || (repeats(r) && now - r->last_report >= repeat(r));
}

/* ---- Arrival ---------------------------------------------------------------- */

/* CHV-2: what enters `ready` of an unordered channel. */
static void put_ready(cwc_receiver *r, int64_t n)
{
    if (r->config.kind == CWC_UNORDERED) {
        uint32_t end = (r->first_ready + r->num_ready) & (r->config.window - 1);
        r->ready[end] = (uint16_t)((uint64_t)n & (r->config.window - 1));
        r->num_ready++;
    }
}

static void enter_skipped(cwc_receiver *r, int64_t n)
{
    cwc_held *h = place(r, n);
    drop(r, h);
    memset(h, 0, sizeof *h);
    h->kind = SKIPPED;
    put_ready(r, n);
}

/* Steps 1 and 3 to 6 of CHV-1; what enters `have` is below `end` and has entered. */
static void advance(cwc_receiver *r, cwp_time now, int64_t end)
{
    bool missed = r->base < r->top;
    r->top = larger(r->top, end);
    while (held(r, r->base) != NULL) {
        r->base++;
    }
    r->progress_at = now;
    r->wait = 0;
    if (missed || r->base < r->top) {
        soon(r, now);
    } else {
        report_until(r, now + CWC_REPORT_DELAY);
    }
}

/* ADD; false: there is no memory. */
static bool add(cwc_receiver *r, cwp_time now, int64_t n, const cwc_record *record)
{
    cwc_held *h = place(r, n);
    uint8_t *block = (uint8_t *)r->memory.take(r->memory.owner, record->size);
    if (block == NULL) {
        return false;
    }
    memcpy(block, record->data, record->size);
    h->data = block;
    h->size = (uint16_t)record->size;
    h->kind = record->type == CWC_MESSAGE ? MESSAGE : FRAGMENT;
    h->index = (uint8_t)record->index;
    h->count = (uint8_t)record->count;
    h->done = false;
    advance(r, now, n + 1);
    if (h->kind == MESSAGE) {
        put_ready(r, n);
    } else if (is_whole(r, group_of(r, n))) {
        put_ready(r, group_of(r, n).begin);
    }
    return true;
}

static cwc_receiver_row receive_data(cwc_receiver *r, cwp_time now, const cwc_record *record)
{
    int64_t n = nearest(r, record->sequence);
    group own = {0, 0};
    if (record->type == CWC_FRAGMENT) { /* CHG-1 */
        own.begin = n - record->index;
        own.count = record->count;
    }
    if (!is_new(r, n)) {
        soon(r, now);
        return CWC_V1;
    }
    if (n >= limit(r)) {
        r->beyond++;
        soon(r, now);
        return CWC_V2;
    }
    if (conflicts(r, n, own)) {
        r->conflict++;
        return CWC_V3;
    }
    if (is_lost(r, own)) { /* CHV-12 */
        enter_skipped(r, n);
        advance(r, now, n + 1);
        return CWC_V4;
    }
    return add(r, now, n, record) ? CWC_V5 : CWC_V_NONE;
}

/* The sequences that a SKIP makes skipped, before CHG-3. */
typedef struct {
    int64_t first;
    int64_t count;
    bool skips[CWC_MOST_SKIP];
} skipping;

static bool skips_one_of(const skipping *s, int64_t begin, int64_t end)
{
    for (int64_t n = larger(begin, s->first); n < smaller(end, s->first + s->count); n++) {
        if (s->skips[n - s->first]) {
            return true;
        }
    }
    return false;
}

/* V8: LOSE with CHG-3, in ascending order. */
static void lose(cwc_receiver *r, cwp_time now, const skipping *s)
{
    int64_t reach = (int64_t)r->config.group - 1;
    int64_t end = smaller(s->first + s->count + reach, limit(r));
    for (int64_t n = larger(s->first - reach, r->tail); n < end; n++) {
        group g = group_of(r, n);
        if (skips_one_of(s, n, n + 1) || skips_one_of(s, g.begin, g.begin + g.count)) {
            enter_skipped(r, n);
        }
    }
    advance(r, now, s->first + s->count);
}

static cwc_receiver_row receive_skip(cwc_receiver *r, cwp_time now, const cwc_record *record)
{
    skipping s;
    bool any = false;
    s.first = nearest(r, record->sequence);
    s.count = record->count;
    for (int64_t i = 0; i < s.count; i++) {
        s.skips[i] = is_new(r, s.first + i);
        any = any || s.skips[i];
    }
    if (!any) {
        soon(r, now);
        return CWC_V6;
    }
    if (s.first + s.count > limit(r)) {
        r->beyond++;
        soon(r, now);
        return CWC_V7;
    }
    lose(r, now, &s);
    return CWC_V8;
}

static cwc_receiver_row receive_status(cwc_receiver *r, cwp_time now, const cwc_record *record)
{
    int64_t n = nearest(r, record->sequence);
    if (n > limit(r)) {
        r->beyond++;
        soon(r, now);
        return CWC_V10;
    }
    if (r->base == r->top && n > r->top) { /* CHV-14 */
        r->progress_at = now;
    }
    r->top = larger(r->top, n);
    soon(r, now);
    return CWC_V9;
}

/* CHV-9 */
cwc_receiver_row cwc_receiver_record(cwc_receiver *r, cwp_time now, const cwc_record *record)
{
    now = observe(r, now);
    switch (record->type) {
    case CWC_MESSAGE:
    case CWC_FRAGMENT: return r->failed ? CWC_V16 : receive_data(r, now, record);
    case CWC_SKIP: return r->failed ? CWC_V19 : receive_skip(r, now, record);
    case CWC_STATUS: return r->failed ? CWC_V20 : receive_status(r, now, record);
    default: return CWC_V_NONE;
    }
}

/* ---- Delivery --------------------------------------------------------------- */

/* The sequence from tail on at a place of `have`. */
static int64_t sequence_at(const cwc_receiver *r, uint16_t i)
{
    return r->tail + (int64_t)((i - (uint64_t)r->tail) & (r->config.window - 1));
}

/* CHV-2; -1: nothing is ready. */
static int64_t next_ready(const cwc_receiver *r)
{
    const cwc_held *h = held(r, r->tail);
    if (r->config.kind == CWC_UNORDERED) {
        return r->num_ready == 0 ? -1 : sequence_at(r, r->ready[r->first_ready]);
    }
    if (h == NULL || (h->kind == FRAGMENT && (h->index > 0 || !is_whole(r, group_of(r, r->tail))))) {
        return -1;
    }
    return r->tail;
}

/* How many sequences the thing at n has. */
static int64_t parts(const cwc_receiver *r, int64_t n) { return larger(1, group_of(r, n).count); }

/* DELIVER (CHV-16) */
static void deliver(cwc_receiver *r, int64_t n, int64_t count, uint8_t *out)
{
    size_t size = 0;
    for (int64_t m = n; m < n + count; m++) {
        cwc_held *h = held(r, m);
        if (h->data != NULL) {
            memcpy(out + size, h->data, h->size);
            size += h->size;
        }
        drop(r, h);
        h->done = true;
    }
    if (r->config.kind == CWC_UNORDERED) {
        r->first_ready = (r->first_ready + 1) & (r->config.window - 1);
        r->num_ready--;
    }
}

/* MOVE (CHV-3) */
static void move(cwc_receiver *r, cwp_time now)
{
    int64_t before = r->tail;
    for (cwc_held *h = held(r, r->tail); h != NULL && h->done; h = held(r, r->tail)) {
        h->kind = NOTHING;
        r->tail++;
    }
    if (r->tail > before) {
        report_until(r, now + CWC_REPORT_DELAY);
    }
}

cwc_receiver_row cwc_receiver_read(cwc_receiver *r, cwp_time now, uint8_t *out, size_t capacity, cwc_read *what)
{
    int64_t n = next_ready(r);
    int64_t count = parts(r, n);
    now = observe(r, now);
    memset(what, 0, sizeof *what);
    if (n < 0) {
        return r->failed ? CWC_V18 : CWC_V12;
    }
    what->sequence = n;
    what->skipped = held(r, n)->kind == SKIPPED;
    for (int64_t m = n; !what->skipped && m < n + count; m++) {
        what->size += held(r, m)->size;
    }
    if (what->size > capacity) {
        return CWC_V_NONE;
    }
    deliver(r, n, count, out);
    move(r, now);
    return r->failed ? CWC_V17 : CWC_V11;
}

/* ---- Timers ----------------------------------------------------------------- */

/* REPORT (CHV-6); it is computed from what is held now (CHV-17). */
static void make_report(cwc_receiver *r, cwp_time now, size_t space, cwc_record *report)
{
    cwc_missing m = {is_missing, NULL, 0, 0};
    m.owner = r;
    m.base = r->base;
    m.top = r->top;
    if (now < r->report_at && r->wait < CWC_BACKOFF_MOST) {
        r->wait++;
    }
    cwc_report(&m, limit(r) - r->base, (space - 7) / 6, report);
    report->channel = r->channel;
    r->report_at = CWP_NEVER;
    r->last_report = now;
    r->reported = true;
}

/* CHV-7, CHV-10 */
cwc_receiver_row cwc_receiver_poll(cwc_receiver *r, cwp_time now, size_t space, cwc_record *report)
{
    now = observe(r, now);
    if (r->failed) {
        return CWC_V21;
    }
    if (r->base < r->top && now - r->progress_at >= r->config.give_up) {
        r->failed = true; /* CHV-13 */
        return CWC_V13;
    }
    if (space < 7 || !report_due(r, now)) {
        return CWC_V15;
    }
    make_report(r, now, space, report);
    return CWC_V14;
}

/* CHV-11 */
cwp_time cwc_receiver_deadline(const cwc_receiver *r)
{
    cwp_time t = r->report_at;
    if (r->failed) {
        return CWP_NEVER;
    }
    if (r->base < r->top) {
        t = smaller(t, r->progress_at + r->config.give_up);
    }
    if (repeats(r)) {
        t = smaller(t, r->last_report + repeat(r));
    }
    return t;
}
