//! Where a responsiveness server has what: `https://HOST/.well-known/nq` (draft-ietf-ippm-responsiveness-09 section 7.1).
//!
//! ```json
//! {
//!   "version": 1,
//!   "urls": {
//!     "small_download_url": "https://HOST/small",
//!     "large_download_url": "https://HOST/large",
//!     "upload_url": "https://HOST/upload"
//!   },
//!   "test_endpoint": "HOST-TO-CONNECT-TO"
//! }
//! ```
//!
//! Three URLs of one host: one octet, more octets than anybody waits for, and one that takes any. Servers of before version 07 of the
//! draft say `small_https_download_url` and so on.

use serde_json::{Value, json};

/// The path of the configuration on its host.
pub const WELL_KNOWN: &str = "/.well-known/nq";
/// The longest configuration that is read, octets.
pub const LONGEST: usize = 64 << 10;

/// Where the requests of a test go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Configuration {
    /// Scheme, host and port of all three.
    pub origin: Origin,
    /// Path and query of the object of one octet.
    pub small: String,
    /// Of the object without end.
    pub large: String,
    /// Of the one that takes everything.
    pub upload: String,
    /// The host to connect to, where it is not the one of the URLs; with or without a port.
    pub endpoint: Option<String>,
}

/// Whose a URL is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin {
    /// Whether it is by TLS.
    pub is_tls: bool,
    /// The host as it was written, an IPv6 address in brackets.
    pub host: String,
    /// The port; 443 or 80 where none is written.
    pub port: u16,
}

impl Origin {
    /// Splits a URL into whose it is, and path and query.
    ///
    /// # Errors
    /// When it is none of http or https with a host.
    pub fn of(url: &str) -> Result<(Self, String), String> {
        let wrong = || format!("'{}' is no https:// URL", shown(url));
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(wrong()),
        };
        let is_plain = rest.bytes().all(|octet| octet.is_ascii_graphic());
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let path = match path.bytes().next() {
            Some(b'/') => path.to_owned(),
            _ => format!("/{path}"),
        };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (authority, if is_tls { 443 } else { 80 }),
        };
        let host = host.to_owned();
        let is_v6 = host.starts_with('[') && host.ends_with(']');
        let is_split = host.contains(':') && !is_v6;
        if host.is_empty() || is_split || host.contains('@') || !is_plain || port == 0 {
            return Err(wrong());
        }
        Ok((Self { is_tls, host, port }, path))
    }

    /// Host and port, as a request names them: without the port where it is the usual one.
    pub fn authority(&self) -> String {
        match (self.is_tls, self.port) {
            (true, 443) | (false, 80) => self.host.clone(),
            (_, port) => format!("{}:{port}", self.host),
        }
    }
}

impl Configuration {
    /// Reads a configuration.
    ///
    /// # Errors
    /// In one line, why it is none: then it is to be ignored.
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let json: Value =
            serde_json::from_slice(text).map_err(|error| format!("it is no JSON: {error}"))?;
        if json["version"].as_u64() != Some(1) {
            return Err("it is not of version 1".to_owned());
        }
        let url = |name: &str, older: &str| {
            let urls = &json["urls"];
            let url = urls[name].as_str().or_else(|| urls[older].as_str());
            let url = url.ok_or_else(|| format!("it has no {name}"))?;
            Origin::of(url)
        };
        let (origin, small) = url("small_download_url", "small_https_download_url")?;
        let (large_at, large) = url("large_download_url", "large_https_download_url")?;
        let (upload_at, upload) = url("upload_url", "https_upload_url")?;
        if large_at != origin || upload_at != origin {
            return Err("its URLs are not of one host".to_owned());
        }
        let endpoint = json["test_endpoint"].as_str().map(str::to_owned);
        Ok(Self {
            origin,
            small,
            large,
            upload,
            endpoint: endpoint.filter(|endpoint| !endpoint.is_empty()),
        })
    }

    /// What [`Configuration::read`] reads.
    pub fn write(&self) -> String {
        let scheme = if self.origin.is_tls { "https" } else { "http" };
        let url = |path: &str| format!("{scheme}://{}{path}", self.origin.authority());
        let mut json = json!({
            "version": 1,
            "urls": {
                "small_download_url": url(&self.small),
                "large_download_url": url(&self.large),
                "upload_url": url(&self.upload),
            },
        });
        if let Some(endpoint) = &self.endpoint {
            json["test_endpoint"] = json!(endpoint);
        }
        json.to_string()
    }
}

/// As much of a URL as fits a line.
fn shown(url: &str) -> String {
    url.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"version":1,"urls":{"small_download_url":"https://h.example:4443/s?x=1","large_download_url":"https://h.example:4443/l",
        "upload_url":"https://h.example:4443/u"},"test_endpoint":"near.example"}"#;

    #[test]
    fn a_configuration_is_read_and_written() {
        let read = Configuration::read(TEXT.as_bytes()).unwrap();
        assert_eq!(read.origin.authority(), "h.example:4443");
        assert_eq!(
            (&*read.small, &*read.large, &*read.upload),
            ("/s?x=1", "/l", "/u")
        );
        assert_eq!(read.endpoint.as_deref(), Some("near.example"));
        assert_eq!(Configuration::read(read.write().as_bytes()), Ok(read));
        let older = TEXT.replace("_download_url", "_https_download_url");
        let older = older.replace("upload_url", "https_upload_url");
        assert!(Configuration::read(older.as_bytes()).is_ok());
    }

    #[test]
    fn what_is_no_configuration_is_refused_with_the_reason() {
        for (from, to, word) in [
            ("\"version\":1", "\"version\":2", "version"),
            ("upload_url", "upload", "no upload_url"),
            ("4443/l", "4444/l", "one host"),
            (
                "https://h.example:4443/u",
                "ftp://h.example/u",
                "no https://",
            ),
            ("{\"version\"", "[\"version\"", "no JSON"),
        ] {
            let refused = Configuration::read(TEXT.replace(from, to).as_bytes()).unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }

    #[test]
    fn urls_are_split_as_they_are_written() {
        let split = |url: &str| {
            let (origin, path) = Origin::of(url)?;
            Ok::<_, String>((origin.is_tls, origin.host, origin.port, path))
        };
        let of =
            |tls, host: &str, port, path: &str| Ok((tls, host.to_owned(), port, path.to_owned()));
        assert_eq!(split("https://h"), of(true, "h", 443, "/"));
        assert_eq!(split("http://h:81?x#y"), of(false, "h", 81, "/?x"));
        assert_eq!(
            split("https://[2001:db8::1]/a"),
            of(true, "[2001:db8::1]", 443, "/a")
        );
        assert_eq!(split("https://[::1]:44/a"), of(true, "[::1]", 44, "/a"));
        for wrong in [
            "h",
            "https://",
            "https://u@h/",
            "https://h:x/",
            "https://h:0/",
            "https://h /",
        ] {
            assert!(Origin::of(wrong).is_err(), "{wrong}");
        }
    }
}
