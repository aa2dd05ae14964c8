/* The records of a connection (section 7). See chunkwire_connection.h. */
#include "chunkwire_connection.h"

#include <string.h>

enum { CLOSE_HEAD = 4, BITS = 8 };

static const char *fault(const char *code, size_t at, size_t *place)
{
    *place = at;
    return code;
}

/* ---- UTF-8 (RFC 3629) --------------------------------------------------------- */

/* The bytes of the character that begins here, and the least and most second byte of it; 0: none does. */
static size_t character(uint8_t first, uint8_t *low, uint8_t *high)
{
    *low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    *high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xC2 || first > 0xF4) {
        return 0;
    }
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

static bool is_text(const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint8_t low;
        uint8_t high;
        size_t n = character(text[at], &low, &high);
        if (n == 0 || n > size - at) {
            return false;
        }
        for (size_t i = 1; i < n; i++) {
            if (text[at + i] < low || text[at + i] > high) {
                return false;
            }
            low = 0x80;
            high = 0xBF;
        }
        at += n;
    }
    return true;
}

/* ---- Decoding ----------------------------------------------------------------- */

/* A number of n bytes, the low one first, if it is whole. */
static bool get(const uint8_t *payload, size_t size, size_t *at, size_t n, uint32_t *v)
{
    if (size - *at < n) {
        return false;
    }
    *v = 0;
    for (size_t i = n; i > 0; i--) {
        *v = *v << BITS | payload[*at + i - 1];
    }
    *at += n;
    return true;
}

static const char *decode_close(const uint8_t *payload, size_t size, size_t *at, cwn_record *r)
{
    size_t type_at = *at - 1;
    uint32_t length;
    if (type_at != 0) {
        return fault("not_alone", type_at, at);
    }
    if (!get(payload, size, at, 2, &r->code) || !get(payload, size, at, 1, &length)) {
        return "truncated";
    }
    if (length > CWN_MOST_TEXT) {
        return fault("length", *at - 1, at);
    }
    if (size - *at < length) {
        return "truncated";
    }
    r->text = payload + *at;
    r->text_size = length;
    if (!is_text(r->text, length)) {
        return "text";
    }
    *at += length;
    return *at < size ? "not_alone" : NULL;
}

static const char *decode_body(const cwn_limits *l, cw_type type, const uint8_t *in, size_t length, size_t *at,
                               cwn_record *r)
{
    size_t bits;
    cw_error e = l->variant == CWS_REPAIR ? cwr_decode_body(type, in, length, &r->body.repair, &bits)
                                          : cw_decode_body(type, in, length, &r->body.named, &bits);
    if (e != CW_OK) {
        *at += bits / BITS;
        return cw_error_name(e);
    }
    *at += length;
    return NULL;
}

static const char *decode_lane(const cwn_limits *l, const uint8_t *payload, size_t size, size_t *at, cwn_record *r)
{
    uint32_t v;
    if (!get(payload, size, at, 1, &v)) {
        return "truncated";
    }
    r->lane = v;
    if (v >= l->lanes) {
        return fault("lane", *at - 1, at);
    }
    if (r->type == CWN_SLICE) {
        return decode_body(l, CW_SLICE, payload + *at, size - *at, at, r);
    }
    if (!get(payload, size, at, 1, &v) || size - *at < v) {
        return "truncated";
    }
    return decode_body(l, CW_ACK, payload + *at, v, at, r);
}

static const char *decode_ecn(const uint8_t *payload, size_t size, size_t *at, cwn_record *r)
{
    return get(payload, size, at, 2, &r->arrived) && get(payload, size, at, 2, &r->congested) ? NULL : "truncated";
}

static const char *decode_clock(const uint8_t *payload, size_t size, size_t *at, cwn_record *r)
{
    uint32_t low = 0;
    uint32_t high = 0;
    if (size - *at < 6) { /* one field */
        return "truncated";
    }
    (void)get(payload, size, at, 4, &low);
    (void)get(payload, size, at, 2, &high);
    r->sent = (uint64_t)high << 32 | low;
    return get(payload, size, at, 4, &r->echo) && get(payload, size, at, 4, &r->wait) ? NULL : "truncated";
}

static bool is_ours(const cwn_limits *l, int64_t type)
{
    return (type >= CWN_CLOSE && type <= CWN_CHUNK_ACK) || (type == CWN_ECN && l->marks) ||
           (type == CWN_CLOCK && l->clocks);
}

const char *cwn_decode(const cwn_limits *l, const uint8_t *payload, size_t size, size_t *at, cwn_record *r)
{
    cwc_error e;
    memset(r, 0, sizeof *r);
    r->type = *at < size ? payload[*at] : CWC_PAD;
    if (is_ours(l, r->type)) {
        ++*at;
        return r->type == CWN_CLOSE   ? decode_close(payload, size, at, r)
               : r->type == CWN_ECN   ? decode_ecn(payload, size, at, r)
               : r->type == CWN_CLOCK ? decode_clock(payload, size, at, r)
                                      : decode_lane(l, payload, size, at, r);
    }
    e = cwc_decode(l->channels, payload, size, at, &r->channel);
    return e == CWC_OK ? NULL : cwc_error_name(e);
}

const char *cwn_check(const cwn_limits *l, const uint8_t *payload, size_t size, size_t *place)
{
    const char *code;
    cwn_record r;
    *place = 0;
    do {
        code = cwn_decode(l, payload, size, place, &r);
    } while (code == NULL && *place < size);
    return code;
}

bool cwn_is_quiet(const cwn_record *r)
{
    return r->type == CWC_PAD || r->type == CWC_REPORT || r->type == CWN_CLOSE || r->type == CWN_CHUNK_ACK ||
           r->type == CWN_ECN || r->type == CWN_CLOCK;
}

/* ---- Encoding ----------------------------------------------------------------- */

static void put(uint8_t *out, uint32_t v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(v >> (BITS * i) & 0xFF);
    }
}

static const char *append_close(const cwn_record *r, cwn_payload *p, size_t *place)
{
    uint8_t *out = p->bytes + p->size;
    if (p->size > 0) {
        return fault("not_alone", p->size, place);
    }
    if (r->text_size > CWN_MOST_TEXT) {
        return fault("length", CLOSE_HEAD - 1, place);
    }
    if (!is_text(r->text, r->text_size)) {
        return fault("text", CLOSE_HEAD, place);
    }
    if (p->capacity < CLOSE_HEAD + r->text_size) {
        return fault("no_space", 0, place);
    }
    put(out, CWN_CLOSE, 1);
    put(out + 1, r->code, 2);
    put(out + 3, (uint32_t)r->text_size, 1);
    if (r->text_size > 0) {
        memcpy(out + CLOSE_HEAD, r->text, r->text_size);
    }
    p->size += CLOSE_HEAD + r->text_size;
    return NULL;
}

static const char *append_on_lane(const cwn_limits *l, const cwn_record *r, cwn_payload *p, size_t *place)
{
    size_t head = r->type == CWN_SLICE ? 2 : 3;
    uint8_t *out = p->bytes + p->size;
    size_t length = 0;
    cw_error e;
    if (r->lane < 0 || r->lane >= (int64_t)l->lanes) {
        return fault("lane", p->size + 1, place);
    }
    if (p->capacity - p->size < head) {
        return fault("no_space", p->size, place);
    }
    e = l->variant == CWS_REPAIR
            ? cwr_encode_body(&r->body.repair, out + head, p->capacity - p->size - head, &length)
            : cw_encode_body(&r->body.named, out + head, p->capacity - p->size - head, &length);
    if (e != CW_OK) {
        return fault(e == CW_NO_SPACE ? "no_space" : "invalid_field", p->size + head, place);
    }
    put(out, (uint32_t)r->type, 1);
    put(out + 1, (uint32_t)r->lane, 1);
    if (r->type == CWN_CHUNK_ACK) {
        put(out + 2, (uint32_t)length, 1);
    }
    p->size += head + length;
    return NULL;
}

static const char *append_ecn(const cwn_limits *l, const cwn_record *r, cwn_payload *p, size_t *place)
{
    uint8_t *out = p->bytes + p->size;
    if (!l->marks) {
        return fault("unknown_record", p->size, place);
    }
    if (p->capacity - p->size < CWN_ECN_BYTES) {
        return fault("no_space", p->size, place);
    }
    put(out, CWN_ECN, 1);
    put(out + 1, r->arrived, 2);
    put(out + 3, r->congested, 2);
    p->size += CWN_ECN_BYTES;
    return NULL;
}

static const char *append_clock(const cwn_limits *l, const cwn_record *r, cwn_payload *p, size_t *place)
{
    uint8_t *out = p->bytes + p->size;
    if (!l->clocks) {
        return fault("unknown_record", p->size, place);
    }
    if (p->capacity - p->size < CWN_CLOCK_BYTES) {
        return fault("no_space", p->size, place);
    }
    put(out, CWN_CLOCK, 1);
    put(out + 1, (uint32_t)(r->sent & UINT32_MAX), 4);
    put(out + 5, (uint32_t)(r->sent >> 32), 2);
    put(out + 7, r->echo, 4);
    put(out + 11, r->wait, 4);
    p->size += CWN_CLOCK_BYTES;
    return NULL;
}

static const char *append(const cwn_limits *l, const cwn_record *r, cwn_payload *p, size_t *place)
{
    cwc_error e;
    switch (r->type) {
    case CWN_CLOSE: return append_close(r, p, place);
    case CWN_SLICE:
    case CWN_CHUNK_ACK: return append_on_lane(l, r, p, place);
    case CWN_ECN: return append_ecn(l, r, p, place);
    case CWN_CLOCK: return append_clock(l, r, p, place);
    default: break;
    }
    e = cwc_append(l->channels, &r->channel, p->bytes, p->capacity, &p->size, place);
    return e == CWC_OK ? NULL : cwc_error_name(e);
}

const char *cwn_append(const cwn_limits *l, const cwn_record *r, cwn_payload *p, size_t *place)
{
    const char *code;
    if (p->size > 0 && p->last == CWC_PAD) { /* CXR-27 */
        return fault("unknown_record", 0, place);
    }
    if (p->size > 0 && (p->last == CWN_CLOSE || p->last == CWN_SLICE)) { /* CXR-24, CXR-8 */
        return fault(p->last == CWN_CLOSE ? "not_alone" : "trailing_data", p->size, place);
    }
    code = append(l, r, p, place);
    if (code == NULL) {
        p->last = r->type;
        p->loud = p->loud || !cwn_is_quiet(r);
    }
    return code;
}
