//! What tshark reads in a file of ours, with and without the dissector in `share/wireshark`: the very values that were written.

#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

use capture::Datagram;
use capture::pcapng::{
    self,
    Direction::{self, In, Out},
};
use isobath_capture as capture;
use session::wire::{Kind, Probe, Receipt};
use session::{DataKey, DataKeys};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use transport::wire::{self, Address};
use transport::{Ack, PacketId, SackBlocks, Segment, SegmentFlags, Seq};
use units::{Instant, TrafficClass};

const DISSECTOR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../share/wireshark/isobath.lua"
);
/// The file's first packet.
const BEGIN: u64 = 1_795_271_400_123_456_789;
/// As much of a payload as traces keep.
const SNAPLEN: usize = 96;
const ADDRESS: Address = Address {
    session: 0x1011_1213_1415_1617,
    stream: 7,
};

/// Whether there is tshark; says so if not.
fn has_tshark() -> bool {
    let found = Command::new("tshark").arg("--version").output().is_ok();
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: tshark is not installed");
    }
    found
}

/// A file in the making: every packet a microsecond and a nanosecond after the one before.
struct File {
    folder: TempDir,
    writer: pcapng::Writer<Vec<u8>>,
    interface: pcapng::InterfaceId,
    addresses: [SocketAddr; 2],
    packets: u64,
}

impl File {
    fn new(v6: bool) -> Self {
        let section = pcapng::Section {
            hardware: "a machine",
            os: "Linux",
            application: "isobath",
            comment: "a test",
        };
        let mut writer = pcapng::Writer::new(Vec::new(), &section).unwrap();
        let interface = pcapng::Interface {
            name: "sender",
            description: "one end",
            ..pcapng::Interface::default()
        };
        let interface = writer.interface(&interface).unwrap();
        let [near, far] = if v6 {
            ["[fd77::1]:40000", "[fd77::2]:5001"]
        } else {
            ["10.77.0.1:40000", "10.77.0.2:5001"]
        };
        Self {
            folder: TempDir::new().unwrap(),
            writer,
            interface,
            addresses: [near, far].map(|address| address.parse().unwrap()),
            packets: 0,
        }
    }

    fn add(&mut self, direction: Direction, payload: &[u8]) {
        let [near, far] = self.addresses;
        let (from, to) = match direction {
            Out => (near, far),
            In => (far, near),
        };
        let mut octets = Vec::new();
        let original_len = Datagram {
            from,
            to,
            class: TrafficClass::from_octet(0x2a),
            hop_limit: 64,
            kept: &payload[..payload.len().min(SNAPLEN)],
            len: payload.len(),
        }
        .write(&mut octets);
        let packet = pcapng::Packet {
            wall_ns: BEGIN + self.packets * 1_001,
            octets: &octets,
            original_len,
            direction: Some(direction),
        };
        self.packets += 1;
        self.writer.packet(self.interface, &packet).unwrap();
    }

    /// The path of the file on disk, which lasts as long as the folder.
    fn close(mut self) -> (TempDir, PathBuf) {
        let seen = pcapng::Statistics {
            start_ns: BEGIN,
            end_ns: BEGIN + self.packets * 1_001,
            received: self.packets,
            dropped: 0,
        };
        self.writer.statistics(self.interface, &seen).unwrap();
        let path = self.folder.path().join("test.pcapng");
        std::fs::write(&path, self.writer.finish().unwrap()).unwrap();
        (self.folder, path)
    }
}

/// What a tool says of `file`; it must be content.
fn told(tool: &str, file: &Path, arguments: &[&str]) -> String {
    let output = Command::new(tool).args(arguments).arg(file).output();
    let output = output.unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).replace(
        "Running as user \"root\" and group \"root\". This could be dangerous.\n",
        "",
    );
    assert!(output.status.success(), "{complaints}");
    assert!(!complaints.contains("rror"), "{complaints}");
    String::from_utf8(output.stdout).unwrap()
}

/// The fields of each packet, in lines, apart by commas; values of one field in one packet by `|`.
fn fields(file: &Path, names: &[&str]) -> Vec<String> {
    let script = format!("lua_script:{DISSECTOR}");
    let mut arguments = vec![
        "-2",
        "-X",
        &script,
        "-o",
        "udp.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
        "-T",
        "fields",
    ];
    arguments.extend(["-E", "separator=,", "-E", "aggregator=|"]);
    for name in names {
        arguments.extend(["-e", name]);
    }
    arguments.push("-r");
    let told = told("tshark", file, &arguments);
    told.lines().map(str::to_owned).collect()
}

fn segment(seq: u32, id: u64, len: u16) -> Segment {
    Segment {
        seq: Seq(seq),
        id: PacketId(id),
        len,
        flags: SegmentFlags::default(),
        sent: Instant::from_nanos(1_000_000 + id),
    }
}

fn segment_octets(segment: &Segment) -> Vec<u8> {
    let mut out = vec![0; 2_000];
    let length = wire::emit_segment(segment, ADDRESS, &mut out).unwrap();
    wire::set_tag(&mut out, *b"\x01\x02\x03\x04\x05\x06\x07\x08").unwrap();
    out.truncate(length);
    out
}

fn ack(next: u32, id: u64, blocks: &[(u32, u32)]) -> Ack {
    let mut sack = SackBlocks::NONE;
    for &(first, end) in blocks {
        assert!(sack.push(Seq(first), Seq(end)));
    }
    Ack {
        ack: Seq(next),
        id: PacketId(id),
        highest: PacketId(id + 1),
        echo: Instant::from_nanos(77_000),
        delay_ns: 4_321,
        window: 1_048_576,
        ece: false,
        sack,
    }
}

fn ack_octets(ack: &Ack) -> Vec<u8> {
    let mut out = vec![0; wire::LONGEST_ACK];
    let length = wire::emit_ack(ack, ADDRESS, &mut out).unwrap();
    out.truncate(length);
    out
}

#[test]
fn tshark_reads_the_lengths_times_marks_and_ports_that_were_written() {
    if !has_tshark() {
        return;
    }
    for (v6, ip, class) in [(false, 20, "ip.dsfield"), (true, 40, "ipv6.tclass")] {
        let mut file = File::new(v6);
        file.add(Out, &segment_octets(&segment(0, 1, 1_448)));
        file.add(In, &ack_octets(&ack(1, 1, &[])));
        let (_folder, path) = file.close();
        let names = [
            "frame.time_epoch",
            "frame.interface_name",
            "frame.p2p_dir",
            "frame.len",
            "frame.cap_len",
            "udp.srcport",
            "udp.dstport",
            "udp.length",
        ];
        let (data, kept, ack) = (ip + 8 + 1_472, ip + 8 + 96, ip + 8 + 64);
        assert_eq!(
            fields(&path, &names),
            [
                format!("1795271400.123456789,sender,0,{data},{kept},40000,5001,1480"),
                format!("1795271400.123457790,sender,1,{ack},{ack},5001,40000,72"),
            ]
        );
        let classes = fields(&path, &[class]);
        let right = |class: &String| class.trim_start_matches("0x").trim_start_matches('0') == "2a";
        assert!(classes.iter().all(right), "{classes:?}");
    }
}

#[test]
fn tshark_finds_the_checksums_right_where_it_has_the_whole_packet() {
    if !has_tshark() {
        return;
    }
    let mut file = File::new(false);
    file.add(In, &ack_octets(&ack(1, 1, &[(5, 6)])));
    let (_folder, v4) = file.close();
    // 1 is good, 2 unverified, 0 bad.
    assert_eq!(
        fields(&v4, &["ip.checksum.status", "udp.checksum.status"]),
        ["1,1"]
    );
    let mut file = File::new(true);
    file.add(In, &ack_octets(&ack(1, 1, &[(5, 6)])));
    let (_folder, v6) = file.close();
    assert_eq!(fields(&v6, &["udp.checksum.status"]), ["1"]);
}

#[test]
fn capinfos_reads_who_captured_and_in_which_unit() {
    if !has_tshark() {
        return;
    }
    let mut file = File::new(false);
    file.add(Out, &segment_octets(&segment(0, 1, 1_448)));
    let (_folder, path) = file.close();
    let told = told("capinfos", &path, &[]);
    for line in [
        "File encapsulation:  Raw IP",
        "File timestamp precision:  nanoseconds (9)",
        "Capture hardware:    a machine",
        "Capture oper-sys:    Linux",
        "Capture application: isobath",
        "Capture comment:     a test",
        "Name = sender",
        "Number of stat entries = 1",
    ] {
        assert!(told.contains(line), "'{line}' is not in:\n{told}");
    }
}

#[test]
fn the_dissector_shows_every_field_of_a_segment() {
    if !has_tshark() {
        return;
    }
    let mut last = segment(4_294_967_295, 0x0000_0009_dead_beef, 10);
    last.flags = SegmentFlags {
        last: true,
        cwr: true,
        probe: false,
    };
    let mut probe = segment(0, 0x0000_000a_dead_beef, 0);
    probe.flags.probe = true;
    let mut file = File::new(false);
    file.add(
        Out,
        &segment_octets(&segment(3, 0x0000_0008_0bad_cafe, 1_448)),
    );
    file.add(Out, &segment_octets(&last));
    file.add(Out, &segment_octets(&probe));
    let (_folder, path) = file.close();
    let names = [
        "isobath.kind",
        "isobath.stream",
        "isobath.session",
        "isobath.tag",
        "isobath.seq",
        "isobath.len",
        "isobath.sent",
        "isobath.id",
        "isobath.id.count",
        "isobath.flags.last",
        "isobath.flags.cwr",
    ];
    let head = "7,0x1011121314151617,0102030405060708";
    let sent = |id: u64| 1_000_000 + id;
    assert_eq!(
        fields(&path, &names),
        [
            format!(
                "4,{head},3,1448,{},0x000000080badcafe,8,0,0",
                sent(0x0000_0008_0bad_cafe)
            ),
            format!(
                "4,{head},4294967295,10,{},0x00000009deadbeef,9,1,1",
                sent(0x0000_0009_dead_beef)
            ),
            format!(
                "6,{head},0,0,{},0x0000000adeadbeef,10,0,0",
                sent(0x0000_000a_dead_beef)
            ),
        ]
    );
}

#[test]
fn the_dissector_shows_every_field_of_an_acknowledgement() {
    if !has_tshark() {
        return;
    }
    let mut marked = ack(9, 0x44, &[(4, 5), (11, 13), (20, 21), (30, 34)]);
    marked.ece = true;
    let mut file = File::new(true);
    file.add(In, &ack_octets(&ack(1, 0x42, &[])));
    file.add(In, &ack_octets(&marked));
    let (_folder, path) = file.close();
    let names = [
        "isobath.kind",
        "isobath.ack",
        "isobath.id",
        "isobath.highest",
        "isobath.echo",
        "isobath.echo_delay",
        "isobath.window",
        "isobath.flags.ece",
        "isobath.sack.count",
        "isobath.sack.first",
        "isobath.sack.end",
        "isobath.sack.dsack",
    ];
    assert_eq!(
        fields(&path, &names),
        [
            "5,1,0x0000000000000042,0x0000000000000043,77000,4321,1048576,0,0,,,",
            "5,9,0x0000000000000044,0x0000000000000045,77000,4321,1048576,1,4,4|11|20|30,5|13|21|34,1",
        ]
    );
}

#[test]
fn the_dissector_finds_copies_and_what_they_are_acknowledged_by() {
    if !has_tshark() {
        return;
    }
    let mut file = File::new(false);
    file.add(Out, &segment_octets(&segment(0, 0x10, 1_448)));
    file.add(Out, &segment_octets(&segment(1, 0x11, 1_448)));
    file.add(Out, &segment_octets(&segment(0, 0x12, 1_448)));
    file.add(Out, &segment_octets(&segment(0, 0x12, 1_448)));
    file.add(Out, &segment_octets(&segment(0, 0x13, 1_448)));
    file.add(In, &ack_octets(&ack(2, 0x12, &[])));
    let (_folder, path) = file.close();
    let names = [
        "isobath.copy",
        "isobath.first_copy",
        "isobath.duplicate",
        "isobath.acked_in",
        "isobath.ack_of",
        "isobath.ack_time",
    ];
    assert_eq!(
        fields(&path, &names),
        [
            "0,,,,,",
            "0,,,,,",
            "1,1,,6,,",
            ",,3,6,,",
            "2,1,,,,",
            ",,,,3,0.000003003",
        ]
    );
}

#[test]
fn the_dissector_pairs_requests_with_replies() {
    if !has_tshark() {
        return;
    }
    let keys = DataKeys::from(DataKey::new([7; 32]));
    let request = Probe {
        kind: Kind::Request,
        class: TrafficClass::from_octet(0xba),
        arrived: TrafficClass::default(),
        stream: 2,
        flags: session::wire::Flags::default(),
        sequence: 41,
        session: 5,
        sent: Instant::from_nanos(1_000),
        received: Instant::ZERO,
        replied: Instant::ZERO,
    };
    let reply = request.reply(&Receipt {
        received: Instant::from_nanos(50_000),
        kernel_stamp: true,
        arrived: Some(TrafficClass::from_octet(0x03)),
        replied: Instant::from_nanos(50_700),
    });
    let mut file = File::new(false);
    for (direction, probe) in [(Out, request), (In, reply)] {
        let mut octets = vec![0; 80];
        probe.emit(&mut octets, &keys.to_server).unwrap();
        file.add(direction, &octets);
    }
    let (_folder, path) = file.close();
    let names = [
        "isobath.kind",
        "isobath.seq",
        "isobath.class.dscp",
        "isobath.class.ecn",
        "isobath.arrived.ecn",
        "isobath.probe_flags.kernel_stamp",
        "isobath.sent",
        "isobath.received",
        "isobath.replied",
        "isobath.held",
        "isobath.response_in",
        "isobath.response_to",
        "isobath.time",
    ];
    assert_eq!(
        fields(&path, &names),
        [
            "1,41,46,2,,0,1000,,,,2,,",
            "2,41,46,2,3,1,1000,50000,50700,700,,1,0.000001001",
        ]
    );
}

#[test]
fn the_dissector_takes_any_octets() {
    if !has_tshark() {
        return;
    }
    let mut file = File::new(false);
    let whole = ack_octets(&ack(2, 0x12, &[(3, 4), (7, 9)]));
    for length in 0..whole.len() {
        file.add(In, &whole[..length]);
    }
    for kind in 0..=8 {
        for version in 0..=2 {
            let mut octets = segment_octets(&segment(0, 1, 100));
            octets[4..6].copy_from_slice(&[version, kind]);
            octets[7] = 255;
            file.add(Out, &octets);
        }
    }
    let packets = file.packets;
    let (_folder, path) = file.close();
    let errors = fields(&path, &["_ws.lua.error"]);
    assert_eq!(errors.len() as u64, packets);
    assert!(errors.iter().all(String::is_empty), "{errors:?}");
}
