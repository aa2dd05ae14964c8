/* The port's operations of connections. Comments such as CXO-11 name sentences of
 * spec/CONNECTION.md. */
#include "chunkwire_connection.h"
#include "port_session.h"

#include <inttypes.h>
#include <stdio.h>
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
    cwn_limits l = {&channels, 0, 0, false};
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

/* A string of JSON; what is not ASCII stays as it is. */
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
    default: print_channel_record(&r->channel); break;
    }
}

const char *connection_decode(const request *q)
{
    cwc_config any = any_kind();
    cwc_channels channels = all_channels(&any);
    cwn_limits l = {&channels, 0, 0, false};
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
