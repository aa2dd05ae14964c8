/* Tests of the packet layer. Comments such as PKD-4 name sentences of spec/PACKETS.md, F-1
 * to F-26 the faults of its section 13. */
#include "check.h"
#include "chunkwire_packet.h"

#include <stdlib.h>

#define MS ((cwp_time)1000)
#define SECOND ((cwp_time)1000000)

/* ---- Numbers (section 4) ---------------------------------------------------- */

static void test_numbers(void)
{
    static const struct {
        int64_t next;
        uint16_t sequence;
        int64_t number; /* -1: stale */
    } cases[] = {
        {0, 0, 0},       {0, 65535, -1},     {0, 32511, 32511},     {0, 32512, -1},
        {100, 65500, -1}, {65530, 2, 65538}, {65538, 65290, 65290}, {65538, 65281, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t number = -1;
        bool ok = cwp_number_from(cases[i].sequence, cases[i].next - 256, &number);
        CHECK(ok == (cases[i].number >= 0) && number == cases[i].number);
    }
    for (int64_t d = 0; d < 65536; d++) {
        int64_t low = 131000;
        int64_t number = 0;
        bool ok = cwp_number_from(cwp_on_wire(low + d), low, &number);
        if (ok != (d < 32768) || (ok && number != low + d)) {
            CHECK(d < 0);
        }
    }
    CHECK(cwp_newest(65535, 65536) == 65535 && cwp_newest(1, 65536) == 1 && cwp_newest(1, 0) == -65535);
    CHECK(cwp_on_wire(-1) == 65535);
}

/* ---- Bytes (section 3) ------------------------------------------------------ */

static void test_headers(void)
{
    static const struct {
        cwp_header h;
        const char *hex;
    } cases[] = {
        {{0, 65535, 0}, "3e00000100000000"},
        {{100, 99, 0xFFFFFFFFu}, "20640001"},
        {{0, 99, 0xFFFFFFFFu}, "0000006300"},
        {{255, 0, 0xFFFFFFFFu}, "20ff00ff"},
        {{256, 0, 0xFFFFFFFFu}, "0000010000"},
        {{2, 65283, 0xFFFFFFFFu}, "200200ff"},
        {{2, 65282, 0xFFFFFFFFu}, "00020002ff"},
        {{5, 5, 0xFFFFFF7Fu}, "220500007f"},
        {{1000, 999, 0xFF00FFFFu}, "28e8030100"},
        {{1000, 999, 0x80000000u}, "3ee8030100000080"},
        {{40000, 39000, 0xFFFFFFFEu}, "02409c5898fe"},
        {{65535, 32767, 0}, "1effffff7f00000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t out[CWP_MAX_HEADER + 1];
        cwp_packet p;
        size_t n = cwp_encode_header(&cases[i].h, out);
        CHECK(hex_is(out, n, cases[i].hex));
        out[n] = 0xAA;
        CHECK(cwp_decode(out, n + 1, 1024, 16, &p, NULL) == CWP_OK && p.kind == CWP_REGULAR && p.size == 1);
        CHECK(p.header.sequence == cases[i].h.sequence && p.header.ack == cases[i].h.ack &&
              p.header.ack_bits == cases[i].h.ack_bits);
    }
}

/* 3.4: the payload 01 .. 0a in fragments of 4 bytes. */
static void test_fragments(void)
{
    static const char *const expected[] = {"01070000023e0700010200000001020304", "010700010205060708",
                                           "0107000202090a"};
    static const uint8_t payload[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    cwp_header h = {7, 6, 2};
    CHECK(cwp_num_datagrams(sizeof payload, 4, 4) == 3);
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t out[CWP_MAX_DATAGRAM];
        cwp_packet p;
        size_t n = cwp_encode_datagram(&h, payload, sizeof payload, 4, 4, i, out);
        CHECK(hex_is(out, n, expected[i]));
        CHECK(cwp_decode(out, n, 4, 4, &p, NULL) == CWP_OK && p.kind == CWP_FRAGMENT && p.fragment_id == i);
        CHECK(p.num_fragments == 3 && p.has_header == (i == 0) && memcmp(p.data, payload + 4 * i, p.size) == 0);
    }
    CHECK(cwp_num_datagrams(4, 4, 5) == 1 && cwp_num_datagrams(5, 4, 5) == 1 && cwp_num_datagrams(6, 4, 5) == 2);
    CHECK(cwp_num_datagrams(8, 4, 5) == 2 && cwp_num_datagrams(9, 4, 5) == 3); /* F-17 */
    CHECK(cwp_num_datagrams(256, 1, 1) == 256);
}

/* PKD-1 to PKD-14 in the order of the document, with fragments of 4 bytes, at most 4. Each
 * datagram lies in a block of its own size, for the sanitizer to see reads beyond (F-2). */
static void test_refusals(void)
{
    static const struct {
        const char *hex;
        cwp_error error;
        size_t place;
    } cases[] = {
        {"", CWP_TRUNCATED, 0},
        {"40", CWP_RESERVED_BITS, 0},
        {"80", CWP_RESERVED_BITS, 0},
        {"03", CWP_RESERVED_BITS, 0},
        {"21", CWP_RESERVED_BITS, 0},
        {"20", CWP_TRUNCATED, 1},
        {"2064", CWP_TRUNCATED, 1},
        {"206400", CWP_TRUNCATED, 3},
        {"00640063", CWP_TRUNCATED, 3},
        {"0064006300", CWP_NOT_MINIMAL, 3},
        {"22640001", CWP_TRUNCATED, 4},
        {"22640001ff", CWP_NOT_MINIMAL, 4},
        {"2664000100", CWP_TRUNCATED, 5},
        {"2664000100ff", CWP_NOT_MINIMAL, 5},
        {"20640001", CWP_EMPTY_PAYLOAD, 4},
        {"206400010000000000000000000000000000000000", CWP_TOO_LARGE, 4},
        {"2064000100000000000000000000000000000000", CWP_OK, 4},
        {"01", CWP_TRUNCATED, 1},
        {"0107", CWP_TRUNCATED, 1},
        {"010700", CWP_TRUNCATED, 3},
        {"01070005", CWP_TRUNCATED, 4},
        {"0107000504", CWP_TOO_MANY_FRAGMENTS, 4},
        {"0107000100", CWP_SINGLE_FRAGMENT, 4},
        {"0107000302090a", CWP_FRAGMENT_ID_OUT_OF_RANGE, 3},
        {"0107000002", CWP_TRUNCATED, 5},
        {"01070000027e", CWP_RESERVED_BITS, 5},
        {"010700000221", CWP_RESERVED_BITS, 5},
        {"01070000023e", CWP_TRUNCATED, 6},
        {"01070000023e07", CWP_TRUNCATED, 6},
        {"01070000023e0700", CWP_TRUNCATED, 8},
        {"01070000020007000600", CWP_NOT_MINIMAL, 8},
        {"010700000222070001ff", CWP_NOT_MINIMAL, 9},
        {"010700000222080001ff", CWP_NOT_MINIMAL, 9},
        {"010700000220080001", CWP_SEQUENCE_MISMATCH, 6},
        {"010700000220070001010203", CWP_FRAGMENT_SIZE, 9},
        {"0107000002200700010102030405", CWP_FRAGMENT_SIZE, 9},
        {"0107000102010203", CWP_FRAGMENT_SIZE, 5},
        {"0107000202", CWP_FRAGMENT_SIZE, 5},
        {"01070002020102030405", CWP_FRAGMENT_SIZE, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = strlen(cases[i].hex) / 2;
        uint8_t *in = (uint8_t *)malloc(n > 0 ? n : 1);
        size_t place = 0;
        cwp_packet p;
        cwp_error e = cwp_decode(in, from_hex(cases[i].hex, in), 4, 4, &p, &place);
        if (e != cases[i].error || place != cases[i].place) {
            printf("%s: %s %lu\n", cases[i].hex, cwp_error_name(e), (unsigned long)place);
        }
        CHECK(e == cases[i].error && place == cases[i].place);
        free(in);
    }
}

/* ---- Estimates (section 8) -------------------------------------------------- */

static void test_round_trip(void)
{
    static const cwp_time cases[][3] = {
        {100000, 100000, 0},     {113334, 101333, 833},   {80000, 99200, 2114},    {80000, 97280, 3181},
        {600000, 147552, 34402}, {100009, 142798, 35223}, {100000, 138519, 35696},
    };
    static const cwp_time smallest[][3] = {
        {0, 50, 50},           {5000000 - 1, 70, 50}, {5000000, 80, 50},   {10000000, 90, 80},
        {15000000 - 1, 60, 60}, {31000000, 95, 60},   {36000000, 96, 95},
    };
    cwp_round_trip t;
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cwp_round_trip_sample(&t, 0, cases[i][0]);
        CHECK(t.srtt == cases[i][1] && t.jitter == cases[i][2] && t.latest == cases[i][0]);
    }
    memset(&t, 0, sizeof t);
    for (size_t i = 0; i < sizeof smallest / sizeof smallest[0]; i++) { /* PKE-3 */
        cwp_round_trip_sample(&t, smallest[i][0], smallest[i][1]);
        CHECK(t.min_rtt == smallest[i][2]);
    }
}

static void test_other_estimates(void)
{
    static cwp_shown shown;
    cwp_patience p = {0, 0};
    cwp_loss l;
    cwp_seconds s;
    cwp_figures f;
    cwp_patience_overtaken(&p, SECOND, 80000, 100000); /* PKE-4 */
    CHECK(cwp_patience_at(&p, SECOND) == 90000);
    cwp_patience_overtaken(&p, SECOND, CWP_LONGEST_SAMPLE, 100000);
    CHECK(cwp_patience_at(&p, 2 * SECOND - 1) == 150000 && cwp_patience_at(&p, 2 * SECOND) == 150000 - 9375);
    CHECK(cwp_patience_at(&p, ((cwp_time)1 << 62) - 1) == 15);
    memset(&l, 0, sizeof l); /* PKE-5 */
    CHECK(cwp_loss_per_mille(&l, 0) == -1);
    cwp_loss_settled(&l, SECOND, true);
    cwp_loss_settled(&l, SECOND, false);
    cwp_loss_settled(&l, SECOND, false);
    CHECK(cwp_loss_per_mille(&l, 2 * SECOND - 1) == -1 && cwp_loss_per_mille(&l, 2 * SECOND) == 333);
    cwp_loss_settled(&l, 2 * SECOND, false);
    CHECK(cwp_loss_per_mille(&l, 12 * SECOND - 1) == 250 && cwp_loss_per_mille(&l, 12 * SECOND) == 0);
    CHECK(cwp_loss_per_mille(&l, 13 * SECOND) == -1);
    memset(&s, 0, sizeof s); /* PKE-7 */
    cwp_seconds_add(&s, 0, 1000);
    cwp_seconds_add(&s, SECOND, 250);
    CHECK(cwp_seconds_rate(&s, SECOND) == 800 && cwp_seconds_rate(&s, 2 * SECOND) == 1000);
    CHECK(cwp_seconds_rate(&s, 11 * SECOND) == 200);
    cwp_seconds_add(&s, 12 * SECOND, 1); /* the place of the second at 1 s */
    CHECK(cwp_seconds_rate(&s, 12 * SECOND) == 0);
    CHECK(!cwp_shown_figures(&shown, &f)); /* PKE-6 */
    cwp_shown_add(&shown, 10);
    cwp_shown_add(&shown, 20);
    cwp_shown_add(&shown, 60);
    CHECK(cwp_shown_figures(&shown, &f) && f.min == 10 && f.max == 60 && f.avg == 30 && f.jitter_avg == 20);
    CHECK(f.jitter_max == 50 && f.jitter_dev == 21);
    for (int i = 0; i < CWP_SHOWN / 2 - 3; i++) {
        cwp_shown_add(&shown, 0);
    }
    for (int i = 0; i < CWP_SHOWN / 2 + 3; i++) {
        cwp_shown_add(&shown, CWP_LONGEST_SAMPLE);
    }
    CHECK(cwp_shown_figures(&shown, &f) && f.max == CWP_LONGEST_SHOWN && f.min == 0 && f.jitter_dev > 33000000);
}

/* ---- Congestion (section 9) ------------------------------------------------- */

static cwp_mode evaluate(cwp_congestion *c, cwp_time now, cwp_time srtt, cwp_time min_rtt, bool silent)
{
    cwp_round_trip t;
    memset(&t, 0, sizeof t);
    t.measured = srtt >= 0;
    t.srtt = srtt;
    t.min_rtt = min_rtt;
    return cwp_congestion_evaluate(c, now, &t, silent);
}

/* In GOOD since a time. */
static cwp_congestion good_since(cwp_profile profile, cwp_time now)
{
    cwp_congestion c;
    cwp_congestion_init(&c, profile);
    CHECK(evaluate(&c, now - 4 * SECOND, 0, 0, false) == CWP_BAD);
    CHECK(evaluate(&c, now - 1, 0, 0, false) == CWP_BAD);
    CHECK(evaluate(&c, now, 0, 0, false) == CWP_GOOD);
    return c;
}

static void test_congestion(void)
{
    cwp_congestion c;
    cwp_congestion_init(&c, CWP_ARTICLE);
    CHECK(c.mode == CWP_BAD && c.recovery == 4 * SECOND && cwp_congestion_deadline(&c) == CWP_NEVER);
    CHECK(evaluate(&c, 0, -1, 0, false) == CWP_BAD && cwp_congestion_deadline(&c) == CWP_NEVER); /* C5 */
    CHECK(evaluate(&c, SECOND, 1, 0, false) == CWP_BAD && cwp_congestion_deadline(&c) == 5 * SECOND);
    CHECK(evaluate(&c, 2 * SECOND, 1, 0, true) == CWP_BAD && cwp_congestion_deadline(&c) == CWP_NEVER);
    CHECK(evaluate(&c, 0, 1, 0, false) == CWP_BAD && cwp_congestion_deadline(&c) == 6 * SECOND); /* PKN-3 */
    c = good_since(CWP_ARTICLE, 10 * SECOND);
    CHECK(evaluate(&c, 10 * SECOND, 250000, 0, false) == CWP_GOOD);
    CHECK(evaluate(&c, 10 * SECOND, 250001, 200000, false) == CWP_BAD && c.recovery == 8 * SECOND);
    c = good_since(CWP_DEFAULT, 10 * SECOND); /* PKC-4 */
    CHECK(evaluate(&c, 10 * SECOND, 900000, 600000, false) == CWP_GOOD);
    CHECK(evaluate(&c, 10 * SECOND, 900001, 600000, false) == CWP_BAD);
    c = good_since(CWP_ARTICLE, 4 * SECOND); /* C3 before C2 */
    CHECK(cwp_congestion_deadline(&c) == 14 * SECOND);
    CHECK(evaluate(&c, 14 * SECOND, 300000, 0, false) == CWP_BAD && c.recovery == 2 * SECOND);
    c = good_since(CWP_ARTICLE, 4 * SECOND);
    CHECK(evaluate(&c, 14 * SECOND - 1, 300000, 0, false) == CWP_BAD && c.recovery == 8 * SECOND);
    c = good_since(CWP_ARTICLE, 4 * SECOND); /* a late evaluation */
    CHECK(evaluate(&c, 40 * SECOND, 0, 0, false) == CWP_GOOD && c.recovery == SECOND);
    CHECK(cwp_congestion_deadline(&c) == CWP_NEVER);
}

/* PKT-BND-3 */
static void test_recovery(void)
{
    static const cwp_time waits[] = {4, 8, 16, 32, 60, 60};
    cwp_congestion c;
    cwp_time now = 0;
    cwp_congestion_init(&c, CWP_ARTICLE);
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        CHECK(c.recovery == waits[i] * SECOND);
        CHECK(evaluate(&c, now, 0, 0, false) == CWP_BAD);
        now = cwp_congestion_deadline(&c);
        CHECK(evaluate(&c, now, 0, 0, false) == CWP_GOOD);
        now++;
        CHECK(evaluate(&c, now, 0, 0, true) == CWP_BAD);
    }
}

/* PKC-3 */
static void test_cadence(void)
{
    cwp_congestion c = good_since(CWP_ARTICLE, 4 * SECOND);
    cwp_congestion_sent(&c, 5 * SECOND);
    CHECK(c.next_at == 5 * SECOND);
    cwp_congestion_sent(&c, 5 * SECOND);
    CHECK(c.next_at == 5 * SECOND + 33333);
    (void)evaluate(&c, 5 * SECOND + 1, 0, 0, true);
    CHECK(c.next_at == 5 * SECOND + 100000);
}

/* ---- Endpoint (sections 5 to 7) --------------------------------------------- */

/* An endpoint with fragments of 4 bytes, its memory counted, and its events as text. */
typedef struct {
    cwp_endpoint e;
    size_t held; /* bytes */
    size_t room; /* bytes that may be held */
    cwp_verdict verdict;
    cwp_arrival asked;
    char events[512];
    cwp_receipt r;
} end;

static uint8_t assembly[1024];

static void *counted_take(void *owner, size_t size)
{
    end *x = (end *)owner;
    if (x->held + size > x->room) {
        return NULL;
    }
    x->held += size;
    return malloc(size);
}

static void counted_give(void *owner, void *block, size_t size)
{
    ((end *)owner)->held -= size;
    free(block);
}

static void note(end *x, const char *what, int64_t number)
{
    size_t n = strlen(x->events);
    snprintf(x->events + n, sizeof x->events - n, "%s%ld ", what, (long)number);
}

static void on_acked(void *owner, int64_t number) { note((end *)owner, "+", number); }
static void on_lost(void *owner, int64_t number) { note((end *)owner, "-", number); }

static cwp_verdict on_arrival(void *owner, const cwp_arrival *a)
{
    ((end *)owner)->asked = *a;
    return ((end *)owner)->verdict;
}

static cwp_config small_config(void)
{
    cwp_config c = cwp_default_config();
    c.fragment_size = 4;
    c.max_fragments = 4;
    c.fragment_above = 4;
    return c;
}

static void begin_with(end *x, cwp_config c)
{
    cwp_memory memory = {counted_take, counted_give, x};
    cwp_above above = {on_arrival, on_acked, on_lost, x};
    memset(x, 0, sizeof *x);
    x->room = SIZE_MAX / 2;
    x->verdict = CWP_TAKE;
    CHECK(cwp_endpoint_init(&x->e, &c, memory, above, assembly));
}

static void begin(end *x) { begin_with(x, small_config()); }

static void finish(end *x)
{
    cwp_endpoint_end(&x->e);
    CHECK(x->held == 0); /* F-7 */
}

/* Whether these are the events since the last call. */
static bool happened(end *x, const char *events)
{
    bool ok = strcmp(x->events, events) == 0;
    if (!ok) {
        printf("events: %s\n", x->events);
    }
    x->events[0] = '\0';
    return ok;
}

static cwp_row give_bytes(end *x, cwp_time now, const uint8_t *b, size_t n)
{
    cwp_receive(&x->e, now, b, n, &x->r);
    return x->r.row;
}

static cwp_row give_hex(end *x, cwp_time now, const char *hex)
{
    uint8_t b[256];
    return give_bytes(x, now, b, from_hex(hex, b));
}

/* A regular packet of the peer, payload "hi". */
static cwp_row give_acks(end *x, cwp_time now, int64_t number, uint16_t ack, uint32_t ack_bits)
{
    uint8_t b[CWP_MAX_HEADER + 2];
    cwp_header h = {cwp_on_wire(number), ack, ack_bits};
    size_t n = cwp_encode_header(&h, b);
    memcpy(b + n, "hi", 2);
    return give_bytes(x, now, b, n + 2);
}

static cwp_row give_packet(end *x, cwp_time now, int64_t number) { return give_acks(x, now, number, 65535, 0); }

/* Fragment i of a packet of the peer with size bytes, 1, 2 and so on. */
static cwp_row give_fragment(end *x, cwp_time now, int64_t number, size_t size, uint32_t i)
{
    uint8_t payload[16];
    uint8_t b[CWP_MAX_DATAGRAM];
    cwp_header h = {cwp_on_wire(number), 65535, 0};
    for (size_t k = 0; k < sizeof payload; k++) {
        payload[k] = (uint8_t)(k + 1);
    }
    return give_bytes(x, now, b, cwp_encode_datagram(&h, payload, size, 4, 4, i, b));
}

static bool refused(const end *x, cwp_error error) { return x->r.error == error && x->r.place == -1; }

/* Sends one byte, and whether its header is this. */
static bool sends(end *x, cwp_time now, const char *header)
{
    static const uint8_t payload[] = {'x'};
    uint8_t out[CWP_MAX_DATAGRAM];
    cwp_sent s;
    if (cwp_send(&x->e, now, payload, sizeof payload, false, &s) != CWP_OK || s.datagrams != 1) {
        return false;
    }
    return hex_is(out, cwp_sent_datagram(&x->e, &s, 0, out) - 1, header);
}

static void send_many(end *x, cwp_time now, int count)
{
    static const uint8_t payload[] = {'x'};
    cwp_sent s;
    for (int i = 0; i < count; i++) {
        CHECK(cwp_send(&x->e, now, payload, sizeof payload, false, &s) == CWP_OK);
    }
}

static bool polls(end *x, cwp_time now)
{
    cwp_sent s;
    return cwp_poll(&x->e, now, &s);
}

static void test_receiving(void)
{
    end x;
    begin(&x);
    CHECK(give_packet(&x, 0, 0) == CWP_P6 && x.r.number == 0 && x.r.size == 2 && memcmp(x.r.payload, "hi", 2) == 0);
    CHECK(give_packet(&x, 0, 0) == CWP_P3 && refused(&x, CWP_DUPLICATE)); /* F-4 */
    CHECK(give_bytes(&x, 0, NULL, 0) == CWP_P1 && x.r.error == CWP_TRUNCATED && x.r.place == 0);
    CHECK(x.e.refused[CWP_DUPLICATE] == 1 && x.e.refused[CWP_TRUNCATED] == 1);
    CHECK(give_packet(&x, 0, 65535) == CWP_P2 && refused(&x, CWP_STALE));
    CHECK(give_packet(&x, 0, 32513) == CWP_P2 && give_packet(&x, 0, 32512) == CWP_P6);
    CHECK(give_packet(&x, 0, 32256) == CWP_P2 && give_packet(&x, 0, 32257) == CWP_P6);
    CHECK(sends(&x, 0, "1e0000007f01000000")); /* PKR-3: only the newest is known */
    x.verdict = CWP_REFUSE;
    CHECK(give_acks(&x, 0, 32514, 0, 1) == CWP_P5 && refused(&x, CWP_REFUSED) && happened(&x, ""));
    CHECK(x.asked.number == 32514 && x.asked.known == 0 && x.asked.size == 2);
    x.verdict = CWP_TAKE;
    CHECK(give_acks(&x, 0, 32514, 0, 1) == CWP_P6 && happened(&x, "+0 "));
    finish(&x);
}

/* F-12, F-15, F-21 */
static void test_wrap(void)
{
    end x;
    cwp_config c = small_config();
    uint32_t taken = 0;
    c.first_received = 60000;
    begin_with(&x, c);
    for (int64_t number = 60000; number < 140000; number++) {
        if (number % 7 != 0) {
            taken += give_packet(&x, number, number) == CWP_P6 && x.r.number == number;
            taken += give_packet(&x, number, number) == CWP_P3;
        }
    }
    CHECK(taken == 2 * (80000 - 11428));
    finish(&x);
}

/* The trace of section 5.3 */
static void test_reassembly(void)
{
    end x;
    begin(&x);
    CHECK(give_hex(&x, 0, "010000010205060708") == CWP_P11);
    CHECK(sends(&x, 1 * MS, "3e00000000000000"));
    CHECK(give_hex(&x, 2 * MS, "01000000023e0000010000000001020304") == CWP_P11);
    CHECK(give_hex(&x, 3 * MS, "01000000023e0000010000000001020304") == CWP_P9 &&
          refused(&x, CWP_FRAGMENT_DUPLICATE));
    CHECK(give_hex(&x, 4 * MS, "01000001030a0b0c0d") == CWP_P8 && refused(&x, CWP_FRAGMENT_COUNT));
    CHECK(give_hex(&x, 5 * MS, "0100000202090a") == CWP_P13 && x.r.size == 10);
    CHECK(memcmp(x.r.payload, "\1\2\3\4\5\6\7\10\11\12", 10) == 0);
    CHECK(give_hex(&x, 6 * MS, "0100000202090a") == CWP_P3);
    CHECK(sends(&x, 7 * MS, "3e01000101000000"));
    CHECK(give_fragment(&x, 10 * MS, 1, 8, 0) == CWP_P11);
    CHECK(!polls(&x, 1010 * MS) && happened(&x, "-0 -1 "));
    CHECK(give_fragment(&x, 1010 * MS, 1, 8, 1) == CWP_P4 && refused(&x, CWP_DEAD));
    CHECK(give_packet(&x, 1010 * MS, 1) == CWP_P4);
    finish(&x);
}

static void test_end_of_a_reassembly(void)
{
    end x;
    size_t rings;
    begin(&x);
    rings = x.held;
    CHECK(give_fragment(&x, 0, 0, 8, 0) == CWP_P11 && x.held == rings + 4);
    CHECK(cwp_deadline(&x.e) == SECOND);
    CHECK(give_fragment(&x, 0, 1, 8, 1) == CWP_P11 && x.held == rings + 8);
    CHECK(give_fragment(&x, SECOND - 1, 1, 8, 0) == CWP_P13 && x.held == rings + 4);
    CHECK(give_fragment(&x, SECOND, 0, 8, 1) == CWP_P4 && x.held == rings); /* PKX-2, step 5 */
    CHECK(give_fragment(&x, SECOND, 2, 8, 0) == CWP_P11 && give_fragment(&x, SECOND, 3, 8, 0) == CWP_P11);
    CHECK(give_packet(&x, SECOND, 2) == CWP_P6 && x.held == rings + 4); /* P6 */
    CHECK(give_fragment(&x, SECOND, 2, 8, 1) == CWP_P3);
    CHECK(give_packet(&x, SECOND, 66) == CWP_P6 && x.held == rings + 4); /* F-6: one window */
    CHECK(give_packet(&x, SECOND, 67) == CWP_P6 && x.held == rings);
    CHECK(give_fragment(&x, SECOND, 3, 8, 1) == CWP_P7 && refused(&x, CWP_STALE));
    CHECK(give_fragment(&x, SECOND, 70, 8, 1) == CWP_P11);
    x.verdict = CWP_REFUSE; /* P12 */
    CHECK(give_fragment(&x, SECOND, 70, 8, 0) == CWP_P12 && refused(&x, CWP_REFUSED) && x.held == rings);
    x.verdict = CWP_TAKE;
    CHECK(give_fragment(&x, SECOND, 70, 8, 0) == CWP_P11 && give_fragment(&x, SECOND, 70, 8, 1) == CWP_P13);
    CHECK(give_fragment(&x, SECOND, 71, 8, 1) == CWP_P11);
    finish(&x);
}

/* PKX-3 */
static void test_room(void)
{
    end x;
    cwp_config c = small_config();
    begin(&x);
    for (int64_t number = 1; number <= 8; number++) {
        CHECK(give_fragment(&x, 0, number, 8, 0) == CWP_P11);
    }
    CHECK(give_fragment(&x, 0, 0, 8, 0) == CWP_P10 && refused(&x, CWP_REASSEMBLY_FULL));
    CHECK(give_fragment(&x, 0, 70, 8, 0) == CWP_P11); /* PKR-2: room first */
    CHECK(give_fragment(&x, 0, 1, 8, 1) == CWP_P4 && give_fragment(&x, 0, 2, 8, 1) == CWP_P7);
    CHECK(give_fragment(&x, 0, 7, 8, 1) == CWP_P13);
    finish(&x);
    c.reassembly_bytes = 16;
    begin_with(&x, c);
    CHECK(give_fragment(&x, 0, 5, 9, 0) == CWP_P11 && give_fragment(&x, 0, 5, 9, 1) == CWP_P11);
    CHECK(give_fragment(&x, 0, 6, 9, 0) == CWP_P11 && give_fragment(&x, 0, 6, 9, 1) == CWP_P11);
    CHECK(give_fragment(&x, 0, 4, 9, 0) == CWP_P10);
    CHECK(give_fragment(&x, 0, 5, 9, 2) == CWP_P13); /* the last one needs no room */
    CHECK(give_fragment(&x, 0, 4, 9, 0) == CWP_P11 && give_fragment(&x, 0, 4, 9, 1) == CWP_P11);
    CHECK(give_fragment(&x, 0, 7, 16, 0) == CWP_P11 && give_fragment(&x, 0, 4, 9, 2) == CWP_P4);
    finish(&x);
    begin_with(&x, c);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(give_fragment(&x, 0, 1, 16, i) == CWP_P11 && give_fragment(&x, 0, 2, 16, i) == CWP_P11);
    }
    CHECK(give_fragment(&x, 0, 1, 16, 2) == CWP_P10); /* its own bytes count */
    CHECK(give_fragment(&x, 0, 2, 16, 2) == CWP_P11 && give_fragment(&x, 0, 1, 16, 2) == CWP_P4);
    finish(&x);
}

static void test_no_memory(void)
{
    end x;
    cwp_config c = small_config();
    cwp_memory memory = {counted_take, counted_give, &x};
    cwp_above above = {NULL, NULL, NULL, NULL};
    size_t rings;
    begin(&x);
    rings = x.held;
    x.room = rings + 4;
    CHECK(give_fragment(&x, 0, 0, 9, 0) == CWP_P11);
    CHECK(give_fragment(&x, 0, 0, 9, 1) == CWP_P_NONE && refused(&x, CWP_NO_MEMORY));
    send_many(&x, 0, 33); /* the ring does not grow: the oldest is pushed out */
    CHECK(happened(&x, "-0 "));
    x.room = SIZE_MAX / 2;
    CHECK(give_fragment(&x, 0, 0, 9, 1) == CWP_P11 && give_fragment(&x, 0, 0, 9, 2) == CWP_P13);
    finish(&x);
    for (size_t room = 0; room < rings; room += 64) {
        memset(&x, 0, sizeof x);
        x.room = room;
        CHECK(!cwp_endpoint_init(&x.e, &c, memory, above, assembly) && x.held == 0);
    }
}

/* The trace of section 8 */
static void test_acks(void)
{
    end x;
    begin(&x);
    send_many(&x, 0, 1);
    send_many(&x, 33333, 1);
    send_many(&x, 66666, 1);
    CHECK(give_acks(&x, 100 * MS, 0, 0, 1) == CWP_P6 && x.r.sampled && happened(&x, "+0 "));
    CHECK(cwp_deadline(&x.e) == 120 * MS && !polls(&x, 120 * MS - 1) && polls(&x, 120 * MS));
    CHECK(give_acks(&x, 180 * MS, 1, 2, 5) == CWP_P6 && x.r.sampled && happened(&x, "+2 "));
    CHECK(x.e.round_trip.srtt == 101333 && x.e.round_trip.jitter == 833);
    send_many(&x, 190 * MS, 1);
    CHECK(cwp_deadline(&x.e) == 1033333 && !polls(&x, 1033333) && happened(&x, "-1 "));
    CHECK(give_acks(&x, 1050 * MS, 2, 2, 7) == CWP_P6 && !x.r.sampled && happened(&x, "+1 "));
    CHECK(give_acks(&x, 1060 * MS, 2, 2, 7) == CWP_P3 && happened(&x, ""));
    CHECK(give_acks(&x, 1060 * MS, 3, 9, 1) == CWP_P6 && happened(&x, ""));
    CHECK(polls(&x, 1070 * MS) && !cwp_silent(&x.e));
    CHECK(!polls(&x, 1190 * MS) && happened(&x, "-4 ") && cwp_silent(&x.e));
    finish(&x);
}

/* PKR-1, PKR-7, PKL-4 */
static void test_answers(void)
{
    static const uint8_t pad[] = {0};
    cwp_sent s;
    end x;
    begin(&x);
    for (int64_t number = 0; number < 15; number++) {
        CHECK(give_packet(&x, number, number) == CWP_P6);
    }
    CHECK(cwp_deadline(&x.e) == 20 * MS);
    CHECK(give_packet(&x, 15, 15) == CWP_P6 && cwp_deadline(&x.e) == 15);
    CHECK(polls(&x, 15) && !polls(&x, 21 * MS));
    CHECK(give_packet(&x, 22 * MS, 18) == CWP_P6 && cwp_deadline(&x.e) == 42 * MS && polls(&x, 42 * MS));
    CHECK(give_hex(&x, 30 * MS, "3e1000110000000000") == CWP_P6 && x.r.size == 1);
    x.verdict = CWP_TAKE_QUIETLY;
    CHECK(give_packet(&x, 30 * MS, 17) == CWP_P6 && cwp_deadline(&x.e) == 15 + 4 * SECOND);
    CHECK(cwp_send(&x.e, 40 * MS, pad, 1, false, &s) == CWP_OK && cwp_send(&x.e, 40 * MS, assembly, 2, true, &s) == CWP_OK);
    CHECK(!polls(&x, 2 * SECOND) && happened(&x, "") && !cwp_silent(&x.e)); /* never lost */
    CHECK(give_acks(&x, 2 * SECOND, 19, 3, 1) == CWP_P6 && !x.r.sampled && happened(&x, "+3 "));
    finish(&x);
}

static void test_sent(void)
{
    end x;
    cwp_config c = small_config();
    begin(&x);
    send_many(&x, 0, 3);
    CHECK(give_acks(&x, SECOND, 0, 0, 1) == CWP_P6); /* F-18: before the poll */
    CHECK(polls(&x, SECOND + 20 * MS) && happened(&x, "+0 -1 -2 "));
    CHECK(give_acks(&x, 4 * SECOND, 1, 1, 1) == CWP_P6 && happened(&x, "+1 ")); /* L3 */
    CHECK(!polls(&x, 4 * SECOND) && give_acks(&x, 4 * SECOND, 2, 2, 1) == CWP_P6 && happened(&x, "")); /* L5 */
    CHECK(cwp_silent(&x.e) && x.e.next_to_send == 4);
    finish(&x);
    c.sent_max = 256;
    c.first_sent = 65500;
    begin_with(&x, c);
    send_many(&x, 0, 256); /* the ring grows from 32 */
    CHECK(happened(&x, ""));
    send_many(&x, 0, 1);
    CHECK(happened(&x, "-65500 ")); /* L4 */
    CHECK(give_acks(&x, 0, 0, cwp_on_wire(65501), 3) == CWP_P6 && happened(&x, "+65501 "));
    CHECK(give_acks(&x, 0, 1, cwp_on_wire(65756), 0x80000001u) == CWP_P6 && happened(&x, "+65756 +65725 "));
    CHECK(give_acks(&x, 0, 2, cwp_on_wire(65757), 1) == CWP_P6 && happened(&x, ""));
    send_many(&x, 0, 2);
    CHECK(happened(&x, "-65502 ") && cwp_deadline(&x.e) == SECOND); /* 65501 was acked */
    finish(&x);
}

/* Reordered packets, and the window of reassembly. */
static void test_order(void)
{
    end x;
    size_t rings;
    begin(&x);
    rings = x.held;
    CHECK(give_packet(&x, 0, 5) == CWP_P6 && give_packet(&x, 0, 3) == CWP_P6 && give_packet(&x, 0, 4) == CWP_P6);
    CHECK(sends(&x, 0, "1e0000050007000000"));
    CHECK(give_fragment(&x, 0, 6, 8, 0) == CWP_P11 && give_packet(&x, 0, 69) == CWP_P6 && x.held == rings + 4);
    CHECK(give_packet(&x, 0, 70) == CWP_P6 && x.held == rings);
    finish(&x);
}

/* PKL-8, PKE-1, PKE-4 to PKE-7, of one conversation. */
static void test_estimates_of_an_endpoint(void)
{
    end x;
    cwp_figures f;
    begin(&x);
    send_many(&x, 0, 1);
    send_many(&x, 50 * MS, 1);
    CHECK(give_acks(&x, 100 * MS, 0, 1, 3) == CWP_P6 && x.e.round_trip.srtt == 50 * MS);
    CHECK(cwp_shown_figures(&x.e.shown, &f) && f.min == 50 * MS && f.max == 100 * MS);
    CHECK(cwp_seconds_sum(&x.e.bytes_sent, SECOND) == 18 && cwp_seconds_sum(&x.e.bytes_acked, SECOND) == 18);
    CHECK(cwp_seconds_sum(&x.e.bytes_received, SECOND) == 11);
    finish(&x);
    begin(&x);
    send_many(&x, 0, 4);
    CHECK(give_acks(&x, 80 * MS, 0, 2, 1) == CWP_P6 && give_acks(&x, 80 * MS, 1, 2, 3) == CWP_P6);
    CHECK(cwp_patience_at(&x.e.patience, 80 * MS) == 0); /* overtaken by one only */
    CHECK(give_acks(&x, 80 * MS, 2, 2, 5) == CWP_P6 && cwp_patience_at(&x.e.patience, 80 * MS) == 90 * MS);
    finish(&x);
    begin(&x);
    send_many(&x, 0, 2);
    CHECK(!polls(&x, SECOND) && cwp_silent(&x.e));
    CHECK(give_acks(&x, SECOND, 0, 1, 3) == CWP_P6 && !cwp_silent(&x.e));
    CHECK(cwp_loss_per_mille(&x.e.loss, 2 * SECOND) == 1000);
    finish(&x);
}

/* PKF-3, F-8 */
static void test_sizes(void)
{
    static uint8_t payload[16385];
    static uint8_t whole[16384];
    static const size_t lengths[] = {1037, 142};
    cwp_memory memory = {counted_take, counted_give, NULL};
    cwp_above above = {NULL, NULL, NULL, NULL};
    cwp_config c = cwp_default_config();
    uint8_t out[CWP_MAX_DATAGRAM];
    cwp_sent s;
    end x;
    memset(&x, 0, sizeof x);
    x.room = SIZE_MAX / 2;
    memory.owner = &x;
    CHECK(cwp_endpoint_init(&x.e, &c, memory, above, whole));
    CHECK(cwp_send(&x.e, 0, payload, 0, false, &s) == CWP_PAYLOAD_SIZE);
    CHECK(cwp_send(&x.e, 0, payload, 16385, false, &s) == CWP_PAYLOAD_SIZE && x.e.next_to_send == 0);
    CHECK(cwp_send(&x.e, 0, payload, 1160, false, &s) == CWP_OK && s.datagrams == 1);
    CHECK(cwp_sent_datagram(&x.e, &s, 0, out) == 1168);
    CHECK(cwp_send(&x.e, 0, payload, 1161, false, &s) == CWP_OK && s.datagrams == 2);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(cwp_sent_datagram(&x.e, &s, i, out) == lengths[i]);
    }
    CHECK(cwp_send(&x.e, 0, payload, 16384, false, &s) == CWP_OK && s.datagrams == 16);
    CHECK(cwp_seconds_sum(&x.e.bytes_sent, SECOND) == 1168 + 1037 + 142 + 16384 + 16 * 5 + 8);
    finish(&x);
}

/* PKP-1 */
static void test_parameters(void)
{
    static const struct {
        size_t fragment_size;
        uint32_t max_fragments;
        size_t above;
        uint32_t received, sent_max, reassembly, packets;
        size_t bytes;
        int64_t first;
        bool ok;
    } cases[] = {
        {1024, 16, 1160, 256, 8192, 0, 0, 0, 0, true},
        {1, 2, 1160, 64, 256, 0, 0, 0, CWP_MOST_FIRST, true},
        {1, 256, 1, 16384, 16384, 8192, 8192, 256, 0, true},
        {0, 16, 1160, 256, 8192, 0, 0, 0, 0, false},
        {1161, 16, 1161, 256, 8192, 0, 0, 0, 0, false},
        {1024, 1, 1160, 256, 8192, 0, 0, 0, 0, false},
        {1024, 257, 1160, 256, 8192, 0, 0, 0, 0, false},
        {1024, 16, 1023, 256, 8192, 0, 0, 0, 0, false},
        {1024, 16, 1161, 256, 8192, 0, 0, 0, 0, false},
        {1024, 16, 1160, 32, 8192, 0, 0, 0, 0, false},
        {1024, 16, 1160, 96, 8192, 0, 0, 0, 0, false},
        {1024, 16, 1160, 256, 128, 0, 0, 0, 0, false},
        {1024, 16, 1160, 256, 32768, 0, 0, 0, 0, false},
        {1024, 16, 1160, 256, 8192, 256, 0, 0, 0, false},
        {1024, 16, 1160, 256, 8192, 16, 17, 0, 0, false},
        {1024, 16, 1160, 256, 8192, 0, 0, 16383, 0, false},
        {1024, 16, 1160, 256, 8192, 0, 0, 0, CWP_MOST_FIRST + 1, false},
        {1024, 16, 1160, 256, 8192, 0, 0, 0, -1, false},
    };
    cwp_above above = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        end x;
        cwp_memory memory = {counted_take, counted_give, NULL};
        cwp_config c;
        memset(&x, 0, sizeof x);
        x.room = SIZE_MAX / 2;
        memory.owner = &x;
        c.fragment_size = cases[i].fragment_size;
        c.max_fragments = cases[i].max_fragments;
        c.fragment_above = cases[i].above;
        c.received = cases[i].received;
        c.sent_max = cases[i].sent_max;
        c.reassembly = cases[i].reassembly;
        c.reassembly_packets = cases[i].packets;
        c.reassembly_bytes = cases[i].bytes;
        c.first_sent = cases[i].first;
        c.first_received = 0;
        CHECK(cwp_endpoint_init(&x.e, &c, memory, above, assembly) == cases[i].ok);
        if (cases[i].ok) {
            finish(&x);
        }
    }
}

/* Whatever bytes come, the memory is bounded (PKT-SAFE-3, F-1, F-9). */
static void test_hostile(void)
{
    static const uint8_t prefixes[] = {0x01, 0x01, 0x01, 0x00, 0x20, 0x3E};
    uint32_t random = 12345;
    size_t rings;
    size_t most = 0;
    uint32_t stored = 0;
    end x;
    begin(&x);
    rings = x.held;
    for (int i = 0; i < 200000; i++) {
        size_t n;
        uint8_t *b;
        random = random * 1664525u + 1013904223u;
        n = random >> 28 < 8 ? 9 : random >> 16 & 15; /* many fragments of the right size */
        b = (uint8_t *)malloc(n > 0 ? n : 1);
        for (size_t k = 0; k < n; k++) {
            random = random * 1664525u + 1013904223u;
            b[k] = (uint8_t)(random >> 24);
        }
        if (n > 4) {
            b[0] = prefixes[b[0] % 6];
            b[1] = (uint8_t)(i / 16 + b[1] % 16); /* numbers move on */
            b[2] = (uint8_t)(i / 16 >> 8);
            b[3] &= 3;
            b[4] &= 3;
        }
        stored += give_bytes(&x, (cwp_time)i * 1000, b, n) == CWP_P11;
        most = x.held > most ? x.held : most;
        free(b);
        x.events[0] = '\0';
    }
    CHECK(stored > 1000);
    CHECK(most >= rings + 24 && most <= rings + 32 + 4);
    finish(&x);
}

int main(void)
{
    test_numbers();
    test_headers();
    test_fragments();
    test_refusals();
    test_round_trip();
    test_other_estimates();
    test_congestion();
    test_recovery();
    test_cadence();
    test_receiving();
    test_wrap();
    test_reassembly();
    test_end_of_a_reassembly();
    test_room();
    test_no_memory();
    test_acks();
    test_answers();
    test_sent();
    test_order();
    test_estimates_of_an_endpoint();
    test_sizes();
    test_parameters();
    test_hostile();
    return test_result();
}
