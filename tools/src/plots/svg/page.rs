//! A page to draw on. Coordinates are whole numbers, so that every machine writes the same.

use std::fmt::Write;

use super::theme;

/// From the left, and from the top.
pub(crate) type Point = [i64; 2];

pub(crate) struct Page {
    /// What follows below begins here.
    pub(crate) y: i64,
    title: String,
    body: String,
}

impl Page {
    pub(crate) const WIDTH: i64 = 1280;
    /// What is left free at the left and the right.
    pub(crate) const MARGIN: i64 = 40;
    pub(crate) const RIGHT: i64 = Self::WIDTH - Self::MARGIN;

    /// A page that begins with its title and some lines about it.
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

    pub(crate) fn text(&mut self, class: &str, [x, y]: Point, words: &str) {
        let words = escaped(words);
        self.add(format_args!(r#"<text class="{class}" x="{x}" y="{y}">{words}</text>"#));
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

    /// The file: what was drawn, down to `y`, and in words for those who do not see it.
    pub(crate) fn finish(self, words: &str) -> String {
        let Self { y: height, title, body } = self;
        let [title, words] = [escaped(&title), escaped(words)];
        let (width, style) = (Self::WIDTH, theme::style());
        let shown = [900, 900 * height / width];
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{}" height="{}">
<title>{title}</title>
<desc>{words}</desc>
<style>
{style}</style>
<rect class="paper" width="{width}" height="{height}" rx="16"/>
{body}</svg>
"#,
            shown[0], shown[1]
        )
    }
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;")
}
