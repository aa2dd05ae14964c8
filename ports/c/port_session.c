/* The port's operations of sessions. Comments such as CXO-3 name sentences of spec/CONNECTION.md.
 *
 * A conversation is held twice, at first without printing: so that one that uses up its random
 * bytes, or names a link that no entry has, is refused as a whole (CXO-14). */
#include "port_session.h"
#include "session_keys.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEP ((int64_t)1 << 31)

/* ---- Fields ----------------------------------------------------------------- */

bool get_fixed(const request *q, const json_token *t, const char *name, uint8_t *out, size_t size)
{
    size_t n;
    if (!get_hex(q, t, name, &n) || n != size) {
        return false;
    }
    memcpy(out, bytes, size);
    return true;
}

bool get_number(const request *q, const json_token *t, const char *name, int64_t least, int64_t most, uint32_t *v)
{
    int64_t n;
    if (!get_int_in(q, t, name, least, most, &n)) {
        return false;
    }
    *v = (uint32_t)n;
    return true;
}

static const char *mode_name(uint32_t mode) { return mode == CWS_CRC ? "crc" : mode == CWS_MAC ? "mac" : "aead"; }

/* 0: a text that names none. */
static bool get_mode_or_none(const request *q, const json_token *t, uint32_t *mode)
{
    const json_token *name = member(q, t, "mode");
    *mode = 0;
    for (uint32_t k = CWS_CRC; k <= CWS_AEAD; k++) {
        if (json_equals(&q->doc, name, mode_name(k))) {
            *mode = k;
        }
    }
    return json_is(name, JSON_STRING);
}

bool get_mode(const request *q, const json_token *t, uint32_t *mode)
{
    return get_mode_or_none(q, t, mode) && *mode != 0;
}

/* Of 64 bits; json_int gives the nearest of 63, which is too much for a stamp as well. */
static bool get_stamp(const request *q, const json_token *t, uint64_t *stamp)
{
    static const char most[] = "18446744073709551615";
    const json_token *n = member(q, t, "stamp");
    int64_t v;
    if (!json_int(&q->doc, n, &v) || v < 0 || n->length > sizeof most - 1 ||
        (n->length == sizeof most - 1 && memcmp(q->doc.text + n->start, most, sizeof most - 1) > 0)) {
        return false;
    }
    *stamp = (uint64_t)v;
    return true;
}

void print_hex_field(const char *name, const uint8_t *b, size_t n)
{
    printf(",\"%s\":", name);
    print_hex(b, n);
}

void print_refused(const char *code, int place)
{
    if (code == NULL) {
        fputs(",\"refused\":null", stdout);
    } else {
        printf(",\"refused\":{\"error\":\"%s\",\"at\":%d}", code, place);
    }
}

/* ---- Messages (CXO-3) ------------------------------------------------------- */

static bool get_offer(const request *q, const json_token *t, cws_offer *o)
{
    return get_fixed(q, t, "nonce", o->nonce, sizeof o->nonce) &&
           get_number(q, t, "protocol", 0, UINT32_MAX, &o->protocol) && get_mode_or_none(q, t, &o->mode) &&
           get_number(q, t, "lanes", 0, UINT8_MAX, &o->lanes) &&
           get_number(q, t, "variants", 0, UINT8_MAX, &o->variants) &&
           get_number(q, t, "extensions", 0, UINT16_MAX, &o->extensions) &&
           get_number(q, t, "timeout", 0, UINT16_MAX, &o->timeout) &&
           get_fixed(q, t, "format", o->format, sizeof o->format) &&
           get_fixed(q, t, "identity", o->identity, sizeof o->identity) &&
           get_number(q, t, "resume", 0, UINT32_MAX, &o->resume) &&
           get_fixed(q, t, "digest", o->digest, sizeof o->digest) &&
           get_fixed(q, t, "share", o->share, sizeof o->share);
}

static bool get_link(const request *q, const json_token *t, cws_link *m)
{
    return get_fixed(q, t, "nonce", m->nonce, sizeof m->nonce) &&
           get_fixed(q, t, "versions", m->versions, sizeof m->versions) &&
           get_fixed(q, t, "reserved", m->reserved, sizeof m->reserved);
}

static bool get_challenge(const request *q, const json_token *t, cws_challenge *m)
{
    return get_fixed(q, t, "nonce", m->nonce, sizeof m->nonce) && get_stamp(q, t, &m->stamp) &&
           get_fixed(q, t, "cookie", m->cookie, sizeof m->cookie) &&
           get_number(q, t, "version", 0, UINT8_MAX, &m->version) &&
           get_fixed(q, t, "versions", m->versions, sizeof m->versions);
}

static bool get_proof(const request *q, const json_token *t, cws_proof *m)
{
    return get_offer(q, t, &m->offer) && get_stamp(q, t, &m->stamp) &&
           get_fixed(q, t, "cookie", m->cookie, sizeof m->cookie) &&
           get_fixed(q, t, "move", m->move, sizeof m->move) && get_fixed(q, t, "proof", m->proof, sizeof m->proof);
}

static bool get_linked(const request *q, const json_token *t, cws_linked *m)
{
    return get_fixed(q, t, "nonce", m->nonce, sizeof m->nonce) &&
           get_number(q, t, "link", 0, UINT32_MAX, &m->link) &&
           get_fixed(q, t, "share", m->share, sizeof m->share) &&
           get_number(q, t, "lanes", 0, UINT8_MAX, &m->agreed.lanes) &&
           get_number(q, t, "variant", 0, UINT8_MAX, &m->agreed.variant) &&
           get_number(q, t, "extensions", 0, UINT16_MAX, &m->agreed.extensions) &&
           get_number(q, t, "timeout", 0, UINT16_MAX, &m->agreed.timeout) &&
           get_fixed(q, t, "proof", m->proof, sizeof m->proof);
}

static bool get_refused(const request *q, const json_token *t, cws_refused *m)
{
    return get_fixed(q, t, "nonce", m->nonce, sizeof m->nonce) &&
           get_number(q, t, "version", 0, UINT8_MAX, &m->version) &&
           get_number(q, t, "reason", 0, UINT8_MAX, &m->reason) &&
           get_fixed(q, t, "proof", m->proof, sizeof m->proof);
}

static const char *const types[] = {"link", "challenge", "proof", "linked", "refused"};

static const char *type_name(cws_type type) { return type == CWS_T_DATA ? "data" : types[type - CWS_T_LINK]; }

/* A type that is unknown becomes data, which an encoder refuses. */
static cws_type get_type(const request *q, const json_token *type)
{
    for (int k = CWS_T_LINK; k <= CWS_T_REFUSED; k++) {
        if (json_equals(&q->doc, type, type_name((cws_type)k))) {
            return (cws_type)k;
        }
    }
    return CWS_T_DATA;
}

static bool get_message(const request *q, const json_token *t, cws_message *m)
{
    const json_token *type = member(q, t, "type");
    memset(m, 0, sizeof *m);
    m->type = get_type(q, type);
    switch (m->type) {
    case CWS_T_LINK: return get_link(q, t, &m->as.link);
    case CWS_T_CHALLENGE: return get_challenge(q, t, &m->as.challenge);
    case CWS_T_PROOF: return get_proof(q, t, &m->as.proof);
    case CWS_T_LINKED: return get_linked(q, t, &m->as.linked);
    case CWS_T_REFUSED: return get_refused(q, t, &m->as.refused);
    case CWS_T_DATA: break;
    }
    return json_is(type, JSON_STRING);
}

const char *session_encode(const request *q)
{
    cws_message m;
    uint8_t out[CWS_MAX_MESSAGE];
    size_t size;
    int place = -1;
    cws_error e;
    if (!get_message(q, member(q, q->root, "message"), &m)) {
        return BAD;
    }
    e = cws_encode(&m, out, &size, &place);
    if (e != CWS_OK) {
        answer_error_at(q, cws_error_name(e), place);
        return NULL;
    }
    answer_ok(q, "hex");
    print_hex(out, size);
    puts("}");
    return NULL;
}

static void print_number(const char *name, uint32_t v) { printf(",\"%s\":%" PRIu32, name, v); }

static void print_stamp(uint64_t stamp) { printf(",\"stamp\":%" PRIu64, stamp); }

static void print_agreed(const cws_agreed *a)
{
    print_number("lanes", a->lanes);
    print_number("variant", a->variant);
    print_number("extensions", a->extensions);
    print_number("timeout", a->timeout);
}

static void print_offer(const cws_offer *o)
{
    print_hex_field("nonce", o->nonce, sizeof o->nonce);
    print_number("protocol", o->protocol);
    printf(",\"mode\":\"%s\"", mode_name(o->mode));
    print_number("lanes", o->lanes);
    print_number("variants", o->variants);
    print_number("extensions", o->extensions);
    print_number("timeout", o->timeout);
    print_hex_field("format", o->format, sizeof o->format);
    print_hex_field("identity", o->identity, sizeof o->identity);
    print_number("resume", o->resume);
    print_hex_field("digest", o->digest, sizeof o->digest);
    print_hex_field("share", o->share, sizeof o->share);
}

static void print_link(const cws_link *m)
{
    print_hex_field("nonce", m->nonce, sizeof m->nonce);
    print_hex_field("versions", m->versions, sizeof m->versions);
    print_hex_field("reserved", m->reserved, sizeof m->reserved);
}

static void print_challenge(const cws_challenge *m)
{
    print_hex_field("nonce", m->nonce, sizeof m->nonce);
    print_stamp(m->stamp);
    print_hex_field("cookie", m->cookie, sizeof m->cookie);
    print_number("version", m->version);
    print_hex_field("versions", m->versions, sizeof m->versions);
}

static void print_proof(const cws_proof *m)
{
    print_offer(&m->offer);
    print_stamp(m->stamp);
    print_hex_field("cookie", m->cookie, sizeof m->cookie);
    print_hex_field("move", m->move, sizeof m->move);
    print_hex_field("proof", m->proof, sizeof m->proof);
}

static void print_linked(const cws_linked *m)
{
    print_hex_field("nonce", m->nonce, sizeof m->nonce);
    print_number("link", m->link);
    print_hex_field("share", m->share, sizeof m->share);
    print_agreed(&m->agreed);
    print_hex_field("proof", m->proof, sizeof m->proof);
}

static void print_refusal(const cws_refused *m)
{
    print_hex_field("nonce", m->nonce, sizeof m->nonce);
    print_number("version", m->version);
    print_number("reason", m->reason);
    print_hex_field("proof", m->proof, sizeof m->proof);
}

static void print_data(const cws_data *m)
{
    printf(",\"mode\":\"%s\"", mode_name(m->mode));
    print_number("link", m->link);
    print_number("counter", m->counter);
    print_hex_field("body", m->body, m->size);
    print_hex_field("tag", m->tag, m->tag_size);
}

static void print_message(const cws_message *m)
{
    printf("{\"type\":\"%s\"", type_name(m->type));
    switch (m->type) {
    case CWS_T_LINK: print_link(&m->as.link); break;
    case CWS_T_CHALLENGE: print_challenge(&m->as.challenge); break;
    case CWS_T_PROOF: print_proof(&m->as.proof); break;
    case CWS_T_LINKED: print_linked(&m->as.linked); break;
    case CWS_T_REFUSED: print_refusal(&m->as.refused); break;
    case CWS_T_DATA: print_data(&m->as.data); break;
    }
    putchar('}');
}

const char *session_decode(const request *q)
{
    cws_message m;
    size_t n;
    int place = -1;
    cws_error e;
    if (!get_hex(q, q->root, "hex", &n)) {
        return BAD;
    }
    e = cws_decode(bytes, n, &m, &place);
    if (e != CWS_OK) {
        answer_error_at(q, cws_error_name(e), place);
        return NULL;
    }
    answer_ok(q, "message");
    print_message(&m);
    puts("}");
    return NULL;
}

/* ---- Envelope (CXO-4) ------------------------------------------------------- */

const char *session_seal(const request *q)
{
    uint8_t key[CWS_KEY];
    uint8_t out[CWS_MAX_DATAGRAM];
    uint32_t mode;
    uint32_t link;
    int64_t counter;
    size_t size;
    if (!get_mode(q, q->root, &mode) || !get_fixed(q, q->root, "key", key, sizeof key) ||
        !get_number(q, q->root, "link", 1, UINT32_MAX, &link) ||
        !get_int_in(q, q->root, "counter", 0, CWS_MOST_COUNTER, &counter) || !get_hex(q, q->root, "body", &size) ||
        size == 0 || size > CWS_MAX_BODY) {
        return BAD;
    }
    answer_ok(q, "hex");
    print_hex(out, cws_seal_datagram(mode, key, link, counter, bytes, size, out));
    puts("}");
    return NULL;
}

/* The counters that were opened before. */
static bool get_taken(const request *q, cws_envelope *e)
{
    const json_token *taken = member(q, q->root, "taken");
    const json_token *t;
    if (!json_is(taken, JSON_ARRAY)) {
        return false;
    }
    t = json_first(&q->doc, taken);
    for (uint32_t i = 0; i < taken->count; i++, t = json_after(&q->doc, t)) {
        int64_t counter;
        int64_t before = e->highest < 0 ? 0 : e->highest;
        if (!json_int(&q->doc, t, &counter) || counter <= e->highest || counter > CWS_MOST_COUNTER ||
            counter - before > MOST_STEP) {
            return false;
        }
        cws_envelope_take(e, counter);
    }
    return true;
}

const char *session_open(const request *q)
{
    uint8_t key[CWS_KEY];
    uint32_t mode;
    uint32_t link;
    size_t size;
    int place = -1;
    cws_envelope e;
    cws_opened o;
    cws_error fault;
    if (!get_mode(q, q->root, &mode) || !get_fixed(q, q->root, "key", key, sizeof key) ||
        !get_number(q, q->root, "link", 1, UINT32_MAX, &link)) {
        return BAD;
    }
    cws_envelope_init(&e, mode, link, key, key);
    if (!get_taken(q, &e) || !get_hex(q, q->root, "hex", &size)) {
        return BAD;
    }
    fault = cws_open(&e, bytes, size, &o, &place);
    if (fault != CWS_OK) {
        answer_error_at(q, cws_error_name(fault), place);
        return NULL;
    }
    answer_ok(q, "counter");
    printf("%" PRId64, o.counter);
    print_hex_field("body", o.body, o.size);
    puts("}");
    return NULL;
}

/* ---- Keys (CXO-6) and cookies (CXO-5) ----------------------------------------- */

static bool get_message_of(const request *q, const char *name, cws_type type, cws_message *m)
{
    size_t n;
    return get_hex(q, q->root, name, &n) && cws_decode(bytes, n, m, NULL) == CWS_OK && m->type == type;
}

/* A server key, if there is one: not of zeros. */
static bool get_server_key(const request *q, const json_token *t, uint8_t key[CWS_KEY], bool *has)
{
    *has = member(q, t, "server") != NULL;
    return !*has || (get_fixed(q, t, "server", key, CWS_KEY) && !cws_zeros(key, CWS_KEY));
}

typedef struct {
    uint8_t key[CWS_KEY], secret[CWS_KEY], resume[CWS_KEY], server[CWS_KEY];
    bool has_server;
    cws_message challenge, proof, linked, refused;
} keys_request;

typedef struct {
    cws_greeting greeting;
    cws_meeting meeting;
    cws_keys keys;
    uint8_t seen[CWS_KEY], whole[CWS_KEY], connection[CWS_KEY];
    uint8_t move[CWS_PROOF], proof[CWS_PROOF], linked[CWS_PROOF], refused[CWS_PROOF];
} keys_made;

static bool get_keys_request(const request *q, keys_request *r)
{
    return get_fixed(q, q->root, "key", r->key, CWS_KEY) && get_fixed(q, q->root, "private", r->secret, CWS_KEY) &&
           get_fixed(q, q->root, "resume", r->resume, CWS_KEY) &&
           get_message_of(q, "challenge", CWS_T_CHALLENGE, &r->challenge) &&
           get_message_of(q, "proof", CWS_T_PROOF, &r->proof) &&
           get_message_of(q, "linked", CWS_T_LINKED, &r->linked) &&
           get_message_of(q, "refused", CWS_T_REFUSED, &r->refused) &&
           get_server_key(q, q->root, r->server, &r->has_server);
}

/* False: CXK-12 forbids a share. */
static bool make_keys(const keys_request *r, keys_made *m)
{
    const cws_offer *offer = &r->proof.as.proof.offer;
    bool resumes = offer->resume != 0;
    memset(m, 0, sizeof *m);
    return cws_greet(&m->greeting, offer, r->key, r->has_server ? r->server : NULL) &&
           cws_seen(&m->greeting, &r->challenge.as.challenge, m->seen) &&
           (!resumes || cws_move(r->resume, m->seen, m->move)) &&
           cws_prove(&m->greeting, m->seen, m->move, m->proof, m->whole) &&
           (!r->has_server || cws_know(&m->greeting, r->secret, r->server)) &&
           cws_meet(&m->meeting, &m->greeting, r->secret, r->linked.as.linked.share) &&
           cws_answer(resumes ? r->resume : m->meeting.answer_key, m->whole, &r->linked, m->linked) &&
           cws_answer(m->greeting.refused_key, m->whole, &r->refused, m->refused) &&
           cws_connection(&m->greeting, &r->linked.as.linked, m->connection) &&
           cws_make_keys(&m->meeting, m->connection, &m->keys);
}

static void print_keys(const keys_made *m)
{
    const cws_greeting *g = &m->greeting;
    print_hex(g->hello, CWS_KEY);
    print_hex_field("given", g->given, CWS_KEY);
    print_hex_field("first", g->first, CWS_KEY);
    print_hex_field("proof_key", g->proof_key, CWS_KEY);
    print_hex_field("refused_key", g->refused_key, CWS_KEY);
    print_hex_field("next", g->next, CWS_KEY);
    print_hex_field("seen", m->seen, CWS_KEY);
    print_hex_field("move", m->move, CWS_PROOF);
    print_hex_field("proof", m->proof, CWS_PROOF);
    print_hex_field("whole", m->whole, CWS_KEY);
    print_hex_field("shared", m->meeting.shared, CWS_KEY);
    print_hex_field("second", m->meeting.second, CWS_KEY);
    print_hex_field("answer_key", m->meeting.answer_key, CWS_KEY);
    print_hex_field("linked", m->linked, CWS_PROOF);
    print_hex_field("refused", m->refused, CWS_PROOF);
    print_hex_field("connection", m->connection, CWS_KEY);
    print_hex_field("c2s", m->keys.c2s, CWS_KEY);
    print_hex_field("s2c", m->keys.s2c, CWS_KEY);
    print_hex_field("resume", m->keys.resume, CWS_KEY);
    if (g->has_known) {
        print_hex_field("static", g->fixed, CWS_KEY);
        print_hex_field("known", g->known, CWS_KEY);
    }
    puts("}");
}

const char *session_keys(const request *q)
{
    keys_request r;
    keys_made m;
    if (!get_keys_request(q, &r)) {
        return BAD;
    }
    if (!make_keys(&r, &m)) {
        answer_error_at(q, "share", -1);
        return NULL;
    }
    answer_ok(q, "hello");
    print_keys(&m);
    return NULL;
}

/* "192.0.2.1:40000" or "[2001:db8::1]:40000" in two parts; false: it is neither. */
static bool split_address(const char *text, char host[64], uint16_t *port)
{
    const char *colon = strrchr(text, ':');
    size_t n = colon == NULL ? 0 : (size_t)(colon - text);
    char *end;
    unsigned long v;
    if (n == 0 || n >= 64 || colon[1] < '0' || colon[1] > '9') {
        return false;
    }
    v = strtoul(colon + 1, &end, 10);
    memcpy(host, text, n);
    host[n] = 0;
    *port = (uint16_t)v;
    return *end == 0 && v <= UINT16_MAX;
}

static void address_of(const char *text, uint8_t out[CWS_ADDRESS])
{
    char host[64];
    uint8_t ip[16];
    uint16_t port;
    if (split_address(text, host, &port)) {
        size_t n = strlen(host);
        if (inet_pton(AF_INET, host, ip) == 1) {
            cws_address_ip(ip, 4, port, out);
            return;
        }
        if (host[0] == '[' && host[n - 1] == ']') {
            host[n - 1] = 0;
            if (inet_pton(AF_INET6, host + 1, ip) == 1) {
                cws_address_ip(ip, 16, port, out);
                return;
            }
        }
    }
    (void)cws_address_text(text, strlen(text), out);
}

static bool get_address(const request *q, const json_token *t, const char *name, uint8_t out[CWS_ADDRESS])
{
    const json_token *v = member(q, t, name);
    const char *text = json_text(&q->doc, v);
    char *own;
    if (text == NULL) {
        return false;
    }
    own = (char *)calloc(v->length + 1, 1);
    if (own == NULL) {
        abort();
    }
    memcpy(own, text, v->length);
    address_of(own, out);
    free(own);
    return true;
}

const char *session_cookie(const request *q)
{
    uint8_t secret[CWS_KEY];
    uint8_t cookies[CWS_KEY];
    uint8_t address[CWS_ADDRESS];
    uint8_t digest[CWS_PROOF];
    uint8_t cookie[CWS_PROOF];
    int64_t stamp;
    cws_message link;
    if (!get_address(q, q->root, "address", address) || !get_message_of(q, "link", CWS_T_LINK, &link) ||
        !get_fixed(q, q->root, "secret", secret, sizeof secret) ||
        !get_int_in(q, q->root, "stamp", 0, LAST_TIME, &stamp)) {
        return BAD;
    }
    if (!cws_expand(secret, "cookie", NULL, 0, cookies) || !cws_link_digest(&link.as.link, digest) ||
        !cws_cookie(cookies, (uint64_t)stamp, address, digest, cookie)) {
        abort();
    }
    answer_ok(q, "address");
    print_hex(address, sizeof address);
    print_hex_field("digest", digest, sizeof digest);
    print_hex_field("cookie", cookie, sizeof cookie);
    puts("}");
    return NULL;
}

/* ---- Machines --------------------------------------------------------------- */

/* The random bytes of a request (CXN-5). */
typedef struct {
    uint8_t *all;
    size_t size, used;
    bool used_up;
} random_bytes;

static bool fill(void *owner, uint8_t *out, size_t size)
{
    random_bytes *r = (random_bytes *)owner;
    if (r->size - r->used < size) {
        r->used_up = true;
        return false;
    }
    memcpy(out, r->all + r->used, size);
    r->used += size;
    return true;
}

static bool get_random(const request *q, const json_token *t, random_bytes *r)
{
    memset(r, 0, sizeof *r);
    if (!get_hex(q, t, "random", &r->size)) {
        return false;
    }
    r->all = (uint8_t *)malloc(r->size + 1);
    if (r->all == NULL) {
        abort();
    }
    memcpy(r->all, bytes, r->size);
    return true;
}

static bool get_terms(const request *q, const json_token *t, cws_terms *terms)
{
    return get_number(q, t, "protocol", 0, UINT32_MAX, &terms->protocol) && get_mode(q, t, &terms->mode) &&
           get_number(q, t, "lanes", 0, CWS_MOST_LANES, &terms->lanes) &&
           get_number(q, t, "variants", 1, UINT8_MAX, &terms->variants) &&
           get_number(q, t, "extensions", 0, UINT16_MAX, &terms->extensions) &&
           get_number(q, t, "timeout", CWS_LEAST_TIMEOUT, CWS_MOST_TIMEOUT, &terms->timeout) &&
           get_fixed(q, t, "format", terms->format, CWS_FORMAT);
}

static const char *get_event(const request *q, const json_token *t, const char *const *names, int count, int *event)
{
    const json_token *name = member(q, t, "event");
    int64_t at;
    if (!json_is(name, JSON_STRING)) {
        return BAD;
    }
    for (*event = 0; *event < count; ++*event) {
        if (json_equals(&q->doc, name, names[*event])) {
            return get_int_in(q, t, "at", 0, LAST_TIME, &at) ? NULL : BAD;
        }
    }
    return "unsupported";
}

static cwp_time time_of(const request *q, const json_token *t)
{
    int64_t at = 0;
    (void)get_int(q, t, "at", &at);
    return at;
}

/* The first datagram of a connection, with the body 00 (CXO-8). */
static void print_sealed(const cws_envelope *e)
{
    static const uint8_t body[1];
    uint8_t out[CWS_MAX_DATAGRAM];
    fputs(",\"sealed\":", stdout);
    print_hex(out, cws_seal_datagram(e->mode, e->send_key, e->link, 0, body, sizeof body, out));
}

enum { MOST_ROWS = 64 };

/* What a step prints, of a client or a server. */
typedef struct {
    char letter;
    cws_row rows[MOST_ROWS];
    int num_rows;
    const char *refused;
    int place;
    uint8_t datagrams[MOST_ROWS][CWS_MAX_MESSAGE];
    size_t sizes[MOST_ROWS];
    int num_datagrams;
} step;

static void add_row(step *s, cws_row row)
{
    if (row != 0 && s->num_rows < MOST_ROWS) {
        s->rows[s->num_rows++] = row;
    }
}

static void begin_row_step(uint32_t i, const step *s)
{
    printf("%s{\"rows\":[", i > 0 ? "," : "");
    for (int k = 0; k < s->num_rows; k++) {
        printf("%s\"%c%d\"", k > 0 ? "," : "", s->letter, s->rows[k]);
    }
    putchar(']');
    print_refused(s->refused, s->place);
}

/* ---- Client (CXO-7, CXO-8) ---------------------------------------------------- */

enum { C_POLL, C_RECEIVE, C_DATA, C_SENT, C_MOVE, C_CLOSE, C_EVENTS };

static const char *const client_events[C_EVENTS] = {"poll", "receive", "data", "sent", "move", "close"};

static bool get_client_config(const request *q, cws_client_config *c, random_bytes *r)
{
    const json_token *t = member(q, q->root, "config");
    memset(c, 0, sizeof *c);
    c->random.fill = fill;
    c->random.owner = r;
    return get_terms(q, t, &c->terms) && get_fixed(q, t, "identity", c->identity, CWS_IDENTITY) &&
           get_fixed(q, t, "key", c->key, CWS_KEY) && get_server_key(q, t, c->server, &c->knows_server) &&
           get_random(q, t, r);
}

static void poll_client(cws_client *c, cwp_time at, step *s)
{
    size_t size;
    do {
        uint8_t *out = s->datagrams[s->num_datagrams];
        add_row(s, cws_client_poll(c, at, out, &size));
        if (size > 0) {
            s->sizes[s->num_datagrams++] = size;
        }
    } while (size > 0 && s->num_datagrams < MOST_ROWS);
}

static void receive_client(const request *q, const json_token *t, cws_client *c, step *s)
{
    size_t n = 0;
    cws_row row;
    cws_error e;
    (void)get_hex(q, t, "hex", &n);
    e = cws_client_receive(c, time_of(q, t), bytes, n, &row, &s->place);
    s->refused = e == CWS_OK ? NULL : cws_error_name(e);
    add_row(s, row);
}

/* NULL, or the code to refuse the request with. */
static const char *client_event(const request *q, const json_token *t, cws_client *c, step *s)
{
    cwp_time at = time_of(q, t);
    size_t n;
    int event;
    const char *fault = get_event(q, t, client_events, C_EVENTS, &event);
    memset(s, 0, sizeof *s);
    s->letter = 'I';
    if (fault != NULL || (event == C_RECEIVE && !get_hex(q, t, "hex", &n)) || (event == C_DATA && !c->begun)) {
        return fault != NULL ? fault : BAD;
    }
    switch (event) {
    case C_POLL: poll_client(c, at, s); break;
    case C_RECEIVE: receive_client(q, t, c, s); break;
    case C_DATA: add_row(s, cws_client_data(c, at)); break;
    case C_SENT: cws_client_sent(c, at); break;
    case C_MOVE: add_row(s, cws_client_move(c, at)); break;
    default: add_row(s, cws_client_close(c, at)); break;
    }
    return NULL;
}

static void print_begun(const cws_client *c)
{
    printf(",\"link\":{\"link\":%" PRIu32, c->envelope.link);
    print_agreed(&c->agreed);
    print_sealed(&c->envelope);
    putchar('}');
}

static void print_client_ended(const cws_end *e)
{
    static const char *const why[] = {"", "timeout", "refused", "closed", "broken"};
    if (e->why == CWS_E_NONE) {
        fputs(",\"ended\":null", stdout);
    } else {
        printf(",\"ended\":{\"why\":\"%s\",\"reason\":%" PRIu32 ",\"proven\":%s}", why[e->why], e->reason,
               e->proven ? "true" : "false");
    }
}

static void print_client_step(uint32_t i, const step *s, const cws_client *c, bool begins)
{
    static const char *const states[] = {"LINKING", "OPEN", "RELINKING", "CLOSED"};
    begin_row_step(i, s);
    printf(",\"state\":\"%s\",\"datagrams\":[", states[c->state]);
    for (int k = 0; k < s->num_datagrams; k++) {
        fputs(k > 0 ? "," : "", stdout);
        print_hex(s->datagrams[k], s->sizes[k]);
    }
    putchar(']');
    if (begins) {
        print_begun(c);
    } else {
        fputs(",\"link\":null", stdout);
    }
    print_client_ended(&c->ended);
    print_deadline("deadline", cws_client_deadline(c));
}

static const char *run_client(const request *q, const cws_client_config *config, random_bytes *r, bool prints)
{
    static step s;
    const json_token *events = member(q, q->root, "events");
    const json_token *t = json_first(&q->doc, events);
    const char *fault = NULL;
    cws_client c;
    r->used = 0;
    if (events->count > 0 && !cws_client_init(&c, time_of(q, t), config)) {
        return BAD;
    }
    for (uint32_t i = 0; fault == NULL && i < events->count; i++, t = json_after(&q->doc, t)) {
        bool before = c.begun;
        fault = client_event(q, t, &c, &s);
        if (prints) {
            print_client_step(i, &s, &c, c.begun && !before);
        }
    }
    return fault == NULL && r->used_up ? BAD : fault;
}

const char *session_client(const request *q)
{
    cws_client_config config;
    random_bytes random = {NULL, 0, 0, false};
    const char *fault = BAD;
    if (get_client_config(q, &config, &random) && json_is(member(q, q->root, "events"), JSON_ARRAY)) {
        fault = run_client(q, &config, &random, false);
    }
    if (fault == NULL) {
        answer_ok(q, "steps");
        putchar('[');
        (void)run_client(q, &config, &random, true);
        puts("]}");
    }
    free(random.all);
    return fault;
}

/* ---- Server (CXO-9, CXO-10) --------------------------------------------------- */

enum { S_RECEIVE, S_DATA, S_END, S_POLL, S_EVENTS };

static const char *const server_events[S_EVENTS] = {"receive", "data", "end", "poll"};

/* The keys of a request, looked up in it. */
static bool key_in_request(void *owner, const uint8_t identity[CWS_IDENTITY], uint8_t key[CWS_KEY])
{
    const request *q = (const request *)owner;
    const json_token *keys = member(q, member(q, q->root, "config"), "keys");
    const json_token *t = json_first(&q->doc, keys);
    for (uint32_t i = 0; i < keys->count; i++, t = json_after(&q->doc, t)) {
        uint8_t other[CWS_IDENTITY];
        if (get_fixed(q, t, "identity", other, sizeof other) && memcmp(other, identity, sizeof other) == 0) {
            return get_fixed(q, t, "key", key, CWS_KEY);
        }
    }
    return false;
}

static bool check_keys(const request *q, const json_token *keys)
{
    const json_token *t;
    if (!json_is(keys, JSON_ARRAY)) {
        return false;
    }
    t = json_first(&q->doc, keys);
    for (uint32_t i = 0; i < keys->count; i++, t = json_after(&q->doc, t)) {
        uint8_t identity[CWS_IDENTITY];
        uint8_t key[CWS_KEY];
        if (!get_fixed(q, t, "identity", identity, sizeof identity) || cws_zeros(identity, sizeof identity) ||
            !get_fixed(q, t, "key", key, sizeof key)) {
            return false;
        }
    }
    return true;
}

static bool get_server_config(request *q, cws_server_config *c, random_bytes *r)
{
    const json_token *t = member(q, q->root, "config");
    const json_token *keys = member(q, t, "keys");
    memset(c, 0, sizeof *c);
    c->random.fill = fill;
    c->random.owner = r;
    c->memory = heap_of_layers();
    if (!check_keys(q, keys)) {
        return false;
    }
    if (keys->count > 0) {
        c->key = key_in_request;
        c->owner = q;
    }
    return get_terms(q, t, &c->terms) && get_bool(q, t, "anonymous", &c->anonymous) &&
           get_server_key(q, t, c->secret, &c->has_secret) &&
           get_number(q, t, "max_connections", 1, 1 << 24, &c->max_connections) &&
           get_number(q, t, "max_per_address", 1, c->max_connections, &c->max_per_address) && get_random(q, t, r);
}

/* The entry that an event names, and what came of a message. */
typedef struct {
    cws_taken taken;
    cws_entry *entry;
} server_outcome;

static void receive_server(const request *q, const json_token *t, cws_server *s, step *st, server_outcome *o)
{
    uint8_t from[CWS_ADDRESS];
    size_t n = 0;
    (void)get_address(q, t, "from", from);
    (void)get_hex(q, t, "hex", &n);
    cws_server_receive(s, time_of(q, t), from, bytes, n, &o->taken);
    add_row(st, o->taken.row);
    o->entry = o->taken.entry;
    if (o->taken.error != CWS_OK) {
        st->refused = cws_error_name(o->taken.error);
        st->place = o->taken.place;
    }
}

static void poll_server(cws_server *s, cwp_time at, step *st)
{
    void *above;
    cws_row row;
    do {
        row = cws_server_poll(s, at, &above);
        add_row(st, row);
    } while (row != 0);
}

static const char *server_event(const request *q, const json_token *t, cws_server *s, step *st, server_outcome *o)
{
    cwp_time at = time_of(q, t);
    uint8_t any[CWS_ADDRESS];
    uint32_t link;
    uint32_t reason = 0;
    size_t n;
    int event;
    const char *fault = get_event(q, t, server_events, S_EVENTS, &event);
    memset(st, 0, sizeof *st);
    memset(o, 0, sizeof *o);
    st->letter = 'J';
    if (fault != NULL) {
        return fault;
    }
    if (event == S_RECEIVE) {
        if (!get_address(q, t, "from", any) || !get_hex(q, t, "hex", &n)) {
            return BAD;
        }
        receive_server(q, t, s, st, o);
        return NULL;
    }
    if (event == S_POLL) {
        poll_server(s, at, st);
        return NULL;
    }
    o->entry = get_number(q, t, "link", 0, UINT32_MAX, &link) ? cws_server_find(s, link) : NULL;
    if (o->entry == NULL || (event == S_END && !get_number(q, t, "reason", CWS_FULL, CWS_REPLACED, &reason))) {
        return BAD;
    }
    add_row(st, event == S_DATA ? cws_server_data(s, at, o->entry) : cws_server_end(s, at, o->entry, reason));
    return NULL;
}

static void print_entry(const cws_entry *e, bool made)
{
    static const char *const states[] = {"UNCONFIRMED", "CONFIRMED", "ENDED"};
    if (e == NULL) {
        fputs(",\"entry\":null", stdout);
        return;
    }
    printf(",\"entry\":{\"link\":%" PRIu32 ",\"state\":\"%s\"", e->link, states[e->state]);
    print_hex_field("address", e->address, CWS_ADDRESS);
    if (made) {
        print_sealed(&e->envelope);
    } else {
        fputs(",\"sealed\":null", stdout);
    }
    putchar('}');
}

static void print_server_step(uint32_t i, const step *st, const server_outcome *o, const cws_server *s)
{
    static const char *const counted[] = {"null", "\"cookie\"", "\"stale_cookie\"", "\"share\""};
    begin_row_step(i, st);
    fputs(",\"answer\":", stdout);
    if (o->taken.size > 0) {
        print_hex(o->taken.answer, o->taken.size);
    } else {
        fputs("null", stdout);
    }
    printf(",\"counted\":%s", counted[o->taken.counted]);
    print_entry(o->entry, o->taken.made);
    printf(",\"living\":%" PRIu32 ",\"ended\":%" PRIu32, s->living, s->count - s->living);
    print_deadline("deadline", cws_server_deadline(s));
}

static const char *run_server(const request *q, const cws_server_config *config, random_bytes *r, bool prints)
{
    static step st;
    const json_token *events = member(q, q->root, "events");
    const json_token *t = json_first(&q->doc, events);
    const char *fault = NULL;
    cws_server s;
    r->used = 0;
    if (!cws_server_init(&s, config)) {
        return BAD;
    }
    for (uint32_t i = 0; fault == NULL && i < events->count; i++, t = json_after(&q->doc, t)) {
        server_outcome o;
        fault = server_event(q, t, &s, &st, &o);
        if (prints) {
            print_server_step(i, &st, &o, &s);
        }
    }
    cws_server_free(&s);
    return fault == NULL && r->used_up ? BAD : fault;
}

const char *session_server(const request *q)
{
    cws_server_config config;
    request own = *q;
    random_bytes random = {NULL, 0, 0, false};
    const char *fault = BAD;
    if (get_server_config(&own, &config, &random) && json_is(member(q, q->root, "events"), JSON_ARRAY)) {
        fault = run_server(q, &config, &random, false);
    }
    if (fault == NULL) {
        answer_ok(q, "steps");
        putchar('[');
        (void)run_server(q, &config, &random, true);
        puts("]}");
    }
    free(random.all);
    return fault;
}
