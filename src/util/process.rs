//! The kernel's entries of processes, `/proc/PID/stat`.

use std::io::{Error, ErrorKind, Result};

/// The fields that are used here.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    /// The process that has started it, or has inherited it.
    pub parent: u32,
    /// When it began, in ticks of the clock since the system did.
    pub start: u64,
    /// True if it has ended, and its parent does not know yet.
    pub is_dead: bool,
}

impl Stat {
    /// Those of a process.
    ///
    /// # Errors
    /// `NotFound`, or the system's `ESRCH`: there is no such process; any other one says nothing.
    pub fn of(process: u32) -> Result<Stat> {
        Stat::parse(&std::fs::read(format!("/proc/{process}/stat"))?).ok_or_else(|| Error::from(ErrorKind::InvalidData))
    }

    /// Parses the file. The name, in parentheses, may contain any bytes: the kernel cuts it to 15,
    /// within a character, too.
    fn parse(text: &[u8]) -> Option<Stat> {
        let text = String::from_utf8_lossy(text);
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |k: usize| fields.get(k)?.parse::<u64>().ok();
        let (threads, state) = (number(17)?, *fields.first()?);
        // a process lives on when its first thread ends before the others
        let is_dead = matches!(state, "Z" | "X" | "x") && threads <= 1;
        Some(Stat { parent: u32::try_from(number(1)?).ok()?, start: number(19)?, is_dead })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_of_a_process_whose_name_is_odd() {
        let text =
            |state: &str, threads: u32| format!("71 (a) Z (b) {state} 7 1 1 0 -1 4 1 0 0 0 1 1 0 0 20 0 {threads} 0 4242 9 9\n");
        let stat = Stat::parse(text("S", 1).as_bytes()).unwrap();
        assert_eq!((stat.parent, stat.start, stat.is_dead), (7, 4242, false));
        assert!(Stat::parse(text("Z", 1).as_bytes()).unwrap().is_dead);
        // only its first thread has ended
        assert!(!Stat::parse(text("Z", 2).as_bytes()).unwrap().is_dead);
        assert!(Stat::parse(b"71 (a").is_none());
        // half of a letter
        let cut = [b"71 (\xD0) ".as_slice(), &text("S", 1).as_bytes()["71 (a) Z (b) ".len()..]].concat();
        assert_eq!(Stat::parse(&cut).unwrap().start, 4242);
    }
}
