/*
 * Sessions: the handshake of a connection, its keys, and the envelope that protects its
 * datagrams. They need libcrypto of OpenSSL 3, and are a library beside the others.
 *
 * Comments such as CXK-1 name sentences of spec/CONNECTION.md.
 *
 * Units       As in chunkwire_packet.h. TIMEOUT is in units of 100 ms, as on the wire.
 * Errors      A datagram that is refused gives its code and its place in bytes, -1: in no
 *             byte. CWS_BROKEN is no code of the protocol: libcrypto or the source of random
 *             bytes has failed, mostly for want of memory; nothing was sent.
 * Memory      A client takes none. A server takes one block for each entry, after the client
 *             has proven its address, and lists of them: at most 5 * max_connections entries.
 *             libcrypto takes what it needs for one operation, and gives it back.
 * Secrets     Are compared in constant time, and overwritten when they are not needed (CXK-13).
 * Threads     No state but in the structs given.
 */
#ifndef CHUNKWIRE_SESSION_H
#define CHUNKWIRE_SESSION_H

#include "chunkwire_packet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CWS_VERSION = 2,
    CWS_NONCE = 16,
    CWS_VERSIONS = 8,
    CWS_RESERVED = 38,
    CWS_PROOF = 16,  /* a proof, a cookie, a digest, a move */
    CWS_KEY = 32,    /* a key, a share, a hash */
    CWS_FORMAT = 8,
    CWS_IDENTITY = 8,
    CWS_ADDRESS = 18,
    CWS_HEAD = 9,      /* kind, link and counter of a datagram of data (CXE-1) */
    CWS_MAX_TAG = 16,
    CWS_MAX_BODY = 1200,
    CWS_MAX_DATAGRAM = CWS_HEAD + CWS_MAX_BODY + CWS_MAX_TAG,
    CWS_MOST_OPENED = CWS_MAX_DATAGRAM - CWS_HEAD - 4, /* bytes of a body that arrives, with the shortest tag */
    CWS_MAX_MESSAGE = 153, /* of the handshake */
    CWS_MOST_LANES = 16,
    CWS_LEAST_TIMEOUT = 10, /* in units of 100 ms */
    CWS_MOST_TIMEOUT = 36000,
    CWS_REPLAY = 2048, /* counters that are distinguished (CXE-7) */
    CWS_KEPT_CHALLENGES = 32
};

#define CWS_MOST_COUNTER (((int64_t)1 << 62) - 1)
#define CWS_MOST_STAMP (((int64_t)1 << 62) - 1)
#define CWS_TIMEOUT_UNIT ((cwp_time)100000)
#define CWS_LINK_INTERVAL ((cwp_time)250000)

typedef enum {
    CWS_OK = 0,
    CWS_TRUNCATED,
    CWS_TRAILING_DATA,
    CWS_UNKNOWN_KIND,
    CWS_BAD_VERSION,
    CWS_BAD_MODE,
    CWS_BAD_LANES,
    CWS_BAD_TIMEOUT,
    CWS_BAD_STAMP,
    CWS_BAD_LINK,
    CWS_BAD_VARIANT,
    CWS_BAD_REASON,
    CWS_UNKNOWN_LINK, /* from here on of a datagram of data (CXE-8) */
    CWS_OTHER_ADDRESS,
    CWS_STALE,
    CWS_DUPLICATE,
    CWS_BAD_TAG,
    CWS_BROKEN,
    CWS_ERRORS
} cws_error;

/* The code's name as the document writes it, such as "truncated"; "ok" for CWS_OK. */
const char *cws_error_name(cws_error e);

/* ---- Parameters (section 2.3) ----------------------------------------------- */

/* The kinds of datagrams of data; crc is no protection. */
enum { CWS_CRC = 0x40, CWS_MAC = 0x41, CWS_AEAD = 0x42 };

/* Variants: slices as in PROTOCOL.md, and as in REPAIR.md. */
enum { CWS_NAMED = 1, CWS_REPAIR = 2 };

/* Extensions. */
enum { CWS_MARKS = 1, CWS_CLOCKS = 2 };

/* What an end offers (CXP-1). */
typedef struct {
    uint32_t protocol;   /* equal at both ends */
    uint32_t mode;       /* equal at both ends */
    uint32_t lanes;      /* 0 to CWS_MOST_LANES; 0: no chunks */
    uint32_t variants;   /* a set of 8 bits, not empty with lanes */
    uint32_t extensions; /* a set of 16 bits */
    uint32_t timeout;
    uint8_t format[CWS_FORMAT]; /* FORMAT (CXP-4), equal at both ends */
} cws_terms;

bool cws_terms_allowed(const cws_terms *t);

/* What a connection has (CXP-3). */
typedef struct {
    uint32_t lanes;
    uint32_t variant; /* CWS_NAMED or CWS_REPAIR; 0 without lanes */
    uint32_t extensions;
    uint32_t timeout;
} cws_agreed;

/* An address of 18 bytes: of an IP address of 4 or 16 bytes in network order, or of any other
 * text (CXN-7). */
void cws_address_ip(const uint8_t *ip, size_t size, uint16_t port, uint8_t out[CWS_ADDRESS]);
bool cws_address_text(const char *text, size_t length, uint8_t out[CWS_ADDRESS]);

/* Fills out with bytes of a cryptographically secure generator (CXN-5). False: it has none. */
typedef struct {
    bool (*fill)(void *owner, uint8_t *out, size_t size);
    void *owner;
} cws_random;

/* ---- Messages of the handshake (section 3) ---------------------------------- */

typedef struct {
    uint8_t nonce[CWS_NONCE];
    uint32_t protocol, mode, lanes, variants, extensions, timeout;
    uint8_t format[CWS_FORMAT];
    uint8_t identity[CWS_IDENTITY];
    uint32_t resume; /* a link; 0: a new connection */
    uint8_t digest[CWS_PROOF];
    uint8_t share[CWS_KEY];
} cws_offer;

typedef struct {
    uint8_t nonce[CWS_NONCE];
    uint8_t versions[CWS_VERSIONS];
    uint8_t reserved[CWS_RESERVED];
} cws_link;

typedef struct {
    uint8_t nonce[CWS_NONCE];
    uint64_t stamp;
    uint8_t cookie[CWS_PROOF];
    uint32_t version;
    uint8_t versions[CWS_VERSIONS];
} cws_challenge;

typedef struct {
    cws_offer offer;
    uint64_t stamp;
    uint8_t cookie[CWS_PROOF];
    uint8_t move[CWS_PROOF];
    uint8_t proof[CWS_PROOF];
} cws_proof;

typedef struct {
    uint8_t nonce[CWS_NONCE];
    uint32_t link;
    uint8_t share[CWS_KEY];
    cws_agreed agreed;
    uint8_t proof[CWS_PROOF];
} cws_linked;

/* CXH-8 */
enum {
    CWS_FULL = 1,
    CWS_IDENTITY_REFUSED,
    CWS_NO_VERSION,
    CWS_OTHER_PROTOCOL,
    CWS_OTHER_MODE,
    CWS_OTHER_FORMAT,
    CWS_NO_VARIANT,
    CWS_CLOSED,
    CWS_REPLACED
};

typedef struct {
    uint8_t nonce[CWS_NONCE];
    uint32_t version, reason;
    uint8_t proof[CWS_PROOF];
} cws_refused;

/* body and tag lie in the datagram; counter has its low 32 bits. */
typedef struct {
    uint32_t mode, link, counter;
    const uint8_t *body;
    size_t size;
    const uint8_t *tag;
    size_t tag_size;
} cws_data;

/* The kinds on the wire, and data in an envelope. */
typedef enum {
    CWS_T_DATA = 0,
    CWS_T_LINK = 0x48,
    CWS_T_CHALLENGE,
    CWS_T_PROOF,
    CWS_T_LINKED,
    CWS_T_REFUSED
} cws_type;

typedef struct {
    cws_type type;
    union {
        cws_link link;
        cws_challenge challenge;
        cws_proof proof;
        cws_linked linked;
        cws_refused refused;
        cws_data data;
    } as;
} cws_message;

/* On an error *m holds nothing of use, and *place (may be NULL) is the byte at fault (CXH-9). */
cws_error cws_decode(const uint8_t *in, size_t length, cws_message *m, int *place);

/* Refuses what a decoder would refuse (CXH-11), and data with CWS_UNKNOWN_KIND. */
cws_error cws_encode(const cws_message *m, uint8_t out[CWS_MAX_MESSAGE], size_t *size, int *place);

/* ---- Envelope (section 3.1) -------------------------------------------------- */

/* Read the fields up to the blank line as you like; write none. */
typedef struct {
    uint32_t mode, link;
    int64_t counter; /* datagrams that were sealed (CXE-5) */
    int64_t highest; /* of the peer's counters that were opened; -1: none */
    uint64_t forged; /* datagrams with another tag (CXE-11) */

    uint8_t send_key[CWS_KEY], receive_key[CWS_KEY];
    uint32_t opened[CWS_REPLAY / 32]; /* of highest - CWS_REPLAY + 1 to highest */
} cws_envelope;

void cws_envelope_init(cws_envelope *e, uint32_t mode, uint32_t link, const uint8_t send_key[CWS_KEY],
                       const uint8_t receive_key[CWS_KEY]);

/* A datagram with the next counter, of size + 13, 17 or 25 bytes; body has 1 to CWS_MAX_BODY. 0:
 * no counter is left, or CWS_BROKEN; then the counter is used up. */
size_t cws_seal(cws_envelope *e, const uint8_t *body, size_t size, uint8_t out[CWS_MAX_DATAGRAM]);

typedef struct {
    int64_t counter;
    size_t size;
    uint8_t body[CWS_MOST_OPENED];
} cws_opened;

/* The checks of CXE-8 except CXE-22; if one fails nothing has changed but the count of forgeries. */
cws_error cws_open(cws_envelope *e, const uint8_t *datagram, size_t length, cws_opened *o, int *place);

/* Counts a counter as opened: the highest so far, or one of CWS_REPLAY below it. */
void cws_envelope_take(cws_envelope *e, int64_t counter);

/* Whether the keys have sealed or refused as much as they may (CXE-10, CXE-11). */
bool cws_envelope_worn(const cws_envelope *e);

/* The keys of the directions, and the key for proofs that resume (CXK-2, CXK-3). */
typedef struct {
    uint8_t c2s[CWS_KEY], s2c[CWS_KEY], resume[CWS_KEY];
} cws_keys;

/* What follows from a hello and the key of its identity (CXK-1). */
typedef struct {
    uint32_t mode;
    uint8_t hello[CWS_KEY], given[CWS_KEY], first[CWS_KEY];
    uint8_t proof_key[CWS_KEY], refused_key[CWS_KEY], next[CWS_KEY];
    bool has_known; /* there is a server key (CXK-14) */
    uint8_t fixed[CWS_KEY], known[CWS_KEY]; /* fixed is `static` there */
} cws_greeting;

/* ---- Client (section 5) ------------------------------------------------------ */

typedef struct {
    cws_terms terms;
    cws_random random;
    uint8_t identity[CWS_IDENTITY]; /* zeros: anonymous */
    uint8_t key[CWS_KEY];           /* of the identity; zeros without one */
    bool knows_server;
    uint8_t server[CWS_KEY]; /* its public key, if the client knows it */
} cws_client_config;

typedef enum { CWS_LINKING, CWS_OPEN, CWS_RELINKING, CWS_CLIENT_CLOSED } cws_client_state;

/* Why a client is closed (CXC-12). */
typedef enum { CWS_E_NONE, CWS_E_TIMEOUT, CWS_E_REFUSED, CWS_E_CLOSED, CWS_E_BROKEN } cws_why;

typedef struct {
    cws_why why;
    uint32_t reason; /* of CWS_E_REFUSED, a reason of CXH-8 or one that is not known */
    bool proven;     /* it is certain that the server refused */
} cws_end;

/* A challenge that was taken. */
typedef struct {
    uint8_t bytes[50];
    cwp_time taken_at;
    bool proved;
    uint8_t whole[CWS_KEY]; /* the transcript, once it was proved */
} cws_kept;

/* Read the fields up to the blank line as you like; write none (CXC-1). */
typedef struct {
    cws_client_state state;
    cws_end ended;
    bool begun; /* from BEGIN on there are the three below */
    cws_agreed agreed;
    cws_keys keys;
    cws_envelope envelope;

    cws_client_config config;
    cws_offer offer;
    uint8_t secret[CWS_KEY]; /* the private share */
    uint8_t share[CWS_KEY];  /* of the server */
    cws_greeting greeting;
    cws_kept challenges[CWS_KEPT_CHALLENGES];
    uint32_t num_challenges;
    cwp_time latest; /* CXN-3 */
    cwp_time first_at, began_at, link_at, heard_at;
    cwp_time proof_at; /* CWP_NEVER: none */
    cwp_time hint_at;
    uint32_t hint; /* 0: none */
    bool spoke;
} cws_client;

/* The number of a row of section 5.2 or 6.3, such as 4 for I4; 0: none. */
typedef int cws_row;

/* False: a parameter is not allowed (CXP-2), or CWS_BROKEN; then c must not be used. */
bool cws_client_init(cws_client *c, cwp_time now, const cws_client_config *config);

/* Takes one row, and gives at most one datagram: *size is 0 if none. Poll again until none is
 * given, and once more after I16 (CXC-14). */
cws_row cws_client_poll(cws_client *c, cwp_time now, uint8_t out[CWS_MAX_MESSAGE], size_t *size);

/* A message of the handshake has arrived. *row is 0 if a client does not take it. */
cws_error cws_client_receive(cws_client *c, cwp_time now, const uint8_t *datagram, size_t length, cws_row *row,
                             int *place);

/* A datagram of the connection with news was opened (CXL-15); only after BEGIN. */
cws_row cws_client_data(cws_client *c, cwp_time now);

/* A datagram of the connection was sent. */
void cws_client_sent(cws_client *c, cwp_time now);

/* The address of this end is another one, or may be. */
cws_row cws_client_move(cws_client *c, cwp_time now);

/* The connection was closed. */
cws_row cws_client_close(cws_client *c, cwp_time now);

/* CXC-13 */
cwp_time cws_client_deadline(const cws_client *c);

/* Overwrites all secrets; the client must not be used any more. */
void cws_client_end(cws_client *c);

/* ---- Server (section 6) ------------------------------------------------------ */

typedef struct {
    cws_terms terms;
    cws_random random;
    /* The key of an identity, which is not 0. False: it is unknown. NULL: all are. */
    bool (*key)(void *owner, const uint8_t identity[CWS_IDENTITY], uint8_t key[CWS_KEY]);
    void *owner;
    bool anonymous; /* clients without an identity are accepted */
    bool has_secret;
    uint8_t secret[CWS_KEY];  /* the private server key, if there is one */
    uint32_t max_connections; /* 1 to 2^24 */
    uint32_t max_per_address; /* 1 to max_connections */
    cwp_memory memory;
} cws_server_config;

typedef enum { CWS_UNCONFIRMED, CWS_CONFIRMED, CWS_ENDED } cws_entry_state;

/* A connection as its server has it (CXS-4). Set `above` as you like; read the other fields up
 * to the blank line. */
typedef struct {
    void *above; /* NULL when the entry is made; it stays when it is made anew */
    cws_entry_state state;
    uint32_t link;
    cws_agreed agreed;
    cws_keys keys;
    cws_envelope envelope;
    uint8_t identity[CWS_IDENTITY];
    uint8_t address[CWS_ADDRESS];

    uint8_t share[CWS_KEY], answer_key[CWS_KEY];
    uint8_t prefix[16];      /* CXN-8, and zeros */
    uint8_t first[CWS_KEY];  /* the hello that made it, and its address */
    uint8_t made_at[CWS_ADDRESS];
    uint8_t hello[CWS_KEY]; /* of the last PROOF that was taken */
    int64_t newest;
    cwp_time placed_at, ended_at;
    uint32_t reason;
} cws_entry;

/* Read the fields up to the blank line as you like; write none. */
typedef struct {
    cws_entry **entries; /* in no order */
    uint32_t count;
    uint32_t living;

    cws_server_config config;
    uint32_t *links; /* of the entries, apart for a short search */
    uint32_t capacity;
    cwp_time latest;
    int64_t stamp;
    uint8_t public_key[CWS_KEY];
    uint8_t cookies[CWS_KEY], decoys[CWS_KEY]; /* the secret of cookies, and of keys that no client has */
} cws_server;

/* Why a PROOF was counted before the table. */
typedef enum { CWS_C_NONE, CWS_C_COOKIE, CWS_C_STALE_COOKIE, CWS_C_SHARE } cws_counted;

/* What became of a message. */
typedef struct {
    cws_error error; /* and place: section 3.3 refuses it; CWS_BROKEN: nothing happened */
    int place;
    cws_row row; /* 0: it did not come to the table */
    cws_counted counted;
    uint8_t answer[CWS_MAX_MESSAGE]; /* to where the message came from */
    size_t size;                     /* 0: no answer */
    cws_entry *entry;                /* whose LINKED is the answer; or NULL */
    bool made;                       /* it is a new connection; the one of `above`, if any, has ended */
    bool moved;                      /* its address is another one (CXL-10) */
} cws_taken;

/* False: a parameter is not allowed (CXP-2), or CWS_BROKEN; then s must not be used. */
bool cws_server_init(cws_server *s, const cws_server_config *config);

/* A message of the handshake has arrived. */
void cws_server_receive(cws_server *s, cwp_time now, const uint8_t address[CWS_ADDRESS], const uint8_t *datagram,
                        size_t length, cws_taken *t);

/* The entry with a link, or NULL. It is valid until a poll forgets it. */
cws_entry *cws_server_find(const cws_server *s, uint32_t link);

/* A datagram of the connection was opened. */
cws_row cws_server_data(cws_server *s, cwp_time now, cws_entry *e);

/* The connection has ended: the reason is CWS_CLOSED or CWS_REPLACED (CXS-12). */
cws_row cws_server_end(cws_server *s, cwp_time now, cws_entry *e, uint32_t reason);

/* Forgets one entry, 10 or 27, and gives its `above`; 0: there is no other to forget. */
cws_row cws_server_poll(cws_server *s, cwp_time now, void **above);

/* CXS-17 */
cwp_time cws_server_deadline(const cws_server *s);

/* Overwrites all secrets and gives all blocks back; nothing is done with what is above. */
void cws_server_free(cws_server *s);

#ifdef __cplusplus
}
#endif

#endif
