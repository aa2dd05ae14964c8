/* The port's operations of the packet layer. Comments such as PKO-4 name sentences of
 * spec/PACKETS.md. */
#include "chunkwire_packet.h"
#include "port.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAGMENTS = 256 };

#define LAST_TIME (TIME_END - 1)

/* PKF-4 */
const char *packet_header(const request *q)
{
    int64_t sequence;
    int64_t ack;
    int64_t ack_bits;
    uint8_t out[CWP_MAX_HEADER];
    size_t n;
    cwp_header h;
    if (!get_int(q, q->root, "sequence", &sequence) || !get_int(q, q->root, "ack", &ack) ||
        !get_int(q, q->root, "ack_bits", &ack_bits)) {
        return BAD;
    }
    h.sequence = cwp_on_wire(sequence);
    h.ack = cwp_on_wire(ack);
    h.ack_bits = (uint32_t)((uint64_t)ack_bits & UINT32_MAX);
    if (h.sequence != sequence || h.ack != ack || h.ack_bits != ack_bits) {
        answer_error_at(q, "invalid_field", -1);
        return NULL;
    }
    answer_ok(q, "hex");
    n = cwp_encode_header(&h, out);
    print_hex(out, n);
    puts("}");
    return NULL;
}

/* PKO-3 */
static void print_packet(const cwp_packet *p)
{
    printf("{\"kind\":\"%s\",\"sequence\":%u", p->kind == CWP_REGULAR ? "regular" : "fragment", (unsigned)p->sequence);
    if (p->kind == CWP_FRAGMENT) {
        printf(",\"fragment_id\":%" PRIu32 ",\"num_fragments\":%" PRIu32, p->fragment_id, p->num_fragments);
    }
    if (p->has_header) {
        printf(",\"ack\":%u,\"ack_bits\":%" PRIu32, (unsigned)p->header.ack, p->header.ack_bits);
    }
    printf(",\"%s\":", p->kind == CWP_REGULAR ? "payload" : "data");
    print_hex(p->data, p->size);
    putchar('}');
}

const char *packet_decode(const request *q)
{
    int64_t fragment_size;
    int64_t max_fragments;
    size_t n;
    size_t place;
    cwp_packet p;
    cwp_error e;
    if (!get_int_in(q, q->root, "fragment_size", 1, CWP_MAX_REGULAR, &fragment_size) ||
        !get_int_in(q, q->root, "max_fragments", 1, MOST_FRAGMENTS, &max_fragments) ||
        !get_hex(q, q->root, "hex", &n)) {
        return BAD;
    }
    e = cwp_decode(bytes, n, (size_t)fragment_size, (uint32_t)max_fragments, &p, &place);
    if (e != CWP_OK) {
        answer_error_at(q, cwp_error_name(e), (int)place);
        return NULL;
    }
    answer_ok(q, "packet");
    print_packet(&p);
    puts("}");
    return NULL;
}

/* ---- Congestion (PKO-6) ----------------------------------------------------- */

typedef struct {
    int64_t at;
    cwp_round_trip round_trip;
    bool silent;
} conditions;

static bool get_conditions(const request *q, const json_token *t, conditions *c)
{
    c->round_trip.measured = !json_is(member(q, t, "srtt"), JSON_NULL);
    c->round_trip.srtt = 0;
    c->round_trip.min_rtt = 0;
    return get_int_in(q, t, "at", 0, LAST_TIME, &c->at) &&
           (!c->round_trip.measured || get_int_in(q, t, "srtt", 0, CWP_LONGEST_SAMPLE, &c->round_trip.srtt)) &&
           (member(q, t, "min_rtt") == NULL ||
            get_int_in(q, t, "min_rtt", 0, CWP_LONGEST_SAMPLE, &c->round_trip.min_rtt)) &&
           get_bool(q, t, "silent", &c->silent);
}

static bool get_profile(const request *q, cwp_profile *profile)
{
    const json_token *t = member(q, member(q, q->root, "config"), "profile");
    *profile = json_equals(&q->doc, t, "article") ? CWP_ARTICLE : CWP_DEFAULT;
    return *profile == CWP_ARTICLE || json_equals(&q->doc, t, "default");
}

static const char *check_conditions(const request *q, const json_token *events)
{
    conditions any;
    const json_token *t;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        if (!get_conditions(q, t, &any)) {
            return BAD;
        }
    }
    return NULL;
}

const char *packet_congestion(const request *q)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t;
    cwp_profile profile;
    cwp_congestion machine;
    const char *fault = get_profile(q, &profile) ? check_conditions(q, events) : BAD;
    if (fault != NULL) {
        return fault;
    }
    cwp_congestion_init(&machine, profile);
    answer_ok(q, "steps");
    putchar('[');
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        conditions c;
        (void)get_conditions(q, t, &c);
        (void)cwp_congestion_evaluate(&machine, c.at, &c.round_trip, c.silent);
        printf("%s{\"mode\":\"%s\",\"recovery\":%" PRId64 "}", i > 0 ? "," : "",
               machine.mode == CWP_GOOD ? "good" : "bad", machine.recovery);
    }
    puts("]}");
    return NULL;
}

/* ---- Endpoint (PKO-4, PKO-5, PKO-7, PKO-8) ------------------------------------ */

typedef enum { SEND, RECEIVE, POLL, QUIET, ABOVE } event_kind;

typedef struct {
    event_kind kind;
    int64_t at;
    size_t size; /* of the payload or the datagram, in bytes */
    cwp_verdict says;
} event;

/* The numbers of the events of one step. */
typedef struct {
    uint32_t count;
    uint32_t capacity;
    uint16_t *number;
} numbers;

typedef struct {
    numbers acked, lost;
    cwp_verdict says; /* of the layer above */
} news;

/* A conversation; with estimates it is one of packet_estimates. */
typedef struct {
    cwp_endpoint endpoint;
    cwp_congestion congestion;
    news happened;
    bool estimates;
} conversation;

static void add_number(numbers *s, int64_t number)
{
    if (s->count == s->capacity) {
        s->capacity = 2 * s->capacity + 32;
        s->number = (uint16_t *)realloc(s->number, s->capacity * sizeof *s->number);
        if (s->number == NULL) {
            abort();
        }
    }
    s->number[s->count++] = cwp_on_wire(number);
}

static void on_acked(void *owner, int64_t number) { add_number(&((news *)owner)->acked, number); }
static void on_lost(void *owner, int64_t number) { add_number(&((news *)owner)->lost, number); }

static cwp_verdict verdict(void *owner, const cwp_arrival *a)
{
    (void)a;
    return ((const news *)owner)->says;
}

static void print_numbers(const char *name, numbers *s)
{
    printf(",\"%s\":[", name);
    for (uint32_t i = 0; i < s->count; i++) {
        printf("%s%u", i > 0 ? "," : "", (unsigned)s->number[i]);
    }
    putchar(']');
    s->count = 0;
}

static void *heap_take(void *owner, size_t size)
{
    (void)owner;
    return malloc(size);
}

static void heap_give(void *owner, void *block, size_t size)
{
    (void)owner;
    (void)size;
    free(block);
}

cwp_memory heap_of_layers(void)
{
    cwp_memory heap = {heap_take, heap_give, NULL};
    return heap;
}

static bool get_endpoint_config(const request *q, cwp_config *c)
{
    const json_token *t = member(q, q->root, "config");
    int64_t size;
    int64_t most;
    int64_t above;
    *c = cwp_default_config();
    if (!get_int_in(q, t, "fragment_size", 1, CWP_MAX_REGULAR, &size) ||
        !get_int_in(q, t, "max_fragments", 2, MOST_FRAGMENTS, &most) ||
        !get_int_in(q, t, "fragment_above", size, CWP_MAX_REGULAR, &above) ||
        !get_int_in(q, t, "next_to_send", 0, CWP_MOST_FIRST, &c->first_sent) ||
        !get_int_in(q, t, "next_to_receive", 0, CWP_MOST_FIRST, &c->first_received)) {
        return false;
    }
    c->fragment_size = (size_t)size;
    c->max_fragments = (uint32_t)most;
    c->fragment_above = (size_t)above;
    return true;
}

static bool get_verdict(const request *q, const json_token *t, cwp_verdict *says)
{
    const json_token *name = member(q, t, "says");
    *says = json_equals(&q->doc, name, "take")      ? CWP_TAKE
            : json_equals(&q->doc, name, "quietly") ? CWP_TAKE_QUIETLY
                                                    : CWP_REFUSE;
    return *says != CWP_REFUSE || json_equals(&q->doc, name, "refuse");
}

static const char *get_event(const request *q, const json_token *t, bool estimates, event *e)
{
    const json_token *name = member(q, t, "event");
    bool ok = true;
    e->size = 0;
    if (json_equals(&q->doc, name, "send")) {
        e->kind = SEND;
        ok = get_hex(q, t, "payload", &e->size);
    } else if (json_equals(&q->doc, name, "receive")) {
        e->kind = RECEIVE;
        ok = get_hex(q, t, "datagram", &e->size);
    } else if (json_equals(&q->doc, name, "poll")) {
        e->kind = POLL;
    } else if (estimates && json_equals(&q->doc, name, "quiet")) {
        e->kind = QUIET;
        ok = get_hex(q, t, "payload", &e->size);
    } else if (estimates && json_equals(&q->doc, name, "above")) {
        e->kind = ABOVE;
        ok = get_verdict(q, t, &e->says);
    } else {
        return json_is(name, JSON_STRING) ? "unsupported" : BAD;
    }
    return ok && get_int_in(q, t, "at", 0, LAST_TIME, &e->at) ? NULL : BAD;
}

static const char *check_events(const request *q, const json_token *events, bool estimates)
{
    const json_token *t;
    const char *fault = NULL;
    event any;
    if (!json_is(events, JSON_ARRAY)) {
        return BAD;
    }
    t = json_first(&q->doc, events);
    for (uint32_t i = 0; fault == NULL && i < events->count; i++, t = json_after(&q->doc, t)) {
        fault = get_event(q, t, estimates, &any);
    }
    return fault;
}

static void print_datagrams(const cwp_endpoint *e, const cwp_sent *s)
{
    uint8_t out[CWP_MAX_DATAGRAM];
    for (uint32_t i = 0; i < s->datagrams; i++) {
        size_t n = cwp_sent_datagram(e, s, i, out);
        if (i > 0) {
            putchar(',');
        }
        print_hex(out, n);
    }
}

static void print_delivered(const cwp_receipt *r)
{
    fputs("],\"delivered\":", stdout);
    if (r->payload == NULL) {
        fputs("null", stdout);
        return;
    }
    printf("{\"sequence\":%u,\"payload\":", (unsigned)cwp_on_wire(r->number));
    print_hex(r->payload, r->size);
    putchar('}');
}

static void evaluate(conversation *c)
{
    const cwp_endpoint *e = &c->endpoint;
    (void)cwp_congestion_evaluate(&c->congestion, e->latest, &e->round_trip, cwp_silent(e));
}

static void print_or_null(const char *name, bool known, int64_t v)
{
    if (known) {
        printf("\"%s\":%" PRId64 ",", name, v);
    } else {
        printf("\"%s\":null,", name);
    }
}

static void print_shown(const cwp_shown *s)
{
    cwp_figures f;
    if (!cwp_shown_figures(s, &f)) {
        fputs("\"shown\":null,", stdout);
        return;
    }
    printf("\"shown\":{\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"avg\":%" PRId64, f.min, f.max, f.avg);
    printf(",\"jitter_avg\":%" PRId64 ",\"jitter_max\":%" PRId64, f.jitter_avg, f.jitter_max);
    printf(",\"jitter_dev\":%" PRId64 "},", f.jitter_dev);
}

/* PKO-8 */
static void print_estimates(conversation *c)
{
    cwp_endpoint *e = &c->endpoint;
    const cwp_round_trip *r = &e->round_trip;
    cwp_time now = e->latest;
    int loss = cwp_loss_per_mille(&e->loss, now);
    cwp_time at = cwp_congestion_deadline(&c->congestion);
    at = cwp_deadline(e) < at ? cwp_deadline(e) : at;
    fputs(",\"estimates\":{", stdout);
    print_or_null("srtt", r->measured, r->srtt);
    printf("\"jitter\":%" PRId64 ",\"latest\":%" PRId64 ",\"min_rtt\":%" PRId64, r->jitter, r->latest, r->min_rtt);
    printf(",\"patience\":%" PRId64 ",", cwp_patience_at(&e->patience, now));
    print_or_null("loss", loss >= 0, loss);
    printf("\"sent\":%" PRIu64, cwp_seconds_rate(&e->bytes_sent, now));
    printf(",\"received\":%" PRIu64, cwp_seconds_rate(&e->bytes_received, now));
    printf(",\"acked\":%" PRIu64 ",", cwp_seconds_rate(&e->bytes_acked, now));
    print_shown(&e->shown);
    print_or_null("deadline", at != CWP_NEVER, at);
    printf("\"mode\":\"%s\"", c->congestion.mode == CWP_GOOD ? "good" : "bad");
    printf(",\"recovery\":%" PRId64 "}", c->congestion.recovery);
}

/* Whether a packet is to be sent. */
static bool run_kind(conversation *c, const event *v, cwp_receipt *r, cwp_sent *s)
{
    cwp_endpoint *e = &c->endpoint;
    bool sent = false;
    switch (v->kind) {
    case SEND:
    case QUIET:
        r->error = cwp_send(e, v->at, bytes, v->size, v->kind == QUIET, s);
        sent = r->error == CWP_OK;
        break;
    case RECEIVE: cwp_receive(e, v->at, bytes, v->size, r); break;
    case POLL: sent = cwp_poll(e, v->at, s); break;
    default: c->happened.says = v->says; break;
    }
    if (v->kind == POLL || r->sampled) {
        evaluate(c);
    }
    return sent;
}

static void run_event(conversation *c, const event *v)
{
    cwp_receipt r = {CWP_P_NONE, CWP_OK, -1, 0, NULL, 0, false};
    cwp_sent s;
    bool sent = run_kind(c, v, &r, &s);
    fputs("{\"datagrams\":[", stdout);
    if (sent) {
        print_datagrams(&c->endpoint, &s);
    }
    print_delivered(&r);
    print_numbers("acked", &c->happened.acked);
    print_numbers("lost", &c->happened.lost);
    if (r.error == CWP_OK) {
        fputs(",\"refused\":null", stdout);
    } else {
        printf(",\"refused\":{\"error\":\"%s\",\"at\":%d}", cwp_error_name(r.error), r.place);
    }
    if (c->estimates) {
        print_estimates(c);
    }
    putchar('}');
}

static void run_events(const request *q, conversation *c)
{
    const json_token *events = member(q, q->root, "events");
    const json_token *t = json_first(&q->doc, events);
    for (uint32_t i = 0; i < events->count; i++, t = json_after(&q->doc, t)) {
        event v;
        (void)get_event(q, t, c->estimates, &v);
        if (i > 0) {
            putchar(',');
        }
        run_event(c, &v);
    }
}

static const char *converse(const request *q, bool estimates)
{
    static uint8_t assembly[CWP_MAX_REGULAR * MOST_FRAGMENTS];
    conversation c;
    cwp_above above = {verdict, on_acked, on_lost, NULL};
    cwp_config config;
    const char *fault =
        get_endpoint_config(q, &config) ? check_events(q, member(q, q->root, "events"), estimates) : BAD;
    if (fault != NULL) {
        return fault;
    }
    memset(&c, 0, sizeof c);
    c.estimates = estimates;
    above.owner = &c.happened;
    cwp_congestion_init(&c.congestion, CWP_DEFAULT);
    if (!cwp_endpoint_init(&c.endpoint, &config, heap_of_layers(), above, assembly)) {
        return BAD;
    }
    answer_ok(q, "steps");
    putchar('[');
    run_events(q, &c);
    puts("]}");
    cwp_endpoint_end(&c.endpoint);
    free(c.happened.acked.number);
    free(c.happened.lost.number);
    return NULL;
}

const char *packet_endpoint(const request *q) { return converse(q, false); }
const char *packet_estimates(const request *q) { return converse(q, true); }
