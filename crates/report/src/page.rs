//! The page around the figures: one HTML file, built from `ui/` and compiled in.
//!
//! It holds one mark, which becomes the figures, inside a `<script type="application/json">`, which no browser runs. There the only dangerous octet is `<`, with which a text from a record (a host's name, a URL)
//! could end the element; it is written as `\u003c`, the same character to every JSON reader.

use crate::Error;
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::LazyLock;

/// The page as built from `ui/` by `scripts/ui.sh build`, packed by `build.rs`.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/index.html.gz"));
/// The same to be read; empty if it cannot be unpacked.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let mut page = String::new();
    match GzDecoder::new(PACKED).read_to_string(&mut page) {
        Ok(_) => page,
        Err(_) => String::new(),
    }
});
/// Where the figures go.
const DATA_MARK: &str = "\"ISOBATH-REPORT-DATA\"";
/// Before the hash of its sources.
const SOURCES_MARK: &str = "<meta name=\"isobath-ui-sources\" content=\"";

/// The hash of the sources of the page that is compiled in, as the page itself says; empty when it says none.
pub fn page_sources() -> &'static str {
    let after = PAGE.split_once(SOURCES_MARK).map(|(_, after)| after);
    after.and_then(|after| after.get(..16)).unwrap_or_default()
}

/// FNV-1a with 64 bits over sources in the order given, each as its name, a zero octet, its content and another zero
/// octet. It finds stale pages, not forged ones, and is six lines in any language (`ui/sources.mjs` is the other one).
pub fn sources_hash<'a>(sources: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |octet: u8| hash = (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
    for (name, content) in sources {
        name.bytes().chain([0]).for_each(&mut take);
        content.iter().copied().chain([0]).for_each(&mut take);
    }
    format!("{hash:016x}")
}

/// The page with `json` in it.
///
/// # Errors
/// [`Error::Page`] when the page has no place for it.
pub(crate) fn embed(json: &str) -> Result<String, Error> {
    let (before, after) = PAGE.split_once(DATA_MARK).ok_or(Error::Page)?;
    let json = json.replace('<', "\\u003c");
    Ok([before, &json, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_end_the_element_that_holds_it() {
        let page = embed(r#"{"name":"</script><script>alert(1)</script><!--"}"#).unwrap();
        assert!(
            page.contains(
                r#"{"name":"\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--"}"#
            )
        );
        assert!(!page.contains("<script>alert"));
    }

    #[test]
    fn the_page_asks_no_network_for_anything() {
        for reference in [
            "src=\"http",
            "href=\"http",
            "@import url",
            "url(http",
            "<link rel=\"stylesheet",
        ] {
            assert!(!PAGE.contains(reference), "{reference}");
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Landon Curt Noll's vectors for 64 bits: "" and "a"; ours has separators, so only the former is here as it is.
        assert_eq!(sources_hash([]), "cbf29ce484222325");
        assert_eq!(sources_hash([("a", b"b".as_slice())]).len(), 16);
        assert_ne!(
            sources_hash([("a", b"bc".as_slice())]),
            sources_hash([("ab", b"c".as_slice())])
        );
    }
}
