// The library from C++: a chunk of one slice goes through codec and machines, a packet from
// one endpoint to another, a message through a channel, and a chunk as repair slices.
#include "chunkwire.h"
#include "chunkwire_channel.h"
#include "chunkwire_packet.h"
#include "chunkwire_repair.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static bool chunk_gets_through()
{
    static uint8_t memory[CW_MAX_CHUNK];
    uint8_t chunk[] = {1, 2, 3}, datagram[CW_MAX_DATAGRAM], got[sizeof chunk];
    size_t length = 0, size = 0;
    cw_base base;
    cw_sender sender;
    cw_receiver receiver;
    cw_packet sent, arrived;
    sent.type = CW_SLICE;
    return cw_base_init(&base, cw_profile_burst()) &&
           cw_sender_init(&sender, 0, CW_DEFAULT_GIVE_UP, &base.scheduler) &&
           cw_receiver_init(&receiver, 0, CW_DEFAULT_GIVE_UP, cw_fixed_memory(memory)) &&
           cw_sender_submit(&sender, 0, chunk, sizeof chunk) == CW_S1 &&
           cw_sender_poll(&sender, 0, &sent.as.slice) == CW_S13 &&
           cw_encode_packet(7, &sent, datagram, sizeof datagram, &length) == CW_OK &&
           cw_decode_packet(7, datagram, length, &arrived, nullptr) == CW_OK &&
           cw_receiver_slice(&receiver, 1, &arrived.as.slice) == CW_R1 &&
           cw_receiver_read(&receiver, 2, got, sizeof got, &size) == CW_R16 && size == sizeof chunk &&
           std::memcmp(got, chunk, size) == 0;
}

static const cwp_memory heap = {[](void *, size_t size) { return std::malloc(size); },
                                [](void *, void *block, size_t) { std::free(block); }, nullptr};

static bool packet_gets_through()
{
    static uint8_t assembly[16384];
    const cwp_above above = {nullptr, nullptr, nullptr, nullptr};
    const cwp_config config = cwp_default_config();
    const uint8_t payload[] = {1, 2, 3};
    uint8_t datagram[CWP_MAX_DATAGRAM];
    static cwp_endpoint one, other;
    cwp_sent sent;
    cwp_receipt receipt;
    if (!cwp_endpoint_init(&one, &config, heap, above, assembly) ||
        !cwp_endpoint_init(&other, &config, heap, above, assembly) ||
        cwp_send(&one, 0, payload, sizeof payload, false, &sent) != CWP_OK) {
        return false;
    }
    cwp_receive(&other, 1, datagram, cwp_sent_datagram(&one, &sent, 0, datagram), &receipt);
    const bool ok = receipt.row == CWP_P6 && receipt.size == sizeof payload &&
                    std::memcmp(receipt.payload, payload, receipt.size) == 0;
    cwp_endpoint_end(&one);
    cwp_endpoint_end(&other);
    return ok;
}

static bool message_gets_through()
{
    const cwc_config config = cwc_default_config(CWC_ORDERED);
    const uint8_t message[] = {1, 2, 3};
    cwc_channels channels = {};
    uint8_t payload[CWC_PAYLOAD], got[sizeof message];
    size_t size = 0, at = 0;
    cwc_sender sender;
    cwc_receiver receiver;
    cwc_record record;
    cwc_read what;
    channels.config[0] = &config;
    if (!cwc_sender_init(&sender, &config, 0, heap) || !cwc_receiver_init(&receiver, &config, 0, heap)) {
        return false;
    }
    const bool ok = cwc_sender_send(&sender, 0, message, sizeof message, CWP_NEVER, nullptr) == CWC_D3 &&
                    cwc_sender_poll(&sender, 0, 0, sizeof payload, &record) == CWC_D8 &&
                    cwc_append(&channels, &record, payload, sizeof payload, &size, nullptr) == CWC_OK &&
                    cwc_decode(&channels, payload, size, &at, &record) == CWC_OK &&
                    cwc_receiver_record(&receiver, 1, &record) == CWC_V5 &&
                    cwc_receiver_read(&receiver, 1, got, sizeof got, &what) == CWC_V11 &&
                    what.size == sizeof message && std::memcmp(got, message, what.size) == 0;
    cwc_sender_end(&sender);
    cwc_receiver_end(&receiver);
    return ok;
}

// Of a chunk of two slices, the first and a repair slice.
static bool repair_gets_through()
{
    static uint8_t memory[CWR_MEMORY];
    static cwr_receiver receiver;
    uint8_t chunk[1500], out[CW_SLICE_SIZE], datagram[CW_MAX_DATAGRAM], got[sizeof chunk];
    size_t length = 0, size = 0;
    cwr_packet sent, arrived;
    std::memset(chunk, 7, sizeof chunk);
    sent.type = CW_SLICE;
    if (!cwr_receiver_init(&receiver, 0, CW_DEFAULT_GIVE_UP, cwr_fixed_memory(memory))) {
        return false;
    }
    for (uint32_t id = 0; id <= 2; id += 2) {
        sent.as.slice.chunk_id = 0;
        sent.as.slice.id = id;
        sent.as.slice.num_slices = 2;
        sent.as.slice.last_bytes = 476;
        sent.as.slice.data = out;
        sent.as.slice.size = cwr_encode_slice(chunk, sizeof chunk, id, out);
        if (cwr_encode_packet(7, &sent, datagram, sizeof datagram, &length) != CW_OK ||
            cwr_decode_packet(7, datagram, length, &arrived, nullptr) != CW_OK ||
            cwr_receiver_slice(&receiver, 1, &arrived.as.slice) != (id == 0 ? CWR_U2 : CWR_U6)) {
            return false;
        }
    }
    return cwr_receiver_read(&receiver, 2, got, sizeof got, &size) == CWR_U17 && size == sizeof chunk &&
           std::memcmp(got, chunk, size) == 0;
}

int main()
{
    const bool ok = chunk_gets_through() && packet_gets_through() && message_gets_through() &&
                    repair_gets_through();
    std::puts(ok ? "C++: ok" : "C++: something did not get through");
    return ok ? 0 : 1;
}
