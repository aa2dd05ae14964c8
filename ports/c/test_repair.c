/* Tests of repair slices. Comments such as RPC-4 name sentences of spec/REPAIR.md. */
#include "check.h"
#include "chunkwire_repair.h"

#include <stdlib.h>

#define PROTOCOL_ID 0x11223344u

static uint8_t pattern[CW_MAX_CHUNK]; /* byte i of slice s is (i + 31 s) mod 256 */
static uint8_t memory[CWR_MEMORY];
static uint8_t delivered[CW_MAX_CHUNK];

static uint32_t random_state = 1;

/* A number below n. */
static uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % n;
}

/* ---- The code --------------------------------------------------------------- */

static uint32_t repair_crc(uint32_t k, uint32_t j)
{
    uint8_t out[CW_SLICE_SIZE];
    CHECK(cwr_encode_slice(pattern, (size_t)k * CW_SLICE_SIZE, k + j, out) == CW_SLICE_SIZE);
    return cw_crc32(0, out, sizeof out);
}

/* RPC-4 */
static void test_repair_slices(void)
{
    static const uint32_t crcs[4][4] = {
        {1, 0xb997ddcc, 0xe9193fa0, 0xe785ae4a},
        {2, 0x9db6d897, 0xe843c435, 0x3af8cc44},
        {3, 0xb7cdfe8c, 0xd07c524d, 0xd2bee67e},
        {256, 0xe30b4483, 0xb85dfb38, 0x6a4b8894},
    };
    for (size_t n = 0; n < 4; n++) {
        CHECK(repair_crc(crcs[n][0], 0) == crcs[n][1]);
        CHECK(repair_crc(crcs[n][0], 1) == crcs[n][2]);
        CHECK(repair_crc(crcs[n][0], 7935) == crcs[n][3]);
    }
}

/* A short last slice counts as filled up; a chunk of one slice has short repair slices. */
static void test_lengths(void)
{
    uint8_t out[CW_SLICE_SIZE];
    CHECK(cwr_encode_slice(pattern, 5, 0, out) == 5 && cwr_encode_slice(pattern, 5, 8191, out) == 5);
    CHECK(cwr_encode_slice(pattern, 1025, 1, out) == 1 && cwr_encode_slice(pattern, 1025, 0, out) == 1024);
    CHECK(cwr_encode_slice(pattern, 1025, 2, out) == 1024);
}

static void shuffle(uint32_t *ids, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t other = below(i);
        uint32_t id = ids[other];
        ids[other] = ids[i - 1];
        ids[i - 1] = id;
    }
}

/* The id into the decoder; how many of its bytes go wrong is the caller's. */
static cwr_added arrive(cwr_decoder *d, size_t size, uint32_t id)
{
    uint8_t out[CW_SLICE_SIZE];
    uint32_t k = cw_num_slices(size);
    (void)cwr_encode_slice(pattern, size, id, out);
    if (d->count == 0) {
        return cwr_decoder_begin(d, k, (uint32_t)cw_slice_bytes(size, k - 1), id, out) ? CWR_ADDED : CWR_NO_MEMORY;
    }
    return cwr_decoder_add(d, id, out);
}

static bool rebuilt(cwr_decoder *d, size_t size)
{
    bool same = cwr_decoder_rebuild(d);
    for (uint32_t i = 0; i < d->num_slices; i++) {
        same = same && memcmp(cwr_decoder_slice(d, i), pattern + (size_t)i * CW_SLICE_SIZE, cw_slice_bytes(size, i)) == 0;
    }
    return same;
}

/* Sources of which some are lost, and repair slices, in any order: ids that the decoder needs
 * beyond the chunk's number of slices. */
static uint32_t extra_ids(size_t size, uint32_t lost)
{
    static uint32_t ids[2 * CW_MAX_SLICES + 8];
    cwr_decoder d;
    uint32_t k = cw_num_slices(size);
    uint32_t n = 0, used = 0;
    for (uint32_t id = 0; id < k; id++) {
        ids[n++] = id;
    }
    shuffle(ids, n);
    n -= lost;
    for (uint32_t j = 0; j < lost + 8; j++) {
        ids[n++] = k + j;
    }
    shuffle(ids, n);
    cwr_decoder_init(&d, cwr_fixed_memory(memory));
    while (used < n && (used == 0 || d.count < k)) {
        uint32_t rank = d.count;
        bool added = arrive(&d, size, ids[used++]) == CWR_ADDED;
        CHECK(d.count == rank + (added ? 1 : 0) && arrive(&d, size, ids[used - 1]) == CWR_DEPENDENT);
    }
    CHECK(d.count == k && rebuilt(&d, size));
    CHECK(cwr_decoder_agrees(&d, k + 9, pattern) == false);
    cwr_decoder_release(&d);
    return used - k;
}

/* RPC-5 */
static void test_erasures(void)
{
    uint32_t extra = 0;
    enum { RUNS = 400 };
    for (uint32_t run = 0; run < RUNS; run++) {
        uint32_t k = run < 300 ? 1 + below(32) : 1 + below(CW_MAX_SLICES);
        size_t size = (size_t)(k - 1) * CW_SLICE_SIZE + 1 + below(CW_SLICE_SIZE);
        extra += extra_ids(size, below(k + 1));
    }
    CHECK(extra > 0 && extra < RUNS / 20);
    printf("%u chunks rebuilt, with %u ids more than slices\n", (unsigned)RUNS, (unsigned)extra);
}

/* The first k repair slices have rank k, but for two k. */
static void test_repair_alone(void)
{
    static const uint32_t all[] = {1, 2, 3, 4, 5, 8, 9, 31, 71, 72, 147, 256};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
        cwr_decoder d;
        uint32_t k = all[n];
        uint32_t id = k;
        cwr_decoder_init(&d, cwr_fixed_memory(memory));
        do {
            (void)arrive(&d, (size_t)k * CW_SLICE_SIZE, id++);
        } while (d.count < k);
        CHECK(id - k == (k == 72 || k == 147 ? k + 1 : k) && rebuilt(&d, (size_t)k * CW_SLICE_SIZE));
    }
}

/* A source slice that comes late may follow from the repair slices. */
static void test_dependent_source(void)
{
    cwr_decoder d;
    cwr_decoder_init(&d, cwr_fixed_memory(memory));
    CHECK(arrive(&d, 4096, 0) == CWR_ADDED && arrive(&d, 4096, 4) == CWR_ADDED);
    CHECK(arrive(&d, 4096, 5) == CWR_ADDED && arrive(&d, 4096, 7) == CWR_ADDED);
    CHECK(d.count == 4 && arrive(&d, 4096, 1) == CWR_DEPENDENT && !cwr_decoder_has(&d, 1));
    cwr_decoder_release(&d);
    CHECK(arrive(&d, 3072, 3) == CWR_ADDED && arrive(&d, 3072, 22) == CWR_ADDED);
    CHECK(arrive(&d, 3072, 22) == CWR_DEPENDENT && arrive(&d, 3072, 0) == CWR_DEPENDENT && d.count == 2);
    CHECK(arrive(&d, 3072, 1) == CWR_ADDED && rebuilt(&d, 3072));
    cwr_decoder_release(&d);
    CHECK(arrive(&d, 4096, 4) == CWR_ADDED && arrive(&d, 4096, 1) == CWR_ADDED);
    CHECK(arrive(&d, 4096, 2) == CWR_ADDED && arrive(&d, 4096, 3) == CWR_ADDED && rebuilt(&d, 4096));
    CHECK(cwr_decoder_add(&d, 0, pattern) == CWR_DEPENDENT);
}

/* ---- Packets ---------------------------------------------------------------- */

static cwr_packet slice_packet(uint32_t chunk_id, uint32_t id, uint32_t num_slices, uint32_t last_bytes)
{
    cwr_packet p;
    p.type = CW_SLICE;
    p.as.slice.chunk_id = chunk_id;
    p.as.slice.id = id;
    p.as.slice.num_slices = num_slices;
    p.as.slice.last_bytes = last_bytes;
    p.as.slice.data = pattern;
    p.as.slice.size = num_slices == 0 ? 0 : cwr_slice_bytes(num_slices, last_bytes, id);
    return p;
}

static cwr_packet ack_packet(uint32_t chunk_id, uint32_t num_slices, uint32_t have, uint32_t top)
{
    cwr_packet p;
    p.type = CW_ACK;
    p.as.ack.chunk_id = chunk_id;
    p.as.ack.num_slices = num_slices;
    p.as.ack.have = have;
    p.as.ack.top = top;
    return p;
}

static bool same_packet(const cwr_packet *a, const cwr_packet *b)
{
    if (a->type != b->type) {
        return false;
    }
    if (a->type == CW_ACK) {
        return memcmp(&a->as.ack, &b->as.ack, sizeof(cwr_ack)) == 0;
    }
    return a->as.slice.chunk_id == b->as.slice.chunk_id && a->as.slice.id == b->as.slice.id &&
           a->as.slice.num_slices == b->as.slice.num_slices && a->as.slice.last_bytes == b->as.slice.last_bytes &&
           a->as.slice.size == b->as.slice.size && memcmp(a->as.slice.data, b->as.slice.data, a->as.slice.size) == 0;
}

static bool round_trips(const cwr_packet *p, size_t datagram, size_t body)
{
    cwr_packet back;
    uint8_t out[CW_MAX_DATAGRAM];
    size_t n = 0;
    if (cwr_encode_packet(PROTOCOL_ID, p, out, sizeof out, &n) != CW_OK || n != datagram ||
        cwr_decode_packet(PROTOCOL_ID, out, n, &back, NULL) != CW_OK || !same_packet(p, &back)) {
        return false;
    }
    return cwr_encode_body(p, out, sizeof out, &n) == CW_OK && n == body &&
           cwr_decode_body(p->type, out, n, &back, NULL) == CW_OK && same_packet(p, &back);
}

/* The bits by hand: an ack of 5 of 9 slices with top 300, and the last of 3 slices. */
static void test_examples(void)
{
    const uint8_t data[] = {1, 2, 3, 4, 5};
    uint8_t b[CW_MAX_BODY];
    size_t n = 0;
    cwr_packet p = ack_packet(0x1234, 9, 5, 300);
    CHECK(cwr_encode_body(&p, b, sizeof b, &n) == CW_OK && hex_is(b, n, "341208055802"));
    p = slice_packet(1, 2, 3, sizeof data);
    p.as.slice.data = data;
    CHECK(cwr_encode_body(&p, b, sizeof b, &n) == CW_OK && hex_is(b, n, "0100024080000102030405"));
    n = from_hex("341208055802", b);
    CHECK(cwr_decode_body(CW_ACK, b, n, &p, NULL) == CW_OK && p.as.ack.have == 5 && p.as.ack.top == 300);
}

static void test_packets(void)
{
    cwr_packet p = slice_packet(65535, 8191, 256, 1);
    CHECK(round_trips(&p, 1038, 1030));
    p = slice_packet(1, 255, 256, 1);
    CHECK(round_trips(&p, 15, 7));
    p = slice_packet(1, 5000, 1, 33);
    CHECK(round_trips(&p, 47, 39));
    p = ack_packet(65535, 256, 256, 8191);
    CHECK(round_trips(&p, CWR_MAX_ACK, 6));
    p = ack_packet(0, 1, 0, 0);
    CHECK(round_trips(&p, CWR_MAX_ACK, 6));
    CHECK(cwr_protocol_id(0xFFFFFFFF, 3, 2) == 256 + 32 + 2 - 1);
}

static bool refused(cwr_packet p)
{
    uint8_t out[CW_MAX_DATAGRAM];
    size_t n;
    return cwr_encode_body(&p, out, sizeof out, &n) == CW_INVALID_FIELD;
}

static void test_encoder(void)
{
    cwr_packet p = slice_packet(0, 3, 4, 9);
    uint8_t out[9];
    size_t n;
    CHECK(refused(slice_packet(65536, 0, 1, 1)) && refused(slice_packet(0, 8192, 1, 1)));
    CHECK(refused(slice_packet(0, 0, 257, 1)) && refused(slice_packet(0, 0, 0, 1)));
    CHECK(refused(slice_packet(0, 0, 1, 0)) && refused(slice_packet(0, 0, 1, 1025)));
    CHECK(refused(ack_packet(65536, 1, 0, 0)) && refused(ack_packet(0, 257, 0, 0)) && refused(ack_packet(0, 0, 0, 0)));
    CHECK(refused(ack_packet(0, 4, 5, 9)) && refused(ack_packet(0, 4, 4, 8192)));
    CHECK(cwr_encode_body(&p, out, sizeof out, &n) == CW_NO_SPACE);
    p.as.slice.size = 1024;
    CHECK(refused(p));
    p.type = (cw_type)2;
    CHECK(refused(p));
}

/* The fault and its place, in bits, of the first n bytes of b. */
static bool fault(cw_type type, const uint8_t *b, size_t n, cw_error expected, size_t at)
{
    cwr_packet p;
    size_t place = 0;
    return cwr_decode_body(type, b, n, &p, &place) == expected && place == at;
}

static void test_decoder(void)
{
    cwr_packet p = slice_packet(7, 3, 4, 2);
    uint8_t b[CW_MAX_DATAGRAM];
    size_t n;
    CHECK(cwr_encode_body(&p, b, sizeof b, &n) == CW_OK && n == 8);
    CHECK(fault(CW_SLICE, b, 1, CW_TRUNCATED, 0) && fault(CW_SLICE, b, 3, CW_TRUNCATED, 16));
    CHECK(fault(CW_SLICE, b, 4, CW_TRUNCATED, 29) && fault(CW_SLICE, b, 5, CW_TRUNCATED, 37));
    CHECK(fault(CW_SLICE, b, 7, CW_TRUNCATED, 48) && fault(CW_SLICE, b, 9, CW_TRAILING_DATA, 64));
    b[5] |= 0x80;
    CHECK(fault(CW_SLICE, b, 8, CW_NONZERO_PADDING, 47));
    p = ack_packet(7, 4, 4, 9);
    CHECK(cwr_encode_body(&p, b, sizeof b, &n) == CW_OK && n == 6);
    CHECK(fault(CW_ACK, b, 2, CW_TRUNCATED, 16) && fault(CW_ACK, b, 4, CW_TRUNCATED, 24));
    CHECK(fault(CW_ACK, b, 5, CW_TRUNCATED, 33) && fault(CW_ACK, b, 7, CW_TRAILING_DATA, 48));
    b[3] = 5;
    CHECK(fault(CW_ACK, b, 6, CW_HAVE_OUT_OF_RANGE, 24) && fault(CW_ACK, b, 5, CW_HAVE_OUT_OF_RANGE, 24));
    b[3] = 4;
    b[5] |= 0x40;
    CHECK(fault(CW_ACK, b, 6, CW_NONZERO_PADDING, 46));
}

static void test_numbers(void)
{
    CHECK(cwr_id(3, 0) == 0 && cwr_id(3, 8191) == 8191 && cwr_id(3, 8192) == 3 && cwr_id(3, 8192 + 8189) == 3);
    CHECK(cwr_number(3, 2, 20000) == 2 && cwr_number(3, 2, 1) == -1 && cwr_number(3, 0, 0) == 0);
    CHECK(cwr_number(3, 3, 8191) == 3 && cwr_number(3, 3, 8192) == 8192 && cwr_number(3, 4, 8192) == 4);
    CHECK(cwr_number(3, 8191, 8190) == -1 && cwr_number(3, 10, 10 + 2 * 8189) == 10 + 2 * 8189);
}

/* ---- Receiver --------------------------------------------------------------- */

/* Slice id of a chunk of num_slices, the last with last_bytes. */
static cwr_receiver_row give(cwr_receiver *r, cw_time now, uint32_t chunk_id, uint32_t id, uint32_t num_slices,
                             uint32_t last_bytes)
{
    uint8_t out[CW_SLICE_SIZE];
    cwr_packet p = slice_packet(chunk_id, id, num_slices, last_bytes);
    (void)cwr_encode_slice(pattern, (size_t)(num_slices - 1) * CW_SLICE_SIZE + last_bytes, id, out);
    p.as.slice.data = out;
    return cwr_receiver_slice(r, now, &p.as.slice);
}

static bool polls_ack(cwr_receiver *r, cw_time now, cwr_receiver_row row, uint32_t chunk_id, uint32_t num_slices,
                      uint32_t have, uint32_t top)
{
    cwr_ack a;
    return cwr_receiver_poll(r, now, &a) == row && a.chunk_id == chunk_id && a.num_slices == num_slices &&
           a.have == have && a.top == top;
}

static void test_receiver(void)
{
    cwr_receiver r;
    cwr_ack ack;
    size_t size = 0;
    CHECK(cwr_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory)));
    CHECK(give(&r, 0, 65535, 0, 1, 1) == CWR_U4 && cwr_receiver_deadline(&r) == CW_NEVER);
    CHECK(give(&r, 0, 0, 3, 3, 9) == CWR_U2 && polls_ack(&r, 0, CWR_U22, 0, 3, 1, 4));
    CHECK(cwr_receiver_poll(&r, 0, &ack) == CWR_U23 && give(&r, 500, 0, 3, 3, 9) == CWR_U7);
    CHECK(cwr_receiver_deadline(&r) == 2000 && give(&r, 600, 0, 4, 3, 9) == CWR_U5);
    CHECK(give(&r, 700, 0, 258, 3, 9) == CWR_U8 && polls_ack(&r, 700, CWR_U22, 0, 3, 2, 259));
    CHECK(give(&r, 800, 0, 0, 3, 8) == CWR_U9 && give(&r, 800, 0, 0, 4, 9) == CWR_U9 && r.conflicts == 2);
    CHECK(give(&r, 900, 1, 0, 3, 9) == CWR_U13 && cwr_receiver_read(&r, 900, delivered, 9, &size) == CWR_U19);
    CHECK(give(&r, 1000, 0, 2, 3, 9) == CWR_U6 && polls_ack(&r, 1000, CWR_U25, 0, 3, 3, 259));
    CHECK(r.have == 0 && r.top == 0 && r.inconsistent == 0 && cwr_receiver_size(&r) == 2057);
    CHECK(give(&r, 1100, 1, 7, 4, 9) == CWR_U14 && give(&r, 1100, 0, 90, 3, 9) == CWR_U15);
    CHECK(polls_ack(&r, 3000, CWR_U25, 0, 3, 3, 259) && polls_ack(&r, 3000, CWR_U25, 1, 4, 0, 0));
    CHECK(cwr_receiver_read(&r, 3100, delivered, 2056, &size) == CWR_U_NONE);
    CHECK(cwr_receiver_read(&r, 3100, delivered, 2057, &size) == CWR_U17 && size == 2057);
    CHECK(memcmp(delivered, pattern, 2057) == 0 && r.inconsistent == 0);
    CHECK(give(&r, 3200, 0, 8191, 3, 1) == CWR_U3 && polls_ack(&r, 5000, CWR_U20, 0, 3, 3, 259));
    CHECK(cwr_receiver_poll(&r, 5000, &ack) == CWR_U21);
    cwr_receiver_end(&r);
}

/* A chunk that is replaced, and the end. */
static void test_replaced(void)
{
    cwr_receiver r;
    cwr_ack ack;
    CHECK(cwr_receiver_init(&r, 65535, 1000, cwr_fixed_memory(memory)));
    CHECK(give(&r, 0, 65535, 4, 5, 9) == CWR_U2 && give(&r, 499, 65535, 0, 5, 8) == CWR_U9);
    CHECK(give(&r, 500, 65535, 7, 5, 8) == CWR_U10 && r.last_bytes == 8 && r.have == 1 && r.top == 8);
    CHECK(give(&r, 1000, 65535, 5, 1, 9) == CWR_U11 && r.chunk_id == 0 && cwr_receiver_size(&r) == 9);
    CHECK(cwr_receiver_init(&r, 0, 1000, cwr_fixed_memory(memory)));
    CHECK(give(&r, 10, 0, 0, 2, 1024) == CWR_U2 && cwr_receiver_poll(&r, 1010, &ack) == CWR_U24);
    CHECK(cwr_receiver_poll(&r, 1010, &ack) == CWR_U29 && give(&r, 1011, 0, 0, 2, 1024) == CWR_U27);
    CHECK(cwr_receiver_deadline(&r) == CW_NEVER && r.have == 0);
    cwr_receiver_end(&r);
}

/* Blocks from the heap, so that the sanitizers see every mistake; the owner counts how many
 * may still be taken. */
static uint8_t *take_some(void *owner, uint32_t slot, size_t size)
{
    int *left = (int *)owner;
    (void)slot;
    return (*left)-- > 0 ? (uint8_t *)malloc(size) : NULL;
}

static void give_back(void *owner, uint32_t slot, uint8_t *block)
{
    (void)owner, (void)slot;
    free(block);
}

/* A slice without memory for it is as if it had been lost. */
static void test_no_memory(void)
{
    cwr_receiver r;
    int left = 0;
    cw_memory some = {take_some, give_back, NULL};
    some.owner = &left;
    CHECK(cwr_receiver_init(&r, 0, 1000, some));
    CHECK(give(&r, 5, 0, 2, 2, 9) == CWR_U_NONE && r.state == CW_WAITING && cwr_receiver_deadline(&r) == CW_NEVER);
    left = 1;
    CHECK(give(&r, 5, 0, 2, 2, 9) == CWR_U2 && give(&r, 6, 0, 0, 2, 9) == CWR_U_NONE && r.top == 3);
    CHECK(give(&r, 505, 0, 0, 3, 9) == CWR_U_NONE && r.num_slices == 2 && r.have == 1);
    left = 9;
    CHECK(give(&r, 506, 0, 3, 3, 9) == CWR_U10 && give(&r, 507, 0, 4, 3, 9) == CWR_U5);
    CHECK(give(&r, 507, 0, 258, 3, 9) == CWR_U8 && left == 6);
    cwr_receiver_end(&r);
}

/* A wrong byte in a slice shows where one more equation is at hand. */
static void test_inconsistent(void)
{
    cwr_receiver r;
    cwr_packet wrong = slice_packet(0, 0, 3, 1024);
    CHECK(cwr_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory)));
    wrong.as.slice.data = pattern + 1;
    CHECK(cwr_receiver_slice(&r, 0, &wrong.as.slice) == CWR_U2 && give(&r, 0, 0, 1, 3, 1024) == CWR_U5);
    CHECK(give(&r, 0, 0, 3, 3, 1024) == CWR_U6 && r.inconsistent == 0);
    CHECK(give(&r, 1, 0, 2, 3, 1024) == CWR_U15 && r.inconsistent == 0);
    CHECK(give(&r, 1, 0, 9, 3, 7) == CWR_U15 && r.inconsistent == 0);
    CHECK(give(&r, 1, 0, 9, 3, 1024) == CWR_U15 && r.inconsistent == 1);
    CHECK(give(&r, 1, 0, 10, 3, 1024) == CWR_U15 && r.inconsistent == 1);
    cwr_receiver_end(&r);
    CHECK(cwr_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory)));
    wrong.as.slice.last_bytes = 9;
    CHECK(cwr_receiver_slice(&r, 0, &wrong.as.slice) == CWR_U2 && give(&r, 0, 0, 1, 3, 9) == CWR_U5);
    CHECK(give(&r, 0, 0, 3, 3, 9) == CWR_U6 && r.inconsistent == 1); /* the bytes behind the last */
    cwr_receiver_end(&r);
}

/* Beyond 8,191 the ids begin anew, and the top goes on. */
static void test_top(void)
{
    cwr_receiver r;
    const uint64_t ids = CWR_IDS - 2;
    CHECK(cwr_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory)));
    CHECK(give(&r, 0, 0, 4000, 2, 1024) == CWR_U2 && r.top == 4001);
    CHECK(give(&r, 0, 0, 4000, 2, 1024) == CWR_U7 && give(&r, 0, 0, 8000, 2, 1024) != CWR_U_NONE);
    CHECK(r.state == CW_READY && r.previous_top == 8001);
    cwr_receiver_end(&r);
    CHECK(cwr_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory)));
    CHECK(give(&r, 0, 0, 4200, 2, 1024) == CWR_U2 && r.top == 4201);
    r.top = 8190;
    CHECK(give(&r, 0, 0, 4200, 2, 1024) == CWR_U7 && r.top == 8190);
    CHECK(give(&r, 0, 0, 0, 2, 1024) == CWR_U6 && r.previous_top == 8190);
    cwr_receiver_end(&r);
    CHECK(cwr_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory)));
    CHECK(give(&r, 0, 0, 10, 2, 1024) == CWR_U2);
    r.top = 8192;
    CHECK(give(&r, 1, 0, 10, 2, 1024) == CWR_U7 && r.top == ids + 11);
    CHECK(polls_ack(&r, 1, CWR_U22, 0, 2, 1, 11));
    cwr_receiver_end(&r);
}

/* ---- Sender ----------------------------------------------------------------- */

/* Sends `due` ids, and one more each 50 ms while none of them is acked. */
typedef struct {
    cwr_scheduler scheduler;
    uint32_t due;
    uint32_t held;
    cw_time at;
} simple;

static void simple_start(cwr_scheduler *s, cw_time now, uint32_t num_slices)
{
    ((simple *)s)->due = num_slices;
    ((simple *)s)->at = now;
}

/* What was lost below the top is replaced. */
static void simple_news(cwr_scheduler *s, cw_time now, uint32_t have, uint64_t top)
{
    simple *c = (simple *)s;
    (void)now;
    c->due += have < top ? 1 : 0;
}

static void simple_hold(cwr_scheduler *s, cw_time now)
{
    (void)now;
    ((simple *)s)->held++;
}

static bool simple_next(cwr_scheduler *s, cw_time now)
{
    simple *c = (simple *)s;
    if (c->due == 0 && now < c->at) {
        return false;
    }
    c->due -= c->due > 0 ? 1 : 0;
    c->at = now + 50000;
    return true;
}

static cw_time simple_deadline(const cwr_scheduler *s)
{
    const simple *c = (const simple *)s;
    return c->due > 0 ? 0 : c->at;
}

static simple new_simple(void)
{
    simple c = {{simple_start, simple_news, simple_hold, simple_next, simple_deadline}, 0, 0, 0};
    return c;
}

static cwr_sender_row ack_sender(cwr_sender *s, cw_time now, uint32_t num_slices, uint32_t have, uint32_t top)
{
    cwr_packet p = ack_packet(0, num_slices, have, top);
    return cwr_sender_ack(s, now, &p.as.ack);
}

static void test_sender(void)
{
    simple c = new_simple();
    static cwr_sender s;
    cwr_slice slice;
    CHECK(!cwr_sender_init(&s, 65536, 1000, &c.scheduler) && !cwr_sender_init(&s, 0, 0, &c.scheduler));
    CHECK(cwr_sender_init(&s, 0, 1000, &c.scheduler) && cwr_sender_poll(&s, 0, &slice) == CWR_T12);
    CHECK(cwr_sender_submit(&s, 0, pattern, 0) == CWR_T2 && cwr_sender_submit(&s, 0, pattern, 2000) == CWR_T1);
    CHECK(cwr_sender_submit(&s, 0, pattern, 2000) == CWR_T3 && ack_sender(&s, 0, 2, 0, 0) == CWR_T7 && c.held == 0);
    CHECK(cwr_sender_poll(&s, 0, &slice) == CWR_T13 && slice.id == 0 && slice.size == 1024);
    CHECK(cwr_sender_poll(&s, 0, &slice) == CWR_T13 && slice.id == 1 && slice.size == 976 && slice.last_bytes == 976);
    CHECK(cwr_sender_poll(&s, 0, &slice) == CWR_T14 && s.sent == 2 && cwr_sender_deadline(&s) == 1000);
    CHECK(ack_sender(&s, 4, 2, 0, 0) == CWR_T8 && c.held == 1);
    CHECK(ack_sender(&s, 5, 2, 2, 3) == CWR_T6 && ack_sender(&s, 5, 2, 2, 1) == CWR_T6);
    CHECK(ack_sender(&s, 5, 3, 1, 2) == CWR_T6 && ack_sender(&s, 5, 2, 0, 2) == CWR_T9 && s.top == 2 && s.have == 0);
    CHECK(ack_sender(&s, 6, 2, 0, 0) == CWR_T7 && ack_sender(&s, 6, 2, 1, 1) == CWR_T9 && s.top == 2 && s.have == 1);
    CHECK(cwr_sender_poll(&s, 7, &slice) == CWR_T13 && slice.id == 2 && slice.size == 1024);
    CHECK(ack_sender(&s, 8, 2, 2, 3) == CWR_T10 && s.chunk_id == 1 && ack_sender(&s, 8, 2, 2, 3) == CWR_T5);
    CHECK(cwr_sender_submit(&s, 9, pattern, 9) == CWR_T1 && cwr_sender_poll(&s, 1009, &slice) == CWR_T15);
    CHECK(cwr_sender_poll(&s, 1009, &slice) == CWR_T16 && cwr_sender_submit(&s, 1009, pattern, 9) == CWR_T4);
    CHECK(ack_sender(&s, 1010, 1, 1, 1) == CWR_T11 && cwr_sender_deadline(&s) == CW_NEVER);
}

/* ---- Both ------------------------------------------------------------------- */

enum { DELAY = 10000, MOST_FLYING = 4096 };

/* A path with a delay, of which `loss` percent are lost and some overtaken. */
typedef struct {
    cwr_sender s;
    cwr_receiver r;
    uint32_t loss;
    uint32_t flying;
    struct {
        cw_time at;
        size_t n;
        uint8_t b[CW_MAX_DATAGRAM];
    } datagram[MOST_FLYING];
} conversation;

static void post(conversation *c, cw_time now, const cwr_packet *p)
{
    size_t n = 0;
    CHECK(c->flying < MOST_FLYING);
    if (below(100) < c->loss) {
        return;
    }
    c->datagram[c->flying].at = now + DELAY + (cw_time)below(DELAY / 5);
    CHECK(cwr_encode_packet(PROTOCOL_ID, p, c->datagram[c->flying].b, CW_MAX_DATAGRAM, &n) == CW_OK);
    c->datagram[c->flying++].n = n;
}

/* The index of the next one that arrives, or flying. */
static uint32_t next_arrival(const conversation *c)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->flying; i++) {
        if (c->datagram[i].at < c->datagram[best].at) {
            best = i;
        }
    }
    return c->flying == 0 ? 0 : best;
}

static void arrive_all(conversation *c, cw_time now)
{
    cwr_packet p;
    for (uint32_t i = next_arrival(c); c->flying > 0 && c->datagram[i].at <= now; i = next_arrival(c)) {
        CHECK(cwr_decode_packet(PROTOCOL_ID, c->datagram[i].b, c->datagram[i].n, &p, NULL) == CW_OK);
        if (p.type == CW_SLICE) {
            (void)cwr_receiver_slice(&c->r, now, &p.as.slice);
        } else {
            (void)cwr_sender_ack(&c->s, now, &p.as.ack);
        }
        c->datagram[i] = c->datagram[--c->flying];
    }
}

static void send_all(conversation *c, cw_time now)
{
    cwr_packet p;
    cwr_receiver_row row;
    p.type = CW_SLICE;
    while (cwr_sender_poll(&c->s, now, &p.as.slice) == CWR_T13) {
        post(c, now, &p);
    }
    p.type = CW_ACK;
    while ((row = cwr_receiver_poll(&c->r, now, &p.as.ack)) == CWR_U20 || row == CWR_U22 || row == CWR_U25) {
        post(c, now, &p);
    }
}

static cw_time earlier(cw_time a, cw_time b) { return a < b ? a : b; }

/* Returns when the last chunk was read. */
static cw_time transfer(cwr_scheduler *scheduler, uint32_t loss, uint32_t chunks, size_t size)
{
    static conversation c;
    cw_time now = 0;
    uint32_t read = 0;
    c.loss = loss;
    c.flying = 0;
    CHECK(cwr_sender_init(&c.s, 65535, CW_DEFAULT_GIVE_UP, scheduler));
    CHECK(cwr_receiver_init(&c.r, 65535, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory)));
    while (read < chunks && now < 100000000) {
        size_t got = 0;
        if (c.s.state == CW_IDLE) {
            CHECK(cwr_sender_submit(&c.s, now, pattern, size) == CWR_T1);
        }
        send_all(&c, now);
        now = earlier(cwr_sender_deadline(&c.s), cwr_receiver_deadline(&c.r));
        now = c.flying > 0 ? earlier(now, c.datagram[next_arrival(&c)].at) : now;
        arrive_all(&c, now);
        if (cwr_receiver_read(&c.r, now, delivered, sizeof delivered, &got) == CWR_U17) {
            CHECK(got == size && memcmp(delivered, pattern, size) == 0);
            read++;
        }
    }
    CHECK(read == chunks && c.r.inconsistent == 0);
    cwr_receiver_end(&c.r);
    printf("%u chunks of %lu bytes, %u%% lost: %.3f s\n", (unsigned)chunks, (unsigned long)size, (unsigned)loss,
           (double)now / 1e6);
    return now;
}

static cw_time transfer_by_rule(cwr_profile profile, uint32_t loss, uint32_t chunks, size_t size)
{
    static cwr_rule rule;
    CHECK(cwr_rule_init(&rule, profile));
    return transfer(&rule.scheduler, loss, chunks, size);
}

/* A round trip of 20 to 24 ms: a chunk takes half of it, an ack the other half; the first ones take some
 * round trips more, while the limit grows, and with loss the limit is cut now and then. */
static void test_rule(void)
{
    cwr_profile p = cwr_profile_adaptive();
    CHECK(transfer_by_rule(p, 0, 6, CW_MAX_CHUNK) < 6 * 40000);
    CHECK(transfer_by_rule(p, 20, 6, CW_MAX_CHUNK) < 6 * 90000);
    (void)transfer_by_rule(p, 50, 4, 100000);
    (void)transfer_by_rule(p, 50, 10, 1500);
    p.redundant = true;
    (void)transfer_by_rule(p, 50, 4, 100000);
    p.redundant = false;
    p.burst = true;
    (void)transfer_by_rule(p, 20, 4, 100000);
    p.burst = false;
    p.fixed = true;
    p.limit = 8 * 1066 * 1000;
    CHECK(transfer_by_rule(p, 0, 1, 102400) > 99000); /* 100 slices, one each ms */
}

/* The values of RPL-4 with the first losses, by how many slices of a chunk are sent at once: 16 at most (ROOM-4). */
static void test_need(void)
{
    static const uint32_t expected[][3] = {{1, 1, 2}, {2, 3, 3}, {8, 9, 10}, {20, 16, 16}};
    for (size_t n = 0; n < 4; n++) {
        for (int redundant = 0; redundant < 2; redundant++) {
            static cwr_rule rule;
            cwr_profile p = cwr_profile_adaptive();
            uint32_t sent = 0;
            p.redundant = redundant == 1;
            CHECK(cwr_rule_init(&rule, p));
            rule.scheduler.start(&rule.scheduler, 0, expected[n][0]);
            while (rule.scheduler.next(&rule.scheduler, 85 * (cw_time)sent)) {
                sent++;
            }
            CHECK(sent == expected[n][1 + redundant]);
            CHECK(rule.scheduler.deadline(&rule.scheduler) == 85 * (cw_time)(sent - 1) + 250000);
        }
    }
}

static void test_profiles(void)
{
    static cwr_rule rule;
    cwr_profile p = cwr_profile_adaptive();
    p.limit = 8527;
    CHECK(!cwr_rule_init(&rule, p));
    p.limit = 8528;
    p.burst = p.redundant = true;
    CHECK(!cwr_rule_init(&rule, p));
    p = cwr_profile_adaptive();
    p.fixed = true;
    CHECK(!cwr_rule_init(&rule, p));
    p.limit = (int64_t)8000000000;
    CHECK(cwr_rule_init(&rule, p));
}

int main(void)
{
    simple scheduler;
    for (size_t i = 0; i < sizeof pattern; i++) {
        pattern[i] = (uint8_t)(i % CW_SLICE_SIZE + 31 * (i / CW_SLICE_SIZE));
    }
    test_repair_slices();
    test_lengths();
    test_erasures();
    test_repair_alone();
    test_dependent_source();
    test_examples();
    test_packets();
    test_encoder();
    test_decoder();
    test_numbers();
    test_receiver();
    test_replaced();
    test_no_memory();
    test_inconsistent();
    test_top();
    test_sender();
    test_need();
    test_profiles();
    test_rule();
    scheduler = new_simple();
    (void)transfer(&scheduler.scheduler, 5, 3, CW_MAX_CHUNK);
    (void)transfer(&scheduler.scheduler, 50, 2, 50000);
    return test_result();
}
