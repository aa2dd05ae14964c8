/* Parameters and records of channels (sections 2.3 and 3). See chunkwire_channel.h. */
#include "chunkwire_channel.h"

#include <string.h>

#define SECOND ((cwp_time)1000000)

const char *cwc_error_name(cwc_error e)
{
    switch (e) {
    case CWC_OK: return "ok";
    case CWC_TRUNCATED: return "truncated";
    case CWC_UNKNOWN_RECORD: return "unknown_record";
    case CWC_UNKNOWN_CHANNEL: return "unknown_channel";
    case CWC_CHANNEL_KIND: return "channel_kind";
    case CWC_LENGTH: return "length";
    case CWC_FRAGMENT_COUNT: return "fragment_count";
    case CWC_FRAGMENT_INDEX: return "fragment_index";
    case CWC_ROOM: return "room";
    case CWC_GROUP_COUNT: return "group_count";
    case CWC_GROUP_START: return "group_start";
    case CWC_GROUP_ORDER: return "group_order";
    case CWC_GROUP_BITS: return "group_bits";
    case CWC_GROUP_BASE: return "group_base";
    case CWC_INVALID_FIELD: return "invalid_field";
    case CWC_MESSAGE_SIZE: return "message_size";
    case CWC_QUEUE_FULL: return "queue_full";
    case CWC_FAILED: return "failed";
    case CWC_NO_SPACE: return "no_space";
    case CWC_NO_MEMORY: return "no_memory";
    case CWC_ERRORS: break;
    }
    return "unknown";
}

/* ---- Parameters ------------------------------------------------------------- */

/* CHP-5 */
cwc_config cwc_default_config(unsigned kind)
{
    cwc_config c;
    c.kind = kind;
    c.window = 1024;
    c.data = CWC_MOST_DATA;
    c.group = CWC_MOST_GROUP;
    c.send_queue = 4096;
    c.give_up = 10 * SECOND;
    c.first = 0;
    return c;
}

/* CHP-1 */
bool cwc_config_allowed(const cwc_config *c)
{
    return (c->kind == CWC_ORDERED || c->kind == CWC_UNORDERED || c->kind == CWC_UNRELIABLE) && c->window >= 32 &&
           c->window <= 16384 && (c->window & (c->window - 1)) == 0 && c->data >= 1 && c->data <= CWC_MOST_DATA &&
           c->group >= 2 && c->group <= CWC_MOST_GROUP && c->send_queue >= cwc_most_fragments(c) &&
           c->send_queue <= 32768 && c->give_up >= SECOND && c->give_up <= 3600 * SECOND && c->first >= 0 &&
           c->first <= CWC_MOST_FIRST;
}

uint32_t cwc_most_fragments(const cwc_config *c) { return c->group < c->window ? c->group : c->window; }

size_t cwc_most_message(const cwc_config *c) { return (size_t)cwc_most_fragments(c) * c->data; }

/* ---- Fields ----------------------------------------------------------------- */

/* Records are decoded and encoded by the same walk along their fields, so that both make the
 * same checks in the same order (CHR-2, CHR-7), and what one gives the other takes (CHR-6).
 * After the first fault a walk does nothing more. */
typedef struct {
    bool encodes;
    const uint8_t *in; /* read, or else written */
    uint8_t *out;
    size_t end;   /* of the payload, or of what out can hold */
    size_t at;    /* of the next field */
    size_t place; /* of the field that was passed last, or of the fault */
    cwc_error error;
} walk;

static void require_at(walk *w, size_t place, bool ok, cwc_error code)
{
    if (w->error == CWC_OK && !ok) {
        w->error = code;
        w->place = place;
    }
}

static void require(walk *w, bool ok, cwc_error code) { require_at(w, w->place, ok, code); }

/* Whether so many bytes follow (CHR-22, CHR-12). */
static bool step(walk *w, size_t bytes)
{
    if (w->error != CWC_OK) {
        return false;
    }
    w->place = w->at;
    require(w, w->end - w->at >= bytes, w->encodes ? CWC_NO_SPACE : CWC_TRUNCATED);
    if (w->error != CWC_OK) {
        return false;
    }
    w->at += bytes;
    return true;
}

/* A field, the low byte first, in which v - less stands. What it cannot hold is written cut,
 * and refused by the checks that follow. */
static void pass(walk *w, size_t bytes, int64_t less, int64_t *v)
{
    uint64_t wire = (uint64_t)*v - (uint64_t)less;
    if (!step(w, bytes)) {
        return;
    }
    if (w->encodes) {
        for (size_t i = 0; i < bytes; i++) {
            w->out[w->place + i] = (uint8_t)(wire >> (8 * i) & 0xFF);
        }
        return;
    }
    wire = 0;
    for (size_t i = 0; i < bytes; i++) {
        wire |= (uint64_t)w->in[w->place + i] << (8 * i);
    }
    *v = (int64_t)wire + less;
}

/* A field of which each value that it holds is allowed here (CHR-13). */
static void pass_any(walk *w, size_t bytes, int64_t less, int64_t *v)
{
    pass(w, bytes, less, v);
    require(w, *v >= less && *v < less + ((int64_t)1 << (8 * bytes)), CWC_INVALID_FIELD);
}

/* The length and the data, of least to most bytes. */
static void pass_data(walk *w, size_t least, size_t most, cwc_record *r)
{
    int64_t length = (int64_t)r->size;
    pass(w, 2, 0, &length);
    require(w, length >= (int64_t)least && length <= (int64_t)most, CWC_LENGTH);
    if (!step(w, (size_t)length)) {
        return;
    }
    if (w->encodes) {
        memcpy(w->out + w->place, r->data, r->size);
        return;
    }
    r->data = w->in + w->place;
    r->size = (size_t)length;
}

/* ---- Records ---------------------------------------------------------------- */

/* CHR-27 to CHR-29 */
static void pass_fragment(walk *w, const cwc_config *c, cwc_record *r)
{
    size_t index_at;
    pass_any(w, 2, 0, &r->sequence);
    pass(w, 1, 0, &r->index);
    index_at = w->place;
    pass(w, 1, 1, &r->count);
    require(w, r->count >= 2 && r->count <= (int64_t)cwc_most_fragments(c), CWC_FRAGMENT_COUNT);
    require_at(w, index_at, r->index >= 0 && r->index < r->count, CWC_FRAGMENT_INDEX);
    if (w->error == CWC_OK) {
        pass_data(w, r->index == r->count - 1 ? 1 : c->data, c->data, r);
    }
}

/* Bit d - 1 of the first group names base, if the start does not (CHR-35). */
static bool names_base(int64_t d, int64_t bits) { return d == 0 || (d <= 32 && (bits >> (d - 1) & 1) != 0); }

/* CHR-32 to CHR-35; before is the distance of the group before from the base. */
static int64_t pass_group(walk *w, const cwc_record *r, int64_t before, cwc_group *g)
{
    int64_t d;
    size_t start_at;
    pass_any(w, 2, 0, &g->start);
    start_at = w->place;
    d = (uint16_t)(cwp_on_wire(g->start) - cwp_on_wire(r->sequence));
    require(w, d < r->room, CWC_GROUP_START);
    require(w, before < 0 || d >= before + CWC_GROUP_SPAN, CWC_GROUP_ORDER);
    pass_any(w, 4, 0, &g->bits);
    require(w, d >= 32 || g->bits >> d == 0, CWC_GROUP_BITS);
    require_at(w, start_at, before >= 0 || names_base(d, g->bits), CWC_GROUP_BASE);
    return d;
}

/* CHR-30 to CHR-35 */
static void pass_report(walk *w, const cwc_config *c, cwc_record *r)
{
    int64_t before = -1;
    pass_any(w, 2, 0, &r->sequence);
    pass(w, 2, 0, &r->room);
    require(w, r->room >= 0 && r->room <= (int64_t)c->window, CWC_ROOM);
    pass(w, 1, 0, &r->num_groups);
    require(w, r->num_groups >= 0 && r->num_groups <= CWC_MOST_GROUPS, CWC_GROUP_COUNT);
    for (int64_t i = 0; w->error == CWC_OK && i < r->num_groups; i++) {
        before = pass_group(w, r, before, &r->groups[i]);
    }
}

static void pass_fields(walk *w, const cwc_config *c, cwc_record *r)
{
    switch (r->type) {
    case CWC_UNRELIABLE_MESSAGE: /* CHR-25 */
        pass_data(w, 1, UINT16_MAX, r);
        break;
    case CWC_MESSAGE: /* CHR-26 */
        pass_any(w, 2, 0, &r->sequence);
        pass_data(w, 1, c->data, r);
        break;
    case CWC_FRAGMENT: /* CHR-9 */
        pass_fragment(w, c, r);
        break;
    case CWC_SKIP: /* CHR-10 */
        pass_any(w, 2, 0, &r->sequence);
        pass_any(w, 1, 1, &r->count);
        break;
    case CWC_REPORT: /* CHR-3 */
        pass_report(w, c, r);
        break;
    default: /* CHR-11 */
        pass_any(w, 2, 0, &r->sequence);
        break;
    }
}

/* CHR-23, CHR-24 */
static const cwc_config *pass_channel(walk *w, const cwc_channels *channels, cwc_record *r)
{
    unsigned kinds = r->type == CWC_UNRELIABLE_MESSAGE ? CWC_UNRELIABLE : CWC_ORDERED | CWC_UNORDERED;
    const cwc_config *c = NULL;
    pass(w, 1, 0, &r->channel);
    if (w->error == CWC_OK && r->channel >= 0 && r->channel < CWC_CHANNELS) {
        c = channels->config[r->channel];
    }
    require(w, c != NULL, CWC_UNKNOWN_CHANNEL);
    require(w, c != NULL && (c->kind & kinds) != 0, CWC_CHANNEL_KIND);
    return c;
}

/* CHR-8; alone: the record is the whole payload, if it is a PAD. */
static void pass_record(walk *w, const cwc_channels *channels, bool alone, cwc_record *r)
{
    const cwc_config *c;
    pass(w, 1, 0, &r->type);
    require(w, r->type >= (alone ? CWC_PAD : CWC_UNRELIABLE_MESSAGE) && r->type <= CWC_STATUS,
            CWC_UNKNOWN_RECORD); /* CHR-20, CHR-21 */
    if (w->error != CWC_OK || r->type == CWC_PAD) {
        return;
    }
    c = pass_channel(w, channels, r);
    if (c != NULL) {
        pass_fields(w, c, r);
    }
}

cwc_error cwc_decode(const cwc_channels *c, const uint8_t *payload, size_t size, size_t *at, cwc_record *r)
{
    walk w = {false, NULL, NULL, 0, 0, 0, CWC_OK};
    w.in = payload;
    w.end = size;
    w.at = *at;
    memset(r, 0, sizeof *r);
    pass_record(&w, c, size == 1, r);
    *at = w.error == CWC_OK ? w.at : w.place;
    return w.error;
}

cwc_error cwc_check(const cwc_channels *c, const uint8_t *payload, size_t size, bool *quiet, size_t *place)
{
    cwc_record r;
    size_t at = 0;
    bool reports = true;
    cwc_error e;
    do {
        e = cwc_decode(c, payload, size, &at, &r);
        reports = reports && (r.type == CWC_PAD || r.type == CWC_REPORT);
    } while (e == CWC_OK && at < size);
    if (quiet != NULL) {
        *quiet = reports;
    }
    if (place != NULL) {
        *place = at;
    }
    return e;
}

/* A PAD is the only payload of one byte. */
cwc_error cwc_append(const cwc_channels *c, const cwc_record *r, uint8_t *payload, size_t capacity, size_t *size,
                     size_t *place)
{
    walk w = {true, NULL, NULL, 0, 0, 0, CWC_OK};
    cwc_record copy = *r;
    w.out = payload;
    w.end = capacity;
    w.at = *size;
    require_at(&w, 0, *size != 1, CWC_UNKNOWN_RECORD);
    pass_record(&w, c, *size == 0, &copy);
    if (w.error == CWC_OK) {
        *size = w.at;
    } else if (place != NULL) {
        *place = w.place;
    }
    return w.error;
}

/* ---- Reports ---------------------------------------------------------------- */

static bool missing(const cwc_missing *m, int64_t n) { return n >= m->base && m->missing(m->owner, n); }

/* The group that begins at n. */
static cwc_group group_at(const cwc_missing *m, int64_t n)
{
    cwc_group g = {0, 0};
    g.start = cwp_on_wire(n);
    for (int i = 0; i < CWC_GROUP_SPAN - 1; i++) {
        if (missing(m, n - 1 - i)) {
            g.bits |= (int64_t)1 << i;
        }
    }
    return g;
}

/* Groups come newest first; of a ring the oldest stay (CHV-6). */
void cwc_report(const cwc_missing *m, int64_t room, size_t most, cwc_record *r)
{
    cwc_group ring[CWC_MOST_GROUPS];
    size_t count = 0;
    size_t kept = CWC_MOST_GROUPS;
    memset(r, 0, sizeof *r);
    r->type = CWC_REPORT;
    r->sequence = cwp_on_wire(m->base);
    r->room = room;
    for (int64_t n = m->top - 1; n >= m->base;) {
        if (missing(m, n)) {
            ring[count++ % CWC_MOST_GROUPS] = group_at(m, n);
            n -= CWC_GROUP_SPAN;
        } else {
            n--;
        }
    }
    kept = most < kept ? most : kept;
    kept = count < kept ? count : kept;
    for (size_t i = 0; i < kept; i++) {
        r->groups[i] = ring[(count - 1 - i) % CWC_MOST_GROUPS];
    }
    r->num_groups = (int64_t)kept;
}
