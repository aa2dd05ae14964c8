/* The client of a session (section 5). See chunkwire_session.h. */
#include "session_keys.h"

#include <string.h>

#define SECOND ((cwp_time)1000000)
#define LINK_FAST (2 * SECOND)
#define LINK_SLOW SECOND
#define PROOF_SPACING ((cwp_time)10000)
#define COOKIE_USE (4 * SECOND)
#define COOKIE_LIFE (5 * SECOND)
#define REFUSE_WAIT SECOND

static cwp_time advance(cws_client *c, cwp_time now)
{
    if (now > c->latest) {
        c->latest = now;
    }
    return c->latest;
}

static cwp_time earlier(cwp_time a, cwp_time b) { return a < b ? a : b; }
static cwp_time later(cwp_time a, cwp_time b) { return a > b ? a : b; }

/* The row of a table that has one for each of LINKING, OPEN, RELINKING and CLOSED. */
static cws_row row_of(const cws_client *c, cws_row linking, cws_row open, cws_row relinking, cws_row closed)
{
    switch (c->state) {
    case CWS_LINKING: return linking;
    case CWS_OPEN: return open;
    case CWS_RELINKING: return relinking;
    case CWS_CLIENT_CLOSED: break;
    }
    return closed;
}

static bool is_known(const cws_client *c) { return !cws_zeros(c->config.identity, CWS_IDENTITY); }

/* ---- Actions (section 5.3) -------------------------------------------------- */

/* What is secret and belongs to the attempt (CXK-13). */
static void forget(cws_client *c)
{
    cws_wipe(c->secret, sizeof c->secret);
    cws_wipe(&c->greeting, sizeof c->greeting);
    cws_wipe(c->challenges, sizeof c->challenges);
    c->num_challenges = 0;
    c->hint = 0;
}

static void fail(cws_client *c, cws_why why, uint32_t reason, bool proven)
{
    c->state = CWS_CLIENT_CLOSED;
    c->ended.why = why;
    c->ended.reason = reason;
    c->ended.proven = proven;
    forget(c);
}

/* CXC-12 */
static void fail_unproven(cws_client *c)
{
    fail(c, c->hint == 0 ? CWS_E_TIMEOUT : CWS_E_REFUSED, c->hint, false);
}

static void begin_offer(cws_client *c)
{
    const cws_terms *t = &c->config.terms;
    cws_offer *o = &c->offer;
    o->protocol = t->protocol;
    o->mode = t->mode;
    o->lanes = t->lanes;
    o->variants = t->variants;
    o->extensions = (t->extensions & ~(uint32_t)CWS_NO_EXTENSION) | (uint32_t)(o->nonce[3] % 2) << 12;
    o->timeout = t->timeout;
    memcpy(o->format, t->format, CWS_FORMAT);
    memcpy(o->identity, c->config.identity, CWS_IDENTITY);
    o->resume = c->begun ? c->envelope.link : 0;
}

/* A client that resumes needs no key of the server: it proves itself by the resume key. */
static bool greet(cws_client *c)
{
    const uint8_t *server = c->config.knows_server ? c->config.server : NULL;
    return cws_greet(&c->greeting, &c->offer, c->config.key, server) &&
           (server == NULL || c->begun || cws_know(&c->greeting, c->secret, server));
}

/* RENEW: CXC-9 */
static bool renew(cws_client *c, cwp_time now)
{
    const cws_random *r = &c->config.random;
    cws_link link;
    forget(c);
    c->began_at = c->link_at = now;
    if (!r->fill(r->owner, c->offer.nonce, CWS_NONCE) || !r->fill(r->owner, c->secret, CWS_KEY)) {
        return false;
    }
    begin_offer(c);
    cws_link_of(c->offer.nonce, &link);
    return cws_link_digest(&link, c->offer.digest) && cws_new_share(c->offer.mode, c->secret, c->offer.share) &&
           greet(c);
}

static void renew_or_fail(cws_client *c, cwp_time now)
{
    c->state = c->state == CWS_LINKING ? CWS_LINKING : CWS_RELINKING;
    if (!renew(c, now)) {
        fail(c, CWS_E_BROKEN, 0, false);
    }
}

/* CXK-3, CXK-6 */
static bool make_proof(cws_client *c, cws_kept *k, cws_proof *p)
{
    uint8_t seen[CWS_KEY];
    cws_message m;
    (void)cws_decode(k->bytes, sizeof k->bytes, &m, NULL);
    memset(p, 0, sizeof *p);
    p->offer = c->offer;
    p->stamp = m.as.challenge.stamp;
    memcpy(p->cookie, m.as.challenge.cookie, CWS_PROOF);
    return cws_seen(&c->greeting, &m.as.challenge, seen) &&
           (!c->begun || cws_move(c->keys.resume, seen, p->move)) &&
           cws_prove(&c->greeting, seen, p->move, p->proof, k->whole);
}

static size_t prove(cws_client *c, cwp_time now, cws_kept *k, uint8_t out[CWS_MAX_MESSAGE])
{
    cws_message m;
    m.type = CWS_T_PROOF;
    k->proved = make_proof(c, k, &m.as.proof);
    c->proof_at = now;
    return k->proved ? cws_bytes_of(&m, out) : 0;
}

/* ---- Times and guards of polls (CXC-3, CXC-6) --------------------------------- */

static cwp_time since(const cws_client *c) { return c->state == CWS_LINKING ? c->first_at : c->heard_at; }

static cwp_time timeout(const cws_client *c)
{
    return (cwp_time)(c->begun ? c->agreed.timeout : c->offer.timeout) * CWS_TIMEOUT_UNIT;
}

static cwp_time silence(const cws_client *c) { return timeout(c) * 3 / 10; }

static bool stands(const cws_client *c) { return c->hint != 0 && (c->state == CWS_LINKING || !is_known(c)); }

static cwp_time interval(const cws_client *c, cwp_time now)
{
    return now - c->began_at < LINK_FAST ? CWS_LINK_INTERVAL : LINK_SLOW;
}

static bool in_use(const cws_kept *k, cwp_time at) { return at - k->taken_at < COOKIE_USE; }

static const cws_kept *last_challenge(const cws_client *c)
{
    return c->num_challenges > 0 ? &c->challenges[c->num_challenges - 1] : NULL;
}

/* The first challenge that is to be proved for the first time at a time, or NULL. */
static const cws_kept *first_unproved(const cws_client *c, cwp_time at)
{
    for (uint32_t i = 0; i < c->num_challenges; i++) {
        if (!c->challenges[i].proved && in_use(&c->challenges[i], at)) {
            return &c->challenges[i];
        }
    }
    return NULL;
}

static const cws_kept *to_prove(const cws_client *c, cwp_time now)
{
    bool first = c->proof_at == CWP_NEVER;
    const cws_kept *last = last_challenge(c);
    const cws_kept *k = first || now - c->proof_at >= PROOF_SPACING ? first_unproved(c, now) : NULL;
    if (k != NULL) {
        return k;
    }
    return last != NULL && last->proved && in_use(last, now) && !first && now - c->proof_at >= interval(c, now)
               ? last
               : NULL;
}

/* The first time from now on at which to_prove names one. */
static cwp_time next_proof(const cws_client *c)
{
    cwp_time now = c->latest;
    cwp_time soon = c->proof_at == CWP_NEVER ? now : later(now, c->proof_at + PROOF_SPACING);
    cwp_time at = first_unproved(c, soon) != NULL ? soon : CWP_NEVER;
    const cws_kept *last = last_challenge(c);
    if (last != NULL && last->proved && c->proof_at != CWP_NEVER) {
        cwp_time again = later(now, c->proof_at + CWS_LINK_INTERVAL);
        if (again - c->began_at >= LINK_FAST) {
            again = later(again, c->proof_at + LINK_SLOW);
        }
        at = in_use(last, again) ? earlier(at, again) : at;
    }
    return at;
}

cwp_time cws_client_deadline(const cws_client *c)
{
    cwp_time at = since(c) + timeout(c);
    if (c->state == CWS_CLIENT_CLOSED) {
        return CWP_NEVER;
    }
    if (c->state == CWS_OPEN) {
        return later(c->spoke ? earlier(at, c->heard_at + silence(c)) : at, c->latest);
    }
    at = earlier(earlier(at, c->link_at), next_proof(c));
    return later(stands(c) ? earlier(at, c->hint_at + REFUSE_WAIT) : at, c->latest);
}

/* ---- Poll ------------------------------------------------------------------- */

static cws_row poll_linking(cws_client *c, cwp_time now, uint8_t out[CWS_MAX_MESSAGE], size_t *size)
{
    const cws_kept *k = to_prove(c, now);
    cws_message m;
    if (k != NULL) {
        *size = prove(c, now, &c->challenges[k - c->challenges], out);
        return row_of(c, 3, 0, 25, 0);
    }
    if (now < c->link_at) {
        return row_of(c, 5, 0, 27, 0);
    }
    c->link_at = now + interval(c, now);
    m.type = CWS_T_LINK;
    cws_link_of(c->offer.nonce, &m.as.link);
    *size = cws_bytes_of(&m, out);
    return row_of(c, 4, 0, 26, 0);
}

cws_row cws_client_poll(cws_client *c, cwp_time time, uint8_t out[CWS_MAX_MESSAGE], size_t *size)
{
    cwp_time now = advance(c, time);
    cws_row row = row_of(c, 1, 15, 24, 38);
    *size = 0;
    if (c->state == CWS_CLIENT_CLOSED) {
        return row;
    }
    if (now - since(c) >= timeout(c)) {
        fail_unproven(c);
        return row;
    }
    if (c->state == CWS_OPEN) {
        if (!c->spoke || now - c->heard_at < silence(c)) {
            return 17;
        }
        renew_or_fail(c, now);
        return 16;
    }
    if (stands(c) && now - c->hint_at >= REFUSE_WAIT) {
        row = row_of(c, 2, 0, 45, 0);
        fail_unproven(c);
        return row;
    }
    return poll_linking(c, now, out, size);
}

/* ---- Messages --------------------------------------------------------------- */

/* Whether a challenge is for this attempt, and new. */
static bool is_taken(const cws_client *c, const cws_challenge *m, const uint8_t *bytes)
{
    cws_link own;
    cws_link_of(c->offer.nonce, &own);
    if (!cws_same(m->nonce, c->offer.nonce, CWS_NONCE) || m->version != CWS_VERSION ||
        cws_choice(own.versions, m->versions) != CWS_VERSION) {
        return false;
    }
    for (uint32_t i = 0; i < c->num_challenges; i++) {
        if (memcmp(c->challenges[i].bytes, bytes, sizeof c->challenges[i].bytes) == 0) {
            return false;
        }
    }
    return true;
}

/* CXC-5 3: the first that was not proved makes room, or the first of all. */
static void make_room(cws_client *c)
{
    uint32_t i = 0;
    while (i < c->num_challenges && c->challenges[i].proved) {
        i++;
    }
    i = i == c->num_challenges ? 0 : i;
    c->num_challenges--;
    memmove(&c->challenges[i], &c->challenges[i + 1], (c->num_challenges - i) * sizeof c->challenges[0]);
}

static cws_row take_challenge(cws_client *c, cwp_time now, const cws_challenge *m, const uint8_t *bytes)
{
    cws_kept *k;
    if (c->state == CWS_OPEN || c->state == CWS_CLIENT_CLOSED) {
        return row_of(c, 0, 18, 0, 39);
    }
    if (!is_taken(c, m, bytes)) {
        return row_of(c, 7, 0, 29, 0);
    }
    if (c->num_challenges == 0) {
        c->hint = 0;
    }
    if (c->num_challenges == CWS_KEPT_CHALLENGES) {
        make_room(c);
    }
    k = &c->challenges[c->num_challenges++];
    memcpy(k->bytes, bytes, sizeof k->bytes);
    k->taken_at = now;
    k->proved = false;
    return row_of(c, 6, 0, 28, 0);
}

/* Whether the proof of an answer is valid for the PROOF of a challenge that is not too old. */
static bool is_proven(const cws_client *c, cwp_time now, const uint8_t key[CWS_KEY], const cws_message *m,
                      const uint8_t proof[CWS_PROOF])
{
    for (uint32_t i = 0; i < c->num_challenges; i++) {
        const cws_kept *k = &c->challenges[i];
        uint8_t expected[CWS_PROOF];
        if (k->proved && now - k->taken_at < COOKIE_LIFE && cws_answer(key, k->whole, m, expected) &&
            cws_same(expected, proof, CWS_PROOF)) {
            return true;
        }
    }
    return false;
}

/* CXC-17 1 */
static bool is_offered(const cws_offer *o, const cws_agreed *a)
{
    uint32_t extensions = o->extensions & ~(uint32_t)CWS_NO_EXTENSION;
    return a->lanes <= o->lanes && (a->variant & ~o->variants) == 0 && (a->extensions & ~extensions) == 0 &&
           a->timeout <= o->timeout;
}

/* CXC-17 2 */
static bool is_ours(const cws_client *c, const cws_linked *m)
{
    return m->link == c->envelope.link && cws_same(m->share, c->share, CWS_KEY) &&
           m->agreed.lanes == c->agreed.lanes && m->agreed.variant == c->agreed.variant &&
           m->agreed.extensions == c->agreed.extensions && m->agreed.timeout == c->agreed.timeout;
}

/* BEGIN, if the proof is valid (CXC-7). */
static bool begin(cws_client *c, cwp_time now, const cws_message *m)
{
    const cws_linked *l = &m->as.linked;
    cws_meeting meeting;
    uint8_t connection[CWS_KEY];
    bool ok = is_offered(&c->offer, &l->agreed) && cws_meet(&meeting, &c->greeting, c->secret, l->share) &&
              is_proven(c, now, meeting.answer_key, m, l->proof) && cws_connection(&c->greeting, l, connection) &&
              cws_make_keys(&meeting, connection, &c->keys);
    cws_wipe(&meeting, sizeof meeting);
    if (ok) {
        c->begun = true;
        c->agreed = l->agreed;
        memcpy(c->share, l->share, CWS_KEY);
        cws_envelope_init(&c->envelope, c->offer.mode, l->link, c->keys.c2s, c->keys.s2c);
    }
    return ok;
}

static cws_row take_linked(cws_client *c, cwp_time now, const cws_message *m)
{
    const cws_linked *l = &m->as.linked;
    cws_row row = row_of(c, 8, 19, 30, 40);
    bool valid;
    if (c->state == CWS_OPEN || c->state == CWS_CLIENT_CLOSED) {
        return row;
    }
    valid = cws_same(l->nonce, c->offer.nonce, CWS_NONCE) &&
            (c->state == CWS_LINKING ? begin(c, now, m)
                                     : is_ours(c, l) && is_proven(c, now, c->keys.resume, m, l->proof));
    if (!valid) {
        return row_of(c, 9, 0, 31, 0);
    }
    c->state = CWS_OPEN;
    c->heard_at = now;
    c->spoke = false;
    forget(c);
    return row;
}

static bool was_proved(const cws_client *c)
{
    for (uint32_t i = 0; i < c->num_challenges; i++) {
        if (c->challenges[i].proved) {
            return true;
        }
    }
    return false;
}

/* Of one that is unproven (CXC-3). */
static bool is_hint(const cws_client *c, const cws_refused *m)
{
    return cws_zeros(m->proof, CWS_PROOF) && ((m->reason == CWS_NO_VERSION && c->num_challenges == 0) ||
                                              (m->reason == CWS_IDENTITY_REFUSED && was_proved(c)));
}

static cws_row take_refused(cws_client *c, cwp_time now, const cws_message *m)
{
    const cws_refused *r = &m->as.refused;
    bool ours = cws_same(r->nonce, c->offer.nonce, CWS_NONCE);
    bool proven;
    cws_row row = row_of(c, 10, 20, 32, 41);
    if (c->state == CWS_OPEN || c->state == CWS_CLIENT_CLOSED) {
        return row;
    }
    proven = ours && is_proven(c, now, c->greeting.refused_key, m, r->proof);
    if (proven && (c->state == CWS_LINKING || is_known(c))) {
        fail(c, CWS_E_REFUSED, r->reason, is_known(c));
        return row;
    }
    if (!proven && !(ours && is_hint(c, r))) {
        return row_of(c, 12, 0, 34, 0);
    }
    if (c->hint == 0) {
        c->hint = r->reason;
        c->hint_at = now;
    }
    return row_of(c, 11, 0, 33, 0);
}

cws_error cws_client_receive(cws_client *c, cwp_time time, const uint8_t *datagram, size_t length, cws_row *row,
                             int *place)
{
    cwp_time now = advance(c, time);
    cws_message m;
    cws_error e = cws_decode(datagram, length, &m, place);
    *row = 0;
    if (e != CWS_OK) {
        return e;
    }
    if (m.type == CWS_T_CHALLENGE) {
        *row = take_challenge(c, now, &m.as.challenge, datagram);
    } else if (m.type == CWS_T_LINKED) {
        *row = take_linked(c, now, &m);
    } else if (m.type == CWS_T_REFUSED) {
        *row = take_refused(c, now, &m);
    }
    return CWS_OK;
}

/* ---- Other events ----------------------------------------------------------- */

static bool is_allowed(const cws_client_config *f)
{
    bool known = !cws_zeros(f->identity, CWS_IDENTITY);
    uint8_t any[CWS_KEY] = {1};
    uint8_t out[CWS_KEY];
    return cws_terms_allowed(&f->terms) && (known || cws_zeros(f->key, CWS_KEY)) &&
           (f->terms.mode != CWS_CRC || (!known && !f->knows_server)) &&
           (!f->knows_server || cws_shared_secret(any, f->server, out));
}

bool cws_client_init(cws_client *c, cwp_time now, const cws_client_config *config)
{
    memset(c, 0, sizeof *c);
    c->config = *config;
    c->latest = c->first_at = c->heard_at = now;
    c->proof_at = CWP_NEVER;
    return is_allowed(config) && renew(c, now);
}

cws_row cws_client_data(cws_client *c, cwp_time time)
{
    cwp_time now = advance(c, time);
    if (c->state == CWS_OPEN || c->state == CWS_RELINKING) {
        c->heard_at = now;
        c->spoke = false;
    }
    return row_of(c, 0, 21, 35, 42);
}

void cws_client_sent(cws_client *c, cwp_time now)
{
    (void)advance(c, now);
    c->spoke = true;
}

cws_row cws_client_move(cws_client *c, cwp_time time)
{
    cwp_time now = advance(c, time);
    cws_row row = row_of(c, 13, 22, 36, 43);
    if (c->state != CWS_CLIENT_CLOSED) {
        renew_or_fail(c, now);
    }
    return row;
}

cws_row cws_client_close(cws_client *c, cwp_time now)
{
    cws_row row = row_of(c, 14, 23, 37, 44);
    (void)advance(c, now);
    if (c->state != CWS_CLIENT_CLOSED) {
        fail(c, CWS_E_CLOSED, 0, false);
    }
    return row;
}

void cws_client_end(cws_client *c) { cws_wipe(c, sizeof *c); }
