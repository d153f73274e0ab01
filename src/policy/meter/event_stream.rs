//! A parser of event streams (`text/event-stream`) that are read in pieces.

/// Splits an event stream into the data of its events, in constant memory.
#[derive(Clone, Debug, Default)]
pub(super) struct EventStream {
    line: Line,
    /// A line feed after a carriage return does not end another line.
    is_after_return: bool,
    has_data: bool,
    events: u64,
}

/// The position in a line.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// After this many bytes of [`FIELD`].
    Field(usize),
    /// After the colon of a data field.
    Data,
    /// In another field or a comment.
    Other,
}

impl Default for Line {
    fn default() -> Self {
        Self::Field(0)
    }
}

/// The beginning of a line with data.
const FIELD: &[u8] = b"data:";

/// A part of an event stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'d> {
    /// A piece of the data of the current event.
    Data(&'d [u8]),
    /// The end of the event.
    End,
}

impl EventStream {
    /// The number of events with data so far, including one that has only begun.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Reads the next piece of the stream, and passes on its parts.
    pub(super) fn read(&mut self, mut piece: &[u8], mut part: impl FnMut(Part<'_>)) {
        while let Some((&first, rest)) = piece.split_first() {
            match (first, self.line) {
                (b'\r' | b'\n', _) => {
                    piece = rest;
                    self.end_line(first, &mut part);
                    continue;
                }
                (byte, Line::Field(matched)) => {
                    piece = rest;
                    self.line = match matched + 1 {
                        _ if byte != FIELD[matched] => Line::Other,
                        length if length == FIELD.len() => self.begin_data(),
                        length => Line::Field(length),
                    };
                }
                (_, line) => {
                    let end = piece.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
                    let (text, rest) = piece.split_at(end.unwrap_or(piece.len()));
                    piece = rest;
                    if let Line::Data = line {
                        part(Part::Data(text));
                    }
                }
            }
            self.is_after_return = false;
        }
    }

    fn begin_data(&mut self) -> Line {
        self.events += u64::from(!self.has_data);
        self.has_data = true;
        Line::Data
    }

    /// An empty line ends an event. Several lines with data are one text, with line feeds in between.
    fn end_line(&mut self, byte: u8, part: &mut impl FnMut(Part<'_>)) {
        let is_same_end = byte == b'\n' && self.is_after_return;
        self.is_after_return = byte == b'\r';
        if is_same_end {
            return;
        }
        match self.line {
            Line::Field(0) => {
                self.has_data = false;
                part(Part::End);
            }
            Line::Data => part(Part::Data(b"\n")),
            Line::Field(_) | Line::Other => {}
        }
        self.line = Line::default();
    }
}

#[cfg(test)]
mod tests;
