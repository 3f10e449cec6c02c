//! Serves pages, or loads them: to try both by hand, or in two nodes of a lab.
//!
//! `pages serve CERTIFICATE` listens on port 4890 (TCP and UDP) and writes its certificate to that file;
//! `pages load CERTIFICATE ADDRESS MODEL PROTOCOL native|chromium COUNT` prints load times in ms.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use isobath_web::browser::{Browser, Chromium, Options, Proxied};
use isobath_web::{PageLoad, PageModel, Site, Target, dns, fingerprint, load};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use units::Dscp;
use units::HttpVersion;

const PORT: u16 = 4890;
const PATIENCE: Duration = Duration::from_secs(60);
/// A session for each model.
const TOKENS: std::ops::Range<u64> = 1..3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["serve", file] => serve(file),
        ["load", file, address, model, protocol, loader, count] => {
            let address: IpAddr = address.parse().unwrap();
            let peer = SocketAddr::new(address, PORT);
            let protocol = protocol.parse().unwrap();
            visit(file, peer, model, protocol, loader, count.parse().unwrap());
        }
        _ => println!("pages serve FILE | load FILE ADDRESS MODEL PROTOCOL LOADER COUNT"),
    }
}

fn serve(file: &str) {
    let made = rcgen::generate_simple_self_signed(vec!["isobath".to_owned()]).unwrap();
    let certificate = made.cert.der();
    let site = Site::start(certificate, &made.signing_key.serialize_der(), None).unwrap();
    let models = PageModel::names().map(|name| PageModel::find(name).unwrap());
    let published = TOKENS
        .zip(models)
        .map(|(token, model)| site.publish(token, Ipv4Addr::LOCALHOST.into(), model));
    let _published: Vec<_> = published.collect();
    std::thread::spawn(answer);
    let listener = TcpListener::bind(("0.0.0.0", PORT)).unwrap();
    std::fs::write(file, certificate).unwrap();
    for socket in listener.incoming() {
        let socket = socket.unwrap();
        if let Some(token) = wanted(&socket) {
            site.take(socket, token, ());
        }
    }
}

/// The session whose name stands in the first message; good enough for clients that mean well.
fn wanted(socket: &std::net::TcpStream) -> Option<u64> {
    let mut octets = vec![0; 4_096];
    for _ in 0..100 {
        let count = socket.peek(&mut octets).ok()?;
        let text = String::from_utf8_lossy(&octets[..count]).into_owned();
        if let Some(end) = text.find(".isobath.test") {
            return u64::from_str_radix(text.get(end - 16..end)?, 16).ok();
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    None
}

fn answer() {
    let socket = UdpSocket::bind(("0.0.0.0", PORT)).unwrap();
    let (mut buffer, mut out) = ([0; 2_048], Vec::new());
    loop {
        let (count, peer) = socket.recv_from(&mut buffer).unwrap();
        let any = IpAddr::from([192, 0, 2, 1]);
        if dns::answer(
            &buffer[..count],
            |token| TOKENS.contains(&token),
            any,
            &mut out,
        ) {
            socket.send_to(&out, peer).unwrap();
        }
    }
}

fn visit(
    file: &str,
    peer: SocketAddr,
    name: &str,
    protocol: HttpVersion,
    loader: &str,
    count: u32,
) {
    while std::fs::metadata(file).is_err() {
        std::thread::park_timeout(Duration::from_millis(50));
    }
    let certificate = std::fs::read(file).unwrap();
    let model = PageModel::find(name).unwrap();
    let token = TOKENS
        .zip(PageModel::names())
        .find(|(_, known)| *known == name)
        .unwrap()
        .0;
    let target = Target {
        peer,
        resolver: peer,
        token,
        fingerprint: fingerprint(&certificate),
        dscp: Dscp::CS0,
    };
    let abort = AtomicBool::new(false);
    if loader == "native" {
        for _ in 0..count {
            tell(&load(&model, &target, protocol, PATIENCE, &abort));
        }
        return;
    }
    let site = Proxied {
        resolver: peer,
        peer,
        certificate,
        class: None,
    };
    let options = Options {
        site: Some(site),
        protocol: Some(protocol),
    };
    let mut browser = Browser::start(&Chromium::find().unwrap(), options).unwrap();
    let url = model.url(0, token, PORT);
    for _ in 0..count {
        tell(&browser.load(&url, PATIENCE, &abort));
    }
}

fn tell(load: &PageLoad) {
    let ms = |span: Option<Duration>| span.map(|span| span.as_secs_f64() * 1e3);
    let (time, first) = (ms(load.load_time), ms(load.first_byte));
    let (objects, bytes) = (load.loaded(), load.bytes());
    println!(
        "{time:.1?} first {first:.1?} objects {objects} bytes {bytes} {:?}",
        load.error
    );
    if std::env::var_os("BARS").is_some() {
        for bar in &load.objects {
            let phases = [
                bar.blocked,
                bar.dns,
                bar.connect,
                bar.tls,
                bar.wait,
                bar.receive,
            ];
            let phases = phases.map(|phase| phase.map_or(0.0, |phase| phase.as_secs_f64() * 1e3));
            let (found, total) = (ms(Some(bar.found)), ms(bar.total));
            println!(
                "{:>3} {found:7.1?} {phases:6.1?} {total:7.1?} {}{}",
                bar.object, bar.host, bar.path
            );
        }
    }
}
