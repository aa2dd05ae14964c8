/* A client and a server of connections: the handshake and what follows, without sockets and clocks.
 * See chunkwire_connection.h. */
#include "chunkwire_connection.h"
#include "session_keys.h"

#include <string.h>

enum { SEED = 16, FIRST_TIMEOUT = 100, LINK_END = 5 };

static cwp_time earlier(cwp_time a, cwp_time b) { return a < b ? a : b; }

cwn_end_config cwn_default_end_config(cws_random random, cwp_memory memory)
{
    cws_agreed any = {1, CWS_NAMED, 0, FIRST_TIMEOUT};
    cwn_config defaults = cwn_default_config(CWN_CLIENT, &any);
    cwn_end_config f;
    memset(&f, 0, sizeof f);
    f.random = random;
    f.mode = CWS_AEAD;
    f.lanes = 1;
    f.variants = CWS_NAMED | CWS_REPAIR;
    f.timeout = FIRST_TIMEOUT;
    f.tick = defaults.tick;
    f.message_rate = defaults.message_rate;
    f.waiting_chunks = defaults.waiting_chunks;
    f.memory = memory;
    return f;
}

static bool terms_of(const cwn_end_config *f, cws_terms *t)
{
    memset(t, 0, sizeof *t);
    t->protocol = f->protocol;
    t->mode = f->mode;
    t->lanes = f->lanes;
    t->variants = f->variants;
    t->extensions = f->marks ? CWS_CLOCKS | CWS_MARKS : CWS_CLOCKS;
    t->timeout = f->timeout;
    return cwn_format(f->channels, t->format);
}

/* The connection of an end, with its seed (CXN-5); NULL: no memory or no random bytes. */
static cwn_connection *open_connection(cwp_time now, cwn_side side, const cwn_end_config *f, const cws_agreed *agreed,
                                       cws_envelope *envelope)
{
    cwn_config c = cwn_default_config(side, agreed);
    cwn_connection *made = NULL;
    memcpy(c.channels, f->channels, sizeof c.channels);
    c.tick = f->tick;
    c.message_rate = f->message_rate;
    c.waiting_chunks = f->waiting_chunks;
    c.memory = f->memory;
    c.has_seed = true;
    if (f->random.fill(f->random.owner, c.seed, SEED)) {
        made = cwn_new(now, envelope, &c);
    }
    cws_wipe(c.seed, sizeof c.seed);
    return made;
}

static bool is_data(const uint8_t *datagram, size_t length)
{
    return length > 0 && datagram[0] >= CWS_CRC && datagram[0] <= CWS_AEAD;
}

static bool owes_nothing(const cwn_connection *c)
{
    return cwn_state_of(c) == CWN_CLOSED && cwn_deadline(c) == CWP_NEVER;
}

/* ---- Client --------------------------------------------------------------------- */

bool cwn_client_init(cwn_client *c, cwp_time now, const cwn_end_config *config, cws_client_config session)
{
    memset(c, 0, sizeof *c);
    c->config = *config;
    session.random = config->random;
    return terms_of(config, &session.terms) && cws_client_init(&c->session, now, &session);
}

/* Ends the one when the other has ended. */
static void settle_client(cwn_client *c, cwp_time now)
{
    if (c->connection == NULL) {
        return;
    }
    if (cwn_state_of(c->connection) == CWN_CLOSED) {
        (void)cws_client_close(&c->session, now);
    } else if (c->session.state == CWS_CLIENT_CLOSED) {
        (void)cwn_end(c->connection, now);
    }
}

/* BEGIN, or MOVED. Without memory for it there is no connection, and the client is closed. */
static void begin_or_move(cwn_client *c, cwp_time now)
{
    if (c->connection != NULL) {
        cwn_relinked(c->connection, now, true);
        return;
    }
    c->connection = open_connection(now, CWN_CLIENT, &c->config, &c->session.agreed, &c->session.envelope);
    if (c->connection == NULL) {
        (void)cws_client_close(&c->session, now);
    }
}

static const char *receive_message(cwn_client *c, cwp_time now, const uint8_t *datagram, size_t length)
{
    cws_client_state before = c->session.state;
    cws_row row;
    cws_error e = cws_client_receive(&c->session, now, datagram, length, &row, NULL);
    if (before != CWS_OPEN && c->session.state == CWS_OPEN) {
        begin_or_move(c, now);
    }
    settle_client(c, now);
    return e == CWS_OK ? NULL : cws_error_name(e);
}

const char *cwn_client_receive(cwn_client *c, cwp_time now, const uint8_t *datagram, size_t length, cwn_ecn ecn)
{
    cwn_receipt r;
    if (c->connection == NULL || !is_data(datagram, length)) {
        return receive_message(c, now, datagram, length);
    }
    cwn_receive(c->connection, now, datagram, length, ecn, &r);
    if (r.news) {
        (void)cws_client_data(&c->session, now);
    }
    settle_client(c, now);
    return r.refused;
}

size_t cwn_client_poll(cwn_client *c, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], bool *ect)
{
    cwn_poll_result r;
    size_t size;
    *ect = false;
    if (cws_client_poll(&c->session, now, out, &size) == 16) { /* I16: it links again */
        (void)cws_client_poll(&c->session, now, out, &size);
    }
    if (size > 0 || c->connection == NULL) {
        return size;
    }
    settle_client(c, now);
    cwn_poll(c->connection, now, out, &r);
    if (r.size > 0) {
        cws_client_sent(&c->session, now);
    }
    settle_client(c, now);
    *ect = r.ect;
    return r.size;
}

void cwn_client_move(cwn_client *c, cwp_time now)
{
    (void)cws_client_move(&c->session, now);
    if (c->connection != NULL) {
        cwn_move(c->connection, now);
    }
}

const char *cwn_client_close(cwn_client *c, cwp_time now, uint32_t code, const uint8_t *text, size_t size)
{
    int row;
    if (c->connection != NULL) {
        return cwn_close(c->connection, now, code, text, size, &row);
    }
    (void)cws_client_close(&c->session, now);
    return NULL;
}

bool cwn_client_is_over(const cwn_client *c)
{
    return c->connection == NULL ? c->session.state == CWS_CLIENT_CLOSED : owes_nothing(c->connection);
}

cwp_time cwn_client_deadline(const cwn_client *c)
{
    cwp_time at = cws_client_deadline(&c->session);
    return c->connection == NULL ? at : earlier(at, cwn_deadline(c->connection));
}

void cwn_client_free(cwn_client *c)
{
    if (c->connection != NULL) {
        cwn_free(c->connection);
    }
    cws_client_end(&c->session);
}

/* ---- Server --------------------------------------------------------------------- */

bool cwn_server_init(cwn_server *s, const cwn_end_config *config, cws_server_config session,
                     void (*over)(void *owner, cwn_peer *peer), void *owner)
{
    memset(s, 0, sizeof *s);
    s->config = *config;
    s->over = over;
    s->owner = owner;
    session.random = config->random;
    session.memory = config->memory;
    return terms_of(config, &session.terms) && cws_server_init(&s->session, &session);
}

static cwn_peer *peer_of(const cws_entry *e) { return (cwn_peer *)e->above; }

static void free_peer(cwn_server *s, cwn_peer *p)
{
    cwp_memory memory = s->config.memory;
    if (s->over != NULL) {
        s->over(s->owner, p);
    }
    cwn_free(p->connection);
    memory.give(memory.owner, p, sizeof *p);
}

/* Its connection does not exist any more at the session. */
static void end_peer(cwn_server *s, cwp_time now, cwn_peer *p)
{
    (void)cwn_end(p->connection, now);
    free_peer(s, p);
}

/* Ends the entry of a connection that is CLOSED. */
static void settle_peer(cwn_server *s, cwp_time now, const cwn_peer *p)
{
    if (cwn_state_of(p->connection) == CWN_CLOSED) {
        (void)cws_server_end(&s->session, now, p->entry, CWS_CLOSED);
    }
}

/* CONFIRM: the first datagram that is opened makes the connection (CXL-9). */
static cwn_peer *accept_peer(cwn_server *s, cwp_time now, cws_entry *e)
{
    cwp_memory memory = s->config.memory;
    cwn_peer *p = (cwn_peer *)memory.take(memory.owner, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->above = NULL;
    p->entry = e;
    p->connection = open_connection(now, CWN_SERVER, &s->config, &e->agreed, &e->envelope);
    if (p->connection == NULL) {
        memory.give(memory.owner, p, sizeof *p);
        return NULL;
    }
    e->above = p;
    return p;
}

/* Without memory the datagram is as if it had been lost. */
static void receive_first(cwn_server *s, cwp_time now, cws_entry *e, const uint8_t *datagram, size_t length,
                          cwn_ecn ecn, cwn_received *r)
{
    cws_opened o;
    cwn_receipt receipt;
    cws_error error = cws_open(&e->envelope, datagram, length, &o, NULL);
    if (error != CWS_OK) {
        r->refused = cws_error_name(error);
        return;
    }
    r->peer = accept_peer(s, now, e);
    if (r->peer == NULL) {
        r->refused = cws_error_name(CWS_BROKEN);
        return;
    }
    (void)cws_server_data(&s->session, now, e);
    r->event = CWN_ACCEPTED;
    cwn_receive_opened(r->peer->connection, now, o.body, o.size, ecn, &receipt);
    r->refused = receipt.refused;
    settle_peer(s, now, r->peer);
}

/* The entry that a datagram of data names, if it comes from its address (CXE-9); NULL and the code. */
static cws_entry *living_entry(const cwn_server *s, const uint8_t from[CWS_ADDRESS], const uint8_t *datagram,
                               size_t length, const char **refused)
{
    cws_entry *e = NULL;
    if (length >= LINK_END) {
        e = cws_server_find(&s->session, (uint32_t)datagram[1] | (uint32_t)datagram[2] << 8 |
                                             (uint32_t)datagram[3] << 16 | (uint32_t)datagram[4] << 24);
    }
    if (e == NULL || e->state == CWS_ENDED) {
        *refused = cws_error_name(length < LINK_END ? CWS_TRUNCATED : CWS_UNKNOWN_LINK);
        return NULL;
    }
    if (memcmp(e->address, from, CWS_ADDRESS) != 0) {
        *refused = cws_error_name(CWS_OTHER_ADDRESS);
        return NULL;
    }
    return e;
}

static void receive_data(cwn_server *s, cwp_time now, cws_entry *e, const uint8_t *datagram, size_t length,
                         cwn_ecn ecn, cwn_received *r)
{
    cwn_receipt receipt;
    if (e->above == NULL) {
        receive_first(s, now, e, datagram, length, ecn, r);
        return;
    }
    r->peer = peer_of(e);
    cwn_receive(r->peer->connection, now, datagram, length, ecn, &receipt);
    r->refused = receipt.refused;
    if (receipt.row != 1 && receipt.row != 9 && receipt.row != 16) { /* it was opened (CXL-15) */
        (void)cws_server_data(&s->session, now, e);
    }
    settle_peer(s, now, r->peer);
}

static void receive_handshake(cwn_server *s, cwp_time now, const uint8_t from[CWS_ADDRESS], const uint8_t *datagram,
                              size_t length, cwn_received *r)
{
    cws_taken t;
    cws_server_receive(&s->session, now, from, datagram, length, &t);
    r->refused = t.error == CWS_OK ? NULL : cws_error_name(t.error);
    r->size = t.size;
    memcpy(r->answer, t.answer, t.size);
    if (t.entry == NULL || t.entry->above == NULL) {
        return;
    }
    if (t.made) { /* J7, J16, J25: another connection has this entry now */
        end_peer(s, now, peer_of(t.entry));
        t.entry->above = NULL;
        return;
    }
    r->peer = peer_of(t.entry);
    r->event = t.moved ? CWN_MOVED : CWN_NOTHING;
    cwn_relinked(r->peer->connection, now, t.moved);
}

void cwn_server_receive(cwn_server *s, cwp_time now, const uint8_t from[CWS_ADDRESS], const uint8_t *datagram,
                        size_t length, cwn_ecn ecn, cwn_received *r)
{
    cws_entry *e;
    memset(r, 0, sizeof *r);
    if (!is_data(datagram, length)) {
        receive_handshake(s, now, from, datagram, length, r);
        return;
    }
    e = living_entry(s, from, datagram, length, &r->refused);
    if (e != NULL) {
        receive_data(s, now, e, datagram, length, ecn, r);
    }
}

static void forget(cwn_server *s, cwp_time now)
{
    void *above;
    while (cws_server_poll(&s->session, now, &above) != 0) {
        if (above != NULL) {
            end_peer(s, now, (cwn_peer *)above);
        }
    }
}

/* The datagram of one connection, which is freed when it is over. */
static size_t poll_peer(cwn_server *s, cwp_time now, cws_entry *e, uint8_t out[CWS_MAX_DATAGRAM], bool *ect)
{
    cwn_peer *p = peer_of(e);
    cwn_poll_result r;
    cwn_poll(p->connection, now, out, &r);
    settle_peer(s, now, p);
    *ect = r.ect;
    if (r.size == 0 && owes_nothing(p->connection)) {
        e->above = NULL;
        free_peer(s, p);
    }
    return r.size;
}

/* Each connection gives all that it has before the next one; a poll that gives nothing has been at all. */
size_t cwn_server_poll(cwn_server *s, cwp_time now, uint8_t out[CWS_MAX_DATAGRAM], bool *ect, const cwn_peer **to)
{
    forget(s, now);
    for (; s->next < s->session.count; s->next++) {
        cws_entry *e = s->session.entries[s->next];
        size_t size = e->above == NULL ? 0 : poll_peer(s, now, e, out, ect);
        if (size > 0) {
            *to = peer_of(e);
            return size;
        }
    }
    s->next = 0;
    return 0;
}

cwp_time cwn_server_deadline(const cwn_server *s)
{
    cwp_time at = cws_server_deadline(&s->session);
    for (uint32_t i = 0; i < s->session.count; i++) {
        const cwn_peer *p = peer_of(s->session.entries[i]);
        at = p == NULL ? at : earlier(at, cwn_deadline(p->connection));
    }
    return at;
}

void cwn_server_free(cwn_server *s)
{
    for (uint32_t i = 0; i < s->session.count; i++) {
        if (s->session.entries[i]->above != NULL) {
            free_peer(s, peer_of(s->session.entries[i]));
        }
    }
    cws_server_free(&s->session);
}
