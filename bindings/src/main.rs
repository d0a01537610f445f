//! Writes all generated files; see the library.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let reference = root.join(mpix_neighbor_bindings::REFERENCE);
    // a page whose function is no more goes
    if reference.exists() {
        std::fs::remove_dir_all(&reference)?;
    }
    let mut failed = Ok(());
    mpix_neighbor_bindings::generate(&root, &mut |path, text| {
        let path = root.join(path);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        if failed.is_ok() {
            failed = written;
        }
    });
    failed
}
