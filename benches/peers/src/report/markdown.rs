//! The results as a page: what has a mark, what grows, what else was counted, and how.

use super::{Row, machine};
use crate::figure::{Figure, Group, Growth};

pub fn results(groups: &[Group], rows: &[Row]) -> String {
    let mut page = Page {
        text: String::new(),
        rows,
    };
    page.line("# What a decision costs");
    page.line("");
    page.line(&machine::described());
    page.line("Every number is the median of rounds in which both sides took turns; the ratio is ours / other.");
    page.marks(groups);
    page.growths(groups);
    page.others(groups);
    page.line("\n## How it is measured");
    for group in groups {
        page.line(&format!("\n### {}\n\n{}", group.title, group.how.trim_end()));
    }
    page.text
}

struct Page<'a> {
    text: String,
    rows: &'a [Row],
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn marks(&mut self, groups: &[Group]) {
        self.line("\n## Marks\n");
        self.line("| name | ours | against | other | ratio | mark | |");
        self.line("| --- | ---: | --- | ---: | ---: | --- | --- |");
        let mut missed = Vec::new();
        for figure in figures(groups) {
            let Some((row, mark)) = self.row(figure.name).zip(figure.mark) else {
                continue;
            };
            let ([name, ours, other, ratio], met) = (row.columns(), row.is_met() == Some(true));
            let (against, met) = (figure.against, if met { "met" } else { "**missed**" });
            self.line(&format!(
                "| {name} | {ours} | {against} | {other} | {ratio} | {mark} | {met} |"
            ));
            if met != "met" {
                missed.push(figure);
            }
        }
        missed.retain(|figure: &&Figure| !figure.bound.is_empty());
        // What bounds several is said once.
        for alike in missed.chunk_by(|one, other| one.bound == other.bound) {
            let names: Vec<&str> = alike.iter().map(|figure| figure.name).collect();
            self.line(&format!("\n**{}**: {}", names.join(", "), alike[0].bound));
        }
    }

    fn growths(&mut self, groups: &[Group]) {
        self.line("\n## Growth");
        for growth in groups.iter().flat_map(|group| group.growths) {
            let rows = growth
                .sizes
                .iter()
                .filter_map(|&size| Some((size, self.row(&growth.row_name(size))?)));
            let rows: Vec<_> = rows.map(|(size, row)| (size, row.columns())).collect();
            if rows.is_empty() {
                continue;
            }
            self.growth(growth, &rows);
        }
    }

    fn growth(&mut self, growth: &Growth, rows: &[(usize, [String; 4])]) {
        self.line(&format!("\n{}\n", growth.why));
        self.line(&format!("| {} | takes | against the smallest |", growth.name));
        self.line("| ---: | ---: | ---: |");
        for (size, [_, ours, _, ratio]) in rows {
            self.line(&format!("| {size} | {ours} | {ratio} |"));
        }
    }

    /// What is told without a mark.
    fn others(&mut self, groups: &[Group]) {
        self.line("\n## Without a mark\n");
        self.line("| name | ours | against | other | ratio |");
        self.line("| --- | ---: | --- | ---: | ---: |");
        for figure in figures(groups).filter(|figure| figure.mark.is_none()) {
            if let Some(row) = self.row(figure.name) {
                let [name, ours, other, ratio] = row.columns();
                self.line(&format!("| {name} | {ours} | {} | {other} | {ratio} |", figure.against));
            }
        }
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

fn figures(groups: &[Group]) -> impl Iterator<Item = &Figure> {
    groups.iter().flat_map(|group| group.figures)
}
