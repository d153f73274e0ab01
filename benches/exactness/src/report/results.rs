//! The results of one run of all measurements, as benches/exactness/results.csv has them.

use std::fmt::Write;

/// The columns of the file.
const HEADER: &str =
    "scenario,system,sent,admitted,denied,failed,unanswered,certain,seen,allowance,slowest_ms,generator_late_ms";

pub struct Results {
    /// The machine, versions and settings: lines `# name: value`.
    pub about: Vec<(String, String)>,
    pub rows: Vec<Row>,
}

/// One system in one scenario. Counts are requests.
pub struct Row {
    pub scenario: String,
    pub system: String,
    pub sent: u64,
    pub admitted: u64,
    /// By the limit.
    pub denied: u64,
    /// Answered with an error.
    pub failed: u64,
    /// Sent to a node that was killed before it answered.
    pub unanswered: u64,
    /// The most that were certainly admitted within one window.
    pub certain: u64,
    /// The most that a service behind the limiter saw within one window.
    pub seen: u64,
    /// What the algorithm allows in the whole run. 0 if that is not compared.
    pub allowance: u64,
    /// The longest time that a request took.
    pub slowest_ms: u64,
    /// The longest delay of the traffic generator behind its schedule: how busy the machine was.
    pub late_ms: u64,
}

impl Results {
    pub fn to_csv(&self) -> String {
        let mut csv = String::new();
        for (name, value) in &self.about {
            let _ = writeln!(csv, "# {name}: {value}");
        }
        let _ = writeln!(csv, "{HEADER}");
        for row in &self.rows {
            let Row {
                scenario,
                system,
                sent,
                admitted,
                denied,
                failed,
                unanswered,
                certain,
                seen,
                allowance,
                slowest_ms,
                late_ms,
            } = row;
            let _ = writeln!(
                csv,
                "{scenario},{system},{sent},{admitted},{denied},{failed},{unanswered},{certain},{seen},{allowance},{slowest_ms},{late_ms}"
            );
        }
        csv
    }

    /// `None` if the text is not a file of this format.
    pub fn from_csv(csv: &str) -> Option<Self> {
        let about = csv.lines().map_while(|line| line.strip_prefix("# "));
        let about = about.map(|line| {
            line.split_once(": ")
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        });
        let mut lines = csv.lines().skip_while(|line| line.starts_with('#'));
        if lines.next() != Some(HEADER) {
            return None;
        }
        Some(Self {
            about: about.collect::<Option<_>>()?,
            rows: lines.map(Row::parse).collect::<Option<_>>()?,
        })
    }

    pub fn of<'a>(&'a self, scenario: &'a str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.scenario == scenario)
    }
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let mut columns = line.split(',');
        let [scenario, system] = [columns.next()?, columns.next()?].map(str::to_owned);
        let mut number = || columns.next()?.parse().ok();
        let row = Self {
            scenario,
            system,
            sent: number()?,
            admitted: number()?,
            denied: number()?,
            failed: number()?,
            unanswered: number()?,
            certain: number()?,
            seen: number()?,
            allowance: number()?,
            slowest_ms: number()?,
            late_ms: number()?,
        };
        columns.next().is_none().then_some(row)
    }
}
