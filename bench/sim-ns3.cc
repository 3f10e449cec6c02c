// A dumbbell of N TCP transfers in ns-3, the peer of crates/sim/examples/dumbbell.rs. See sim-ns3.
//
//   sim-ns3 FLOWS SECONDS [count]
//
// Prints what was simulated and the time that took, by the clock and of the processor, as JSON. With `count` every packet that a device hands up and
// every one that a host hands down is counted; without, nothing looks on, so that nothing slows the run down.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <ctime>
#include <iostream>
#include <string>

using namespace ns3;

namespace {

uint64_t g_arrivals = 0;
uint64_t g_departures = 0;

void Arrived(Ptr<const Packet>) { ++g_arrivals; }
void Left(Ptr<const Packet>) { ++g_departures; }

NetDeviceContainer Join(Ptr<Node> left, Ptr<Node> right, const char *rate, const char *delay, const char *queue)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
    return link.Install(left, right);
}

}  // namespace

int main(int argc, char **argv)
{
    const uint32_t flows = argc > 1 ? std::stoul(argv[1]) : 10;
    const double seconds = argc > 2 ? std::stod(argv[2]) : 60;
    const bool count = argc > 3;
    // What our transport has too: Linux's Reno, SACK, time stamps, ten segments to begin with, an acknowledgement for two.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer routers, senders, receivers;
    routers.Create(2);
    senders.Create(flows);
    receivers.Create(flows);
    InternetStackHelper stack;
    stack.Install(routers);
    stack.Install(senders);
    stack.Install(receivers);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    NetDeviceContainer devices = Join(routers.Get(0), routers.Get(1), "100Mbps", "10ms", "167p");
    auto assign = [&](const NetDeviceContainer &pair) {
        auto interfaces = addresses.Assign(pair);
        addresses.NewNetwork();
        // The queue is the device's, as ours is the link's: no second one above it.
        TrafficControlHelper().Uninstall(pair);
        return interfaces;
    };
    assign(devices);
    for (uint32_t i = 0; i < flows; ++i)
    {
        auto left = Join(senders.Get(i), routers.Get(0), "1Gbps", "1ms", "1000p");
        auto right = Join(routers.Get(1), receivers.Get(i), "1Gbps", "1ms", "1000p");
        assign(left);
        auto far = assign(right);
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(far.GetAddress(1), 9));
        auto app = bulk.Install(senders.Get(i));
        app.Start(MilliSeconds(i));
        app.Stop(Seconds(seconds));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink.Install(receivers.Get(i));
        devices.Add(left);
        devices.Add(right);
        if (count)
        {
            left.Get(0)->TraceConnectWithoutContext("MacTx", MakeCallback(&Left));
            right.Get(1)->TraceConnectWithoutContext("MacTx", MakeCallback(&Left));
        }
    }
    for (uint32_t i = 0; count && i < devices.GetN(); ++i)
    {
        devices.Get(i)->TraceConnectWithoutContext("MacRx", MakeCallback(&Arrived));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(seconds));
    const auto began = std::chrono::steady_clock::now();
    const auto busy = std::clock();
    Simulator::Run();
    const double cpu = double(std::clock() - busy) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;

    uint64_t bytes = 0;
    for (uint32_t i = 0; i < flows; ++i)
    {
        bytes += DynamicCast<PacketSink>(receivers.Get(i)->GetApplication(0))->GetTotalRx();
    }
    std::cout << "{\"wall_s\": " << wall.count() << ", \"cpu_s\": " << cpu << ", \"packet_events\": " << g_arrivals + g_departures
              << ", \"scheduler_events\": " << Simulator::GetEventCount()
              << ", \"mbps\": " << bytes * 8e-6 / seconds << "}" << std::endl;
    Simulator::Destroy();
}
