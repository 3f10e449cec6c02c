//! Shapes as SVG.

use crate::figure::Stroke;
use crate::text::{FAMILY, POINT};
use std::fmt::Write as _;

/// A rectangle; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }
}

/// Which part of a text is at the place that is named.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text to draw.
pub(crate) struct Text<'a> {
    pub(crate) words: &'a str,
    /// Where: along the line by `anchor`, across it the middle of its letters.
    pub(crate) at: (f64, f64),
    pub(crate) size_pt: f64,
    pub(crate) anchor: Anchor,
    /// Written upwards.
    pub(crate) is_turned: bool,
}

/// Half the height of a capital letter, in ems.
const HALF_CAPITAL: f64 = 0.365;

/// An SVG document in the making.
pub(crate) struct Canvas {
    size: (f64, f64),
    clips: usize,
    body: String,
}

impl Canvas {
    pub(crate) fn new(size: (f64, f64)) -> Self {
        let mut canvas = Self {
            size,
            clips: 0,
            body: String::new(),
        };
        let all = Area {
            width: size.0,
            height: size.1,
            ..Area::default()
        };
        canvas.rectangle(all, "white");
        canvas
    }

    pub(crate) fn rectangle(&mut self, area: Area, fill: &str) {
        let (at, fill) = (rectangle(area), escaped(fill));
        self.push(&format!(r#"<rect {at} fill="{fill}"/>"#));
    }

    /// Everything until [`end_clip`](Self::end_clip) is cut off at the edges of `area`.
    pub(crate) fn begin_clip(&mut self, area: Area) {
        self.clips += 1;
        let (number, at) = (self.clips, rectangle(area));
        self.push(&format!(
            r#"<clipPath id="c{number}"><rect {at}/></clipPath><g clip-path="url(#c{number})">"#
        ));
    }

    pub(crate) fn end_clip(&mut self) {
        self.push("</g>");
    }

    /// Points joined in their order.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], stroke: &Stroke) {
        let mut path = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let command = if at == 0 { 'M' } else { 'L' };
            // Writing to a String cannot fail.
            let _ = write!(path, "{command}{x:.2} {y:.2}");
        }
        if points.len() == 1 {
            // A line to where it is: its round ends are a dot.
            path.push_str("h0");
        }
        let dashes: Vec<String> = (stroke.dashes.iter())
            .map(|length| format!("{:.2}", length * POINT))
            .collect();
        let dashes = match dashes.as_slice() {
            [] => String::new(),
            some => format!(r#" stroke-dasharray="{}""#, some.join(" ")),
        };
        self.push(&format!(
            r#"<path d="{path}" fill="none" stroke="{}" stroke-width="{:.2}" stroke-linecap="round" stroke-linejoin="round"{dashes}/>"#,
            escaped(&stroke.colour),
            stroke.width_pt * POINT
        ));
    }

    pub(crate) fn text(&mut self, text: &Text<'_>) {
        if text.words.is_empty() {
            return;
        }
        let size = text.size_pt * POINT;
        let (x, y) = text.at;
        let down = size * HALF_CAPITAL;
        let place = if text.is_turned {
            format!(
                r#"transform="translate({:.2} {y:.2}) rotate(-90)""#,
                x + down
            )
        } else {
            format!(r#"x="{x:.2}" y="{:.2}""#, y + down)
        };
        let anchor = match text.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.push(&format!(
            r#"<text {place} font-size="{size:.2}" text-anchor="{anchor}">{}</text>"#,
            escaped(text.words)
        ));
    }

    pub(crate) fn finish(self) -> String {
        let ((width, height), body) = (self.size, self.body);
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.2}" height="{height:.2}" viewBox="0 0 {width:.2} {height:.2}" font-family="'{FAMILY}', sans-serif">
{body}</svg>
"#
        )
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

fn rectangle(area: Area) -> String {
    format!(
        r#"x="{:.2}" y="{:.2}" width="{:.2}" height="{:.2}""#,
        area.x,
        area.y,
        area.width.max(0.0),
        area.height.max(0.0)
    )
}

/// A text in XML: what XML cannot have in it becomes U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_peoples_names_are_text_and_nothing_else() {
        let mut canvas = Canvas::new((10.0, 10.0));
        canvas.text(&Text {
            words: "</svg><script>\"&\u{1b}\u{0}",
            at: (1.0, 1.0),
            size_pt: 10.0,
            anchor: Anchor::Start,
            is_turned: false,
        });
        let svg = canvas.finish();
        assert!(svg.contains("&lt;/svg&gt;&lt;script&gt;&quot;&amp;\u{fffd}\u{fffd}</text>"));
        assert_eq!(svg.matches("</svg>").count(), 1);
    }
}
