//! Builds the value of a header that is a list.

use http::HeaderValue;

use crate::decimal::{self, DecimalBuf};

/// Most lists are shorter, and need no buffer on the heap.
const STACK_LEN: usize = 128;

/// The text of a list, as it is appended.
pub(super) struct List {
    stack: [u8; STACK_LEN],
    len: usize,
    /// The whole text, once it exceeds the stack.
    heap: Vec<u8>,
}

impl Default for List {
    fn default() -> Self {
        Self {
            stack: [0; STACK_LEN],
            len: 0,
            heap: Vec::new(),
        }
    }
}

impl List {
    /// Begins a member of the list with this text.
    pub(super) fn begin_member(&mut self, text: &[u8]) {
        if self.len > 0 {
            self.append(b", ");
        }
        self.append(text);
    }

    /// Inlined, so that the length of most texts is a constant.
    #[inline]
    pub(super) fn append(&mut self, text: &[u8]) {
        let end = self.len + text.len();
        match self.stack.get_mut(self.len..end) {
            Some(free) => free.copy_from_slice(text),
            None => self.append_to_heap(text),
        }
        self.len = end;
    }

    #[cold]
    fn append_to_heap(&mut self, text: &[u8]) {
        if self.heap.is_empty() {
            self.heap.extend_from_slice(&self.stack[..self.len]);
        }
        self.heap.extend_from_slice(text);
    }

    pub(super) fn append_all<const N: usize>(&mut self, parts: [&[u8]; N]) {
        parts.iter().for_each(|part| self.append(part));
    }

    #[inline]
    pub(super) fn append_number(&mut self, parameter: &[u8], value: u64) {
        self.append(parameter);
        match value {
            0..1000 => self.append(decimal::below_1000(value as usize).as_bytes()),
            _ => self.append(DecimalBuf::new().format(value)),
        }
    }

    /// The value of the header, if the list has members.
    pub(super) fn into_value(self) -> Option<HeaderValue> {
        let text = self.stack.get(..self.len).unwrap_or(&self.heap);
        HeaderValue::from_bytes(text).ok().filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests;
