//! The frame of a page: style, the script that keeps it fresh, and what a browser may do with it.

use data_encoding::BASE64;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("fresh.js");
const KIND: &str = "text/html; charset=utf-8";

/// A page of ours: what it is called, the way to it (names and addresses of the pages above), and what is in it.
pub(super) fn page(title: &str, above: &[(&str, String)], content: &str) -> String {
    let way = above
        .iter()
        .map(|(name, address)| format!("<a href=\"{address}\">{}</a> / ", escape(name)));
    let way: String = way.collect();
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title} - Isobath</title><style>{STYLE}</style></head>\n<body>\n<nav aria-label=\"Above\">{way}{title}</nav>\n\
         <main>\n{content}</main>\n<p id=\"stale\" role=\"status\"></p>\n<script>{SCRIPT}</script></body></html>\n"
    )
}

/// The answer with a page of ours: it loads nothing from elsewhere, and runs no script but its own.
pub(super) fn answer(status: StatusCode, page: String) -> Response<String> {
    let script = BASE64.encode(&Sha256::digest(SCRIPT));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{script}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut answer = report(status, page);
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// The answer with the page of a record, which has scripts of its own, and may load nothing from anywhere.
pub(super) fn report(status: StatusCode, page: String) -> Response<String> {
    let mut answer = crate::http::of_kind(status, KIND, page);
    let headers = [
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads",
        ),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in headers {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// `text` as it may stand in an element or an attribute.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
