//! scratch
use isobath_lab::{Network, profiles};
fn main() {
    let name = std::env::args().nth(1).unwrap();
    let n = Network::up(profiles::find(&name).unwrap(), 1).unwrap();
    let t = n.topology();
    let (c, s) = (t.client.clone(), t.server.clone());
    let mut server = std::process::Command::new("iperf3");
    server.args(["-s", "-1"]).stdout(std::process::Stdio::null());
    let mut sp = n.spawn(&s, server).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let args: Vec<_> = std::env::args().skip(2).collect();
    let mut p = std::process::Command::new(&args[0]);
    p.args(&args[1..]);
    n.spawn(&c, p).unwrap().wait().unwrap();
    for l in n.links() { let g = l.take_log(); println!("{}->{} {:?} {:?}", l.from, l.to, g.quality, g.totals); }
    println!("runner cpu {:?}", n.cpu());
    let _ = sp.kill(); let _ = sp.wait();
}
