/* Tests of connections that vectors cannot be: a client and a server over a bad network in virtual
 * time, any bytes under the right keys, and memory that runs out. */
#include "check.h"
#include "chunkwire_connection.h"

#include <stdlib.h>

#define MS ((cwp_time)1000)
#define SECOND ((cwp_time)1000000)

enum { FLIGHTS = 4096, MESSAGES = 200, CHUNKS = 3, CHUNK = 50000 };

static uint32_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static bool fill(void *owner, uint8_t *out, size_t size)
{
    (void)owner;
    for (size_t i = 0; i < size; i++) {
        out[i] = (uint8_t)random_below(256);
    }
    return true;
}

static long blocks;       /* that are taken and not given back */
static size_t held;       /* their bytes */
static uint32_t refused;  /* of 1,000 blocks */

static void *take(void *owner, size_t size)
{
    (void)owner;
    if (random_below(1000) < refused) {
        return NULL;
    }
    blocks++;
    held += size;
    return malloc(size);
}

static void give(void *owner, void *block, size_t size)
{
    (void)owner;
    blocks--;
    held -= size;
    free(block);
}

/* ---- A network in virtual time -------------------------------------------------- */

typedef struct {
    cwp_time at; /* when it arrives */
    bool to_server;
    uint8_t from; /* the last byte of the client's address */
    size_t size;
    uint8_t bytes[CWS_MAX_DATAGRAM];
} flight;

typedef struct {
    cwp_time now;
    uint32_t lost; /* of 100 datagrams */
    cwn_channel ordered, latest;
    cwn_client client;
    cwn_server server;
    uint8_t at; /* where the client is */
    flight flights[FLIGHTS];
    uint32_t in_flight;
    cwn_peer *peer;
    bool over; /* at the server */
    bool anything; /* it may read anything */
    uint32_t messages, latest_read, chunks, moves;
    cwn_ending ending; /* at the server */
} world;

static uint8_t chunk[CW_MAX_CHUNK];
static uint8_t read_bytes[CW_MAX_CHUNK];

static uint8_t content(uint32_t k, size_t i) { return (uint8_t)(i * 7 + k * 31 + (i >> 8)); }

static void make(uint32_t k, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        chunk[i] = content(k, i);
    }
}

/* The server has received the messages that the client sent, in order. */
static void read_all(world *w, cwn_connection *c)
{
    cwc_read what;
    size_t size;
    while (cwn_read(c, w->now, 0, read_bytes, sizeof read_bytes, &what)) {
        make(w->messages, what.size);
        CHECK(w->anything || (!what.skipped && what.size == 1 + w->messages * 13u && memcmp(chunk, read_bytes, what.size) == 0));
        w->messages++;
    }
    while (cwn_read(c, w->now, 1, read_bytes, sizeof read_bytes, &what)) {
        w->latest_read++;
    }
    while (cwn_read_chunk(c, w->now, read_bytes, sizeof read_bytes, &size)) {
        make(w->chunks, CHUNK);
        CHECK(size == CHUNK && (w->anything || memcmp(chunk, read_bytes, size) == 0));
        w->chunks++;
    }
}

static void on_over(void *owner, cwn_peer *peer)
{
    world *w = (world *)owner;
    read_all(w, peer->connection);
    w->ending = *cwn_ending_of(peer->connection);
    w->over = true;
    w->peer = NULL;
}

static void send_flight(world *w, bool to_server, const uint8_t *bytes, size_t size)
{
    for (int copy = random_below(20) == 0 ? 2 : 1; copy > 0; copy--) {
        flight *f = &w->flights[w->in_flight];
        if (w->in_flight == FLIGHTS || random_below(100) < w->lost) {
            continue;
        }
        f->at = w->now + 10 * MS + random_below(20000);
        f->to_server = to_server;
        f->from = w->at;
        f->size = size;
        memcpy(f->bytes, bytes, size);
        w->in_flight++;
    }
}

static void poll_both(world *w)
{
    uint8_t out[CWS_MAX_DATAGRAM];
    const cwn_peer *to;
    bool ect;
    size_t n;
    while ((n = cwn_client_poll(&w->client, w->now, out, &ect)) > 0) {
        send_flight(w, true, out, n);
    }
    while ((n = cwn_server_poll(&w->server, w->now, out, &ect, &to)) > 0) {
        send_flight(w, false, out, n);
    }
}

static void arrive_at_server(world *w, const flight *f)
{
    uint8_t from[CWS_ADDRESS] = {0};
    cwn_received r;
    from[17] = f->from;
    cwn_server_receive(&w->server, w->now, from, f->bytes, f->size, CWN_NOT_ECT, &r);
    if (r.size > 0) {
        send_flight(w, false, r.answer, r.size);
    }
    w->peer = r.peer != NULL ? r.peer : w->peer;
    w->moves += r.event == CWN_MOVED;
    if (r.peer != NULL) {
        read_all(w, r.peer->connection);
    }
}

static cwp_time next_time(const world *w)
{
    cwp_time at = cwn_client_deadline(&w->client);
    cwp_time server = cwn_server_deadline(&w->server);
    at = server < at ? server : at;
    for (uint32_t i = 0; i < w->in_flight; i++) {
        at = w->flights[i].at < at ? w->flights[i].at : at;
    }
    return at;
}

/* What happens next; false: nothing will. */
static bool step(world *w)
{
    cwp_time at = next_time(w);
    if (at == CWP_NEVER) {
        return false;
    }
    w->now = at > w->now ? at : w->now;
    for (uint32_t i = 0; i < w->in_flight;) {
        flight f = w->flights[i];
        if (f.at > w->now) {
            i++;
            continue;
        }
        w->flights[i] = w->flights[--w->in_flight];
        if (f.to_server) {
            arrive_at_server(w, &f);
        } else {
            (void)cwn_client_receive(&w->client, w->now, f.bytes, f.size, CWN_NOT_ECT);
        }
    }
    poll_both(w);
    return true;
}

static bool begin(world *w, uint32_t mode, uint32_t variants, uint32_t lost)
{
    cws_random random = {fill, NULL};
    cwp_memory memory = {take, give, NULL};
    cwn_end_config f = cwn_default_end_config(random, memory);
    cws_client_config anonymous;
    cws_server_config open;
    bool ok;
    memset(w, 0, sizeof *w);
    memset(&anonymous, 0, sizeof anonymous);
    memset(&open, 0, sizeof open);
    w->now = SECOND;
    w->lost = lost;
    w->ordered.config = cwc_default_config(CWC_ORDERED);
    w->ordered.config.give_up = 0;
    w->latest.config = cwc_default_config(CWC_UNRELIABLE);
    w->latest.latest = true;
    f.mode = mode;
    f.variants = variants;
    f.lanes = 1 + random_below(3);
    f.channels[0] = &w->ordered;
    f.channels[1] = &w->latest;
    open.anonymous = true;
    open.max_connections = open.max_per_address = 4;
    ok = cwn_server_init(&w->server, &f, open, on_over, w);
    return cwn_client_init(&w->client, w->now, &f, anonymous) && ok;
}

static void finish(world *w)
{
    cwn_client_free(&w->client);
    cwn_server_free(&w->server);
    CHECK(blocks == 0 && held == 0);
}

/* ---- Tests ---------------------------------------------------------------------- */

static void send_everything(world *w)
{
    cwn_connection *c = w->client.connection;
    for (uint32_t k = 0; k < MESSAGES; k++) {
        make(k, 1 + k * 13u);
        CHECK(cwn_send(c, w->now, 0, chunk, 1 + k * 13u, CWP_NEVER) == NULL);
    }
    CHECK(cwn_send(c, w->now, 1, chunk, 8000, CWP_NEVER) == NULL); /* alone, in fragments */
    for (uint32_t k = 0; k < CHUNKS; k++) {
        make(k, CHUNK);
        CHECK(cwn_send_chunk(c, w->now, chunk, CHUNK) == NULL);
    }
}

/* Both ends have one clock here. */
static bool knows_the_clock(const cwn_connection *c)
{
    cwn_remote r;
    return cwn_remote_clock(c, &r) && r.rtt > 0 && r.low <= 0 && r.high >= 0 && r.high > r.low;
}

/* Everything arrives, also where the client moves meanwhile; then both ends agree on the end. */
static void test_transfer(uint32_t mode, uint32_t variants, uint32_t lost)
{
    static world w;
    cwp_time closed = 0;
    bool sent = false;
    CHECK(begin(&w, mode, variants, lost));
    for (int i = 0; i < 200000 && !(w.over && cwn_client_is_over(&w.client)) && step(&w); i++) {
        if (!sent && w.client.connection != NULL) {
            sent = true;
            send_everything(&w);
        }
        if (w.at == 0 && w.messages > MESSAGES / 4) {
            w.at = 9;
            cwn_client_move(&w.client, w.now);
        }
        if (sent && closed == 0 && cwn_is_delivered(w.client.connection)) {
            CHECK(knows_the_clock(w.client.connection) && knows_the_clock(w.peer->connection));
            CHECK(cwn_client_close(&w.client, w.now, 300, (const uint8_t *)"bye", 3) == NULL);
            closed = w.now;
        }
    }
    CHECK(closed > 0 && closed < 60 * SECOND && w.now - closed <= 11 * SECOND);
    CHECK(w.messages == MESSAGES && w.chunks == CHUNKS && w.latest_read <= 1 && w.moves == 1);
    CHECK(w.over && w.ending.why == CWN_E_CLOSED && w.ending.code == 300 && w.ending.text_size == 3 && w.ending.remote);
    finish(&w);
}

/* CLOSING ends by itself one second after the close (K12), also at a client that nobody answers. */
static void test_end_without_answer(void)
{
    static world w;
    cwp_time closed;
    CHECK(begin(&w, CWS_AEAD, CWS_NAMED, 0));
    while (w.client.connection == NULL) {
        (void)step(&w);
    }
    w.lost = 100;
    CHECK(cwn_client_close(&w.client, w.now, CWN_DONE, NULL, 0) == NULL);
    closed = w.now;
    while (!cwn_client_is_over(&w.client)) {
        (void)step(&w);
    }
    CHECK(w.now - closed == SECOND);
    finish(&w);
}

/* Without memory things are lost, or the connection ends; nothing is lost of memory. */
static void test_little_memory(void)
{
    static world w;
    for (uint32_t k = 0; k < 60; k++) {
        bool begun;
        bool sent = false;
        random_state = k;
        refused = 0;
        begun = begin(&w, CWS_AEAD, 1 + k % 3, 5);
        w.anything = true;
        refused = 5 + 10 * (k % 10);
        for (int i = 0; begun && i < 3000 && !w.over && step(&w); i++) {
            if (!sent && w.client.connection != NULL) {
                sent = true;
                for (uint32_t m = 0; m < 20; m++) {
                    (void)cwn_send(w.client.connection, w.now, m % 2, chunk, 3000, CWP_NEVER);
                }
                (void)cwn_send_chunk(w.client.connection, w.now, chunk, CHUNK);
            }
            if (w.peer != NULL) {
                cwc_read what;
                (void)cwn_read(w.peer->connection, w.now, 0, read_bytes, sizeof read_bytes, &what);
            }
        }
        finish(&w);
    }
    refused = 0;
}

/* One end, and a peer that has the keys and sends any payload. */
static void test_hostile_payloads(uint32_t variant)
{
    static const uint8_t key[CWS_KEY] = {1};
    cws_agreed agreed = {1, 0, CWS_MARKS | CWS_CLOCKS, 100};
    cwn_channel ordered = {cwc_default_config(CWC_ORDERED), false, 0};
    cwp_memory memory = {take, give, NULL};
    cws_envelope own;
    cws_envelope peer;
    cwn_config f;
    cwn_connection *c;
    int taken = 0;
    size_t most = 0;
    agreed.variant = variant;
    f = cwn_default_config(CWN_SERVER, &agreed);
    f.channels[0] = &ordered;
    f.memory = memory;
    cws_envelope_init(&own, CWS_CRC, 1, key, key);
    cws_envelope_init(&peer, CWS_CRC, 1, key, key);
    c = cwn_new(0, &own, &f);
    CHECK(c != NULL);
    for (int i = 0; c != NULL && i < 30000; i++) {
        static const uint8_t types[] = {1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 0};
        uint8_t body[64];
        uint8_t out[CWS_MAX_DATAGRAM];
        cwp_header h = {0, 0xFFFF, 0};
        size_t n;
        size_t end;
        cwn_receipt r;
        cwn_poll_result p;
        h.sequence = (uint16_t)i;
        n = cwp_encode_header(&h, body);
        end = n + 1 + random_below(40);
        (void)fill(NULL, body + n, end - n);
        body[n] = types[body[n] % sizeof types];
        for (size_t k = n + 1; k < end; k++) {
            body[k] &= body[k] % 3 != 0 ? 0 : 7; /* small fields, mostly 0 */
        }
        n = cws_seal(&peer, body, end, out);
        cwn_receive(c, i * MS, out, n, CWN_CE, &r);
        taken += r.refused == NULL;
        cwn_poll(c, i * MS, out, &p);
        most = held > most ? held : most;
    }
    CHECK(taken > 1000 && most < 2000000);
    cwn_free(c);
    CHECK(blocks == 0 && held == 0);
}

/* The example of section 4.1; and what a payload says is refused at its place. */
static void test_format(void)
{
    cwn_channel unreliable = {cwc_default_config(CWC_UNRELIABLE), false, 0};
    cwn_channel ordered = {cwc_default_config(CWC_ORDERED), false, 0};
    cwn_channel unordered = {cwc_default_config(CWC_UNORDERED), false, 0};
    const cwn_channel *channels[CWC_CHANNELS] = {NULL};
    cwc_channels none = {{NULL}};
    cwn_limits l = {&none, 1, CWS_NAMED, false, false};
    uint8_t format[CWS_FORMAT];
    uint8_t payload[6];
    size_t place;
    const char *code;
    channels[0] = &unreliable;
    channels[1] = &ordered;
    channels[2] = &unordered;
    CHECK(cwn_format(channels, format) && hex_is(format, sizeof format, "10db000611675ff9"));
    code = cwn_check(&l, payload, from_hex("0700000200ff", payload), &place);
    CHECK(code != NULL && strcmp(code, "text") == 0 && place == 4);
}

int main(void)
{
    test_format();
    test_transfer(CWS_CRC, CWS_NAMED, 0);
    test_transfer(CWS_MAC, CWS_NAMED, 10);
    test_transfer(CWS_AEAD, CWS_REPAIR, 0);
    test_transfer(CWS_AEAD, CWS_REPAIR, 10);
    test_transfer(CWS_AEAD, CWS_NAMED | CWS_REPAIR, 25);
    test_end_without_answer();
    test_little_memory();
    test_hostile_payloads(CWS_NAMED);
    test_hostile_payloads(CWS_REPAIR);
    return test_result();
}
