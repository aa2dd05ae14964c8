/* The port's operations of repair slices. Comments such as RPO-3 name sentences of
 * spec/REPAIR.md. */
#include "chunkwire_repair.h"
#include "port.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_IDS = 1024, MOST_DUE = 16384 };

#define INVALID "invalid_field"

static uint8_t chunk[CW_MAX_CHUNK];

static size_t chunk_bytes(int64_t num_slices, int64_t last_bytes)
{
    return (size_t)(num_slices - 1) * CW_SLICE_SIZE + (size_t)last_bytes;
}

static void make_chunk(int64_t chunk_id, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        chunk[i] = content((uint32_t)chunk_id, i);
    }
}

static bool in(int64_t v, int64_t low, int64_t high) { return v >= low && v <= high; }

static void print_data(const char *name, const uint8_t *b, size_t n)
{
    printf("\"%s\":{\"size\":%zu,\"crc32\":%" PRIu32 "}", name, n, cw_crc32(0, b, n));
}

/* ---- The code --------------------------------------------------------------- */

/* RPO-1 */
const char *repair_row(const request *q)
{
    uint8_t exponents[CW_MAX_SLICES];
    int64_t num_slices, id;
    if (!get_int(q, q->root, "num_slices", &num_slices) || !get_int(q, q->root, "slice_id", &id)) {
        return BAD;
    }
    if (!in(num_slices, 1, CW_MAX_SLICES) || !in(id, num_slices, CWR_IDS - 1)) {
        return INVALID;
    }
    cwr_row((uint32_t)num_slices, (uint32_t)id, exponents);
    answer_ok(q, "exponents");
    for (int64_t i = 0; i < num_slices; i++) {
        printf("%c%u", i == 0 ? '[' : ',', (unsigned)exponents[i]);
    }
    puts("]}");
    return NULL;
}

/* RPO-2 */
const char *repair_slice(const request *q)
{
    uint8_t data[CW_SLICE_SIZE];
    int64_t chunk_id, size, id;
    size_t n;
    if (!get_int(q, q->root, "chunk_id", &chunk_id) || !get_int(q, q->root, "size", &size) ||
        !get_int(q, q->root, "slice_id", &id)) {
        return BAD;
    }
    if (!in(chunk_id, 0, 65535) || !in(size, 1, CW_MAX_CHUNK) || !in(id, 0, CWR_IDS - 1)) {
        return INVALID;
    }
    make_chunk(chunk_id, (size_t)size);
    n = cwr_encode_slice(chunk, (size_t)size, (uint32_t)id, data);
    answer_ok(q, "slice");
    printf("{\"size\":%zu,\"crc32\":%" PRIu32 "}}\n", n, cw_crc32(0, data, n));
    return NULL;
}

/* The ids of RPO-3: NULL or the code to refuse them with. */
static const char *get_ids(const request *q, uint16_t ids[MOST_IDS], uint32_t *count)
{
    const json_token *list = member(q, q->root, "slice_ids");
    const json_token *t;
    const char *fault = NULL;
    if (!json_is(list, JSON_ARRAY) || list->count > MOST_IDS) {
        return BAD;
    }
    *count = list->count;
    t = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count; i++, t = json_after(&q->doc, t)) {
        int64_t id;
        if (!json_int(&q->doc, t, &id)) {
            return BAD;
        }
        if (!in(id, 0, CWR_IDS - 1)) {
            fault = INVALID;
        }
        ids[i] = (uint16_t)id;
    }
    return fault;
}

static bool arrives(cwr_decoder *d, uint32_t num_slices, uint32_t last_bytes, uint32_t id)
{
    uint8_t data[CW_SLICE_SIZE];
    (void)cwr_encode_slice(chunk, chunk_bytes(num_slices, last_bytes), id, data);
    return d->count == 0 ? cwr_decoder_begin(d, num_slices, last_bytes, id, data)
                         : cwr_decoder_add(d, id, data) == CWR_ADDED;
}

static void print_rebuilt(cwr_decoder *d)
{
    size_t size = chunk_bytes(d->num_slices, d->last_bytes);
    (void)cwr_decoder_rebuild(d);
    memset(chunk, 0, sizeof chunk);
    for (uint32_t i = 0; i < d->num_slices; i++) {
        memcpy(chunk + (size_t)i * CW_SLICE_SIZE, cwr_decoder_slice(d, i), cw_slice_bytes(size, i));
    }
    print_data("chunk", chunk, size);
}

/* RPO-3 */
const char *repair_rebuild(const request *q)
{
    static uint16_t ids[MOST_IDS];
    cwr_decoder d;
    int64_t chunk_id, num_slices, last_bytes;
    uint32_t count = 0;
    const char *fault = get_ids(q, ids, &count);
    if (!get_int(q, q->root, "chunk_id", &chunk_id) || !get_int(q, q->root, "num_slices", &num_slices) ||
        !get_int(q, q->root, "last_bytes", &last_bytes)) {
        return BAD;
    }
    if (fault != NULL) {
        return fault;
    }
    if (!in(chunk_id, 0, 65535) || !in(num_slices, 1, CW_MAX_SLICES) || !in(last_bytes, 1, CW_SLICE_SIZE)) {
        return INVALID;
    }
    make_chunk(chunk_id, chunk_bytes(num_slices, last_bytes));
    cwr_decoder_init(&d, heap_memory());
    answer_ok(q, "added");
    putchar('"');
    for (uint32_t i = 0; i < count; i++) {
        putchar(arrives(&d, (uint32_t)num_slices, (uint32_t)last_bytes, ids[i]) ? '1' : '0');
    }
    printf("\",\"rank\":%" PRIu32 ",", d.count);
    if (d.count == num_slices) {
        print_rebuilt(&d);
    } else {
        printf("\"chunk\":null");
    }
    puts("}");
    cwr_decoder_release(&d);
    return NULL;
}

/* ---- Packets (RPO-4) -------------------------------------------------------- */

static void print_ack_fields(const cwr_ack *a)
{
    printf("\"chunk_id\":%" PRIu32 ",\"num_slices\":%" PRIu32 ",\"have\":%" PRIu32 ",\"top\":%" PRIu32, a->chunk_id,
           a->num_slices, a->have, a->top);
}

static void print_ack(const cwr_ack *a)
{
    fputs("{\"type\":\"ack\",", stdout);
    print_ack_fields(a);
    putchar('}');
}

/* A slice up to its data. */
static void print_slice_fields(const cwr_slice *s)
{
    printf("\"chunk_id\":%" PRIu32 ",\"slice_id\":%" PRIu32 ",\"num_slices\":%" PRIu32 ",\"last_bytes\":%" PRIu32,
           s->chunk_id, s->id, s->num_slices, s->last_bytes);
}

static void print_slice(const cwr_slice *s)
{
    fputs("{\"type\":\"slice\",", stdout);
    print_slice_fields(s);
}

void print_repair_fields(const cwr_packet *p)
{
    if (p->type == CW_ACK) {
        print_ack_fields(&p->as.ack);
        return;
    }
    print_slice_fields(&p->as.slice);
    fputs(",\"data\":", stdout);
    print_hex(p->as.slice.data, p->as.slice.size);
}

static bool get_slice_fields(const request *q, const json_token *t, cwr_slice *s)
{
    return get_field(q, t, "chunk_id", &s->chunk_id) && get_field(q, t, "slice_id", &s->id) &&
           get_field(q, t, "num_slices", &s->num_slices) && get_field(q, t, "last_bytes", &s->last_bytes);
}

static bool get_ack_fields(const request *q, const json_token *t, cwr_ack *a)
{
    return get_field(q, t, "chunk_id", &a->chunk_id) && get_field(q, t, "num_slices", &a->num_slices) &&
           get_field(q, t, "have", &a->have) && get_field(q, t, "top", &a->top);
}

bool get_repair_fields(const request *q, const json_token *t, cwr_packet *p)
{
    p->as.slice.data = bytes;
    return p->type == CW_SLICE ? get_slice_fields(q, t, &p->as.slice) && get_hex(q, t, "data", &p->as.slice.size)
                               : get_ack_fields(q, t, &p->as.ack);
}

static const char *get_packet(const request *q, cwr_packet *p)
{
    const json_token *t = member(q, q->root, "packet");
    const json_token *type = member(q, t, "type");
    p->type = json_equals(&q->doc, type, "slice") ? CW_SLICE : CW_ACK;
    if (p->type == CW_ACK && !json_equals(&q->doc, type, "ack")) {
        return json_is(type, JSON_STRING) ? INVALID : BAD; /* ENC-6 */
    }
    return get_repair_fields(q, t, p) ? NULL : BAD;
}

/* Whether the request is about a datagram; false with a fault: its protocol_id is none. */
static bool is_framed(const request *q, int64_t *protocol_id, const char **fault)
{
    if (member(q, q->root, "protocol_id") == NULL) {
        return false;
    }
    if (!get_int_in(q, q->root, "protocol_id", 0, UINT32_MAX, protocol_id)) {
        *fault = BAD;
    }
    return *fault == NULL;
}

const char *repair_encode(const request *q)
{
    cwr_packet p;
    uint8_t out[CW_MAX_DATAGRAM];
    size_t n = 0;
    int64_t protocol_id = 0;
    cw_error e;
    const char *fault = NULL;
    const char *packet_fault = get_packet(q, &p);
    bool framed = is_framed(q, &protocol_id, &fault);
    if (fault != NULL || packet_fault != NULL) {
        return fault != NULL ? fault : packet_fault;
    }
    e = framed ? cwr_encode_packet((uint32_t)protocol_id, &p, out, sizeof out, &n)
               : cwr_encode_body(&p, out, sizeof out, &n);
    if (e != CW_OK) {
        return cw_error_name(e);
    }
    answer_ok(q, "hex");
    print_hex(out, n);
    puts("}");
    return NULL;
}

static const char *answer_decoded(const request *q, cw_error e, const cwr_packet *p)
{
    if (e != CW_OK) {
        return cw_error_name(e);
    }
    answer_ok(q, "packet");
    printf("{\"type\":\"%s\",", p->type == CW_ACK ? "ack" : "slice");
    print_repair_fields(p);
    puts("}}");
    return NULL;
}

const char *repair_decode(const request *q)
{
    cwr_packet p;
    size_t n = 0;
    int64_t protocol_id = 0;
    const char *fault = NULL;
    const json_token *type = member(q, q->root, "type");
    bool slice = json_equals(&q->doc, type, "slice");
    bool framed = is_framed(q, &protocol_id, &fault);
    if (fault != NULL || !get_hex(q, q->root, "hex", &n)) {
        return BAD;
    }
    if (framed) {
        return answer_decoded(q, cwr_decode_packet((uint32_t)protocol_id, bytes, n, &p, NULL), &p);
    }
    if (!slice && !json_equals(&q->doc, type, "ack")) {
        return BAD;
    }
    return answer_decoded(q, cwr_decode_body(slice ? CW_SLICE : CW_ACK, bytes, n, &p, NULL), &p);
}

/* ---- Traces (RPO-5 to RPO-8) ------------------------------------------------ */

typedef struct {
    enum { SUBMIT, ACK, POLL, SLICE, READ } kind;
    int64_t at;
    int64_t size;
    int64_t due;
    int64_t fill; /* -1: the chunk's own bytes */
    cwr_ack ack;
    cwr_slice slice;
} event;

typedef const char *event_reader(const request *, const json_token *, event *);

typedef struct {
    int64_t first_chunk_id;
    int64_t give_up;
    bool scripted;
    cwr_rule rule;
} config;

static const char *get_config(const request *q, config *c)
{
    const json_token *t = member(q, q->root, "config");
    bool ok = get_int_in(q, t, "first_chunk_id", 0, 65535, &c->first_chunk_id) &&
              get_int_in(q, t, "give_up_us", 1, CW_MAX_GIVE_UP, &c->give_up);
    return ok ? NULL : BAD;
}

bool get_rule_profile(const request *q, const json_token *t, cwr_profile *p)
{
    return get_int(q, t, "rate", &p->limit) && get_bool(q, t, "burst", &p->burst) &&
           get_bool(q, t, "fixed", &p->fixed) && get_bool(q, t, "redundant", &p->redundant);
}

/* Of a sender, with the rule ready to be used. */
static const char *get_profile(const request *q, config *c)
{
    const json_token *t = member(q, member(q, q->root, "config"), "profile");
    cwr_profile p;
    c->scripted = json_is(t, JSON_NULL);
    if (c->scripted) {
        return NULL;
    }
    return get_rule_profile(q, t, &p) && cwr_rule_init(&c->rule, p) ? NULL : BAD;
}

static const char *get_event(const request *q, const json_token *t, event_reader *get, event *e)
{
    const char *fault = get(q, t, e);
    return fault == NULL && !get_int_in(q, t, "at", 0, TIME_END - 1, &e->at) ? BAD : fault;
}

/* The end of a step, behind its packets and what its machine adds. */
static void end_step(char letter, int row, const char *state, uint32_t chunk_id, uint32_t have, uint64_t top,
                     cw_time deadline)
{
    printf(",\"row\":\"%c%d\",\"state\":\"%s\",\"chunk_id\":%" PRIu32 ",\"have\":%" PRIu32 ",\"top\":%" PRIu64,
           letter, row, state, chunk_id, have, top);
    print_deadline("deadline_us", deadline);
}

/* Receiver (RPO-7) */

static const char *get_slice_event(const request *q, const json_token *t, event *e)
{
    cwr_packet p;
    p.type = CW_SLICE;
    e->fill = -1;
    if (!get_slice_fields(q, t, &p.as.slice) ||
        (member(q, t, "fill") != NULL && !get_int_in(q, t, "fill", 0, 255, &e->fill))) {
        return BAD;
    }
    p.as.slice.size = cwr_slice_bytes(p.as.slice.num_slices, p.as.slice.last_bytes, p.as.slice.id);
    e->slice = p.as.slice;
    return cwr_check(&p) == CW_OK ? NULL : BAD;
}

static const char *get_receiver_event(const request *q, const json_token *t, event *e)
{
    const json_token *name = member(q, t, "event");
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

static const char *check_receiver_events(const request *q)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event e;
        const char *fault = get_event(q, t, get_receiver_event, &e);
        if (fault != NULL) {
            return fault;
        }
    }
    return NULL;
}

static cwr_receiver_row poll_receiver(cwr_receiver *r, cw_time now)
{
    cwr_ack ack;
    bool first = true;
    cwr_receiver_row row = cwr_receiver_poll(r, now, &ack);
    while (row == CWR_U20 || row == CWR_U22 || row == CWR_U25) {
        printf("%s", first ? "" : ",");
        print_ack(&ack);
        first = false;
        row = cwr_receiver_poll(r, now, &ack);
    }
    return row;
}

static cwr_receiver_row receive_slice(cwr_receiver *r, const event *e)
{
    uint8_t data[CW_SLICE_SIZE];
    cwr_slice s = e->slice;
    size_t size = chunk_bytes(s.num_slices, s.last_bytes);
    if (e->fill >= 0) {
        memset(data, (int)e->fill, s.size);
    } else {
        make_chunk(s.chunk_id, size);
        (void)cwr_encode_slice(chunk, size, s.id, data);
    }
    s.data = data;
    return cwr_receiver_slice(r, e->at, &s);
}

static void receiver_step(cwr_receiver *r, const event *e)
{
    static const char *const states[] = {"WAITING", "RECEIVING", "READY", "FAILED"};
    cwr_receiver_row row;
    size_t size = 0;
    switch (e->kind) {
    case SLICE:
        row = receive_slice(r, e);
        break;
    case READ:
        row = cwr_receiver_read(r, e->at, chunk, sizeof chunk, &size);
        break;
    default:
        row = poll_receiver(r, e->at);
        break;
    }
    printf("],\"inconsistent\":%" PRIu64, r->inconsistent);
    if (row == CWR_U17) {
        putchar(',');
        print_data("chunk", chunk, size);
    }
    print_error(row == CWR_U18 || row == CWR_U19 || row == CWR_U28 ? "nothing_to_read" : NULL);
    end_step('U', (int)row, states[r->state], r->chunk_id, r->have, r->top, cwr_receiver_deadline(r));
}

const char *repair_receiver(const request *q)
{
    cwr_receiver r;
    config c;
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    const char *fault = get_config(q, &c);
    if (fault == NULL) {
        fault = check_receiver_events(q);
    }
    if (fault != NULL) {
        return fault;
    }
    (void)cwr_receiver_init(&r, (uint32_t)c.first_chunk_id, c.give_up, heap_memory());
    answer_ok(q, "steps");
    putchar('[');
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event e;
        (void)get_event(q, t, get_receiver_event, &e);
        begin_step(i);
        receiver_step(&r, &e);
    }
    puts("]}");
    cwr_receiver_end(&r);
    return NULL;
}

/* Sender (RPO-6) */

/* The scripted scheduler: as many ids as the event's due says. */
typedef struct {
    cwr_scheduler scheduler;
    int64_t due;
} script;

static void script_start(cwr_scheduler *s, cw_time now, uint32_t num_slices)
{
    (void)s, (void)now, (void)num_slices;
}

static void script_news(cwr_scheduler *s, cw_time now, uint32_t have, uint64_t top)
{
    (void)s, (void)now, (void)have, (void)top;
}

static void script_hold(cwr_scheduler *s, cw_time now)
{
    (void)s, (void)now;
}

static bool script_next(cwr_scheduler *s, cw_time now)
{
    script *c = (script *)s;
    (void)now;
    return c->due > 0 && c->due-- > 0;
}

static cw_time script_deadline(const cwr_scheduler *s)
{
    (void)s;
    return CW_NEVER;
}

static script new_script(void)
{
    script c = {{script_start, script_news, script_hold, script_next, script_deadline}, 0};
    return c;
}

static const char *get_ack_event(const request *q, const json_token *t, event *e)
{
    cwr_packet p;
    p.type = CW_ACK;
    if (!get_ack_fields(q, t, &p.as.ack) || cwr_check(&p) != CW_OK) {
        return BAD;
    }
    e->ack = p.as.ack;
    return NULL;
}

static const char *get_sender_event(const request *q, const json_token *t, event *e)
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
        e->due = 0;
        return member(q, t, "due") == NULL || get_int_in(q, t, "due", 0, MOST_DUE, &e->due) ? NULL : BAD;
    }
    return json_is(name, JSON_STRING) ? "unsupported" : BAD;
}

/* Polls, with what goes out printed or in silence. */
static cwr_sender_row poll_sender(cwr_sender *s, cw_time now, bool print)
{
    cwr_slice slice;
    bool first = true;
    cwr_sender_row row;
    while ((row = cwr_sender_poll(s, now, &slice)) == CWR_T13) {
        if (print) {
            printf("%s", first ? "" : ",");
            print_slice(&slice);
            printf(",\"size\":%zu,\"crc32\":%" PRIu32 "}", slice.size, cw_crc32(0, slice.data, slice.size));
        }
        first = false;
    }
    return row;
}

static cwr_sender_row sender_event(cwr_sender *s, script *c, const event *e, bool print)
{
    switch (e->kind) {
    case SUBMIT:
        if (print && s->state == CW_IDLE && e->size <= CW_MAX_CHUNK) {
            make_chunk(s->chunk_id, (size_t)e->size);
        }
        return cwr_sender_submit(s, e->at, chunk, (size_t)e->size);
    case ACK:
        return cwr_sender_ack(s, e->at, &e->ack);
    default:
        c->due = e->due;
        return poll_sender(s, e->at, print);
    }
}

/* What a due asks for must be there: of several bad events the first counts. */
static const char *check_sender_events(const request *q, const config *c)
{
    static cwr_sender s;
    script by_script = new_script();
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    (void)cwr_sender_init(&s, (uint32_t)c->first_chunk_id, c->give_up, &by_script.scheduler);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event e;
        const char *fault = get_event(q, t, get_sender_event, &e);
        if (fault != NULL) {
            return fault;
        }
        if (e.kind == POLL && e.due > 0 && (!c->scripted || s.state != CW_SENDING)) {
            return BAD;
        }
        if (c->scripted) {
            (void)sender_event(&s, &by_script, &e, false);
        }
    }
    return NULL;
}

static const char *sender_error(cwr_sender_row row)
{
    switch (row) {
    case CWR_T2: return "chunk_size";
    case CWR_T3: return "busy";
    case CWR_T4: return "gave_up";
    default: return NULL;
    }
}

static void run_sender(const request *q, config *c)
{
    static const char *const states[] = {"IDLE", "SENDING", "FAILED"};
    static cwr_sender s;
    script by_script = new_script();
    const json_token *events = member(q, q->root, "events");
    const json_token *t = json_first(&q->doc, events);
    (void)cwr_sender_init(&s, (uint32_t)c->first_chunk_id, c->give_up,
                          c->scripted ? &by_script.scheduler : &c->rule.scheduler);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event e;
        cwr_sender_row row;
        (void)get_event(q, t, get_sender_event, &e);
        begin_step(i);
        row = sender_event(&s, &by_script, &e, true);
        printf("],\"sent\":%" PRIu64, s.sent);
        print_error(sender_error(row));
        end_step('T', (int)row, states[s.state], s.chunk_id, s.have, s.top, cwr_sender_deadline(&s));
    }
}

const char *repair_sender(const request *q)
{
    static config c;
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
