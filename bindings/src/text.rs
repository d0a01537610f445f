//! Texts of the table: paragraphs and lists, wrapped for comments and pages.

/// Columns of comments and pages.
pub const COLUMNS: usize = 100;

/// A piece of text that is wrapped by itself.
pub enum Block {
    Paragraph(String),
    Item(String),
}

/// The paragraphs and items of a text, each in one line.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            open = false;
        } else if let Some(item) = line.strip_prefix("- ") {
            blocks.push(Block::Item(item.to_owned()));
            open = true;
        } else {
            match blocks.last_mut().filter(|_| open) {
                Some(Block::Paragraph(text) | Block::Item(text)) => *text = format!("{text} {line}"),
                None => blocks.push(Block::Paragraph(line.to_owned())),
            }
            open = true;
        }
    }
    blocks
}

/// True if a line that begins with this word is an item of a list in Markdown.
fn begins_item(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']);
    ["-", "+", "*"].contains(&word) || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// One paragraph in lines of at most `COLUMNS`, the first of which begins with `first`, the others
/// with `rest`.
pub fn wrap(text: &str, first: &str, rest: &str) -> String {
    wrap_to(text, first, rest, COLUMNS)
}

/// The same with another width.
pub fn wrap_to(text: &str, first: &str, rest: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match pieces.last_mut().filter(|_| begins_item(word)) {
            Some(before) => *before += &format!(" {word}"),
            None => pieces.push(word.to_owned()),
        }
    }
    for word in &pieces {
        if !empty && line.chars().count() + 1 + word.chars().count() > columns {
            out += &line;
            out.push('\n');
            rest.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    out + &line + "\n"
}

/// Several texts as one comment or page, an empty line between paragraphs and around lists.
/// `prefix` begins each line.
pub fn compose<'t>(texts: impl IntoIterator<Item = &'t str>, prefix: &str) -> String {
    let mut out = String::new();
    let mut before_is_item = false;
    for block in texts.into_iter().flat_map(blocks) {
        let is_item = matches!(block, Block::Item(_));
        let joined = is_item && before_is_item;
        if !out.is_empty() && !joined {
            out += prefix.trim_end();
            out.push('\n');
        }
        out += &match block {
            Block::Paragraph(text) => wrap(&text, prefix, prefix),
            Block::Item(text) => wrap(&text, &format!("{prefix}- "), &format!("{prefix}  ")),
        };
        before_is_item = is_item;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_lists_are_wrapped() {
        let text = "One\ntwo.\n\n- a\n  b\n- c\n\nEnd.";
        assert_eq!(compose([text, "More."], "// "), "// One two.\n//\n// - a b\n// - c\n//\n// End.\n//\n// More.\n");
        let long = "word ".repeat(30);
        let wrapped = compose([&*format!("- {long}")], "");
        assert!(wrapped.lines().all(|line| line.len() <= COLUMNS), "{wrapped}");
        assert!(wrapped.lines().skip(1).all(|line| line.starts_with("  word")), "{wrapped}");
    }

    /// In Markdown such a line would begin a list.
    #[test]
    fn no_line_begins_like_an_item() {
        assert_eq!(wrap_to("Count from 1. More", "", "", 11), "Count\nfrom 1.\nMore\n");
        assert_eq!(wrap_to("between P - 1 and P", "", "", 9), "between\nP - 1 and\nP\n");
    }
}
