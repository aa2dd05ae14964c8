/* The port's operations of the channels. Comments such as CHO-4 name sentences of
 * spec/CHANNELS.md. */
#include "chunkwire_channel.h"
#include "port.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAST_TIME (TIME_END - 1)
#define LONGEST ((int64_t)1 << 40)     /* of lifetimes and figures of a path */
#define MOST_NUMBER ((int64_t)1 << 32) /* of a packet */

enum { MOST_SPACE = 65535, SEQUENCES = 65536 };

/* ---- Records in JSON (CHO-4) ------------------------------------------------ */

/* CHO-3 */
cwc_channels all_channels(const cwc_config *c)
{
    cwc_channels channels;
    for (int i = 0; i < CWC_CHANNELS; i++) {
        channels.config[i] = c;
    }
    return channels;
}

cwc_config any_kind(void)
{
    cwc_config c = cwc_default_config(CWC_ORDERED | CWC_UNRELIABLE);
    c.window = 16384;
    return c;
}

static const char *const type_names[] = {"pad", "unreliable", "message", "fragment", "skip", "report", "status"};

/* What the field that is a record's sequence here is called there. */
static const char *sequence_name(int64_t type)
{
    switch (type) {
    case CWC_SKIP: return "first";
    case CWC_REPORT: return "base";
    case CWC_STATUS: return "next";
    default: return "sequence";
    }
}

/* A group is [start, bits]; those above MOST_GROUPS are only counted. */
static bool get_groups(const request *q, const json_token *t, cwc_record *r)
{
    const json_token *list = member(q, t, "groups");
    const json_token *g;
    if (!json_is(list, JSON_ARRAY)) {
        return false;
    }
    r->num_groups = list->count;
    g = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count; i++, g = json_after(&q->doc, g)) {
        cwc_group any;
        cwc_group *to = i < CWC_MOST_GROUPS ? &r->groups[i] : &any;
        if (!json_is(g, JSON_ARRAY) || g->count != 2 || !json_int(&q->doc, json_first(&q->doc, g), &to->start) ||
            !json_int(&q->doc, json_after(&q->doc, json_first(&q->doc, g)), &to->bits)) {
            return false;
        }
    }
    return true;
}

static bool get_data(const request *q, const json_token *t, cwc_record *r)
{
    r->data = bytes;
    return get_hex(q, t, "data", &r->size);
}

static bool get_fields(const request *q, const json_token *t, cwc_record *r)
{
    if (!get_int(q, t, "channel", &r->channel) ||
        (r->type != CWC_UNRELIABLE_MESSAGE && !get_int(q, t, sequence_name(r->type), &r->sequence))) {
        return false;
    }
    switch (r->type) {
    case CWC_FRAGMENT:
        return get_int(q, t, "index", &r->index) && get_int(q, t, "count", &r->count) && get_data(q, t, r);
    case CWC_SKIP:
        return get_int(q, t, "count", &r->count);
    case CWC_REPORT:
        return get_int(q, t, "room", &r->room) && get_groups(q, t, r);
    case CWC_STATUS:
        return true;
    default:
        return get_data(q, t, r);
    }
}

/* CHO-6; its data are in bytes. A type that is none becomes one that no record has. */
bool get_channel_record(const request *q, const json_token *t, cwc_record *r)
{
    const json_token *name = member(q, t, "type");
    memset(r, 0, sizeof *r);
    r->type = -1;
    for (int i = 0; i <= CWC_STATUS; i++) {
        if (json_equals(&q->doc, name, type_names[i])) {
            r->type = i;
        }
    }
    return json_is(name, JSON_STRING) && (r->type <= CWC_PAD || get_fields(q, t, r));
}

static void print_groups(const cwc_record *r)
{
    printf(",\"room\":%" PRId64 ",\"groups\":[", r->room);
    for (int64_t i = 0; i < r->num_groups; i++) {
        printf("%s[%" PRId64 ",%" PRId64 "]", i > 0 ? "," : "", r->groups[i].start, r->groups[i].bits);
    }
    putchar(']');
}

void print_channel_record(const cwc_record *r)
{
    printf("{\"type\":\"%s\"", type_names[r->type]);
    if (r->type != CWC_PAD) {
        printf(",\"channel\":%" PRId64, r->channel);
    }
    if (r->type > CWC_UNRELIABLE_MESSAGE) {
        printf(",\"%s\":%" PRId64, sequence_name(r->type), r->sequence);
    }
    if (r->type == CWC_FRAGMENT) {
        printf(",\"index\":%" PRId64, r->index);
    }
    if (r->type == CWC_FRAGMENT || r->type == CWC_SKIP) {
        printf(",\"count\":%" PRId64, r->count);
    }
    if (r->type == CWC_REPORT) {
        print_groups(r);
    }
    if (r->data != NULL) {
        fputs(",\"data\":", stdout);
        print_hex(r->data, r->size);
    }
    putchar('}');
}

/* ---- Codec (CHO-1) ---------------------------------------------------------- */

static const char *check_records(const request *q, const json_token *list)
{
    const json_token *t;
    cwc_record any;
    if (!json_is(list, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count; i++, t = json_after(&q->doc, t)) {
        if (!get_channel_record(q, t, &any)) {
            return BAD;
        }
    }
    return NULL;
}

static void answer_payload(const request *q, cwc_error e, size_t place, const uint8_t *payload, size_t n)
{
    if (e != CWC_OK) {
        answer_error_at(q, cwc_error_name(e), (int)place);
        return;
    }
    answer_ok(q, "hex");
    print_hex(payload, n);
    puts("}");
}

const char *records_encode(const request *q)
{
    static uint8_t payload[MAX_BYTES];
    const json_token *list = member(q, q->root, "records");
    const char *fault = check_records(q, list);
    cwc_config any = any_kind();
    cwc_channels channels = all_channels(&any);
    cwc_error e = CWC_TRUNCATED; /* without records (CHR-7) */
    size_t n = 0;
    size_t place = 0;
    const json_token *t;
    if (fault != NULL) {
        return fault;
    }
    t = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count && (i == 0 || e == CWC_OK); i++, t = json_after(&q->doc, t)) {
        cwc_record r;
        (void)get_channel_record(q, t, &r);
        e = cwc_append(&channels, &r, payload, sizeof payload, &n, &place);
    }
    answer_payload(q, e, place, payload, n);
    return NULL;
}

const char *records_decode(const request *q)
{
    cwc_config any = any_kind();
    cwc_channels channels = all_channels(&any);
    cwc_error e;
    size_t n;
    size_t place;
    size_t at = 0;
    if (!get_hex(q, q->root, "hex", &n)) {
        return BAD;
    }
    e = cwc_check(&channels, bytes, n, NULL, &place);
    if (e != CWC_OK) {
        answer_error_at(q, cwc_error_name(e), (int)place);
        return NULL;
    }
    answer_ok(q, "records");
    while (at < n) {
        cwc_record r;
        putchar(at == 0 ? '[' : ',');
        (void)cwc_decode(&channels, bytes, n, &at, &r);
        print_channel_record(&r);
    }
    puts("]}");
    return NULL;
}

/* A set of sequences as distances from a base. */
typedef struct {
    bool has[SEQUENCES];
    int64_t base;
} distances;

static bool has_distance(const void *owner, int64_t n)
{
    const distances *d = (const distances *)owner;
    return d->has[n - d->base];
}

/* CHO-6; the top is 1 + the last. */
static bool get_missing(const request *q, int64_t base, distances *d, int64_t *top)
{
    const json_token *list = member(q, q->root, "missing");
    const json_token *t;
    int64_t before = -1;
    if (!json_is(list, JSON_ARRAY)) {
        return false;
    }
    for (int i = 0; i < SEQUENCES; i++) {
        d->has[i] = false;
    }
    d->base = base;
    t = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count; i++, t = json_after(&q->doc, t)) {
        int64_t v;
        int64_t n;
        if (!json_int(&q->doc, t, &v) || v < 0 || v >= SEQUENCES) {
            return false;
        }
        n = cwp_on_wire(v - base);
        if (n <= before) {
            return false;
        }
        d->has[n] = true;
        before = n;
    }
    *top = base + before + 1;
    return true;
}

/* CHO-5 */
const char *channel_report(const request *q)
{
    static distances d;
    cwc_config any = any_kind();
    cwc_channels channels = all_channels(&any);
    cwc_missing m = {has_distance, &d, 0, 0};
    uint8_t payload[CWC_PAYLOAD];
    size_t n = 0;
    size_t place = 0;
    int64_t channel;
    int64_t base;
    int64_t room;
    cwc_record r;
    cwc_error e;
    if (!get_int(q, q->root, "channel", &channel) || !get_int(q, q->root, "base", &base) ||
        !get_int(q, q->root, "room", &room)) {
        return BAD;
    }
    m.base = cwp_on_wire(base);
    if (!get_missing(q, m.base, &d, &m.top)) {
        return BAD;
    }
    cwc_report(&m, room, CWC_MOST_GROUPS, &r);
    r.channel = channel;
    r.sequence = base;
    e = cwc_append(&channels, &r, payload, sizeof payload, &n, &place);
    answer_payload(q, e, place, payload, n);
    return NULL;
}

/* ---- What both machines share ----------------------------------------------- */

/* A machine under test: its only channel is 0 (CHO-11). */
typedef struct {
    cwc_config config;
    cwc_channels channels;
} setting;

static bool get_size(const request *q, const json_token *t, const char *name, uint32_t *v)
{
    int64_t n;
    if (!get_int_in(q, t, name, 0, UINT32_MAX, &n)) {
        return false;
    }
    *v = (uint32_t)n;
    return true;
}

/* CHO-7, CHO-9: what the configurations of both have. */
static bool get_config(const request *q, const json_token *t, setting *s)
{
    cwc_config *c = &s->config;
    s->channels = all_channels(NULL);
    s->channels.config[0] = c;
    return get_size(q, t, "window", &c->window) && get_size(q, t, "data", &c->data) &&
           get_size(q, t, "group", &c->group) && get_int(q, t, "first", &c->first) &&
           get_int(q, t, "give_up", &c->give_up);
}

typedef enum { SEND, RECORD, READ, POLL, PATH } event_kind;

typedef struct {
    event_kind kind;
    int64_t at;
    size_t size;       /* of a message, which is in bytes */
    int64_t lifetime;  /* of a message */
    cwc_record record; /* its data are in bytes */
    int64_t number, ack, space;
    cwc_path path;
} event;

typedef const char *get_event(const request *q, const setting *s, const json_token *t, event *e);

/* CHO-12: exactly one record; of its kind the operation judges. */
static bool get_one_record(const request *q, const setting *s, const json_token *t, event *e)
{
    size_t n;
    size_t at = 0;
    return get_hex(q, t, "hex", &n) && cwc_decode(&s->channels, bytes, n, &at, &e->record) == CWC_OK && at == n;
}

/* Null while it is not measured (CHP-3). */
static bool get_srtt(const request *q, const json_token *t, cwc_path *path)
{
    path->measured = !json_is(member(q, t, "srtt"), JSON_NULL);
    path->srtt = 0;
    path->patience = 0;
    return !path->measured || get_int_in(q, t, "srtt", 0, LONGEST, &path->srtt);
}

/* What is wrong with an event of no name that the machine has (PRT-3). */
static const char *unknown_event(const json_token *name)
{
    return json_is(name, JSON_STRING) ? "unsupported" : BAD;
}

/* Its end, common to all. */
static const char *end_event(const request *q, const json_token *t, bool ok, event *e)
{
    return ok && get_int_in(q, t, "at", 0, LAST_TIME, &e->at) ? NULL : BAD;
}

static const char *check_events(const request *q, const setting *s, get_event *get)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    const char *fault = NULL;
    event any;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; fault == NULL && i < events->count; i++, t = json_after(&q->doc, t)) {
        fault = get(q, s, t, &any);
    }
    return fault;
}

/* Runs the steps of a trace that was checked. */
static void run_events(const request *q, const setting *s, get_event *get, void (*step)(void *machine, const event *e),
                       void *machine)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t = json_first(&q->doc, events);
    answer_ok(q, "steps");
    putchar('[');
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event e;
        (void)get(q, s, t, &e);
        if (i > 0) {
            putchar(',');
        }
        step(machine, &e);
    }
    puts("]}");
}

static void print_record_bytes(const setting *s, const cwc_record *r)
{
    uint8_t out[CWC_MOST_RECORD];
    size_t n = 0;
    if (cwc_append(&s->channels, r, out, sizeof out, &n, NULL) != CWC_OK) {
        abort();
    }
    print_hex(out, n);
}

static const char *state_name(bool failed) { return failed ? "FAILED" : "OPEN"; }

/* ---- Receiver (CHO-7, CHO-8) ------------------------------------------------ */

static bool get_receiver_config(const request *q, setting *s)
{
    const json_token *t = member(q, q->root, "config");
    const json_token *kind = member(q, t, "kind");
    s->config = cwc_default_config(json_equals(&q->doc, kind, "ordered") ? CWC_ORDERED : CWC_UNORDERED);
    return (s->config.kind == CWC_ORDERED || json_equals(&q->doc, kind, "unordered")) && get_config(q, t, s) &&
           cwc_config_allowed(&s->config);
}

static const char *get_receiver_event(const request *q, const setting *s, const json_token *t, event *e)
{
    const json_token *name = member(q, t, "event");
    bool ok = true;
    if (json_equals(&q->doc, name, "record")) {
        e->kind = RECORD;
        ok = get_one_record(q, s, t, e) && e->record.type != CWC_PAD && e->record.type != CWC_REPORT;
    } else if (json_equals(&q->doc, name, "read")) {
        e->kind = READ;
    } else if (json_equals(&q->doc, name, "poll")) {
        e->kind = POLL;
        ok = get_int_in(q, t, "space", 0, MOST_SPACE, &e->space);
    } else if (json_equals(&q->doc, name, "path")) {
        e->kind = PATH;
        ok = get_srtt(q, t, &e->path);
    } else {
        return unknown_event(name);
    }
    return end_event(q, t, ok, e);
}

typedef struct {
    const setting *setting;
    cwc_receiver machine;
} tested_receiver;

static void print_read(cwc_receiver_row row, const cwc_read *what, const uint8_t *data)
{
    fputs(",\"read\":", stdout);
    if (row != CWC_V11 && row != CWC_V17) {
        fputs("null", stdout);
        return;
    }
    printf("{\"sequence\":%u,", (unsigned)cwp_on_wire(what->sequence));
    if (what->skipped) {
        fputs("\"skipped\":true}", stdout);
        return;
    }
    fputs("\"data\":", stdout);
    print_hex(data, what->size);
    putchar('}');
}

static void receiver_step(void *tested, const event *e)
{
    static uint8_t message[CWC_MOST_MESSAGE];
    tested_receiver *t = (tested_receiver *)tested;
    cwc_receiver *m = &t->machine;
    cwc_receiver_row row = CWC_V_NONE;
    cwc_read what;
    cwc_record report;
    switch (e->kind) {
    case RECORD: row = cwc_receiver_record(m, e->at, &e->record); break;
    case READ: row = cwc_receiver_read(m, e->at, message, sizeof message, &what); break;
    case POLL: row = cwc_receiver_poll(m, e->at, (size_t)e->space, &report); break;
    default: cwc_receiver_path(m, &e->path); break;
    }
    if (row == CWC_V_NONE) {
        fputs("{\"row\":null", stdout);
    } else {
        printf("{\"row\":\"V%d\"", (int)row);
    }
    printf(",\"state\":\"%s\"", state_name(m->failed));
    print_read(row, &what, message);
    fputs(",\"report\":", stdout);
    if (row == CWC_V14) {
        print_record_bytes(t->setting, &report);
    } else {
        fputs("null", stdout);
    }
    print_deadline("deadline", cwc_receiver_deadline(m));
}

const char *channel_receiver(const request *q)
{
    setting s;
    tested_receiver t;
    const char *fault = get_receiver_config(q, &s) ? check_events(q, &s, get_receiver_event) : BAD;
    if (fault != NULL) {
        return fault;
    }
    t.setting = &s;
    if (!cwc_receiver_init(&t.machine, &s.config, 0, heap_of_layers())) {
        abort();
    }
    run_events(q, &s, get_receiver_event, receiver_step, &t);
    cwc_receiver_end(&t.machine);
    return NULL;
}

/* ---- Sender (CHO-9, CHO-10) ------------------------------------------------- */

static bool get_sender_config(const request *q, setting *s)
{
    const json_token *t = member(q, q->root, "config");
    s->config = cwc_default_config(CWC_ORDERED);
    return get_config(q, t, s) && get_size(q, t, "send_queue", &s->config.send_queue) &&
           cwc_config_allowed(&s->config);
}

static bool get_send(const request *q, const json_token *t, event *e)
{
    const json_token *lifetime = member(q, t, "lifetime");
    e->kind = SEND;
    e->lifetime = CWP_NEVER;
    return get_hex(q, t, "data", &e->size) &&
           (json_is(lifetime, JSON_NULL) || get_int_in(q, t, "lifetime", 1, LONGEST, &e->lifetime));
}

static bool get_report(const request *q, const setting *s, const json_token *t, event *e)
{
    e->kind = RECORD;
    return get_one_record(q, s, t, e) && e->record.type == CWC_REPORT &&
           get_int_in(q, t, "number", 0, MOST_NUMBER, &e->number) && get_int_in(q, t, "ack", -1, MOST_NUMBER, &e->ack);
}

static const char *get_sender_event(const request *q, const setting *s, const json_token *t, event *e)
{
    const json_token *name = member(q, t, "event");
    bool ok;
    if (json_equals(&q->doc, name, "send")) {
        ok = get_send(q, t, e);
    } else if (json_equals(&q->doc, name, "report")) {
        ok = get_report(q, s, t, e);
    } else if (json_equals(&q->doc, name, "poll")) {
        e->kind = POLL;
        ok = get_int_in(q, t, "number", 0, MOST_NUMBER, &e->number) &&
             get_int_in(q, t, "space", 0, MOST_SPACE, &e->space);
    } else if (json_equals(&q->doc, name, "path")) {
        e->kind = PATH;
        ok = get_srtt(q, t, &e->path) && get_int_in(q, t, "patience", 0, LONGEST, &e->path.patience);
    } else {
        return unknown_event(name);
    }
    return end_event(q, t, ok, e);
}

/* A poll takes a row for each record, of at least 4 bytes, and a last one. */
typedef struct {
    const setting *setting;
    cwc_sender machine;
    cwc_sender_row rows[MOST_SPACE / 4 + 1];
    size_t num_rows;
} tested_sender;

/* CHO-9: until no record comes. */
static void poll_sender(tested_sender *t, const event *e)
{
    size_t space = (size_t)e->space;
    for (;;) {
        cwc_record r;
        uint8_t out[CWC_MOST_RECORD];
        size_t n = 0;
        cwc_sender_row row = cwc_sender_poll(&t->machine, e->at, e->number, space, &r);
        t->rows[t->num_rows++] = row;
        if (row != CWC_D8 && row != CWC_D9) {
            return;
        }
        if (cwc_append(&t->setting->channels, &r, out, sizeof out, &n, NULL) != CWC_OK || n > space) {
            abort();
        }
        space -= n;
        if (t->num_rows > 1) {
            putchar(',');
        }
        print_hex(out, n);
    }
}

static void print_rows(const tested_sender *t)
{
    fputs(",\"rows\":[", stdout);
    for (size_t i = 0; i < t->num_rows; i++) {
        printf("%s\"D%d\"", i > 0 ? "," : "", (int)t->rows[i]);
    }
    putchar(']');
}

static void sender_step(void *tested, const event *e)
{
    tested_sender *t = (tested_sender *)tested;
    cwc_sender *m = &t->machine;
    cwc_error refused = CWC_OK;
    t->num_rows = 0;
    fputs("{\"records\":[", stdout);
    switch (e->kind) {
    case SEND: t->rows[t->num_rows++] = cwc_sender_send(m, e->at, bytes, e->size, e->lifetime, &refused); break;
    case RECORD: t->rows[t->num_rows++] = cwc_sender_report(m, e->at, &e->record, e->number, e->ack); break;
    case POLL: poll_sender(t, e); break;
    default: cwc_sender_path(m, &e->path); break;
    }
    putchar(']');
    print_rows(t);
    if (refused == CWC_OK) {
        fputs(",\"refused\":null", stdout);
    } else {
        printf(",\"refused\":\"%s\"", cwc_error_name(refused));
    }
    printf(",\"state\":\"%s\",\"base\":%" PRId64 ",\"limit\":%" PRId64, state_name(m->failed), m->base, m->limit);
    print_deadline("deadline", cwc_sender_deadline(m));
}

const char *channel_sender(const request *q)
{
    static tested_sender t;
    setting s;
    const char *fault = get_sender_config(q, &s) ? check_events(q, &s, get_sender_event) : BAD;
    if (fault != NULL) {
        return fault;
    }
    t.setting = &s;
    if (!cwc_sender_init(&t.machine, &s.config, 0, heap_of_layers())) {
        abort();
    }
    run_events(q, &s, get_sender_event, sender_step, &t);
    cwc_sender_end(&t.machine);
    return NULL;
}
