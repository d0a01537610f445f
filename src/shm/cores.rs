//! The cores that processes of a node may use: those of their affinity masks, and as many as the
//! quotas of their control groups (cgroups) give them time on.
//!
//! `std::thread::available_parallelism` returns the smaller of both: where each process is bound to
//! a core of its own, no quota shows in it. Of nested control groups the one with the tightest
//! quota counts: a looser one above it, which more processes share, does not.
//!
//! Source: Linux, Documentation/admin-guide/cgroup-v2.rst, `cpu.max`; scheduler/sched-bwc.rst.

// without MPI only the tests use it
#![cfg_attr(not(feature = "mpi"), allow(dead_code))]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Words of an affinity mask that processes exchange, enough for 1,024 cores.
const MASK: usize = 16;

/// The most cores that Linux is built for; a shorter mask is refused where there may be more cores.
const MOST_CORES: usize = 8192;

/// The cores of a process: its mask, then its [`Quota`].
pub type Usable = [u64; MASK + 2];

/// The whole cores that a quota gives time on, and a number for the processes that share it: the
/// inode of their control group. Zeros where there is none.
type Quota = [u64; 2];

/// Returns what this process may use. Its quota is read once.
pub fn usable() -> Usable {
    static QUOTA: OnceLock<Quota> = OnceLock::new();
    let groups = || fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let quota = QUOTA.get_or_init(|| tightest(Path::new("/sys/fs/cgroup"), &groups()));
    let mut usable = [0; MASK + 2];
    usable[..MASK].copy_from_slice(&shorten(&affinity()));
    usable[MASK..].copy_from_slice(quota);
    usable
}

/// True if the processes of a node are more than the cores that they may use together, or those
/// that share a quota more than its cores.
pub fn are_too_few(all: &[&Usable]) -> bool {
    let cores: u32 = (0..MASK).map(|k| all.iter().fold(0, |cores, usable| cores | usable[k]).count_ones()).sum();
    // no core: nobody knows; all of them: these, and maybe more
    let known = (1..MASK * 64).contains(&(cores as usize));
    let mut sharing = HashMap::<Quota, u64>::new();
    for &&[.., cores, group] in all.iter().filter(|usable| usable[MASK] > 0) {
        *sharing.entry([cores, group]).or_default() += 1;
    }
    known && all.len() > cores as usize || sharing.iter().any(|([cores, _], processes)| processes > cores)
}

/// The cores that this process may run on; none if the call fails.
fn affinity() -> [u64; MOST_CORES / 64] {
    let mut mask = [0; MOST_CORES / 64];
    // SAFETY: the kernel writes no more than the size that is passed. On failure the mask stays
    // empty.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    mask
}

/// The first words of a mask, all of whose bits are set if it has cores beyond them.
fn shorten(mask: &[u64]) -> [u64; MASK] {
    let (first, beyond) = mask.split_at(MASK);
    let is_all = beyond.iter().any(|&word| word != 0);
    std::array::from_fn(|k| if is_all { u64::MAX } else { first[k] })
}

/// The tightest quota of a process and of the groups above its own, of both versions of control
/// groups; `groups` is the text of its `/proc/self/cgroup`. In a container the path that stands
/// there may be one of the host: then the mount point itself, which all paths lead to, is that of
/// the container's group.
fn tightest(mount: &Path, groups: &str) -> Quota {
    let quota_of = |folder: PathBuf, read: fn(&Path) -> Option<u64>| {
        let cores = read(&folder)?;
        Some([cores, fs::metadata(folder).ok()?.ino()])
    };
    let all = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let (place, read): (_, fn(&Path) -> _) = match controllers {
            "" => ("", cores_of_v2),
            of_v1 if of_v1.split(',').any(|name| name == "cpu") => ("cpu", cores_of_v1),
            _ => return None,
        };
        let folders = Path::new(path).ancestors().map(move |path| mount.join(place).join(path));
        // of equal ones the outer one, which more processes share
        folders.filter_map(|folder| quota_of(folder, read)).reduce(|inner, outer| if outer[0] > inner[0] { inner } else { outer })
    });
    all.min().unwrap_or_default()
}

fn cores_of_v2(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let (quota, period) = text.split_once(' ')?;
    whole_cores(quota, period)
}

fn cores_of_v1(folder: &Path) -> Option<u64> {
    let text = |name| fs::read_to_string(folder.join(name)).ok();
    whole_cores(&text("cpu.cfs_quota_us")?, &text("cpu.cfs_period_us")?)
}

/// Rounds down, as processes that poll use a core each: two have too few with a core and a half.
/// `None` where no number limits the time ("max", -1).
fn whole_cores(quota: &str, period: &str) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    Some(number(quota)?.checked_div(number(period)?)?.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder in place of /sys/fs/cgroup, with these files; `name` is the test's own.
    fn mount(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let mount = std::env::temp_dir().join(format!("mpix-cores-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = mount.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        mount
    }

    fn inode(folder: PathBuf) -> u64 {
        fs::metadata(folder).unwrap().ino()
    }

    /// May use these cores, and has a quota.
    fn process(cores: &[usize], quota: Quota) -> Usable {
        let mut mask = [0; MOST_CORES / 64];
        cores.iter().for_each(|core| mask[core / 64] |= 1 << (core % 64));
        let mut usable = [0; MASK + 2];
        usable[..MASK].copy_from_slice(&shorten(&mask));
        usable[MASK..].copy_from_slice(&quota);
        usable
    }

    fn too_few(processes: &[Usable]) -> bool {
        are_too_few(&processes.iter().collect::<Vec<_>>())
    }

    #[test]
    fn the_tightest_group_counts() {
        let mount = mount(
            "v2",
            &[
                ("cpu.stat", ""),
                ("job/cpu.max", "250000 100000\n"),
                ("job/step/cpu.max", "max 100000\n"),
                ("job/small/cpu.max", "50000 100000\n"),
                ("job/large/cpu.max", "900000 100000\n"),
                ("job/equal/cpu.max", "200000 100000\n"),
                ("odd/cpu.max", "100000 0\n"),
            ],
        );
        let job = inode(mount.join("job"));
        for (path, quota) in [
            ("/", [0, 0]),
            ("/job", [2, job]),
            ("/job/step", [2, job]),
            ("/job/step/gone", [2, job]),
            ("/job/small", [1, inode(mount.join("job/small"))]),
            ("/job/large", [2, job]),
            ("/job/equal", [2, job]),
            ("/odd", [0, 0]),
            ("/another", [0, 0]),
        ] {
            assert_eq!(tightest(&mount, &format!("0::{path}\n")), quota, "{path}");
        }
        for text in ["", "0", "0:", "0::", "1:cpuset:/job\n"] {
            assert_eq!(tightest(&mount, text), [0, 0], "{text:?}");
        }
        fs::remove_dir_all(mount).unwrap();
    }

    #[test]
    fn version_1_counts_too() {
        let quota = |folder: &str, quota: &str| {
            [
                (format!("{folder}/cpu.cfs_quota_us"), quota.to_owned()),
                (format!("{folder}/cpu.cfs_period_us"), "50000\n".to_owned()),
            ]
        };
        let files = [quota("cpu", "-1\n"), quota("cpu/job", "150000\n")].concat();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let mount = mount("v1", &files);
        let of_job = [3, inode(mount.join("cpu/job"))];
        assert_eq!(tightest(&mount, "4:memory:/\n3:cpu,cpuacct:/job/step\n0::/\n"), of_job);
        assert_eq!(tightest(&mount, "2:cpuset,cpuacct:/job\n"), [0, 0]);
        // a container: the path is that of the host
        fs::write(mount.join("cpu/cpu.cfs_quota_us"), "100000").unwrap();
        assert_eq!(tightest(&mount, "3:cpu,cpuacct:/docker/1f\n"), [2, inode(mount.join("cpu"))]);
        fs::remove_dir_all(mount).unwrap();
    }

    #[test]
    fn cores_of_masks_count_together() {
        let none = [0, 0];
        assert!(!too_few(&[process(&[0], none), process(&[1], none)]));
        assert!(too_few(&[process(&[0], none), process(&[0], none)]));
        assert!(!too_few(&[process(&[], none), process(&[], none)]), "nobody knows");
        let beyond = process(&[1500], none);
        assert!(!too_few(&[beyond, beyond, process(&[3], none)]), "there may be more");
    }

    #[test]
    fn processes_of_a_group_share_its_quota() {
        let bound = |core: usize, quota| process(&[core], quota);
        let pair = |quota| [bound(0, quota), bound(1, quota)];
        assert!(too_few(&pair([1, 7])), "as each may use a core of its own, the quota alone tells");
        assert!(!too_few(&pair([2, 7])));
        assert!(!too_few(&[bound(0, [1, 7]), bound(1, [1, 8])]), "containers of a process each");
        assert!(too_few(&[bound(0, [4, 7]), bound(1, [1, 8]), bound(2, [1, 8])]));
    }

    #[test]
    fn this_process_may_use_a_core() {
        assert!(!are_too_few(&[&usable()]));
        assert!(usable()[..MASK].iter().any(|&word| word != 0));
    }
}
