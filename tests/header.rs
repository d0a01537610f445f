//! The committed C header is the one that cbindgen makes of the sources. `make header` writes it anew.

use std::path::Path;

#[test]
fn header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(config).with_src(root.join("src/capi/mod.rs"));
    let mut generated = Vec::new();
    builder.generate().unwrap().write(&mut generated);
    // the sections that Rust asks of unsafe functions say nothing to a C programmer
    let mut text = String::new();
    let mut in_safety = false;
    for line in String::from_utf8(generated).unwrap().lines() {
        let comment = line.trim_start().starts_with("//");
        in_safety = comment && (in_safety || line.trim_start().starts_with("// # Safety"));
        if in_safety {
            // the blank comment line before the section goes too
            if text.ends_with("//\n") {
                text.truncate(text.len() - "//\n".len());
            }
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    let path = root.join("include/mpix_neighbor.h");
    if std::env::var_os("MPIX_WRITE_HEADER").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "include/mpix_neighbor.h is not what the sources say: run `make header` and commit it");
}
