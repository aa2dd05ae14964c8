/* Messages of the handshake, and datagrams of data before they are opened (section 3). See
 * chunkwire_session.h. */
#include "chunkwire_session.h"

#include <string.h>

enum { AT_PROOF_STAMP = 97, TYPES = CWS_T_REFUSED - CWS_T_LINK + 1 };

static const size_t sizes[TYPES] = {64, 50, 153, 75, 35}; /* CXH-1 */

const char *cws_error_name(cws_error e)
{
    switch (e) {
    case CWS_OK: return "ok";
    case CWS_TRUNCATED: return "truncated";
    case CWS_TRAILING_DATA: return "trailing_data";
    case CWS_UNKNOWN_KIND: return "unknown_kind";
    case CWS_BAD_VERSION: return "version";
    case CWS_BAD_MODE: return "mode";
    case CWS_BAD_LANES: return "lanes";
    case CWS_BAD_TIMEOUT: return "timeout";
    case CWS_BAD_STAMP: return "stamp";
    case CWS_BAD_LINK: return "link";
    case CWS_BAD_VARIANT: return "variant";
    case CWS_BAD_REASON: return "reason";
    case CWS_UNKNOWN_LINK: return "unknown_link";
    case CWS_OTHER_ADDRESS: return "address";
    case CWS_STALE: return "stale";
    case CWS_DUPLICATE: return "duplicate";
    case CWS_BAD_TAG: return "tag";
    case CWS_BROKEN: return "broken";
    case CWS_ERRORS: break;
    }
    return "unknown";
}

static cws_error refuse(cws_error e, size_t at, int *place)
{
    if (place != NULL) {
        *place = (int)at;
    }
    return e;
}

/* ---- Fields ----------------------------------------------------------------- */

/* Fields are listed once, for both directions: bytes to a message, and back. */
typedef struct {
    uint8_t *bytes;
    size_t at;
    bool writes;
} cursor;

static void field(cursor *c, uint8_t *value, size_t size)
{
    if (c->writes) {
        memcpy(c->bytes + c->at, value, size);
    } else {
        memcpy(value, c->bytes + c->at, size);
    }
    c->at += size;
}

/* The low byte first (CXN-4). */
static void number64(cursor *c, uint64_t *value, size_t size)
{
    uint8_t low[8];
    for (size_t i = 0; i < size; i++) {
        low[i] = (uint8_t)(*value >> (8 * i) & 0xFF);
    }
    field(c, low, size);
    *value = 0;
    for (size_t i = size; i > 0; i--) {
        *value = *value << 8 | low[i - 1];
    }
}

static void number(cursor *c, uint32_t *value, size_t size)
{
    uint64_t wide = *value;
    number64(c, &wide, size);
    *value = (uint32_t)wide;
}

static void version(cursor *c)
{
    uint32_t own = CWS_VERSION;
    number(c, &own, 1);
}

/* CXH-2 */
static void offer_fields(cursor *c, cws_offer *o)
{
    version(c);
    field(c, o->nonce, sizeof o->nonce);
    number(c, &o->protocol, 4);
    number(c, &o->mode, 1);
    number(c, &o->lanes, 1);
    number(c, &o->variants, 1);
    number(c, &o->extensions, 2);
    number(c, &o->timeout, 2);
    field(c, o->format, sizeof o->format);
    field(c, o->identity, sizeof o->identity);
    number(c, &o->resume, 4);
    field(c, o->digest, sizeof o->digest);
    field(c, o->share, sizeof o->share);
}

static void link_fields(cursor *c, cws_link *m)
{
    version(c);
    field(c, m->nonce, sizeof m->nonce);
    field(c, m->versions, sizeof m->versions);
    field(c, m->reserved, sizeof m->reserved);
}

static void challenge_fields(cursor *c, cws_challenge *m)
{
    field(c, m->nonce, sizeof m->nonce);
    number64(c, &m->stamp, 8);
    field(c, m->cookie, sizeof m->cookie);
    number(c, &m->version, 1);
    field(c, m->versions, sizeof m->versions);
}

static void proof_fields(cursor *c, cws_proof *m)
{
    offer_fields(c, &m->offer);
    number64(c, &m->stamp, 8);
    field(c, m->cookie, sizeof m->cookie);
    field(c, m->move, sizeof m->move);
    field(c, m->proof, sizeof m->proof);
}

static void linked_fields(cursor *c, cws_linked *m)
{
    field(c, m->nonce, sizeof m->nonce);
    number(c, &m->link, 4);
    field(c, m->share, sizeof m->share);
    number(c, &m->agreed.lanes, 1);
    number(c, &m->agreed.variant, 1);
    number(c, &m->agreed.extensions, 2);
    number(c, &m->agreed.timeout, 2);
    field(c, m->proof, sizeof m->proof);
}

static void refused_fields(cursor *c, cws_refused *m)
{
    field(c, m->nonce, sizeof m->nonce);
    number(c, &m->version, 1);
    number(c, &m->reason, 1);
    field(c, m->proof, sizeof m->proof);
}

static void fields(cursor *c, cws_message *m)
{
    switch (m->type) {
    case CWS_T_LINK: link_fields(c, &m->as.link); break;
    case CWS_T_CHALLENGE: challenge_fields(c, &m->as.challenge); break;
    case CWS_T_PROOF: proof_fields(c, &m->as.proof); break;
    case CWS_T_LINKED: linked_fields(c, &m->as.linked); break;
    case CWS_T_REFUSED: refused_fields(c, &m->as.refused); break;
    case CWS_T_DATA: break;
    }
}

/* ---- Checks of values (CXH-25 to CXH-27, CXH-29 to CXH-36) -------------------- */

static bool is_timeout(uint32_t t) { return t >= CWS_LEAST_TIMEOUT && t <= CWS_MOST_TIMEOUT; }

static bool is_mode(uint32_t mode) { return mode >= CWS_CRC && mode <= CWS_AEAD; }

static bool is_anonymous(const cws_offer *o)
{
    static const uint8_t nobody[CWS_IDENTITY];
    return memcmp(o->identity, nobody, sizeof nobody) == 0;
}

static cws_error check_proof(const cws_proof *m, int *place)
{
    if (!is_mode(m->offer.mode)) {
        return refuse(CWS_BAD_MODE, 22, place);
    }
    if (m->offer.lanes > CWS_MOST_LANES) {
        return refuse(CWS_BAD_LANES, 23, place);
    }
    if (!is_timeout(m->offer.timeout)) {
        return refuse(CWS_BAD_TIMEOUT, 27, place);
    }
    if (m->offer.mode == CWS_CRC && !is_anonymous(&m->offer)) {
        return refuse(CWS_BAD_MODE, 22, place);
    }
    return m->stamp > CWS_MOST_STAMP ? refuse(CWS_BAD_STAMP, AT_PROOF_STAMP, place) : CWS_OK;
}

static bool is_variant(const cws_agreed *a)
{
    bool one = a->variant != 0 && (a->variant & (a->variant - 1)) == 0;
    return a->lanes == 0 ? a->variant == 0 : one;
}

static cws_error check_linked(const cws_linked *m, int *place)
{
    if (m->link == 0) {
        return refuse(CWS_BAD_LINK, 17, place);
    }
    if (m->agreed.lanes > CWS_MOST_LANES) {
        return refuse(CWS_BAD_LANES, 53, place);
    }
    if (!is_variant(&m->agreed)) {
        return refuse(CWS_BAD_VARIANT, 54, place);
    }
    return is_timeout(m->agreed.timeout) ? CWS_OK : refuse(CWS_BAD_TIMEOUT, 57, place);
}

static cws_error check(const cws_message *m, int *place)
{
    switch (m->type) {
    case CWS_T_LINK: return CWS_OK;
    case CWS_T_CHALLENGE:
        return m->as.challenge.stamp > CWS_MOST_STAMP ? refuse(CWS_BAD_STAMP, 17, place) : CWS_OK;
    case CWS_T_PROOF: return check_proof(&m->as.proof, place);
    case CWS_T_LINKED: return check_linked(&m->as.linked, place);
    case CWS_T_REFUSED: return m->as.refused.reason == 0 ? refuse(CWS_BAD_REASON, 18, place) : CWS_OK;
    case CWS_T_DATA: break;
    }
    return refuse(CWS_UNKNOWN_KIND, 0, place);
}

/* ---- Decoder and encoder ---------------------------------------------------- */

static size_t tag_of(uint32_t mode) { return (size_t)4 << (mode - CWS_CRC); }

static cws_error decode_data(const uint8_t *in, size_t length, cws_data *d, int *place)
{
    uint8_t head[CWS_HEAD];
    cursor c = {head, 1, false};
    size_t tag = tag_of(in[0]);
    if (length < CWS_HEAD + 1 + tag) {
        return refuse(CWS_TRUNCATED, length, place);
    }
    if (length > CWS_MAX_DATAGRAM) {
        return refuse(CWS_TRAILING_DATA, CWS_MAX_DATAGRAM, place);
    }
    memcpy(head, in, sizeof head);
    d->mode = in[0];
    number(&c, &d->link, 4);
    number(&c, &d->counter, 4);
    d->body = in + CWS_HEAD;
    d->size = length - CWS_HEAD - tag;
    d->tag = in + length - tag;
    d->tag_size = tag;
    return CWS_OK;
}

cws_error cws_decode(const uint8_t *in, size_t length, cws_message *m, int *place)
{
    uint8_t own[CWS_MAX_MESSAGE];
    cursor c = {own, 1, false};
    size_t size;
    if (length == 0) {
        return refuse(CWS_TRUNCATED, 0, place);
    }
    memset(m, 0, sizeof *m);
    if (is_mode(in[0])) {
        return decode_data(in, length, &m->as.data, place);
    }
    if (in[0] < CWS_T_LINK || in[0] > CWS_T_REFUSED) {
        return refuse(CWS_UNKNOWN_KIND, 0, place);
    }
    m->type = (cws_type)in[0];
    size = sizes[m->type - CWS_T_LINK];
    if ((m->type == CWS_T_LINK || m->type == CWS_T_PROOF) && length > 1 && in[1] != CWS_VERSION) {
        return refuse(CWS_BAD_VERSION, 1, place);
    }
    if (length != size) {
        return length < size ? refuse(CWS_TRUNCATED, length, place) : refuse(CWS_TRAILING_DATA, size, place);
    }
    memcpy(own, in, size);
    fields(&c, m);
    return check(m, place);
}

cws_error cws_encode(const cws_message *m, uint8_t out[CWS_MAX_MESSAGE], size_t *size, int *place)
{
    cws_message own = *m; /* a cursor gives each number back */
    cursor c = {out, 1, true};
    cws_error e = check(m, place);
    if (e == CWS_OK) {
        out[0] = (uint8_t)m->type;
        fields(&c, &own);
        *size = c.at;
    }
    return e;
}
