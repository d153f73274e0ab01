//! Tells what was measured: a row at once on standard output, and all of it in the end as Markdown.

mod machine;
mod markdown;
mod row;

use std::{fs, io::Write, path::Path, time::Instant};

pub use self::row::Row;
use crate::{
    bench::Pair,
    figure::{Figure, Group, Growth},
};

pub struct Report {
    rows: Vec<Row>,
    start: Instant,
    begun: usize,
    planned: usize,
}

impl Report {
    pub fn new(planned: usize) -> Self {
        Self {
            rows: Vec::new(),
            start: Instant::now(),
            begun: 0,
            planned,
        }
    }

    pub fn begin(&mut self, name: &str) {
        self.begun += 1;
        let (begun, planned, seconds) = (self.begun, self.planned, self.start.elapsed().as_secs());
        eprintln!("[{begun}/{planned}, {seconds} s] {name}");
    }

    pub fn figure(&mut self, figure: &Figure, Pair { ours, other }: Pair) {
        self.add(Row {
            name: figure.name.to_owned(),
            unit: figure.unit,
            ours,
            other,
            mark: figure.mark,
        });
    }

    pub fn growth(&mut self, growth: &Growth, costs: &[f64]) {
        for (&size, &ours) in growth.sizes.iter().zip(costs) {
            self.add(Row {
                name: growth.row_name(size),
                unit: growth.unit,
                ours,
                other: costs[0],
                mark: None,
            });
        }
    }

    fn add(&mut self, row: Row) {
        println!("{row}");
        std::io::stdout().flush().ok();
        if row.is_met() == Some(false) {
            eprintln!(
                "  {} misses its mark: {}",
                row.name,
                row.mark.map(|mark| mark.to_string()).unwrap_or_default()
            );
        }
        self.rows.push(row);
    }

    pub fn end(&self) {
        let marked = self.rows.iter().filter_map(Row::is_met);
        let (met, all) = (marked.clone().filter(|met| *met).count(), marked.count());
        eprintln!("{met} of {all} marks met, in {} s", self.start.elapsed().as_secs());
    }

    pub fn write(&self, file: &Path, groups: &[Group]) {
        let text = markdown::results(groups, &self.rows);
        match fs::write(file, text) {
            Ok(()) => eprintln!("the results are in {}", file.file_name().unwrap_or_default().display()),
            Err(error) => eprintln!("the results cannot be written: {error}"),
        }
    }
}
