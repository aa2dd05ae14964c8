/*
 * One chunk over UDP, as `chunkwire live --help` asks for: a driver around the machines.
 * POSIX. The environment says what to do: CHUNKWIRE_MODE (send or recv),
 * CHUNKWIRE_ADDRESS (an IPv4 address and a port), CHUNKWIRE_PROTOCOL_ID (decimal), and
 * CHUNKWIRE_VARIANT (repair: with repair slices; connection: over a connection, where the
 * connection is built; otherwise plain slices).
 */
#define _POSIX_C_SOURCE 200112L

#include "chunkwire.h"
#include "chunkwire_recovery.h"
#ifdef CHUNKWIRE_CONNECTION
#include "live_connection.h"
#endif

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND ((cw_time)1000000)

typedef struct {
    int fd;
    uint32_t protocol_id;
    struct sockaddr_in peer;
} link_end;

static uint8_t chunk[CW_MAX_CHUNK + 1];
static uint8_t memory[CWR_MEMORY]; /* more than CW_MAX_CHUNK */

/* TIM-2 */
static cw_time now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cw_time)t.tv_sec * SECOND + t.tv_nsec / 1000;
}

/* A datagram that the system refuses is as good as lost. */
static void send_datagram(const link_end *l, const uint8_t *b, size_t n)
{
    (void)sendto(l->fd, b, n, 0, (const struct sockaddr *)&l->peer, sizeof l->peer);
}

static void send_packet(const link_end *l, const cw_packet *p)
{
    uint8_t b[CW_MAX_DATAGRAM];
    size_t n;
    if (cw_encode_packet(l->protocol_id, p, b, sizeof b, &n) == CW_OK) {
        send_datagram(l, b, n);
    }
}

/* Waits for a datagram until the deadline, and puts it into b; *now is the time then. -1: none. */
static ssize_t wait_datagram(link_end *l, cw_time deadline, uint8_t *b, size_t capacity, cw_time *now)
{
    fd_set set;
    struct timeval wait;
    socklen_t size = sizeof l->peer;
    ssize_t n = -1;
    cw_time left = deadline - now_us();
    left = left < 0 ? 0 : left < SECOND ? left : SECOND;
    wait.tv_sec = (time_t)(left / SECOND);
    wait.tv_usec = (suseconds_t)(left % SECOND);
    FD_ZERO(&set);
    FD_SET(l->fd, &set);
    if (select(l->fd + 1, &set, NULL, NULL, &wait) > 0) {
        n = recvfrom(l->fd, b, capacity, 0, (struct sockaddr *)&l->peer, &size);
    }
    *now = now_us();
    return n;
}

/* True: a packet that the decoder accepts (CON-4), whose data lies in b. */
static bool wait_packet(link_end *l, cw_time deadline, uint8_t *b, size_t capacity, cw_packet *p, cw_time *now)
{
    ssize_t n = wait_datagram(l, deadline, b, capacity, now);
    return n >= 0 && cw_decode_packet(l->protocol_id, b, (size_t)n, p, NULL) == CW_OK;
}

static cw_sender_row send_due(const link_end *l, cw_sender *s, cw_time now)
{
    cw_packet p;
    cw_sender_row row;
    p.type = CW_SLICE;
    while ((row = cw_sender_poll(s, now, &p.as.slice)) == CW_S13) {
        send_packet(l, &p);
    }
    return row;
}

static int run_send(link_end *l)
{
    static cw_recovery recovery;
    uint8_t b[2048];
    cw_sender s;
    cw_packet p;
    cw_time now = now_us();
    size_t size = fread(chunk, 1, sizeof chunk, stdin);
    (void)cw_recovery_init(&recovery, cwr_profile_adaptive());
    (void)cw_sender_init(&s, 0, CW_DEFAULT_GIVE_UP, &recovery.scheduler);
    if (cw_sender_submit(&s, now, chunk, size) != CW_S1) {
        fprintf(stderr, "live: a chunk has 1 to %d bytes\n", CW_MAX_CHUNK);
        return 1;
    }
    while (s.state == CW_SENDING) {
        if (send_due(l, &s, now) == CW_S15) {
            fprintf(stderr, "live: no answer, gave up\n");
            return 1;
        }
        /* SND-4: the ack before the deadline's poll */
        if (wait_packet(l, cw_sender_deadline(&s), b, sizeof b, &p, &now) && p.type == CW_ACK) {
            (void)cw_sender_ack(&s, now, &p.as.ack);
        }
    }
    return 0;
}

static cw_receiver_row ack_due(const link_end *l, cw_receiver *r, cw_time now)
{
    cw_packet p;
    cw_receiver_row row;
    p.type = CW_ACK;
    while ((row = cw_receiver_poll(r, now, &p.as.ack)) == CW_R19 || row == CW_R21 || row == CW_R24) {
        send_packet(l, &p);
    }
    return row;
}

/* Receives chunk 0 and answers on until nothing has come for a second. */
static int run_recv(link_end *l)
{
    uint8_t b[2048];
    cw_receiver r;
    cw_packet p;
    size_t size = 0;
    cw_time now = now_us();
    cw_time quiet_since = now;
    (void)cw_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cw_fixed_memory(memory));
    while (size == 0 || now - quiet_since < 3 * SECOND) {
        if (wait_packet(l, cw_receiver_deadline(&r), b, sizeof b, &p, &now) && p.type == CW_SLICE) {
            quiet_since = now;
            (void)cw_receiver_slice(&r, now, &p.as.slice);
        }
        if (ack_due(l, &r, now) == CW_R23) {
            fprintf(stderr, "live: no further slices, gave up\n");
            return 1;
        }
        if (size == 0) {
            (void)cw_receiver_read(&r, now, chunk, sizeof chunk, &size);
        }
    }
    return fwrite(chunk, 1, size, stdout) == size && fflush(stdout) == 0 ? 0 : 1;
}

/* ---- With repair slices ----------------------------------------------------- */

static void send_repair_packet(const link_end *l, const cwr_packet *p)
{
    uint8_t b[CW_MAX_DATAGRAM];
    size_t n;
    if (cwr_encode_packet(l->protocol_id, p, b, sizeof b, &n) == CW_OK) {
        send_datagram(l, b, n);
    }
}

static bool wait_repair_packet(link_end *l, cw_time deadline, uint8_t *b, size_t capacity, cwr_packet *p, cw_time *now)
{
    ssize_t n = wait_datagram(l, deadline, b, capacity, now);
    return n >= 0 && cwr_decode_packet(l->protocol_id, b, (size_t)n, p, NULL) == CW_OK;
}

static cwr_sender_row send_repair_due(const link_end *l, cwr_sender *s, cw_time now)
{
    cwr_packet p;
    cwr_sender_row row;
    p.type = CW_SLICE;
    while ((row = cwr_sender_poll(s, now, &p.as.slice)) == CWR_T13) {
        send_repair_packet(l, &p);
    }
    return row;
}

static int send_repair(link_end *l)
{
    static cwr_rule rule;
    static cwr_sender s;
    uint8_t b[2048];
    cwr_packet p;
    cw_time now = now_us();
    size_t size = fread(chunk, 1, sizeof chunk, stdin);
    (void)cwr_rule_init(&rule, cwr_profile_adaptive());
    (void)cwr_sender_init(&s, 0, CW_DEFAULT_GIVE_UP, &rule.scheduler);
    if (cwr_sender_submit(&s, now, chunk, size) != CWR_T1) {
        fprintf(stderr, "live: a chunk has 1 to %d bytes\n", CW_MAX_CHUNK);
        return 1;
    }
    while (s.state == CW_SENDING) {
        if (send_repair_due(l, &s, now) == CWR_T15) {
            fprintf(stderr, "live: no answer, gave up\n");
            return 1;
        }
        if (wait_repair_packet(l, cwr_sender_deadline(&s), b, sizeof b, &p, &now) && p.type == CW_ACK) {
            (void)cwr_sender_ack(&s, now, &p.as.ack);
        }
    }
    return 0;
}

static cwr_receiver_row ack_repair_due(const link_end *l, cwr_receiver *r, cw_time now)
{
    cwr_packet p;
    cwr_receiver_row row;
    p.type = CW_ACK;
    while ((row = cwr_receiver_poll(r, now, &p.as.ack)) == CWR_U20 || row == CWR_U22 || row == CWR_U25) {
        send_repair_packet(l, &p);
    }
    return row;
}

static int recv_repair(link_end *l)
{
    static cwr_receiver r;
    uint8_t b[2048];
    cwr_packet p;
    size_t size = 0;
    cw_time now = now_us();
    cw_time quiet_since = now;
    (void)cwr_receiver_init(&r, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory));
    while (size == 0 || now - quiet_since < 3 * SECOND) {
        if (wait_repair_packet(l, cwr_receiver_deadline(&r), b, sizeof b, &p, &now) && p.type == CW_SLICE) {
            (void)cwr_receiver_slice(&r, now, &p.as.slice);
            quiet_since = now_us(); /* to rebuild the chunk may have taken long */
        }
        if (ack_repair_due(l, &r, now) == CWR_U24) {
            fprintf(stderr, "live: no further slices, gave up\n");
            return 1;
        }
        if (size == 0) {
            (void)cwr_receiver_read(&r, now, chunk, sizeof chunk, &size);
        }
    }
    return fwrite(chunk, 1, size, stdout) == size && fflush(stdout) == 0 ? 0 : 1;
}

static bool get_address(const char *text, struct sockaddr_in *a)
{
    char host[16] = "";
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    if (colon == NULL || (size_t)(colon - text) >= sizeof host) {
        return false;
    }
    memcpy(host, text, (size_t)(colon - text));
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET;
    a->sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    return inet_pton(AF_INET, host, &a->sin_addr) == 1;
}

int main(void)
{
    const char *mode = getenv("CHUNKWIRE_MODE");
    const char *protocol_id = getenv("CHUNKWIRE_PROTOCOL_ID");
    const char *variant = getenv("CHUNKWIRE_VARIANT");
    bool repair = variant != NULL && strcmp(variant, "repair") == 0;
    bool connection = variant != NULL && strcmp(variant, "connection") == 0;
    link_end l;
    if (mode == NULL || protocol_id == NULL || !get_address(getenv("CHUNKWIRE_ADDRESS"), &l.peer)) {
        fprintf(stderr, "live: CHUNKWIRE_MODE, CHUNKWIRE_ADDRESS and CHUNKWIRE_PROTOCOL_ID must be set\n");
        return 2;
    }
#ifndef CHUNKWIRE_CONNECTION
    if (connection) {
        fprintf(stderr, "live: this was built without connections\n");
        return 2;
    }
#endif
    l.protocol_id = (uint32_t)strtoul(protocol_id, NULL, 10);
    if (repair) {
        l.protocol_id = cwr_protocol_id(l.protocol_id, 1, 0);
    }
    l.fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (l.fd < 0) {
        perror("live: socket");
        return 1;
    }
    if (strcmp(mode, "send") == 0) {
#ifdef CHUNKWIRE_CONNECTION
        if (connection) {
            return send_over(l.fd, &l.peer, l.protocol_id);
        }
#endif
        return repair ? send_repair(&l) : run_send(&l);
    }
    if (strcmp(mode, "recv") != 0 || bind(l.fd, (struct sockaddr *)&l.peer, sizeof l.peer) != 0) {
        perror("live: bind, or the mode is neither send nor recv");
        return 1;
    }
#ifdef CHUNKWIRE_CONNECTION
    if (connection) {
        return receive_over(l.fd, l.protocol_id);
    }
#endif
    return repair ? recv_repair(&l) : run_recv(&l);
}
