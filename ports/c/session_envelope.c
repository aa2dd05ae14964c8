/* The envelope of a connection's datagrams (section 3.1). See chunkwire_session.h. */
#include "chunkwire.h"
#include "session_keys.h"

#include <openssl/evp.h>
#include <string.h>

#define HALF ((int64_t)1 << 31)
#define SPAN ((int64_t)1 << 32)
#define KEY_LIFE ((int64_t)1 << 40)
#define FAILED_MAC ((uint64_t)1 << 32)
#define FAILED_AEAD ((uint64_t)1 << 36)

enum { EPOCH = 8, AEAD_NONCE = 12, AEAD_TAG = 16, MAC_TAG = 8, CRC_TAG = 4 };

void cws_envelope_init(cws_envelope *e, uint32_t mode, uint32_t link, const uint8_t send_key[CWS_KEY],
                       const uint8_t receive_key[CWS_KEY])
{
    memset(e, 0, sizeof *e);
    e->mode = mode;
    e->link = link;
    e->highest = -1;
    memcpy(e->send_key, send_key, CWS_KEY);
    memcpy(e->receive_key, receive_key, CWS_KEY);
}

bool cws_envelope_worn(const cws_envelope *e)
{
    return e->counter >= KEY_LIFE || (e->mode == CWS_MAC && e->forged >= FAILED_MAC) ||
           (e->mode == CWS_AEAD && e->forged >= FAILED_AEAD);
}

/* ---- Tags ------------------------------------------------------------------- */

/* With crc and mac (CXE-2, CXE-3). */
static bool make_tag(uint32_t mode, const uint8_t key[CWS_KEY], int64_t counter, const uint8_t *datagram,
                     size_t size, uint8_t tag[CWS_KEY])
{
    uint8_t in[8 + CWS_MAX_DATAGRAM];
    uint32_t crc;
    cws_put_long((uint64_t)counter, in);
    memcpy(in + 8, datagram, size);
    if (mode == CWS_MAC) {
        return cws_hmac(key, in, 8 + size, tag);
    }
    crc = cw_crc32(cw_crc32(0, key, EPOCH), in, 8 + size);
    cws_put_long(crc, tag);
    return true;
}

/* CXE-4; sealed is size bytes and the tag. On opening it is read only. */
static bool aead(bool seals, const uint8_t key[CWS_KEY], int64_t counter, const uint8_t head[CWS_HEAD],
                 const uint8_t *from, size_t size, uint8_t *tag, uint8_t *to)
{
    uint8_t nonce[AEAD_NONCE] = {0};
    int n = 0;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool ok;
    cws_put_long((uint64_t)counter, nonce + AEAD_NONCE - 8);
    ok = c != NULL && EVP_CipherInit_ex(c, EVP_chacha20_poly1305(), NULL, key, nonce, seals) == 1 &&
         (seals || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, AEAD_TAG, tag) == 1) &&
         EVP_CipherUpdate(c, NULL, &n, head, CWS_HEAD) == 1 && EVP_CipherUpdate(c, to, &n, from, (int)size) == 1 &&
         EVP_CipherFinal_ex(c, to + n, &n) == 1 &&
         (!seals || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, AEAD_TAG, tag) == 1);
    EVP_CIPHER_CTX_free(c);
    return ok;
}

/* ---- Sealing ---------------------------------------------------------------- */

static void put_head(uint32_t mode, uint32_t link, int64_t counter, uint8_t out[CWS_HEAD])
{
    uint8_t low[8];
    out[0] = (uint8_t)mode;
    cws_put_long(link, low);
    memcpy(out + 1, low, 4);
    cws_put_long((uint64_t)counter, low);
    memcpy(out + 5, low, 4);
}

size_t cws_seal_datagram(uint32_t mode, const uint8_t key[CWS_KEY], uint32_t link, int64_t counter,
                         const uint8_t *body, size_t size, uint8_t out[CWS_MAX_DATAGRAM])
{
    uint8_t tag[CWS_KEY];
    size_t tag_size = mode == CWS_AEAD ? AEAD_TAG : mode == CWS_MAC ? MAC_TAG : CRC_TAG;
    put_head(mode, link, counter, out);
    if (mode == CWS_AEAD) {
        if (!aead(true, key, counter, out, body, size, tag, out + CWS_HEAD)) {
            return 0;
        }
    } else {
        memcpy(out + CWS_HEAD, body, size);
        if (!make_tag(mode, key, counter, out, CWS_HEAD + size, tag)) {
            return 0;
        }
    }
    memcpy(out + CWS_HEAD + size, tag, tag_size);
    return CWS_HEAD + size + tag_size;
}

size_t cws_seal(cws_envelope *e, const uint8_t *body, size_t size, uint8_t out[CWS_MAX_DATAGRAM])
{
    if (size == 0 || size > CWS_MAX_BODY || e->counter > CWS_MOST_COUNTER) {
        return 0;
    }
    return cws_seal_datagram(e->mode, e->send_key, e->link, e->counter++, body, size, out);
}

/* ---- Opening ---------------------------------------------------------------- */

static cws_error refuse(cws_error e, int at, int *place)
{
    if (place != NULL) {
        *place = at;
    }
    return e;
}

/* Counters lie in a ring, so that a place is cleared when the highest passes it. */
static bool was_opened(const cws_envelope *e, int64_t counter)
{
    uint32_t at = (uint32_t)(counter % CWS_REPLAY);
    return counter <= e->highest && (e->opened[at / 32] >> at % 32 & 1) != 0;
}

void cws_envelope_take(cws_envelope *e, int64_t counter)
{
    uint32_t at = (uint32_t)(counter % CWS_REPLAY);
    if (counter - e->highest > CWS_REPLAY) {
        memset(e->opened, 0, sizeof e->opened);
        e->highest = counter;
    }
    while (e->highest < counter) {
        uint32_t passed = (uint32_t)(++e->highest % CWS_REPLAY);
        e->opened[passed / 32] &= ~((uint32_t)1 << passed % 32);
    }
    e->opened[at / 32] |= (uint32_t)1 << at % 32;
}

/* CXE-6 */
static int64_t counter_of(const cws_envelope *e, uint32_t on_wire)
{
    int64_t next = e->highest + 1;
    uint32_t ahead = on_wire - (uint32_t)((uint64_t)next & UINT32_MAX);
    return ahead < (uint32_t)HALF ? next + ahead : next + ahead - SPAN;
}

static bool is_tagged(const cws_envelope *e, const uint8_t *datagram, const cws_data *d, int64_t counter,
                      uint8_t body[CWS_MOST_OPENED])
{
    uint8_t tag[CWS_KEY];
    if (d->mode == CWS_AEAD) {
        memcpy(tag, d->tag, d->tag_size);
        return aead(false, e->receive_key, counter, datagram, d->body, d->size, tag, body);
    }
    memcpy(body, d->body, d->size);
    return make_tag(d->mode, e->receive_key, counter, datagram, CWS_HEAD + d->size, tag) &&
           cws_same(tag, d->tag, d->tag_size);
}

cws_error cws_open(cws_envelope *e, const uint8_t *datagram, size_t length, cws_opened *o, int *place)
{
    cws_message m;
    const cws_data *d = &m.as.data;
    cws_error fault = cws_decode(datagram, length, &m, place);
    if (fault != CWS_OK) {
        return fault;
    }
    if (m.type != CWS_T_DATA) {
        return refuse(CWS_UNKNOWN_KIND, 0, place);
    }
    if (d->link != e->link) {
        return refuse(CWS_UNKNOWN_LINK, 1, place);
    }
    if (d->mode != e->mode) {
        return refuse(CWS_BAD_MODE, 0, place);
    }
    o->counter = counter_of(e, d->counter);
    if (o->counter < 0 || o->counter <= e->highest - CWS_REPLAY) {
        return refuse(CWS_STALE, 5, place);
    }
    if (was_opened(e, o->counter)) {
        return refuse(CWS_DUPLICATE, 5, place);
    }
    if (!is_tagged(e, datagram, d, o->counter, o->body)) {
        e->forged++;
        return refuse(CWS_BAD_TAG, (int)(length - d->tag_size), place);
    }
    cws_envelope_take(e, o->counter);
    o->size = d->size;
    return CWS_OK;
}
