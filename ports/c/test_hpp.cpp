// Chunks from a sender to a receiver through loss, in virtual time, with the classes of
// chunkwire.hpp.
#include "chunkwire.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

static const uint32_t protocol_id = 0x11223344;
static unsigned failures;

static void check(bool ok, const char *what)
{
    if (!ok) {
        std::printf("FAIL: %s\n", what);
        ++failures;
    }
}

// A path of 10 ms each way that loses each fourth datagram of either direction.
struct Path {
    struct Entry {
        cw_time at;
        std::vector<uint8_t> bytes;
    };
    std::vector<Entry> entries;
    unsigned count = 0;
    void send(cw_time now, const chunkwire::Datagram &d, size_t n)
    {
        if (++count % 4 != 0) {
            entries.push_back(Entry{now + 10000, std::vector<uint8_t>(d.bytes, d.bytes + n)});
        }
    }
    template <class End>
    void deliver(cw_time now, End &end)
    {
        size_t i = 0;
        for (; i < entries.size() && entries[i].at <= now; ++i) {
            check(end.receive(now, entries[i].bytes.data(), entries[i].bytes.size()), "what was sent is taken");
        }
        entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i));
    }
};

template <class Sender, class Receiver, class Scheduler>
static void chunks_get_through(Scheduler &scheduler, const char *name)
{
    Sender sender(protocol_id, scheduler, 65535);
    Receiver receiver(protocol_id, 65535);
    check(sender.valid() && receiver.valid(), "valid");
    check(sender.deadline() == CW_NEVER && !sender.sending(), "nothing to do");
    const size_t sizes[] = {1, 262144, 1025};
    Path down, up;
    chunkwire::Datagram out;
    cw_time now = 0;
    for (size_t size : sizes) {
        std::vector<uint8_t> chunk(size), got(size);
        for (size_t i = 0; i < size; ++i) {
            chunk[i] = static_cast<uint8_t>(i * 7 + i / 251 + size);
        }
        check(sender.submit(now, chunk.data(), size), "taken");
        check(!sender.submit(now, chunk.data(), size), "busy");
        bool arrived = false;
        const cw_time limit = now + 60000000;
        for (; now < limit && (sender.sending() || !arrived); now += 500) {
            down.deliver(now, receiver);
            up.deliver(now, sender);
            if (receiver.size() == size) {
                check(receiver.read(now, got.data(), size - 1) == 0, "there is no room");
                check(receiver.read(now, got.data(), size) == size, "read");
                arrived = true;
            }
            while (const size_t n = sender.poll(now, out)) {
                down.send(now, out, n);
            }
            while (const size_t n = receiver.poll(now, out)) {
                up.send(now, out, n);
            }
            check(receiver.have() <= receiver.num_slices() || receiver.num_slices() == 0, "a bar never beyond its end");
        }
        check(arrived && !sender.sending() && !sender.failed(), "delivered");
        check(got == chunk, "the same bytes");
        check(!receiver.receive(now, chunk.data(), size), "what does not decode is refused");
    }
    std::printf("%s: 3 chunks, %lld us, %u and %u datagrams\n", name, static_cast<long long>(now), down.count, up.count);
}

template <class Sender, class Scheduler>
static void nobody_answers(Scheduler &scheduler)
{
    const uint8_t chunk[] = {1, 2, 3};
    chunkwire::Datagram out;
    Sender sender(protocol_id, scheduler, 0, 1000000);
    check(sender.submit(0, chunk, sizeof chunk), "taken");
    for (cw_time now = 0; now <= 1100000; now += 1000) {
        while (sender.poll(now, out) != 0) {
        }
    }
    check(sender.failed() && !sender.sending(), "gave up");
}

int main()
{
    chunkwire::Base base(cw_profile_burst());
    chunkwire::Rule rule(cwr_profile_adaptive());
    chunks_get_through<chunkwire::Sender, chunkwire::Receiver>(base, "slices");
    chunks_get_through<chunkwire::RepairSender, chunkwire::RepairReceiver>(rule, "repair slices");
    chunkwire::Base base2(cw_profile_burst());
    chunkwire::Rule rule2(cwr_profile_adaptive());
    nobody_answers<chunkwire::Sender>(base2);
    nobody_answers<chunkwire::RepairSender>(rule2);
    chunkwire::Base bad(cw_profile_fixed(1));
    check(!bad.valid() && !chunkwire::Sender(protocol_id, bad).valid(), "a rate below the limit");
    check(!chunkwire::Sender(protocol_id, base, 65536).valid(), "an id that does not exist");
    check(!chunkwire::Receiver(protocol_id, 0, 0).valid(), "no time to wait");
    std::puts(failures == 0 ? "C++ classes: ok" : "C++ classes: failed");
    return failures == 0 ? 0 : 1;
}
