//! Requests on an open connection, by HTTP/2 or HTTP/3.

use super::super::upload::{Upload, filler};
use crate::answer::{Body, refusal};
use crate::http3::client as http3;
use crate::reason::reason;
use hyper::client::conn::http2;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use hyper::http::request::Builder;
use hyper::{Method, Request, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use sys::clock;

const AGENT: &str = concat!("isobath/", env!("CARGO_PKG_VERSION"));

/// A connection for any number of requests at once.
#[derive(Clone)]
pub struct Link {
    pub(super) connection: Connection,
    pub(super) authority: String,
}

#[derive(Clone)]
pub(super) enum Connection {
    H2(http2::SendRequest<Upload>),
    H3(http3::Sender),
}

impl Link {
    /// Asks for a small object, and waits until all of it is there: how long that took.
    ///
    /// # Errors
    /// One line.
    pub async fn ask(&self, path: &str) -> Result<Duration, String> {
        let begun = clock::now();
        self.fetch(path, 1 << 16).await?;
        Ok(clock::now().since(begun))
    }

    /// An object of at most so many octets.
    ///
    /// # Errors
    /// One line.
    pub async fn fetch(&self, path: &str, most: usize) -> Result<Vec<u8>, String> {
        let mut body = self.get(path).await?;
        let mut octets = Vec::new();
        while let Some(data) = body.next().await? {
            if octets.len() + data.len() > most {
                return Err(format!("{path} has more than {most} octets"));
            }
            octets.extend(data);
        }
        Ok(octets)
    }

    /// Receives the object without end, and counts its octets. It ends with an error, or when it is dropped.
    ///
    /// # Errors
    /// One line.
    pub async fn download(self, path: String, counter: Arc<AtomicU64>) -> Result<(), String> {
        loop {
            let mut body = self.get(&path).await?;
            let mut octets = 0;
            while let Some(data) = body.next().await? {
                octets += data.len();
                counter.fetch_add(data.len() as u64, Ordering::Relaxed);
            }
            // Some servers have an end; one that has none of it has no load.
            if octets < 1 << 20 {
                return Err(format!("{path} ends after {octets} octets"));
            }
        }
    }

    /// Sends an object without end, and counts its octets.
    ///
    /// # Errors
    /// One line.
    pub async fn upload(self, path: String, counter: Arc<AtomicU64>) -> Result<(), String> {
        let request = self
            .request(Method::POST, &path)
            .header(CONTENT_TYPE, "application/octet-stream");
        let answer = self.send(request, Some(counter)).await?;
        let what = refusal(answer.status(), answer.headers());
        Err(format!("{path}, an upload without end: {what}"))
    }

    /// The body of what is answered to a request for `path`.
    async fn get(&self, path: &str) -> Result<Body, String> {
        let answer = self.send(self.request(Method::GET, path), None).await?;
        if answer.status().is_success() {
            Ok(answer.into_body())
        } else {
            let what = refusal(answer.status(), answer.headers());
            Err(format!("{path}: {what}"))
        }
    }

    fn request(&self, method: Method, path: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.authority))
            .header(USER_AGENT, AGENT)
            .header(ACCEPT_ENCODING, "identity")
    }

    /// Sends a request, with a body without end where there is a counter of its octets.
    async fn send(
        &self,
        request: Builder,
        counter: Option<Arc<AtomicU64>>,
    ) -> Result<Response<Body>, String> {
        match self.connection.clone() {
            Connection::H2(mut sender) => {
                let request = request
                    .body(Upload { counter })
                    .map_err(|e| e.to_string())?;
                let answer = sender.send_request(request).await;
                let answer = answer.map_err(|error| reason(&error))?;
                Ok(answer.map(Body::Tcp))
            }
            Connection::H3(mut sender) => {
                let request = request.body(()).map_err(|error| error.to_string())?;
                let (head, body) = match counter {
                    Some(counter) => sender.upload(request, filler(), &counter).await,
                    None => sender.send(request).await,
                }?;
                Ok(head.map(|()| Body::Quic(body)))
            }
        }
    }
}
