// The library from C++: a chunk of one slice goes through codec and machines.
#include "chunkwire.h"

#include <cstdio>
#include <cstring>

int main()
{
    static uint8_t memory[CW_MAX_CHUNK];
    uint8_t chunk[] = {1, 2, 3}, datagram[CW_MAX_DATAGRAM], got[sizeof chunk];
    size_t length = 0, size = 0;
    cw_base base;
    cw_sender sender;
    cw_receiver receiver;
    cw_packet sent, arrived;
    sent.type = CW_SLICE;
    const bool ok = cw_base_init(&base, cw_profile_burst()) &&
                    cw_sender_init(&sender, 0, CW_DEFAULT_GIVE_UP, &base.scheduler) &&
                    cw_receiver_init(&receiver, 0, CW_DEFAULT_GIVE_UP, cw_fixed_memory(memory)) &&
                    cw_sender_submit(&sender, 0, chunk, sizeof chunk) == CW_S1 &&
                    cw_sender_poll(&sender, 0, &sent.as.slice) == CW_S13 &&
                    cw_encode_packet(7, &sent, datagram, sizeof datagram, &length) == CW_OK &&
                    cw_decode_packet(7, datagram, length, &arrived, nullptr) == CW_OK &&
                    cw_receiver_slice(&receiver, 1, &arrived.as.slice) == CW_R1 &&
                    cw_receiver_read(&receiver, 2, got, sizeof got, &size) == CW_R16 && size == sizeof chunk &&
                    std::memcmp(got, chunk, size) == 0;
    std::puts(ok ? "C++: ok" : "C++: the chunk did not get through");
    return ok ? 0 : 1;
}
