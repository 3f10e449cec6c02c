//! An archive in a bucket of an S3-compatible store.

use crate::http_client::{self, HttpClient};
use anyhow::anyhow;
use async_trait::async_trait;
use http_body_util::{BodyExt as _, Collected, Full, Limited};
use hyper::body::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::path::Path as Key;
use object_store::{ClientOptions, Error, ObjectStoreExt as _, RetryConfig};
use std::path::Path;
use std::time::Duration;

/// How long one request may take, and all tries of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Octets of an answer: the largest is a file of a day.
const LONGEST_ANSWER: usize = 1 << 28;

/// A bucket, and where in it.
pub(super) struct Bucket {
    store: AmazonS3,
    prefix: Key,
}

impl Bucket {
    /// At `s3://BUCKET/PREFIX`; region, credentials and endpoint are those of the environment, by the names of Amazon's own tools.
    pub(super) fn at(url: &str) -> anyhow::Result<Self> {
        let path = url.trim_start_matches("s3://").split_once('/');
        let retries = RetryConfig {
            max_retries: 3,
            retry_timeout: PATIENCE,
            ..RetryConfig::default()
        };
        Ok(Self {
            store: AmazonS3Builder::from_env()
                .with_url(url)
                .with_retry(retries)
                .with_http_connector(Connector)
                .build()?,
            prefix: Key::parse(path.map_or("", |(_, prefix)| prefix))?,
        })
    }

    fn key(&self, way: &Path) -> Key {
        let parts = way.iter().map(|part| part.to_string_lossy().into_owned());
        parts.fold(self.prefix.clone(), |key, part| key.join(part.as_str()))
    }

    /// Puts a file there, by its way from the dataset's folder.
    pub(super) async fn put(&self, way: &Path, octets: Vec<u8>) -> anyhow::Result<()> {
        let put = self.store.put(&self.key(way), octets.into()).await;
        put.map(drop)
            .map_err(|error| anyhow!(in_one_line("write", &error)))
    }

    /// The file that is there, if any.
    pub(super) async fn get(&self, way: &Path) -> anyhow::Result<Option<Bytes>> {
        let got = async { self.store.get(&self.key(way)).await?.bytes().await };
        match got.await {
            Ok(octets) => Ok(Some(octets)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(anyhow!(in_one_line("read", &error))),
        }
    }
}

/// What is wrong, and what to do; the store's own word for it where it has one.
fn in_one_line(what: &str, error: &Error) -> String {
    let said = error.to_string();
    let code = said
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once("</Code>"));
    let code = code.map_or(String::new(), |(code, _)| format!(" ({code})"));
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            format!(
                "it does not let this key {what}{code} - see AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; the key needs s3:GetObject, s3:ListBucket and s3:PutObject"
            )
        }
        Error::NotFound { .. } => format!("there is no such bucket{code} - make it first"),
        _ => {
            let line = said.lines().next().unwrap_or_default();
            let cause = http_client::cause(error);
            let cause = cause.lines().next().unwrap_or_default();
            if line.contains(cause) {
                line.to_owned()
            } else {
                format!("{line} ({cause})")
            }
        }
    }
}

#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<object_store::client::HttpClient> {
        let client = http_client::new().map_err(|error| Error::Generic {
            store: "HTTP",
            source: error.into(),
        })?;
        Ok(object_store::client::HttpClient::new(Service(client)))
    }
}

#[derive(Debug)]
struct Service(HttpClient);

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(Collected::to_bytes)?;
        let request = hyper::Request::from_parts(head, Full::<Bytes>::from(body));
        let failed = |error: hyper_util::client::legacy::Error| {
            let kind = if error.is_connect() {
                HttpErrorKind::Connect
            } else {
                HttpErrorKind::Request
            };
            HttpError::new(kind, error)
        };
        let whole = async {
            let (head, body) = self.0.request(request).await.map_err(failed)?.into_parts();
            let body = Limited::new(body, LONGEST_ANSWER).collect().await;
            let broken = |error| HttpError::new_boxed(HttpErrorKind::Interrupted, error);
            let body = Full::from(body.map_err(broken)?.to_bytes());
            Ok::<_, HttpError>((head, body.map_err(|never| match never {})))
        };
        let answer = tokio::time::timeout(PATIENCE, whole).await;
        let (head, body) =
            answer.map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))??;
        Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)))
    }
}
