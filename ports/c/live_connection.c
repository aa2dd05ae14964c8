/* A driver around cwn_client and cwn_server, over UDP. See live_connection.h. */
#define _POSIX_C_SOURCE 200112L

#include "live_connection.h"

#include "chunkwire_connection.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND ((cwp_time)1000000)

enum { MESSAGE = 1024, TIMEOUT = 300 };

static uint8_t chunk[CW_MAX_CHUNK + 1];

static cwp_time now_us(void) /* CXN-2 */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cwp_time)t.tv_sec * SECOND + t.tv_nsec / 1000;
}

static bool fill(void *owner, uint8_t *out, size_t size)
{
    (void)owner;
    return RAND_bytes(out, (int)size) == 1;
}

static void *take(void *owner, size_t size)
{
    (void)owner;
    return malloc(size);
}

static void give(void *owner, void *block, size_t size)
{
    (void)owner;
    (void)size;
    free(block);
}

/* What both ends agree on (testvectors/LIVE.md). */
static cwn_end_config end_config(const cwn_channel *ordered, uint32_t protocol)
{
    cws_random random = {fill, NULL};
    cwp_memory memory = {take, give, NULL};
    cwn_end_config f = cwn_default_end_config(random, memory);
    f.protocol = protocol;
    f.timeout = TIMEOUT;
    f.channels[0] = ordered;
    return f;
}

static cwn_channel ordered_channel(void)
{
    cwn_channel c = {cwc_default_config(CWC_ORDERED), false, 0};
    c.config.give_up = 0;
    return c;
}

/* A datagram that has arrived, or -1 if none has until the deadline. */
static ssize_t wait_datagram(int fd, cwp_time deadline, uint8_t *b, size_t capacity, struct sockaddr_in *from)
{
    fd_set set;
    struct timeval wait;
    socklen_t size = sizeof *from;
    cwp_time now = now_us();
    cwp_time left = deadline < now ? 0 : deadline - now < SECOND ? deadline - now : SECOND;
    wait.tv_sec = (time_t)(left / SECOND);
    wait.tv_usec = (suseconds_t)(left % SECOND);
    FD_ZERO(&set);
    FD_SET(fd, &set);
    if (select(fd + 1, &set, NULL, NULL, &wait) <= 0) {
        return -1;
    }
    return recvfrom(fd, b, capacity, 0, (struct sockaddr *)from, &size);
}

/* A datagram that the system refuses is as good as lost. */
static void send_datagram(int fd, const uint8_t *b, size_t n, const struct sockaddr_in *to)
{
    (void)sendto(fd, b, n, 0, (const struct sockaddr *)to, sizeof *to);
}

/* ---- Send ----------------------------------------------------------------------- */

static bool send_all(cwn_client *c, size_t size)
{
    bool ok = cwn_send_chunk(c->connection, now_us(), chunk, size) == NULL;
    for (size_t at = 0; at < size; at += MESSAGE) {
        size_t n = size - at < MESSAGE ? size - at : MESSAGE;
        ok = cwn_send(c->connection, now_us(), 0, chunk + at, n, CWP_NEVER) == NULL && ok;
    }
    return ok;
}

static void poll_client(int fd, cwn_client *c, const struct sockaddr_in *to)
{
    uint8_t out[CWS_MAX_DATAGRAM];
    bool ect;
    size_t n;
    while ((n = cwn_client_poll(c, now_us(), out, &ect)) > 0) {
        send_datagram(fd, out, n, to);
    }
}

/* Whether all is delivered, at the end of the connection. */
static bool converse(int fd, cwn_client *c, const struct sockaddr_in *to, size_t size)
{
    uint8_t in[2048];
    bool begun = false;
    bool delivered = false;
    for (;;) {
        struct sockaddr_in from;
        ssize_t n;
        if (!begun && c->connection != NULL) {
            begun = true;
            if (!send_all(c, size)) {
                return false;
            }
        }
        if (begun && !delivered && cwn_is_delivered(c->connection)) {
            delivered = true;
            (void)cwn_client_close(c, now_us(), CWN_DONE, NULL, 0);
        }
        poll_client(fd, c, to);
        if (cwn_client_is_over(c)) {
            return delivered;
        }
        n = wait_datagram(fd, cwn_client_deadline(c), in, sizeof in, &from);
        if (n >= 0) {
            (void)cwn_client_receive(c, now_us(), in, (size_t)n, CWN_NOT_ECT);
        }
    }
}

int send_over(int fd, const struct sockaddr_in *to, uint32_t protocol)
{
    cwn_channel ordered = ordered_channel();
    cwn_end_config f = end_config(&ordered, protocol);
    cws_client_config anonymous;
    cwn_client c;
    size_t size = fread(chunk, 1, sizeof chunk, stdin);
    bool ok;
    memset(&anonymous, 0, sizeof anonymous);
    if (!cwn_client_init(&c, now_us(), &f, anonymous)) {
        fprintf(stderr, "live: there can be no client\n");
        return 1;
    }
    ok = converse(fd, &c, to, size);
    if (!ok) {
        fprintf(stderr, "live: the connection ended before all was delivered\n");
    }
    cwn_client_free(&c);
    return ok ? 0 : 1;
}

/* ---- Receive -------------------------------------------------------------------- */

/* What arrived: the chunk, and the messages one after the other. */
typedef struct {
    uint8_t messages[CW_MAX_CHUNK + MESSAGE];
    size_t chunk_bytes, message_bytes;
    bool over;
} arrivals;

static void read_all(arrivals *a, cwn_connection *c)
{
    cwc_read what;
    size_t size;
    while (sizeof a->messages - a->message_bytes >= MESSAGE &&
           cwn_read(c, now_us(), 0, a->messages + a->message_bytes, MESSAGE, &what)) {
        a->message_bytes += what.size;
    }
    if (cwn_read_chunk(c, now_us(), chunk, sizeof chunk, &size)) {
        a->chunk_bytes = size;
    }
}

static void on_over(void *owner, cwn_peer *peer)
{
    arrivals *a = (arrivals *)owner;
    read_all(a, peer->connection);
    a->over = true;
}

static void address_of(const struct sockaddr_in *a, uint8_t out[CWS_ADDRESS])
{
    cws_address_ip((const uint8_t *)&a->sin_addr, 4, ntohs(a->sin_port), out);
}

static struct sockaddr_in socket_address(const uint8_t address[CWS_ADDRESS])
{
    struct sockaddr_in a;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)(address[16] | address[17] << 8));
    memcpy(&a.sin_addr, address + 12, 4);
    return a;
}

static void poll_server(int fd, cwn_server *s)
{
    uint8_t out[CWS_MAX_DATAGRAM];
    const cwn_peer *peer;
    bool ect;
    size_t n;
    while ((n = cwn_server_poll(s, now_us(), out, &ect, &peer)) > 0) {
        struct sockaddr_in to = socket_address(peer->entry->address);
        send_datagram(fd, out, n, &to);
    }
}

static void serve(int fd, cwn_server *s, arrivals *a)
{
    uint8_t in[2048];
    while (!a->over) {
        struct sockaddr_in from;
        ssize_t n = wait_datagram(fd, cwn_server_deadline(s), in, sizeof in, &from);
        if (n >= 0) {
            uint8_t address[CWS_ADDRESS];
            cwn_received r;
            address_of(&from, address);
            cwn_server_receive(s, now_us(), address, in, (size_t)n, CWN_NOT_ECT, &r);
            if (r.size > 0) {
                send_datagram(fd, r.answer, r.size, &from);
            }
            if (r.peer != NULL) {
                read_all(a, r.peer->connection);
            }
        }
        poll_server(fd, s);
    }
}

int receive_over(int fd, uint32_t protocol)
{
    static arrivals a;
    cwn_channel ordered = ordered_channel();
    cwn_end_config f = end_config(&ordered, protocol);
    cws_server_config open;
    cwn_server s;
    memset(&open, 0, sizeof open);
    open.anonymous = true;
    open.max_connections = open.max_per_address = 16;
    if (!cwn_server_init(&s, &f, open, on_over, &a)) {
        fprintf(stderr, "live: there can be no server\n");
        return 1;
    }
    serve(fd, &s, &a);
    cwn_server_free(&s);
    if (a.chunk_bytes == 0 || a.chunk_bytes != a.message_bytes || memcmp(chunk, a.messages, a.chunk_bytes) != 0) {
        fprintf(stderr, "live: the messages are not the chunk\n");
        return 1;
    }
    return fwrite(chunk, 1, a.chunk_bytes, stdout) == a.chunk_bytes && fflush(stdout) == 0 ? 0 : 1;
}
