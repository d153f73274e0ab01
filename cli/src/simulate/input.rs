//! Reads a file or standard input line by line.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use crate::common::output::Failure;

/// The first bytes of a file that gzip has compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

pub(crate) struct Input {
    name: String,
    reader: BufReader<Box<dyn Read>>,
    /// In bytes, if known.
    size: Option<u64>,
    bytes_read: u64,
    lines: u64,
    line: Vec<u8>,
}

impl Input {
    pub(crate) fn open(file: &Path) -> Result<Self, Failure> {
        let (name, source, size): (_, Box<dyn Read>, _) = match file.to_str() {
            Some("-") => ("standard input".to_owned(), Box::new(io::stdin()), None),
            _ => {
                let name = file.display().to_string();
                let with_name = |error| format!("{name}: {error}");
                let source = File::open(file).map_err(with_name)?;
                let metadata = source.metadata().map_err(with_name)?;
                let size = metadata.is_file().then_some(metadata.len());
                (name, Box::new(source), size)
            }
        };
        Ok(Self::new(name, source, size))
    }

    /// Reads a built-in text.
    pub(crate) fn text(name: &str, text: &'static str) -> Self {
        Self::new(name.to_owned(), Box::new(text.as_bytes()), Some(text.len() as u64))
    }

    fn new(name: String, source: Box<dyn Read>, size: Option<u64>) -> Self {
        Self {
            name,
            reader: BufReader::with_capacity(1 << 16, source),
            size,
            bytes_read: 0,
            lines: 0,
            line: Vec::new(),
        }
    }

    /// Returns the next line without its line ending.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| format!("{}: {error}", self.name))?;
        if read == 0 {
            return Ok(None);
        }
        if self.lines == 0 && self.line.starts_with(&GZIP) {
            let name = &self.name;
            return Err(format!(
                "{name}: it is compressed: decompress it first, or pass - as the file, after zcat FILE |"
            )
            .into());
        }
        self.bytes_read += read as u64;
        self.lines += 1;
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Whether the buffer is empty, so that the next read may block.
    pub(crate) fn may_block(&self) -> bool {
        self.reader.buffer().is_empty()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// The number of lines read, which is the number of the last line.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }
}
