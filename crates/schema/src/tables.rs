//! The tables that several measurements share. What only one measurement knows it defines itself.
//!
//! Times `t_ns` are nanoseconds since the run's start on the client's monotonic clock. *Up* is from the client to the
//! server, *down* is back. Counters called cumulative count from the stream's or the link's own start.

use record::{Label, table};

table! {
    /// One probe: a request and its answer, or one datagram of a one-way stream.
    pub struct Sample in "samples" {
        /// When the probe was sent.
        t_ns: u64 => "ns",
        /// Which stream, as `streams.id`.
        stream: u16,
        /// Number of the probe in its stream, from 0.
        seq: u64,
        /// Round trip, without the time the far end held the probe; null when lost.
        rtt_ns: Option<u64> => "ns",
        /// One-way delay up; as right as the offset between the two clocks, so it may be negative.
        owd_up_ns: Option<i64> => "ns",
        /// One-way delay down; as right as the offset between the two clocks, so it may be negative.
        owd_down_ns: Option<i64> => "ns",
        /// Whether it was never answered, or never arrived.
        lost: bool,
        /// Whether it came after the deadline of its stream, too late to be of use.
        late: bool,
        /// Whose clock stamped the arrival: `kernel` or `user`.
        clock: Label,
        /// Traffic-class octet (DSCP and ECN) as sent.
        tos_sent: u8,
        /// Traffic-class octet as it arrived at the far end; null when unknown.
        tos_seen_far: Option<u8>,
        /// Traffic-class octet of the answer as it arrived here; null when unknown.
        tos_seen_near: Option<u8>,
    }
}

table! {
    /// What one TCP stream did in one bin of time, as one of its ends saw it, with that end's `TCP_INFO` at the end of the bin.
    pub struct Series in "series" {
        /// End of the bin.
        t_ns: u64 => "ns",
        /// Length of the bin.
        bin_ns: u64 => "ns",
        /// Which stream, as `streams.id`.
        stream: u16,
        /// Where its data goes: `up`, `down` or `both`.
        direction: Label,
        /// Which end looked: `client` or `server`.
        end: Label,
        /// Payload that arrived at this end in this bin, behind a missing segment or not.
        delivered_bytes: Option<u64> => "bytes",
        /// Payload that was acknowledged to this end in this bin.
        acked_bytes: Option<u64> => "bytes",
        /// Smoothed round-trip time.
        rtt_us: Option<u32> => "us",
        /// Smallest round-trip time in the kernel's window.
        min_rtt_us: Option<u32> => "us",
        /// Congestion window.
        cwnd_segments: Option<u32> => "segments",
        /// Slow-start threshold.
        ssthresh_segments: Option<u32> => "segments",
        /// Segments retransmitted, cumulative.
        retransmits: Option<u64> => "segments",
        /// The kernel's latest estimate of the delivery rate.
        delivery_rate_bps: Option<u64> => "bps",
        /// The rate at which the kernel paces; null when it does not.
        pacing_rate_bps: Option<u64> => "bps",
        /// Time with data to send, cumulative.
        busy_us: Option<u64> => "us",
        /// Time stalled by the receiver's window, cumulative.
        rwnd_limited_us: Option<u64> => "us",
        /// Time stalled by the send buffer, cumulative.
        sndbuf_limited_us: Option<u64> => "us",
        /// Segments received, cumulative.
        segs_in: Option<u64> => "segments",
        /// Segments sent, cumulative.
        segs_out: Option<u64> => "segments",
        /// Segments received that carried data, cumulative.
        data_segs_in: Option<u64> => "segments",
        /// Segments sent that carried data, cumulative.
        data_segs_out: Option<u64> => "segments",
        /// Segments with data that arrived marked with congestion experienced, cumulative; null before Linux 6.18.
        ce_segs_in: Option<u64> => "segments",
        /// Segments that were acknowledged with an echo of congestion, cumulative: with the echo of RFC 3168, which lasts until
        /// it is answered, more than were marked.
        echoed_segs_out: Option<u64> => "segments",
    }
}

table! {
    /// One stream of the run: what it was to do and how it began and ended.
    pub struct Stream in "streams" {
        /// By which other tables name it.
        id: u16,
        /// For people: `tcp up CS1 #2`.
        name: String,
        /// What it is: `tcp_load`, `quic_load`, `udp_load`, `tcp_rr`, `udp_rr`, `udp_paced`, `voip`, `dns`, `trace`, `web`, `https` or another measurement's own.
        kind: Label,
        /// Where its data goes: `up`, `down` or `both`.
        direction: Label,
        /// DSCP by name: `EF`, `CS0`, `CS1`.
        class: Label,
        /// IP version: 4 or 6.
        family: u8,
        /// Which of the run's servers, from 0; null in records with only one.
        server: Option<u8>,
        /// ECN field of its datagrams as sent: `Not-ECT`, `ECT(0)` or `ECT(1)`; null for TCP.
        ecn: Option<Label>,
        /// Whether both ends of its TCP connection agreed on ECN; null for what is not one connection, or was never connected.
        ecn_agreed: Option<bool>,
        /// Payload of one of its datagrams or messages; null where there are none.
        message_bytes: Option<u32> => "bytes",
        /// Congestion control of the sender; null where there is none.
        congestion_control: Option<Label>,
        /// When it was to start.
        planned_ns: u64 => "ns",
        /// When it was connected; null when it never was.
        connected_ns: Option<u64> => "ns",
        /// When the first byte arrived; null when none did.
        first_byte_ns: Option<u64> => "ns",
        /// How much later than planned it was connected.
        slew_ms: Option<f64> => "ms",
        /// Payload delivered over the whole run.
        total_bytes: Option<u64> => "bytes",
        /// Payload sent over the whole run, of a load by UDP; null for others.
        sent_bytes: Option<u64> => "bytes",
        /// Segments retransmitted over the whole run.
        retransmits: Option<u64> => "segments",
    }
}

impl Stream {
    /// Whether it is there to fill the path.
    pub fn is_load(&self) -> bool {
        matches!(&*self.kind, "tcp_load" | "quic_load" | "udp_load")
    }
}

table! {
    /// A queue of an emulated link at one moment. All but its length is cumulative.
    pub struct Queue in "queue" {
        /// When.
        t_ns: u64 => "ns",
        /// The link's name in the topology.
        link: Label,
        /// Which of its directions: `up` is from the first node in its name to the second.
        direction: Label,
        /// Which element of the direction's pipeline.
        stage: Label,
        /// Packets waiting.
        packets: u64 => "packets",
        /// Bytes waiting.
        bytes: u64 => "bytes",
        /// Packets dropped because the queue was full.
        dropped_overflow: u64 => "packets",
        /// Packets dropped by active queue management.
        dropped_aqm: u64 => "packets",
        /// Packets dropped by emulated loss.
        dropped_loss: u64 => "packets",
        /// Packets marked with congestion experienced instead of being dropped.
        marked: u64 => "packets",
    }
}

table! {
    /// What left one direction of an emulated link in 100 us, by logical departure; bins without traffic are left out.
    pub struct Counters in "counters" {
        /// Start of the bin.
        t_ns: u64 => "ns",
        /// The link's name in the topology.
        link: Label,
        /// Which of its directions: `up` is from the first node in its name to the second.
        direction: Label,
        /// Packets that left.
        packets: u64 => "packets",
        /// Bytes that left, IP headers and the link's overhead included.
        bytes: u64 => "bytes",
    }
}

table! {
    /// One datagram of ours on one direction of an emulated link, noted as it left; one that was dropped has no row. Both
    /// ends of a lab have the same clock, so all times of a datagram can be subtracted from each other.
    pub struct Packet in "packets" {
        /// When the emulator had read it from the node that sends it.
        t_ns: u64 => "ns",
        /// The link's name in the topology.
        link: Label,
        /// Which of its directions: `up` is from the first node in its name to the second.
        direction: Label,
        /// Which stream, as `streams.id`.
        stream: u16,
        /// Number of the datagram in its stream, from 0; a reply has its request's.
        seq: u64,
        /// What it is: `request`, `reply`, or `one_way`, a datagram that wants no reply.
        kind: Label,
        /// Its logical departure: when it was due at the node that receives it.
        due_ns: u64 => "ns",
        /// When the emulator handed it to the node that receives it.
        left_ns: u64 => "ns",
        /// When its sender's program wrote it; a reply says when its request was written.
        sent_ns: u64 => "ns",
        /// When the far end received the request; null but in replies.
        received_ns: Option<u64> => "ns",
        /// When the far end's program wrote the reply; null but in replies.
        replied_ns: Option<u64> => "ns",
    }
}

table! {
    /// How busy one host was since its previous row.
    pub struct Cpu in "cpu" {
        /// End of the interval.
        t_ns: u64 => "ns",
        /// The host's role, as `hosts[].role` in run.json.
        host: Label,
        /// Time that all processors together were not idle, of what they have.
        busy_pct: f64 => "pct",
        /// Time not available to one more thread on the processor that had least to spare: working or stolen.
        max_pct: f64 => "pct",
        /// Time that the hypervisor gave to others, of what all processors have.
        steal_pct: f64 => "pct",
        /// Processor time of this process, of one processor; above 100 with several threads.
        process_pct: f64 => "pct",
        /// Periods of its quota in which the process had used it up, of those in which it worked; null without a quota.
        throttled_pct: Option<f64> => "pct",
    }
}

table! {
    /// One load of a web page.
    pub struct PageLoad in "page_loads" {
        /// When it was begun.
        t_ns: u64 => "ns",
        /// By which `page_objects` names it: numbered through the run, from 0.
        load: u32,
        /// Which stream, as `streams.id`.
        stream: u16,
        /// What loaded it: `native`, `chromium`, or `browser`: a visitor's.
        loader: Label,
        /// `http/1.1`, `h2` or `h3`, as agreed with the page's own host.
        protocol: Label,
        /// Name of the page model, or the URL.
        page: String,
        /// Until all of the page was there (the browser's load event); null when it never was.
        load_ns: Option<u64> => "ns",
        /// Until all of the page was there, the load had failed, or its time was up; null in records of before.
        spent_ns: Option<u64> => "ns",
        /// Until the first octet of the document; null when there was none.
        first_byte_ns: Option<u64> => "ns",
        /// Objects that were loaded.
        objects: u32,
        /// Objects that could not be loaded.
        failed: u32,
        /// Octets of all bodies.
        bytes: u64 => "bytes",
        /// Why it failed, in one line; null when it did not.
        error: Option<String>,
    }
}

table! {
    /// One object of a web page in one load: its bar in the waterfall. The phases follow each other; null is a phase that
    /// did not take place (a connection that was there already) or that the browser did not tell.
    pub struct PageObject in "page_objects" {
        /// When the loader found out that it needs the object.
        t_ns: u64 => "ns",
        /// Which load, as `page_loads.load`.
        load: u32,
        /// Number of the object in the page, from 0: the document.
        object: u16,
        /// Host that serves it.
        host: String,
        /// Path and query of its URL.
        path: String,
        /// What it is: `document`, `style`, `script`, `image`, `font`, `fetch` or `other`.
        kind: Label,
        /// Waited for a connection: others had them all.
        blocked_ns: Option<u64> => "ns",
        /// Looked up the host's name.
        dns_ns: Option<u64> => "ns",
        /// Connected by TCP; null over HTTP/3.
        connect_ns: Option<u64> => "ns",
        /// Agreed on TLS; over HTTP/3 the handshake of QUIC, which has it in it.
        tls_ns: Option<u64> => "ns",
        /// Sent the request and waited for the first octet of the answer.
        wait_ns: Option<u64> => "ns",
        /// From the first octet to the last.
        receive_ns: Option<u64> => "ns",
        /// From `t_ns` to the last octet; null when it never came.
        total_ns: Option<u64> => "ns",
        /// Octets of the body.
        bytes: u64 => "bytes",
        /// Status of the answer; null when there was none.
        status: Option<u16>,
        /// Number of the connection within the load, from 0; null when unknown.
        connection: Option<u16>,
    }
}

table! {
    /// One probe of a path trace: a datagram that lives for some hops only, and the answer of the router where it ended.
    pub struct Hop in "hops" {
        /// When the probe was sent.
        t_ns: u64 => "ns",
        /// Which stream, as `streams.id`.
        stream: u16,
        /// From which end it was sent: `up` from the client, `down` from the server.
        direction: Label,
        /// How many hops it was to live.
        ttl: u8,
        /// Who answered; null when nobody did.
        address: Option<String>,
        /// Round trip to there; null when nobody answered.
        rtt_ns: Option<u64> => "ns",
        /// Whether it was the other end that answered.
        is_end: bool,
    }
}

table! {
    /// One small request on a new HTTPS connection: the foreign probe of draft-ietf-ippm-responsiveness section 4.3.
    pub struct HttpsProbe in "https_probes" {
        /// When it was begun.
        t_ns: u64 => "ns",
        /// Which stream, as `streams.id`.
        stream: u16,
        /// Connected by TCP; null when that failed.
        connect_ns: Option<u64> => "ns",
        /// Agreed on TLS; null when that failed.
        tls_ns: Option<u64> => "ns",
        /// Sent the request and received the answer; null when that failed.
        http_ns: Option<u64> => "ns",
    }
}
