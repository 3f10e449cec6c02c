// The value that `isobath report` puts into the page: docs/report.md, crates/report/src/view.
// Field names end in their unit; null is what was not measured.

export type Num = number | null;
export type Span = [number, number];

/** A line over time: pairs of minimum and maximum per bin; null interrupts it. */
export interface Line { t_s: number[]; v: Num[]; bin_s: Num; n: number }
export interface Steps { bin_s: number; v: number[] }
export interface Figures { n: number; min: number; p5: number; p25: number; p50: number; p75: number; p90: number; p95: number; p99: number; max: number; mean: number }
export interface Curve { v: number[]; p: number[] }
export interface Spread { ms: Figures; curve: Curve }
export interface Counts { t_s: number[]; n: number[] }
export interface Found { sent: number; lost: number; late: number; ms: Figures | null; owd_up_ms: Figures | null; owd_down_ms: Figures | null; bursts: [number, number][] }
export interface Probe { stream: number; line_ms: Line; lost: Counts; late: Counts; idle: Found | null; loaded: Found | null }
export interface Class { kind: string; class: string; direction: string; idle: Spread | null; loaded: Spread | null }
export interface Flow { stream: number; direction: string; area_mbps: Steps; mbps: Line; loaded_mbps: Num; cwnd_segments: Line; srtt_ms: Line; retransmits_per_s: Steps }
export interface Stream { id: number; name: string; kind: string; direction: string; class: string; family: number; server: Num; ecn: string | null; congestion_control: string | null; planned_ns: number; connected_ns: Num; first_byte_ns: Num; slew_ms: Num; total_bytes: Num; retransmits: Num }
export interface Phases { idle: Span | null; web_idle: Span | null; load: Span | null; loaded: Span | null; discarded: Span[] }
export interface Load { load: number; t_s: number; phase: string | null; loader: string; protocol: string; page: string; load_ms: Num; first_byte_ms: Num; objects: number; failed: number; bytes: number; error: string | null }
export interface Bar { start_ms: number; host: string; path: string; kind: string; blocked_ms: Num; dns_ms: Num; connect_ms: Num; tls_ms: Num; wait_ms: Num; receive_ms: Num; total_ms: Num; bytes: number; status: Num; connection: Num }
export interface Web {
  loads: Load[];
  loads_total: number;
  groups: { loader: string; protocol: string; phase: string; failed: number; ms: Figures | null; sd_ms: Num; ci95_ms: Num }[];
  waterfalls: { load: number; stands_for: string; objects: Bar[] }[];
}
export interface HttpsSteps { probes: number; failed: number; connect_ms: Figures | null; tls_ms: Figures | null; http_ms: Figures | null }
export interface HopView { ttl: number; addresses: string[]; is_end: boolean; asked: number; answered: number; idle: Figures | null; loaded: Figures | null; strip_ms: Num[] }
export interface Trace { direction: string; bin_s: number; hops: HopView[] }
export interface Mark { direction: string; sent_dscp: string; seen_dscp: string; sent_ecn: string; seen_ecn: string; packets: number }
export interface Link { link: string; direction: string; rate_mbps: Num; queue_ms: Line | null; queue_bytes: Line; carried_mbps: Steps; gone_per_s: Record<string, Steps>; gone: Record<string, number> }
export interface Host { host: string; busy_pct: Line; max_pct: Line; steal_pct: Line; process_pct: Line }

/** Strokes over time; `t_us` and `first` are differences from the one before. */
export interface Strokes { t_us: number[]; first: number[]; more: number[]; bin_s: Num; n: number }
export interface Marks { t_us: number[]; seq: number[]; n: number }
export interface Stair { t_us: number[]; ack: number[]; window: Num[]; bin_s: Num; n: number }
export interface Sequence { end: string; sent: Strokes; again: Marks; lost: Marks | null; acks: Stair; sacks: Strokes }
export interface SenderEvent { t_s: number; what: string; from_segments: Num; to_segments: Num }
export interface Course { transfer: number; cwnd_segments: Line; ssthresh_segments: Line; flight_segments: Line; srtt_ms: Line; rtt_ms: Line; rtt: Spread | null; goodput_mbps: Steps | null; events: SenderEvent[]; events_total: number; sequence: Sequence | null }
export interface Transfer { transfer: number; tool: string; repeat: number; direction: string; start_s: number; seconds: Num; segments: number; bytes: number; throughput_mbps: Num; sent_packets: number; retransmits: number; lost: number; loss_pct: Num; reordered: Num; duplicates: Num; timeouts: Num; recoveries: Num; marked: Num; violations: Num; cc: string; outcome: string; reason: string | null }
export interface Btc { transfers: Transfer[]; transfers_total: number; courses: Course[] }

/** What a run of `mbm` asked of the path, and what each test found; times of `arrivals` since its first packet left. */
export interface MbmAsked {
  name: string | null; rate_mbps: Num; link_mbps: Num; rtt_ms: Num; packet_bytes: Num; derating: { run_length: Num; burst: Num; reason: string } | null; direction: string | null; rule: { kind: string; packets: Num } | null;
  window_packets: Num; run_length_packets: Num; formula: string | null; source: string | null; good_pct: Num; bad_pct: Num; path_rtt_ms: Num; predictions: { transport: string; at_p0_mbps: Num; at_p1_mbps: Num }[];
}
export interface MbmCounts { packets: number; lost: number; ce: number }
export interface MbmLines { marks_per_packet: number; below: number; above: number }
export interface MbmWalk { packets: number[]; marks: number[]; lines: MbmLines | null; least_packets: Num }
export interface MbmScan {
  window: number[]; mbps: Num[]; packets_per_s: Num[]; rtt_ms: Num[]; rtt_max_ms: Num[]; delivered: number[]; lost: number[]; ce: number[];
  onset: { window: number } | null; first_mark: { window: number; queue_ms: Num; round_marks: Num } | null; rtt_min_ms: Num; to: Num;
}
export interface MbmRound { sent: Num; before_mark: Num; marks: Num; longest_row: Num; queue_max_ms: Num; waited_ms: Num }
export interface MbmArrivals { t_us: number[]; seq: number[]; way_us: number[]; marked: number[]; n: number; bursts: { t_s: number[]; left_ms: number[]; arrived_ms: number[]; n: number } }
export interface MbmTest {
  test: string; section: string | null; outcome: string | null; reason: string | null; says: string | null; would_change: string | null; start_s: Num; seconds: Num; packets_sent: Num; bytes_sent: Num;
  rtt_ms: { min: number; p50: number; p99: number; max: number } | null; counts: MbmCounts | null; share: { observed_pct: number; low_pct: number; high_pct: number } | null; judged: MbmCounts | null; growth_s: Num; test_s: Num;
  preconditions: { name: string; held: boolean | null; evidence: string }[]; runs: { bursts: number; longest_burst: number; independent: boolean | null; says: string } | null;
  reordering: { reordered: number; reordered_pct: number; max_extent: number } | null; duplicates: Num; late: Num;
  pattern: { burst_packets: number; headway_ms: Num; bursts: number; late: number; smeared: number; kept: boolean | null } | null;
  walk: MbmWalk | null; scan: MbmScan | null; rounds: MbmRound[]; arrivals: MbmArrivals | null;
}
export interface Mbm { asked: MbmAsked; tests: MbmTest[] }

/** What a run of `estimate` found: crates/report/src/view/estimate. Ways of probes are above the least of the run. */
export interface EstimateAnswer {
  what: string | null; direction: string | null; estimator: string | null; unit: string | null; value: Num; low: Num; high: Num; conclusive: boolean | null; says: string | null;
  seconds: Num; trains: Num; probes: Num; probes_lost: Num; overhead_bytes: Num; rider_bytes: Num; truth: { value: number; says: string } | null;
}
export interface EstimateTrains { n: number; probes: number; arrived: number; planned_mbps: Line; left_mbps: Line; arrived_mbps: Line; lost: Counts; gap_error_us: Line; gap_us: Figures | null }
export interface EstimateDelays { is_round_trip: boolean; line_ms: Line; lost: Counts; ms: Quantity | null; overlaid: { train: number; t_s: number; probe: number[]; ms: number[]; arrived: number; lost: number }[] }
export interface EstimateDetails { history_mbps: number[]; modes: { mbps: Span; share: number }[]; asymptotic_mbps: Num; hops: { hop: number; address: string | null; idle_ms: Num; loaded_ms: Num }[]; suspicion: string | null; not_believed: Num[] | null }
export interface Estimate { answer: EstimateAnswer; trains: EstimateTrains; delays: EstimateDelays | null; details: EstimateDetails }

/** A quantity of a replay, and its distribution down to the rarest value. */
export interface Quantity { n: number; mean: number; min: number; p50: number; p80: number; p90: number; p95: number; p99: number; max: number; curve: Curve }
export interface Octave { octave: number; n: number; log2_energy: number; error: number }
export interface Hurst { value: number; low: number; high: number; from_octave: number; to_octave: number; fit: number; intercept: number }
export interface ReplayArrivals { marginals: { bin_s: number; sd_kpps: number; cov: Num; kpps: Quantity }[]; bin_s: number; octaves: Octave[]; hurst: Hurst | null; hurst_from: Hurst[] }
export interface ReplayView {
  models: { structure: string | null; rtt: string | null; windows: string | null; mode: "constrained" | "unconstrained" | null; forward: string; rate_mbps: Num };
  window_s: Span; ends: Record<string, number>; duration_ms: Quantity | null; duration_from_connect_ms: Quantity | null; strata: { name: string; duration_ms: Quantity | null }[]; start_lateness_ms: Quantity | null; response_ms: Quantity | null;
  queue: { packets: Quantity | null; ms: Quantity | null; empty_pct: number; packets_line: Line; ms_line: Line | null } | null;
  active: { connections: Line; counted: Quantity | null; syn_per_s: Line; fin_per_s: Line; rst_per_s: Line } | null;
  throughput: Record<"forward" | "reverse", { mbps: Steps; kpps: Steps }> | null;
  arrivals: ReplayArrivals | null;
}

/** What a run of `rpm` found: crates/report/src/view/rpm.rs. */
export interface RpmInterval { t_s: number; lasted_s: number; carried_mbps: number; connections: number; rpm: Num }
export interface RpmWay { load: string; intervals: RpmInterval[] }
export interface RpmStep { name: "tcp" | "tls" | "http" | "self"; line_ms: Line; idle: Figures | null; down: Figures | null; up: Figures | null }
export interface Rpm { ways: RpmWay[]; steps: RpmStep[]; failed: Counts }

/** What a run of `udpst` found: crates/report/src/view/udpst.rs. */
export interface UdpstInterval { t_s: number; lasted_s: number; mbps: number; lost: number; datagrams: number }
export interface UdpstWay { load: string; intervals: UdpstInterval[]; rate_mbps: Line; rtt_ms: Line; owd_ms: Line }
export interface Udpst { ways: UdpstWay[] }

// What `isobath experiment run` writes: crates/report/src/experiment.
export type Source = "paper" | "ours" | null;
export interface Axis { label: string; unit: string; log: boolean; categories: string[]; min: Num; max: Num }
export interface ExperimentSeries { name: string; variant: string | null; kind: "line" | "step" | "points" | "bars" | "stacked" | "crosses"; source: Source; points: [number, Num][]; intervals: ([number, number] | null)[] }
export interface ExperimentFigure { id: string; title: string; caption: string; how_to: string[]; x: Axis; y: Axis; series: ExperimentSeries[] }
export interface ExperimentTable { title: string; columns: { name: string; unit: string; source: Source }[]; rows: (number | string | boolean | null)[][] }
export interface ExperimentCase { name: string; found: string | null; expected: string; holds: boolean | null; figures: Json; record: string | null }
export interface Experiment { name: string; title: string; summary: string; started: string | null; cases: ExperimentCase[]; figures: ExperimentFigure[]; tables: ExperimentTable[]; notes: string[]; papers: string[]; plan: Json }

// What `isobath mbm --every` leaves: crates/report/src/history. An entry is some runs one behind the other; each level has `factor` times as many in one.
export interface HistoryLevel { says: number[][]; packets: number[]; marks: number[]; low_pct: Num[]; high_pct: Num[]; worst_pct: Num[] }
export interface HistoryTrack { test: string | null; runs: number; packets: number; marks: number; share: { observed_pct: number; low_pct: number; high_pct: number } | null; worst_pct: Num; levels: HistoryLevel[] }
export interface History {
  name: string; sentence: string; asked: MbmAsked | null; runs: number; says: number[]; last: { started: string; record: string; verdict: string | null; failure: string | null };
  skipped: number; torn: boolean; each: number; factor: number; t_ms: number[]; record: string[]; tracks: HistoryTrack[]; failures: { why: string; runs: number; last: string }[];
}
export interface HistoryReport { schema: string; isobath: string; history: History }

// eslint-disable-next-line -- run.json is free-form where it depends on the measurement
export type Json = any;
export interface RunJson { test: string; id: string; started: string; status: string; verdict: string | null; plan: Json; path: Json; hosts: Json[]; instrument: Json; warnings: { code: string; message: string; advice: string }[]; summary: Json }

export interface RunView {
  name: string; folder: string; sentence: string; run: RunJson; end_s: number; phases: Phases; streams: Stream[];
  probes: { streams: Probe[]; classes: Class[] };
  tcp: { flows: Flow[]; totals: { direction: string; mbps: Line }[] };
  web: Web | null;
  https: { idle: HttpsSteps | null; loaded: HttpsSteps | null } | null;
  hops: Trace[]; marks: Mark[]; lab: Link[]; cpu: Host[]; btc: Btc | null; mbm: Mbm | null; estimate: Estimate | null; replay: ReplayView | null; rpm: Rpm | null; udpst: Udpst | null;
  tables: Record<string, number>;
}
export interface Difference { by: number; low: number; high: number; words: string }
export interface Comparison { rows: { what: string; unit: string; less_is_better: boolean; values: Num[]; differences: (Difference | null)[] }[] }
/** Runs as the parts of one path, in their order, and the whole. */
export interface Part { name: string; outcome: string; packets: number; marks: number; loss_pct: number; interval_pct: [number, number] | null; good_pct: number; bad_pct: number }
export interface Composition { test: string; whole: Part; says: string; would_change: string; warnings: string[]; parts: Part[] }
export interface Report { schema: string; isobath: string; sentence: string; runs: RunView[]; comparison: Comparison | null; composed: { tests: Composition[]; refused: string | null } | null }
// Sets that are told by their distributions: crates/report/src/description. A point is a value, the share up to it, the share above; a mark a share and its value.
export interface FamilyCurve { name: string; count: number; mean: number; points: [number, number, number][]; marks: [number, number][] }
export interface Family { id: string; title: string; caption: string; how_to: string[]; label: string; unit: string; curves: FamilyCurve[] }
export interface Description { name: string; made_by: string; sentence: string; summary: string[]; tiles: [string, string, string][]; families: Family[]; figures: ExperimentFigure[]; tables: ExperimentTable[]; notes: string[]; plan: Json }
export interface DescriptionReport { schema: string; isobath: string; description: Description }

export interface ExperimentReport { schema: string; isobath: string; experiment: Experiment }

export function streamOf(run: RunView, id: number): Stream | undefined {
  return run.streams.find((stream) => stream.id === id);
}

/** Probes of a kind with their streams. */
export function probesOf(run: RunView, kind: string): { probe: Probe; stream: Stream }[] {
  return run.probes.streams.flatMap((probe) => {
    const stream = streamOf(run, probe.stream);
    return stream?.kind === kind ? [{ probe, stream }] : [];
  });
}

/** Kinds of round trips that are a run's latency; a plan has one of them. */
export const LATENCY = ["udp_rr", "icmp_rr", "tcp_connect", "ws_rr", "wt_rr"];
export const latencyKind = (run: RunView) => LATENCY.find((kind) => probesOf(run, kind).length);

/** A value deep in free-form JSON; null when any step is missing. */
export function at(json: Json, path: string): Json {
  let here = json;
  for (const key of path.split(".")) {
    if (here === null || typeof here !== "object" || !(key in here)) return null;
    here = here[key];
  }
  return here ?? null;
}

export function numberAt(json: Json, path: string): Num {
  const found = at(json, path);
  return typeof found === "number" ? found : null;
}
