//! Text on standard error.

use std::io::Write;

/// Writes a text to standard error with one call, so that the lines of several processes do not
/// mix. A failure cannot be reported, and is ignored.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
