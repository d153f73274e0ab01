//! A file, or standard input, line by line.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use crate::common::failure::Failure;

pub(crate) struct Input {
    name: String,
    reader: BufReader<Box<dyn Read>>,
    /// In bytes, where that is known.
    size: Option<u64>,
    read: u64,
    lines: u64,
    line: Vec<u8>,
}

impl Input {
    pub(crate) fn open(file: &Path) -> Result<Self, Failure> {
        let (name, source, size): (_, Box<dyn Read>, _) = match file.to_str() {
            Some("-") => ("standard input".to_owned(), Box::new(io::stdin()), None),
            _ => {
                let name = file.display().to_string();
                let told = |error| format!("{name}: {error}");
                let source = File::open(file).map_err(told)?;
                let about = source.metadata().map_err(told)?;
                let size = about.is_file().then_some(about.len());
                (name, Box::new(source), size)
            }
        };
        Ok(Self::new(name, source, size))
    }

    /// What is built in.
    pub(crate) fn text(name: &str, text: &'static str) -> Self {
        Self::new(name.to_owned(), Box::new(text.as_bytes()), Some(text.len() as u64))
    }

    fn new(name: String, source: Box<dyn Read>, size: Option<u64>) -> Self {
        Self {
            name,
            reader: BufReader::with_capacity(1 << 16, source),
            size,
            read: 0,
            lines: 0,
            line: Vec::new(),
        }
    }

    /// The next line, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| format!("{}: {error}", self.name))?;
        if read == 0 {
            return Ok(None);
        }
        self.read += read as u64;
        self.lines += 1;
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Whether the next line may have to be waited for.
    pub(crate) fn is_drained(&self) -> bool {
        self.reader.buffer().is_empty()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// How many bytes have been read.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// How many lines have been read, which is the number of the last.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }
}
