//! A test of a client's.

use crate::websocket::Socket;
use bytes::Bytes;
use far_ends::ndt7::{AppInfo, ConnectionInfo, LASTS, Measurement, MessageSize, TcpInfo, Test};
use futures_util::future::select;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::net::TcpStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use units::Instant;

/// How often the client is told what is counted here: at most ten times a second, says the specification.
const TELL: Duration = Duration::from_millis(250);

/// What a test needs of its connection.
#[derive(Clone)]
pub(super) struct Carrier {
    /// A second handle, for what the kernel tells.
    pub(super) tcp: Arc<TcpStream>,
    pub(super) ends: ConnectionInfo,
    /// What is sent.
    pub(super) filler: Bytes,
}

impl Carrier {
    /// Runs the test until the client closes the connection; this end closes the WebSocket after ten seconds.
    pub(super) async fn carry(&self, socket: Socket, test: Test) {
        let (sink, stream) = socket.split();
        let received = AtomicU64::new(0);
        let listen = listen(stream, test, &received);
        // First, because on a fast path there is always something to listen to.
        let speak = async {
            self.speak(sink, test, &received).await;
            // Now it is the client's to close.
            std::future::pending::<()>().await;
        };
        select(pin!(speak), pin!(listen)).await;
    }

    /// Sends what there is to send of the test, and closes the WebSocket when its time is over.
    async fn speak(
        &self,
        mut sink: SplitSink<Socket, Message>,
        test: Test,
        received: &AtomicU64,
    ) -> Option<()> {
        let begun = clock::now();
        let (mut size, mut sent, mut tell_at) = (MessageSize::default(), 0_u64, begun + TELL);
        loop {
            let left = (begun + LASTS).since(clock::now());
            if left.is_zero() {
                break;
            }
            if clock::now() >= tell_at {
                tell_at = clock::now() + TELL;
                let octets = match test {
                    Test::Download => sent,
                    Test::Upload => received.load(Ordering::Relaxed),
                };
                let told = self.measurement(test, begun, octets).write();
                sink.send(Message::text(told)).await.ok()?;
            }
            match test {
                Test::Download => {
                    let octets = size.grow();
                    let message = Message::Binary(self.filler.slice(..octets));
                    // What is not sent in time is sent before the WebSocket is closed.
                    if let Ok(done) = timeout(left, sink.send(message)).await {
                        done.ok()?;
                    }
                    sent += octets as u64;
                }
                Test::Upload => tokio::time::sleep(TELL.min(left)).await,
            }
        }
        sink.close().await.ok()
    }

    fn measurement(&self, test: Test, begun: Instant, num_bytes: u64) -> Measurement {
        let elapsed_time = micros(clock::now().since(begun));
        Measurement {
            app_info: Some(AppInfo {
                elapsed_time,
                num_bytes,
            }),
            connection_info: Some(self.ends.clone()),
            origin: Some("server".to_owned()),
            test: Some(test),
            tcp_info: sys::tcp::info(&*self.tcp)
                .ok()
                .map(|info| told(&info, elapsed_time)),
        }
    }
}

/// Counts what comes until the client closes the connection, or sends what it must not.
async fn listen(mut stream: SplitStream<Socket>, test: Test, received: &AtomicU64) {
    while let Some(Ok(message)) = stream.next().await {
        match (message, test) {
            (Message::Binary(octets), Test::Upload) => {
                received.fetch_add(octets.len() as u64, Ordering::Relaxed);
            }
            (Message::Binary(_), Test::Download) => return,
            _ => {}
        }
    }
}

fn told(info: &sys::tcp::TcpInfo, elapsed_time: u64) -> TcpInfo {
    TcpInfo {
        elapsed_time: Some(elapsed_time),
        busy_time: info.busy.map(micros),
        bytes_acked: info.bytes_acked,
        bytes_received: info.bytes_received,
        bytes_sent: info.bytes_sent,
        bytes_retrans: info.bytes_retrans,
        min_rtt: info.min_rtt.map(micros),
        rtt: info.rtt.map(micros),
        rtt_var: info.rttvar.map(micros),
        rwnd_limited: info.rwnd_limited.map(micros),
        snd_buf_limited: info.sndbuf_limited.map(micros),
        total_retrans: info.total_retrans.map(u64::from),
        snd_cwnd: info.snd_cwnd.map(u64::from),
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
