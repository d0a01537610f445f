//! A single value of a hint: source, parsing and errors.

use std::cell::RefCell;
use std::io::{self, ErrorKind::NotFound};
use std::ops::RangeInclusive;
use std::path::Path;

use super::names::Names;
use super::origins::{Given, Origin};
use crate::error::{Error, Result};
use crate::model::{FileError, Loggp, PRESETS};
use crate::util::cast::to_u32;
use crate::util::random::mix;

pub(super) struct Value {
    pub(super) origin: Origin,
    pub(super) key: &'static str,
    pub(super) text: String,
}

/// How a set call gets parameters of the machine if its choice depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Learn {
    /// It takes those that are given or known, and measures them if there are none.
    #[default]
    IfUnknown,
    /// It measures them.
    Now,
    /// It does without.
    Never,
}

/// A value of `mpix_loggp`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a value lives for the time of a call")]
pub(super) enum LoggpValue {
    Given(Loggp),
    Learn(Learn),
}

impl LoggpValue {
    /// Values that are neither presets nor files.
    const WORDS: [(&str, Learn); 3] = [("auto", Learn::IfUnknown), ("measure", Learn::Now), ("none", Learn::Never)];

    pub(super) fn given(self) -> Option<Loggp> {
        match self {
            LoggpValue::Given(parameters) => Some(parameters),
            LoggpValue::Learn(_) => None,
        }
    }
}

impl Value {
    pub(super) fn number(&self, range: RangeInclusive<u64>) -> Result<u64> {
        match self.text.trim().parse() {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(self.wrong(format!("{} to {}", range.start(), range.end()))),
        }
    }

    /// The same for a number of 32 bits.
    pub(super) fn small_number(&self, range: RangeInclusive<u32>) -> Result<u32> {
        self.number(u64::from(*range.start())..=u64::from(*range.end())).map(to_u32)
    }

    /// Parses a word or a preset's name, or reads a parameter file.
    pub(super) fn loggp(&self, file: impl Fn(&Path) -> io::Result<String>) -> Result<LoggpValue> {
        let name = self.text.trim();
        let word = LoggpValue::WORDS.into_iter().find(|word| word.0 == name).map(|word| LoggpValue::Learn(word.1));
        if let Some(value) = word.or_else(|| Loggp::preset(name).map(LoggpValue::Given)) {
            return Ok(value);
        }
        let origin = || format!("{} {} = \"{}\"", self.origin.of_value(), self.key, self.text);
        match file(Path::new(name)) {
            Ok(text) => {
                let wrong = |e: FileError| Error::LoggpFile { origin: origin(), reason: e.without_content() };
                Ok(LoggpValue::Given(text.parse().map_err(wrong)?))
            }
            Err(e) if e.kind() == NotFound => {
                let names = LoggpValue::WORDS.iter().map(|word| word.0).chain(PRESETS.iter().map(|p| p.name));
                let names: Vec<&str> = names.collect();
                Err(self.wrong(format!("{}, or a file of LogGP parameters ({e})", names.join(", "))))
            }
            Err(e) => Err(Error::LoggpUnread { origin: origin(), reason: e.to_string() }.into()),
        }
    }

    pub(super) fn wrong(&self, allowed: String) -> Box<Error> {
        Error::HintValue { origin: self.origin.of_value(), key: self.key.into(), value: self.text.clone(), allowed }.into()
    }

    pub(super) fn choose<T: Copy>(&self, allowed: &[(&str, T)]) -> Result<T> {
        let text = self.text.trim();
        match allowed.iter().find(|(name, _)| *name == text) {
            Some(&(_, value)) => Ok(value),
            None => Err(self.wrong(names(allowed))),
        }
    }

    /// Parses a number of bytes of at least `least`, or one of `words`.
    pub(super) fn bytes_or_word<T: Copy>(&self, least: u64, bytes: impl Fn(u64) -> T, words: &[(&str, T)]) -> Result<T> {
        match self.text.trim().parse() {
            Ok(number) if number >= least => Ok(bytes(number)),
            _ => (self.choose(words)).map_err(|_| self.wrong(format!("{}, or a number of bytes from {least} on", names(words)))),
        }
    }
}

fn names<T>(allowed: &[(&str, T)]) -> String {
    allowed.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Texts of truth values.
pub(super) const TRUTH: [(&str, bool); 4] = [("false", false), ("true", true), ("0", false), ("1", true)];

/// Returns the value of a hint, if it is given.
pub(super) fn find(
    (key, variable): Names,
    info: impl Fn(&str) -> Result<Option<String>>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Option<Value>> {
    Ok(match env(variable) {
        Some(text) => Some(Value { origin: Origin::Environment, key: variable, text }),
        None => info(key)?.map(|text| Value { origin: Origin::Info, key, text }),
    })
}

/// Records the source of a value.
pub(super) fn note(given: &RefCell<Vec<Given>>, value: Option<Value>, names: Names) -> Option<Value> {
    given.borrow_mut().extend(value.iter().map(|v| (names.0, v.text.trim().to_owned(), v.origin)));
    value
}

/// Returns a number of 62 bits that differs for different values with high probability.
pub(super) fn digest(values: impl IntoIterator<Item = u64>) -> i64 {
    // several at a time, which a processor computes side by side
    let mut hashes = [0u64; 4];
    for (k, value) in values.into_iter().enumerate() {
        hashes[k % 4] = mix(hashes[k % 4] ^ value).wrapping_add(1);
    }
    (hashes.into_iter().fold(0, |hash, v| mix(hash ^ v).wrapping_add(1)) >> 2).cast_signed()
}
