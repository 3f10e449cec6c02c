//! The far end of a replay between two hosts: what `isobath serve` does for one client.
//!
//! Every connection of the replay is a data stream of the session: it comes in at the server's one port, and says by its
//! preamble whose it is and which number it has. From then on it is an end like any other ([`super::engine`]). Nothing is
//! opened from here, and nothing said but on connections that the client opened.

use super::connector::{Connector, KIND};
use super::datagrams::Flows;
use super::engine::{Engine, News, Stage};
use super::listeners::{Arrival, Handover, Listeners};
use super::messages::{Done, Ended, Far, Near, PER_LINE, Setup, Told};
use super::run::QUEUE;
use super::script::Script;
use super::workload::Host;
use kit::far::{StopOnDrop, start};
use session::{Control, Error, Session};
use socket2::Socket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use sys::clock;
use sys::proc::OwnCpu;

/// A client that has set up a run says within this time what is next.
const NEXT: Duration = Duration::from_secs(30);
/// Connections of a replay for each that a session may have open at once, and ADUs for each of these: as in [`super::script`].
const PER_STREAM: u64 = 512;
const ADUS: u64 = 8;
/// How often the control connection is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long news are waited for in between.
const WAIT: Duration = Duration::from_millis(80);

/// Serves the replay that the client of `session` set up. Returns when it is over or the client is gone.
///
/// # Errors
/// Those of the control connection.
pub fn serve(control: &mut Control, session: &Session, setup: &Setup) -> Result<(), Error> {
    let cpu_before = OwnCpu::now().ok();
    let script = check(session, setup).and_then(|()| Script::new(setup));
    let mut script = match script {
        Ok(script) => script,
        Err(reason) => return control.send(&Far::Refused(reason)),
    };
    control.send(&Far::Ready)?;
    loop {
        match control.recv(NEXT)? {
            Near::Workload(words) => {
                if let Err(reason) = words.into_iter().try_for_each(|word| script.take(word)) {
                    return control.send(&Far::Refused(reason));
                }
            }
            Near::Go => break,
            Near::Stop => return Ok(()),
        }
    }
    let parts = match script.finish() {
        Ok(parts) => parts,
        Err(reason) => return control.send(&Far::Refused(reason)),
    };
    let stop = AtomicBool::new(false);
    let stage = Stage {
        parts: &parts,
        shares: 1,
        connector: Connector::Inward,
        congestion_control: setup.congestion_control.as_deref(),
        stop: &stop,
        begun: AtomicU64::new(0),
        open: AtomicU64::new(0),
        flows: Flows::none(),
    };
    if !play(control, session, &stage)? {
        return Ok(());
    }
    let used = OwnCpu::now()
        .ok()
        .zip(cpu_before)
        .map(|(now, before)| now.since(&before).total());
    control.send(&Far::Done(Done {
        process_cpu_s: used.unwrap_or_default().as_secs_f64(),
    }))
}

/// What can be found wrong before the replay.
fn check(session: &Session, setup: &Setup) -> Result<(), String> {
    let left = session.ends.since(clock::now());
    let duration = Duration::from_nanos(setup.duration_ns.unwrap_or(0));
    if duration > left {
        return Err(format!(
            "longer than the {:.0} s that this server gives a session - use a shorter --duration",
            left.as_secs_f64()
        ));
    }
    let most = session.limits.streams;
    let connections = u64::from(most) * PER_STREAM;
    if setup.connections > connections || setup.adus > connections * ADUS {
        return Err(format!(
            "{} connections with {} ADUs - this server takes {connections} with {} in one replay",
            setup.connections,
            setup.adus,
            connections * ADUS
        ));
    }
    if setup.open > u64::from(most) {
        return Err(format!(
            "{} connections at once - this server allows {most}: start it with 'isobath serve --streams {}'",
            setup.open, setup.open
        ));
    }
    let Some(control) = &setup.congestion_control else {
        return Ok(());
    };
    sys::tcp::try_congestion(control).map_err(|error| error.to_string())
}

/// Plays its ends of all connections until the client has had enough; says whether it could.
fn play(control: &mut Control, session: &Session, stage: &Stage<'_>) -> Result<bool, Error> {
    let ready = Listeners::handed().and_then(|(listeners, handover)| {
        let (tell, news) = mpsc::sync_channel(QUEUE);
        let engine = Engine::new((Host::Server, 0), stage, Some(listeners), tell)?;
        Ok((engine, handover, news))
    });
    let (engine, handover, news) = match ready {
        Ok(ready) => ready,
        Err(error) => {
            control.send(&Far::Refused(error.to_string()))?;
            return Ok(false);
        }
    };
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(stage.stop);
        start(scope, session, || {
            let _ = clock::timer_slack(1);
            engine.run(clock::now());
        });
        start(scope, session, || hand_over(session, &handover, stage.stop));
        control.send(&Far::Ready)?;
        watch(control, news, stage.stop)?;
        Ok(true)
    })
}

/// Hands the session's connections on.
fn hand_over(session: &Session, handover: &Handover, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) && !session.is_closed() {
        let Some(stream) = session.next_stream(WAIT) else {
            continue;
        };
        let number = u32::try_from(stream.preamble.nonce);
        let (Ok(number), KIND) = (number, stream.preamble.kind) else {
            continue;
        };
        let socket = Socket::from(stream.socket);
        if socket.set_nonblocking(true).is_ok() {
            handover.hand(Arrival {
                socket,
                number,
                accepted: stream.accepted,
                slot: Some(stream.slot),
                introduced: true,
            });
        }
    }
}

/// Tells what is new until the client says that it is over, and then the rest. Whatever ends it, nobody waits to be heard any
/// more.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the engine could wait for it when it is over"
)]
fn watch(control: &mut Control, news: Receiver<News>, stop: &AtomicBool) -> Result<(), Error> {
    loop {
        match news.recv_timeout(WAIT) {
            Ok(news) => tell(control, &news)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        match control.recv(LOOK) {
            // Then the engine ends, and with it its news.
            Ok(Near::Stop) => stop.store(true, Ordering::Relaxed),
            Ok(Near::Workload(_) | Near::Go) | Err(Error::Timeout { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}

fn tell(control: &mut Control, news: &News) -> Result<(), Error> {
    let heard = news.heard.filter(|(_, _, octets)| *octets > 0);
    let heard = heard.map(|(_, at, octets)| (octets, at.as_nanos()));
    if heard.is_some() {
        control.send(&Far::Told(Told {
            heard,
            ends: Vec::new(),
        }))?;
    }
    for halves in news.halves.chunks(PER_LINE) {
        control.send(&Far::Told(Told {
            ends: halves.iter().map(Ended::from).collect(),
            heard: None,
        }))?;
    }
    Ok(())
}
