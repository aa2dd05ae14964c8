/* What the port's operations of sessions and of connections share. */
#ifndef PORT_SESSION_H
#define PORT_SESSION_H

#include "chunkwire_session.h"
#include "port.h"

#define LAST_TIME (TIME_END - 1)

bool get_fixed(const request *q, const json_token *t, const char *name, uint8_t *out, size_t size);
bool get_number(const request *q, const json_token *t, const char *name, int64_t least, int64_t most, uint32_t *v);
bool get_mode(const request *q, const json_token *t, uint32_t *mode); /* a mode that there is */

void print_hex_field(const char *name, const uint8_t *b, size_t n); /* after a comma */
void print_refused(const char *code, int place);                    /* "refused" of a step; NULL: null */

#endif
