//! A stream of server-sent events: what a query that goes on is told, for as long as its connection lasts.

use super::command::{Command, Handle, Token, Told};
use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Interval, interval};

/// After so long a comment is sent, by which the client sees that the stream lives, and this end that the client does.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A client's query; the desk is told when this is dropped.
pub(super) struct Asking {
    pub(super) desk: Handle,
    pub(super) token: Token,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.desk.tell(Command::Gone(self.token));
    }
}

/// The octets of a response: all at once, or as they come.
pub(super) enum Octets {
    Whole(Full<Bytes>),
    Events(Events),
}

/// See the [module](self).
pub(super) struct Events {
    news: Receiver<Told>,
    keep_alive: Interval,
    /// Held so that the query ends with the stream.
    _asking: Asking,
}

impl Events {
    pub(super) fn new(news: Receiver<Told>, asking: Asking) -> Self {
        Self {
            news,
            keep_alive: interval(KEEP_ALIVE),
            _asking: asking,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<String>> {
        if let Poll::Ready(told) = self.news.poll_recv(context) {
            return Poll::Ready(told.map(|told| event(&told)));
        }
        ready!(self.keep_alive.poll_tick(context));
        Poll::Ready(Some(": still here\n\n".to_owned()))
    }
}

/// As the HTML standard has it, section 9.2.6; JSON has no line ends.
fn event(told: &Told) -> String {
    format!("event: {}\ndata: {}\n\n", told.event.name(), told.body)
}

impl Body for Octets {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(whole) => Pin::new(whole).poll_frame(context),
            Self::Events(events) => {
                let text = ready!(events.poll(context));
                Poll::Ready(text.map(|text| Ok(Frame::data(Bytes::from(text)))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_two_lines_and_an_empty_one() {
        let told = Told::error(503, "two\nlines");
        assert_eq!(
            event(&told),
            "event: error\ndata: {\"error\":\"two\\nlines\"}\n\n"
        );
    }
}
