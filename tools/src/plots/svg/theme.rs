//! The style sheet of all figures, light and dark. Every distinction is visible by shape as well as by colour.

use std::fmt::Write;

struct Palette {
    background: &'static str,
    text: &'static str,
    muted: &'static str,
    faint: &'static str,
    admitted: &'static str,
    queued: &'static str,
    denied: &'static str,
}

const LIGHT: Palette = Palette {
    background: "#ffffff",
    text: "#1f2328",
    muted: "#59636e",
    faint: "#d1d9e0",
    admitted: "#0860c4",
    queued: "#a85400",
    denied: "#c4244a",
};

const DARK: Palette = Palette {
    background: "#0d1117",
    text: "#f0f6fc",
    muted: "#a3adb8",
    faint: "#3d444d",
    admitted: "#58a6ff",
    queued: "#f0a34a",
    denied: "#ff7b93",
};

/// Declarations that both palettes share. Text is at least 26 high on a page 1280 wide, so that it is legible at 400 pixels.
const SHAPES: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;font-size:28px;paint-order:stroke;stroke-width:6px;stroke-linejoin:round}
.title{font-size:41px;font-weight:600}
.name{font-size:31px;font-weight:600}
.axis{font-size:26px}
.middle{text-anchor:middle}
.end{text-anchor:end}
.base,.grid{stroke-width:2}
.edge{stroke-width:3;stroke-dasharray:3 7}
.queued,.attack{stroke-width:3}
.connector{stroke-width:2;opacity:.75}
.denied{stroke-width:3;stroke-linecap:round}
.bound{stroke-width:6}
.ours,.naive{stroke-width:4}
.naive{stroke-dasharray:12 8}
.false-denial{stroke-width:3}
";

impl Palette {
    fn write(&self, style: &mut String) {
        let Self {
            background,
            text,
            muted,
            faint,
            admitted,
            queued,
            denied,
        } = self;
        let rules = [
            (".background", format!("fill:{background}")),
            ("text", format!("fill:{text};stroke:{background}")),
            (".note,.axis", format!("fill:{muted}")),
            (".offered", format!("fill:{muted}")),
            (".admitted", format!("fill:{admitted}")),
            (".queued", format!("fill:{background};stroke:{queued}")),
            (".connector", format!("stroke:{queued}")),
            (".denied", format!("stroke:{denied}")),
            (".false-denial", format!("fill:{background};stroke:{denied}")),
            (".attack", format!("fill:{background};stroke:{denied}")),
            (".grid", format!("stroke:{faint}")),
            (".base,.edge", format!("stroke:{muted}")),
            (".bound", format!("stroke:{text}")),
            (".ours", format!("stroke:{admitted}")),
            (".naive", format!("stroke:{denied}")),
        ];
        for (selector, declarations) in rules {
            let _ = writeln!(style, "{selector}{{{declarations}}}");
        }
    }
}

/// The style sheet that every figure embeds.
pub(super) fn style() -> String {
    let mut style = SHAPES.to_owned();
    LIGHT.write(&mut style);
    style += "@media (prefers-color-scheme:dark){\n";
    DARK.write(&mut style);
    style + "}\n"
}
