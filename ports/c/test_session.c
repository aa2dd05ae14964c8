/* Tests of sessions that vectors cannot be: whole handshakes, any bytes, memory and random bytes
 * that run out. */
#include "check.h"
#include "chunkwire_session.h"

#include <stdlib.h>

#define MS ((cwp_time)1000)

static uint32_t random_state = 1;

static uint8_t random_byte(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint8_t)(random_state >> 24);
}

/* Bytes that anybody can know; `left` counts down the calls. */
static bool fill(void *owner, uint8_t *out, size_t size)
{
    int *left = (int *)owner;
    for (size_t i = 0; i < size; i++) {
        out[i] = random_byte();
    }
    return (*left)-- > 0;
}

static int blocks;      /* that are taken and not given back */
static int blocks_left; /* how many can still be taken */

static void *take(void *owner, size_t size)
{
    (void)owner;
    if (blocks_left-- <= 0) {
        return NULL;
    }
    blocks++;
    return malloc(size);
}

static void give(void *owner, void *block, size_t size)
{
    (void)owner;
    (void)size;
    blocks--;
    free(block);
}

static bool key_of(void *owner, const uint8_t identity[CWS_IDENTITY], uint8_t key[CWS_KEY])
{
    (void)owner;
    memset(key, identity[0], CWS_KEY);
    return identity[0] == 7;
}

static const uint8_t home[CWS_ADDRESS] = {1};

typedef struct {
    cws_client client;
    cws_server server;
    int client_random, server_random;
    cws_taken taken; /* of the latest message to the server */
} pair;

static cws_terms terms(uint32_t mode)
{
    cws_terms t = {9, CWS_AEAD, 4, CWS_NAMED | CWS_REPAIR, CWS_MARKS, 100, {1, 2, 3}};
    t.mode = mode;
    return t;
}

static void begin(pair *p, uint32_t mode)
{
    cws_client_config c;
    cws_server_config s;
    memset(p, 0, sizeof *p);
    memset(&c, 0, sizeof c);
    memset(&s, 0, sizeof s);
    p->client_random = p->server_random = 1000;
    blocks_left = 1000;
    c.terms = s.terms = terms(mode);
    c.random.fill = s.random.fill = fill;
    c.random.owner = &p->client_random;
    s.random.owner = &p->server_random;
    if (mode == CWS_CRC) {
        s.anonymous = true;
    } else {
        memset(c.identity, 7, sizeof c.identity);
        memset(c.key, 7, sizeof c.key);
        s.key = key_of;
    }
    s.max_connections = 4;
    s.max_per_address = 4;
    s.memory.take = take;
    s.memory.give = give;
    CHECK(cws_client_init(&p->client, 0, &c));
    CHECK(cws_server_init(&p->server, &s));
}

/* What the client sends at a time reaches the server, and the answers reach the client. */
static void exchange(pair *p, cwp_time now)
{
    uint8_t out[CWS_MAX_MESSAGE];
    size_t size;
    cws_row row = cws_client_poll(&p->client, now, out, &size);
    if (row == 16) {
        row = cws_client_poll(&p->client, now, out, &size);
    }
    while (size > 0) {
        cws_server_receive(&p->server, now, home, out, size, &p->taken);
        CHECK(p->taken.size < size);
        if (p->taken.size > 0) {
            (void)cws_client_receive(&p->client, now, p->taken.answer, p->taken.size, &row, NULL);
        }
        (void)cws_client_poll(&p->client, now, out, &size);
    }
}

static void finish(pair *p)
{
    cws_client_end(&p->client);
    cws_server_free(&p->server);
    CHECK(blocks == 0);
}

/* A body goes from one envelope to the other, once, and not with another byte. */
static void pass(cws_envelope *from, cws_envelope *to)
{
    uint8_t body[CWS_MAX_BODY];
    uint8_t out[CWS_MAX_DATAGRAM];
    cws_opened o;
    size_t size = 1 + random_byte() * 4u;
    size_t n;
    for (size_t i = 0; i < size; i++) {
        body[i] = random_byte();
    }
    n = cws_seal(from, body, size, out);
    CHECK(n > size);
    out[n - 1] ^= 1;
    CHECK(cws_open(to, out, n, &o, NULL) == CWS_BAD_TAG);
    out[n - 1] ^= 1;
    CHECK(cws_open(to, out, n, &o, NULL) == CWS_OK && o.size == size && memcmp(o.body, body, size) == 0);
    CHECK(cws_open(to, out, n, &o, NULL) == CWS_DUPLICATE);
}

static void test_handshake(uint32_t mode)
{
    pair p;
    cws_entry *e;
    begin(&p, mode);
    exchange(&p, 0);
    e = p.taken.entry;
    CHECK(p.client.state == CWS_OPEN && p.taken.row == 3 && e != NULL);
    CHECK(p.client.agreed.variant == CWS_REPAIR && p.client.agreed.extensions == CWS_MARKS);
    for (int i = 0; e != NULL && i < 100; i++) {
        pass(&p.client.envelope, &e->envelope);
        pass(&e->envelope, &p.client.envelope);
    }
    CHECK(cws_client_move(&p.client, 20 * MS) == 22);
    exchange(&p, 20 * MS);
    CHECK(p.client.state == CWS_OPEN && p.taken.row == 6 && !p.taken.moved);
    if (e != NULL) {
        pass(&p.client.envelope, &e->envelope);
        CHECK(cws_server_end(&p.server, 30 * MS, e, CWS_CLOSED) == 12);
    }
    CHECK(p.server.living == 0 && p.server.count == 1);
    finish(&p);
}

static void test_longest_body(void)
{
    static const uint8_t key[CWS_KEY];
    uint8_t out[CWS_MAX_DATAGRAM] = {CWS_CRC, 1};
    cws_envelope e;
    cws_opened o;
    int place = 0;
    cws_envelope_init(&e, CWS_CRC, 1, key, key);
    CHECK(cws_open(&e, out, sizeof out, &o, &place) == CWS_BAD_TAG && place == CWS_MAX_DATAGRAM - 4);
    CHECK(cws_seal(&e, out, CWS_MAX_BODY + 1, out) == 0 && cws_seal(&e, out, 0, out) == 0);
}

/* Each message that is decoded has one encoding, whatever the bytes (CXH-10). */
static void test_any_bytes(void)
{
    static const uint8_t sizes[] = {64, 50, 153, 75, 35};
    int decoded = 0;
    for (int i = 0; i < 200000; i++) {
        unsigned kind = random_byte() % 5u;
        size_t n = random_byte() < 16 ? random_byte() : sizes[kind];
        uint8_t *in = (uint8_t *)malloc(n > 0 ? n : 1); /* so that the sanitizers see its end */
        uint8_t out[CWS_MAX_MESSAGE];
        size_t size = 0;
        cws_message m;
        for (size_t k = 0; k < n; k++) {
            in[k] = random_byte();
        }
        if (n > 28) {
            in[0] = (uint8_t)(random_byte() < 8 ? in[0] : CWS_T_LINK + kind);
            in[1] = CWS_VERSION;
            in[22] = (uint8_t)(CWS_CRC + in[22] % 4);
            in[23] %= 18;
            in[28] %= 141;
        }
        if (cws_decode(in, n, &m, NULL) == CWS_OK && m.type != CWS_T_DATA) {
            decoded++;
            CHECK(cws_encode(&m, out, &size, NULL) == CWS_OK && size == n && memcmp(in, out, n) == 0);
        }
        free(in);
    }
    CHECK(decoded > 50000);
}

/* A server and a client take any bytes, and no memory for them. */
static void test_hostile(void)
{
    pair p;
    begin(&p, CWS_AEAD);
    for (int i = 0; i < 20000; i++) {
        uint8_t in[CWS_MAX_MESSAGE];
        cws_row row;
        for (size_t k = 0; k < sizeof in; k++) {
            in[k] = random_byte();
        }
        in[0] = (uint8_t)(CWS_T_LINK + in[0] % 5);
        in[1] = CWS_VERSION;
        cws_server_receive(&p.server, i, home, in, in[0] == CWS_T_LINK ? 64 : sizeof in, &p.taken);
        CHECK(p.taken.entry == NULL);
        (void)cws_client_receive(&p.client, i, in, in[0] == CWS_T_CHALLENGE ? 50 : 75, &row, NULL);
    }
    CHECK(blocks == 0 && p.client.state == CWS_LINKING);
    finish(&p);
}

/* Without memory or random bytes a PROOF is as if it had been lost. */
static void test_nothing_left(void)
{
    pair p;
    for (int left = 0; left < 3; left++) {
        begin(&p, CWS_MAC);
        blocks_left = left;
        exchange(&p, 0);
        CHECK(p.client.state == CWS_LINKING && p.taken.error == CWS_BROKEN && p.server.living == 0);
        blocks_left = 1000;
        exchange(&p, 250 * MS);
        CHECK(p.client.state == CWS_OPEN && p.server.living == 1);
        finish(&p);
    }
    begin(&p, CWS_MAC);
    p.server_random = 1;
    exchange(&p, 0);
    CHECK(p.client.state == CWS_LINKING && p.taken.error == CWS_BROKEN && p.server.count == 0);
    finish(&p);
    begin(&p, CWS_MAC);
    p.client_random = 1;
    CHECK(cws_client_move(&p.client, 0) == 13 && p.client.state == CWS_CLIENT_CLOSED);
    CHECK(p.client.ended.why == CWS_E_BROKEN && cws_client_deadline(&p.client) == CWP_NEVER);
    finish(&p);
}

static void test_parameters(void)
{
    cws_client_config c;
    cws_client client;
    int left = 1000;
    memset(&c, 0, sizeof c);
    c.terms = terms(CWS_CRC);
    c.random.fill = fill;
    c.random.owner = &left;
    CHECK(cws_client_init(&client, 0, &c));
    c.identity[0] = 1;
    CHECK(!cws_client_init(&client, 0, &c));
    c.terms.mode = CWS_MAC;
    CHECK(cws_client_init(&client, 0, &c));
    c.knows_server = true; /* a share of zeros */
    CHECK(!cws_client_init(&client, 0, &c));
    c.knows_server = false;
    c.terms.timeout = 9;
    CHECK(!cws_client_init(&client, 0, &c));
}

static void test_addresses(void)
{
    uint8_t ip[16];
    uint8_t out[CWS_ADDRESS];
    size_t n = from_hex("c0000201", ip);
    cws_address_ip(ip, n, 40000, out);
    CHECK(hex_is(out, sizeof out, "00000000000000000000ffffc0000201409c"));
    n = from_hex("20010db8000000000000000000000001", ip);
    cws_address_ip(ip, n, 1, out);
    CHECK(hex_is(out, sizeof out, "20010db80000000000000000000000010100"));
}

int main(void)
{
    test_addresses();
    test_handshake(CWS_CRC);
    test_handshake(CWS_MAC);
    test_handshake(CWS_AEAD);
    test_longest_body();
    test_any_bytes();
    test_hostile();
    test_nothing_left();
    test_parameters();
    return test_result();
}
