//! The text in an object that makes a browser find others.

use super::body::Segment;
use crate::model::{Object, PageModel};
use crate::result::Kind;
use bytes::Bytes;

/// The smallest GIF that every browser shows: 1 by 1 pixel, transparent (`GIF89a`).
const GIF: &[u8] =
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\
\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";
/// What scripts that reveal something begin and end with. Images are kept where they are not
/// collected before they arrive.
const SCRIPT_START: &str = "(function(d,w){\
function e(t,k,u){var n=d.createElement(t);n.rel=\"stylesheet\";n[k]=u;d.head.appendChild(n)}\
function s(u){e(\"script\",\"src\",u)}\
function l(u){e(\"link\",\"href\",u)}\
function i(u){var n=new Image;w.push(n);n.src=u}\
function f(u){fetch(u).then(function(r){return r.arrayBuffer()})}\n";
const SCRIPT_END: &str = "})(document,window.seen||(window.seen=[]));\n";

/// How the text of a page names its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Urls {
    /// Each on its own host, in the session `token`, at `port`.
    OfHosts { token: u64, port: u16 },
    /// All in the document's folder, by relative references (RFC 3986 section 4.2).
    OfFolder,
}

impl Urls {
    pub(crate) fn of(self, model: &PageModel, object: u16) -> String {
        match self {
            Self::OfHosts { token, port } => model.url(object, token, port),
            Self::OfFolder => model.path(object).split_off(1),
        }
    }
}

/// An object's octets.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) segments: Vec<Segment>,
    /// Objects of the document, and how many of its octets it takes to have read their tags;
    /// in the order of those.
    pub(crate) reveals: Vec<(u64, u16)>,
}

/// Text that wants to stand at a place.
struct Piece {
    place: u8,
    object: Option<u16>,
    text: String,
}

/// The octets of `number`; as many as the model says.
pub(crate) fn layout(model: &PageModel, number: u16, urls: Urls) -> Layout {
    let Some(object) = model.object(number) else {
        return Layout {
            segments: Vec::new(),
            reveals: Vec::new(),
        };
    };
    let (kind, size) = (object.kind, object.size.get());
    let mut writer = Writer::new(kind, size);
    match kind {
        Kind::Image => writer.octets(GIF),
        Kind::Fetch => writer.octets(b"\""),
        Kind::Document | Kind::Style | Kind::Script => {
            let pieces = pieces(model, number, urls);
            writer.pieces(&pieces);
        }
        Kind::Font | Kind::Other => {}
    }
    writer.finish()
}

/// The fewest octets that `number` can have.
pub(crate) fn least(model: &PageModel, number: u16) -> u64 {
    let Some(object) = model.object(number) else {
        return 0;
    };
    let widest = Urls::OfHosts {
        token: 0,
        port: u16::MAX,
    };
    match object.kind {
        Kind::Image => GIF.len() as u64,
        Kind::Fetch => 2,
        Kind::Document | Kind::Style | Kind::Script => length(&pieces(model, number, widest)),
        Kind::Font | Kind::Other => 0,
    }
}

fn length(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.text.len() as u64).sum()
}

fn pieces(model: &PageModel, number: u16, urls: Urls) -> Vec<Piece> {
    let text = |text: String| Piece {
        place: 0,
        object: None,
        text,
    };
    let mut children: Vec<_> = model.revealed_by(number).collect();
    let named = |(child, object): &(u16, &Object), form: fn(Kind, u16, &str) -> String| Piece {
        place: object.place,
        object: Some(*child),
        text: form(object.kind, *child, &urls.of(model, *child)),
    };
    match model.object(number).map(|object| object.kind) {
        Some(Kind::Document) => {
            children.sort_by_key(|(child, object)| (object.place, *child));
            let in_head = children.partition_point(|(_, object)| object.place == 0);
            let (head, rest) = children.split_at(in_head);
            let mut all = vec![text(head_start(model))];
            all.extend(head.iter().map(|child| named(child, tag)));
            all.push(text(users(model)));
            all.extend(rest.iter().map(|child| named(child, tag)));
            all
        }
        Some(Kind::Style) => {
            // `@import` stands before all else (CSS Cascading and Inheritance, section 2).
            children.sort_by_key(|(_, object)| object.kind != Kind::Style);
            children.iter().map(|child| named(child, rule)).collect()
        }
        Some(Kind::Script) if !children.is_empty() => {
            let mut all = vec![text(SCRIPT_START.to_owned())];
            all.extend(children.iter().map(|child| named(child, call)));
            all.push(text(SCRIPT_END.to_owned()));
            all
        }
        _ => Vec::new(),
    }
}

/// The icon is given, or a browser would ask for one.
fn head_start(model: &PageModel) -> String {
    let name = model.name();
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{name}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n"
    )
}

/// Elements that want the fonts and images of style sheets, which are not fetched otherwise.
fn users(model: &PageModel) -> String {
    let styled = (0_u16..).zip(model.objects()).filter(|(_, object)| {
        let parent = object.after.and_then(|after| model.object(after));
        let is_style = parent.is_some_and(|parent| parent.kind == Kind::Style);
        is_style && object.kind != Kind::Style
    });
    let user = |(number, _)| format!("<b class=\"u{number}\">x</b>\n");
    styled.map(user).collect::<Vec<_>>().concat()
}

fn tag(kind: Kind, _: u16, url: &str) -> String {
    match kind {
        Kind::Style => format!("<link rel=\"stylesheet\" href=\"{url}\">\n"),
        Kind::Script => format!("<script src=\"{url}\"></script>\n"),
        _ => format!("<img src=\"{url}\" alt=\"\">\n"),
    }
}

fn rule(kind: Kind, number: u16, url: &str) -> String {
    match kind {
        Kind::Style => format!("@import \"{url}\";\n"),
        Kind::Font => format!(
            "@font-face{{font-family:f{number};src:url({url})}}\n.u{number}{{font-family:f{number}}}\n"
        ),
        _ => format!(".u{number}{{background-image:url({url})}}\n"),
    }
}

fn call(kind: Kind, _: u16, url: &str) -> String {
    let function = match kind {
        Kind::Style => 'l',
        Kind::Script => 's',
        Kind::Fetch => 'f',
        _ => 'i',
    };
    format!("{function}(\"{url}\");\n")
}

/// Puts text at its places and filler between.
struct Writer {
    kind: Kind,
    size: u64,
    written: u64,
    out: Layout,
}

impl Writer {
    const fn new(kind: Kind, size: u64) -> Self {
        let out = Layout {
            segments: Vec::new(),
            reveals: Vec::new(),
        };
        Self {
            kind,
            size,
            written: 0,
            out,
        }
    }

    fn push(&mut self, segment: Segment) {
        if segment.len() == 0 {
            return;
        }
        self.written += segment.len();
        self.out.segments.push(segment);
    }

    fn octets(&mut self, octets: &'static [u8]) {
        self.push(Segment::Text(Bytes::from_static(octets)));
    }

    /// Text stands later than its place only when what is before it does not end sooner, and sooner only
    /// when what is behind it would not fit.
    fn pieces(&mut self, pieces: &[Piece]) {
        let mut rest = length(pieces);
        for piece in pieces {
            let wanted = self.size * u64::from(piece.place) / 100;
            let latest = self.size.saturating_sub(rest);
            self.fill_to(wanted.min(latest));
            self.push(Segment::Text(Bytes::from(piece.text.clone())));
            rest -= piece.text.len() as u64;
            if let (Kind::Document, Some(object)) = (self.kind, piece.object) {
                self.out.reveals.push((self.written, object));
            }
        }
    }

    /// Fills up to `end` with what means nothing in this kind of object.
    fn fill_to(&mut self, end: u64) {
        let gap = end.saturating_sub(self.written);
        let (open, close): (&'static [u8], &'static [u8]) = match self.kind {
            Kind::Document => (b"<!--", b"-->"),
            Kind::Style | Kind::Script => (b"/*", b"*/"),
            Kind::Fetch => (b"", b"\""),
            _ => (b"", b""),
        };
        let around = (open.len() + close.len()) as u64;
        if let Some(inside) = gap.checked_sub(around) {
            self.octets(open);
            self.push(Segment::Filler(inside));
            self.octets(close);
        } else {
            let blanks = " ".repeat(usize::try_from(gap).unwrap_or(0));
            self.push(Segment::Text(blanks.into()));
        }
    }

    fn finish(mut self) -> Layout {
        self.fill_to(self.size);
        self.out
    }
}
