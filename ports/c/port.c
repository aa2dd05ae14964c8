/*
 * The port contract: one request a line on standard input, one response a line on
 * standard output. Comments such as TRC-2 name sentences of spec/PROTOCOL.md.
 *
 * A trace is checked as a whole before its first step, so that an answer is never half.
 */
#include "chunkwire_recovery.h"
#include "port.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_DELAY ((int64_t)1000000000) /* of a profile in a trace (appendix B) */

static char line[MAX_LINE];
static json_token tokens[MAX_TOKENS];
uint8_t bytes[MAX_BYTES];
static uint8_t chunk[CW_MAX_CHUNK];

/* ---- Answers ---------------------------------------------------------------- */

static void print_id(const request *q)
{
    printf("{\"id\":%.*s", (int)q->id->length, q->doc.text + q->id->start);
}

void answer_error(const request *q, const char *code)
{
    print_id(q);
    printf(",\"ok\":false,\"error\":\"%s\"}\n", code);
}

void answer_error_at(const request *q, const char *code, int place)
{
    print_id(q);
    printf(",\"ok\":false,\"error\":\"%s\",\"at\":%d}\n", code, place);
}

void answer_ok(const request *q, const char *field)
{
    print_id(q);
    printf(",\"ok\":true,\"%s\":", field);
}

void print_hex(const uint8_t *b, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    putchar('"');
    for (size_t i = 0; i < n; i++) {
        putchar(hex[b[i] >> 4]);
        putchar(hex[b[i] & 15]);
    }
    putchar('"');
}

void print_deadline(const char *field, int64_t deadline)
{
    if (deadline == INT64_MAX) {
        printf(",\"%s\":null}", field);
    } else {
        printf(",\"%s\":%" PRId64 "}", field, deadline);
    }
}

static void print_set(const cw_set *s, uint32_t n)
{
    putchar('"');
    for (uint32_t k = 0; k < n; k++) {
        putchar(cw_set_has(s, k) ? '1' : '0');
    }
    putchar('"');
}

void print_packet_fields(const cw_packet *p)
{
    const cw_slice *s = &p->as.slice;
    if (p->type == CW_ACK) {
        printf("\"chunk_id\":%" PRIu32 ",\"acked\":", p->as.ack.chunk_id);
        print_set(&p->as.ack.acked, p->as.ack.num_slices);
        return;
    }
    printf("\"chunk_id\":%" PRIu32 ",\"slice_id\":%" PRIu32 ",\"num_slices\":%" PRIu32 ",\"data\":", s->chunk_id,
           s->slice_id, s->num_slices);
    print_hex(s->data, s->size);
}

static void print_packet(const cw_packet *p)
{
    printf("{\"type\":\"%s\",", p->type == CW_ACK ? "ack" : "slice");
    print_packet_fields(p);
    putchar('}');
}

static void print_ack(const cw_ack *a)
{
    cw_packet p;
    p.type = CW_ACK;
    p.as.ack = *a;
    print_packet(&p);
}

/* ---- Fields of a request ---------------------------------------------------- */

/* Every reader answers whether the field is there, or NULL or the code to refuse with. */

const json_token *member(const request *q, const json_token *object, const char *name)
{
    return json_member(&q->doc, object, name);
}

bool get_int(const request *q, const json_token *object, const char *name, int64_t *v)
{
    return json_int(&q->doc, member(q, object, name), v);
}

bool get_int_in(const request *q, const json_token *object, const char *name, int64_t low, int64_t high, int64_t *v)
{
    return get_int(q, object, name, v) && *v >= low && *v <= high;
}

bool get_bool(const request *q, const json_token *object, const char *name, bool *v)
{
    const json_token *t = member(q, object, name);
    *v = json_is(t, JSON_TRUE);
    return *v || json_is(t, JSON_FALSE);
}

/* A number of a packet, where what is outside uint32_t becomes a value no packet has. */
bool get_field(const request *q, const json_token *object, const char *name, uint32_t *v)
{
    int64_t n;
    if (!get_int(q, object, name, &n)) {
        return false;
    }
    *v = n < 0 || n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A field of hex, into bytes. */
bool get_hex(const request *q, const json_token *object, const char *name, size_t *n)
{
    const json_token *t = member(q, object, name);
    const char *s = json_text(&q->doc, t);
    if (s == NULL || t->length % 2 != 0) {
        return false;
    }
    *n = t->length / 2;
    for (size_t i = 0; i < *n; i++) {
        int high = hex_value(s[2 * i]);
        int low = hex_value(s[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

/* The field acked: its length is num_slices, also where no packet has so many. Any other
 * character makes a packet that cannot be represented (PRT-3). */
static bool get_acked(const request *q, const json_token *object, cw_ack *a)
{
    const json_token *t = member(q, object, "acked");
    const char *s = json_text(&q->doc, t);
    if (s == NULL) {
        return false;
    }
    a->num_slices = t->length;
    cw_set_clear(&a->acked);
    for (uint32_t k = 0; k < t->length; k++) {
        if (s[k] == '1' && k < CW_MAX_SLICES) {
            cw_set_add(&a->acked, k);
        } else if (s[k] != '0' && s[k] != '1') {
            a->num_slices = 0;
        }
    }
    return true;
}

static bool get_slice_fields(const request *q, const json_token *t, cw_slice *s)
{
    s->data = bytes;
    return get_field(q, t, "chunk_id", &s->chunk_id) && get_field(q, t, "slice_id", &s->slice_id) &&
           get_field(q, t, "num_slices", &s->num_slices) && get_hex(q, t, "data", &s->size);
}

bool get_packet_fields(const request *q, const json_token *t, cw_packet *p)
{
    return p->type == CW_SLICE ? get_slice_fields(q, t, &p->as.slice)
                               : get_field(q, t, "chunk_id", &p->as.ack.chunk_id) && get_acked(q, t, &p->as.ack);
}

static const char *get_packet(const request *q, cw_packet *p)
{
    const json_token *t = member(q, q->root, "packet");
    const json_token *type = member(q, t, "type");
    p->type = json_equals(&q->doc, type, "slice") ? CW_SLICE : CW_ACK;
    if (p->type == CW_ACK && !json_equals(&q->doc, type, "ack")) {
        return json_is(type, JSON_STRING) ? "invalid_field" : BAD; /* ENC-6 */
    }
    return get_packet_fields(q, t, p) ? NULL : BAD;
}

/* ---- Codec ------------------------------------------------------------------ */

static void answer_encoded(const request *q, cw_error e, const uint8_t *out, size_t n)
{
    if (e != CW_OK) {
        answer_error(q, cw_error_name(e));
        return;
    }
    answer_ok(q, "hex");
    print_hex(out, n);
    puts("}");
}

static void answer_decoded(const request *q, cw_error e, const cw_packet *p)
{
    if (e != CW_OK) {
        answer_error(q, cw_error_name(e));
        return;
    }
    answer_ok(q, "packet");
    print_packet(p);
    puts("}");
}

static const char *encode_body(const request *q)
{
    cw_packet p;
    uint8_t out[CW_MAX_BODY];
    size_t n = 0;
    const char *fault = get_packet(q, &p);
    if (fault == NULL) {
        cw_error e = cw_encode_body(&p, out, sizeof out, &n);
        answer_encoded(q, e, out, n);
    }
    return fault;
}

static const char *encode_packet(const request *q)
{
    cw_packet p;
    uint8_t out[CW_MAX_DATAGRAM];
    size_t n = 0;
    int64_t protocol_id;
    const char *fault = get_packet(q, &p);
    if (!get_int_in(q, q->root, "protocol_id", 0, UINT32_MAX, &protocol_id)) {
        return BAD;
    }
    if (fault == NULL) {
        cw_error e = cw_encode_packet((uint32_t)protocol_id, &p, out, sizeof out, &n);
        answer_encoded(q, e, out, n);
    }
    return fault;
}

static const char *decode_body(const request *q)
{
    cw_packet p;
    size_t n = 0;
    const json_token *type = member(q, q->root, "type");
    bool slice = json_equals(&q->doc, type, "slice");
    if ((!slice && !json_equals(&q->doc, type, "ack")) || !get_hex(q, q->root, "hex", &n)) {
        return BAD;
    }
    answer_decoded(q, cw_decode_body(slice ? CW_SLICE : CW_ACK, bytes, n, &p, NULL), &p);
    return NULL;
}

static const char *decode_packet(const request *q)
{
    cw_packet p;
    size_t n = 0;
    int64_t protocol_id;
    if (!get_int_in(q, q->root, "protocol_id", 0, UINT32_MAX, &protocol_id) ||
        !get_hex(q, q->root, "hex", &n)) {
        return BAD;
    }
    answer_decoded(q, cw_decode_packet((uint32_t)protocol_id, bytes, n, &p, NULL), &p);
    return NULL;
}

/* ---- Traces (appendix B) ---------------------------------------------------- */

typedef struct {
    enum { SUBMIT, ACK, POLL, SLICE, READ, MARKS, YIELD } kind;
    int64_t at;
    int64_t size;
    cw_ack ack;
    cw_slice slice;
    int64_t fill;          /* -1: the chunk's own bytes */
    int64_t count;         /* of marks */
    bool yields;
    const json_token *due; /* of a scripted scheduler, else NULL */
} event;

typedef struct {
    int64_t first_chunk_id;
    int64_t give_up;
    enum { SCRIPT, BASE, RECOVERY } scheduler;
    cw_profile profile;    /* of BASE */
    cw_recovery recovery;  /* of RECOVERY, as it begins */
} config;

/* TRC-1: byte i of chunk id. */
uint8_t content(uint32_t id, size_t i)
{
    return (uint8_t)((i + 31 * (i / 1024) + 7 * (size_t)id) % 256);
}

static const char *get_config(const request *q, config *c)
{
    const json_token *t = member(q, q->root, "config");
    bool ok = get_int_in(q, t, "first_chunk_id", 0, 65535, &c->first_chunk_id) &&
              get_int_in(q, t, "give_up_us", 1, CW_MAX_GIVE_UP, &c->give_up);
    return ok ? NULL : BAD;
}

/* RVO-1 */
static const char *get_recovery(const request *q, const json_token *t, config *c)
{
    cwr_profile p = cwr_profile_adaptive();
    const json_token *name = member(q, t, "recovery");
    c->scheduler = RECOVERY;
    p.redundant = json_equals(&q->doc, name, "redundant");
    p.burst = json_equals(&q->doc, name, "burst");
    p.fixed = json_equals(&q->doc, name, "fixed");
    if (!(p.redundant || p.burst || p.fixed || json_equals(&q->doc, name, "adaptive")) ||
        !get_int(q, t, "rate", &p.limit) || !cw_recovery_init(&c->recovery, p)) {
        return BAD;
    }
    return NULL;
}

/* TRC-2, BUD-1 */
bool get_base_profile(const request *q, const json_token *t, cw_profile *p)
{
    return get_int_in(q, t, "rate", 0, 1000000000, &p->rate) && (p->rate == 0 || p->rate >= 1066) &&
           get_int_in(q, t, "cap", 1066, 1000000000, &p->cap) && get_int_in(q, t, "burst", 0, p->cap, &p->burst) &&
           get_int_in(q, t, "spacing_us", 0, LONGEST_DELAY, &p->spacing) &&
           get_int_in(q, t, "resend_delay_us", 0, LONGEST_DELAY, &p->resend_delay) &&
           get_bool(q, t, "acks_pay", &p->acks_pay);
}

/* Null is the scripted scheduler. */
static const char *get_profile(const request *q, config *c)
{
    const json_token *t = member(q, member(q, q->root, "config"), "profile");
    c->scheduler = SCRIPT;
    if (json_is(t, JSON_NULL)) {
        return NULL;
    }
    if (member(q, t, "recovery") != NULL) {
        return get_recovery(q, t, c);
    }
    c->scheduler = BASE;
    return get_base_profile(q, t, &c->profile) ? NULL : BAD;
}

/* TRC-2: an empty list counts as absent; another one needs the scripted scheduler. */
static const char *get_due(const request *q, const config *c, const json_token *t, event *e)
{
    const json_token *k;
    e->due = member(q, t, "due");
    if (e->due == NULL) {
        return NULL;
    }
    if (!json_is(e->due, JSON_ARRAY) || (c->scheduler != SCRIPT && e->due->count > 0)) {
        return BAD;
    }
    k = json_first(&q->doc, e->due);
    for (uint32_t i = 0; i < e->due->count; i++, k++) {
        int64_t id;
        if (!json_int(&q->doc, k, &id) || id < 0 || id >= CW_MAX_SLICES) {
            return BAD;
        }
    }
    return NULL;
}

static const char *get_ack_event(const request *q, const json_token *t, event *e)
{
    cw_packet p;
    p.type = CW_ACK;
    if (!get_field(q, t, "chunk_id", &p.as.ack.chunk_id) || !get_acked(q, t, &p.as.ack) || cw_check(&p) != CW_OK) {
        return BAD;
    }
    e->ack = p.as.ack;
    return NULL;
}

static const char *get_sender_event(const request *q, const config *c, const json_token *t, event *e)
{
    const json_token *name = member(q, t, "event");
    if (json_equals(&q->doc, name, "submit")) {
        e->kind = SUBMIT;
        return get_int_in(q, t, "size", 0, 2 * CW_MAX_CHUNK, &e->size) ? NULL : BAD;
    }
    if (json_equals(&q->doc, name, "ack")) {
        e->kind = ACK;
        return get_ack_event(q, t, e);
    }
    if (json_equals(&q->doc, name, "poll")) {
        e->kind = POLL;
        return get_due(q, c, t, e);
    }
    if (c->scheduler == RECOVERY && json_equals(&q->doc, name, "marks")) {
        e->kind = MARKS;
        return get_int_in(q, t, "count", 0, 65535, &e->count) ? NULL : BAD;
    }
    if (c->scheduler == RECOVERY && json_equals(&q->doc, name, "yield")) {
        e->kind = YIELD;
        return get_bool(q, t, "yields", &e->yields) ? NULL : BAD;
    }
    return json_is(name, JSON_STRING) ? "unsupported" : BAD;
}

static const char *get_slice_event(const request *q, const json_token *t, event *e)
{
    cw_packet p;
    p.type = CW_SLICE;
    e->fill = -1;
    if (!get_field(q, t, "chunk_id", &p.as.slice.chunk_id) || !get_field(q, t, "slice_id", &p.as.slice.slice_id) ||
        !get_field(q, t, "num_slices", &p.as.slice.num_slices) ||
        !get_int_in(q, t, "size", 1, CW_SLICE_SIZE, &e->size)) {
        return BAD;
    }
    p.as.slice.size = (size_t)e->size;
    p.as.slice.data = chunk;
    if (member(q, t, "fill") != NULL && !get_int_in(q, t, "fill", 0, 255, &e->fill)) {
        return BAD;
    }
    e->slice = p.as.slice;
    return cw_check(&p) == CW_OK ? NULL : BAD;
}

static const char *get_receiver_event(const request *q, const config *c, const json_token *t, event *e)
{
    const json_token *name = member(q, t, "event");
    (void)c;
    if (json_equals(&q->doc, name, "slice")) {
        e->kind = SLICE;
        return get_slice_event(q, t, e);
    }
    if (json_equals(&q->doc, name, "read")) {
        e->kind = READ;
        return NULL;
    }
    if (json_equals(&q->doc, name, "poll")) {
        e->kind = POLL;
        return NULL;
    }
    return json_is(name, JSON_STRING) ? "unsupported" : BAD;
}

typedef const char *event_reader(const request *, const config *, const json_token *, event *);

static const char *get_event(const request *q, const config *c, const json_token *t, event_reader *get, event *e)
{
    const char *fault = get(q, c, t, e);
    if (fault == NULL && !get_int_in(q, t, "at", 0, TIME_END - 1, &e->at)) {
        return BAD;
    }
    return fault;
}

static const char *check_receiver_events(const request *q, const config *c)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++) {
        event e;
        const char *fault = get_event(q, c, t, get_receiver_event, &e);
        if (fault != NULL) {
            return fault;
        }
        t = json_after(&q->doc, t);
    }
    return NULL;
}

/* TRC-4: the end of a step, behind its packets. */
typedef struct {
    const char *row_letter;
    int row;
    const char *state;
    uint32_t chunk_id;
    const char *set_name;
    const cw_set *set;
    uint32_t set_size;
    cw_time deadline;
} step_end;

/* The packets stand before the rest, in an order of fields that JSON leaves open. */
void begin_step(uint32_t position)
{
    printf("%s{\"event\":%" PRIu32 ",\"packets\":[", position > 0 ? "," : "", position);
}

static void end_step(const step_end *s)
{
    printf(",\"row\":\"");
    if (s->row != 0) { /* RVO-4: none before the first */
        printf("%s%d", s->row_letter, s->row);
    }
    printf("\",\"state\":\"%s\",\"chunk_id\":%" PRIu32 ",\"%s\":", s->state, s->chunk_id, s->set_name);
    print_set(s->set, s->set_size);
    print_deadline("deadline_us", s->deadline);
}

void print_error(const char *code)
{
    if (code != NULL) {
        printf(",\"error\":\"%s\"", code);
    }
}

/* Sender */

/* The scripted scheduler of TRC-2: it returns what the event's due says, and no more. */
typedef struct {
    cw_scheduler scheduler;
    const json_doc *doc;
    const json_token *next;
    uint32_t left;
} script;

static void script_start(cw_scheduler *s, cw_time now, size_t size)
{
    (void)s, (void)now, (void)size;
}

static void script_news(cw_scheduler *s, cw_time now, const cw_set *news)
{
    (void)s, (void)now, (void)news;
}

static void script_hold(cw_scheduler *s, cw_time now)
{
    (void)s, (void)now;
}

static int script_next(cw_scheduler *s, cw_time now)
{
    script *c = (script *)s;
    int64_t k;
    (void)now;
    if (c->left == 0 || !json_int(c->doc, c->next, &k)) {
        return -1;
    }
    c->left--;
    c->next++;
    return (int)k;
}

static cw_time script_deadline(const cw_scheduler *s)
{
    (void)s;
    return CW_NEVER;
}

static script new_script(const json_doc *doc)
{
    script c = {{script_start, script_news, script_hold, script_next, script_deadline}, NULL, NULL, 0};
    c.doc = doc;
    return c;
}

static void set_due(script *c, const event *e)
{
    c->left = 0;
    if (e->due != NULL) {
        c->left = e->due->count;
        c->next = json_first(c->doc, e->due);
    }
}

static void print_sent(const cw_slice *s, bool first)
{
    printf("%s{\"type\":\"slice\",\"chunk_id\":%" PRIu32 ",\"slice_id\":%" PRIu32 ",\"num_slices\":%" PRIu32
           ",\"size\":%zu,\"crc32\":%" PRIu32 "}",
           first ? "" : ",", s->chunk_id, s->slice_id, s->num_slices, s->size, cw_crc32(0, s->data, s->size));
}

static cw_sender_row poll_sender(cw_sender *s, cw_time now)
{
    cw_slice slice;
    bool first = true;
    cw_sender_row row = cw_sender_poll(s, now, &slice);
    while (row == CW_S13) {
        print_sent(&slice, first);
        first = false;
        row = cw_sender_poll(s, now, &slice);
    }
    return row;
}

static cw_sender_row submit(cw_sender *s, const event *e)
{
    size_t size = (size_t)e->size;
    if (s->state == CW_IDLE) {
        for (size_t i = 0; i < size && i < CW_MAX_CHUNK; i++) {
            chunk[i] = content(s->chunk_id, i);
        }
    }
    return cw_sender_submit(s, e->at, chunk, size);
}

static const char *sender_error(cw_sender_row row)
{
    switch (row) {
    case CW_S2: return "chunk_size";
    case CW_S3: return "busy";
    case CW_S4: return "gave_up";
    default: return NULL;
    }
}

static void end_sender_step(const cw_sender *s, cw_sender_row row, const char *error)
{
    static const char *const states[] = {"IDLE", "SENDING", "FAILED"};
    step_end end = {"S", 0, NULL, 0, "acked", NULL, 0, 0};
    end.row = (int)row;
    end.state = states[s->state];
    end.chunk_id = s->chunk_id;
    end.set = &s->acked;
    end.set_size = s->num_slices;
    end.deadline = cw_sender_deadline(s);
    putchar(']');
    print_error(error);
    end_step(&end);
}

/* RVO-3 */
static void tell(cw_recovery *recovery, const event *e)
{
    if (e->kind == MARKS) {
        cw_recovery_marks(recovery, e->count);
    } else {
        cw_recovery_yield(recovery, e->yields);
    }
}

/* Returns the row, which is that of the step before where the event takes none. */
static cw_sender_row sender_step(cw_sender *s, script *by_script, config *c, const event *e, cw_sender_row row)
{
    switch (e->kind) {
    case SUBMIT:
        row = submit(s, e);
        break;
    case ACK:
        row = cw_sender_ack(s, e->at, &e->ack);
        break;
    case POLL:
        set_due(by_script, e);
        row = poll_sender(s, e->at);
        break;
    default:
        tell(&c->recovery, e);
        break;
    }
    end_sender_step(s, row, e->kind == SUBMIT ? sender_error(row) : NULL);
    return row;
}

static void run_sender(const request *q, config *c)
{
    static cw_base base;
    cw_sender s;
    cw_sender_row row = (cw_sender_row)0;
    script by_script = new_script(&q->doc);
    cw_scheduler *schedulers[] = {&by_script.scheduler, &base.scheduler, &c->recovery.scheduler};
    const json_token *events = member(q, q->root, "events");
    const json_token *t = json_first(&q->doc, events);
    if (c->scheduler == BASE) {
        (void)cw_base_init(&base, c->profile);
    }
    (void)cw_sender_init(&s, (uint32_t)c->first_chunk_id, c->give_up, schedulers[c->scheduler]);
    for (uint32_t i = 0; i < events->count; i++) {
        event e;
        (void)get_event(q, c, t, get_sender_event, &e);
        begin_step(i);
        row = sender_step(&s, &by_script, c, &e, row);
        t = json_after(&q->doc, t);
    }
}

/* TRC-2: due holds slices of the chunk in flight that are not acked. */
static bool due_fits(const cw_sender *s, const json_doc *doc, const event *e)
{
    const json_token *t = e->due != NULL ? json_first(doc, e->due) : NULL;
    for (uint32_t i = 0; e->due != NULL && i < e->due->count; i++, t++) {
        int64_t k = 0;
        if (!json_int(doc, t, &k) || s->state != CW_SENDING || k >= s->num_slices ||
            cw_set_has(&s->acked, (uint32_t)k)) {
            return false;
        }
    }
    return true;
}

/* Takes an event of a scripted trace in silence. False: its due does not fit. */
static bool follow_script(cw_sender *s, script *by_script, const event *e)
{
    cw_slice slice;
    if (e->kind == SUBMIT) {
        (void)cw_sender_submit(s, e->at, chunk, (size_t)e->size);
    } else if (e->kind == ACK) {
        (void)cw_sender_ack(s, e->at, &e->ack);
    } else if (!due_fits(s, by_script->doc, e)) {
        return false;
    } else {
        set_due(by_script, e);
        while (cw_sender_poll(s, e->at, &slice) == CW_S13) {
        }
    }
    return true;
}

/* Of several bad events the first one counts. */
static const char *check_sender_events(const request *q, const config *c)
{
    cw_sender s;
    script by_script = new_script(&q->doc);
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    (void)cw_sender_init(&s, (uint32_t)c->first_chunk_id, c->give_up, &by_script.scheduler);
    for (uint32_t i = 0; i < events->count; i++) {
        event e;
        const char *fault = get_event(q, c, t, get_sender_event, &e);
        if (fault != NULL) {
            return fault;
        }
        if (c->scheduler == SCRIPT && !follow_script(&s, &by_script, &e)) {
            return BAD;
        }
        t = json_after(&q->doc, t);
    }
    return NULL;
}

static const char *sender(const request *q)
{
    static config c; /* as long as a scheduler */
    const char *fault = get_config(q, &c);
    if (fault == NULL) {
        fault = get_profile(q, &c);
    }
    if (fault == NULL) {
        fault = check_sender_events(q, &c);
    }
    if (fault == NULL) {
        answer_ok(q, "steps");
        putchar('[');
        run_sender(q, &c);
        puts("]}");
    }
    return fault;
}

/* Receiver; its blocks come from the heap, so that the sanitizers see every mistake. */

static uint8_t *heap_take(void *owner, uint32_t slice_id, size_t size)
{
    (void)owner, (void)slice_id;
    return malloc(size);
}

static void heap_give(void *owner, uint32_t slice_id, uint8_t *block)
{
    (void)owner, (void)slice_id;
    free(block);
}

cw_memory heap_memory(void)
{
    cw_memory heap = {heap_take, heap_give, NULL};
    return heap;
}

static cw_receiver_row poll_receiver(cw_receiver *r, cw_time now)
{
    cw_ack ack;
    bool first = true;
    cw_receiver_row row = cw_receiver_poll(r, now, &ack);
    while (row == CW_R19 || row == CW_R21 || row == CW_R24) {
        printf("%s", first ? "" : ",");
        print_ack(&ack);
        first = false;
        row = cw_receiver_poll(r, now, &ack);
    }
    return row;
}

static cw_receiver_row receive_slice(cw_receiver *r, const event *e)
{
    cw_slice s = e->slice;
    for (size_t i = 0; i < s.size; i++) {
        chunk[i] = e->fill >= 0 ? (uint8_t)e->fill : content(s.chunk_id, (size_t)s.slice_id * CW_SLICE_SIZE + i);
    }
    s.data = chunk;
    return cw_receiver_slice(r, e->at, &s);
}

static void end_receiver_step(const cw_receiver *r, cw_receiver_row row, size_t delivered)
{
    static const char *const states[] = {"WAITING", "RECEIVING", "READY", "FAILED"};
    bool refused = row == CW_R17 || row == CW_R18 || row == CW_R27;
    step_end end = {"R", 0, NULL, 0, "received", NULL, 0, 0};
    end.row = (int)row;
    end.state = states[r->state];
    end.chunk_id = r->chunk_id;
    end.set = &r->received;
    end.set_size = r->num_slices;
    end.deadline = cw_receiver_deadline(r);
    putchar(']');
    if (row == CW_R16) {
        printf(",\"chunk\":{\"size\":%zu,\"crc32\":%" PRIu32 "}", delivered, cw_crc32(0, chunk, delivered));
    }
    print_error(refused ? "nothing_to_read" : NULL);
    end_step(&end);
}

static void receiver_step(cw_receiver *r, const event *e)
{
    cw_receiver_row row = CW_R_NONE;
    size_t delivered = 0;
    switch (e->kind) {
    case SLICE:
        row = receive_slice(r, e);
        break;
    case READ:
        row = cw_receiver_read(r, e->at, chunk, sizeof chunk, &delivered);
        break;
    default:
        row = poll_receiver(r, e->at);
        break;
    }
    end_receiver_step(r, row, delivered);
}

static void run_receiver(const request *q, const config *c)
{
    cw_receiver r;
    const json_token *events = member(q, q->root, "events");
    const json_token *t = json_first(&q->doc, events);
    (void)cw_receiver_init(&r, (uint32_t)c->first_chunk_id, c->give_up, heap_memory());
    for (uint32_t i = 0; i < events->count; i++) {
        event e;
        (void)get_event(q, c, t, get_receiver_event, &e);
        begin_step(i);
        receiver_step(&r, &e);
        t = json_after(&q->doc, t);
    }
    cw_receiver_end(&r);
}

static const char *receiver(const request *q)
{
    static config c;
    const char *fault = get_config(q, &c);
    if (fault == NULL) {
        fault = check_receiver_events(q, &c);
    }
    if (fault == NULL) {
        answer_ok(q, "steps");
        putchar('[');
        run_receiver(q, &c);
        puts("]}");
    }
    return fault;
}

/* ---- Requests --------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *(*run)(const request *);
} ops[] = {
    {"encode_body", encode_body},     {"decode_body", decode_body}, {"encode_packet", encode_packet},
    {"decode_packet", decode_packet}, {"sender", sender},           {"receiver", receiver},
    {"packet_header", packet_header}, {"packet_decode", packet_decode},
    {"packet_endpoint", packet_endpoint}, {"packet_estimates", packet_estimates},
    {"packet_congestion", packet_congestion},
    {"records_encode", records_encode}, {"records_decode", records_decode},
    {"channel_report", channel_report}, {"channel_receiver", channel_receiver},
    {"channel_sender", channel_sender}, {"repair_row", repair_row},
    {"repair_slice", repair_slice}, {"repair_rebuild", repair_rebuild},
    {"repair_encode", repair_encode}, {"repair_decode", repair_decode},
    {"repair_receiver", repair_receiver}, {"repair_sender", repair_sender},
#ifdef CHUNKWIRE_CONNECTION
    {"session_encode", session_encode}, {"session_decode", session_decode},
    {"session_seal", session_seal}, {"session_open", session_open},
    {"session_keys", session_keys}, {"session_cookie", session_cookie},
    {"session_client", session_client}, {"session_server", session_server},
    {"connection_encode", connection_encode}, {"connection_decode", connection_decode},
    {"connection", connection}, {"connection_moves", connection_moves},
#endif
};

static const char *run(const request *q)
{
    const json_token *op = member(q, q->root, "op");
    if (!json_is(op, JSON_STRING)) {
        return BAD;
    }
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (json_equals(&q->doc, op, ops[i].name)) {
            return ops[i].run(q);
        }
    }
    return "unsupported";
}

static bool find_id(request *q)
{
    int64_t any;
    q->root = tokens;
    q->id = member(q, q->root, "id");
    return json_int(&q->doc, q->id, &any);
}

static void answer(uint32_t length)
{
    request q;
    const char *fault;
    if (!json_parse(&q.doc, line, length, tokens, MAX_TOKENS) || !find_id(&q)) {
        puts("{\"id\":null,\"ok\":false,\"error\":\"bad_request\"}");
        return;
    }
    fault = run(&q);
    if (fault != NULL) {
        answer_error(&q, fault);
    }
}

/* One line without its end into line; false: no more input. One that is too long is read
 * to its end and counts as no request. */
static bool read_line(uint32_t *length)
{
    uint32_t n = 0;
    bool too_long = false;
    int c = getchar();
    if (c == EOF) {
        return false;
    }
    while (c != EOF && c != '\n') {
        if (n < MAX_LINE) {
            line[n++] = (char)c;
        } else {
            too_long = true;
        }
        c = getchar();
    }
    *length = too_long ? 0 : n;
    return true;
}

int main(void)
{
    uint32_t length;
    while (read_line(&length)) {
        answer(length);
        if (fflush(stdout) != 0) {
            return 1;
        }
    }
    return ferror(stdin) ? 1 : 0;
}
