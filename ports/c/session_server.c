/* The server of sessions (section 6). See chunkwire_session.h. */
#include "session_keys.h"

#include <string.h>

#define SECOND ((cwp_time)1000000)
#define COOKIE_LIFE (5 * SECOND)
#define HALF_OPEN (5 * SECOND)
#define REMEMBER (10 * SECOND)

enum { LEAST_LINK = 64, MOST_CONNECTIONS = 1 << 24, ENDED_FOR_LIVING = 4, FIRST_CAPACITY = 16 };

/* A PROOF that came to the table. */
typedef struct {
    cwp_time now;
    const uint8_t *address;
    const cws_proof *proof;
    cws_greeting greeting;
    uint8_t whole[CWS_KEY];
    cws_agreed agreed;
    bool ours; /* its resume is 0 or the link of the entry */
} arrival;

static cwp_time advance(cws_server *s, cwp_time now)
{
    if (now > s->latest) {
        s->latest = now;
    }
    return s->latest;
}

static bool is_living(const cws_entry *e) { return e->state != CWS_ENDED; }

static bool is_anonymous(const uint8_t identity[CWS_IDENTITY]) { return cws_zeros(identity, CWS_IDENTITY); }

/* ---- Entries (section 6.2) -------------------------------------------------- */

cws_entry *cws_server_find(const cws_server *s, uint32_t link)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->links[i] == link) {
            return s->entries[i];
        }
    }
    return NULL;
}

/* CXN-8 */
static void prefix_of(const uint8_t address[CWS_ADDRESS], uint8_t out[16])
{
    bool four = cws_zeros(address, 10) && address[10] == 0xFF && address[11] == 0xFF;
    memset(out, 0, 16);
    memcpy(out, address, four ? 16 : 8);
}

/* CXS-7 */
static bool has_room(const cws_server *s, const uint8_t address[CWS_ADDRESS])
{
    uint8_t prefix[16];
    uint32_t here = 0;
    uint32_t ended_here = 0;
    prefix_of(address, prefix);
    for (uint32_t i = 0; i < s->count; i++) {
        if (memcmp(s->entries[i]->prefix, prefix, sizeof prefix) == 0) {
            here += is_living(s->entries[i]);
            ended_here += !is_living(s->entries[i]);
        }
    }
    return s->living < s->config.max_connections && here < s->config.max_per_address &&
           s->count - s->living < ENDED_FOR_LIVING * s->config.max_connections &&
           ended_here < ENDED_FOR_LIVING * s->config.max_per_address;
}

static void *take(const cws_server *s, size_t size)
{
    void *block = s->config.memory.take(s->config.memory.owner, size);
    if (block != NULL) {
        memset(block, 0, size);
    }
    return block;
}

static void give(const cws_server *s, void *block, size_t size)
{
    if (block != NULL) {
        s->config.memory.give(s->config.memory.owner, block, size);
    }
}

/* Lists of twice the size, or false; then nothing has changed. */
static bool grow(cws_server *s)
{
    uint32_t capacity = s->capacity > 0 ? 2 * s->capacity : FIRST_CAPACITY;
    cws_entry **entries = (cws_entry **)take(s, capacity * sizeof *entries);
    uint32_t *links = (uint32_t *)take(s, capacity * sizeof *links);
    if (entries == NULL || links == NULL) {
        give(s, entries, capacity * sizeof *entries);
        give(s, links, capacity * sizeof *links);
        return false;
    }
    if (s->count > 0) {
        memcpy(entries, s->entries, s->count * sizeof *entries);
        memcpy(links, s->links, s->count * sizeof *links);
    }
    give(s, s->entries, s->capacity * sizeof *entries);
    give(s, s->links, s->capacity * sizeof *links);
    s->entries = entries;
    s->links = links;
    s->capacity = capacity;
    return true;
}

static cws_entry *add_entry(cws_server *s)
{
    cws_entry *e = s->count < s->capacity || grow(s) ? (cws_entry *)take(s, sizeof *e) : NULL;
    if (e != NULL) {
        e->state = CWS_ENDED;
        s->entries[s->count++] = e;
    }
    return e;
}

static uint32_t index_of(const cws_server *s, const cws_entry *e)
{
    uint32_t i = 0;
    while (s->entries[i] != e) {
        i++;
    }
    return i;
}

/* CXS-14 */
static void remove_entry(cws_server *s, uint32_t i)
{
    cws_entry *e = s->entries[i];
    s->living -= is_living(e);
    s->count--;
    s->entries[i] = s->entries[s->count];
    s->links[i] = s->links[s->count];
    cws_wipe(e, sizeof *e);
    give(s, e, sizeof *e);
}

/* CXS-3: whether this is the entry of a PROOF. */
static bool is_entry_of(const cws_entry *e, const arrival *a)
{
    const cws_offer *o = &a->proof->offer;
    if (memcmp(e->identity, o->identity, CWS_IDENTITY) != 0) {
        return false;
    }
    if (!is_anonymous(o->identity)) {
        return true;
    }
    if (o->resume != 0) {
        return e->link == o->resume;
    }
    return cws_same(e->first, a->greeting.hello, CWS_KEY) && memcmp(e->made_at, a->address, CWS_ADDRESS) == 0;
}

static cws_entry *entry_of(const cws_server *s, const arrival *a)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (is_entry_of(s->entries[i], a)) {
            return s->entries[i];
        }
    }
    return NULL;
}

/* ---- Actions (section 6.4) -------------------------------------------------- */

static void broken(cws_taken *t) { t->error = CWS_BROKEN; }

static void answer(cws_taken *t, const cws_message *m) { t->size = cws_bytes_of(m, t->answer); }

static void refusal(cws_message *m, const uint8_t nonce[CWS_NONCE], uint32_t reason)
{
    memset(m, 0, sizeof *m);
    m->type = CWS_T_REFUSED;
    memcpy(m->as.refused.nonce, nonce, CWS_NONCE);
    m->as.refused.version = CWS_VERSION;
    m->as.refused.reason = reason;
}

static void refuse_unproven(cws_taken *t, const uint8_t nonce[CWS_NONCE], uint32_t reason)
{
    cws_message m;
    refusal(&m, nonce, reason);
    answer(t, &m);
}

/* CXS-11 */
static void refuse(cws_taken *t, cws_row row, const arrival *a, uint32_t reason)
{
    cws_message m;
    refusal(&m, a->proof->offer.nonce, reason);
    if (!cws_answer(a->greeting.refused_key, a->whole, &m, m.as.refused.proof)) {
        broken(t);
        return;
    }
    t->row = row;
    answer(t, &m);
}

static void refuse_ended(cws_taken *t, cws_row row, const arrival *a, cws_entry *e)
{
    if (a->ours) {
        e->ended_at = a->now;
    }
    refuse(t, row, a, e->reason);
}

/* LINKED of an entry, without its proof. */
static void linked_of(const cws_entry *e, const uint8_t nonce[CWS_NONCE], cws_message *m)
{
    memset(m, 0, sizeof *m);
    m->type = CWS_T_LINKED;
    memcpy(m->as.linked.nonce, nonce, CWS_NONCE);
    m->as.linked.link = e->link;
    memcpy(m->as.linked.share, e->share, CWS_KEY);
    m->as.linked.agreed = e->agreed;
}

/* PLACE, ANSWER: CXS-9, CXS-10 */
static void place(cws_taken *t, cws_row row, const arrival *a, cws_entry *e)
{
    const uint8_t *key = a->proof->offer.resume == 0 ? e->answer_key : e->keys.resume;
    cws_message m;
    linked_of(e, a->proof->offer.nonce, &m);
    if (!cws_answer(key, a->whole, &m, m.as.linked.proof)) {
        broken(t);
        return;
    }
    t->row = row;
    t->entry = e;
    t->moved = memcmp(e->address, a->address, CWS_ADDRESS) != 0;
    memcpy(e->hello, a->greeting.hello, CWS_KEY);
    e->newest = (int64_t)a->proof->stamp;
    e->placed_at = a->now;
    memcpy(e->address, a->address, CWS_ADDRESS);
    answer(t, &m);
}

/* CXN-5; false: there are no random bytes. */
static bool draw_link(const cws_server *s, uint32_t *link)
{
    const cws_random *r = &s->config.random;
    uint8_t b[4];
    do {
        if (!r->fill(r->owner, b, sizeof b)) {
            return false;
        }
        *link = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    } while (*link == 0 || cws_server_find(s, *link) != NULL);
    return true;
}

/* Keys and envelope of an entry that has its link, share and agreed values. */
static bool make_keys(cws_entry *e, const arrival *a, const cws_meeting *meeting)
{
    uint8_t connection[CWS_KEY];
    cws_message m;
    linked_of(e, a->proof->offer.nonce, &m);
    if (!cws_connection(&a->greeting, &m.as.linked, connection) || !cws_make_keys(meeting, connection, &e->keys)) {
        return false;
    }
    memcpy(e->answer_key, meeting->answer_key, CWS_KEY);
    cws_envelope_init(&e->envelope, a->proof->offer.mode, e->link, e->keys.s2c, e->keys.c2s);
    return true;
}

/* What the PROOF and a private share give: a whole entry, apart from the others. */
static bool make_entry(cws_server *s, const arrival *a, const uint8_t secret[CWS_KEY], const cws_meeting *meeting,
                       cws_entry *e)
{
    memset(e, 0, sizeof *e);
    e->state = CWS_UNCONFIRMED;
    e->agreed = a->agreed;
    memcpy(e->identity, a->proof->offer.identity, CWS_IDENTITY);
    memcpy(e->address, a->address, CWS_ADDRESS);
    memcpy(e->made_at, a->address, CWS_ADDRESS);
    memcpy(e->first, a->greeting.hello, CWS_KEY);
    prefix_of(a->address, e->prefix);
    return draw_link(s, &e->link) && cws_new_share(a->proof->offer.mode, secret, e->share) && make_keys(e, a, meeting);
}

/* Puts a whole entry into the place of the one before, or into a new one. */
static cws_entry *put_entry(cws_server *s, cws_entry *before, const cws_entry *made)
{
    cws_entry *e = before != NULL ? before : add_entry(s);
    void *above;
    if (e == NULL) {
        return NULL;
    }
    above = e->above;
    s->living += !is_living(e);
    *e = *made;
    e->above = above;
    s->links[index_of(s, e)] = e->link;
    return e;
}

static void make_with(cws_server *s, cws_taken *t, cws_row row, arrival *a, cws_entry *before, cws_meeting *meeting,
                      const uint8_t secret[CWS_KEY])
{
    const uint8_t *share = a->proof->offer.share;
    cws_entry made;
    cws_entry *e = NULL;
    if ((s->config.has_secret && !cws_know(&a->greeting, s->config.secret, share)) ||
        !cws_meet(meeting, &a->greeting, secret, share)) {
        t->counted = CWS_C_SHARE; /* CXS-19 */
        return;
    }
    if (make_entry(s, a, secret, meeting, &made)) {
        e = put_entry(s, before, &made);
    }
    cws_wipe(&made, sizeof made);
    if (e == NULL) {
        broken(t);
        return;
    }
    t->made = true;
    place(t, row, a, e);
    t->moved = false;
}

/* MAKE, ANSWER: CXS-8, CXS-19; the connection of the entry before, if there is one, has ended. */
static void make(cws_server *s, cws_taken *t, cws_row row, arrival *a, cws_entry *before)
{
    uint8_t secret[CWS_KEY];
    cws_meeting meeting;
    if (s->config.random.fill(s->config.random.owner, secret, sizeof secret)) {
        make_with(s, t, row, a, before, &meeting, secret);
        cws_wipe(&meeting, sizeof meeting);
    } else {
        broken(t);
    }
    cws_wipe(secret, sizeof secret);
}

/* ---- Table (section 6.3) ---------------------------------------------------- */

/* The last part of *old*: an anonymous client that has resumed since (CXS-6). */
static bool is_first_again(const arrival *a, const cws_entry *e)
{
    return is_anonymous(a->proof->offer.identity) && a->proof->offer.resume == 0 &&
           !cws_same(a->greeting.hello, e->hello, CWS_KEY);
}

static void proof_of_free(cws_server *s, cws_taken *t, arrival *a)
{
    if (a->proof->offer.resume != 0) {
        refuse(t, 1, a, CWS_CLOSED);
    } else if (!has_room(s, a->address)) {
        refuse(t, 2, a, CWS_FULL);
    } else {
        make(s, t, 3, a, NULL);
    }
}

static void proof_of_living(cws_server *s, cws_taken *t, arrival *a, cws_entry *e)
{
    bool half = e->state == CWS_UNCONFIRMED;
    bool same = cws_same(a->greeting.hello, e->hello, CWS_KEY);
    int64_t stamp = (int64_t)a->proof->stamp;
    if (!a->ours) {
        refuse(t, half ? 8 : 17, a, CWS_REPLACED);
    } else if (stamp < e->newest || (stamp == e->newest && !same) || is_first_again(a, e)) {
        t->row = half ? 4 : 13;
    } else if (same) {
        place(t, half ? 5 : 14, a, e);
    } else if (a->proof->offer.resume != 0) {
        place(t, half ? 6 : 15, a, e);
    } else {
        make(s, t, half ? 7 : 16, a, e);
    }
}

static void proof_of_ended(cws_server *s, cws_taken *t, arrival *a, cws_entry *e)
{
    if (cws_same(a->greeting.hello, e->hello, CWS_KEY)) {
        refuse_ended(t, 21, a, e);
    } else if ((int64_t)a->proof->stamp <= e->newest || is_first_again(a, e)) {
        t->row = 22;
    } else if (a->proof->offer.resume != 0) {
        refuse_ended(t, 23, a, e);
    } else if (!has_room(s, a->address)) {
        refuse(t, 24, a, CWS_FULL);
    } else {
        make(s, t, 25, a, e);
    }
}

/* ---- Messages (section 6.1) ------------------------------------------------- */

static void take_link(cws_server *s, cws_taken *t, cwp_time now, const uint8_t address[CWS_ADDRESS],
                      const cws_link *link)
{
    cws_message m;
    uint8_t digest[CWS_PROOF];
    cws_challenge *c = &m.as.challenge;
    m.type = CWS_T_CHALLENGE;
    cws_challenge_of(link->nonce, c);
    if (cws_choice(link->versions, c->versions) != CWS_VERSION) {
        refuse_unproven(t, link->nonce, CWS_NO_VERSION);
        return;
    }
    s->stamp = now > s->stamp ? now : s->stamp + 1;
    c->stamp = (uint64_t)s->stamp;
    if (!cws_link_digest(link, digest) || !cws_cookie(s->cookies, c->stamp, address, digest, c->cookie)) {
        broken(t);
        return;
    }
    answer(t, &m);
}

/* CXK-9: an unknown identity has a key that no client has. False: libcrypto failed. */
static bool key_of(const cws_server *s, const uint8_t identity[CWS_IDENTITY], uint8_t key[CWS_KEY], bool *known)
{
    memset(key, 0, CWS_KEY);
    if (is_anonymous(identity)) {
        *known = s->config.anonymous;
        return true;
    }
    *known = s->config.key != NULL && s->config.key(s->config.owner, identity, key);
    return *known || cws_expand(s->decoys, "decoy", identity, CWS_IDENTITY, key);
}

/* CXS-2 6; 0: nothing differs. */
static uint32_t mismatch(const cws_server *s, arrival *a)
{
    const cws_terms *own = &s->config.terms;
    const cws_offer *o = &a->proof->offer;
    if (o->protocol != own->protocol) {
        return CWS_OTHER_PROTOCOL;
    }
    if (o->mode != own->mode) {
        return CWS_OTHER_MODE;
    }
    if (memcmp(o->format, own->format, CWS_FORMAT) != 0) {
        return CWS_OTHER_FORMAT;
    }
    return cws_agree(own, o, &a->agreed) ? 0 : CWS_NO_VARIANT;
}

/* Whether the entry is resumed, and `move` is its value (CXS-2 5). */
static bool moves(const arrival *a, const cws_entry *e, const uint8_t seen[CWS_KEY])
{
    uint8_t move[CWS_PROOF];
    return cws_move(e->keys.resume, seen, move) && cws_same(move, a->proof->move, CWS_PROOF);
}

/* CXS-2 4 to 7 */
static void take_proven(cws_server *s, cws_taken *t, arrival *a, const uint8_t seen[CWS_KEY])
{
    uint32_t resume = a->proof->offer.resume;
    cws_entry *e = entry_of(s, a);
    uint32_t reason;
    a->ours = resume == 0 || (e != NULL && e->link == resume);
    if (e != NULL && resume != 0 && a->ours && !moves(a, e, seen)) {
        refuse_unproven(t, a->proof->offer.nonce, CWS_IDENTITY_REFUSED);
        return;
    }
    reason = mismatch(s, a);
    if (reason != 0) {
        refuse(t, 0, a, reason);
    } else if (e == NULL) {
        proof_of_free(s, t, a);
    } else if (is_living(e)) {
        proof_of_living(s, t, a, e);
    } else {
        proof_of_ended(s, t, a, e);
    }
}

/* CXS-2 3; false: libcrypto failed. */
static bool check_proof(const cws_server *s, arrival *a, uint8_t seen[CWS_KEY], bool *valid)
{
    const cws_proof *p = a->proof;
    uint8_t key[CWS_KEY];
    uint8_t proof[CWS_PROOF];
    bool known = false;
    cws_challenge c;
    bool ok;
    cws_challenge_of(p->offer.nonce, &c);
    c.stamp = p->stamp;
    memcpy(c.cookie, p->cookie, CWS_PROOF);
    ok = key_of(s, p->offer.identity, key, &known) &&
         cws_greet(&a->greeting, &p->offer, key, s->config.has_secret ? s->public_key : NULL) &&
         cws_seen(&a->greeting, &c, seen) && cws_prove(&a->greeting, seen, p->move, proof, a->whole);
    *valid = ok && cws_same(p->proof, proof, CWS_PROOF) && known;
    cws_wipe(key, sizeof key);
    return ok;
}

static void take_proof(cws_server *s, cws_taken *t, cwp_time now, const uint8_t address[CWS_ADDRESS],
                       const cws_proof *p)
{
    uint8_t cookie[CWS_PROOF];
    uint8_t seen[CWS_KEY];
    arrival a;
    bool valid = false;
    if (now - (int64_t)p->stamp >= COOKIE_LIFE) {
        t->counted = CWS_C_STALE_COOKIE;
        return;
    }
    if (!cws_cookie(s->cookies, p->stamp, address, p->offer.digest, cookie)) {
        broken(t);
        return;
    }
    if (!cws_same(cookie, p->cookie, CWS_PROOF)) {
        t->counted = CWS_C_COOKIE;
        return;
    }
    memset(&a, 0, sizeof a);
    a.now = now;
    a.address = address;
    a.proof = p;
    if (!check_proof(s, &a, seen, &valid)) {
        broken(t);
    } else if (!valid) {
        refuse_unproven(t, p->offer.nonce, CWS_IDENTITY_REFUSED);
    } else {
        take_proven(s, t, &a, seen);
    }
    cws_wipe(&a, sizeof a);
}

/* CXS-1 */
static bool is_other_link(cws_error e, const uint8_t *datagram, size_t length)
{
    return e == CWS_BAD_VERSION && datagram[0] == CWS_T_LINK && length >= LEAST_LINK;
}

void cws_server_receive(cws_server *s, cwp_time time, const uint8_t address[CWS_ADDRESS], const uint8_t *datagram,
                        size_t length, cws_taken *t)
{
    cwp_time now = advance(s, time);
    cws_message m;
    memset(t, 0, sizeof *t);
    t->place = -1;
    t->error = cws_decode(datagram, length, &m, &t->place);
    if (is_other_link(t->error, datagram, length)) {
        refuse_unproven(t, datagram + 2, CWS_NO_VERSION);
    } else if (t->error == CWS_OK && m.type == CWS_T_LINK) {
        take_link(s, t, now, address, &m.as.link);
    } else if (t->error == CWS_OK && m.type == CWS_T_PROOF) {
        take_proof(s, t, now, address, &m.as.proof);
    }
}

/* ---- Other events ----------------------------------------------------------- */

bool cws_server_init(cws_server *s, const cws_server_config *config)
{
    const cws_random *r = &config->random;
    uint8_t secret[CWS_KEY];
    bool ok;
    memset(s, 0, sizeof *s);
    s->config = *config;
    s->stamp = -1;
    if (!cws_terms_allowed(&config->terms) || config->max_connections == 0 ||
        config->max_connections > MOST_CONNECTIONS || config->max_per_address == 0 ||
        config->max_per_address > config->max_connections ||
        (config->terms.mode == CWS_CRC && (config->key != NULL || config->has_secret))) {
        return false;
    }
    ok = (!config->has_secret || cws_public_share(config->secret, s->public_key)) &&
         r->fill(r->owner, secret, sizeof secret) && cws_expand(secret, "cookie", NULL, 0, s->cookies) &&
         cws_expand(secret, "decoys", NULL, 0, s->decoys);
    cws_wipe(secret, sizeof secret);
    return ok;
}

cws_row cws_server_data(cws_server *s, cwp_time now, cws_entry *e)
{
    static const cws_row rows[] = {9, 18, 26};
    cws_row row = rows[e->state];
    (void)advance(s, now);
    if (e->state == CWS_UNCONFIRMED) {
        e->state = CWS_CONFIRMED;
    }
    return row;
}

cws_row cws_server_end(cws_server *s, cwp_time time, cws_entry *e, uint32_t reason)
{
    static const cws_row rows[] = {12, 20, 29};
    cws_row row = rows[e->state];
    cwp_time now = advance(s, time);
    if (is_living(e)) {
        e->state = CWS_ENDED;
        e->reason = reason;
        e->ended_at = now;
        e->newest = s->stamp;
        s->living--;
    }
    return row;
}

/* When an entry is forgotten. */
static cwp_time forgotten_at(const cws_entry *e)
{
    switch (e->state) {
    case CWS_UNCONFIRMED: return e->placed_at + HALF_OPEN;
    case CWS_ENDED: return e->ended_at + REMEMBER;
    case CWS_CONFIRMED: break;
    }
    return CWP_NEVER;
}

static bool forget_one(cws_server *s, cwp_time now, cws_entry_state state, void **above)
{
    for (uint32_t i = 0; i < s->count; i++) {
        cws_entry *e = s->entries[i];
        if (e->state == state && now >= forgotten_at(e)) {
            *above = e->above;
            remove_entry(s, i);
            return true;
        }
    }
    return false;
}

cws_row cws_server_poll(cws_server *s, cwp_time time, void **above)
{
    cwp_time now = advance(s, time);
    if (forget_one(s, now, CWS_UNCONFIRMED, above)) {
        return 10;
    }
    return forget_one(s, now, CWS_ENDED, above) ? 27 : 0;
}

cwp_time cws_server_deadline(const cws_server *s)
{
    cwp_time at = CWP_NEVER;
    for (uint32_t i = 0; i < s->count; i++) {
        cwp_time t = forgotten_at(s->entries[i]);
        at = t < at ? t : at;
    }
    return at == CWP_NEVER || at > s->latest ? at : s->latest;
}

void cws_server_free(cws_server *s)
{
    while (s->count > 0) {
        remove_entry(s, s->count - 1);
    }
    give(s, s->entries, s->capacity * sizeof *s->entries);
    give(s, s->links, s->capacity * sizeof *s->links);
    cws_wipe(s, sizeof *s);
}
