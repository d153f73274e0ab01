//! The results as Markdown: benchmarks with a target, scalings, other benchmarks, and methods.

use super::{Row, machine};
use crate::benchmark::{Benchmark, Group, Scaling};

pub fn results(groups: &[Group], rows: &[Row]) -> String {
    let mut page = Page {
        text: String::new(),
        rows,
    };
    page.line("# Benchmark results");
    page.line("");
    page.line(&machine::describe());
    page.line("Every number is the median of rounds in which both sides alternate; the ratio is ours / other.");
    page.targets(groups);
    page.scalings(groups);
    page.others(groups);
    page.line("\n## Methods");
    for group in groups {
        page.line(&format!("\n### {}\n\n{}", group.title, group.method.trim_end()));
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

    fn targets(&mut self, groups: &[Group]) {
        self.line("\n## Targets\n");
        self.line("| name | ours | against | other | ratio | target | |");
        self.line("| --- | ---: | --- | ---: | ---: | --- | --- |");
        let mut missed = Vec::new();
        for benchmark in benchmarks(groups) {
            let Some((row, target)) = self.row(benchmark.name).zip(benchmark.target) else {
                continue;
            };
            let ([name, ours, other, ratio], met) = (row.columns(), row.is_met() == Some(true));
            let (against, met) = (benchmark.against, if met { "met" } else { "**missed**" });
            self.line(&format!(
                "| {name} | {ours} | {against} | {other} | {ratio} | {target} | {met} |"
            ));
            if met != "met" {
                missed.push(benchmark);
            }
        }
        missed.retain(|benchmark: &&Benchmark| !benchmark.bottleneck.is_empty());
        // A bottleneck that several benchmarks share is printed once.
        for alike in missed.chunk_by(|one, other| one.bottleneck == other.bottleneck) {
            let names: Vec<&str> = alike.iter().map(|benchmark| benchmark.name).collect();
            self.line(&format!("\n**{}**: {}", names.join(", "), alike[0].bottleneck));
        }
    }

    fn scalings(&mut self, groups: &[Group]) {
        self.line("\n## Scaling");
        for scaling in groups.iter().flat_map(|group| group.scalings) {
            let rows = scaling
                .sizes
                .iter()
                .filter_map(|&size| Some((size, self.row(&scaling.row_name(size))?)));
            let rows: Vec<_> = rows.map(|(size, row)| (size, row.columns())).collect();
            if rows.is_empty() {
                continue;
            }
            self.scaling(scaling, &rows);
        }
    }

    fn scaling(&mut self, scaling: &Scaling, rows: &[(usize, [String; 4])]) {
        self.line(&format!("\n{}\n", scaling.explanation));
        self.line(&format!("| {} | measured | relative to the smallest |", scaling.name));
        self.line("| ---: | ---: | ---: |");
        for (size, [_, ours, _, ratio]) in rows {
            self.line(&format!("| {size} | {ours} | {ratio} |"));
        }
    }

    /// Benchmarks without a target.
    fn others(&mut self, groups: &[Group]) {
        self.line("\n## Without a target\n");
        self.line("| name | ours | against | other | ratio |");
        self.line("| --- | ---: | --- | ---: | ---: |");
        for benchmark in benchmarks(groups).filter(|benchmark| benchmark.target.is_none()) {
            if let Some(row) = self.row(benchmark.name) {
                let [name, ours, other, ratio] = row.columns();
                self.line(&format!(
                    "| {name} | {ours} | {} | {other} | {ratio} |",
                    benchmark.against
                ));
            }
        }
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

fn benchmarks(groups: &[Group]) -> impl Iterator<Item = &Benchmark> {
    groups.iter().flat_map(|group| group.benchmarks)
}
