"""What records hold, as classes: the whole of `run.json`, and the summary of every measurement.

Written by scripts/python_types.py from docs/schema; do not edit. Units are in the names: `_ms`, `_mbps` (10^6 bit/s),
`_pct` (per cent), `_bytes` (octets). What was not measured is None.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .figures import Figures


class RunClock(Figures):
    """The clocks of a host."""

    error_us: float | None
    """The kernel's bound on the error of its wall clock; null when unknown."""

    source: str | None
    """The kernel's clock source, such as `tsc`; null when unknown."""

    synchronized: bool | None
    """Whether the kernel holds its wall clock to be synchronised; null when unknown."""


class RunCongestionControl(Figures):
    """The congestion controls of a host's kernel."""

    available: list[str]
    """Those that a socket may ask for."""

    default: str | None
    """The one that a socket gets unless it asks; null when unknown."""


class RunCpuUse(Figures):
    """How busy a host was over the run."""

    host: str
    """The host's role, as in `hosts`."""

    max_pct: float
    """The same over the busiest interval of the table `cpu`."""

    mean_pct: float
    """Mean share of all processors' time that was not idle."""

    steal_pct: float
    """Mean share that the hypervisor gave to others."""


class Distribution(Figures):
    """A distribution in eight figures. All but `n` are in the unit that the field's name ends in."""

    max: float
    """Largest sample."""

    mean: float
    """Arithmetic mean."""

    min: float
    """Smallest sample."""

    n: int
    """Number of samples."""

    p50: float
    """Median."""

    p90: float
    """90th percentile."""

    p95: float
    """95th percentile."""

    p99: float
    """99th percentile."""


class RunEndpoint(Figures):
    """The addresses of one end."""

    addresses: list[str]
    """As this end sees them."""

    seen_as: list[str]
    """As the other end sees them; different behind a translator."""


class RunHost(Figures):
    """A machine that took part."""

    clock: RunClock
    """Its clocks."""

    congestion_control: RunCongestionControl
    """What its kernel offers for TCP."""

    cpu: str
    """Model of its processors."""

    cpus: int
    """Number of its processors."""

    isobath: str
    """Version of isobath there."""

    kernel: str
    """Name, release and version of its kernel."""

    name: str
    """Its own name."""

    role: str
    """What it did: `client`, `server`, or a name in the lab's topology."""

    tcp_ecn: int | None
    """Whether its TCP asks for ECN and agrees to it, as `net.ipv4.tcp_ecn` has it; absent when
    unknown."""

    _parts: ClassVar[dict[str, str]] = {"clock": "RunClock", "congestion_control": "RunCongestionControl"}


class RunInstrument(Figures):
    """How good the instrument was: whether the figures are the path's or the machine's."""

    cpu: list[RunCpuUse]
    """How busy each host was."""

    kernel_stamps_pct: float | None
    """Share of samples stamped by the kernel rather than by the program."""

    lateness: list[RunLateness]
    """How punctual each thread was that had deadlines to keep."""

    longest_stall_ms: float | None
    """The longest of these standstills."""

    stalls: int | None
    """How often the event loop stood still for longer than its limit; null when nobody looked."""

    _parts: ClassVar[dict[str, str]] = {"cpu": "RunCpuUse", "lateness": "RunLateness"}


class RunLabInfo(Figures):
    """The emulated network of a run."""

    congestion_control: str | None
    """TCP's congestion control of every socket of Isobath in it that the plan gives no other; null in
    virtual time, and in records of versions that did not tell."""

    links: list[RunLabLink]
    """Its links."""

    name: str
    """Its name in the list of labs, or its file."""

    programs_congestion_control: str | None
    """TCP's congestion control of other programs in it: the default of its nodes."""

    _parts: ClassVar[dict[str, str]] = {"links": "RunLabLink"}


class RunLabLink(Figures):
    """An emulated link."""

    down: Any
    """What they meet on the way back."""

    name: str
    """Its name, as in the tables `queue` and `counters`."""

    up: Any
    """What packets meet from the first node in its name to the second, as the topology describes it."""


class RunLateness(Figures):
    """How punctual a thread was."""

    late_us: Distribution
    """By how much it was late, over all deadlines."""

    missed: int
    """Deadlines kept too late to be of use."""

    of: str
    """Whose deadlines: `client voip sender`, `lab dsl forward`."""

    _parts: ClassVar[dict[str, str]] = {"late_us": "Distribution"}


class RunPathInfo(Figures):
    """Between whom the run took place, as far as each end knows."""

    client: RunEndpoint
    """The end that was told to measure."""

    families: list[int]
    """IP versions that carried the measurement: 4, 6."""

    lab: RunLabInfo | None
    """The emulated network, when there was one."""

    server: RunEndpoint
    """The far end."""

    _parts: ClassVar[dict[str, str]] = {"client": "RunEndpoint", "lab": "RunLabInfo", "server": "RunEndpoint"}


class RunWarning(Figures):
    """Something that the reader should know, and what to do about it."""

    advice: str
    """What to do about it, in one line."""

    code: str
    """For programs: a stable word such as `cpu_saturated`."""

    message: str
    """What is the matter, in one line."""


class RunFile(Figures):
    """One run: the content of `run.json`, and what `--json` prints."""

    hosts: list[RunHost]
    """The machines that took part."""

    id: str
    """Unique: the time of the start and a random suffix."""

    instrument: RunInstrument
    """How good the instrument itself was."""

    path: RunPathInfo
    """Between whom, and through which emulated path if any."""

    plan: Any
    """What was to be done: every option and seed, as the measurement understood them."""

    schema: str
    """Always [`SCHEMA`]."""

    started: str
    """When the run started, by the wall clock of the client."""

    status: Literal["complete", "incomplete", "invalid", "failed"]
    """How the run ended."""

    summary: Any
    """The figures; which ones depends on the measurement."""

    test: str
    """The measurement: `rrul`, `btc`, `mbm`, ..."""

    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE", "ERROR"] | None
    """What it found, where the measurement has a question to answer."""

    warnings: list[RunWarning]
    """What the reader should know before believing the figures."""

    _parts: ClassVar[dict[str, str]] = {"hosts": "RunHost", "instrument": "RunInstrument", "path": "RunPathInfo", "warnings": "RunWarning"}


class RrulAckFigures(Figures):
    """What acknowledgements took. Their number is counted or modelled; their size is always that of the
    headers."""

    basis: str
    """Where their number is from: `counted` by TCP itself, or `modelled` as one for two full
    segments."""

    per_s: float
    """Acknowledgements in a second."""

    v4_mbps: float
    """Those that went by IPv4, in Mbit/s."""

    v6_encapsulated_mbps: float
    """What those by IPv6 would take inside IPv4 (6in4, RFC 4213): always modelled."""

    v6_mbps: float
    """Those that went by IPv6, in Mbit/s."""


class RrulAcks(Figures):
    """Acknowledgements by the direction in which they travelled."""

    down: RrulAckFigures | None
    """Down, for the load up."""

    up: RrulAckFigures | None
    """Up, for the load down."""

    _parts: ClassVar[dict[str, str]] = {"down": "RrulAckFigures", "up": "RrulAckFigures"}


class RrulAdaptive(Figures):
    """What one end of a call heard behind an adaptive jitter buffer (Moon, Kurose and Towsley 1998)."""

    late_pct: float
    """Came after they should have been played."""

    mos: float | None
    """Mean opinion score."""

    playout_ms: float | None
    """Mean time from when a datagram was sent until it was played; null when nothing arrived."""

    r: float | None
    """The E-model's rating factor."""


class RrulBeside(Figures):
    """Round trips with a far end beside the servers."""

    loss_pct: RrulShares
    """Share of the requests that were never answered; null over a connection, which repeats what is
    lost."""

    rtt_ms: RrulPhases
    """The round trips, without the time that the far end says it took itself."""

    _parts: ClassVar[dict[str, str]] = {"loss_pct": "RrulShares", "rtt_ms": "RrulPhases"}


class RrulBounds(Figures):
    """The 95 % confidence interval of a figure, in its unit."""

    high: float
    """Upper end."""

    low: float
    """Lower end."""

    n: float
    """From so many values: seconds, of which neighbours that are alike count less; or requests, of a
    share."""


class RrulCallFigures(Figures):
    """What one end of a call heard: the figures under load where there was load, else the idle ones."""

    idle: RrulHeard | None
    """All of it before the load."""

    jitter_ms: float | None
    """99th percentile of the delay variation against the least delay (RFC 5481 section 4.2)."""

    late_pct: float | None
    """Datagrams that came more than 30 ms after the least delay of the phase: too late to be heard. (A
    queue that only stands is delay, not jitter; a jitter buffer adapts to it.)"""

    loaded: RrulHeard | None
    """All of it under load."""

    loss_pct: float | None
    """Datagrams that never arrived."""

    mos: float | None
    """Mean opinion score by the E-model, 1 (bad) to 4.5 (excellent); G.711 with concealment, a jitter
    buffer of 30 ms."""

    mos_adaptive: float | None
    """The same behind a jitter buffer that adapts to the path."""

    _parts: ClassVar[dict[str, str]] = {"idle": "RrulHeard", "loaded": "RrulHeard"}


class RrulCalls(Figures):
    """The calls of a class."""

    down: RrulCallFigures
    """What the client heard."""

    up: RrulCallFigures
    """What the server heard."""

    _parts: ClassVar[dict[str, str]] = {"down": "RrulCallFigures", "up": "RrulCallFigures"}


class RrulClockFigures(Figures):
    """How the far end's clock runs against the client's."""

    offset_ms: float
    """What is still to be taken off the one-way delay up in the table `samples` (and added to that
    down) at the run's start."""

    skew_ppm: float
    """How much that grows."""


class RrulDatagramRates(Figures):
    """A rate by phase, in Mbit/s."""

    idle: float | None
    """Before the load."""

    loaded: float | None
    """Under load."""


class RrulDatagrams(Figures):
    """What probes and calls took of the path, in Mbit/s."""

    down: RrulDatagramRates
    """As they reached the client."""

    up: RrulDatagramRates
    """As the client sent them."""

    _parts: ClassVar[dict[str, str]] = {"down": "RrulDatagramRates", "up": "RrulDatagramRates"}


class RrulEcnFigures(Figures):
    """What became of the ECN field (RFC 3168)."""

    bleached_pct: float | None
    """Share of ECN-capable datagrams that arrived as not capable: somebody clears the field."""

    ce_pct: float | None
    """Share of ECN-capable datagrams that arrived with congestion experienced, up and down together."""

    sent: dict[str, RrulMarks]
    """By the field as sent: `Not-ECT`, `ECT(0)`, `ECT(1)`; empty when no datagram was ECN-capable."""

    tcp: RrulTcpEcn
    """What became of the TCP load."""

    _parts: ClassVar[dict[str, str]] = {"sent": "{}RrulMarks", "tcp": "RrulTcpEcn"}


class RrulEstimate(Figures):
    """A mean with its uncertainty (Student's t)."""

    ci95: list[float] | None
    """Its 95 % confidence interval; null for a single value."""

    mean: float
    """The mean."""

    sd: float | None
    """The standard deviation; null for a single value."""


class RrulFairness(Figures):
    """How alike the load streams fared. Jain's index: 1 is equal shares, 1/n is one that has all."""

    down: float | None
    """Of all streams down over the loaded time; null with fewer than two."""

    like_100ms_down: Distribution | None
    """Of like streams in each 100 ms, down."""

    like_100ms_up: Distribution | None
    """The same up."""

    like_down: float | None
    """Of like streams (same class) over the loaded time, down: the mean of the classes; null where no
    class has two."""

    like_up: float | None
    """The same up."""

    up: float | None
    """Of all streams up."""

    v6_over_v4_down: float | None
    """A stream's mean rate by IPv6 over one by IPv4, down, headers of its segments included; null with
    only one of them."""

    v6_over_v4_up: float | None
    """The same up."""

    _parts: ClassVar[dict[str, str]] = {"like_100ms_down": "Distribution", "like_100ms_up": "Distribution"}


class RrulHeard(Figures):
    """What one end of a call heard in one phase."""

    adaptive: RrulAdaptive | None
    """The same datagrams behind a jitter buffer that adapts to the path."""

    burst_ratio: float | None
    """How much burstier the losses are than independent ones (G.107): 1 is not at all."""

    delay_ms: Distribution | None
    """One-way delay, clocks corrected."""

    ipdv_ms: float | None
    """Mean difference between one datagram's delay and the next one's (RFC 3393)."""

    jitter_ms: float | None
    """99th percentile of it."""

    late_pct: float
    """Came too late."""

    longest_loss_run: int
    """Most datagrams in a row that were lost or late."""

    loss_pct: float
    """Never arrived."""

    mos: float | None
    """Mean opinion score."""

    r: float | None
    """The E-model's rating factor, 0 to 93.2."""

    reordered: int
    """Overtaken by a later one (RFC 4737)."""

    sent: int
    """Datagrams that were sent."""

    variation_ms: Distribution | None
    """Delay variation against the least delay of the phase."""

    _parts: ClassVar[dict[str, str]] = {"adaptive": "RrulAdaptive", "delay_ms": "Distribution", "variation_ms": "Distribution"}


class RrulHopFigures(Figures):
    """One hop."""

    address: str | None
    """Who answered most often; null when nobody did."""

    answered_idle_pct: float | None
    """Share of probes that were answered before the load."""

    answered_loaded_pct: float | None
    """Share of probes that were answered under load."""

    hop: int
    """How many hops away."""

    idle_ms: float | None
    """Median round trip before the load."""

    is_end: bool
    """Whether this is the other end, which replies by itself; routers answer by ICMP."""

    loaded_ms: float | None
    """Median round trip under load."""


class RrulLatency(Figures):
    """Round trips, of all classes and of each."""

    by_class: dict[str, RrulPhases]
    """The same by DSCP name."""

    by_family: dict[str, RrulPhases]
    """The same by IP version: `v4`, `v6`."""

    idle: Distribution | None
    """Before the load, all classes."""

    loaded: Distribution | None
    """Under load, all classes."""

    of: str | None
    """Whose they are: `udp_rr`, or of a far end that answers no such requests `icmp_rr` or
    `tcp_connect`, of a browser `wt_rr` or `ws_rr`."""

    _parts: ClassVar[dict[str, str]] = {"by_class": "{}RrulPhases", "by_family": "{}RrulPhases", "idle": "Distribution", "loaded": "Distribution"}


class LinkTruth(Figures):
    """What the counters of one direction of a link say of the time under load."""

    carried_mbps: float
    """What it carried, IP headers included."""

    direction: str
    """`up` is from the first node to the second."""

    dropped_aqm: int
    """Packets dropped in the whole run by queue management."""

    dropped_loss: int
    """Packets dropped in the whole run by emulated loss."""

    dropped_overflow: int
    """Packets dropped in the whole run because the queue was full."""

    emulator_late_p50_us: float
    """Median lateness of the emulator behind the logical departure."""

    emulator_late_p99_us: float
    """Its 99th percentile."""

    link: str
    """The link: its two nodes."""

    marked: int
    """Packets marked in the whole run."""

    queue_ms: Distribution | None
    """The queue's length as the time it takes to drain; null for a link without a rate."""

    rate_mbps: float | None
    """The configured rate, or a trace's mean; null for a link without one."""

    unwritten: int
    """Packets that the emulator could not hand back to the kernel."""

    _parts: ClassVar[dict[str, str]] = {"queue_ms": "Distribution"}


class RrulLoadLoss(Figures):
    """Share of the datagrams of load by UDP that did not arrive, in per cent."""

    down: float | None
    """Of those sent to the client."""

    up: float | None
    """Of those sent to the server."""


class RrulLoaderFigures(Figures):
    """The loads of one loader."""

    idle_mean_ms: RrulEstimate | None
    """The same over the idle path."""

    idle_ms: Distribution | None
    """Over the idle path."""

    idle_per_page_ms: float | None
    """Time spent on loads for each page that was loaded, over the idle path."""

    loaded_mean_ms: RrulEstimate | None
    """Mean, standard deviation and 95 % confidence interval of the mean under load."""

    loaded_ms: Distribution | None
    """Under load."""

    loaded_per_page_ms: float | None
    """The same under load."""

    responsiveness: float | None
    """The former over the latter, times 100."""

    _parts: ClassVar[dict[str, str]] = {"idle_mean_ms": "RrulEstimate", "idle_ms": "Distribution", "loaded_mean_ms": "RrulEstimate", "loaded_ms": "Distribution"}


class RrulMarks(Figures):
    """What became of one class, or of one ECN field."""

    down: dict[str, int]
    """What packets of this mark arrived with at the client, and how many (datagrams)."""

    up: dict[str, int]
    """What packets of this mark arrived with at the server, and how many (datagrams and, for a class,
    TCP handshakes)."""


class RrulPathFigures(Figures):
    """Where delay under load begins, seen from both ends."""

    between: list[str] | None
    """The two ends of the link where the queue is, as far as the two traces tell; the first is nearer
    to the client."""

    down: RrulTrace
    """Traced from the server."""

    up: RrulTrace
    """Traced from the client."""

    _parts: ClassVar[dict[str, str]] = {"down": "RrulTrace", "up": "RrulTrace"}


class RrulPenalty(Figures):
    """Bad behaviour that the run has shown."""

    code: str
    """For programs."""

    evidence: str
    """Where it is to be seen: figures of the summary, or a table."""

    message: str
    """For people: what was seen."""


class RrulPhases(Figures):
    """The same figure, idle and loaded."""

    idle: Distribution | None
    """Before the load."""

    loaded: Distribution | None
    """Under load."""

    _parts: ClassVar[dict[str, str]] = {"idle": "Distribution", "loaded": "Distribution"}


class RrulRetransmitted(Figures):
    """Share of the load's segments that were retransmissions, in per cent: at least what was lost."""

    down: float | None
    """Of those sent to the client."""

    up: float | None
    """Of those sent to the server."""


class RrulRpm(Figures):
    """Round trips per minute (draft-ietf-ippm-responsiveness)."""

    http_ms: float | None
    """Trimmed mean of requests on new connections under load."""

    idle: float | None
    """Before the load."""

    loaded: float | None
    """Under load."""

    self_ms: float | None
    """Trimmed mean of the round trips of the load's own connections, by the kernel's estimate. (The
    draft sends requests on them; ours carry nothing but load.)"""

    tcp_ms: float | None
    """Trimmed mean of TCP handshakes under load."""

    tls_ms: float | None
    """Trimmed mean of TLS handshakes under load."""


class RrulScore(Figures):
    """The score. A part that was not measured is null; without all five there is no total."""

    classification: float | None
    """Classes: whether marks survive, background stays in the background, and the urgent class does not
    take all."""

    fairness: float | None
    """Like streams: whether they share alike, and IPv6 as IPv4."""

    realtime: float | None
    """Small exchanges: how much of their idle quickness remains, and whether any is lost."""

    total: float | None
    """The sum of the five parts, 0 to 100."""

    voip: float | None
    """Calls: how much of their idle quality remains."""

    web: float | None
    """Pages: how much of their idle speed remains under load."""

    why: dict[str, str]
    """How each part came about, by its name."""


class RrulShares(Figures):
    """Shares in per cent."""

    idle: float | None
    """Before the load."""

    loaded: float | None
    """Under load."""


class RrulTcpEcn(Figures):
    """ECN of the TCP load, by direction; null without load."""

    down: RrulTcpMarks | None
    """Of the load from the server."""

    up: RrulTcpMarks | None
    """Of the load to the server."""

    _parts: ClassVar[dict[str, str]] = {"down": "RrulTcpMarks", "up": "RrulTcpMarks"}


class RrulTcpMarks(Figures):
    """What the kernels say of the load streams of one direction, over the whole run."""

    agreed: int
    """Those whose ends did."""

    ce_pct: float | None
    """The same as a share of the segments with data that arrived."""

    ce_segments: int | None
    """Segments with data that arrived with congestion experienced, as the receivers counted them; null
    before Linux 6.18."""

    echoed_segments: int | None
    """Segments that were acknowledged with an echo of congestion. The echo of RFC 3168 lasts until the
    sender has answered it, so there are more of them than marks."""

    streams: int
    """Streams of which the kernel tells whether their ends agreed on ECN."""


class RrulThroughput(Figures):
    """Rates in Mbit/s, means over the loaded time."""

    ack_down: float | None
    """Acknowledgements that travelled down, for the load up."""

    ack_up: float | None
    """Acknowledgements that travelled up, for the load down."""

    down: float | None
    """Payload of the load delivered to the client."""

    down_by_class: dict[str, float]
    """Payload down, by class."""

    down_by_family: dict[str, float]
    """Payload down, by IP version: `v4`, `v6`."""

    sum: float | None
    """Both together."""

    up: float | None
    """Payload of the load delivered to the server."""

    up_by_class: dict[str, float]
    """Payload up, by class."""

    up_by_family: dict[str, float]
    """Payload up, by IP version."""

    wire_down: float | None
    """All that the load and its acknowledgements took down, headers from the IP header on included."""

    wire_sum: float | None
    """Both together (RRUL: "MUST track and sum bi-directional throughput, using estimates for ACK
    sizes")."""

    wire_up: float | None
    """The same up."""


class RrulTimes(Figures):
    """When what took place, in seconds after the run's start."""

    boost_mbps: list[float] | None
    """Throughput before and after the end of the burst allowance, in Mbit/s."""

    discarded: list[list[float]]
    """Left out of the loaded figures because the path carried more than it sustains."""

    idle: list[float] | None
    """Nothing but probes: the idle figures are from here."""

    load: list[float] | None
    """The load ran."""

    loaded: list[float] | None
    """All of the load ran and had settled: the loaded figures are from here."""

    web_idle: list[float] | None
    """Pages were loaded over the idle path."""


class RrulTrace(Figures):
    """The path as traced from one end."""

    hop: int | None
    """The first hop at which delay under load rises and stays; null when there is none, or nothing was
    traced."""

    hops: list[RrulHopFigures]
    """The hops from near to far."""

    rise_ms: float | None
    """By how much, in the median."""

    _parts: ClassVar[dict[str, str]] = {"hops": "RrulHopFigures"}


class RrulTransferred(Figures):
    """Octets of payload."""

    down: int | None
    """To the client, in the whole run."""

    loaded_down: int | None
    """To the client, in the loaded time."""

    loaded_up: int | None
    """To the server, in the loaded time."""

    up: int | None
    """To the server, in the whole run."""


class RrulWebFigures(Figures):
    """Page loads, idle and loaded."""

    by_loader: dict[str, RrulLoaderFigures]
    """By what loaded them and how: `chromium`, `browser`, `native h2`, `native h3`, `native
    http/1.1`."""

    cut_off: int
    """Loads that the end of their phase cut off."""

    failed: int
    """Loads that failed, idle and loaded together."""

    first_byte_ms: RrulPhases
    """Time until the first octet of the document."""

    idle_ms: Distribution | None
    """Time until all of the page was there, over the idle path: of the browser where there was one,
    else of the native loader."""

    idle_per_page_ms: float | None
    """Time spent on loads for each page that was loaded, over the idle path: what failed or was cut off
    counts, too."""

    loaded_ms: Distribution | None
    """The same under load."""

    loaded_per_page_ms: float | None
    """The same under load; where no page was loaded all of the time, and the true figure is larger."""

    page: str
    """What was loaded: a page model's name, or a URL."""

    responsiveness: float | None
    """The former over the latter, times 100: 100 is a page that does not notice the load (RRUL, *The
    RRUL Score*)."""

    short_flow_mbps: RrulPhases
    """Rates of single objects, request to last octet, in Mbit/s: how fast short flows go."""

    _parts: ClassVar[dict[str, str]] = {"by_loader": "{}RrulLoaderFigures", "first_byte_ms": "RrulPhases", "idle_ms": "Distribution", "loaded_ms": "Distribution", "short_flow_mbps": "RrulPhases"}


class RrulSummary(Figures):
    """The figures of a run of the RRUL family. What was not measured is null or empty."""

    acks: RrulAcks
    """What the acknowledgements of the load took, by the direction in which they travelled."""

    beside: dict[str, RrulBeside]
    """Far ends beside the servers, by their addresses as they were named."""

    bottleneck: RrulPathFigures | None
    """Where delay under load begins."""

    ci95: dict[str, RrulBounds]
    """How sure the figures are that people ask for first, by their path in this summary, such as
    `latency_ms.loaded.p50`: of medians and rates from their values by the second, of shares by Wilson's
    interval. Means of pages have their own."""

    clock: RrulClockFigures | None
    """How far the far end's clock is from the client's, found from the one-way delays."""

    datagrams_mbps: RrulDatagrams
    """Rates of the datagrams of probes and calls, IP header included."""

    dns_ms: RrulPhases
    """Look-ups of names."""

    dscp: dict[str, RrulMarks]
    """What became of the classes, by class and direction."""

    ecn: RrulEcnFigures
    """What became of the ECN field."""

    fairness: RrulFairness
    """How alike the load streams fared."""

    families: dict[str, int]
    """Streams by IP version."""

    lab: list[LinkTruth]
    """The emulated links' own counters; empty on a real path."""

    latency_ms: RrulLatency
    """Round trips of all classes: of UDP, where the far end answers such requests."""

    load_loss_pct: RrulLoadLoss
    """Share of the datagrams of load by UDP that did not arrive, over the whole run."""

    loss_pct: RrulShares
    """Share of the requests of `latency_ms` that were never answered."""

    paced_loss_pct: RrulShares
    """Share of paced requests that were never answered."""

    paced_ms: RrulPhases
    """UDP round trips of paced requests, an open loop: each moment counts alike."""

    penalties: list[RrulPenalty]
    """Bad behaviour, by name."""

    phases: RrulTimes
    """When what took place."""

    retransmitted_pct: RrulRetransmitted
    """Share of the load's segments under load that were retransmissions."""

    rpm: RrulRpm | None
    """Round trips per minute under load (draft-ietf-ippm-responsiveness)."""

    score: RrulScore | None
    """The five parts of the score."""

    slew_ms: Distribution | None
    """How much later than planned each TCP stream was connected: the handshake, and what was lost of
    it."""

    tcp_rr_ms: RrulPhases
    """TCP round trips of all classes: request and reply on a connection of their own."""

    throughput_mbps: RrulThroughput
    """TCP load while every load stream ran."""

    transferred_bytes: RrulTransferred
    """Payload of the load delivered."""

    voip: dict[str, RrulCalls]
    """Calls, by class."""

    web: RrulWebFigures | None
    """Page loads."""

    _parts: ClassVar[dict[str, str]] = {"acks": "RrulAcks", "beside": "{}RrulBeside", "bottleneck": "RrulPathFigures", "ci95": "{}RrulBounds", "clock": "RrulClockFigures", "datagrams_mbps": "RrulDatagrams", "dns_ms": "RrulPhases", "dscp": "{}RrulMarks", "ecn": "RrulEcnFigures", "fairness": "RrulFairness", "lab": "LinkTruth", "latency_ms": "RrulLatency", "load_loss_pct": "RrulLoadLoss", "loss_pct": "RrulShares", "paced_loss_pct": "RrulShares", "paced_ms": "RrulPhases", "penalties": "RrulPenalty", "phases": "RrulTimes", "retransmitted_pct": "RrulRetransmitted", "rpm": "RrulRpm", "score": "RrulScore", "slew_ms": "Distribution", "tcp_rr_ms": "RrulPhases", "throughput_mbps": "RrulThroughput", "transferred_bytes": "RrulTransferred", "voip": "{}RrulCalls", "web": "RrulWebFigures"}


class BtcPair(Figures):
    """One repetition: our transfer, or our parallel ones together, and the kernel's."""

    difference_pct: float
    """By how much ours was faster, of the kernel's."""

    first: str
    """What came first: `ours` or `kernel`."""

    kernel_loss_pct: float | None
    """Loss of the kernel's."""

    kernel_mbps: float
    """Throughput of the kernel's."""

    ours_loss_pct: float | None
    """Loss of ours."""

    ours_mbps: float
    """Throughput of ours."""

    repeat: int
    """Which repetition, from 0."""


class BtcSide(Figures):
    """The transfers of one tool."""

    cc: str
    """Congestion control."""

    loss_pct: float | None
    """Packets that did not arrive, of all that were sent."""

    retransmits: int
    """Those of them that were copies."""

    seconds: float | None
    """Mean time of a transfer."""

    sent_packets: int
    """Packets that left with payload."""

    throughput_mbps: Distribution | None
    """Over the repetitions."""

    _parts: ClassVar[dict[str, str]] = {"throughput_mbps": "Distribution"}


class BtcSummary(Figures):
    """The figures of a run: of our transfers, unless a field says otherwise."""

    difference_pct: Distribution | None
    """By how much ours was faster than the kernel's, of each pair."""

    duplicates: int
    """Packets that brought what had arrived before."""

    interface_dropped: int | None
    """Packets, whoever's they were, that the sending host's own interface dropped during the transfers;
    null where that is not known."""

    kernel: BtcSide | None
    """The kernel's."""

    largest_flight: int | None
    """Most segments of one transfer that were out at a time; null when no transfer tells."""

    loss_agreement_pct: float | None
    """Share of the pairs whose losses differ by at most one percentage point."""

    loss_pct: float | None
    """Packets that did not arrive, of all that were sent."""

    lost_windows: int
    """Timeouts at which a whole window was out and nothing of it had arrived (RFC 3148 section
    3.2.2)."""

    most_overtaking: int | None
    """Most packets that overtook one; null when no transfer tells."""

    ours: BtcSide | None
    """Our transfers, where they were compared."""

    outcomes: dict[str, int]
    """How the transfers ended, by outcome: those of the kernel among them."""

    pairs: list[BtcPair]
    """The pairs, in the order of the repetitions."""

    reordered: int
    """Packets that arrived after one that had left later."""

    reordered_by_3: int
    """Those of them that at least three of these had overtaken: enough for TCP's fast retransmit (RFC
    5681 section 3.2)."""

    retransmits: int
    """Packets that were copies of segments sent before."""

    rtt_ms: Distribution | None
    """Round trips, as the sender took them."""

    seconds: float | None
    """Mean time of a transfer."""

    segments: int
    """Segments acknowledged, all transfers together."""

    tcp_needs: list[str]
    """What a TCP needs to get the same (RFC 3148 section 3.5): `window-scaling` (RFC 7323), since more
    than 65,535 octets were out at a time; `sack` (RFC 2018), since more was lost within a window than
    one segment."""

    throughput_ci_mbps: list[float] | None
    """95 % interval of that mean over the repetitions (Student's t), lower and upper bound; null of
    fewer than two."""

    throughput_mbps: float | None
    """Payload acknowledged over time: of one repetition, its parallel transfers together; the mean over
    repetitions. Null when no transfer has a figure."""

    _parts: ClassVar[dict[str, str]] = {"difference_pct": "Distribution", "kernel": "BtcSide", "ours": "BtcSide", "pairs": "BtcPair", "rtt_ms": "Distribution"}


class MbmCheck(Figures):
    """A precondition, as it was when last looked at."""

    evidence: str
    """The evidence, in words."""

    held: bool | None
    """Whether it held; null when not yet known."""

    name: str
    """Which: `rate_sent`, `rate_arrived`, `pattern`, `clock` or `stretch`."""


class MbmConservativeness(Figures):
    """How cautious a target's run length is."""

    p0: float
    """The loss rate that is still good, as a fraction."""

    p1: float
    """The loss rate that is too high, as a fraction."""

    predictions: list[MbmPrediction]
    """What transports would reach there."""

    _parts: ClassVar[dict[str, str]] = {"predictions": "MbmPrediction"}


class MbmCounts(Figures):
    """Packets whose fate is known."""

    ce: int
    """Of these, packets that arrived with congestion experienced."""

    lost: int
    """Of these, packets that did not arrive."""

    packets: int
    """Packets sent."""


class MbmFirstMark(Figures):
    """The first loss or mark of a scan."""

    queue_ns: int
    """Standing queue before it: the last round trip less the shortest."""

    round_marks: int
    """Losses and marks among the packets of one window, beginning with it."""

    seq: int
    """The packet's number."""

    window: int
    """The window by which it left."""


class MbmHypotheses(Figures):
    """What is asked: two loss rates and two error probabilities."""

    alpha: float
    """Probability of failing at `p0`, at most."""

    beta: float
    """Probability of passing at `p1`, at most."""

    p0: float
    """A loss rate that is good, as a fraction."""

    p1: float
    """A loss rate that is bad."""


class MbmLines(Figures):
    """The two lines of the test in the plane of packets and marks, for a plot: of `n` packets up to
    `marks_per_packet n - below` pass, and from `marks_per_packet n + above` on fail."""

    above: float
    """How many marks the failing line is above it."""

    below: float
    """How many marks the passing line is below zero before the first packet."""

    marks_per_packet: float
    """By how many marks both lines rise with each packet."""


class MbmLossReport(Figures):
    """What became of the packets of a test."""

    counts: MbmCounts
    """Packets, losses and marks."""

    duplicates: int
    """Further copies of packets that had arrived."""

    late: int
    """Packets that came after they had been given up; they count as lost."""

    loss: MbmShare | None
    """Losses and marks as a share; null without packets."""

    reordering: MbmReorderingReport | None
    """Reordering; null where it could not be seen."""

    runs: MbmRuns | None
    """Runs of losses, and whether they are independent; null where only totals are known."""

    _parts: ClassVar[dict[str, str]] = {"counts": "MbmCounts", "loss": "MbmShare", "reordering": "MbmReorderingReport", "runs": "MbmRuns"}


class MbmOnset(Figures):
    """The onset of queueing."""

    packets_per_s: float
    """Packets per second there: what the bottleneck carries."""

    rtt_ms: float
    """Mean round trip there."""

    seq: int
    """Number of the first packet that left by it."""

    step: int
    """Index of its step."""

    window: int
    """The window that fills the path without a queue, in packets: the pipe size."""


class MbmPatternReport(Figures):
    """How a stream was kept, in the form of a record."""

    burst_packets: int
    """Packets in a burst, as planned."""

    bursts: int
    """Bursts (or sets of them) that left."""

    headway_ns: int | None
    """From the start of a burst to the start of the next, as planned; null for a self-clocked
    stream."""

    kept: bool
    """Whether the stream was the planned one: at most 5 % late and 5 % smeared."""

    late: int
    """Of these, those that began late."""

    lateness_allowed_ns: int
    """How late a burst may begin."""

    lateness_max_ns: int
    """How late one began, at worst."""

    smeared: int
    """Those that took too long."""


class MbmPoint(Figures):
    """One point of a walk."""

    m: int
    """Losses and marks among them."""

    n: int
    """Packets so far."""


class MbmPrediction(Figures):
    """What one model of a transport predicts."""

    at_p0_mbps: float
    """Its throughput at the loss rate that is still good, 10^6 bit/s of data."""

    at_p0_ratio: float
    """The same as a multiple of the target rate."""

    at_p1_mbps: float
    """Its throughput at the loss rate that is too high, 10^6 bit/s of data."""

    at_p1_ratio: float
    """The same as a multiple of the target rate."""

    transport: str
    """Which transport: `reno`, `reno-delayed-ack` or `cubic`."""


class MbmReorderingReport(Figures):
    """Reordering in the form of a record."""

    arrived: int
    """Packets that arrived, copies apart."""

    beyond_dup_thresh: int
    """Packets so late that three duplicate acknowledgements would have called them lost."""

    max_extent: int
    """Largest extent, in packets; 4,096 stands for all that are larger."""

    mean_extent: float
    """Mean extent of reordered packets."""

    reordered: int
    """Of these, packets that a later one overtook."""

    reordered_pct: float
    """The same, per cent."""


class MbmRound(Figures):
    """One round."""

    before_mark: int
    """Packets delivered before the first loss or mark."""

    longest_row: int
    """Packets in the longest row of losses and marks."""

    marks: int
    """Losses and marks in all."""

    queue_max_ns: int
    """Longest round trip less the shortest of all rounds."""

    sent: int
    """Packets sent."""

    sojourn_ns: int | None
    """Time in the queue of the first packet delivered after the first loss or mark: its round trip less
    the shortest; null without either."""


class MbmRuns(Figures):
    """What the runs say, in the form of a record."""

    burst_lengths: list[int]
    """Bursts of 1, 2, ... 15 packets, and of 16 or more."""

    bursts: int
    """Bursts: marked packets with nothing unmarked between."""

    independent: bool | None
    """Whether marks are as independent as the models assume; null when there are too few to tell."""

    longest_burst: int
    """Packets in the longest burst."""

    longest_good: int
    """Packets between two marks, at most."""

    mean_burst: float | None
    """Packets in the mean burst; 1/(1 - p) when independent; null without a mark."""

    p: float | None
    """Probability of so few or so many runs by chance (two-sided); null likewise."""

    says: str
    """The same in words."""

    z: float | None
    """Standard deviations by which the number of runs differs from that of independent marks; negative
    when marks cluster; null with fewer than 10 marks."""


class MbmScanReport(Figures):
    """What a scan found."""

    first_mark: MbmFirstMark | None
    """The first loss or mark; null when there was none."""

    is_done: bool
    """Whether the scan is over."""

    queue_max_ns: int
    """Longest standing queue that was seen: longest round trip less the shortest."""

    rtt_min_ns: int | None
    """Shortest round trip; null when nothing came back."""

    sent: int
    """Packets that left."""

    steps: list[MbmStep]
    """The steps, from the smallest window on."""

    to: int
    """Window at which the scan was to stop, unless a queue stood there."""

    _parts: ClassVar[dict[str, str]] = {"first_mark": "MbmFirstMark", "steps": "MbmStep"}


class MbmShare(Figures):
    """A share of packets with its confidence intervals, per cent."""

    high_pct: float
    """Upper end."""

    low_pct: float
    """Lower end of the exact 95 % interval (Clopper and Pearson)."""

    observed_pct: float
    """The share observed."""

    wilson_high_pct: float
    """Upper end."""

    wilson_low_pct: float
    """Lower end of Wilson's 95 % interval."""


class MbmStep(Figures):
    """What one window (or a few neighbours) gave."""

    ce: int
    """Packets delivered with congestion experienced."""

    delivered: int
    """Packets delivered."""

    first_seq: int
    """Number of the first packet that left by it."""

    lost: int
    """Packets lost."""

    packets_per_s: float
    """Packets per second delivered; 0 with fewer than two."""

    rtt_max_ms: float
    """Largest round trip."""

    rtt_ms: float
    """Mean round trip."""

    window: int
    """The window, in packets; the smallest of the step."""


class MbmTcpFigures(Figures):
    """What TCP says of a test that it carried."""

    acked_mbps: float
    """Data that was acknowledged over the whole test, 10^6 bit/s."""

    congestion_control: str
    """The congestion control that the kernel says it used."""

    cwnd_max: int | None
    """Largest."""

    cwnd_min: int | None
    """Smallest congestion window of the test period, in segments; null before it began."""

    dry: float | None
    """Share of the looks at which TCP had nothing left to send, 0 to 1: that is this program's
    slowness, not the path's. Null for bursts."""

    mss: int
    """Octets of data in a full segment."""

    offered_packets: int | None
    """Segments that it offered room for at the end."""

    pacing_bps: int | None
    """Rate to which the kernel was told to pace, data alone, bit/s; null for tests that are not
    paced."""

    retransmits: int
    """Segments that were sent again: what counts as lost."""

    segments: int
    """Segments that left with data, those that were sent again included."""

    spurious: int | None
    """Of these, segments that had arrived after all, as the receiver reported (DSACK, RFC 2883); null
    when unknown."""

    window_packets: int | None
    """Segments that the receiver was to offer room for; null for tests without a window."""


class MbmTestFigures(Figures):
    """The figures of a test, in the form of a record."""

    counts: MbmCounts
    """Packets, losses and marks of the test period."""

    growth_ns: int | None
    """How long the growth period was; null while it lasts."""

    hypotheses: MbmHypotheses
    """What was asked of the losses."""

    least_packets: int
    """Fewest packets that would have passed."""

    preconditions: list[MbmCheck]
    """Preconditions, as they were last."""

    test_ns: int | None
    """How long the test period was; null before it began."""

    walk: MbmWalk
    """The test's way through packets and losses."""

    _parts: ClassVar[dict[str, str]] = {"counts": "MbmCounts", "hypotheses": "MbmHypotheses", "preconditions": "MbmCheck", "walk": "MbmWalk"}


class MbmTestSummary(Figures):
    """What one test found."""

    bytes_sent: int
    """The same in octets, headers included."""

    figures: MbmTestFigures | None
    """The sequential test, its way and its preconditions."""

    loss: MbmLossReport | None
    """What became of the packets."""

    onset: MbmOnset | None
    """Where its queue began."""

    packets_sent: int
    """Packets that left."""

    pattern: MbmPatternReport | None
    """How the sender kept the pattern."""

    rounds: list[MbmRound] | None
    """Rounds of slow start."""

    rtt_ms: Distribution | None
    """Round trips from a packet to the report of it, or TCP's smoothed ones every 10 ms; null when
    nothing came back."""

    scan: MbmScanReport | None
    """The scanned window."""

    seconds: float
    """How long it took."""

    section: str
    """The section of RFC 8337 that defines it."""

    start_s: float
    """When it began, after the run's start."""

    stream: int | None
    """Which of the streams side by side, from 1; null when it was the only one."""

    tcp: MbmTcpFigures | None
    """What TCP said, where it carried the test; null for datagrams."""

    test: Literal["paced-full-rate", "windowed-full-rate", "background", "congestion-avoidance", "bufferbloat", "non-excessive-loss", "duplex-self-interference", "full-window-slow-start", "slow-start-aqm", "sender-rate-burst", "sustained-burst", "passive"]
    """Which test."""

    verdict: MbmVerdict
    """The verdict."""

    _parts: ClassVar[dict[str, str]] = {"figures": "MbmTestFigures", "loss": "MbmLossReport", "onset": "MbmOnset", "pattern": "MbmPatternReport", "rtt_ms": "Distribution", "scan": "MbmScanReport", "tcp": "MbmTcpFigures", "verdict": "MbmVerdict"}


class MbmVerdict(Figures):
    """A verdict with its reason."""

    outcome: Literal["PASS", "FAIL", "INCONCLUSIVE", "ERROR"]
    """What the test says."""

    reason: Literal["loss_low", "loss_high", "rate_low", "round_trip_long", "sender_rate", "sender_pattern", "clock_step", "envelope", "timeout", "silence", "burst_slow", "queue_good", "queue_short", "queue_long", "loss_excessive", "interference", "no_onset", "exceeds", "composed"]
    """Why."""

    says: str
    """The same in words, with the figures."""

    would_change: str
    """What would change it, in words."""


class MbmWalk(Figures):
    """Points of a test's way, thinned evenly: however long the test, at most [`MAX_POINTS`] and the
    last."""

    points: list[MbmPoint]
    """The points, in order."""

    _parts: ClassVar[dict[str, str]] = {"points": "MbmPoint"}


class MbmSummary(Figures):
    """What a run of `isobath mbm` found."""

    conservativeness: MbmConservativeness
    """What the model says a path with those loss rates would carry."""

    formula: str
    """The model's formula for it."""

    lines: MbmLines
    """The lines of the sequential test between the two, by which losses are judged (RFC 8337 section
    7.2)."""

    links: list[LinkTruth]
    """In a lab: what its links carried, queued and dropped."""

    p0: float
    """A loss rate up to this is good, 0 to 1."""

    p1: float
    """A loss rate from this on is bad, 0 to 1."""

    path_rtt_ms: float | None
    """Least round trip of the path before the tests; null when none came back."""

    run_length_packets: int
    """The target run length: packets between two losses, as asked for."""

    source: str
    """Where that comes from."""

    tests: list[MbmTestSummary]
    """Each test."""

    window_packets: int
    """The target window: as many packets as must be under way to carry the rate."""

    _parts: ClassVar[dict[str, str]] = {"conservativeness": "MbmConservativeness", "lines": "MbmLines", "links": "LinkTruth", "tests": "MbmTestSummary"}


class EstimateSummary(Figures):
    """What a run of `isobath estimate` found."""

    conclusive: bool
    """Whether the method came to an end at which it can be believed."""

    details: Any
    """What else the method knows; see docs/estimate.md."""

    direction: str
    """Of which way: `up` is from the client to the server."""

    estimator: Literal["isochronous", "badabing", "pathrate", "pathload", "pathload-fast", "semi-elastic", "elastic", "opportunistic", "yaz", "pathchirp", "hops"]
    """How it was sought."""

    high: float | None
    """And at most this."""

    links: list[LinkTruth]
    """In a lab: what its links carried, queued and dropped."""

    low: float | None
    """The truth is at least this, as far as the method can tell; null when it cannot."""

    overhead_bytes: int
    """Octets that probing put on the path, IP headers included; riders apart."""

    path_mtu: int | None
    """Octets of the longest packet that the path was seen to take, at most 1,500; null where nobody has
    looked."""

    probes: int
    """Their probes."""

    probes_lost: int
    """Probes that did not arrive; of echoed trains, that did not come back."""

    rider_bytes: int
    """Octets of the packets of applications that travelled inside probes."""

    says: str
    """What was found, or why nothing was, in a sentence."""

    seconds: float
    """How long it took."""

    trains: int
    """Trains that were sent."""

    unit: str
    """The unit of `value`, `low` and `high`."""

    value: float | None
    """The best guess; null when there is none."""

    what: Literal["rtt", "owd", "jitter", "loss", "capacity", "available", "bottleneck"]
    """The property that was asked for."""

    _parts: ClassVar[dict[str, str]] = {"links": "LinkTruth"}


class RpmForeign(Figures):
    """Requests on connections of their own."""

    http_ms: Distribution | None
    """The request and its answer."""

    tcp_ms: Distribution | None
    """The TCP handshake; null by HTTP/3."""

    tls_ms: Distribution | None
    """The TLS handshake, per round trip; by HTTP/3 that of QUIC, which has TLS's in it."""

    _parts: ClassVar[dict[str, str]] = {"http_ms": "Distribution", "tcp_ms": "Distribution", "tls_ms": "Distribution"}


class RpmWay(Figures):
    """One direction under load. Times are those of the last intervals, as many as a moving average
    has."""

    connections: int
    """Connections that carried load at the end."""

    failed: int
    """Requests that came to nothing, of the whole direction."""

    foreign: RpmForeign
    """Requests on connections of their own."""

    foreign_rpm: float | None
    """Of requests on connections of their own alone."""

    goodput_confidence: str
    """As `rpm_confidence`, of the goodput."""

    goodput_mbps: float | None
    """Payload of HTTP that was carried: the moving average at the end."""

    intervals: int
    """Intervals."""

    rpm: float | None
    """Round trips per minute (draft-ietf-ippm-responsiveness-09)."""

    rpm_confidence: str
    """`high` where they settled, `medium` where they did not, `low` where there were too few intervals
    to tell."""

    rpm_draft_03: float | None
    """The same by the formula of version 03 of the draft."""

    self_ms: Distribution | None
    """Requests on connections that carry load."""

    self_rpm: float | None
    """Of requests on connections that carry load alone."""

    _parts: ClassVar[dict[str, str]] = {"foreign": "RpmForeign", "self_ms": "Distribution"}


class RpmSummary(Figures):
    """The figures of a run. What was not measured is null."""

    down: RpmWay | None
    """Under load from the server."""

    idle: RpmForeign
    """Requests on new connections before any load."""

    idle_rpm: float | None
    """Round trips per minute of these: 60,000 ms divided by the mean of their means."""

    sentence: str
    """The answer to the question that the run asked."""

    up: RpmWay | None
    """Under load to the server."""

    _parts: ClassVar[dict[str, str]] = {"down": "RpmWay", "idle": "RpmForeign", "up": "RpmWay"}


class UdpstWay(Figures):
    """One direction."""

    capacity_loss_pct: float | None
    """In the sub-interval of the capacity: datagrams that did not arrive."""

    capacity_mbps: float | None
    """Maximum IP-layer capacity (RFC 9097): the largest rate of IP packets, headers included, that
    arrived in one sub-interval."""

    duplicates: int
    """Datagrams that came twice."""

    intervals: int
    """Sub-intervals."""

    least_rtt_ms: float | None
    """The least round trip, beside the load."""

    loss_pct: float | None
    """Datagrams that did not arrive, of all that were sent."""

    mean_mbps: float | None
    """The mean of all sub-intervals."""

    owd_variation_ms: Distribution | None
    """One-way delay above the least: the means of trials."""

    reached_s: float | None
    """End of the first sub-interval that came within 5 % of the capacity, since the direction began."""

    reordered: int
    """Datagrams that came later than one that was sent after them."""

    rtt_variation_ms: Distribution | None
    """Round trips above the least, one of each trial."""

    _parts: ClassVar[dict[str, str]] = {"owd_variation_ms": "Distribution", "rtt_variation_ms": "Distribution"}


class UdpstSummary(Figures):
    """The figures of a run. What was not measured is null."""

    down: UdpstWay | None
    """From the server."""

    sentence: str
    """The answer to the question that the run asked."""

    up: UdpstWay | None
    """To the server."""

    _parts: ClassVar[dict[str, str]] = {"down": "UdpstWay", "up": "UdpstWay"}


class ReplayArrivals(Figures):
    """Packets that came to a queue."""

    cov_10ms: float | None
    """The same in bins of 10 ms."""

    cov_1s: float | None
    """Coefficient of variation in bins of 1 s."""

    hurst: ReplayHurst | None
    """The Hurst parameter by wavelets, from bins of 1 ms."""

    mean_kpps: float
    """On average, in thousands a second."""

    _parts: ClassVar[dict[str, str]] = {"hurst": "ReplayHurst"}


class ReplayBothWays(Figures):
    """A figure for each direction of the bottleneck."""

    forward: float
    """In the direction in which more was to be sent."""

    reverse: float
    """In the other."""


class ReplayBytes(Figures):
    """Data of both directions."""

    planned: int
    """Octets that were to be sent."""

    sent: int
    """Octets that arrived."""


class ReplayConnections(Figures):
    """Connections by what became of them."""

    completed: int
    """All was said and heard, and both ends closed."""

    never: int
    """Those that were not opened before the end of the run."""

    planned: int
    """Those that were to be opened."""

    refused: int
    """Those that could not be made."""

    reset: int
    """Broken while they were open."""

    unfinished: int
    """Cut at the end of the run."""


class ReplayDatagrams(Figures):
    """Datagrams of both directions."""

    lost: int
    """Those of completed flows that were sent and had not arrived when nobody waited for them any
    more."""

    received: int
    """Those that were taken from one."""

    sent: int
    """Those that were given to a kernel."""


class ReplayHurst(Figures):
    """The Hurst parameter of a series."""

    fit: float
    """Probability that octaves on a line lie as far from their line as these do."""

    from_octave: int
    """The first octave of the line."""

    high: float
    """Upper end of its 95 % interval, which may lie above 1: no stationary series has such a value."""

    intercept: float
    """`log2_energy` of the line at octave 0."""

    low: float
    """Lower end of its 95 % interval."""

    to_octave: int
    """Its last octave."""

    value: float
    """The estimate."""


class ReplaySpread(Figures):
    """A distribution, with the 80th percentile that D prints."""

    max: float
    """Largest sample."""

    mean: float
    """Arithmetic mean."""

    min: float
    """Smallest sample."""

    n: int
    """Number of samples."""

    p50: float
    """Median."""

    p80: float
    """80th percentile."""

    p90: float
    """90th percentile."""

    p95: float
    """95th percentile."""

    p99: float
    """99th percentile."""

    sd: float
    """Standard deviation."""


class ReplayUdp(Figures):
    """What became of flows of UDP."""

    broken: int
    """A socket failed, or there was none."""

    bytes: ReplayBytes
    """Octets of both directions."""

    completed: int
    """Both ends said everything, and heard everything or gave it up."""

    datagrams: ReplayDatagrams
    """Datagrams of both directions."""

    never: int
    """Those that did not begin before the end of the run."""

    planned: int
    """Those that were to be played."""

    send_lateness_ms: ReplaySpread | None
    """Of each flow the most that a datagram was sent after its time."""

    start_lateness_ms: ReplaySpread | None
    """How much later than planned flows began."""

    unfinished: int
    """Cut at the end of the run."""

    _parts: ClassVar[dict[str, str]] = {"bytes": "ReplayBytes", "datagrams": "ReplayDatagrams", "send_lateness_ms": "ReplaySpread", "start_lateness_ms": "ReplaySpread"}


class ReplayWindow(Figures):
    """A part of a run."""

    from_s: float
    """Its beginning, after the first planned start."""

    to_s: float
    """Its end."""


class ReplaySummary(Figures):
    """What a run of `isobath replay` found."""

    active_connections: ReplaySpread | None
    """Connections that were alive in a second, as a monitor on the link sees them."""

    arrivals: ReplayArrivals | None
    """What came to the bottleneck's queue in the forward direction."""

    bytes: ReplayBytes
    """Octets of data of both directions, of connections."""

    connections: ReplayConnections
    """What became of the connections."""

    drops: int | None
    """Packets dropped by the links in the whole run, whatever the cause; null between two hosts."""

    duration_from_connect_ms: ReplaySpread | None
    """Of complete connections: from the beginning of the handshake to the last octet taken."""

    duration_ms: ReplaySpread | None
    """Of complete connections: from the first octet sent to the last one taken (D, section 4.5.2)."""

    forward: Literal["up", "down"]
    """The forward direction: that in which more data was to be sent."""

    goodput_mbps: ReplayBothWays
    """What the hosts took: data alone, without headers, and nothing twice."""

    links: list[LinkTruth]
    """In a lab: what its links carried, queued and dropped."""

    packets_per_s: ReplayBothWays | None
    """The same in packets."""

    queue_empty_pct: float | None
    """Share of these moments at which nothing waited, in per cent."""

    queue_ms: ReplaySpread | None
    """The same as the time it takes to drain; null for a link without a rate."""

    queue_packets: ReplaySpread | None
    """The queue of the forward direction every 10 ms."""

    response_ms: ReplaySpread | None
    """Of all answered requests of connections that were sequential before a model changed that: from
    the first octet of the request sent to the last octet of the response taken (D, section 4.5.3)."""

    start_lateness_ms: ReplaySpread | None
    """How much later than planned connections were opened."""

    throughput_mbps: ReplayBothWays | None
    """What the bottleneck carried, IP headers included; null between two hosts."""

    udp: ReplayUdp | None
    """What became of flows of UDP; null when there were none."""

    window: ReplayWindow
    """The part of the run that queue, throughput and active connections are of."""

    _parts: ClassVar[dict[str, str]] = {"active_connections": "ReplaySpread", "arrivals": "ReplayArrivals", "bytes": "ReplayBytes", "connections": "ReplayConnections", "duration_from_connect_ms": "ReplaySpread", "duration_ms": "ReplaySpread", "goodput_mbps": "ReplayBothWays", "links": "LinkTruth", "packets_per_s": "ReplayBothWays", "queue_ms": "ReplaySpread", "queue_packets": "ReplaySpread", "response_ms": "ReplaySpread", "start_lateness_ms": "ReplaySpread", "throughput_mbps": "ReplayBothWays", "udp": "ReplayUdp", "window": "ReplayWindow"}


class TrialEstimates(Figures):
    """Estimations of the available bandwidth."""

    bias_pct: float | None
    """Median with its sign, less what trains were spared."""

    bias_uncorrected_pct: float | None
    """Median of the same with its sign: above 0 when too much was found."""

    completed: int
    """Those that came to an end at which they can be believed."""

    error_fleet_pct: float | None
    """The same, less those of the last fleet, on average."""

    error_pct: float | None
    """How far the middle of what was found is from the truth, as a share of it: median of the completed
    ones, without sign; less what trains were spared by riders."""

    error_stream_pct: float | None
    """The same, less the riders that would have competed with the last stream."""

    error_uncorrected_pct: float | None
    """The same, with riders not considered."""

    n: int
    """Those that had their time: not the one that the end of the run cut."""

    p25_s: float | None
    """Time in which a quarter of all were completed; null when fewer were."""

    p50_s: float | None
    """Time in which half of all were."""

    p75_s: float | None
    """Time in which three quarters of all were."""


class TrialPlace(Figures):
    """A tenth of the trains that may carry."""

    carrying: int
    """Probes with something of the application's that came to the bottleneck."""

    carrying_lost: int
    """Of these, lost there."""

    empty: int
    """Probes with nothing but padding."""

    empty_lost: int
    """Of these, lost."""

    tenth: int
    """Which one, from 0 at the head."""


class TrialSource(Figures):
    """What the receiving application read in each second."""

    below_pct: float
    """Share of the seconds below that."""

    mean_mbps: float
    """The mean."""

    p05_mbps: float
    """Quantiles of the seconds."""

    p25_mbps: float
    """See `p05_mbps`."""

    p50_mbps: float
    """See `p05_mbps`."""

    p75_mbps: float
    """See `p05_mbps`."""

    p95_mbps: float
    """See `p05_mbps`."""

    target_mbps: float
    """At which rate the sending one writes."""

    within_pct: float
    """Share of the seconds within 5 % of the target."""


class TrialThroughput(Figures):
    """Rates on the bottleneck."""

    cross: float
    """Others."""

    other: float
    """Anything else."""

    probe: float
    """Probes without their riders: headers and padding, what measuring adds."""

    rider: float
    """Its packets inside probes."""

    source: float
    """The application's packets that went by themselves, headers of the overlay included."""


class TrialSummary(Figures):
    """What a trial found."""

    by_tenth: list[TrialPlace]
    """Probes and losses by tenth of the train."""

    capacity_mbps: float | None
    """The bottleneck's rate; null where the record does not tell."""

    estimates: TrialEstimates | None
    """Estimations; null where nothing was estimated."""

    links: list[LinkTruth]
    """What the lab's links carried, queued and dropped."""

    probes: Literal["none", "pathload", "pathload-fast", "pk1", "pk2", "pk3"]
    """Who measured beside the application."""

    probes_lost: int
    """Of these, those that were lost there."""

    probes_sent: int
    """Their probes that came to the bottleneck's queue."""

    riders_lost: int
    """Lost probes that carried a packet of the application's, or a piece of one."""

    riding: bool
    """Whether the application's packets rode on the probes."""

    seconds: int
    """Whole seconds that the figures are of: all but the first two."""

    sentence: str
    """What came of it, in a sentence or two."""

    source: TrialSource | None
    """What the receiving application read; null without a second."""

    throughput_mbps: TrialThroughput | None
    """What the bottleneck carried of whom, after losses; null without a second."""

    trains: int
    """Trains that were sent."""

    _parts: ClassVar[dict[str, str]] = {"by_tenth": "TrialPlace", "estimates": "TrialEstimates", "links": "LinkTruth", "source": "TrialSource", "throughput_mbps": "TrialThroughput"}


class MedianetEstimates(Figures):
    """The estimates that were asked for."""

    asked: int
    """How many came to an end, or were given up."""

    completed: int
    """Those that could be believed."""

    error_mbps: Distribution | None
    """By how much they differed from what the lab's counters say was left beside the streams' packets
    meanwhile, whichever way."""

    overhead_mbps: float
    """What probing put on the path over the whole run, riders apart; without those that were given
    up."""

    rider_bytes: int
    """Octets of packets that travelled inside probes."""

    seconds: Distribution | None
    """How long these took."""

    _parts: ClassVar[dict[str, str]] = {"error_mbps": "Distribution", "seconds": "Distribution"}


class MedianetFates(Figures):
    """What became of frames. `offered` is the sum of the others."""

    decoded: int
    """Those that arrived with all that they need."""

    dropped: int
    """Those that the local scheduler had no room for."""

    offered: int
    """Those that belonged to their stream's level when they were due."""

    undecodable: int
    """Those that arrived, but not all that they need."""

    under_way: int
    """Those that had not arrived at the end."""


class MedianetStreamFigures(Figures):
    """A stream."""

    decoded_mbps: float
    """Octets of frames decoded."""

    decoded_per_s: float
    """Frames decoded a second."""

    high_pct: float
    """Share of the time at the highest level: all frames."""

    medium_pct: float
    """Share of the time at the middle level: I and P frames."""


class MedianetSummary(Figures):
    """What a run of `isobath manager medianet` found."""

    decoded_mbps: float
    """Octets of frames decoded (T: the streaming rate)."""

    decoded_per_s: float
    """Frames decoded a second, of all streams."""

    delay_ms: Distribution | None
    """From when a frame was due to when all of it had arrived."""

    estimates: MedianetEstimates | None
    """Estimates of the available bandwidth; null when none were asked for."""

    failed_pct: float | None
    """Frames that failed, of those that came to their end: dropped by the local scheduler, or not to be
    decoded."""

    frames: MedianetFates
    """What became of all frames."""

    links: list[LinkTruth]
    """In the lab: what its links carried, queued and dropped."""

    probes: Literal["none", "pathload", "pathload-fast"]
    """How the available bandwidth was estimated."""

    reconfigurations: int
    """How often levels were changed."""

    reports: int
    """Reports of the local scheduler."""

    reports_failed: int
    """Those in which it had dropped frames."""

    riding: bool
    """Whether streams rode on probes."""

    seconds: float
    """How long frames were sent."""

    streams: list[MedianetStreamFigures]
    """Stream by stream."""

    undecodable_pct: float | None
    """Frames that could not be decoded, of those that arrived."""

    utility: float
    """Utilities of all streams together, at their levels, on average over time; 3 at most."""

    without_cross_mbps: float | None
    """What cross traffic left of the bottleneck, on average."""

    _parts: ClassVar[dict[str, str]] = {"delay_ms": "Distribution", "estimates": "MedianetEstimates", "frames": "MedianetFates", "links": "LinkTruth", "streams": "MedianetStreamFigures"}


class LabRunSummary(Figures):
    """What the links of a lab did while somebody's program ran in it."""

    exit_status: int | None
    """Its exit status, as a shell has it; null while it runs, and when this program was killed before
    it ended."""

    lab: list[LinkTruth]
    """One entry for each direction of each link."""

    seconds: float
    """How long the command ran, in seconds."""

    sentence: str
    """Where the longest queue was, in words."""

    _parts: ClassVar[dict[str, str]] = {"lab": "LinkTruth"}
