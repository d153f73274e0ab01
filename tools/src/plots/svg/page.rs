//! A page to draw on. Coordinates are integers, so that every machine writes the same bytes.

use std::fmt::Write;

use super::theme;

/// Distance from the left and from the top.
pub(crate) type Point = [i64; 2];

pub(crate) struct Page {
    /// Where the next element below begins.
    pub(crate) y: i64,
    title: String,
    body: String,
}

impl Page {
    pub(crate) const WIDTH: i64 = 1280;
    /// The free space at the left and at the right.
    pub(crate) const MARGIN: i64 = 40;
    pub(crate) const RIGHT: i64 = Self::WIDTH - Self::MARGIN;

    /// A page that begins with its title and lines of explanation.
    pub(crate) fn new(title: &str, lines: &[&str]) -> Self {
        let mut page = Self {
            y: 62,
            title: title.to_owned(),
            body: String::new(),
        };
        page.text("title", [Self::MARGIN, page.y], title);
        for line in lines {
            page.y += 40;
            page.text("note", [Self::MARGIN, page.y], line);
        }
        page
    }

    pub(crate) fn text(&mut self, class: &str, [x, y]: Point, text: &str) {
        let text = escape(text);
        self.add(format_args!(r#"<text class="{class}" x="{x}" y="{y}">{text}</text>"#));
    }

    pub(crate) fn line(&mut self, class: &str, [x1, y1]: Point, [x2, y2]: Point) {
        self.add(format_args!(
            r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
        ));
    }

    pub(crate) fn bar(&mut self, class: &str, [x, y]: Point, width: i64, height: i64) {
        self.add(format_args!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#
        ));
    }

    /// A filled square around this point.
    pub(crate) fn square(&mut self, class: &str, [x, y]: Point) {
        self.add(format_args!(
            r#"<rect class="{class}" x="{}" y="{}" width="12" height="12" rx="2"/>"#,
            x - 6,
            y - 6
        ));
    }

    pub(crate) fn circle(&mut self, class: &str, [x, y]: Point) {
        self.add(format_args!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="5"/>"#));
    }

    pub(crate) fn cross(&mut self, class: &str, [x, y]: Point) {
        let [left, top] = [x - 5, y - 5];
        self.add(format_args!(
            r#"<path class="{class}" d="M{left} {top}l10 10m0-10l-10 10"/>"#
        ));
    }

    pub(crate) fn diamond(&mut self, class: &str, [x, y]: Point) {
        let top = y - 15;
        self.add(format_args!(
            r#"<path class="{class}" d="M{x} {top}l12 15l-12 15l-12-15z"/>"#
        ));
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{element}");
    }

    /// The SVG file, cut off at `y`, with a text description for screen readers.
    pub(crate) fn finish(self, description: &str) -> String {
        let Self { y: height, title, body } = self;
        let [title, description] = [escape(&title), escape(description)];
        let (width, style) = (Self::WIDTH, theme::style());
        let displayed = [900, 900 * height / width];
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{}" height="{}">
<title>{title}</title>
<desc>{description}</desc>
<style>
{style}</style>
<rect class="background" width="{width}" height="{height}" rx="16"/>
{body}</svg>
"#,
            displayed[0], displayed[1]
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
