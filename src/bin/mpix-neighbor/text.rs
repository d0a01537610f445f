//! Text that is read and printed: files, which are untrusted, and of which as little as necessary
//! is printed, and never anything that a terminal interprets; times.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;

use crate::failure::Failure;

/// Most characters of a line of a file that an error shows.
pub const MOST_SHOWN: usize = 80;

/// The most that is read of what has no size: standard input, pipes and devices.
const MOST_STREAMED: u64 = 4 << 30;

/// Compressed text may be this many times as long as its file; graphs come to a tenth of it.
const MOST_EXPANSION: u64 = 200;

/// Text may always be this long, however small its compressed file is.
const ALWAYS_EXPANDED: u64 = 64 << 20;

/// Whatever is in a text as a line of printable characters: all others are escaped.
pub fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' => line.push(c),
            _ => line.extend(c.escape_debug()),
        }
    }
    line
}

/// The beginning of a word or line of a file, for an error: printable, and short.
pub fn shown(text: &str) -> String {
    // a character may become ten
    let line = printable(&text.chars().take(MOST_SHOWN + 1).collect::<String>());
    match line.char_indices().nth(MOST_SHOWN) {
        Some(_) => line.chars().take(MOST_SHOWN - 3).chain("...".chars()).collect(),
        None => line,
    }
}

/// A unit in which a time is legible, as (seconds, name).
pub fn unit(seconds: f64) -> (f64, &'static str) {
    [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")].into_iter().find(|u| seconds >= u.0).unwrap_or((1e-9, "ns"))
}

/// A time with three or four figures and its unit; `-` for what is no number.
pub fn time(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-".into();
    }
    if seconds <= 0.0 {
        return "0 s".into();
    }
    // a value that rounds up to 1000 belongs to the next unit
    let (of, name) = unit(seconds * 1.0005);
    let value = seconds / of;
    let digits = [9.9995, 99.995, 999.95].iter().filter(|&&limit| value < limit).count();
    format!("{value:.digits$} {name}")
}

/// The name of an input in errors.
pub fn input_name(file: &Path) -> String {
    if is_standard_input(file) { "standard input".into() } else { printable(&file.display().to_string()) }
}

/// Returns true if a name stands for standard input.
pub fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The text of a file, or of standard input if it is `-`. What gzip has compressed is expanded,
/// whatever its name. Bytes that are not UTF-8 are escaped: if the file is right they are in
/// comments only.
pub fn read(file: &Path) -> Result<String, Failure> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let name = input_name(file);
    let failed = |e: std::io::Error| Failure::Run(format!("{name}: {e}"));
    let mut bytes = Vec::new();
    let limited = |reader: &mut dyn Read, bytes: &mut Vec<u8>| {
        reader.take(MOST_STREAMED + 1).read_to_end(bytes).map_err(failed)?;
        if bytes.len() as u64 > MOST_STREAMED {
            return Err(Failure::Run(format!("{name}: does not end within {} GiB", MOST_STREAMED >> 30)));
        }
        Ok(())
    };
    if is_standard_input(file) {
        if TAKEN.swap(true, Ordering::Relaxed) {
            return Err(Failure::Usage("standard input (-) can be read only once".into()));
        }
        limited(&mut std::io::stdin().lock(), &mut bytes)?;
    } else {
        let mut open = File::open(file).map_err(failed)?;
        let kind = open.metadata().map_err(failed)?;
        if kind.is_dir() {
            return Err(Failure::Run(format!("{name}: is a directory")));
        }
        match kind.is_file() {
            true => open.read_to_end(&mut bytes).map(|_| ()).map_err(failed)?,
            false => limited(&mut open, &mut bytes)?,
        }
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        bytes = expand(&bytes).map_err(|e| Failure::Run(format!("{name}: {e}")))?;
    } else if file.extension().is_some_and(|e| e == "gz") {
        return Err(Failure::Run(format!("{name}: is not compressed by gzip")));
    }
    Ok(decode(bytes))
}

fn expand(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let most = (bytes.len() as u64).saturating_mul(MOST_EXPANSION).max(ALWAYS_EXPANDED);
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes).take(most + 1).read_to_end(&mut text).map_err(|e| format!("cannot be expanded: {e}"))?;
    if text.len() as u64 > most {
        return Err(format!("expands to more than {MOST_EXPANSION} times its size: expand it by gzip -dc if it is right"));
    }
    Ok(text)
}

fn decode(mut bytes: Vec<u8>) -> String {
    // some editors begin a file by a mark of UTF-8
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(..'\u{feff}'.len_utf8());
    }
    String::from_utf8(bytes).unwrap_or_else(|e| {
        let mut text = String::new();
        for chunk in e.as_bytes().utf8_chunks() {
            text.push_str(chunk.valid());
            chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_printable_characters() {
        assert_eq!(printable("it's \"a\\b\" µ"), "it's \"a\\b\" µ");
        assert_eq!(printable("\x1b[2J\r\n\0\u{202e}\u{85}"), "\\u{1b}[2J\\r\\n\\0\\u{202e}\\u{85}");
        assert_eq!(decode("\u{feff}0 1\n".into()), "0 1\n");
        assert_eq!(decode(vec![b'a', 0x9f, 0xc3, 0xa9, 0xff]), "a\\x9fé\\xff");
    }

    #[test]
    fn little_is_shown() {
        assert_eq!(shown(&"x".repeat(MOST_SHOWN)), "x".repeat(MOST_SHOWN));
        for long in ["x".repeat(MOST_SHOWN + 1), "é".repeat(10_000), "\x1b".repeat(9), "\x1b".repeat(999)] {
            let text = shown(&long);
            assert!(text.chars().count() <= MOST_SHOWN && text.chars().all(|c| !c.is_control()), "{text}");
        }
        assert!(shown(&"x".repeat(999)).ends_with("xxx..."));
    }

    #[test]
    fn times_read_well() {
        assert_eq!([f64::NAN, f64::INFINITY, -f64::INFINITY].map(time), ["-"; 3]);
        let texts = [0.0, 1.5e-9, 999.96e-9, 2.5e-6, 123.456e-6, 0.099_999_6, 12.0, 4321.0].map(time);
        assert_eq!(texts, ["0 s", "1.500 ns", "1.000 µs", "2.500 µs", "123.5 µs", "100.0 ms", "12.00 s", "4321 s"]);
    }

    /// 65 MiB of zeros are more than a file of 64 kB should hold; a text of the usual kind is not.
    #[test]
    fn what_expands_without_end_is_refused() {
        use std::io::Write;
        let compressed = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let e = expand(&compressed(&vec![0; 65 << 20])).unwrap_err();
        assert!(e.contains("200 times"), "{e}");
        let two = [compressed(b"0 1\n"), compressed(b"1 0\n")].concat();
        assert_eq!(expand(&two).unwrap(), b"0 1\n1 0\n");
        let e = expand(&two[..two.len() - 3]).unwrap_err();
        assert!(e.starts_with("cannot be expanded: "), "{e}");
    }
}
