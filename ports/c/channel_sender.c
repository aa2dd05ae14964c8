/* The sender of a reliable channel (section 4). See chunkwire_channel.h. */
#include "chunkwire_channel.h"

#include <string.h>

enum { MESSAGE_HEADER = 6, FRAGMENT_HEADER = 8, SKIP_BYTES = 5, STATUS_BYTES = 4 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Memory ----------------------------------------------------------------- */

static size_t entries_size(const cwc_sender *s) { return s->config.send_queue * sizeof(cwc_entry); }

bool cwc_sender_init(cwc_sender *s, const cwc_config *config, uint8_t channel, cwp_memory memory)
{
    if (!cwc_config_allowed(config) || config->kind == CWC_UNRELIABLE || channel >= CWC_CHANNELS) {
        return false;
    }
    memset(s, 0, sizeof *s);
    s->config = *config;
    s->channel = channel;
    s->memory = memory;
    s->base = config->first;
    s->next = config->first;
    s->sent = config->first;
    s->limit = config->first + (int64_t)config->window;
    s->heard = -1;
    s->packet_now = -1;
    s->resent = config->first;
    s->first_due = config->first;
    s->dies_at = CWP_NEVER;
    s->entries = (cwc_entry *)memory.take(memory.owner, entries_size(s));
    return s->entries != NULL;
}

static cwc_entry *entry(const cwc_sender *s, int64_t n) { return &s->entries[n % (int64_t)s->config.send_queue]; }

static void drop(cwc_sender *s, cwc_entry *e)
{
    if (e->data != NULL) {
        s->memory.give(s->memory.owner, e->data, e->size);
        e->data = NULL;
    }
}

void cwc_sender_end(cwc_sender *s)
{
    for (int64_t n = s->base; n < s->next; n++) {
        drop(s, entry(s, n));
    }
    s->memory.give(s->memory.owner, s->entries, entries_size(s));
}

void cwc_sender_path(cwc_sender *s, const cwc_path *path) { s->path = *path; }

/* ---- Expiry (CHX-1) --------------------------------------------------------- */

/* The smallest dies_at of an entry that is not gone. */
static cwp_time first_death(const cwc_sender *s)
{
    cwp_time t = CWP_NEVER;
    for (int64_t n = s->base; n < s->next; n++) {
        if (!entry(s, n)->gone) {
            t = smaller(t, entry(s, n)->dies_at);
        }
    }
    return t;
}

/* The fragments of a message have the same dies_at (CHX-2); what is due stays so (CHX-4). */
static void expire(cwc_sender *s, cwp_time now)
{
    if (s->dies_at > now) {
        return;
    }
    for (int64_t n = s->base; n < s->next; n++) {
        cwc_entry *e = entry(s, n);
        if (!e->gone && e->dies_at <= now) {
            e->gone = true;
            drop(s, e);
        }
    }
    s->dies_at = first_death(s);
}

/* What each event first does: CHN-3, CHX-1. */
static cwp_time begin(cwc_sender *s, cwp_time now)
{
    s->latest = larger(s->latest, now);
    if (!s->failed) {
        expire(s, s->latest);
    }
    return s->latest;
}

/* ---- Times ------------------------------------------------------------------ */

/* HOLD of CHS-3 */
static cwp_time hold(const cwc_sender *s)
{
    cwp_time srtt = s->path.srtt;
    return s->path.measured ? srtt + larger(srtt / 4, CWC_HOLD_MARGIN) : CWC_HOLD_UNMEASURED;
}

/* Whether the next probe is early (CHS-4). */
static bool early(const cwc_sender *s) { return s->backoff == 0 && s->resent > s->base; }

/* PROBE_WAIT of CHS-4 */
static cwp_time probe_wait(const cwc_sender *s)
{
    unsigned doublings = s->backoff > 0 ? s->backoff - 1 : 0;
    if (early(s)) {
        return CWC_PROBE_SOON;
    }
    return smaller((hold(s) + CWC_PROBE_MARGIN) << doublings, larger(2 * s->path.srtt, CWC_LEAST_CAP));
}

/* ---- Send ------------------------------------------------------------------- */

static int64_t entries_for(const cwc_sender *s, size_t size)
{
    return (int64_t)((size + s->config.data - 1) / s->config.data);
}

/* One entry behind next; false: there is no memory. */
static bool put(cwc_sender *s, int64_t n, const uint8_t *data, size_t size)
{
    cwc_entry *e = entry(s, n);
    memset(e, 0, sizeof *e);
    e->data = (uint8_t *)s->memory.take(s->memory.owner, size);
    if (e->data == NULL) {
        return false;
    }
    memcpy(e->data, data, size);
    e->size = (uint16_t)size;
    e->due = true;
    e->packet = -1;
    return true;
}

/* Step 2 of CHS-10: all entries of the message, or none. */
static bool put_all(cwc_sender *s, const uint8_t *data, size_t size, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        size_t start = (size_t)i * s->config.data;
        size_t n = size - start < s->config.data ? size - start : s->config.data;
        if (!put(s, s->next + i, data + start, n)) {
            while (i-- > 0) {
                drop(s, entry(s, s->next + i));
            }
            return false;
        }
        entry(s, s->next + i)->index = (uint8_t)i;
        entry(s, s->next + i)->count = (uint8_t)(count > 1 ? count : 0);
    }
    return true;
}

/* APPEND (CHS-10) */
static bool append(cwc_sender *s, cwp_time now, const uint8_t *data, size_t size, cwp_time lifetime)
{
    int64_t count = entries_for(s, size);
    cwp_time dies_at = lifetime == CWP_NEVER ? CWP_NEVER : now + lifetime;
    if (!put_all(s, data, size, count)) {
        return false;
    }
    if (s->base == s->next) {
        s->heard_at = now;
        s->said_at = now;
    }
    for (int64_t i = 0; i < count; i++) {
        entry(s, s->next++)->dies_at = dies_at;
    }
    s->dies_at = smaller(s->dies_at, dies_at);
    return true;
}

/* CHS-15 */
static cwc_sender_row send_message(cwc_sender *s, cwp_time now, const uint8_t *data, size_t size, cwp_time lifetime,
                                   cwc_error *refused)
{
    *refused = CWC_OK;
    if (s->failed) {
        *refused = CWC_FAILED;
        return CWC_D11;
    }
    if (size < 1 || size > cwc_most_message(&s->config)) {
        *refused = CWC_MESSAGE_SIZE;
        return CWC_D1;
    }
    if (s->next - s->base + entries_for(s, size) > (int64_t)s->config.send_queue) {
        *refused = CWC_QUEUE_FULL;
        return CWC_D2;
    }
    if (!append(s, now, data, size, lifetime)) {
        *refused = CWC_NO_MEMORY;
        return CWC_D_NONE;
    }
    return CWC_D3;
}

cwc_sender_row cwc_sender_send(cwc_sender *s, cwp_time now, const uint8_t *data, size_t size, cwp_time lifetime,
                               cwc_error *refused)
{
    cwc_error any;
    now = begin(s, now);
    return send_message(s, now, data, size, lifetime, refused != NULL ? refused : &any);
}

/* ---- Reports ---------------------------------------------------------------- */

static int64_t ahead(int64_t sequence, int64_t of) { return (uint16_t)(cwp_on_wire(sequence) - cwp_on_wire(of)); }

/* CHN-5; bits only name sequences below their start. */
static bool implausible(const cwc_sender *s, const cwc_record *report, int64_t base)
{
    if (base > s->sent) {
        return true;
    }
    for (int64_t i = 0; i < report->num_groups; i++) {
        if (base + ahead(report->groups[i].start, report->sequence) >= s->sent) {
            return true;
        }
    }
    return false;
}

/* RELEASE and ROOM (CHS-2) */
static void release(cwc_sender *s, cwp_time now, const cwc_record *report, int64_t base, int64_t number)
{
    bool first_dead = false;
    bool grown = base > s->base || base + report->room > s->limit;
    s->heard = number;
    s->heard_at = now;
    for (; s->base < base; s->base++) {
        cwc_entry *e = entry(s, s->base);
        first_dead = first_dead || (!e->gone && e->dies_at != CWP_NEVER && e->dies_at == s->dies_at);
        drop(s, e);
    }
    s->first_due = larger(s->first_due, base);
    s->limit = larger(s->limit, base + report->room);
    if (grown || report->num_groups > 0) {
        s->backoff = 0;
    }
    if (first_dead) {
        s->dies_at = first_death(s);
    }
}

/* MARK of one entry (CHS-3) */
static void mark(cwc_sender *s, cwp_time now, int64_t n, int64_t ack)
{
    cwc_entry *e = entry(s, n);
    cwp_time since = now - e->at;
    int64_t overtaken = e->again ? 1 : CWC_OVERTAKEN;
    if (e->due || since < larger(s->path.patience, s->path.srtt / 2)) {
        return;
    }
    if (ack - e->packet >= overtaken || since >= hold(s)) {
        e->due = true;
        s->first_due = smaller(s->first_due, n);
    }
}

static void mark_group(cwc_sender *s, cwp_time now, int64_t start, int64_t bits, int64_t ack)
{
    mark(s, now, start, ack);
    for (int i = 0; i < CWC_GROUP_SPAN - 1; i++) {
        if ((bits >> i & 1) != 0) {
            mark(s, now, start - 1 - i, ack);
        }
    }
}

static cwc_sender_row receive_report(cwc_sender *s, cwp_time now, const cwc_record *report, int64_t number,
                                     int64_t ack)
{
    int64_t base = s->base + ahead(report->sequence, s->base);
    if (number <= s->heard) {
        return CWC_D4;
    }
    if (implausible(s, report, base)) {
        s->implausible++;
        return CWC_D5;
    }
    release(s, now, report, base, number);
    for (int64_t i = 0; i < report->num_groups; i++) {
        mark_group(s, now, base + ahead(report->groups[i].start, report->sequence), report->groups[i].bits, ack);
    }
    return CWC_D6;
}

cwc_sender_row cwc_sender_report(cwc_sender *s, cwp_time now, const cwc_record *report, int64_t number, int64_t ack)
{
    now = begin(s, now);
    if (report->type != CWC_REPORT) {
        return CWC_D_NONE;
    }
    return s->failed ? CWC_D12 : receive_report(s, now, report, number, ack);
}

/* ---- Poll ------------------------------------------------------------------- */

/* The lowest entry that is due and may be sent, or the end of those. */
static int64_t lowest_due(const cwc_sender *s, int64_t *end)
{
    int64_t n = s->first_due;
    *end = smaller(s->limit, s->next);
    while (n < *end && !entry(s, n)->due) {
        n++;
    }
    return n;
}

static bool any_due(const cwc_sender *s)
{
    int64_t end;
    return lowest_due(s, &end) < end;
}

/* How many sequences behind n a SKIP covers, n included (CHS-1), of those from sent on no more
 * than CHS-13 allows. */
static int64_t skip_count(const cwc_sender *s, int64_t n, int64_t end)
{
    int64_t first = n;
    end = smaller(end, n + CWC_MOST_SKIP);
    end = smaller(end, larger(n, s->sent) + CWC_FRESH - s->fresh);
    while (n < end && entry(s, n)->gone && entry(s, n)->due) {
        n++;
    }
    return n - first;
}

static size_t record_bytes(const cwc_entry *e)
{
    if (e->gone) {
        return SKIP_BYTES;
    }
    return (size_t)(e->count > 0 ? FRAGMENT_HEADER : MESSAGE_HEADER) + e->size;
}

static void describe(const cwc_sender *s, int64_t n, int64_t count, cwc_record *record)
{
    const cwc_entry *e = entry(s, n);
    memset(record, 0, sizeof *record);
    record->channel = s->channel;
    record->sequence = cwp_on_wire(n);
    if (e->gone) {
        record->type = CWC_SKIP;
        record->count = count;
        return;
    }
    record->type = e->count > 0 ? CWC_FRAGMENT : CWC_MESSAGE;
    record->index = e->index;
    record->count = e->count;
    record->data = e->data;
    record->size = e->size;
}

/* SEND (CHS-1) of what is due below end; false: it does not fit. */
static bool send_due(cwc_sender *s, cwp_time now, int64_t n, int64_t end, size_t space, cwc_record *record)
{
    const cwc_entry *e = entry(s, n);
    int64_t count = e->gone ? skip_count(s, n, end) : 1;
    int64_t fresh = larger(0, n + count - larger(n, s->sent));
    if (count == 0 || s->fresh + fresh > CWC_FRESH || record_bytes(e) > space) {
        return false;
    }
    describe(s, n, count, record);
    s->fresh += fresh;
    for (int64_t m = n; m < n + count; m++) {
        if (m < s->sent) {
            entry(s, m)->again = true;
            s->resent = larger(s->resent, m + 1);
        }
        entry(s, m)->packet = s->packet_now;
        entry(s, m)->at = now;
        entry(s, m)->due = false;
    }
    s->sent = larger(s->sent, n + count);
    s->first_due = n + count;
    s->said_at = now;
    return true;
}

/* Step 1 of PROBE (CHS-4) */
static void make_oldest_due(cwc_sender *s, size_t left)
{
    int run = 0;
    for (int64_t n = s->base; n < s->sent; n++) {
        cwc_entry *e = entry(s, n);
        bool covered = e->gone && run > 0 && run < CWC_MOST_SKIP;
        size_t cost = covered ? 0 : record_bytes(e);
        run = !e->gone ? 0 : covered ? run + 1 : 1;
        if (cost > left) {
            return;
        }
        left -= cost;
        e->due = true;
        s->first_due = s->base;
    }
}

static void probe(cwc_sender *s, cwp_time now, size_t space, cwc_record *record)
{
    memset(record, 0, sizeof *record);
    record->type = CWC_STATUS;
    record->channel = s->channel;
    record->sequence = cwp_on_wire(s->sent);
    if (!early(s)) {
        make_oldest_due(s, space - STATUS_BYTES);
    }
    s->said_at = now;
    if (s->backoff < CWC_BACKOFF_MOST) {
        s->backoff++;
    }
}

/* CHS-9 */
static cwc_sender_row poll_open(cwc_sender *s, cwp_time now, size_t space, cwc_record *record)
{
    int64_t end;
    int64_t due = lowest_due(s, &end);
    if (s->base < s->next && now - s->heard_at >= s->config.give_up) {
        s->failed = true; /* CHS-11 */
        return CWC_D7;
    }
    if (due < end) {
        return send_due(s, now, due, end, space, record) ? CWC_D8 : CWC_D10;
    }
    if (s->base < s->next && now - s->said_at >= probe_wait(s) && space >= STATUS_BYTES) {
        probe(s, now, space, record);
        return CWC_D9;
    }
    return CWC_D10;
}

/* CHS-8, CHS-12, CHS-13 */
cwc_sender_row cwc_sender_poll(cwc_sender *s, cwp_time now, int64_t number, size_t space, cwc_record *record)
{
    now = begin(s, now);
    if (s->failed) {
        return CWC_D13;
    }
    if (number != s->packet_now) {
        s->packet_now = number;
        s->fresh = 0;
    }
    return poll_open(s, now, space, record);
}

/* CHS-5 */
cwp_time cwc_sender_deadline(const cwc_sender *s)
{
    cwp_time t;
    if (s->failed || s->base == s->next) {
        return CWP_NEVER;
    }
    if (any_due(s)) {
        return s->latest;
    }
    t = smaller(s->said_at + probe_wait(s), s->heard_at + s->config.give_up);
    return smaller(t, s->dies_at);
}

bool cwc_sender_pending(const cwc_sender *s) { return !s->failed && s->sent < smaller(s->limit, s->next); }

cwp_time cwc_sender_prompt(const cwc_sender *s)
{
    int64_t end;
    if (!cwc_sender_pending(s)) {
        return cwc_sender_deadline(s);
    }
    if (lowest_due(s, &end) < s->sent) {
        return s->latest;
    }
    return smaller(s->heard_at + s->config.give_up, s->dies_at);
}
