/* Sequence numbers (section 4). See chunkwire_packet.h. */
#include "chunkwire_packet.h"

enum { SPAN = 65536 };

uint16_t cwp_on_wire(int64_t number) { return (uint16_t)((uint64_t)number & 0xFFFFu); }

bool cwp_number_from(uint16_t sequence, int64_t behind, int64_t *number)
{
    int64_t ahead = (uint16_t)(sequence - cwp_on_wire(behind));
    if (ahead >= SPAN / 2 || behind + ahead < 0) {
        return false;
    }
    *number = behind + ahead;
    return true;
}

int64_t cwp_newest(uint16_t sequence, int64_t last) { return last - (uint16_t)(cwp_on_wire(last) - sequence); }
