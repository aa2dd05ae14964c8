/* Headers, packets and fragments as bytes (section 3). See chunkwire_packet.h. */
#include "chunkwire_packet.h"

#include <string.h>

enum {
    FRAGMENT = 0x01,
    DISTANCE = 0x20,
    NOT_OF_A_HEADER = 0xC1,
    FULL = 0xFF,
    LONGEST_DISTANCE = 255
};

const char *cwp_error_name(cwp_error e)
{
    switch (e) {
    case CWP_OK: return "ok";
    case CWP_TRUNCATED: return "truncated";
    case CWP_RESERVED_BITS: return "reserved_bits";
    case CWP_NOT_MINIMAL: return "not_minimal";
    case CWP_EMPTY_PAYLOAD: return "empty_payload";
    case CWP_TOO_LARGE: return "too_large";
    case CWP_TOO_MANY_FRAGMENTS: return "too_many_fragments";
    case CWP_SINGLE_FRAGMENT: return "single_fragment";
    case CWP_FRAGMENT_ID_OUT_OF_RANGE: return "fragment_id_out_of_range";
    case CWP_SEQUENCE_MISMATCH: return "sequence_mismatch";
    case CWP_FRAGMENT_SIZE: return "fragment_size";
    case CWP_STALE: return "stale";
    case CWP_DUPLICATE: return "duplicate";
    case CWP_DEAD: return "dead";
    case CWP_FRAGMENT_COUNT: return "fragment_count";
    case CWP_FRAGMENT_DUPLICATE: return "fragment_duplicate";
    case CWP_REASSEMBLY_FULL: return "reassembly_full";
    case CWP_REFUSED: return "refused";
    case CWP_PAYLOAD_SIZE: return "payload_size";
    case CWP_NO_MEMORY: return "no_memory";
    case CWP_ERRORS: break;
    }
    return "unknown";
}

/* ---- Encoding --------------------------------------------------------------- */

static size_t put16(uint8_t *out, uint16_t v)
{
    out[0] = (uint8_t)(v & 0xFF);
    out[1] = (uint8_t)(v >> 8);
    return 2;
}

static uint16_t distance(uint16_t sequence, uint16_t ack) { return (uint16_t)(sequence - ack); }

static uint8_t byte_of(uint32_t bits, unsigned i) { return (uint8_t)(bits >> (8 * i) & 0xFF); }

size_t cwp_encode_header(const cwp_header *h, uint8_t out[CWP_MAX_HEADER])
{
    unsigned prefix = 0;
    uint16_t d = distance(h->sequence, h->ack);
    size_t n = 1;
    n += put16(out + n, h->sequence);
    if (d <= LONGEST_DISTANCE) {
        prefix |= DISTANCE;
        out[n++] = (uint8_t)d;
    } else {
        n += put16(out + n, h->ack);
    }
    for (unsigned i = 0; i < 4; i++) {
        if (byte_of(h->ack_bits, i) != FULL) {
            prefix |= 2u << i;
            out[n++] = byte_of(h->ack_bits, i);
        }
    }
    out[0] = (uint8_t)prefix;
    return n;
}

uint32_t cwp_num_datagrams(size_t size, size_t fragment_size, size_t above)
{
    return size <= above ? 1 : (uint32_t)((size + fragment_size - 1) / fragment_size);
}

size_t cwp_encode_datagram(const cwp_header *h, const uint8_t *payload, size_t size, size_t fragment_size,
                           size_t above, uint32_t i, uint8_t out[CWP_MAX_DATAGRAM])
{
    uint32_t count = cwp_num_datagrams(size, fragment_size, above);
    size_t start = (size_t)i * fragment_size;
    size_t n = 0;
    if (count > 1) {
        out[n++] = FRAGMENT;
        n += put16(out + n, h->sequence);
        out[n++] = (uint8_t)i;
        out[n++] = (uint8_t)(count - 1);
        payload += start;
        size = size - start < fragment_size ? size - start : fragment_size;
    }
    if (i == 0) {
        n += cwp_encode_header(h, out + n);
    }
    memcpy(out + n, payload, size);
    return n + size;
}

/* ---- Decoding --------------------------------------------------------------- */

typedef struct {
    const uint8_t *data;
    size_t length;
    size_t at; /* left at the place of a fault */
} reader;

static bool get8(reader *r, uint8_t *v)
{
    if (r->length - r->at < 1) {
        return false;
    }
    *v = r->data[r->at++];
    return true;
}

static bool get16(reader *r, uint16_t *v)
{
    if (r->length - r->at < 2) {
        return false;
    }
    *v = (uint16_t)(r->data[r->at] | r->data[r->at + 1] << 8);
    r->at += 2;
    return true;
}

/* PKD-4 */
static cwp_error get_ack(reader *r, unsigned prefix, cwp_header *h)
{
    size_t start = r->at;
    if (prefix & DISTANCE) {
        uint8_t d;
        if (!get8(r, &d)) {
            return CWP_TRUNCATED;
        }
        h->ack = (uint16_t)(h->sequence - d);
        return CWP_OK;
    }
    if (!get16(r, &h->ack)) {
        return CWP_TRUNCATED;
    }
    if (distance(h->sequence, h->ack) <= LONGEST_DISTANCE) {
        r->at = start;
        return CWP_NOT_MINIMAL;
    }
    return CWP_OK;
}

/* PKD-5 */
static cwp_error get_ack_bits(reader *r, unsigned prefix, cwp_header *h)
{
    h->ack_bits = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t v = FULL;
        if (prefix & 2u << i) {
            if (!get8(r, &v)) {
                return CWP_TRUNCATED;
            }
            if (v == FULL) {
                r->at--;
                return CWP_NOT_MINIMAL;
            }
        }
        h->ack_bits |= (uint32_t)v << (8 * i);
    }
    return CWP_OK;
}

/* PKD-2 to PKD-5, of a regular packet or within fragment 0. */
static cwp_error get_header(reader *r, cwp_header *h)
{
    uint8_t prefix;
    cwp_error e;
    if (!get8(r, &prefix)) {
        return CWP_TRUNCATED;
    }
    if (prefix & NOT_OF_A_HEADER) {
        r->at--;
        return CWP_RESERVED_BITS;
    }
    if (!get16(r, &h->sequence)) {
        return CWP_TRUNCATED;
    }
    e = get_ack(r, prefix, h);
    return e != CWP_OK ? e : get_ack_bits(r, prefix, h);
}

static cwp_error get_regular(reader *r, size_t max_packet, cwp_packet *p)
{
    cwp_error e = get_header(r, &p->header);
    if (e != CWP_OK) {
        return e;
    }
    p->has_header = true;
    p->sequence = p->header.sequence;
    p->data = r->data + r->at;
    p->size = r->length - r->at;
    if (p->size == 0) { /* PKD-6 */
        return CWP_EMPTY_PAYLOAD;
    }
    return p->size > max_packet ? CWP_TOO_LARGE : CWP_OK;
}

/* PKD-10 */
static cwp_error get_embedded(reader *r, cwp_packet *p)
{
    size_t start = r->at;
    cwp_error e = get_header(r, &p->header);
    if (e == CWP_OK && p->header.sequence != p->sequence) {
        r->at = start + 1;
        e = CWP_SEQUENCE_MISMATCH;
    }
    p->has_header = e == CWP_OK;
    return e;
}

/* PKD-3, PKD-7 to PKD-9; the prefix is read. */
static cwp_error get_fragment_fields(reader *r, uint32_t max_fragments, cwp_packet *p)
{
    uint8_t id;
    uint8_t last;
    if (!get16(r, &p->sequence) || !get8(r, &id) || !get8(r, &last)) {
        return CWP_TRUNCATED;
    }
    p->fragment_id = id;
    p->num_fragments = last + 1u;
    r->at--;
    if (p->num_fragments > max_fragments) {
        return CWP_TOO_MANY_FRAGMENTS;
    }
    if (p->num_fragments < 2) {
        return CWP_SINGLE_FRAGMENT;
    }
    if (p->fragment_id >= p->num_fragments) {
        r->at--;
        return CWP_FRAGMENT_ID_OUT_OF_RANGE;
    }
    r->at++;
    return CWP_OK;
}

static cwp_error get_fragment(reader *r, size_t fragment_size, uint32_t max_fragments, cwp_packet *p)
{
    cwp_error e = get_fragment_fields(r, max_fragments, p);
    size_t least = fragment_size;
    if (e == CWP_OK && p->fragment_id == 0) {
        e = get_embedded(r, p);
    }
    if (e != CWP_OK) {
        return e;
    }
    p->data = r->data + r->at;
    p->size = r->length - r->at;
    if (p->fragment_id == p->num_fragments - 1) {
        least = 1;
    }
    return p->size < least || p->size > fragment_size ? CWP_FRAGMENT_SIZE : CWP_OK; /* PKD-11 */
}

static cwp_error get_packet(reader *r, size_t fragment_size, uint32_t max_fragments, cwp_packet *p)
{
    p->has_header = false;
    if (r->length == 0) { /* PKD-1 */
        return CWP_TRUNCATED;
    }
    if ((r->data[0] & 1) == 0) {
        p->kind = CWP_REGULAR;
        return get_regular(r, fragment_size * max_fragments, p);
    }
    if (r->data[0] != FRAGMENT) { /* PKD-2 */
        return CWP_RESERVED_BITS;
    }
    p->kind = CWP_FRAGMENT;
    r->at = 1;
    return get_fragment(r, fragment_size, max_fragments, p);
}

cwp_error cwp_decode(const uint8_t *in, size_t length, size_t fragment_size, uint32_t max_fragments,
                     cwp_packet *p, size_t *place)
{
    reader r = {in, length, 0};
    cwp_error e = get_packet(&r, fragment_size, max_fragments, p);
    if (place != NULL) {
        *place = r.at;
    }
    return e;
}
