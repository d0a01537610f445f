//! Parts that all figures in SVG have in common.

use std::fmt::Write;

use crate::text::printable;

/// The colors of Okabe and Ito, distinguishable for people with any color vision; without black,
/// and with a darker yellow.
pub const FEW: [&str; 7] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800"];

/// Escapes text for use between tags, and characters that XML cannot have.
pub fn escape(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The beginning of a file of this size: font, white background, and a title, which stands `left`
/// pixels from the edge.
pub fn head(width: f64, height: f64, left: f64, title: &str, description: Option<&str>) -> String {
    let title = escape(title);
    let description = description.map_or(String::new(), |text| format!("<desc>{}</desc>\n", escape(text)));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <title>{title}</title>\n{description}\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{left}\" y=\"28\" font-size=\"18\" font-weight=\"bold\">{title}</text>\n"
    )
}

/// Draws a point, with these attributes in its tag; `title` shows when the mouse is there.
pub fn point(svg: &mut String, (x, y): (f64, f64), attributes: &str, title: &str) {
    let title = escape(title);
    let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"{attributes}><title>{title}</title></circle>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_xml_can_have() {
        assert_eq!(escape("a<b> & \"it's\" µ"), "a&lt;b&gt; &amp; \"it's\" µ");
        assert_eq!(escape("\x1b[2J\0\r\u{ffff}"), "\\u{1b}[2J\\0\\r\\u{ffff}");
    }
}
