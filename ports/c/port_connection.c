/* The port's operations of connections. Comments such as CXO-11 name sentences of
 * spec/CONNECTION.md. */
#include "chunkwire_connection.h"
#include "port_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Records (CXO-11) --------------------------------------------------------- */

static bool get_limits(const request *q, const json_token *t, cwn_limits *l)
{
    uint32_t extensions = 0;
    l->variant = CWS_NAMED;
    if ((member(q, t, "variant") != NULL && !get_number(q, t, "variant", CWS_NAMED, CWS_REPAIR, &l->variant)) ||
        (member(q, t, "extensions") != NULL && !get_number(q, t, "extensions", 0, UINT16_MAX, &extensions))) {
        return false;
    }
    l->marks = (extensions & CWS_MARKS) != 0;
    l->clocks = (extensions & CWS_CLOCKS) != 0;
    return get_number(q, t, "lanes", 0, CWS_MOST_LANES, &l->lanes);
}

static bool get_text(const request *q, const json_token *t, cwn_record *r)
{
    const json_token *text = member(q, t, "text");
    r->text = (const uint8_t *)json_text(&q->doc, text);
    r->text_size = text != NULL ? text->length : 0;
    return r->text != NULL && get_number(q, t, "code", 0, UINT16_MAX, &r->code);
}

static bool get_body(const request *q, const json_token *t, const cwn_limits *l, cw_type type, cwn_record *r)
{
    r->body.named.type = type;
    if (l->variant == CWS_REPAIR) {
        r->body.repair.type = type;
        return get_repair_fields(q, t, &r->body.repair) && get_int(q, t, "lane", &r->lane);
    }
    return get_packet_fields(q, t, &r->body.named) && get_int(q, t, "lane", &r->lane);
}

static bool get_clock(const request *q, const json_token *t, cwn_record *r)
{
    int64_t sent;
    r->type = CWN_CLOCK;
    if (!get_int_in(q, t, "sent", 0, ((int64_t)1 << 48) - 1, &sent)) {
        return false;
    }
    r->sent = (uint64_t)sent;
    return get_number(q, t, "echo", 0, UINT32_MAX, &r->echo) && get_number(q, t, "wait", 0, UINT32_MAX, &r->wait);
}

/* Its data are in bytes. */
static bool get_record(const request *q, const json_token *t, const cwn_limits *l, cwn_record *r)
{
    const json_token *type = member(q, t, "type");
    memset(r, 0, sizeof *r);
    if (json_equals(&q->doc, type, "close")) {
        r->type = CWN_CLOSE;
        return get_text(q, t, r);
    }
    if (json_equals(&q->doc, type, "slice")) {
        r->type = CWN_SLICE;
        return get_body(q, t, l, CW_SLICE, r);
    }
    if (json_equals(&q->doc, type, "chunk_ack")) {
        r->type = CWN_CHUNK_ACK;
        return get_body(q, t, l, CW_ACK, r);
    }
    if (json_equals(&q->doc, type, "ecn")) {
        r->type = CWN_ECN;
        return get_number(q, t, "arrived", 0, UINT16_MAX, &r->arrived) &&
               get_number(q, t, "congested", 0, UINT16_MAX, &r->congested);
    }
    if (json_equals(&q->doc, type, "clock")) {
        return get_clock(q, t, r);
    }
    if (!get_channel_record(q, t, &r->channel)) {
        return false;
    }
    r->type = r->channel.type;
    return true;
}

static bool check_records(const request *q, const json_token *list, const cwn_limits *l)
{
    const json_token *t;
    cwn_record any;
    if (!json_is(list, JSON_ARRAY)) {
        return false;
    }
    t = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count; i++, t = json_after(&q->doc, t)) {
        if (!get_record(q, t, l, &any)) {
            return false;
        }
    }
    return true;
}

const char *connection_encode(const request *q)
{
    static uint8_t payload[MAX_BYTES];
    cwn_payload p = {payload, sizeof payload, 0, CWC_PAD, false};
    const json_token *list = member(q, q->root, "records");
    const json_token *t;
    cwc_config any = any_kind();
    cwc_channels channels = all_channels(&any);
    cwn_limits l = {&channels, 0, 0, false, false};
    const char *code = "truncated"; /* without records (CHR-7) */
    size_t place = 0;
    if (!get_limits(q, q->root, &l) || !check_records(q, list, &l)) {
        return BAD;
    }
    t = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count && (i == 0 || code == NULL); i++, t = json_after(&q->doc, t)) {
        cwn_record r;
        (void)get_record(q, t, &l, &r);
        code = cwn_append(&l, &r, &p, &place);
    }
    if (code != NULL) {
        answer_error_at(q, code, (int)place);
        return NULL;
    }
    answer_ok(q, "hex");
    print_hex(payload, p.size);
    puts("}");
    return NULL;
}

/* A string of JSON; other bytes than ASCII stay as they are. */
static void print_text(const uint8_t *text, size_t size)
{
    putchar('"');
    for (size_t i = 0; i < size; i++) {
        if (text[i] < 0x20 || text[i] == '"' || text[i] == '\\') {
            printf("\\u%04x", (unsigned)text[i]);
        } else {
            putchar(text[i]);
        }
    }
    putchar('"');
}

static void print_on_lane(const cwn_record *r, const cwn_limits *l)
{
    printf("{\"type\":\"%s\",\"lane\":%" PRId64 ",", r->type == CWN_SLICE ? "slice" : "chunk_ack", r->lane);
    if (l->variant == CWS_REPAIR) {
        print_repair_fields(&r->body.repair);
    } else {
        print_packet_fields(&r->body.named);
    }
    putchar('}');
}

static void print_record(const cwn_record *r, const cwn_limits *l)
{
    switch (r->type) {
    case CWN_CLOSE:
        printf("{\"type\":\"close\",\"code\":%" PRIu32 ",\"text\":", r->code);
        print_text(r->text, r->text_size);
        putchar('}');
        break;
    case CWN_SLICE:
    case CWN_CHUNK_ACK: print_on_lane(r, l); break;
    case CWN_ECN:
        printf("{\"type\":\"ecn\",\"arrived\":%" PRIu32 ",\"congested\":%" PRIu32 "}", r->arrived, r->congested);
        break;
    case CWN_CLOCK:
        printf("{\"type\":\"clock\",\"sent\":%" PRIu64 ",\"echo\":%" PRIu32, r->sent, r->echo);
        printf(",\"wait\":%" PRIu32 "}", r->wait);
        break;
    default: print_channel_record(&r->channel); break;
    }
}

const char *connection_decode(const request *q)
{
    cwc_config any = any_kind();
    cwc_channels channels = all_channels(&any);
    cwn_limits l = {&channels, 0, 0, false, false};
    const char *code;
    size_t n;
    size_t place;
    size_t at = 0;
    if (!get_limits(q, q->root, &l) || !get_hex(q, q->root, "hex", &n)) {
        return BAD;
    }
    code = cwn_check(&l, bytes, n, &place);
    if (code != NULL) {
        answer_error_at(q, code, (int)place);
        return NULL;
    }
    answer_ok(q, "records");
    while (at < n) {
        cwn_record r;
        putchar(at == 0 ? '[' : ',');
        (void)cwn_decode(&l, bytes, n, &at, &r);
        print_record(&r, &l);
    }
    puts("]}");
    return NULL;
}

/* ---- Machines (CXO-12 to CXO-16) ------------------------------------------------ */

enum { E_RECEIVE, E_POLL, E_SEND, E_READ, E_SEND_CHUNK, E_READ_CHUNK, E_CLOSE, E_TICK, E_MOVE, E_MOVED, E_PLACED, E_END, EVENTS };

static const char *const event_names[EVENTS] = {"receive", "poll",  "send", "read", "send_chunk", "read_chunk",
                                                "close",   "tick",  "move", "moved", "placed",    "end"};
static const char *const ecn_names[] = {"", "ect1", "ect0", "ce"};

/* A conversation: its configuration, and how many chunks were sent. */
typedef struct {
    cwn_config config;
    cwn_channel channels[CWC_CHANNELS];
    cw_profile base;
    cws_envelope envelope;
    int64_t begin;
    bool moves; /* it is of connection_moves */
    cwn_connection *connection;
    uint32_t submitted;
} conversation;

typedef struct {
    int kind;
    int64_t at;
    size_t size; /* of the bytes in bytes */
    int64_t lifetime, chunk_size;
    uint32_t channel, code;
    const json_token *text;
    cwn_ecn ecn;
    bool changed;
} event;

static bool get_kind(const request *q, const json_token *t, cwn_channel *c)
{
    const json_token *kind = member(q, t, "kind");
    c->latest = json_equals(&q->doc, kind, "latest");
    if (c->latest || json_equals(&q->doc, kind, "unreliable")) {
        c->config = cwc_default_config(CWC_UNRELIABLE);
        return true;
    }
    c->config = cwc_default_config(json_equals(&q->doc, kind, "ordered") ? CWC_ORDERED : CWC_UNORDERED);
    return (c->config.kind == CWC_ORDERED || json_equals(&q->doc, kind, "unordered")) &&
           get_number(q, t, "window", 0, UINT32_MAX, &c->config.window) &&
           get_number(q, t, "data", 0, UINT32_MAX, &c->config.data) &&
           get_number(q, t, "group", 0, UINT32_MAX, &c->config.group) &&
           get_number(q, t, "send_queue", 0, UINT32_MAX, &c->config.send_queue) &&
           get_int(q, t, "give_up", &c->config.give_up) && cwc_config_allowed(&c->config);
}

static bool get_channels(const request *q, const json_token *list, conversation *c)
{
    const json_token *t;
    if (!json_is(list, JSON_ARRAY)) {
        return false;
    }
    t = json_first(&q->doc, list);
    for (uint32_t i = 0; i < list->count; i++, t = json_after(&q->doc, t)) {
        uint32_t id;
        uint32_t priority;
        if (!get_number(q, t, "id", 0, CWC_CHANNELS - 1, &id) || c->config.channels[id] != NULL ||
            !get_number(q, t, "priority", 0, UINT8_MAX, &priority) || !get_kind(q, t, &c->channels[id])) {
            return false;
        }
        c->channels[id].priority = (uint8_t)priority;
        c->config.channels[id] = &c->channels[id];
    }
    return true;
}

static bool get_scheduler(const request *q, const json_token *t, conversation *c)
{
    const json_token *profile = member(q, t, "profile");
    cwr_rule rule;
    cw_base base;
    if (c->config.agreed.variant == CWS_REPAIR) {
        return get_rule_profile(q, profile, &c->config.profile) && cwr_rule_init(&rule, c->config.profile);
    }
    c->config.base = &c->base;
    return get_base_profile(q, profile, &c->base) && cw_base_init(&base, c->base);
}

static bool get_agreed(const request *q, const json_token *t, cws_agreed *a)
{
    cwn_limits l;
    if (!get_limits(q, t, &l) || !get_number(q, t, "timeout", CWS_LEAST_TIMEOUT, CWS_MOST_TIMEOUT, &a->timeout)) {
        return false;
    }
    a->lanes = l.lanes;
    a->variant = l.variant;
    a->extensions = (l.marks ? CWS_MARKS : 0) | (l.clocks ? CWS_CLOCKS : 0);
    return true;
}

static bool get_envelope(const request *q, const json_token *t, cws_envelope *e)
{
    uint8_t send_key[CWS_KEY];
    uint8_t receive_key[CWS_KEY];
    uint32_t mode;
    uint32_t link;
    if (!get_mode(q, t, &mode) || !get_number(q, t, "link", 1, UINT32_MAX, &link) ||
        !get_fixed(q, t, "send_key", send_key, CWS_KEY) || !get_fixed(q, t, "receive_key", receive_key, CWS_KEY)) {
        return false;
    }
    cws_envelope_init(e, mode, link, send_key, receive_key);
    return true;
}

static bool get_side(const request *q, const json_token *t, cwn_side *side)
{
    const json_token *name = member(q, t, "side");
    *side = json_equals(&q->doc, name, "server") ? CWN_SERVER : CWN_CLIENT;
    return *side == CWN_SERVER || json_equals(&q->doc, name, "client");
}

static bool get_conversation(const request *q, conversation *c)
{
    const json_token *t = member(q, q->root, "config");
    cws_agreed agreed;
    cwn_side side;
    if (!get_side(q, t, &side) || !get_agreed(q, t, &agreed)) {
        return false;
    }
    c->config = cwn_default_config(side, &agreed);
    c->config.memory = heap_of_layers();
    c->config.has_seed = member(q, t, "seed") != NULL;
    return get_envelope(q, t, &c->envelope) && get_int_in(q, t, "begin", 0, LAST_TIME, &c->begin) &&
           get_int_in(q, t, "tick", 5000, 100000, &c->config.tick) &&
           get_int_in(q, t, "message_rate", 64000, 8000000000, &c->config.message_rate) &&
           get_channels(q, member(q, t, "channels"), c) && get_scheduler(q, t, c) &&
           (!c->config.has_seed || get_fixed(q, t, "seed", c->config.seed, sizeof c->config.seed));
}

static bool get_ecn(const request *q, const json_token *t, cwn_ecn *ecn)
{
    const json_token *name = member(q, t, "ecn");
    *ecn = CWN_NOT_ECT;
    for (int k = CWN_ECT1; k <= CWN_CE; k++) {
        if (json_equals(&q->doc, name, ecn_names[k])) {
            *ecn = (cwn_ecn)k;
        }
    }
    return name == NULL || *ecn != CWN_NOT_ECT;
}

static bool get_lifetime(const request *q, const json_token *t, int64_t *lifetime)
{
    *lifetime = CWP_NEVER;
    return json_is(member(q, t, "lifetime"), JSON_NULL) ||
           get_int_in(q, t, "lifetime", 1, CWP_LONGEST_SAMPLE, lifetime);
}

static bool get_event_fields(const request *q, const json_token *t, event *e)
{
    switch (e->kind) {
    case E_RECEIVE: return get_hex(q, t, "hex", &e->size) && get_ecn(q, t, &e->ecn);
    case E_SEND:
        return get_number(q, t, "channel", 0, CWC_CHANNELS - 1, &e->channel) && get_lifetime(q, t, &e->lifetime) &&
               get_hex(q, t, "data", &e->size);
    case E_READ: return get_number(q, t, "channel", 0, CWC_CHANNELS - 1, &e->channel);
    case E_SEND_CHUNK: return get_int_in(q, t, "size", 0, 2 * CW_MAX_CHUNK, &e->chunk_size);
    case E_CLOSE:
        e->text = member(q, t, "text");
        return get_number(q, t, "code", 0, UINT16_MAX, &e->code) && json_is(e->text, JSON_STRING);
    case E_PLACED: return get_bool(q, t, "changed", &e->changed);
    default: return true;
    }
}

static const char *get_event(const request *q, const json_token *t, bool moves, event *e)
{
    const json_token *name = member(q, t, "event");
    memset(e, 0, sizeof *e);
    if (!json_is(name, JSON_STRING)) {
        return BAD;
    }
    while (e->kind < EVENTS && !json_equals(&q->doc, name, event_names[e->kind])) {
        e->kind++;
    }
    if (e->kind == EVENTS || (e->kind >= E_MOVE && !moves)) {
        return "unsupported";
    }
    return get_event_fields(q, t, e) && get_int_in(q, t, "at", 0, LAST_TIME, &e->at) ? NULL : BAD;
}

static const char *check_events(const request *q, bool moves)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event any;
        const char *fault = get_event(q, t, moves, &any);
        if (fault != NULL) {
            return fault;
        }
    }
    return NULL;
}

/* What a step prints, besides what it can ask of the connection. */
typedef struct {
    int row; /* 0: none */
    const char *refused;
    int place;
    bool news;
    uint32_t marked;
    bool read, chunk;
    cwc_read what;
    size_t chunk_bytes;
} outcome;

static uint8_t chunk[2 * CW_MAX_CHUNK];
static uint8_t message[CWC_MOST_MESSAGE];

/* The datagrams are printed at once, in the order of the fields of a step: they, then their rows. */
static void run_poll(const conversation *c, const event *e)
{
    static bool ect[1 << 16];
    static int rows[1 << 16];
    uint8_t out[CWS_MAX_DATAGRAM];
    uint32_t num_rows = 0;
    uint32_t sent = 0;
    cwn_poll_result r;
    fputs("\"datagrams\":[", stdout);
    do {
        cwn_poll(c->connection, e->at, out, &r);
        memcpy(rows + num_rows, r.rows, r.num_rows * sizeof rows[0]);
        num_rows += r.num_rows;
        if (r.size > 0) {
            fputs(sent > 0 ? "," : "", stdout);
            print_hex(out, r.size);
            ect[sent++] = r.ect;
        }
    } while (r.size > 0 && num_rows + CWN_MOST_ROWS < 1 << 16);
    fputs("],\"rows\":[", stdout);
    for (uint32_t i = 0; i < num_rows; i++) {
        printf("%s\"K%d\"", i > 0 ? "," : "", rows[i]);
    }
    putchar(']');
    if ((c->config.agreed.extensions & CWS_MARKS) != 0) {
        fputs(",\"ecn\":{\"ect\":[", stdout);
        for (uint32_t i = 0; i < sent; i++) {
            printf("%s%s", i > 0 ? "," : "", ect[i] ? "true" : "false");
        }
        fputs("],\"marked\":0}", stdout);
    }
}

/* CXO-12 4 */
static const char *run_send_chunk(conversation *c, const event *e)
{
    uint32_t lanes = c->config.agreed.lanes > 0 ? c->config.agreed.lanes : 1;
    uint32_t id = c->submitted / lanes % 65536;
    const char *refused;
    for (size_t i = 0; i < (size_t)e->chunk_size; i++) {
        chunk[i] = content(id, i);
    }
    refused = cwn_send_chunk(c->connection, e->at, chunk, (size_t)e->chunk_size);
    c->submitted += refused == NULL;
    return refused;
}

static void run_event(const request *q, conversation *c, const event *e, outcome *o)
{
    cwn_receipt r;
    const uint8_t *text;
    switch (e->kind) {
    case E_RECEIVE:
        cwn_receive(c->connection, e->at, bytes, e->size, e->ecn, &r);
        o->row = r.row;
        o->refused = r.refused;
        o->place = r.place;
        o->news = r.news;
        o->marked = r.marked;
        break;
    case E_SEND:
        o->refused = cwn_send(c->connection, e->at, (uint8_t)e->channel, bytes, e->size, e->lifetime);
        break;
    case E_READ:
        o->read = cwn_read(c->connection, e->at, (uint8_t)e->channel, message, sizeof message, &o->what);
        break;
    case E_SEND_CHUNK: o->refused = run_send_chunk(c, e); break;
    case E_READ_CHUNK:
        o->chunk = cwn_read_chunk(c->connection, e->at, chunk, sizeof chunk, &o->chunk_bytes);
        break;
    case E_CLOSE:
        text = (const uint8_t *)json_text(&q->doc, e->text);
        o->refused = cwn_close(c->connection, e->at, e->code, text, e->text->length, &o->row);
        break;
    case E_TICK: cwn_end_tick(c->connection, e->at); break;
    case E_MOVE: cwn_move(c->connection, e->at); break;
    case E_MOVED: cwn_relinked(c->connection, e->at, true); break;
    case E_PLACED: cwn_relinked(c->connection, e->at, e->changed); break;
    default: o->row = cwn_end(c->connection, e->at); break;
    }
}

static void print_read(const outcome *o)
{
    fputs(",\"read\":", stdout);
    if (!o->read) {
        fputs("null", stdout);
    } else if (o->what.skipped) {
        printf("{\"sequence\":%u,\"skipped\":true}", (unsigned)cwp_on_wire(o->what.sequence));
    } else {
        printf("{\"sequence\":%u", (unsigned)cwp_on_wire(o->what.sequence));
        print_hex_field("data", message, o->what.size);
        putchar('}');
    }
    if (o->chunk) {
        printf(",\"chunk\":{\"size\":%zu,\"crc32\":%" PRIu32 "}", o->chunk_bytes, cw_crc32(0, chunk, o->chunk_bytes));
    } else {
        fputs(",\"chunk\":null", stdout);
    }
}

static void print_ended(const cwn_ending *e)
{
    static const char *const why[] = {"", "closed", "timeout", "failed", "lied", "ended"};
    if (e->why == CWN_E_NONE) {
        fputs(",\"ended\":null", stdout);
        return;
    }
    printf(",\"ended\":{\"why\":\"%s\"", why[e->why]);
    if (e->why == CWN_E_CLOSED) {
        printf(",\"code\":%" PRIu32 ",\"text\":", e->code);
        print_text(e->text, e->text_size);
        printf(",\"remote\":%s", e->remote ? "true" : "false");
    }
    putchar('}');
}

/* CXO-16 */
static void print_moves(const conversation *c, const outcome *o)
{
    const cwp_round_trip *t = &cwn_packets(c->connection)->round_trip;
    printf(",\"news\":%s,\"mode\":\"%s\",\"srtt\":", o->news ? "true" : "false",
           cwn_mode(c->connection) == CWP_GOOD ? "good" : "bad");
    if (t->measured) {
        printf("%" PRId64, t->srtt);
    } else {
        fputs("null", stdout);
    }
}

static void print_clock(const conversation *c)
{
    cwn_remote r;
    if (cwn_remote_clock(c->connection, &r)) {
        printf(",\"clock\":{\"rtt\":%" PRId64 ",\"low\":%" PRId64 ",\"high\":%" PRId64 "}", r.rtt, r.low, r.high);
    }
}

static void run_step(const request *q, conversation *c, const event *e)
{
    static const char *const states[] = {"OPEN", "CLOSING", "CLOSED"};
    outcome o;
    memset(&o, 0, sizeof o);
    o.place = -1;
    putchar('{');
    if (e->kind == E_POLL) {
        run_poll(c, e);
    } else {
        run_event(q, c, e, &o);
        fputs("\"datagrams\":[],\"rows\":[", stdout);
        printf(o.row != 0 ? "\"K%d\"]" : "]", o.row);
        if ((c->config.agreed.extensions & CWS_MARKS) != 0) {
            printf(",\"ecn\":{\"ect\":[],\"marked\":%" PRIu32 "}", o.marked);
        }
    }
    printf(",\"state\":\"%s\"", states[cwn_state_of(c->connection)]);
    print_refused(o.refused, o.refused != NULL && e->kind != E_RECEIVE ? -1 : o.place);
    print_read(&o);
    print_ended(cwn_ending_of(c->connection));
    print_clock(c);
    if (c->moves) {
        print_moves(c, &o);
    }
    print_deadline("deadline", cwn_deadline(c->connection));
}

static const char *converse(const request *q, bool moves)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    conversation c;
    const char *fault;
    memset(&c, 0, sizeof c);
    fault = get_conversation(q, &c) ? check_events(q, moves) : BAD;
    if (fault != NULL) {
        return fault;
    }
    c.moves = moves;
    c.connection = cwn_new(c.begin, &c.envelope, &c.config);
    if (c.connection == NULL) {
        return BAD;
    }
    answer_ok(q, "steps");
    putchar('[');
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event e;
        (void)get_event(q, t, moves, &e);
        fputs(i > 0 ? "," : "", stdout);
        run_step(q, &c, &e);
    }
    puts("]}");
    cwn_free(c.connection);
    return NULL;
}

const char *connection(const request *q) { return converse(q, false); }
const char *connection_moves(const request *q) { return converse(q, true); }
