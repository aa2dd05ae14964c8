/* Tests of the channels. Comments such as CHR-2 name sentences of spec/CHANNELS.md, T-1 to
 * T-21 the faults of its section 10. */
#include "check.h"
#include "chunkwire_channel.h"

#include <stdlib.h>

#define MS ((cwp_time)1000)
#define SECOND ((cwp_time)1000000)

/* A small configuration: window 32, 4 bytes of data, groups of 4. */
static cwc_config small_config(unsigned kind)
{
    cwc_config c = cwc_default_config(kind);
    c.window = 32;
    c.data = 4;
    c.group = 4;
    c.send_queue = 40;
    return c;
}

/* Channels 0 to 3 take every record, 4 is unreliable, 5 reliable; there are no others. */
static const cwc_channels *channels(void)
{
    static cwc_config configs[3];
    static cwc_channels c;
    configs[0] = small_config(CWC_ORDERED | CWC_UNRELIABLE);
    configs[1] = small_config(CWC_UNRELIABLE);
    configs[2] = small_config(CWC_UNORDERED);
    for (int i = 0; i < 4; i++) {
        c.config[i] = &configs[0];
    }
    c.config[4] = &configs[1];
    c.config[5] = &configs[2];
    return &c;
}

static const cwc_channels *default_channels(void)
{
    static cwc_config config;
    static cwc_channels c;
    config = cwc_default_config(CWC_ORDERED | CWC_UNRELIABLE);
    for (int i = 0; i < CWC_CHANNELS; i++) {
        c.config[i] = &config;
    }
    return &c;
}

/* ---- Records (section 3) ---------------------------------------------------- */

/* 3.4; what is decoded is encoded to the same bytes (CHR-6). */
static void test_examples(void)
{
    static const struct {
        const char *hex;
        int type;
        bool quiet; /* CHR-4 */
    } cases[] = {
        {"00", CWC_PAD, true},
        {"010302006869", CWC_UNRELIABLE_MESSAGE, false},
        {"020101020300616263", CWC_MESSAGE, false},
        {"0301ffff020201007a", CWC_FRAGMENT, false},
        {"0401feff03", CWC_SKIP, false},
        {"05016400000200", CWC_REPORT, true},
        {"0601bc02", CWC_STATUS, false},
        {"0501fafff40102030040010000280000000000", CWC_REPORT, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t b[64];
        uint8_t out[64];
        cwc_record r;
        size_t n = from_hex(cases[i].hex, b);
        size_t at = 0;
        size_t size = 0;
        bool quiet = !cases[i].quiet;
        CHECK(cwc_decode(default_channels(), b, n, &at, &r) == CWC_OK && at == n && r.type == cases[i].type);
        CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, NULL) == CWC_OK);
        CHECK(hex_is(out, size, cases[i].hex));
        CHECK(cwc_check(default_channels(), b, n, &quiet, NULL) == CWC_OK && quiet == cases[i].quiet);
    }
}

/* CHR-20 to CHR-35 in the order of the document. Each payload lies in a block of its own
 * size, for the sanitizer to see reads beyond (CHR-12, T-12). */
static void test_refusals(void)
{
    static const struct {
        const char *hex;
        cwc_error error;
        size_t place;
    } cases[] = {
        {"", CWC_TRUNCATED, 0},
        {"07", CWC_UNKNOWN_RECORD, 0}, /* T-16 */
        {"0000", CWC_UNKNOWN_RECORD, 0},
        {"0600000000", CWC_UNKNOWN_RECORD, 4},
        {"ff", CWC_UNKNOWN_RECORD, 0},
        {"01", CWC_TRUNCATED, 1},
        {"0106", CWC_UNKNOWN_CHANNEL, 1}, /* T-18 */
        {"0140", CWC_UNKNOWN_CHANNEL, 1},
        {"0204", CWC_CHANNEL_KIND, 1},
        {"0105", CWC_CHANNEL_KIND, 1},
        {"0104", CWC_TRUNCATED, 2},
        {"010401", CWC_TRUNCATED, 2},
        {"01040000", CWC_LENGTH, 2},
        {"01040100", CWC_TRUNCATED, 4},
        {"0104020061", CWC_TRUNCATED, 4},
        {"0200", CWC_TRUNCATED, 2},
        {"0200010001", CWC_TRUNCATED, 4},
        {"020001000000", CWC_LENGTH, 4},
        {"02000100050000000000", CWC_LENGTH, 4},
        {"020001000200aa", CWC_TRUNCATED, 6},
        {"030001", CWC_TRUNCATED, 2},
        {"03000100", CWC_TRUNCATED, 4},
        {"0300010000", CWC_TRUNCATED, 5},
        {"030001000000", CWC_FRAGMENT_COUNT, 5},
        {"030001000904", CWC_FRAGMENT_COUNT, 5},
        {"030001000303", CWC_TRUNCATED, 6},
        {"030001000403", CWC_FRAGMENT_INDEX, 4},
        {"0300010002030300", CWC_LENGTH, 6},
        {"0300010003030000", CWC_LENGTH, 6},
        {"0300010003030500", CWC_LENGTH, 6},
        {"0300010003030400aabbcc", CWC_TRUNCATED, 8},
        {"04000100", CWC_TRUNCATED, 4},
        {"05000a002100", CWC_ROOM, 4},
        {"05000a002000", CWC_TRUNCATED, 6},
        {"05000a00200021", CWC_GROUP_COUNT, 6},
        {"05000a00200001", CWC_TRUNCATED, 7},
        {"05000a000000010a00", CWC_GROUP_START, 7},
        {"05000a000500010f00", CWC_GROUP_START, 7},
        {"05000a000500010900", CWC_GROUP_START, 7},
        {"05000a000500010e00", CWC_TRUNCATED, 9},
        {"05000a000500010e0000000000", CWC_GROUP_BASE, 7},
        {"05000a000500010e0007000000", CWC_GROUP_BASE, 7},
        {"05000a000500010e0010000000", CWC_GROUP_BITS, 9},
        {"05000a000500010a0001000000", CWC_GROUP_BITS, 9},
        {"05000a002000020a00000000000b00", CWC_GROUP_ORDER, 13},
        {"05000a00200001290000000080", CWC_GROUP_BITS, 9},
        {"06000a", CWC_TRUNCATED, 2},
        {"06000a000204", CWC_CHANNEL_KIND, 5},
        {"06000a0006050a00", CWC_OK, 8},
        {"05000a000500010e0008000000", CWC_OK, 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = strlen(cases[i].hex) / 2;
        uint8_t *b = (uint8_t *)malloc(n > 0 ? n : 1);
        size_t place = 99;
        (void)from_hex(cases[i].hex, b);
        CHECK(cwc_check(channels(), b, n, NULL, &place) == cases[i].error);
        CHECK(place == cases[i].place);
        free(b);
    }
    CHECK(cwc_check(channels(), NULL, 0, NULL, NULL) == CWC_TRUNCATED);
}

static cwc_record record_of(int64_t type, int64_t sequence)
{
    static const uint8_t data[70000] = {'a', 'b', 'c', 'd'};
    cwc_record r;
    memset(&r, 0, sizeof r);
    r.type = type;
    r.sequence = sequence;
    r.data = data;
    r.size = 4;
    return r;
}

static cwc_error appended(const cwc_record *r, size_t *place)
{
    uint8_t out[70100];
    size_t size = 0;
    return cwc_append(channels(), r, out, sizeof out, &size, place);
}

/* Whether an encoder refuses it so. */
static bool is_refused(cwc_record r, cwc_error error, size_t place)
{
    size_t at = 99;
    return appended(&r, &at) == error && at == place;
}

static cwc_record report_of(int64_t base, int64_t room, int64_t start, int64_t bits)
{
    cwc_record r = record_of(CWC_REPORT, base);
    r.room = room;
    r.num_groups = 1;
    r.groups[0].start = start;
    r.groups[0].bits = bits;
    return r;
}

/* CHR-7, CHR-13 */
static void test_encoder_refuses(void)
{
    cwc_record r = record_of(CWC_MESSAGE, 1);
    CHECK(is_refused(record_of(7, 0), CWC_UNKNOWN_RECORD, 0) && is_refused(record_of(-1, 0), CWC_UNKNOWN_RECORD, 0));
    for (int64_t type = CWC_MESSAGE; type <= CWC_STATUS; type++) {
        CHECK(is_refused(record_of(type, -1), CWC_INVALID_FIELD, 2));
        CHECK(is_refused(record_of(type, 65536), CWC_INVALID_FIELD, 2));
        CHECK(is_refused(record_of(type, INT64_MIN), CWC_INVALID_FIELD, 2));
    }
    r.channel = 6;
    CHECK(is_refused(r, CWC_UNKNOWN_CHANNEL, 1));
    r.channel = -1;
    CHECK(is_refused(r, CWC_UNKNOWN_CHANNEL, 1));
    r.channel = 4;
    CHECK(is_refused(r, CWC_CHANNEL_KIND, 1));
    r = record_of(CWC_UNRELIABLE_MESSAGE, 0);
    r.size = 65536;
    CHECK(is_refused(r, CWC_LENGTH, 2));
    r.size = 65535;
    CHECK(appended(&r, NULL) == CWC_OK);
    r = record_of(CWC_MESSAGE, 0);
    r.size = 65537;
    CHECK(is_refused(r, CWC_LENGTH, 4));
    r = record_of(CWC_FRAGMENT, 0);
    r.count = 257;
    CHECK(is_refused(r, CWC_FRAGMENT_COUNT, 5));
    r.count = 4;
    r.index = 256;
    CHECK(is_refused(r, CWC_FRAGMENT_INDEX, 4));
    r.index = INT64_MAX;
    CHECK(is_refused(r, CWC_FRAGMENT_INDEX, 4));
    r.index = -1;
    CHECK(is_refused(r, CWC_FRAGMENT_INDEX, 4));
    r = record_of(CWC_SKIP, 0);
    CHECK(is_refused(r, CWC_INVALID_FIELD, 4));
    r.count = 257;
    CHECK(is_refused(r, CWC_INVALID_FIELD, 4));
    r.count = 256;
    CHECK(appended(&r, NULL) == CWC_OK);
    CHECK(is_refused(report_of(0, -1, 0, 0), CWC_ROOM, 4) && is_refused(report_of(0, 65536, 0, 0), CWC_ROOM, 4));
    CHECK(is_refused(report_of(0, 5, 65536, 0), CWC_INVALID_FIELD, 7));
    CHECK(is_refused(report_of(0, 5, INT64_MIN, 0), CWC_INVALID_FIELD, 7));
    CHECK(is_refused(report_of(0, 5, 4, (int64_t)1 << 32), CWC_INVALID_FIELD, 9));
    CHECK(is_refused(report_of(0, 5, 4, -1), CWC_INVALID_FIELD, 9));
    r = report_of(0, 5, 0, 0);
    r.num_groups = 289; /* 33 modulo 256 */
    CHECK(is_refused(r, CWC_GROUP_COUNT, 6));
}

/* CHR-32 to CHR-35 where a group's 33 sequences end. */
static void test_edges_of_groups(void)
{
    size_t at = 99;
    uint8_t out[32];
    size_t size = 0;
    cwc_record r = report_of(10, 512, 42, (int64_t)1 << 31);
    r.num_groups = 2;
    r.groups[1].start = 74;
    CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, &at) == CWC_GROUP_ORDER && at == 13);
    r.groups[1].start = 75;
    CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, &at) == CWC_OK && size == 19);
    size = 0;
    r.groups[0].start = 43; /* bit 31 is 11 */
    CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, &at) == CWC_GROUP_BASE && at == 7);
}

/* A PAD is alone, and a record that does not fit leaves the payload as it is. */
static void test_payload(void)
{
    cwc_record pad = record_of(CWC_PAD, 0);
    cwc_record status = record_of(CWC_STATUS, 700);
    uint8_t b[16] = {0};
    size_t size = 0;
    size_t place = 99;
    CHECK(cwc_append(channels(), &status, b, 8, &size, &place) == CWC_OK && size == 4);
    CHECK(cwc_append(channels(), &pad, b, 8, &size, &place) == CWC_UNKNOWN_RECORD && place == 4 && size == 4);
    CHECK(cwc_append(channels(), &status, b, 7, &size, &place) == CWC_NO_SPACE && size == 4 && b[7] == 0);
    CHECK(cwc_append(channels(), &status, b, 8, &size, &place) == CWC_OK && hex_is(b, size, "0600bc020600bc02"));
    size = 0;
    CHECK(cwc_append(channels(), &pad, b, 8, &size, &place) == CWC_OK && hex_is(b, size, "00"));
    CHECK(cwc_append(channels(), &status, b, 8, &size, &place) == CWC_UNKNOWN_RECORD && place == 0 && size == 1);
}

/* Whatever bytes come, a decoder answers, and what it takes has one encoding. */
static void test_any_bytes(void)
{
    uint32_t random = 12345;
    int taken = 0;
    for (int i = 0; i < 300000; i++) {
        size_t n;
        uint8_t *b;
        uint8_t out[32];
        size_t at = 0;
        size_t size = 0;
        cwc_record r;
        random = random * 1664525u + 1013904223u;
        n = random >> 16 & 31;
        b = (uint8_t *)malloc(n > 0 ? n : 1);
        for (size_t k = 0; k < n; k++) {
            random = random * 1664525u + 1013904223u;
            b[k] = (uint8_t)(random >> 24 & (k < 2 ? 7 : random >> 16 & 255));
        }
        while (at < n && cwc_decode(channels(), b, n, &at, &r) == CWC_OK) {
            CHECK(cwc_append(channels(), &r, out, sizeof out, &size, NULL) == CWC_OK);
            CHECK(size == at && memcmp(out, b, size) == 0);
            taken++;
        }
        CHECK(at <= n);
        free(b);
    }
    CHECK(taken > 10000);
}

/* ---- Parameters (CHP-1) ----------------------------------------------------- */

static void test_parameters(void)
{
    static const struct {
        unsigned kind;
        uint32_t window, data, group, send_queue;
        cwp_time give_up;
        int64_t first;
        bool ok;
    } cases[] = {
        {CWC_ORDERED, 512, 1024, 64, 4096, 10 * SECOND, 0, true},
        {CWC_UNORDERED, 32, 1, 2, 2, SECOND, CWC_MOST_FIRST, true},
        {CWC_UNRELIABLE, 16384, 1024, 64, 32768, 3600 * SECOND, 0, true},
        {CWC_ORDERED, 32, 1024, 64, 32, SECOND, 0, true},
        {CWC_ORDERED | CWC_UNORDERED, 512, 1024, 64, 4096, SECOND, 0, false},
        {0, 512, 1024, 64, 4096, SECOND, 0, false},
        {CWC_ORDERED, 16, 1024, 64, 4096, SECOND, 0, false},
        {CWC_ORDERED, 48, 1024, 64, 4096, SECOND, 0, false},
        {CWC_ORDERED, 32768, 1024, 64, 4096, SECOND, 0, false},
        {CWC_ORDERED, 512, 0, 64, 4096, SECOND, 0, false},
        {CWC_ORDERED, 512, 1025, 64, 4096, SECOND, 0, false},
        {CWC_ORDERED, 512, 1024, 1, 4096, SECOND, 0, false},
        {CWC_ORDERED, 512, 1024, 65, 4096, SECOND, 0, false},
        {CWC_ORDERED, 512, 1024, 64, 63, SECOND, 0, false},
        {CWC_ORDERED, 32, 1024, 64, 31, SECOND, 0, false},
        {CWC_ORDERED, 512, 1024, 64, 32769, SECOND, 0, false},
        {CWC_ORDERED, 512, 1024, 64, 4096, SECOND - 1, 0, false},
        {CWC_ORDERED, 512, 1024, 64, 4096, 3600 * SECOND + 1, 0, false},
        {CWC_ORDERED, 512, 1024, 64, 4096, SECOND, -1, false},
        {CWC_ORDERED, 512, 1024, 64, 4096, SECOND, CWC_MOST_FIRST + 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cwc_config c;
        c.kind = cases[i].kind;
        c.window = cases[i].window;
        c.data = cases[i].data;
        c.group = cases[i].group;
        c.send_queue = cases[i].send_queue;
        c.give_up = cases[i].give_up;
        c.first = cases[i].first;
        CHECK(cwc_config_allowed(&c) == cases[i].ok);
    }
}

/* ---- Reports of a set (CHV-6) ----------------------------------------------- */

static bool is_third(const void *owner, int64_t n)
{
    (void)owner;
    return n % 3 == 0;
}

static bool is_any(const void *owner, int64_t n)
{
    (void)owner;
    (void)n;
    return true;
}

static bool is_in_example(const void *owner, int64_t n)
{
    (void)owner;
    return n == 65530 || n == 65532 || n == 65539 || n == 65576;
}

static void test_report(void)
{
    cwc_missing m = {is_in_example, NULL, 65530, 65577};
    uint8_t out[256];
    size_t size = 0;
    cwc_record r;
    cwc_report(&m, 500, CWC_MOST_GROUPS, &r);
    r.channel = 1;
    CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, NULL) == CWC_OK);
    CHECK(hex_is(out, size, "0501fafff40102030040010000280000000000"));
    cwc_report(&m, 500, 1, &r); /* the oldest stay */
    CHECK(r.num_groups == 1 && r.groups[0].start == 3 && r.groups[0].bits == 0x140);
    cwc_report(&m, 500, 0, &r);
    CHECK(r.num_groups == 0);
    m.missing = is_third;
    m.base = 3;
    m.top = 16000;
    cwc_report(&m, 16384, 100, &r);
    size = 0;
    CHECK(r.num_groups == CWC_MOST_GROUPS);
    CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, NULL) == CWC_ROOM);
    r.room = 512;
    CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, NULL) == CWC_GROUP_START);
    m.top = 500;
    cwc_report(&m, 512, 100, &r);
    CHECK(cwc_append(default_channels(), &r, out, sizeof out, &size, NULL) == CWC_OK);
    m.base = 0; /* of 0, 3 to 33: the newest group reaches down to 1 */
    m.top = 34;
    cwc_report(&m, 512, 100, &r);
    CHECK(r.num_groups == 2 && r.groups[0].start == 0 && r.groups[1].start == 33 && r.groups[1].bits == 0x24924924);
    m.base = 3; /* bit 29 is the last */
    cwc_report(&m, 512, 100, &r);
    CHECK(r.num_groups == 1 && r.groups[0].bits == 0x24924924);
    m.top = 100; /* 99 with 67 and above, 66 with 36 and above, 33 */
    cwc_report(&m, 512, 100, &r);
    CHECK(r.num_groups == 3 && r.groups[2].start == 99 && r.groups[1].start == 66 && r.groups[0].start == 33);
    m.missing = is_any;
    m.base = 0;
    m.top = 34;
    cwc_report(&m, 512, 100, &r);
    CHECK(r.num_groups == 2 && r.groups[0].start == 0 && r.groups[1].bits == 0xFFFFFFFF);
    m.top = 3; /* nothing */
    m.base = 3;
    cwc_report(&m, 512, 100, &r);
    CHECK(r.num_groups == 0);
}

/* ---- Memory ----------------------------------------------------------------- */

typedef struct {
    size_t held; /* bytes */
    size_t room; /* bytes that may be held */
} counted;

static void *counted_take(void *owner, size_t size)
{
    counted *c = (counted *)owner;
    if (c->held + size > c->room) {
        return NULL;
    }
    c->held += size;
    return malloc(size);
}

static void counted_give(void *owner, void *block, size_t size)
{
    ((counted *)owner)->held -= size;
    free(block);
}

static cwp_memory counting(counted *c)
{
    cwp_memory memory = {counted_take, counted_give, c};
    c->held = 0;
    c->room = SIZE_MAX / 2;
    return memory;
}

/* ---- Receiver (section 5) --------------------------------------------------- */

/* A receiver of the small configuration, its memory counted. */
typedef struct {
    cwc_receiver r;
    counted memory;
    cwc_record report;
    uint8_t out[CWC_MOST_MESSAGE];
    cwc_read got;
} hearer;

static void hear_with(hearer *h, cwc_config c) { CHECK(cwc_receiver_init(&h->r, &c, 0, counting(&h->memory))); }

static void hear(hearer *h, unsigned kind) { hear_with(h, small_config(kind)); }

static void hear_no_more(hearer *h)
{
    cwc_receiver_end(&h->r);
    CHECK(h->memory.held == 0);
}

static cwc_receiver_row give(hearer *h, cwp_time now, cwc_record r)
{
    r.sequence = cwp_on_wire(r.sequence);
    return cwc_receiver_record(&h->r, now, &r);
}

static cwc_receiver_row give_message(hearer *h, cwp_time now, int64_t n) { return give(h, now, record_of(CWC_MESSAGE, n)); }

/* Fragment i of count, of a group that begins at n. */
static cwc_receiver_row give_fragment(hearer *h, cwp_time now, int64_t n, int64_t i, int64_t count)
{
    cwc_record r = record_of(CWC_FRAGMENT, n + i);
    r.index = i;
    r.count = count;
    return give(h, now, r);
}

static cwc_receiver_row give_skip(hearer *h, cwp_time now, int64_t n, int64_t count)
{
    cwc_record r = record_of(CWC_SKIP, n);
    r.count = count;
    return give(h, now, r);
}

static cwc_receiver_row give_status(hearer *h, cwp_time now, int64_t n) { return give(h, now, record_of(CWC_STATUS, n)); }

/* Whether the next thing is this; size 0: skipped. */
static bool reads(hearer *h, cwp_time now, int64_t n, size_t size)
{
    cwc_receiver_row row = cwc_receiver_read(&h->r, now, h->out, sizeof h->out, &h->got);
    return (row == CWC_V11 || row == CWC_V17) && h->got.sequence == n && h->got.size == size &&
           h->got.skipped == (size == 0);
}

static cwc_receiver_row read_row(hearer *h, cwp_time now)
{
    return cwc_receiver_read(&h->r, now, h->out, sizeof h->out, &h->got);
}

static cwc_receiver_row poll_row(hearer *h, cwp_time now) { return cwc_receiver_poll(&h->r, now, 100, &h->report); }

static void test_ordered(void)
{
    hearer h;
    hear(&h, CWC_ORDERED);
    CHECK(poll_row(&h, 0) == CWC_V15 && cwc_receiver_deadline(&h.r) == CWP_NEVER);
    CHECK(give_message(&h, 0, 0) == CWC_V5 && cwc_receiver_deadline(&h.r) == 20 * MS);
    CHECK(reads(&h, 1 * MS, 0, 4) && read_row(&h, 1 * MS) == CWC_V12 && h.r.tail == 1);
    CHECK(give_message(&h, 2 * MS, 2) == CWC_V5 && cwc_receiver_deadline(&h.r) == 2 * MS);
    CHECK(read_row(&h, 2 * MS) == CWC_V12);
    CHECK(poll_row(&h, 2 * MS) == CWC_V14 && h.report.sequence == 1 && h.report.room == 32);
    CHECK(h.report.num_groups == 1 && h.report.groups[0].start == 1 && h.report.groups[0].bits == 0);
    CHECK(give_message(&h, 3 * MS, 2) == CWC_V1 && cwc_receiver_deadline(&h.r) == 7 * MS); /* CHV-4 */
    CHECK(give_message(&h, 3 * MS, 33) == CWC_V2 && h.r.beyond == 1 && h.r.top == 3); /* T-8 */
    CHECK(give_message(&h, 4 * MS, 32) == CWC_V5 && h.r.top == 33); /* T-6 */
    CHECK(give_message(&h, 4 * MS, 1) == CWC_V5 && h.r.base == 3);
    CHECK(reads(&h, 4 * MS, 1, 4) && reads(&h, 4 * MS, 2, 4) && read_row(&h, 4 * MS) == CWC_V12);
    CHECK(give_message(&h, 5 * MS, 0) == CWC_V1); /* below tail */
    CHECK(poll_row(&h, 6999) == CWC_V15 && poll_row(&h, 7 * MS) == CWC_V14);
    CHECK(give_message(&h, 30 * MS, 0) == CWC_V1 && cwc_receiver_deadline(&h.r) == 30 * MS);
    hear_no_more(&h);
    hear(&h, CWC_ORDERED);
    CHECK(give_message(&h, 0, 1) == CWC_V5 && poll_row(&h, 0) == CWC_V14);
    CHECK(give_message(&h, 9 * MS, 0) == CWC_V5 && cwc_receiver_deadline(&h.r) == 9 * MS); /* it was missing */
    hear_no_more(&h);
}

/* T-3: each of 32 sequences but every 8th is missing, in one report. */
static void test_every_loss_is_named(void)
{
    hearer h;
    hear(&h, CWC_UNORDERED);
    for (int64_t n = 7; n < 32; n += 8) {
        CHECK(give_message(&h, 0, n) == CWC_V5);
    }
    CHECK(poll_row(&h, 0) == CWC_V14 && h.report.num_groups == 1 && h.report.groups[0].start == 30);
    CHECK(h.report.groups[0].bits == 0x3FBFBFBF);
    hear_no_more(&h);
}

/* CHN-4, with the table of section 2.2; T-19. */
static void test_nearest(void)
{
    static const struct {
        int64_t first, sequence;
        cwc_receiver_row row;
    } cases[] = {
        {0, 0, CWC_V5},          {0, 32768, CWC_V2},     {0, 32769, CWC_V1},      {0, 65535, CWC_V1},
        {65530, 2, CWC_V5},      {65530, 32762, CWC_V2}, {65530, 32763, CWC_V1},  {65538, 65535, CWC_V1},
        {131072, 65000, CWC_V1}, {131071, 0, CWC_V5},    {65535, 65535, CWC_V5},  {131071, 30, CWC_V5},
        {131071, 31, CWC_V2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hearer h;
        cwc_config c = small_config(CWC_ORDERED);
        c.first = cases[i].first;
        hear_with(&h, c);
        CHECK(give_message(&h, 0, cases[i].sequence) == cases[i].row);
        hear_no_more(&h);
    }
}

/* CHV-5, CHV-6, CHV-11, CHV-13 */
static void test_repeats(void)
{
    static const cwp_time waits[] = {50, 100, 200, 250, 250};
    static const cwc_path measured = {true, 200000, 0};
    hearer h;
    cwp_time now = 0;
    hear(&h, CWC_ORDERED);
    CHECK(give_status(&h, 0, 2) == CWC_V9 && poll_row(&h, 0) == CWC_V14); /* T-9 */
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        now += waits[i] * MS;
        CHECK(cwc_receiver_deadline(&h.r) == now && poll_row(&h, now - 1) == CWC_V15 && poll_row(&h, now) == CWC_V14);
    }
    cwc_receiver_path(&h.r, &measured);
    CHECK(cwc_receiver_deadline(&h.r) == now + 400 * MS); /* the cap is 2 * srtt */
    CHECK(give_message(&h, now, 1) == CWC_V5 && cwc_receiver_deadline(&h.r) == now + 5 * MS);
    CHECK(poll_row(&h, now + 5 * MS) == CWC_V14 && cwc_receiver_deadline(&h.r) == now + 205 * MS);
    CHECK(cwc_receiver_poll(&h.r, now + 205 * MS, 6, &h.report) == CWC_V15);
    CHECK(cwc_receiver_poll(&h.r, now + 205 * MS, 12, &h.report) == CWC_V14 && h.report.num_groups == 0);
    CHECK(poll_row(&h, now + 10 * SECOND - 1) == CWC_V14 && poll_row(&h, now + 10 * SECOND) == CWC_V13);
    CHECK(h.r.failed && cwc_receiver_deadline(&h.r) == CWP_NEVER);
    now += 11 * SECOND;
    CHECK(give_message(&h, now, 0) == CWC_V16 && give_skip(&h, now, 0, 1) == CWC_V19);
    CHECK(give_status(&h, now, 5) == CWC_V20 && poll_row(&h, now) == CWC_V21 && read_row(&h, now) == CWC_V18);
    hear_no_more(&h);
}

/* A time before the latest is that (CHN-3); V17 moves on. */
static void test_failed_reads(void)
{
    hearer h;
    hear(&h, CWC_ORDERED);
    CHECK(give_message(&h, SECOND, 0) == CWC_V5 && give_message(&h, 0, 1) == CWC_V5);
    CHECK(give_message(&h, 0, 3) == CWC_V5 && h.r.progress_at == SECOND);
    CHECK(poll_row(&h, 11 * SECOND) == CWC_V13);
    CHECK(reads(&h, 0, 0, 4) && reads(&h, 0, 1, 4) && read_row(&h, 0) == CWC_V18);
    CHECK(cwc_receiver_deadline(&h.r) == CWP_NEVER);
    hear_no_more(&h);
}

/* CHV-2 */
static void test_unordered(void)
{
    hearer h;
    hear(&h, CWC_UNORDERED);
    CHECK(give_message(&h, 0, 5) == CWC_V5 && give_fragment(&h, 0, 1, 2, 3) == CWC_V5);
    CHECK(give_fragment(&h, 0, 1, 0, 3) == CWC_V5 && give_message(&h, 0, 4) == CWC_V5);
    CHECK(give_fragment(&h, 0, 1, 1, 3) == CWC_V5 && give_skip(&h, 0, 6, 2) == CWC_V8);
    CHECK(reads(&h, 0, 5, 4) && h.r.tail == 0 && give_message(&h, 0, 5) == CWC_V1);
    CHECK(reads(&h, 0, 4, 4) && reads(&h, 0, 1, 12) && reads(&h, 0, 6, 0) && reads(&h, 0, 7, 0));
    CHECK(read_row(&h, 0) == CWC_V12 && give_message(&h, 0, 0) == CWC_V5 && reads(&h, 0, 0, 4) && h.r.tail == 8);
    CHECK(give_message(&h, 0, 39) == CWC_V5 && give_message(&h, 0, 40) == CWC_V2);
    hear_no_more(&h);
}

/* CHV-12, CHV-14, and the last rows of skip and status */
static void test_skip_and_status(void)
{
    hearer h;
    hear(&h, CWC_ORDERED);
    CHECK(give_status(&h, 0, 32) == CWC_V9 && give_status(&h, 0, 33) == CWC_V10 && h.r.beyond == 1);
    CHECK(give_skip(&h, 0, 30, 3) == CWC_V7 && h.r.beyond == 2 && give_skip(&h, 0, 65500, 20) == CWC_V6);
    CHECK(give_skip(&h, 1, 65534, 4) == CWC_V8 && h.r.base == 2 && h.r.progress_at == 1);
    CHECK(give_skip(&h, 2, 0, 2) == CWC_V6 && h.r.progress_at == 1 && give_message(&h, 2, 1) == CWC_V1);
    CHECK(reads(&h, 3, 0, 0) && reads(&h, 3, 1, 0) && h.r.tail == 2);
    CHECK(give_status(&h, 3, 34) == CWC_V9 && h.r.progress_at == 1); /* something was missing before */
    hear_no_more(&h);
}

/* CHG-1 to CHG-4 */
static void test_groups(void)
{
    hearer h;
    hear(&h, CWC_ORDERED);
    CHECK(give_fragment(&h, 0, 65535, 1, 2) == CWC_V3); /* it would begin below FIRST */
    CHECK(give_fragment(&h, 0, 4, 1, 3) == CWC_V5);
    CHECK(give_message(&h, 0, 4) == CWC_V3 && give_message(&h, 0, 6) == CWC_V3);
    CHECK(give_fragment(&h, 0, 4, 0, 4) == CWC_V3 && give_fragment(&h, 0, 6, 0, 2) == CWC_V3);
    CHECK(give_fragment(&h, 0, 3, 0, 3) == CWC_V3 && h.r.conflict == 6);
    CHECK(give_message(&h, 0, 8) == CWC_V5 && give_fragment(&h, 0, 7, 0, 2) == CWC_V3);
    CHECK(give_fragment(&h, 0, 4, 0, 3) == CWC_V5 && read_row(&h, 0) == CWC_V12);
    CHECK(give_skip(&h, 0, 0, 4) == CWC_V8 && give_skip(&h, 0, 6, 2) == CWC_V8); /* CHG-3: 4 and 5, too */
    CHECK(h.r.base == 9 && h.memory.held == h.r.config.window * (sizeof(cwc_held) + 2) + 4);
    for (int64_t n = 0; n < 8; n++) {
        CHECK(reads(&h, 0, n, 0));
    }
    CHECK(reads(&h, 0, 8, 4));
    CHECK(give_skip(&h, 0, 10, 1) == CWC_V8 && give_fragment(&h, 0, 9, 2, 3) == CWC_V4); /* CHG-4 */
    CHECK(give_fragment(&h, 0, 9, 0, 3) == CWC_V4 && h.r.base == 12);
    CHECK(reads(&h, 0, 9, 0) && reads(&h, 0, 10, 0) && reads(&h, 0, 11, 0) && h.r.tail == 12);
    CHECK(give_fragment(&h, 0, 11, 1, 2) == CWC_V4); /* it begins below tail */
    hear_no_more(&h);
}

/* The first and the last of a group of the most fragments. */
static void test_far_ends_of_a_group(void)
{
    hearer h;
    hear(&h, CWC_UNORDERED);
    CHECK(give_fragment(&h, 0, 8, 0, 4) == CWC_V5 && give_message(&h, 0, 11) == CWC_V3);
    CHECK(give_fragment(&h, 0, 20, 3, 4) == CWC_V5 && give_message(&h, 0, 20) == CWC_V3);
    CHECK(give_skip(&h, 0, 11, 1) == CWC_V8 && reads(&h, 0, 8, 0) && reads(&h, 0, 11, 0));
    CHECK(give_skip(&h, 0, 20, 1) == CWC_V8 && reads(&h, 0, 20, 0) && reads(&h, 0, 23, 0));
    hear_no_more(&h);
}

/* A skipped sequence gives up every group that it lies in. */
static void test_two_groups(void)
{
    hearer h;
    hear(&h, CWC_UNORDERED);
    CHECK(give_fragment(&h, 0, 0, 0, 2) == CWC_V5 && give_fragment(&h, 0, 1, 1, 3) == CWC_V5);
    CHECK(give_fragment(&h, 0, 0, 1, 2) == CWC_V3 && give_fragment(&h, 0, 1, 2, 3) == CWC_V5);
    CHECK(give_skip(&h, 0, 1, 1) == CWC_V8);
    for (int64_t n = 0; n < 4; n++) {
        CHECK(reads(&h, 0, n, 0));
    }
    hear_no_more(&h);
}

/* A group that reaches beyond limit has room once tail is at its beginning. */
static void test_group_at_the_edge(void)
{
    hearer h;
    hear(&h, CWC_ORDERED);
    for (int64_t n = 0; n < 30; n++) {
        CHECK(give_message(&h, 0, n) == CWC_V5);
    }
    CHECK(give_fragment(&h, 0, 30, 1, 4) == CWC_V5 && give_fragment(&h, 0, 30, 2, 4) == CWC_V2);
    for (int64_t n = 0; n < 30; n++) {
        CHECK(reads(&h, 0, n, 4));
    }
    CHECK(give_fragment(&h, 0, 30, 3, 4) == CWC_V5 && give_fragment(&h, 0, 30, 2, 4) == CWC_V5);
    CHECK(give_fragment(&h, 0, 30, 0, 4) == CWC_V5);
    CHECK(cwc_receiver_read(&h.r, 0, h.out, 15, &h.got) == CWC_V_NONE && h.got.size == 16 && reads(&h, 0, 30, 16));
    hear_no_more(&h);
}

static void test_receiver_without_memory(void)
{
    cwc_config c = small_config(CWC_ORDERED);
    hearer h;
    size_t rings;
    hear(&h, CWC_ORDERED);
    rings = h.memory.held;
    h.memory.room = rings + 4;
    CHECK(give_message(&h, 0, 1) == CWC_V5 && give_message(&h, 0, 0) == CWC_V_NONE && h.r.base == 0);
    CHECK(give_skip(&h, 0, 1, 1) == CWC_V6);
    h.memory.room = SIZE_MAX / 2;
    CHECK(give_message(&h, 0, 0) == CWC_V5 && reads(&h, 0, 0, 4) && reads(&h, 0, 1, 4));
    hear_no_more(&h);
    for (size_t room = 0; room < rings; room += 16) {
        cwp_memory memory = counting(&h.memory);
        h.memory.room = room;
        CHECK(!cwc_receiver_init(&h.r, &c, 0, memory) && h.memory.held == 0);
    }
    c.kind = CWC_UNRELIABLE;
    CHECK(!cwc_receiver_init(&h.r, &c, 0, counting(&h.memory)));
    c.kind = CWC_ORDERED;
    CHECK(!cwc_receiver_init(&h.r, &c, CWC_CHANNELS, counting(&h.memory)));
}

/* ---- Sender (section 4) ----------------------------------------------------- */

typedef struct {
    cwc_sender s;
    counted memory;
    cwc_record record;
    cwc_error refused;
} speaker;

static void speak_with(speaker *x, cwc_config c) { CHECK(cwc_sender_init(&x->s, &c, 0, counting(&x->memory))); }

static void speak(speaker *x) { speak_with(x, small_config(CWC_ORDERED)); }

static void speak_no_more(speaker *x)
{
    cwc_sender_end(&x->s);
    CHECK(x->memory.held == 0);
}

static cwc_sender_row send_for(speaker *x, cwp_time now, size_t size, cwp_time lifetime)
{
    static const uint8_t data[] = "abcdefghijklmnopqrstuvwxyz";
    return cwc_sender_send(&x->s, now, data, size, lifetime, &x->refused);
}

static cwc_sender_row send_bytes(speaker *x, cwp_time now, size_t size) { return send_for(x, now, size, CWP_NEVER); }

/* Whether a poll gives a record of this type from this sequence on. */
static bool sends(speaker *x, cwp_time now, int64_t number, int64_t type, int64_t n)
{
    cwc_sender_row row = cwc_sender_poll(&x->s, now, number, 100, &x->record);
    return row == (type == CWC_STATUS ? CWC_D9 : CWC_D8) && x->record.type == type &&
           x->record.sequence == cwp_on_wire(n);
}

static bool sends_nothing(speaker *x, cwp_time now, int64_t number)
{
    return cwc_sender_poll(&x->s, now, number, 100, &x->record) == CWC_D10;
}

/* A report of packet `number`, whose header acks `ack`; what is missing is base and bits behind it. */
static cwc_sender_row hear_report(speaker *x, cwp_time now, int64_t number, int64_t ack, int64_t base, int64_t start,
                                  int64_t bits)
{
    cwc_record r = report_of(cwp_on_wire(base), 32, cwp_on_wire(start), bits);
    r.num_groups = start < 0 ? 0 : 1;
    return cwc_sender_report(&x->s, now, &r, number, ack);
}

/* CHS-10, D1 to D3 */
static void test_send(void)
{
    speaker x;
    speak(&x);
    CHECK(send_bytes(&x, 0, 0) == CWC_D1 && x.refused == CWC_MESSAGE_SIZE && send_bytes(&x, 0, 17) == CWC_D1); /* T-20 */
    CHECK(cwc_sender_deadline(&x.s) == CWP_NEVER && sends_nothing(&x, 0, 0));
    CHECK(send_bytes(&x, 5, 4) == CWC_D3 && x.refused == CWC_OK && x.s.heard_at == 5 && x.s.said_at == 5);
    CHECK(send_bytes(&x, 6, 5) == CWC_D3 && x.s.next == 3 && x.s.heard_at == 5 && cwc_sender_deadline(&x.s) == 6);
    CHECK(sends(&x, 6, 0, CWC_MESSAGE, 0) && x.record.size == 4);
    CHECK(sends(&x, 6, 0, CWC_FRAGMENT, 1) && x.record.index == 0 && x.record.count == 2 && x.record.size == 4);
    CHECK(cwc_sender_poll(&x.s, 6, 0, 8, &x.record) == CWC_D10);
    CHECK(sends(&x, 6, 0, CWC_FRAGMENT, 2) && x.record.size == 1 && x.record.data[0] == 'e');
    CHECK(sends_nothing(&x, 6, 0) && cwc_sender_deadline(&x.s) == 5 + 0 + 250001); /* PROBE_WAIT behind 6 */
    for (int i = 0; i < 9; i++) {
        CHECK(send_bytes(&x, 7, 16) == CWC_D3);
    }
    CHECK(send_bytes(&x, 7, 5) == CWC_D2 && x.refused == CWC_QUEUE_FULL && send_bytes(&x, 7, 4) == CWC_D3); /* T-14 */
    speak_no_more(&x);
}

/* CHS-2, CHN-5, D4 to D6 */
static void test_reports_count(void)
{
    speaker x;
    cwc_config c = small_config(CWC_ORDERED);
    c.first = 65534;
    speak_with(&x, c);
    for (int i = 0; i < 6; i++) {
        CHECK(send_bytes(&x, 0, 4) == CWC_D3);
    }
    for (int64_t n = 65534; n < 65538; n++) {
        CHECK(sends(&x, 0, n - 65534, CWC_MESSAGE, n));
    }
    CHECK(hear_report(&x, 1, 5, 3, 65539, -1, 0) == CWC_D5 && x.s.implausible == 1 && x.s.heard == -1);
    CHECK(hear_report(&x, 1, 5, 3, 65534, 65538, 8) == CWC_D5); /* T-11: 65,538 was not sent */
    CHECK(hear_report(&x, 1, 5, 3, 65533, -1, 0) == CWC_D5);    /* 65,533 + 65,536 */
    CHECK(hear_report(&x, 1, 5, 3, 65536, -1, 0) == CWC_D6 && x.s.base == 65536 && x.s.limit == 65568);
    CHECK(hear_report(&x, 2, 5, 3, 65538, -1, 0) == CWC_D4 && hear_report(&x, 2, 4, 3, 65538, -1, 0) == CWC_D4);
    CHECK(x.s.base == 65536 && x.s.heard_at == 1);
    CHECK(hear_report(&x, 2, 6, 3, 65538, -1, 0) == CWC_D6 && x.s.base == 65538 && x.s.next == 65540);
    speak_no_more(&x);
}

/* Nothing at or above limit is sent (CHS-2), and the limit never falls. */
static void test_limit(void)
{
    speaker x;
    cwc_record r = report_of(0, 0, 0, 0);
    speak(&x);
    for (int i = 0; i < 40; i++) {
        CHECK(send_bytes(&x, 0, 1) == CWC_D3);
    }
    for (int64_t n = 0; n < 32; n++) {
        CHECK(sends(&x, 0, 0, CWC_MESSAGE, n));
    }
    CHECK(sends_nothing(&x, 0, 0) && cwc_sender_deadline(&x.s) == 250 * MS);
    r.num_groups = 0;
    r.sequence = 20;
    CHECK(cwc_sender_report(&x.s, 0, &r, 0, 0) == CWC_D6 && x.s.limit == 32 && sends_nothing(&x, 0, 1));
    r.room = 14;
    CHECK(cwc_sender_report(&x.s, 0, &r, 1, 0) == CWC_D6 && x.s.limit == 34 && sends(&x, 0, 1, CWC_MESSAGE, 32));
    CHECK(sends(&x, 0, 1, CWC_MESSAGE, 33) && sends_nothing(&x, 0, 1));
    speak_no_more(&x);
}

/* CHS-3; T-10 */
static void test_mark(void)
{
    static const cwc_path path = {true, 40000, 60000}; /* HOLD is 50 ms */
    speaker x;
    speak(&x);
    cwc_sender_path(&x.s, &path);
    for (int i = 0; i < 3; i++) {
        CHECK(send_bytes(&x, 0, 4) == CWC_D3 && sends(&x, 0, 10, CWC_MESSAGE, i));
    }
    CHECK(hear_report(&x, 59999, 0, 12, 0, 1, 1) == CWC_D6 && sends_nothing(&x, 59999, 13)); /* patience */
    CHECK(hear_report(&x, 60 * MS, 1, 11, 0, 1, 1) == CWC_D6); /* HOLD */
    CHECK(sends(&x, 60 * MS, 13, CWC_MESSAGE, 0) && sends(&x, 60 * MS, 13, CWC_MESSAGE, 1));
    CHECK(sends_nothing(&x, 60 * MS, 13));
    CHECK(hear_report(&x, 70 * MS, 2, 99, 0, 1, 1) == CWC_D6 && sends_nothing(&x, 70 * MS, 14));
    speak_no_more(&x);
    speak(&x);
    CHECK(send_bytes(&x, 0, 4) == CWC_D3 && sends(&x, 0, 10, CWC_MESSAGE, 0));
    CHECK(hear_report(&x, 1, 1, 11, 0, 0, 0) == CWC_D6 && sends_nothing(&x, 1, 11));
    CHECK(hear_report(&x, 1, 2, 12, 0, 0, 0) == CWC_D6 && sends(&x, 1, 13, CWC_MESSAGE, 0)); /* OVERTAKEN */
    CHECK(x.record.size == 4 && memcmp(x.record.data, "abcd", 4) == 0); /* CHS-6, T-2 */
    CHECK(hear_report(&x, 2, 3, 13, 0, 0, 0) == CWC_D6 && sends_nothing(&x, 2, 14));
    CHECK(hear_report(&x, 2, 4, 14, 0, 0, 0) == CWC_D6 && sends(&x, 2, 15, CWC_MESSAGE, 0)); /* by one, as it is again */
    speak_no_more(&x);
}

/* CHS-4, CHS-5, CHS-11 */
static void test_probe(void)
{
    speaker x;
    speak(&x);
    CHECK(send_bytes(&x, 0, 4) == CWC_D3 && send_bytes(&x, 0, 16) == CWC_D3);
    for (int64_t n = 0; n < 5; n++) {
        CHECK(sends(&x, 0, 0, n == 0 ? CWC_MESSAGE : CWC_FRAGMENT, n));
    }
    CHECK(cwc_sender_deadline(&x.s) == 250 * MS && sends_nothing(&x, 250 * MS - 1, 1));
    CHECK(cwc_sender_poll(&x.s, 250 * MS, 1, 3, &x.record) == CWC_D10);
    CHECK(cwc_sender_poll(&x.s, 250 * MS, 1, 4 + 10 + 11, &x.record) == CWC_D9 && x.record.sequence == 5);
    CHECK(sends(&x, 250 * MS, 1, CWC_MESSAGE, 0) && sends_nothing(&x, 250 * MS, 1)); /* 12 bytes do not fit 11 */
    CHECK(cwc_sender_deadline(&x.s) == 500 * MS && sends(&x, 9 * SECOND, 2, CWC_STATUS, 5));
    CHECK(sends(&x, 9 * SECOND, 2, CWC_MESSAGE, 0) && cwc_sender_deadline(&x.s) == 9 * SECOND);
    for (int64_t n = 1; n < 5; n++) {
        CHECK(sends(&x, 9 * SECOND, 2, CWC_FRAGMENT, n));
    }
    CHECK(cwc_sender_poll(&x.s, 10 * SECOND, 3, 100, &x.record) == CWC_D7 && x.s.failed);
    CHECK(x.s.next - x.s.base == 5 && cwc_sender_deadline(&x.s) == CWP_NEVER);
    CHECK(send_bytes(&x, 10 * SECOND, 4) == CWC_D11 && x.refused == CWC_FAILED);
    CHECK(hear_report(&x, 10 * SECOND, 9, 9, 5, -1, 0) == CWC_D12 && x.s.base == 0);
    CHECK(cwc_sender_poll(&x.s, 10 * SECOND, 4, 100, &x.record) == CWC_D13);
    speak_no_more(&x);
}

/* Waits for a probe double up to the cap, and begin anew with a report of something new. */
static void test_probe_waits(void)
{
    static const cwc_path path = {true, 200000, 0}; /* HOLD is 250 ms, the cap 400 ms */
    cwc_record nothing = report_of(0, 32, 0, 0);
    speaker x;
    nothing.num_groups = 0;
    speak(&x);
    cwc_sender_path(&x.s, &path);
    CHECK(send_bytes(&x, 0, 4) == CWC_D3 && send_bytes(&x, 0, 4) == CWC_D3);
    CHECK(sends(&x, 0, 0, CWC_MESSAGE, 0) && sends(&x, 0, 0, CWC_MESSAGE, 1) && cwc_sender_deadline(&x.s) == 270 * MS);
    CHECK(sends(&x, 270 * MS, 1, CWC_STATUS, 2) && sends(&x, 270 * MS, 1, CWC_MESSAGE, 0));
    CHECK(sends(&x, 270 * MS, 1, CWC_MESSAGE, 1) && cwc_sender_deadline(&x.s) == 540 * MS);
    CHECK(sends(&x, 540 * MS, 2, CWC_STATUS, 2) && sends(&x, 540 * MS, 2, CWC_MESSAGE, 0));
    CHECK(sends(&x, 540 * MS, 2, CWC_MESSAGE, 1) && cwc_sender_deadline(&x.s) == 940 * MS);
    CHECK(cwc_sender_report(&x.s, 600 * MS, &nothing, 1, 2) == CWC_D6 && cwc_sender_deadline(&x.s) == 940 * MS);
    CHECK(hear_report(&x, 600 * MS, 2, 1, 1, -1, 0) == CWC_D6 && cwc_sender_deadline(&x.s) == 560 * MS);
    CHECK(sends(&x, 600 * MS, 3, CWC_STATUS, 2) && sends_nothing(&x, 600 * MS, 3)); /* it is early */
    CHECK(cwc_sender_deadline(&x.s) == 870 * MS);
    CHECK(hear_report(&x, 610 * MS, 3, 1, 1, 1, 0) == CWC_D6 && cwc_sender_deadline(&x.s) == 620 * MS);
    CHECK(send_bytes(&x, 610 * MS, 4) == CWC_D3 && sends(&x, 610 * MS, 4, CWC_MESSAGE, 2) && x.s.resent == 2);
    CHECK(hear_report(&x, 610 * MS, 4, 1, 2, -1, 0) == CWC_D6 && cwc_sender_deadline(&x.s) == 880 * MS);
    CHECK(hear_report(&x, 610 * MS, 5, 1, 3, -1, 0) == CWC_D6 && cwc_sender_deadline(&x.s) == CWP_NEVER);
    speak_no_more(&x);
}

/* CHX-1 to CHX-4, CHS-1 */
static void test_expiry(void)
{
    speaker x;
    speak(&x);
    CHECK(send_for(&x, 0, 4, 300 * MS) == CWC_D3 && send_for(&x, 0, 8, 100 * MS) == CWC_D3);
    CHECK(send_for(&x, 0, 4, 50 * MS) == CWC_D3 && send_bytes(&x, 0, 4) == CWC_D3);
    CHECK(sends(&x, 0, 0, CWC_MESSAGE, 0) && sends(&x, 0, 0, CWC_FRAGMENT, 1));
    CHECK(sends(&x, 100 * MS, 1, CWC_SKIP, 2) && x.record.count == 2); /* what was sent goes silent */
    CHECK(x.s.sent == 4 && sends(&x, 100 * MS, 1, CWC_MESSAGE, 4) && sends_nothing(&x, 100 * MS, 1));
    CHECK(cwc_sender_deadline(&x.s) == 300 * MS); /* before the probe, at 350 ms */
    CHECK(hear_report(&x, 250 * MS, 0, 0, 0, 1, 1) == CWC_D6); /* HOLD: 0 and 1 */
    CHECK(sends(&x, 250 * MS, 2, CWC_MESSAGE, 0) && sends(&x, 250 * MS, 2, CWC_SKIP, 1) && x.record.count == 1);
    CHECK(cwc_sender_deadline(&x.s) == 270 * MS && sends(&x, 270 * MS, 3, CWC_STATUS, 5)); /* early */
    CHECK(cwc_sender_deadline(&x.s) == 300 * MS);
    CHECK(sends_nothing(&x, 300 * MS, 3) && cwc_sender_deadline(&x.s) == 520 * MS); /* CHX-4 */
    CHECK(cwc_sender_poll(&x.s, 520 * MS, 4, 4 + 5, &x.record) == CWC_D9);
    CHECK(sends(&x, 520 * MS, 4, CWC_SKIP, 0) && x.record.count == 4 && sends_nothing(&x, 520 * MS, 4));
    CHECK(hear_report(&x, 521 * MS, 1, 4, 5, -1, 0) == CWC_D6 && cwc_sender_deadline(&x.s) == CWP_NEVER);
    CHECK(sends_nothing(&x, SECOND, 5)); /* CHT-LIVE-5 */
    CHECK(send_for(&x, SECOND, 4, 10 * MS) == CWC_D3 && send_for(&x, SECOND, 4, 100 * MS) == CWC_D3);
    CHECK(sends(&x, SECOND, 5, CWC_MESSAGE, 5) && sends(&x, SECOND, 5, CWC_MESSAGE, 6));
    CHECK(cwc_sender_deadline(&x.s) == 1010 * MS && hear_report(&x, SECOND, 2, 5, 6, -1, 0) == CWC_D6);
    CHECK(cwc_sender_deadline(&x.s) == 1100 * MS);
    speak_no_more(&x);
}

/* CHS-13 */
static void test_fresh(void)
{
    speaker x;
    cwc_config c = small_config(CWC_ORDERED);
    c.window = 1024;
    c.send_queue = 1000;
    speak_with(&x, c);
    for (int i = 0; i < 1000; i++) {
        CHECK(send_for(&x, 0, 1, i < 600 ? 1 : CWP_NEVER) == CWC_D3);
    }
    CHECK(sends(&x, 1, 5, CWC_SKIP, 0) && x.record.count == 128 && sends_nothing(&x, 1, 5));
    CHECK(cwc_sender_deadline(&x.s) == 1);
    for (int64_t n = 128; n < 512; n += 128) {
        CHECK(sends(&x, 1, n, CWC_SKIP, n) && x.record.count == 128);
    }
    CHECK(sends(&x, 1, 1000, CWC_SKIP, 512) && x.record.count == 88);
    for (int64_t n = 600; n < 640; n++) {
        CHECK(sends(&x, 1, 1000, CWC_MESSAGE, n));
    }
    CHECK(sends_nothing(&x, 1, 1000) && sends(&x, 1, 1001, CWC_MESSAGE, 640));
    CHECK(hear_report(&x, SECOND, 0, -1, 0, 32, 0xFFFFFFFF) == CWC_D6);
    CHECK(sends(&x, SECOND, 1001, CWC_SKIP, 0) && x.record.count == 33 && x.s.fresh == 1);
    speak_no_more(&x);
}

/* A SKIP covers at most 256; a probe counts 5 bytes for each so many. */
static void test_long_skips(void)
{
    speaker x;
    cwc_config c = small_config(CWC_ORDERED);
    c.window = 1024;
    c.send_queue = 300;
    speak_with(&x, c);
    for (int i = 0; i < 300; i++) {
        CHECK(send_for(&x, 0, 1, 1) == CWC_D3);
    }
    for (int64_t n = 0; n < 300; n += 128) {
        CHECK(sends(&x, 1, n, CWC_SKIP, n));
    }
    CHECK(cwc_sender_poll(&x.s, SECOND, 300, 13, &x.record) == CWC_D9);
    CHECK(sends(&x, SECOND, 300, CWC_SKIP, 0) && x.record.count == 256 && sends_nothing(&x, SECOND, 300));
    CHECK(cwc_sender_poll(&x.s, 2 * SECOND, 301, 14, &x.record) == CWC_D9);
    CHECK(sends(&x, 2 * SECOND, 301, CWC_SKIP, 0) && sends(&x, 2 * SECOND, 301, CWC_SKIP, 256) && x.record.count == 44);
    speak_no_more(&x);
}

static void test_sender_without_memory(void)
{
    cwc_config c = small_config(CWC_ORDERED);
    speaker x;
    size_t ring;
    speak(&x);
    ring = x.memory.held;
    x.memory.room = ring + 9;
    CHECK(send_bytes(&x, 0, 10) == CWC_D_NONE && x.refused == CWC_NO_MEMORY && x.memory.held == ring);
    CHECK(x.s.next == 0 && cwc_sender_deadline(&x.s) == CWP_NEVER && send_bytes(&x, 0, 9) == CWC_D3);
    speak_no_more(&x);
    x.memory.room = ring - 1;
    {
        cwp_memory memory = {counted_take, counted_give, &x.memory};
        CHECK(!cwc_sender_init(&x.s, &c, 0, memory) && x.memory.held == 0);
    }
    c.kind = CWC_UNRELIABLE;
    CHECK(!cwc_sender_init(&x.s, &c, 0, counting(&x.memory)));
}

/* ---- Conversations (section 8) ---------------------------------------------- */

enum { MESSAGES = 600, FLIGHT = 64 };

/* A payload that is under way. */
typedef struct {
    cwp_time arrives; /* CWP_NEVER: the place is free */
    int64_t number, ack;
    size_t size;
    uint8_t payload[200];
} flying;

typedef struct {
    speaker from;
    hearer to;
    const cwc_channels *channels;
    uint32_t random;
    unsigned loss;       /* in 256 */
    flying packets[FLIGHT]; /* there */
    flying reports[FLIGHT]; /* back */
    int64_t next_packet, next_report, newest;
    int64_t begins[MESSAGES + 1]; /* the sequences of the messages */
    size_t sizes[MESSAGES];
    bool expires[MESSAGES];
    uint8_t done[4 * MESSAGES]; /* of each sequence: 1 delivered, 2 skipped */
    int accepted;
} world;

static uint32_t chance(world *w, uint32_t below)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (w->random >> 8) % below;
}

static uint8_t content(int64_t message, size_t i) { return (uint8_t)((uint64_t)message * 7 + i); }

static void fly(world *w, flying *places, cwp_time now, flying f)
{
    for (int copies = chance(w, 16) == 0 ? 2 : 1; copies > 0; copies--) {
        flying *free_place = NULL;
        for (int i = 0; i < FLIGHT; i++) {
            free_place = places[i].arrives == CWP_NEVER ? &places[i] : free_place;
        }
        if (free_place != NULL && chance(w, 256) >= w->loss) {
            f.arrives = now + 20 * MS + chance(w, 30000);
            *free_place = f;
        }
    }
}

static void submit(world *w, cwp_time now)
{
    uint8_t data[16];
    size_t size = chance(w, 3) > 0 ? 1 + chance(w, 4) : 1 + chance(w, 16);
    bool expires = chance(w, 4) == 0;
    int64_t begin = w->from.s.next;
    for (size_t i = 0; i < size; i++) {
        data[i] = content(w->accepted, i);
    }
    if (w->accepted == MESSAGES || cwc_sender_send(&w->from.s, now, data, size,
                                                   expires ? 1 + (cwp_time)chance(w, 400000) : CWP_NEVER,
                                                   NULL) != CWC_D3) {
        return;
    }
    w->begins[w->accepted] = begin;
    w->sizes[w->accepted] = size;
    w->expires[w->accepted] = expires;
    w->accepted++;
    w->begins[w->accepted] = w->from.s.next;
}

static void compose(world *w, cwp_time now)
{
    flying f;
    f.number = w->next_packet;
    f.size = 0;
    while (true) {
        cwc_sender_row row = cwc_sender_poll(&w->from.s, now, f.number, sizeof f.payload - f.size, &w->from.record);
        CHECK(row == CWC_D8 || row == CWC_D9 || row == CWC_D10);
        if (row == CWC_D10) {
            break;
        }
        CHECK(cwc_append(w->channels, &w->from.record, f.payload, sizeof f.payload, &f.size, NULL) == CWC_OK);
    }
    w->next_packet++; /* others go in between */
    if (f.size > 0) {
        fly(w, w->packets, now, f);
    }
}

static void answer(world *w, cwp_time now)
{
    flying f;
    f.size = 0;
    f.number = w->next_report;
    f.ack = w->newest;
    if (cwc_receiver_poll(&w->to.r, now, sizeof f.payload, &w->to.report) == CWC_V14) {
        w->next_report++;
        CHECK(cwc_append(w->channels, &w->to.report, f.payload, sizeof f.payload, &f.size, NULL) == CWC_OK);
        fly(w, w->reports, now, f);
    }
    CHECK(!w->to.r.failed);
}

static void arrive(world *w, cwp_time now, const flying *f, bool there)
{
    size_t at = 0;
    cwc_record r;
    CHECK(cwc_check(w->channels, f->payload, f->size, NULL, NULL) == CWC_OK);
    while (at < f->size) {
        CHECK(cwc_decode(w->channels, f->payload, f->size, &at, &r) == CWC_OK);
        if (there) {
            CHECK(cwc_receiver_record(&w->to.r, now, &r) != CWC_V3);
        } else {
            CHECK(cwc_sender_report(&w->from.s, now, &r, f->number, f->ack) != CWC_D5);
        }
    }
    if (there && f->number > w->newest) {
        w->newest = f->number;
    }
}

static void arrivals(world *w, cwp_time now)
{
    for (int i = 0; i < FLIGHT; i++) {
        if (w->packets[i].arrives <= now) {
            arrive(w, now, &w->packets[i], true);
            w->packets[i].arrives = CWP_NEVER;
        }
        if (w->reports[i].arrives <= now) {
            arrive(w, now, &w->reports[i], false);
            w->reports[i].arrives = CWP_NEVER;
        }
    }
}

/* Each sequence is delivered or skipped, once, what was sent (CHT-SAFE-1 to CHT-SAFE-5). */
static void judge(world *w, bool ordered, int64_t *last)
{
    const cwc_read *got = &w->to.got;
    int64_t n = got->sequence - w->from.s.config.first;
    int m = 0;
    while (w->begins[m + 1] <= got->sequence) {
        m++;
    }
    CHECK(!ordered || got->sequence == *last + 1);
    if (got->skipped) {
        CHECK(w->expires[m] && w->done[n] == 0);
        w->done[n] = 2;
        *last = got->sequence;
        return;
    }
    CHECK(got->sequence == w->begins[m] && got->size == w->sizes[m]);
    for (size_t i = 0; i < got->size; i++) {
        CHECK(w->to.out[i] == content(m, i));
    }
    for (int64_t s = w->begins[m]; s < w->begins[m + 1]; s++, n++) {
        CHECK(w->done[n] == 0);
        w->done[n] = 1;
        *last = s;
    }
}

static void check_bounds(const world *w)
{
    const cwc_config *c = &w->to.r.config;
    CHECK(w->to.memory.held <= c->window * (sizeof(cwc_held) + sizeof(uint16_t) + c->data));
    CHECK(w->from.memory.held <= c->send_queue * (sizeof(cwc_entry) + c->data)); /* CHT-BND-1 */
    CHECK(w->to.r.tail <= w->to.r.base && w->to.r.base <= w->to.r.top && w->to.r.top <= w->to.r.tail + c->window);
    CHECK(w->from.s.base <= w->to.r.base && w->from.s.limit <= w->to.r.tail + c->window); /* CHT-SAFE-4 */
}

/* All messages get through, whatever is lost, doubled and overtaken (CHT-LIVE-1). */
static void converse(unsigned kind, int64_t first, unsigned loss, uint32_t seed)
{
    static world w;
    cwc_config c = small_config(kind);
    cwc_channels ends;
    int64_t last = first - 1;
    cwp_time now = 0;
    memset(&w, 0, sizeof w);
    memset(&ends, 0, sizeof ends);
    c.first = first;
    ends.config[0] = &c;
    w.channels = &ends;
    w.random = seed;
    w.loss = loss;
    w.newest = -1;
    for (int i = 0; i < FLIGHT; i++) {
        w.packets[i].arrives = CWP_NEVER;
        w.reports[i].arrives = CWP_NEVER;
    }
    w.begins[0] = first;
    speak_with(&w.from, c);
    hear_with(&w.to, c);
    while ((w.accepted < MESSAGES || w.from.s.base < w.from.s.next) && now < 1000 * SECOND) {
        arrivals(&w, now);
        for (int i = 0; i < 3; i++) {
            submit(&w, now);
        }
        while (chance(&w, 8) > 0 && read_row(&w.to, now) == CWC_V11) {
            judge(&w, kind == CWC_ORDERED, &last);
        }
        answer(&w, now);
        compose(&w, now);
        check_bounds(&w);
        now += 10 * MS;
    }
    while (read_row(&w.to, now) == CWC_V11) {
        judge(&w, kind == CWC_ORDERED, &last);
    }
    CHECK(w.accepted == MESSAGES && w.to.r.tail == w.from.s.next && w.to.r.tail == w.begins[MESSAGES]);
    if (w.to.r.tail != w.begins[MESSAGES]) {
        printf("conversation: kind %u, first %ld, loss %u, seed %lu\n", kind, (long)first, loss, (unsigned long)seed);
    }
    speak_no_more(&w.from);
    hear_no_more(&w.to);
}

static void test_conversations(void)
{
    for (uint32_t seed = 1; seed <= 12; seed++) {
        converse(CWC_ORDERED, 0, seed * 10, seed);
        converse(CWC_UNORDERED, 65000, seed * 10, seed);
    }
}

/* Whatever records come that can be decoded, memory is bounded, and what is told fits what is
 * held (CHT-SAFE-7). */
static void test_hostile(void)
{
    uint32_t random = 99;
    hearer h;
    speaker x;
    size_t rings;
    int rows[CWC_V21 + 1] = {0};
    int sender_rows[CWC_D13 + 1] = {0};
    hear(&h, CWC_UNORDERED);
    speak(&x);
    rings = h.memory.held;
    for (int i = 0; i < 400000; i++) {
        uint8_t b[16] = {0};
        cwc_record r;
        size_t at = 0;
        size_t n = 12;
        for (size_t k = 2; k < sizeof b; k++) {
            random = random * 1664525u + 1013904223u;
            b[k] = (uint8_t)(random >> 24);
        }
        b[0] = (uint8_t)(2 + b[2] % 5);
        b[2] = (uint8_t)(cwp_on_wire(h.r.tail) + b[3] % 40 - 4);
        b[3] = (uint8_t)((cwp_on_wire(h.r.tail) + b[3] % 40 - 4) >> 8);
        b[4] = (uint8_t)(b[4] % 5);
        b[5] = (uint8_t)(b[0] == CWC_REPORT ? 0 : b[5] % 4);
        b[6] = (uint8_t)(b[0] == CWC_REPORT ? 0 : 4);
        b[7] = 0;
        n = b[0] == CWC_REPORT ? 7 : sizeof b;
        if (cwc_decode(channels(), b, n, &at, &r) != CWC_OK) {
            continue;
        }
        if (r.type == CWC_REPORT) {
            r.sequence = cwp_on_wire(x.s.base + i % 3);
            sender_rows[cwc_sender_report(&x.s, i, &r, i, i)]++;
        } else {
            rows[cwc_receiver_record(&h.r, i, &r)]++;
        }
        (void)send_for(&x, i, 1 + (size_t)i % 9, 1 + i % 50);
        (void)cwc_sender_poll(&x.s, i, i, 50, &x.record);
        (void)poll_row(&h, i);
        if (i % 3 == 0) {
            (void)read_row(&h, i);
        }
        CHECK(h.memory.held <= rings + 32 * 4 && h.r.top <= h.r.tail + 32 && h.r.base >= h.r.tail);
        CHECK(x.s.next - x.s.base <= 40 && x.s.sent <= x.s.limit && x.s.limit <= x.s.base + 32);
    }
    for (int row = CWC_V1; row <= CWC_V9; row++) {
        CHECK(rows[row] > 100);
    }
    CHECK(sender_rows[CWC_D5] > 100 && sender_rows[CWC_D6] > 100);
    hear_no_more(&h);
    speak_no_more(&x);
}

int main(void)
{
    test_examples();
    test_refusals();
    test_encoder_refuses();
    test_edges_of_groups();
    test_payload();
    test_any_bytes();
    test_parameters();
    test_report();
    test_ordered();
    test_every_loss_is_named();
    test_nearest();
    test_repeats();
    test_failed_reads();
    test_unordered();
    test_skip_and_status();
    test_groups();
    test_far_ends_of_a_group();
    test_two_groups();
    test_group_at_the_edge();
    test_receiver_without_memory();
    test_send();
    test_reports_count();
    test_limit();
    test_mark();
    test_probe();
    test_probe_waits();
    test_expiry();
    test_fresh();
    test_long_skips();
    test_sender_without_memory();
    test_conversations();
    test_hostile();
    return test_result();
}
