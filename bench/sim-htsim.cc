// A dumbbell of N TCP transfers in htsim (Broadcom/csg-htsim), the peer of crates/sim/examples/dumbbell.rs. See sim-peers.
//
//   sim-htsim FLOWS SECONDS [count | FILE]
//
// Prints what was simulated and the time that took, by the clock and of the processor, as JSON. With `count` every packet that leaves a host and
// every one that comes to the end of a link is counted; with the name of a FILE its own log of packets is written there. With neither nothing looks on,
// so that nothing slows the run down.

#include "config.h"
#include "eventlist.h"
#include "logfile.h"
#include "loggers.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <chrono>
#include <ctime>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

namespace {

uint64_t g_events = 0;

// Sees every packet go by.
class Counter : public PacketSink {
public:
    void receivePacket(Packet &packet) override
    {
        ++g_events;
        packet.sendOn();
    }
    const string &nodename() override { return _name; }

private:
    string _name = "counter";
};

Counter g_counter;
bool g_counts = false;

void Look(route_t &route)
{
    if (g_counts)
        route.push_back(&g_counter);
}

// One direction of a link.
struct Way {
    Queue queue;
    Pipe pipe;
    Way(uint64_t mbps, double ms, int packets, EventList &events)
        : queue(speedFromMbps(mbps), packets * 1500, events, nullptr), pipe(timeFromMs(ms), events)
    {
    }
    void Add(route_t &route)
    {
        route.push_back(&queue);
        route.push_back(&pipe);
        Look(route);
    }
};

}  // namespace

int main(int argc, char **argv)
{
    const int flows = argc > 1 ? std::stoi(argv[1]) : 10;
    const double seconds = argc > 2 ? std::stod(argv[2]) : 60;
    const std::string third = argc > 3 ? argv[3] : "";
    g_counts = third == "count";
    // What it says on its way is none of the result.
    std::ostringstream said;
    std::streambuf *out = std::cout.rdbuf(said.rdbuf());
    EventList events;
    events.setEndtime(timeFromSec(seconds));
    Packet::set_packet_size(1500);
    std::unique_ptr<Logfile> log;
    TcpTrafficLogger packets;
    if (!third.empty() && !g_counts)
    {
        log = std::make_unique<Logfile>(third, events);
        log->addLogger(packets);
    }
    Way there(100, 10, 167, events), back(100, 10, 167, events);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    std::vector<TcpSink *> sinks;
    for (int i = 0; i < flows; ++i)
    {
        auto *source = new TcpSrc(nullptr, log ? &packets : nullptr, events);
        auto *sink = new TcpSink();
        timers.registerTcp(*source);
        auto *left = new Way[2]{{1000, 1, 1000, events}, {1000, 1, 1000, events}};
        auto *right = new Way[2]{{1000, 1, 1000, events}, {1000, 1, 1000, events}};
        auto *data = new route_t(), *acks = new route_t();
        Look(*data);
        left[0].Add(*data);
        there.Add(*data);
        right[0].Add(*data);
        data->push_back(sink);
        Look(*acks);
        right[1].Add(*acks);
        back.Add(*acks);
        left[1].Add(*acks);
        acks->push_back(source);
        source->connect(*data, *acks, *sink, timeFromMs(i));
        sinks.push_back(sink);
    }
    const auto began = std::chrono::steady_clock::now();
    const auto busy = std::clock();
    while (events.doNextEvent())
    {
    }
    const double cpu = double(std::clock() - busy) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    uint64_t octets = 0;
    for (TcpSink *sink : sinks)
        octets += sink->cumulative_ack();
    std::cout.rdbuf(out);
    std::cout << "{\"wall_s\": " << wall.count() << ", \"cpu_s\": " << cpu << ", \"packet_events\": " << g_events
              << ", \"mbps\": " << octets * 8e-6 / seconds << "}" << std::endl;
}
