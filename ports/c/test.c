/* Tests of the library. Comments such as DEC-10 name sentences of spec/PROTOCOL.md. */
#include "check.h"
#include "chunkwire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- SHA-256 ---------------------------------------------------------------- */

typedef struct {
    uint32_t h[8];
    uint8_t block[64];
    uint64_t length;
} sha256;

static const uint32_t sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void sha_init(sha256 *s)
{
    static const uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, h, sizeof h);
    s->length = 0;
}

static void sha_block(sha256 *s)
{
    uint32_t w[64];
    uint32_t v[8];
    for (size_t i = 0; i < 16; i++) {
        const uint8_t *b = s->block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, s->h, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        uint32_t e = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        uint32_t t = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha_k[i] + w[i];
        uint32_t a = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        uint32_t u = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t;
        v[0] = t + u;
    }
    for (size_t i = 0; i < 8; i++) {
        s->h[i] += v[i];
    }
}

static void sha_add(sha256 *s, const uint8_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->block[s->length % 64] = b[i];
        s->length++;
        if (s->length % 64 == 0) {
            sha_block(s);
        }
    }
}

/* Writes 64 hex digits and an end. */
static void sha_end(sha256 *s, char out[65])
{
    uint64_t bits = 8 * s->length;
    uint8_t b = 0x80;
    do {
        sha_add(s, &b, 1);
        b = 0;
    } while (s->length % 64 != 56);
    for (unsigned i = 0; i < 8; i++) {
        b = (uint8_t)(bits >> (56 - 8 * i));
        sha_add(s, &b, 1);
    }
    for (size_t i = 0; i < 8; i++) {
        sprintf(out + 8 * i, "%08x", (unsigned)s->h[i]);
    }
}

/* ---- Packets ---------------------------------------------------------------- */

#define PROTOCOL_ID 0x11223344u

static uint8_t pattern[CW_MAX_CHUNK];

static cw_packet slice_packet(uint32_t chunk_id, uint32_t slice_id, uint32_t num_slices, size_t size)
{
    cw_packet p;
    p.type = CW_SLICE;
    p.as.slice.chunk_id = chunk_id;
    p.as.slice.slice_id = slice_id;
    p.as.slice.num_slices = num_slices;
    p.as.slice.data = pattern;
    p.as.slice.size = size;
    return p;
}

static cw_packet ack_packet(uint32_t chunk_id, const char *acked)
{
    cw_packet p;
    p.type = CW_ACK;
    p.as.ack.chunk_id = chunk_id;
    p.as.ack.num_slices = (uint32_t)strlen(acked);
    cw_set_clear(&p.as.ack.acked);
    for (uint32_t k = 0; acked[k] != '\0'; k++) {
        if (acked[k] == '1') {
            cw_set_add(&p.as.ack.acked, k);
        }
    }
    return p;
}

static bool same_packet(const cw_packet *a, const cw_packet *b)
{
    if (a->type != b->type) {
        return false;
    }
    if (a->type == CW_ACK) {
        return a->as.ack.chunk_id == b->as.ack.chunk_id && a->as.ack.num_slices == b->as.ack.num_slices &&
               memcmp(&a->as.ack.acked, &b->as.ack.acked, sizeof(cw_set)) == 0;
    }
    return a->as.slice.chunk_id == b->as.slice.chunk_id && a->as.slice.slice_id == b->as.slice.slice_id &&
           a->as.slice.num_slices == b->as.slice.num_slices && a->as.slice.size == b->as.slice.size &&
           memcmp(a->as.slice.data, b->as.slice.data, a->as.slice.size) == 0;
}

static bool body_is(const cw_packet *p, const char *hex)
{
    uint8_t out[CW_MAX_BODY];
    size_t n = 0;
    return cw_encode_body(p, out, sizeof out, &n) == CW_OK && hex_is(out, n, hex);
}

static bool packet_is(const cw_packet *p, const char *hex)
{
    uint8_t out[CW_MAX_DATAGRAM];
    size_t n = 0;
    return cw_encode_packet(PROTOCOL_ID, p, out, sizeof out, &n) == CW_OK && hex_is(out, n, hex);
}

static cw_error decode_hex(const char *hex, size_t *place)
{
    uint8_t in[2 * CW_MAX_DATAGRAM];
    cw_packet p;
    size_t n = from_hex(hex, in);
    return cw_decode_packet(PROTOCOL_ID, in, n, &p, place);
}

static cw_error decode_body_hex(cw_type type, const char *hex, size_t *place)
{
    uint8_t in[2 * CW_MAX_DATAGRAM];
    cw_packet p;
    size_t n = from_hex(hex, in);
    return cw_decode_body(type, in, n, &p, place);
}

/* The crc made right again (FRM-2), written out a second time. */
static void mend_crc(uint32_t protocol_id, uint8_t *b, size_t n)
{
    uint8_t head[8] = {(uint8_t)protocol_id, (uint8_t)(protocol_id >> 8), (uint8_t)(protocol_id >> 16),
                       (uint8_t)(protocol_id >> 24), 0, 0, 0, 0};
    uint32_t crc = cw_crc32(cw_crc32(0, head, 8), b + 4, n - 4);
    for (unsigned i = 0; i < 4; i++) {
        b[i] = (uint8_t)(crc >> (8 * i));
    }
}

static void test_bits(void)
{
    uint8_t b[4];
    uint32_t v = 0;
    cw_writer w;
    cw_reader r;
    cw_writer_init(&w, b, sizeof b); /* the example of section 3 */
    cw_put_bits(&w, 5, 3);
    cw_put_bits(&w, 1, 16);
    cw_put_align(&w);
    CHECK(!w.full && hex_is(b, cw_writer_bytes(&w), "0d0000"));
    cw_put_bits(&w, 0xFFFFFFFFu, 32);
    CHECK(w.full);
    cw_reader_init(&r, b, 3);
    CHECK(cw_get_bits(&r, 3, &v) && v == 5);
    CHECK(cw_get_int(&r, 1, 65536, &v) && v == 2);
    CHECK(!cw_get_bits(&r, 6, &v) && r.bit == 19);
    CHECK(cw_get_align(&r) && r.bit == 24 && cw_get_bytes(&r, 1) == NULL);
    CHECK(cw_crc32(0, (const uint8_t *)"123456789", 9) == 0xCBF43926u);
}

/* Section 6.4 */
static void test_examples(void)
{
    static const uint8_t data[5] = {1, 2, 3, 4, 5};
    size_t place = 0;
    cw_packet slice = slice_packet(1, 2, 3, 5);
    cw_packet ack = ack_packet(0x1234, "101010101");
    slice.as.slice.data = data;
    CHECK(body_is(&slice, "0100020204000102030405"));
    CHECK(packet_is(&slice, "4414a8920200040408000102030405e2ac0899"));
    CHECK(body_is(&ack, "3412085501"));
    CHECK(packet_is(&ack, "a83af421692410aa02e2ac0899"));
    CHECK(decode_hex("4414a8920200040408000102030405e2ac0899", NULL) == CW_OK);
    CHECK(decode_hex("689c74d4692410aa06e2ac0899", &place) == CW_NONZERO_PADDING && place == 66);
}

/* Section 5's table, LIM-4 */
static void test_sizes(void)
{
    uint8_t out[CW_MAX_DATAGRAM];
    size_t n = 0;
    char acked[257];
    cw_packet p = slice_packet(7, 0, 2, 1024);
    CHECK(cw_encode_body(&p, out, sizeof out, &n) == CW_OK && n == 1028);
    CHECK(cw_encode_packet(0, &p, out, sizeof out, &n) == CW_OK && n == 1037);
    p = slice_packet(7, 1, 2, 1024);
    CHECK(cw_encode_body(&p, out, sizeof out, &n) == CW_OK && n == CW_MAX_BODY);
    CHECK(cw_encode_packet(0, &p, out, sizeof out, &n) == CW_OK && n == CW_MAX_DATAGRAM);
    CHECK(cw_encode_packet(0, &p, out, CW_MAX_DATAGRAM - 1, &n) == CW_NO_SPACE);
    CHECK(cw_encode_packet(0, &p, out, 0, &n) == CW_NO_SPACE);
    memset(acked, '1', 256);
    acked[256] = '\0';
    p = ack_packet(7, acked);
    CHECK(cw_encode_packet(0, &p, out, sizeof out, &n) == CW_OK && n == CW_MAX_ACK);
    CHECK(cw_num_slices(1) == 1 && cw_num_slices(1024) == 1 && cw_num_slices(1025) == 2);
    CHECK(cw_num_slices(CW_MAX_CHUNK) == CW_MAX_SLICES);
    CHECK(cw_slice_bytes(1025, 0) == 1024 && cw_slice_bytes(1025, 1) == 1);
}

/* ENC-1 to ENC-6 */
static void test_encoder(void)
{
    static const struct {
        uint32_t chunk_id, slice_id, num_slices;
        size_t size;
        bool ok;
    } cases[] = {
        {65535, 0, 1, 1, true},   {65536, 0, 1, 1, false},  {0, 0, 0, 1, false},      {0, 255, 256, 1, true},
        {0, 256, 257, 1, false},  {0, 1, 1, 1, false},      {0, 0, 2, 1024, true},    {0, 0, 2, 1023, false},
        {0, 0, 1, 0, false},      {0, 0, 1, 1024, true},    {0, 0, 1, 1025, false},   {0, 0, 2, 1025, false},
        {0, 2, 2, 1024, false},
    };
    cw_packet p = ack_packet(0, "01");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cw_packet s = slice_packet(cases[i].chunk_id, cases[i].slice_id, cases[i].num_slices, cases[i].size);
        CHECK((cw_check(&s) == CW_OK) == cases[i].ok);
    }
    CHECK(cw_check(&p) == CW_OK);
    p.as.ack.num_slices = 1;
    CHECK(cw_check(&p) == CW_INVALID_FIELD);
    p.as.ack.num_slices = 0;
    CHECK(cw_check(&p) == CW_INVALID_FIELD);
    p.as.ack.num_slices = 257;
    CHECK(cw_check(&p) == CW_INVALID_FIELD);
}

/* DEC-4 to DEC-11 and DEC-14, with their places */
static void test_refusals(void)
{
    static const struct {
        cw_type type;
        const char *hex;
        cw_error error;
        size_t place;
    } cases[] = {
        {CW_SLICE, "", CW_TRUNCATED, 0},
        {CW_SLICE, "01", CW_TRUNCATED, 0},
        {CW_SLICE, "0100", CW_TRUNCATED, 16},
        {CW_SLICE, "010002", CW_TRUNCATED, 24},
        {CW_SLICE, "01000301", CW_SLICE_ID_OUT_OF_RANGE, 16},
        {CW_SLICE, "01000202", CW_TRUNCATED, 32},
        {CW_SLICE, "0100020204", CW_TRUNCATED, 32},
        {CW_SLICE, "01000202040401", CW_NONZERO_PADDING, 42},
        {CW_SLICE, "010002020480", CW_NONZERO_PADDING, 42},
        {CW_SLICE, "01000202040001020304", CW_TRUNCATED, 48},
        {CW_SLICE, "0100020204000102030405", CW_OK, 88},
        {CW_SLICE, "010002020400010203040500", CW_TRAILING_DATA, 88},
        {CW_SLICE, "01000102ff", CW_TRUNCATED, 32},
        {CW_ACK, "34", CW_TRUNCATED, 0},
        {CW_ACK, "3412", CW_TRUNCATED, 16},
        {CW_ACK, "34120855", CW_TRUNCATED, 24},
        {CW_ACK, "3412085503", CW_NONZERO_PADDING, 33},
        {CW_ACK, "3412085501", CW_OK, 40},
        {CW_ACK, "341208550100", CW_TRAILING_DATA, 40},
        {CW_ACK, "341207ff", CW_OK, 32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t place = 9999;
        CHECK(decode_body_hex(cases[i].type, cases[i].hex, &place) == cases[i].error && place == cases[i].place);
    }
}

/* DEC-1 to DEC-3, DEC-12 and DEC-13: every length of a datagram, cut with a right crc. */
static void test_frame_refusals(void)
{
    uint8_t whole[CW_MAX_DATAGRAM];
    size_t n = 0;
    size_t place = 0;
    cw_packet p = slice_packet(1, 2, 3, 5);
    CHECK(decode_hex("000000", &place) == CW_TRUNCATED && place == 0);
    CHECK(decode_hex("4414a8930200040408000102030405e2ac0899", &place) == CW_CRC_MISMATCH && place == 0);
    CHECK(cw_encode_packet(PROTOCOL_ID, &p, whole, sizeof whole, &n) == CW_OK && n == 19);
    for (size_t cut = 4; cut < n; cut++) {
        uint8_t b[CW_MAX_DATAGRAM];
        static const size_t places[] = {32, 33, 33, 49, 57, 65, 80, 80, 80, 80, 80, 120, 120, 120, 120};
        memcpy(b, whole, cut);
        mend_crc(PROTOCOL_ID, b, cut);
        CHECK(cw_decode_packet(PROTOCOL_ID, b, cut, &p, &place) == CW_TRUNCATED && place == places[cut - 4]);
    }
    whole[n - 1] ^= 1;
    mend_crc(PROTOCOL_ID, whole, n);
    CHECK(cw_decode_packet(PROTOCOL_ID, whole, n, &p, &place) == CW_BAD_END_CHECK && place == 120);
    whole[n - 1] ^= 1;
    whole[n] = 0;
    mend_crc(PROTOCOL_ID, whole, n + 1);
    CHECK(cw_decode_packet(PROTOCOL_ID, whole, n + 1, &p, &place) == CW_TRAILING_DATA && place == 152);
}

/* ---- Random packets (appendix B) -------------------------------------------- */

/* ACC-1 */
static uint32_t next_random(uint32_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

/* ACC-2; data has room for 1,024 bytes. */
static cw_packet random_packet(uint32_t *x, uint8_t *data)
{
    cw_type type = next_random(x) % 2 == 0 ? CW_SLICE : CW_ACK;
    uint32_t chunk_id = next_random(x) % 65536;
    uint32_t num_slices = next_random(x) % 256 + 1;
    cw_packet p = slice_packet(chunk_id, 0, num_slices, 1024);
    uint32_t v;
    p.type = type;
    if (type == CW_ACK) {
        p.as.ack.chunk_id = chunk_id;
        p.as.ack.num_slices = num_slices;
        cw_set_clear(&p.as.ack.acked);
        for (uint32_t k = 0; k < num_slices; k += 32) {
            v = next_random(x);
            for (uint32_t j = 0; j < 32 && k + j < num_slices; j++) {
                if ((v >> j & 1) != 0) {
                    cw_set_add(&p.as.ack.acked, k + j);
                }
            }
        }
        return p;
    }
    p.as.slice.slice_id = next_random(x) % num_slices;
    if (p.as.slice.slice_id == num_slices - 1) {
        p.as.slice.size = next_random(x) % 1024 + 1;
    }
    v = next_random(x);
    for (uint32_t i = 0; i < p.as.slice.size; i++) {
        data[i] = (uint8_t)(v + i);
    }
    p.as.slice.data = data;
    return p;
}

/* ACC-3 */
static void random_packets(uint32_t seed, uint32_t count, char out[65])
{
    static uint8_t data[CW_SLICE_SIZE];
    sha256 s;
    uint32_t x = seed;
    sha_init(&s);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t b[CW_MAX_DATAGRAM];
        uint32_t protocol_id = next_random(&x);
        cw_packet p = random_packet(&x, data);
        cw_packet q;
        size_t n = 0;
        uint32_t m;
        const char *name;
        if (cw_encode_packet(protocol_id, &p, b, sizeof b, &n) != CW_OK ||
            cw_decode_packet(protocol_id, b, n, &q, NULL) != CW_OK || !same_packet(&p, &q)) {
            CHECK(!"a random packet comes back as it was");
            return;
        }
        sha_add(&s, b, n);
        m = next_random(&x) % (8 * (uint32_t)n - 32) + 32;
        b[m / 8] = (uint8_t)(b[m / 8] ^ 1u << (m % 8));
        mend_crc(protocol_id, b, n);
        name = cw_error_name(cw_decode_packet(protocol_id, b, n, &q, NULL));
        sha_add(&s, (const uint8_t *)name, strlen(name));
        sha_add(&s, (const uint8_t *)"\n", 1);
    }
    sha_end(&s, out);
}

/* Seeds and hashes are those of testvectors/files/accumulated.json. */
static void test_random(void)
{
    char hash[65];
    sha256 s;
    sha_init(&s);
    sha_add(&s, (const uint8_t *)"abc", 3);
    sha_end(&s, hash);
    CHECK(strcmp(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") == 0);
    random_packets(287454020u, 10000, hash);
    printf("10,000 random packets: %s\n", hash);
    CHECK(strcmp(hash, "548845203fb91a1a63f7ceb32a8e52a7b9d9e3da4ef0315b1f55af4313588fa0") == 0);
    random_packets(625341585u, 1000000, hash);
    printf("1,000,000 random packets: %s\n", hash);
    CHECK(strcmp(hash, "22ecca24d50adc9f97e6a002e33ab52d776d743db374e4ad288a361b51d1220a") == 0);
}

/* ---- Receiver --------------------------------------------------------------- */

static uint8_t memory[CW_MAX_CHUNK];
static uint8_t delivered[CW_MAX_CHUNK];

static cw_receiver_row give(cw_receiver *r, cw_time now, uint32_t chunk_id, uint32_t slice_id, uint32_t num_slices,
                            size_t size)
{
    cw_packet p = slice_packet(chunk_id, slice_id, num_slices, size);
    return cw_receiver_slice(r, now, &p.as.slice);
}

static bool polls_ack(cw_receiver *r, cw_time now, cw_receiver_row row, uint32_t chunk_id, const char *acked)
{
    cw_packet got;
    cw_packet want = ack_packet(chunk_id, acked);
    got.type = CW_ACK;
    return cw_receiver_poll(r, now, &got.as.ack) == row && same_packet(&got, &want);
}

/* RCV-6, RCV-13, RCV-14: the article's stalls, and a slow reader */
static void test_receiver(void)
{
    cw_receiver r;
    cw_ack ack;
    size_t size = 0;
    CHECK(cw_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cw_fixed_memory(memory)));
    CHECK(give(&r, 0, 65535, 0, 1, 1) == CW_R4 && cw_receiver_deadline(&r) == CW_NEVER);
    CHECK(give(&r, 0, 0, 0, 2, 1024) == CW_R2 && cw_receiver_deadline(&r) == 0);
    CHECK(polls_ack(&r, 0, CW_R21, 0, "10") && cw_receiver_poll(&r, 0, &ack) == CW_R22);
    CHECK(give(&r, 500, 0, 0, 2, 1024) == CW_R7 && cw_receiver_deadline(&r) == 2000);
    CHECK(cw_receiver_poll(&r, 1999, &ack) == CW_R22 && polls_ack(&r, 2000, CW_R21, 0, "10"));
    CHECK(give(&r, 2100, 0, 1, 3, 1024) == CW_R8 && r.conflicts == 1);
    CHECK(cw_receiver_read(&r, 2200, delivered, sizeof delivered, &size) == CW_R18);
    CHECK(give(&r, 2300, 0, 1, 2, 7) == CW_R6 && polls_ack(&r, 2300, CW_R24, 0, "11"));
    CHECK(give(&r, 2300, 1, 2, 4, 1024) == CW_R13 && give(&r, 2300, 0, 1, 2, 7) == CW_R14);
    CHECK(cw_receiver_deadline(&r) == 4300 && polls_ack(&r, 4300, CW_R24, 0, "11"));
    CHECK(polls_ack(&r, 4300, CW_R24, 1, "0000") && cw_receiver_poll(&r, 4300, &ack) == CW_R25);
    CHECK(cw_receiver_read(&r, 4400, delivered, 1030, &size) == CW_R_NONE && cw_receiver_size(&r) == 1031);
    CHECK(cw_receiver_read(&r, 4400, delivered, 1031, &size) == CW_R16 && size == 1031);
    CHECK(memcmp(delivered, pattern, 1024) == 0 && memcmp(delivered + 1024, pattern, 7) == 0);
    CHECK(give(&r, 4500, 0, 0, 2, 1024) == CW_R3 && cw_receiver_read(&r, 0, delivered, 9, &size) == CW_R17);
    CHECK(cw_receiver_deadline(&r) == 6300); /* TIM-1: the read at 0 changed nothing */
    cw_receiver_end(&r);
}

/* RCV-7, RCV-15 */
static void test_wrong_pin(void)
{
    cw_receiver r;
    cw_ack ack;
    CHECK(cw_receiver_init(&r, 65535, 1000, cw_fixed_memory(memory)));
    CHECK(give(&r, 0, 65535, 4, 5, 9) == CW_R2 && give(&r, 499, 65535, 0, 2, 1024) == CW_R8);
    CHECK(give(&r, 500, 65535, 0, 2, 1024) == CW_R9 && r.num_slices == 2);
    CHECK(give(&r, 1000, 65535, 0, 1, 9) == CW_R10 && r.chunk_id == 0 && cw_receiver_size(&r) == 9);
    CHECK(cw_receiver_init(&r, 0, 1000, cw_fixed_memory(memory)));
    CHECK(give(&r, 10, 0, 0, 2, 1024) == CW_R2 && cw_receiver_poll(&r, 1010, &ack) == CW_R23);
    CHECK(cw_receiver_poll(&r, 1010, &ack) == CW_R28 && give(&r, 1011, 0, 0, 2, 1024) == CW_R26);
    CHECK(cw_receiver_deadline(&r) == CW_NEVER);
}

static uint8_t *no_block(void *owner, uint32_t slice_id, size_t size)
{
    (void)owner, (void)slice_id, (void)size;
    return NULL;
}

/* A slice without memory for it is as if it had been lost. */
static void test_no_memory(void)
{
    cw_receiver r;
    cw_memory none = cw_fixed_memory(memory);
    none.take = no_block;
    CHECK(cw_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, none));
    CHECK(give(&r, 5, 0, 0, 2, 1024) == CW_R_NONE && r.state == CW_WAITING && r.num_slices == 0);
    CHECK(cw_receiver_deadline(&r) == CW_NEVER);
}

/* AKT-3, AKT-4: an ack for every 16, and at once around a gap */
static void test_ack_timing(void)
{
    cw_receiver r;
    CHECK(cw_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cw_fixed_memory(memory)));
    CHECK(give(&r, 100, 0, 0, 40, 1024) == CW_R2 && cw_receiver_deadline(&r) == 100);
    CHECK(polls_ack(&r, 100, CW_R21, 0, "1000000000000000000000000000000000000000"));
    for (uint32_t k = 1; k < 16; k++) {
        CHECK(give(&r, 101, 0, k, 40, 1024) == CW_R5 && cw_receiver_deadline(&r) == 2100);
    }
    CHECK(give(&r, 101, 0, 16, 40, 1024) == CW_R5 && cw_receiver_deadline(&r) == 101);
    CHECK(polls_ack(&r, 101, CW_R21, 0, "1111111111111111100000000000000000000000"));
    CHECK(give(&r, 102, 0, 18, 40, 1024) == CW_R5 && cw_receiver_deadline(&r) == 102);
    CHECK(polls_ack(&r, 102, CW_R21, 0, "1111111111111111101000000000000000000000"));
    CHECK(give(&r, 103, 0, 19, 40, 1024) == CW_R5 && cw_receiver_deadline(&r) == 103);
    CHECK(polls_ack(&r, 103, CW_R21, 0, "1111111111111111101100000000000000000000"));
    CHECK(give(&r, 104, 0, 20, 40, 1024) == CW_R5 && cw_receiver_deadline(&r) == 2103);
}

/* ---- Sender ----------------------------------------------------------------- */

static cw_sender_row ack(cw_sender *s, cw_time now, uint32_t chunk_id, const char *acked)
{
    cw_packet p = ack_packet(chunk_id, acked);
    return cw_sender_ack(s, now, &p.as.ack);
}

static bool polls_slice(cw_sender *s, cw_time now, uint32_t slice_id)
{
    cw_slice slice;
    return cw_sender_poll(s, now, &slice) == CW_S13 && slice.slice_id == slice_id;
}

static void test_sender(void)
{
    cw_base base;
    cw_sender s;
    cw_slice slice;
    CHECK(cw_base_init(&base, cw_profile_burst()));
    CHECK(cw_sender_init(&s, 65535, 1000000, &base.scheduler));
    CHECK(cw_sender_submit(&s, 0, pattern, 0) == CW_S2);
    CHECK(cw_sender_submit(&s, 0, pattern, CW_MAX_CHUNK + 1) == CW_S2);
    CHECK(cw_sender_poll(&s, 0, &slice) == CW_S12 && ack(&s, 0, 65535, "1") == CW_S5);
    CHECK(cw_sender_submit(&s, 0, pattern, 3000) == CW_S1 && cw_sender_submit(&s, 0, pattern, 1) == CW_S3);
    CHECK(ack(&s, 0, 65535, "111") == CW_S7); /* SND-7: nothing was sent */
    CHECK(polls_slice(&s, 0, 0) && cw_sender_poll(&s, 0, &slice) == CW_S14 && cw_sender_deadline(&s) == 85);
    CHECK(polls_slice(&s, 85, 1) && polls_slice(&s, 170, 2) && cw_sender_poll(&s, 171, &slice) == CW_S14);
    CHECK(cw_sender_deadline(&s) == 250170);
    CHECK(ack(&s, 10000, 65535, "000") == CW_S8 && ack(&s, 10000, 0, "111") == CW_S6);
    CHECK(ack(&s, 10000, 65535, "1111") == CW_S6 && ack(&s, 20000, 65535, "001") == CW_S9);
    CHECK(polls_slice(&s, 20000, 0)); /* GAP-2: 1 + 2 <= 3, but not 2 + 2 */
    CHECK(cw_sender_poll(&s, 20000, &slice) == CW_S14 && ack(&s, 20000, 65535, "000") == CW_S7);
    CHECK(ack(&s, 30000, 65535, "111") == CW_S10 && s.chunk_id == 0 && s.state == CW_IDLE);
    CHECK(cw_sender_submit(&s, 40000, pattern, 1) == CW_S1 && cw_sender_poll(&s, 1039999, &slice) == CW_S13);
    CHECK(cw_sender_poll(&s, 1040000, &slice) == CW_S15 && cw_sender_poll(&s, 1040000, &slice) == CW_S16);
    CHECK(cw_sender_submit(&s, 1040000, pattern, 1) == CW_S4 && ack(&s, 1040000, 0, "1") == CW_S11);
    CHECK(cw_sender_deadline(&s) == CW_NEVER);
}

/* SCH-10, TMR-4 and TMR-6 while held, and the end of a hold in SCH-8 */
static void test_hold(void)
{
    cw_base base;
    cw_sender s;
    cw_slice slice;
    CHECK(cw_base_init(&base, cw_profile_burst()));
    CHECK(cw_sender_init(&s, 0, CW_DEFAULT_GIVE_UP, &base.scheduler));
    CHECK(cw_sender_submit(&s, 0, pattern, 5000) == CW_S1 && polls_slice(&s, 0, 0) && polls_slice(&s, 85, 1));
    CHECK(ack(&s, 100, 0, "00000") == CW_S8 && cw_sender_deadline(&s) == 250100);
    CHECK(cw_sender_poll(&s, 250099, &slice) == CW_S14 && polls_slice(&s, 250100, 4));
    CHECK(cw_sender_poll(&s, 250100, &slice) == CW_S14 && cw_sender_deadline(&s) == 500100);
    CHECK(polls_slice(&s, 500100, 3) && cw_sender_poll(&s, 500100, &slice) == CW_S14);
    CHECK(ack(&s, 500200, 0, "00010") == CW_S9); /* 2 was never sent; 0 and 1 are lost by GAP-2 */
    CHECK(polls_slice(&s, 500300, 0) && polls_slice(&s, 500385, 1) && polls_slice(&s, 500470, 2));
    CHECK(cw_sender_poll(&s, 500555, &slice) == CW_S14);
}

/* TMR-6: probes begin at the round trip and become rarer. */
static void test_probes_of_a_hold(void)
{
    cw_base base;
    cw_sender s;
    CHECK(cw_base_init(&base, cw_profile_burst()));
    CHECK(cw_sender_init(&s, 0, CW_DEFAULT_GIVE_UP, &base.scheduler));
    CHECK(cw_sender_submit(&s, 0, pattern, 1) == CW_S1 && polls_slice(&s, 0, 0));
    CHECK(ack(&s, 40000, 0, "1") == CW_S10 && cw_sender_submit(&s, 40000, pattern, 1) == CW_S1);
    CHECK(polls_slice(&s, 40000, 0) && ack(&s, 80000, 1, "0") == CW_S8 && cw_sender_deadline(&s) == 120000);
    CHECK(polls_slice(&s, 120000, 0) && cw_sender_deadline(&s) == 160000);
    CHECK(polls_slice(&s, 480000, 0) && cw_sender_deadline(&s) == 580000);
    CHECK(polls_slice(&s, 5000000, 0) && cw_sender_deadline(&s) == 5250000);
}

/* RTT-4, RTT-6: the bound of one chunk is the estimate of the next. */
static void test_bound(void)
{
    cw_base base;
    cw_sender s;
    CHECK(cw_base_init(&base, cw_profile_burst()));
    CHECK(cw_sender_init(&s, 0, CW_DEFAULT_GIVE_UP, &base.scheduler));
    CHECK(cw_sender_submit(&s, 0, pattern, 1) == CW_S1 && polls_slice(&s, 0, 0) && polls_slice(&s, 250000, 0));
    CHECK(ack(&s, 400000, 0, "1") == CW_S10 && cw_sender_submit(&s, 400000, pattern, 1) == CW_S1);
    CHECK(polls_slice(&s, 400000, 0) && cw_sender_deadline(&s) == 900000); /* 400 + 4 * 25 ms */
}

/* BUD-1, BUD-4 and the table of 9.6 */
static void test_budget(void)
{
    cw_base base;
    cw_sender s;
    cw_slice slice;
    uint32_t sent = 0;
    CHECK(cw_profile_fixed(1066).rate == 1066 && cw_profile_fixed(1066).cap == 17056);
    CHECK(cw_profile_fixed(1000000).cap == 20000 && cw_profile_article(0).resend_delay == 100000);
    CHECK(cw_base_init(&base, cw_profile_fixed(106500)));
    CHECK(cw_sender_init(&s, 0, CW_DEFAULT_GIVE_UP, &base.scheduler));
    CHECK(cw_sender_submit(&s, 0, pattern, 100 * 1024) == CW_S1);
    while (cw_sender_poll(&s, 0, &slice) == CW_S13) {
        sent++;
    }
    CHECK(sent == 16 && cw_sender_deadline(&s) == 9850); /* 17,056 - 16 * 1,065 = 16 are left */
}

static bool allowed(int64_t rate, int64_t cap, int64_t burst, cw_time spacing, cw_time resend_delay)
{
    cw_base base;
    cw_profile p = {0, 0, 0, false, 0, 0};
    p.rate = rate;
    p.cap = cap;
    p.burst = burst;
    p.spacing = spacing;
    p.resend_delay = resend_delay;
    return cw_base_init(&base, p);
}

/* BUD-1, 7.2, 8.2: what is outside its limits is refused. */
static void test_limits(void)
{
    cw_sender s;
    cw_receiver r;
    cw_base base;
    CHECK(allowed(0, 1066, 0, 0, 0) && allowed(1066, 1066, 1066, CW_MAX_GIVE_UP, CW_MAX_GIVE_UP));
    CHECK(!allowed(1065, 17056, 0, 0, 0) && !allowed(1000000001, 17056, 0, 0, 0) && !allowed(-1, 17056, 0, 0, 0));
    CHECK(!allowed(0, 1065, 0, 0, 0) && !allowed(0, 1000000001, 0, 0, 0));
    CHECK(!allowed(0, 1066, 1067, 0, 0) && !allowed(0, 1066, -1, 0, 0));
    CHECK(!allowed(0, 1066, 0, -1, 0) && !allowed(0, 1066, 0, 0, -1));
    CHECK(cw_base_init(&base, cw_profile_burst()));
    CHECK(!cw_base_init(&base, cw_profile_fixed(1)));
    CHECK(!cw_sender_init(&s, 65536, 1, &base.scheduler) && !cw_sender_init(&s, 0, 0, &base.scheduler));
    CHECK(cw_sender_init(&s, 65535, CW_MAX_GIVE_UP, &base.scheduler));
    CHECK(!cw_receiver_init(&r, 0, CW_MAX_GIVE_UP + 1, cw_fixed_memory(memory)));
}

/* ---- Both machines over a network in memory --------------------------------- */

typedef struct {
    cw_time at;
    size_t n;
    uint8_t b[CW_MAX_DATAGRAM];
} datagram;

enum { QUEUE = 2048 };

typedef struct {
    datagram queue[QUEUE];
    size_t used;
    uint32_t random;
    uint32_t loss; /* percent */
} network;

/* Loses some, doubles some, delays each by 20 to 30 ms. */
static void post(network *w, cw_time now, const uint8_t *b, size_t n)
{
    do {
        datagram *d = &w->queue[w->used];
        if (next_random(&w->random) % 100 < w->loss || w->used == QUEUE) {
            continue;
        }
        d->at = now + 20000 + next_random(&w->random) % 10000;
        d->n = n;
        memcpy(d->b, b, n);
        w->used++;
    } while (next_random(&w->random) % 50 == 0);
}

static cw_time arrives(const network *w)
{
    cw_time t = CW_NEVER;
    for (size_t i = 0; i < w->used; i++) {
        t = w->queue[i].at < t ? w->queue[i].at : t;
    }
    return t;
}

/* One datagram that has arrived by now, or false. */
static bool fetch(network *w, cw_time now, datagram *d)
{
    for (size_t i = 0; i < w->used; i++) {
        if (w->queue[i].at <= now) {
            *d = w->queue[i];
            w->queue[i] = w->queue[--w->used];
            return true;
        }
    }
    return false;
}

typedef struct {
    cw_sender s;
    cw_base base;
    cw_receiver r;
    network net;
    uint32_t done;
} connection;

/* One instant: what arrived first (SND-4, RCV-2), then the polls. */
static void step(connection *c, cw_time now)
{
    datagram d;
    cw_packet p;
    uint8_t out[CW_MAX_DATAGRAM];
    size_t n;
    while (fetch(&c->net, now, &d)) {
        CHECK(cw_decode_packet(PROTOCOL_ID, d.b, d.n, &p, NULL) == CW_OK);
        if (p.type == CW_SLICE) {
            (void)cw_receiver_slice(&c->r, now, &p.as.slice);
        } else if (cw_sender_ack(&c->s, now, &p.as.ack) == CW_S10) {
            c->done++;
        }
    }
    p.type = CW_SLICE;
    while (cw_sender_poll(&c->s, now, &p.as.slice) == CW_S13) {
        CHECK(cw_encode_packet(PROTOCOL_ID, &p, out, sizeof out, &n) == CW_OK);
        post(&c->net, now, out, n);
    }
    p.type = CW_ACK;
    for (;;) {
        cw_receiver_row row = cw_receiver_poll(&c->r, now, &p.as.ack);
        if (row != CW_R19 && row != CW_R21 && row != CW_R24) {
            break;
        }
        CHECK(cw_encode_packet(PROTOCOL_ID, &p, out, sizeof out, &n) == CW_OK);
        post(&c->net, now, out, n);
    }
}

static cw_time earlier(cw_time a, cw_time b) { return a < b ? a : b; }

static void transfer(cw_profile profile, uint32_t loss, uint32_t chunks, size_t size)
{
    static connection c;
    cw_time now = 0;
    uint32_t read = 0;
    c.net.used = 0;
    c.net.random = 1 + loss;
    c.net.loss = loss;
    c.done = 0;
    CHECK(cw_base_init(&c.base, profile));
    CHECK(cw_sender_init(&c.s, 65535, CW_DEFAULT_GIVE_UP, &c.base.scheduler));
    CHECK(cw_receiver_init(&c.r, 65535, CW_DEFAULT_GIVE_UP, cw_fixed_memory(memory)));
    while (c.done < chunks && now < CW_NEVER && c.s.state != CW_SENDER_FAILED) {
        size_t n = 0;
        if (c.s.state == CW_IDLE) {
            CHECK(cw_sender_submit(&c.s, now, pattern + c.done, size) == CW_S1);
        }
        step(&c, now);
        if (cw_receiver_read(&c.r, now, delivered, sizeof delivered, &n) == CW_R16) {
            CHECK(n == size && memcmp(delivered, pattern + read, n) == 0); /* SAFE-1 */
            read++;
        }
        if (c.s.state != CW_IDLE) {
            now = earlier(arrives(&c.net), earlier(cw_sender_deadline(&c.s), cw_receiver_deadline(&c.r)));
        }
    }
    CHECK(c.done == chunks && read == chunks);
    cw_receiver_end(&c.r);
    printf("%u chunks of %lu bytes, %u%% lost: %.3f s\n", (unsigned)chunks, (unsigned long)size, (unsigned)loss,
           (double)now / 1e6);
}

int main(void)
{
    for (size_t i = 0; i < sizeof pattern; i++) {
        pattern[i] = (uint8_t)(i * 7 + i / 1024 * 31);
    }
    test_bits();
    test_examples();
    test_sizes();
    test_encoder();
    test_refusals();
    test_frame_refusals();
    test_receiver();
    test_wrong_pin();
    test_no_memory();
    test_ack_timing();
    test_sender();
    test_hold();
    test_probes_of_a_hold();
    test_bound();
    test_budget();
    test_limits();
    transfer(cw_profile_burst(), 0, 3, 200000);
    transfer(cw_profile_burst(), 5, 3, 200000);
    transfer(cw_profile_burst(), 50, 2, 50000);
    transfer(cw_profile_fixed(125000), 20, 2, 100000);
    transfer(cw_profile_article(64000), 10, 2, 30000);
    test_random();
    return test_result();
}
