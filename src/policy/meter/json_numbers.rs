//! A scanner for numbers at known paths of JSON texts that are read in pieces.
//!
//! Parsers of JSON need the whole text, or keep the current string, which in a response may be the whole body. This scanner keeps a
//! position, and the first bytes of a string that may be the name of a member. It does not validate: in a text that is not JSON, it
//! finds nothing, or a number that looks like a member.

use std::sync::Arc;

use smallvec::SmallVec;

/// The names of nested members, from the outermost: `usage.total_tokens` is the member `total_tokens` of the object that is the member
/// `usage` of the text's object. Elements of arrays have no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    members: Box<[Box<str>]>,
}

impl Path {
    /// Parses names separated by dots. `None` if one is empty.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let members: Box<[Box<str>]> = text.split('.').map(Box::from).collect();
        let is_valid = members.iter().all(|member| !member.is_empty());
        is_valid.then_some(Self { members })
    }
}

/// Finds the numbers at paths of a text, or of several texts in sequence.
#[derive(Clone, Debug)]
pub(super) struct JsonNumbers {
    paths: Arc<[Path]>,
    /// For each path, how many of its names the enclosing members have.
    matched: SmallVec<[usize; 4]>,
    /// The number of enclosing objects and arrays.
    depth: usize,
    state: State,
    /// The beginning of the current or last string.
    name: SmallVec<[u8; 32]>,
    /// The longest name of a path. A longer string is none of them.
    max_name: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Between strings and numbers.
    Other,
    String,
    /// After a backslash in a string.
    Escape,
    /// After a string, which is a name if a colon follows.
    AfterString,
    /// In a number: its value, unless it is negative, a fraction or has an exponent.
    Number(Option<u64>),
}

impl JsonNumbers {
    pub(super) fn new(paths: Arc<[Path]>) -> Self {
        let names = paths.iter().flat_map(|path| &path.members);
        let max_name = names.map(|name| name.len()).max().unwrap_or(0);
        Self {
            matched: SmallVec::from_elem(0, paths.len()),
            paths,
            depth: 0,
            state: State::Other,
            name: SmallVec::new(),
            max_name,
        }
    }

    /// Begins another text.
    pub(super) fn restart(&mut self) {
        self.state = State::Other;
        self.depth = 0;
        self.leave(0);
    }

    /// Reads the next piece of the text, and passes on the whole numbers at paths, with the index of the path. A number that is
    /// greater than the largest `u64` is passed on as that.
    pub(super) fn read(&mut self, mut piece: &[u8], mut found: impl FnMut(usize, u64)) {
        while let Some((&byte, rest)) = piece.split_first() {
            piece = match self.state {
                State::String => self.read_string(piece),
                State::Escape => {
                    self.state = State::String;
                    rest
                }
                State::Number(value) => match byte {
                    b'0'..=b'9' => {
                        self.state = State::Number(value.map(|value| append(value, byte)));
                        rest
                    }
                    b'.' | b'e' | b'E' | b'+' | b'-' => {
                        self.state = State::Number(None);
                        rest
                    }
                    _ => {
                        self.state = State::Other;
                        value.into_iter().for_each(|value| self.report(value, &mut found));
                        piece
                    }
                },
                State::Other | State::AfterString => {
                    self.read_structure(byte);
                    rest
                }
            };
        }
    }

    fn read_structure(&mut self, byte: u8) {
        self.state = match (byte, self.state) {
            (b' ' | b'\t' | b'\r' | b'\n', state) => state,
            (b'"', _) => {
                self.name.clear();
                State::String
            }
            (b':', State::AfterString) => {
                self.enter_member();
                State::Other
            }
            (b'0'..=b'9', _) => State::Number(Some(append(0, byte))),
            (b'-', _) => State::Number(None),
            (b'{' | b'[', _) => {
                self.depth += 1;
                State::Other
            }
            (b'}' | b']', _) => {
                self.depth = self.depth.saturating_sub(1);
                self.leave(self.depth);
                State::Other
            }
            _ => State::Other,
        };
    }

    /// Reads to the end of the string, or to a backslash. Returns the rest.
    fn read_string<'p>(&mut self, piece: &'p [u8]) -> &'p [u8] {
        let end = piece.iter().position(|byte| matches!(byte, b'"' | b'\\'));
        let text = &piece[..end.unwrap_or(piece.len())];
        // One byte more than the longest name tells that this is none of them.
        let kept = (self.max_name + 1).saturating_sub(self.name.len());
        self.name.extend_from_slice(&text[..text.len().min(kept)]);
        let Some(end) = end else {
            return &[];
        };
        self.state = match piece[end] {
            b'"' => State::AfterString,
            _ => {
                // A name with an escape is none of the names, which need none: this makes it too long.
                self.name.resize(self.max_name + 1, b'\\');
                State::Escape
            }
        };
        &piece[end + 1..]
    }

    /// Enters the member whose name was read.
    fn enter_member(&mut self) {
        let Some(outer) = self.depth.checked_sub(1) else {
            return;
        };
        self.leave(outer);
        for (path, matched) in self.paths.iter().zip(&mut self.matched) {
            let name = path.members.get(outer).map(|name| name.as_bytes());
            *matched += usize::from(*matched == outer && name == Some(&*self.name));
        }
    }

    /// Leaves members that are nested more deeply.
    fn leave(&mut self, depth: usize) {
        self.matched
            .iter_mut()
            .for_each(|matched| *matched = depth.min(*matched));
    }

    fn report(&self, value: u64, found: &mut impl FnMut(usize, u64)) {
        for (index, (path, &matched)) in self.paths.iter().zip(&self.matched).enumerate() {
            if matched == self.depth && matched == path.members.len() {
                found(index, value);
            }
        }
    }
}

fn append(number: u64, digit: u8) -> u64 {
    number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
}
