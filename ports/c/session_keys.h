/* What the parts of sessions share: hashes, keys and proofs (section 4). Not installed. See
 * chunkwire_session.h. All answer whether libcrypto could do it. */
#ifndef SESSION_KEYS_H
#define SESSION_KEYS_H

#include "chunkwire_session.h"

/* Bits of EXTENSIONS that never have a meaning (CXH-15). */
enum { CWS_NO_EXTENSION = 0x3000 };

typedef struct {
    const uint8_t *bytes;
    size_t size;
} cws_part;

bool cws_sha256(const uint8_t *bytes, size_t size, uint8_t out[CWS_KEY]);
bool cws_hmac(const uint8_t key[CWS_KEY], const uint8_t *bytes, size_t size, uint8_t out[CWS_KEY]);

/* E and H of CXN-6; a context has at most 32 bytes, the parts 160 together. */
bool cws_expand(const uint8_t key[CWS_KEY], const char *label, const uint8_t *context, size_t size,
                uint8_t out[CWS_KEY]);
bool cws_digest(const char *label, const cws_part *parts, size_t count, uint8_t out[CWS_KEY]);

/* In constant time (CXK-9). */
bool cws_same(const uint8_t *a, const uint8_t *b, size_t size);
bool cws_zeros(const uint8_t *bytes, size_t size);

void cws_put_long(uint64_t value, uint8_t out[8]);
void cws_wipe(void *bytes, size_t size);

/* CXK-12; false also for a share that an end must not use. */
bool cws_public_share(const uint8_t secret[CWS_KEY], uint8_t out[CWS_KEY]);
bool cws_shared_secret(const uint8_t secret[CWS_KEY], const uint8_t share[CWS_KEY], uint8_t out[CWS_KEY]);
bool cws_new_share(uint32_t mode, const uint8_t secret[CWS_KEY], uint8_t out[CWS_KEY]);

/* A message that the caller has made valid: the bytes of it. */
size_t cws_bytes_of(const cws_message *m, uint8_t out[CWS_MAX_MESSAGE]);

/* What follows with both shares (CXK-1). */
typedef struct {
    uint8_t shared[CWS_KEY], second[CWS_KEY], answer_key[CWS_KEY];
} cws_meeting;

/* server is the public key of the server, or NULL. */
bool cws_greet(cws_greeting *g, const cws_offer *offer, const uint8_t key[CWS_KEY], const uint8_t *server);
bool cws_know(cws_greeting *g, const uint8_t secret[CWS_KEY], const uint8_t share[CWS_KEY]);
bool cws_meet(cws_meeting *m, const cws_greeting *g, const uint8_t secret[CWS_KEY], const uint8_t share[CWS_KEY]);

/* CXK-11, CXK-6 */
bool cws_seen(const cws_greeting *g, const cws_challenge *challenge, uint8_t seen[CWS_KEY]);
bool cws_prove(const cws_greeting *g, const uint8_t seen[CWS_KEY], const uint8_t move[CWS_PROOF],
               uint8_t proof[CWS_PROOF], uint8_t whole[CWS_KEY]);

/* CXK-2, CXK-3; the connection is a hash of hello and LINKED. */
bool cws_connection(const cws_greeting *g, const cws_linked *linked, uint8_t connection[CWS_KEY]);
bool cws_make_keys(const cws_meeting *m, const uint8_t connection[CWS_KEY], cws_keys *keys);
bool cws_move(const uint8_t resume_key[CWS_KEY], const uint8_t seen[CWS_KEY], uint8_t move[CWS_PROOF]);

/* The proof of a LINKED or REFUSED (CXK-7, CXK-8), and whether it has this proof. */
bool cws_answer(const uint8_t key[CWS_KEY], const uint8_t whole[CWS_KEY], const cws_message *m,
                uint8_t proof[CWS_PROOF]);

/* CXH-3, CXK-4 */
bool cws_link_digest(const cws_link *link, uint8_t digest[CWS_PROOF]);
bool cws_cookie(const uint8_t secret[CWS_KEY], uint64_t stamp, const uint8_t address[CWS_ADDRESS],
                const uint8_t digest[CWS_PROOF], uint8_t cookie[CWS_PROOF]);

/* CXH-14, CXH-15 */
void cws_link_of(const uint8_t nonce[CWS_NONCE], cws_link *link);
void cws_challenge_of(const uint8_t nonce[CWS_NONCE], cws_challenge *c);
uint32_t cws_choice(const uint8_t client[CWS_VERSIONS], const uint8_t server[CWS_VERSIONS]);

/* CXP-3; false: no variant is common. */
bool cws_agree(const cws_terms *own, const cws_offer *offer, cws_agreed *agreed);

/* A datagram of data with any key and counter (CXE-1 to CXE-4); 0: libcrypto failed. */
size_t cws_seal_datagram(uint32_t mode, const uint8_t key[CWS_KEY], uint32_t link, int64_t counter,
                         const uint8_t *body, size_t size, uint8_t out[CWS_MAX_DATAGRAM]);

#endif
