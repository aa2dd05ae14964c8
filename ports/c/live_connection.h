/* One chunk over a connection, and again as messages (`chunkwire live --connection`). */
#ifndef LIVE_CONNECTION_H
#define LIVE_CONNECTION_H

#include <netinet/in.h>
#include <stdint.h>

/* Each answers with the code of its process. */
int send_over(int fd, const struct sockaddr_in *to, uint32_t protocol);
int receive_over(int fd, uint32_t protocol); /* fd is bound */

#endif
