//! Reports the results: each row at once on standard output, and all of them at the end as Markdown.

mod machine;
mod markdown;
mod row;

use std::{fs, io::Write, path::Path, time::Instant};

pub use self::row::Row;
use crate::{
    benchmark::{Benchmark, Group, Scaling},
    runner::Pair,
};

pub struct Report {
    rows: Vec<Row>,
    start: Instant,
    started: usize,
    planned: usize,
}

impl Report {
    pub fn new(planned: usize) -> Self {
        Self {
            rows: Vec::new(),
            start: Instant::now(),
            started: 0,
            planned,
        }
    }

    pub fn begin(&mut self, name: &str) {
        self.started += 1;
        let (started, planned, seconds) = (self.started, self.planned, self.start.elapsed().as_secs());
        eprintln!("[{started}/{planned}, {seconds} s] {name}");
    }

    pub fn benchmark(&mut self, benchmark: &Benchmark, Pair { ours, other }: Pair) {
        self.add(Row {
            name: benchmark.name.to_owned(),
            unit: benchmark.unit,
            ours,
            other,
            target: benchmark.target,
        });
    }

    pub fn scaling(&mut self, scaling: &Scaling, quantities: &[f64]) {
        for (&size, &ours) in scaling.sizes.iter().zip(quantities) {
            self.add(Row {
                name: scaling.row_name(size),
                unit: scaling.unit,
                ours,
                other: quantities[0],
                target: None,
            });
        }
    }

    fn add(&mut self, row: Row) {
        println!("{row}");
        std::io::stdout().flush().ok();
        if row.is_met() == Some(false) {
            eprintln!(
                "  {} misses its target: {}",
                row.name,
                row.target.map(|target| target.to_string()).unwrap_or_default()
            );
        }
        self.rows.push(row);
    }

    pub fn end(&self) {
        let marked = self.rows.iter().filter_map(Row::is_met);
        let (met, all) = (marked.clone().filter(|met| *met).count(), marked.count());
        eprintln!("{met} of {all} targets met, in {} s", self.start.elapsed().as_secs());
    }

    pub fn write(&self, file: &Path, groups: &[Group]) {
        let text = markdown::results(groups, &self.rows);
        match fs::write(file, text) {
            Ok(()) => eprintln!("results written to {}", file.file_name().unwrap_or_default().display()),
            Err(error) => eprintln!("cannot write the results: {error}"),
        }
    }
}
