/* What the ends offer and agree on (section 2.3), and addresses (section 2.2). See
 * chunkwire_session.h. */
#include "session_keys.h"

#include <string.h>

bool cws_terms_allowed(const cws_terms *t)
{
    return t->mode >= CWS_CRC && t->mode <= CWS_AEAD && t->lanes <= CWS_MOST_LANES && t->variants <= UINT8_MAX &&
           (t->lanes == 0 || t->variants != 0) && t->extensions <= UINT16_MAX && t->timeout >= CWS_LEAST_TIMEOUT &&
           t->timeout <= CWS_MOST_TIMEOUT;
}

static uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t highest_bit(uint32_t set)
{
    uint32_t bit = 0x80;
    while (bit > set) {
        bit >>= 1;
    }
    return bit;
}

bool cws_agree(const cws_terms *own, const cws_offer *offer, cws_agreed *agreed)
{
    uint32_t common = own->variants & offer->variants;
    agreed->lanes = lesser(own->lanes, offer->lanes);
    agreed->variant = agreed->lanes > 0 ? highest_bit(common) : 0;
    agreed->extensions = own->extensions & offer->extensions & ~(uint32_t)CWS_NO_EXTENSION;
    agreed->timeout = lesser(own->timeout, offer->timeout);
    return agreed->lanes == 0 || common != 0;
}

void cws_address_ip(const uint8_t *ip, size_t size, uint16_t port, uint8_t out[CWS_ADDRESS])
{
    memset(out, 0, CWS_ADDRESS);
    if (size == 4) {
        out[10] = out[11] = 0xFF;
    }
    memcpy(out + 16 - size, ip, size);
    out[16] = (uint8_t)(port & 0xFF);
    out[17] = (uint8_t)(port >> 8);
}

bool cws_address_text(const char *text, size_t length, uint8_t out[CWS_ADDRESS])
{
    uint8_t whole[CWS_KEY];
    bool ok = cws_sha256((const uint8_t *)text, length, whole);
    memcpy(out, whole, CWS_ADDRESS);
    return ok;
}
