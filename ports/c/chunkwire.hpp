// Sender and receiver of chunks for C++11 and later, around the library in C: datagrams in,
// datagrams out. No exceptions, no RTTI, no I/O, no clock; the receiver allocates once.
//
// Times are those of chunkwire.h: microseconds of a clock that only runs forward. After each
// datagram that came, and at deadline(), poll until it returns 0 and send what it gave.
//
//     chunkwire::Base scheduler(cw_profile_burst());
//     chunkwire::Sender sender(protocol_id, scheduler);
//     sender.submit(now(), world.data(), world.size());
//     chunkwire::Datagram out;
//     while (const size_t n = sender.poll(now(), out)) socket.send(out.bytes, n);
#ifndef CHUNKWIRE_HPP
#define CHUNKWIRE_HPP

#include "chunkwire.h"
#include "chunkwire_repair.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace chunkwire {

// Room for any datagram of either variant.
struct Datagram {
    uint8_t bytes[CW_MAX_DATAGRAM];
};

// The base algorithm of spec/PROTOCOL.md, 9, for Sender.
class Base {
public:
    explicit Base(const cw_profile &profile) : valid_(cw_base_init(&base_, profile)) {}
    Base(const Base &) = delete;
    Base &operator=(const Base &) = delete;
    bool valid() const { return valid_; } // false: a figure of the profile is outside its limits
    cw_scheduler *get() { return &base_.scheduler; }

private:
    cw_base base_;
    bool valid_;
};

// The rule of spec/REPAIR.md, 7, for RepairSender.
class Rule {
public:
    explicit Rule(const cwr_profile &profile) : valid_(cwr_rule_init(&rule_, profile)) {}
    Rule(const Rule &) = delete;
    Rule &operator=(const Rule &) = delete;
    bool valid() const { return valid_; }
    cwr_scheduler *get() { return &rule_.scheduler; }

private:
    cwr_rule rule_;
    bool valid_;
};

// The variants: what Sender and Receiver call. Slices is spec/PROTOCOL.md.
struct Slices {
    typedef cw_packet Packet;
    typedef cw_sender Sender;
    typedef cw_receiver Receiver;
    typedef cw_scheduler Scheduler;
    static constexpr size_t memory_bytes = CW_MAX_CHUNK;

    static bool encode(uint32_t id, const Packet &p, Datagram &out, size_t &n)
    {
        return cw_encode_packet(id, &p, out.bytes, sizeof out.bytes, &n) == CW_OK;
    }
    static bool decode(uint32_t id, const uint8_t *data, size_t size, Packet &p)
    {
        return cw_decode_packet(id, data, size, &p, nullptr) == CW_OK;
    }

    static bool init(Sender &s, uint32_t first, cw_time give_up, Scheduler *scheduler)
    {
        return cw_sender_init(&s, first, give_up, scheduler);
    }
    static bool submit(Sender &s, cw_time now, const uint8_t *chunk, size_t size)
    {
        return cw_sender_submit(&s, now, chunk, size) == CW_S1;
    }
    static void take(Sender &s, cw_time now, const Packet &p) { cw_sender_ack(&s, now, &p.as.ack); }
    static bool poll(Sender &s, cw_time now, Packet &p) { return cw_sender_poll(&s, now, &p.as.slice) == CW_S13; }
    static cw_time deadline(const Sender &s) { return cw_sender_deadline(&s); }
    static uint32_t have(const Sender &s) { return cw_set_count(&s.acked); }

    static bool init(Receiver &r, uint32_t first, cw_time give_up, uint8_t *memory)
    {
        return cw_receiver_init(&r, first, give_up, cw_fixed_memory(memory));
    }
    static void take(Receiver &r, cw_time now, const Packet &p) { cw_receiver_slice(&r, now, &p.as.slice); }
    static bool read(Receiver &r, cw_time now, uint8_t *out, size_t capacity, size_t &size)
    {
        return cw_receiver_read(&r, now, out, capacity, &size) == CW_R16;
    }
    static bool poll(Receiver &r, cw_time now, Packet &p)
    {
        const cw_receiver_row row = cw_receiver_poll(&r, now, &p.as.ack);
        return row == CW_R19 || row == CW_R21 || row == CW_R24;
    }
    static size_t size(const Receiver &r) { return cw_receiver_size(&r); }
    static cw_time deadline(const Receiver &r) { return cw_receiver_deadline(&r); }
    static uint32_t have(const Receiver &r) { return cw_set_count(&r.received); }
    static void end(Receiver &r) { cw_receiver_end(&r); }
};

// Repair is spec/REPAIR.md: its protocol ids are those of cwr_protocol_id.
struct Repair {
    typedef cwr_packet Packet;
    typedef cwr_sender Sender;
    typedef cwr_receiver Receiver;
    typedef cwr_scheduler Scheduler;
    static constexpr size_t memory_bytes = CWR_MEMORY;

    static bool encode(uint32_t id, const Packet &p, Datagram &out, size_t &n)
    {
        return cwr_encode_packet(id, &p, out.bytes, sizeof out.bytes, &n) == CW_OK;
    }
    static bool decode(uint32_t id, const uint8_t *data, size_t size, Packet &p)
    {
        return cwr_decode_packet(id, data, size, &p, nullptr) == CW_OK;
    }

    static bool init(Sender &s, uint32_t first, cw_time give_up, Scheduler *scheduler)
    {
        return cwr_sender_init(&s, first, give_up, scheduler);
    }
    static bool submit(Sender &s, cw_time now, const uint8_t *chunk, size_t size)
    {
        return cwr_sender_submit(&s, now, chunk, size) == CWR_T1;
    }
    static void take(Sender &s, cw_time now, const Packet &p) { cwr_sender_ack(&s, now, &p.as.ack); }
    static bool poll(Sender &s, cw_time now, Packet &p) { return cwr_sender_poll(&s, now, &p.as.slice) == CWR_T13; }
    static cw_time deadline(const Sender &s) { return cwr_sender_deadline(&s); }
    static uint32_t have(const Sender &s) { return s.have; }

    static bool init(Receiver &r, uint32_t first, cw_time give_up, uint8_t *memory)
    {
        return cwr_receiver_init(&r, first, give_up, cwr_fixed_memory(memory));
    }
    static void take(Receiver &r, cw_time now, const Packet &p) { cwr_receiver_slice(&r, now, &p.as.slice); }
    static bool read(Receiver &r, cw_time now, uint8_t *out, size_t capacity, size_t &size)
    {
        return cwr_receiver_read(&r, now, out, capacity, &size) == CWR_U17;
    }
    static bool poll(Receiver &r, cw_time now, Packet &p)
    {
        const cwr_receiver_row row = cwr_receiver_poll(&r, now, &p.as.ack);
        return row == CWR_U20 || row == CWR_U22 || row == CWR_U25;
    }
    static size_t size(const Receiver &r) { return cwr_receiver_size(&r); }
    static cw_time deadline(const Receiver &r) { return cwr_receiver_deadline(&r); }
    static uint32_t have(const Receiver &r) { return r.have; }
    static void end(Receiver &r) { cwr_receiver_end(&r); }
};

// Sends one chunk after another to one peer. The scheduler must outlive it.
template <class Variant>
class BasicSender {
public:
    template <class Scheduler>
    BasicSender(uint32_t protocol_id, Scheduler &scheduler, uint32_t first_id = 0, cw_time give_up = CW_DEFAULT_GIVE_UP)
        : id_(protocol_id),
          valid_(scheduler.valid() && Variant::init(sender_, first_id, give_up, scheduler.get()))
    {
    }
    BasicSender(const BasicSender &) = delete;
    BasicSender &operator=(const BasicSender &) = delete;

    // False: an argument was outside its limits; then nothing else may be called.
    bool valid() const { return valid_; }

    // Begins a chunk of 1 to CW_MAX_CHUNK bytes, which must stay as they are until sending() is
    // false. False: of another size, or the one before is not delivered yet, or failed.
    bool submit(cw_time now, const uint8_t *chunk, size_t size) { return Variant::submit(sender_, now, chunk, size); }

    // Takes a datagram from the peer. False: it does not decode, or is no ack.
    bool receive(cw_time now, const uint8_t *data, size_t size)
    {
        typename Variant::Packet p;
        if (!Variant::decode(id_, data, size, p) || p.type != CW_ACK) {
            return false;
        }
        Variant::take(sender_, now, p);
        return true;
    }

    // The bytes of the datagram that is to be sent now; 0: none.
    size_t poll(cw_time now, Datagram &out)
    {
        typename Variant::Packet p;
        size_t n = 0;
        p.type = CW_SLICE;
        return Variant::poll(sender_, now, p) && Variant::encode(id_, p, out, n) ? n : 0;
    }

    cw_time deadline() const { return Variant::deadline(sender_); }        // CW_NEVER: none
    bool sending() const { return sender_.state == CW_SENDING; }           // false again: delivered, or failed
    bool failed() const { return sender_.state == CW_SENDER_FAILED; }      // gave up, for good
    uint32_t have() const { return Variant::have(sender_); }               // slices that are known to have arrived
    uint32_t num_slices() const { return sender_.num_slices; }             // 0 but while sending

private:
    uint32_t id_;
    typename Variant::Sender sender_;
    bool valid_;
};

// Receives one chunk after another from one peer.
template <class Variant>
class BasicReceiver {
public:
    explicit BasicReceiver(uint32_t protocol_id, uint32_t first_id = 0, cw_time give_up = CW_DEFAULT_GIVE_UP)
        : id_(protocol_id), memory_(new (std::nothrow) uint8_t[Variant::memory_bytes]),
          valid_(memory_ && Variant::init(receiver_, first_id, give_up, memory_.get()))
    {
    }
    ~BasicReceiver()
    {
        if (valid_) {
            Variant::end(receiver_);
        }
    }
    BasicReceiver(const BasicReceiver &) = delete;
    BasicReceiver &operator=(const BasicReceiver &) = delete;

    // False: no memory, or an argument was outside its limits; then nothing else may be called.
    bool valid() const { return valid_; }

    // Takes a datagram from the peer. False: it does not decode, or is no slice.
    bool receive(cw_time now, const uint8_t *data, size_t size)
    {
        typename Variant::Packet p;
        if (!Variant::decode(id_, data, size, p) || p.type != CW_SLICE) {
            return false;
        }
        Variant::take(receiver_, now, p);
        return true;
    }

    // The bytes of the datagram that is to be sent now; 0: none.
    size_t poll(cw_time now, Datagram &out)
    {
        typename Variant::Packet p;
        size_t n = 0;
        p.type = CW_ACK;
        return Variant::poll(receiver_, now, p) && Variant::encode(id_, p, out, n) ? n : 0;
    }

    // The bytes of the chunk that waits to be read; 0: none does.
    size_t size() const { return Variant::size(receiver_); }

    // Reads the chunk that waits, at most size() bytes; returns its size. 0: there is none, or
    // capacity is less.
    size_t read(cw_time now, uint8_t *out, size_t capacity)
    {
        size_t n = 0;
        return Variant::read(receiver_, now, out, capacity, n) ? n : 0;
    }

    cw_time deadline() const { return Variant::deadline(receiver_); }          // CW_NEVER: none
    bool failed() const { return receiver_.state == CW_RECEIVER_FAILED; }      // gave up, for good
    uint32_t have() const { return Variant::have(receiver_); }                 // for a loading bar: of num_slices
    uint32_t num_slices() const { return receiver_.num_slices; }               // 0: nothing has come yet, or all

private:
    uint32_t id_;
    std::unique_ptr<uint8_t[]> memory_;
    typename Variant::Receiver receiver_;
    bool valid_;
};

typedef BasicSender<Slices> Sender;
typedef BasicReceiver<Slices> Receiver;
typedef BasicSender<Repair> RepairSender;
typedef BasicReceiver<Repair> RepairReceiver;

} // namespace chunkwire

#endif
