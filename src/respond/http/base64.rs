//! Base64, for binary values in headers.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Without padding, as gRPC recommends for binary headers.
pub(super) fn unpadded(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let [first, second, third] = [0, 1, 2].map(|index| u32::from(chunk.get(index).copied().unwrap_or(0)));
        let bits = first << 16 | second << 8 | third;
        let digits = [18, 12, 6, 0].map(|shift| DIGITS[(bits >> shift & 63) as usize]);
        encoded.extend_from_slice(&digits[..=chunk.len()]);
    }
    encoded
}

/// With padding, as structured fields require it.
pub(super) fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = unpadded(bytes);
    encoded.resize(encoded.len().next_multiple_of(4), b'=');
    encoded
}

#[cfg(test)]
mod tests;
