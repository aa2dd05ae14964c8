/* Keys, cookies and proofs (section 4), and what follows from a nonce (CXH-15). See session_keys.h. */
#include "session_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

enum {
    MOST_INPUT = 256, /* bytes of one hash */
    HELLO = 97,       /* kind and offer of a PROOF */
    AGREED_AT = 17,   /* bytes 17 to 58 of LINKED (CXK-2) */
    AGREED = 42,
    NEVER_A_VERSION = 10 /* modulo 16 (CXH-15) */
};

/* ---- Functions of CXN-6 ----------------------------------------------------- */

bool cws_same(const uint8_t *a, const uint8_t *b, size_t size) { return CRYPTO_memcmp(a, b, size) == 0; }

bool cws_zeros(const uint8_t *bytes, size_t size)
{
    uint8_t all = 0;
    for (size_t i = 0; i < size; i++) {
        all |= bytes[i];
    }
    return all == 0;
}

void cws_wipe(void *bytes, size_t size) { OPENSSL_cleanse(bytes, size); }

void cws_put_long(uint64_t value, uint8_t out[8])
{
    for (unsigned i = 0; i < 8; i++) {
        out[i] = (uint8_t)(value >> (8 * i) & 0xFF);
    }
}

bool cws_sha256(const uint8_t *bytes, size_t size, uint8_t out[CWS_KEY])
{
    return EVP_Digest(bytes, size, out, NULL, EVP_sha256(), NULL) == 1;
}

bool cws_hmac(const uint8_t key[CWS_KEY], const uint8_t *bytes, size_t size, uint8_t out[CWS_KEY])
{
    return HMAC(EVP_sha256(), key, CWS_KEY, bytes, size, out, NULL) != NULL;
}

/* The input of one hash. */
typedef struct {
    uint8_t bytes[MOST_INPUT];
    size_t size;
} input;

static void add(input *in, const void *bytes, size_t size)
{
    if (size > 0) {
        memcpy(in->bytes + in->size, bytes, size);
        in->size += size;
    }
}

static void add_byte(input *in, size_t byte) { in->bytes[in->size++] = (uint8_t)byte; }

bool cws_expand(const uint8_t key[CWS_KEY], const char *label, const uint8_t *context, size_t size,
                uint8_t out[CWS_KEY])
{
    input in;
    in.size = 0;
    add_byte(&in, strlen(label));
    add(&in, label, strlen(label));
    add(&in, context, size);
    add_byte(&in, 1);
    return cws_hmac(key, in.bytes, in.size, out);
}

/* E16 */
static bool expand16(const uint8_t key[CWS_KEY], const char *label, const uint8_t context[CWS_KEY],
                     uint8_t out[CWS_PROOF])
{
    uint8_t whole[CWS_KEY];
    bool ok = cws_expand(key, label, context, CWS_KEY, whole);
    memcpy(out, whole, CWS_PROOF);
    cws_wipe(whole, sizeof whole);
    return ok;
}

bool cws_digest(const char *label, const cws_part *parts, size_t count, uint8_t out[CWS_KEY])
{
    static const char ours[] = "chunkwire 2 ";
    input in;
    in.size = 0;
    add_byte(&in, strlen(ours) + strlen(label));
    add(&in, ours, strlen(ours));
    add(&in, label, strlen(label));
    for (size_t i = 0; i < count; i++) {
        add(&in, parts[i].bytes, parts[i].size);
    }
    return cws_sha256(in.bytes, in.size, out);
}

/* The hash of two byte strings, which is most of them. */
static bool digest2(const char *label, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                    uint8_t out[CWS_KEY])
{
    cws_part parts[2];
    parts[0].bytes = a;
    parts[0].size = a_size;
    parts[1].bytes = b;
    parts[1].size = b_size;
    return cws_digest(label, parts, 2, out);
}

/* ---- Shares (CXK-12) -------------------------------------------------------- */

bool cws_public_share(const uint8_t secret[CWS_KEY], uint8_t out[CWS_KEY])
{
    size_t size = CWS_KEY;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, CWS_KEY);
    bool ok = key != NULL && EVP_PKEY_get_raw_public_key(key, out, &size) == 1;
    EVP_PKEY_free(key);
    return ok;
}

static bool derive(EVP_PKEY *own, EVP_PKEY *peer, uint8_t out[CWS_KEY])
{
    size_t size = CWS_KEY;
    EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(own, NULL);
    bool ok = c != NULL && EVP_PKEY_derive_init(c) == 1 && EVP_PKEY_derive_set_peer(c, peer) == 1 &&
              EVP_PKEY_derive(c, out, &size) == 1 && size == CWS_KEY;
    EVP_PKEY_CTX_free(c);
    return ok;
}

bool cws_shared_secret(const uint8_t secret[CWS_KEY], const uint8_t share[CWS_KEY], uint8_t out[CWS_KEY])
{
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret, CWS_KEY);
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, share, CWS_KEY);
    bool ok = own != NULL && peer != NULL && derive(own, peer, out) && !cws_zeros(out, CWS_KEY);
    EVP_PKEY_free(own);
    EVP_PKEY_free(peer);
    return ok;
}

bool cws_new_share(uint32_t mode, const uint8_t secret[CWS_KEY], uint8_t out[CWS_KEY])
{
    if (mode != CWS_CRC) {
        return cws_public_share(secret, out);
    }
    memcpy(out, secret, CWS_KEY);
    return true;
}

/* ---- Schedule of keys (CXK-1 to CXK-3, CXK-14) -------------------------------- */

size_t cws_bytes_of(const cws_message *m, uint8_t out[CWS_MAX_MESSAGE])
{
    size_t size = 0;
    (void)cws_encode(m, out, &size, NULL);
    return size;
}

static bool hello_of(const cws_offer *offer, const uint8_t *server, uint8_t out[CWS_KEY])
{
    uint8_t bytes[CWS_MAX_MESSAGE];
    cws_message m;
    memset(&m, 0, sizeof m);
    m.type = CWS_T_PROOF;
    m.as.proof.offer = *offer;
    return cws_bytes_of(&m, bytes) > 0 && digest2("hello", bytes, HELLO, server, server == NULL ? 0 : CWS_KEY, out);
}

static bool given_of(const cws_offer *offer, const uint8_t key[CWS_KEY], uint8_t out[CWS_KEY])
{
    if (!cws_zeros(offer->identity, CWS_IDENTITY)) {
        return cws_expand(key, "chunkwire 2 key", NULL, 0, out);
    }
    memset(out, 0, CWS_KEY);
    return true;
}

bool cws_greet(cws_greeting *g, const cws_offer *offer, const uint8_t key[CWS_KEY], const uint8_t *server)
{
    memset(g, 0, sizeof *g);
    g->mode = offer->mode;
    return hello_of(offer, server, g->hello) && given_of(offer, key, g->given) &&
           cws_hmac(g->hello, g->given, CWS_KEY, g->first) && cws_expand(g->first, "proof", NULL, 0, g->proof_key) &&
           cws_expand(g->first, "refused", NULL, 0, g->refused_key) &&
           cws_expand(g->first, "next", NULL, 0, g->next);
}

bool cws_know(cws_greeting *g, const uint8_t secret[CWS_KEY], const uint8_t share[CWS_KEY])
{
    uint8_t mixed[CWS_KEY];
    g->has_known = cws_shared_secret(secret, share, g->fixed) && cws_hmac(g->next, g->fixed, CWS_KEY, mixed) &&
                   cws_expand(mixed, "known", NULL, 0, g->known);
    cws_wipe(mixed, sizeof mixed);
    return g->has_known;
}

bool cws_meet(cws_meeting *m, const cws_greeting *g, const uint8_t secret[CWS_KEY], const uint8_t share[CWS_KEY])
{
    memset(m, 0, sizeof *m);
    return (g->mode == CWS_CRC || cws_shared_secret(secret, share, m->shared)) &&
           cws_hmac(g->has_known ? g->known : g->next, m->shared, CWS_KEY, m->second) &&
           cws_expand(m->second, "answer", NULL, 0, m->answer_key);
}

bool cws_connection(const cws_greeting *g, const cws_linked *linked, uint8_t connection[CWS_KEY])
{
    uint8_t bytes[CWS_MAX_MESSAGE];
    cws_message m;
    m.type = CWS_T_LINKED;
    m.as.linked = *linked;
    return cws_bytes_of(&m, bytes) > 0 &&
           digest2("connection", g->hello, CWS_KEY, bytes + AGREED_AT, AGREED, connection);
}

bool cws_make_keys(const cws_meeting *m, const uint8_t connection[CWS_KEY], cws_keys *keys)
{
    return cws_expand(m->second, "c2s", connection, CWS_KEY, keys->c2s) &&
           cws_expand(m->second, "s2c", connection, CWS_KEY, keys->s2c) &&
           cws_expand(m->second, "resume", connection, CWS_KEY, keys->resume);
}

/* ---- Transcript and proofs (CXK-3, CXK-6 to CXK-8, CXK-11) ---------------------- */

bool cws_seen(const cws_greeting *g, const cws_challenge *challenge, uint8_t seen[CWS_KEY])
{
    uint8_t bytes[CWS_MAX_MESSAGE];
    cws_message m;
    size_t size;
    m.type = CWS_T_CHALLENGE;
    m.as.challenge = *challenge;
    size = cws_bytes_of(&m, bytes);
    return size > 0 && digest2("challenge", g->hello, CWS_KEY, bytes, size, seen);
}

bool cws_prove(const cws_greeting *g, const uint8_t seen[CWS_KEY], const uint8_t move[CWS_PROOF],
               uint8_t proof[CWS_PROOF], uint8_t whole[CWS_KEY])
{
    uint8_t moved[CWS_KEY];
    return digest2("move", seen, CWS_KEY, move, CWS_PROOF, moved) && expand16(g->proof_key, "proof", moved, proof) &&
           digest2("proof", moved, CWS_KEY, proof, CWS_PROOF, whole);
}

bool cws_move(const uint8_t resume_key[CWS_KEY], const uint8_t seen[CWS_KEY], uint8_t move[CWS_PROOF])
{
    return expand16(resume_key, "move", seen, move);
}

bool cws_answer(const uint8_t key[CWS_KEY], const uint8_t whole[CWS_KEY], const cws_message *m,
                uint8_t proof[CWS_PROOF])
{
    uint8_t bytes[CWS_MAX_MESSAGE];
    uint8_t context[CWS_KEY];
    size_t size = cws_bytes_of(m, bytes);
    return size > 0 && digest2("answer", whole, CWS_KEY, bytes, size - CWS_PROOF, context) &&
           expand16(key, "answer", context, proof);
}

bool cws_link_digest(const cws_link *link, uint8_t digest[CWS_PROOF])
{
    uint8_t bytes[CWS_MAX_MESSAGE];
    uint8_t whole[CWS_KEY];
    cws_message m;
    cws_part part;
    bool ok;
    m.type = CWS_T_LINK;
    m.as.link = *link;
    part.bytes = bytes;
    part.size = cws_bytes_of(&m, bytes);
    ok = cws_digest("link", &part, 1, whole);
    memcpy(digest, whole, CWS_PROOF);
    return ok;
}

bool cws_cookie(const uint8_t secret[CWS_KEY], uint64_t stamp, const uint8_t address[CWS_ADDRESS],
                const uint8_t digest[CWS_PROOF], uint8_t cookie[CWS_PROOF])
{
    uint8_t bytes[8];
    uint8_t whole[CWS_KEY];
    input in;
    bool ok;
    in.size = 0;
    cws_put_long(stamp, bytes);
    add(&in, bytes, sizeof bytes);
    add(&in, address, CWS_ADDRESS);
    add(&in, digest, CWS_PROOF);
    add_byte(&in, CWS_VERSION);
    ok = cws_hmac(secret, in.bytes, in.size, whole);
    memcpy(cookie, whole, CWS_PROOF);
    return ok;
}

/* ---- Versions (CXH-14, CXH-15) ------------------------------------------------ */

/* The list of this version and of one that never exists, in the order that two bytes of the nonce give. */
static void versions_of(uint8_t value, uint8_t order, uint8_t out[CWS_VERSIONS])
{
    unsigned swapped = order % 2;
    memset(out, 0, CWS_VERSIONS);
    out[swapped] = CWS_VERSION;
    out[1 - swapped] = (uint8_t)((value & 0xF0) | NEVER_A_VERSION);
}

void cws_link_of(const uint8_t nonce[CWS_NONCE], cws_link *link)
{
    memset(link, 0, sizeof *link);
    memcpy(link->nonce, nonce, CWS_NONCE);
    versions_of(nonce[0], nonce[1], link->versions);
    for (size_t i = 0; nonce[2] < 16 && i < CWS_RESERVED; i++) {
        link->reserved[i] = nonce[i % CWS_NONCE];
    }
}

void cws_challenge_of(const uint8_t nonce[CWS_NONCE], cws_challenge *c)
{
    memset(c, 0, sizeof *c);
    memcpy(c->nonce, nonce, CWS_NONCE);
    c->version = CWS_VERSION;
    versions_of(nonce[15], nonce[14], c->versions);
}

uint32_t cws_choice(const uint8_t client[CWS_VERSIONS], const uint8_t server[CWS_VERSIONS])
{
    for (size_t i = 0; i < CWS_VERSIONS; i++) {
        bool can = client[i] != 0 && client[i] % 16 != NEVER_A_VERSION;
        if (can && memchr(server, client[i], CWS_VERSIONS) != NULL) {
            return client[i];
        }
    }
    return 0;
}
