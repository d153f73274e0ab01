//! The same look for all figures, by day and by night. Colours only repeat what shapes say.

use std::fmt::Write;

struct Palette {
    paper: &'static str,
    ink: &'static str,
    soft: &'static str,
    faint: &'static str,
    through: &'static str,
    held: &'static str,
    refused: &'static str,
}

const DAY: Palette = Palette {
    paper: "#ffffff",
    ink: "#1f2328",
    soft: "#59636e",
    faint: "#d1d9e0",
    through: "#0860c4",
    held: "#a85400",
    refused: "#c4244a",
};

const NIGHT: Palette = Palette {
    paper: "#0d1117",
    ink: "#f0f6fc",
    soft: "#a3adb8",
    faint: "#3d444d",
    through: "#58a6ff",
    held: "#f0a34a",
    refused: "#ff7b93",
};

/// What does not change at night. Words are at least 26 high on a page 1280 wide, so that they can be read in 400 pixels.
const SHAPES: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;font-size:28px;paint-order:stroke;stroke-width:6px;stroke-linejoin:round}
.title{font-size:41px;font-weight:600}
.name{font-size:31px;font-weight:600}
.axis{font-size:26px}
.middle{text-anchor:middle}
.end{text-anchor:end}
.base,.grid{stroke-width:2}
.edge{stroke-width:3;stroke-dasharray:3 7}
.held,.attack{stroke-width:3}
.wire{stroke-width:2;opacity:.75}
.refused{stroke-width:3;stroke-linecap:round}
.bound{stroke-width:6}
.wrongly-refused{stroke-width:3}
";

impl Palette {
    fn write(&self, style: &mut String) {
        let Self {
            paper,
            ink,
            soft,
            faint,
            through,
            held,
            refused,
        } = self;
        let rules = [
            (".paper", format!("fill:{paper}")),
            ("text", format!("fill:{ink};stroke:{paper}")),
            (".note,.axis", format!("fill:{soft}")),
            (".offered", format!("fill:{soft}")),
            (".through", format!("fill:{through}")),
            (".held", format!("fill:{paper};stroke:{held}")),
            (".wire", format!("stroke:{held}")),
            (".refused", format!("stroke:{refused}")),
            (".wrongly-refused", format!("fill:{paper};stroke:{refused}")),
            (".attack", format!("fill:{paper};stroke:{refused}")),
            (".grid", format!("stroke:{faint}")),
            (".base,.edge", format!("stroke:{soft}")),
            (".bound", format!("stroke:{ink}")),
        ];
        for (selector, declarations) in rules {
            let _ = writeln!(style, "{selector}{{{declarations}}}");
        }
    }
}

/// The style sheet that every figure carries.
pub(super) fn style() -> String {
    let mut style = SHAPES.to_owned();
    DAY.write(&mut style);
    style += "@media (prefers-color-scheme:dark){\n";
    NIGHT.write(&mut style);
    style + "}\n"
}
