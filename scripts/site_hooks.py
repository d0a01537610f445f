"""For mkdocs, what the pages have for a reader of the tree and a site needs otherwise.

Links out of docs/, to sources and to README, lead to the repository. A link to a file that is not
there stays as it is, so that the build fails. Info strings of blocks, which c_tests/docs reads, lose
their second word, which mkdocs does not know.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+) \w+$", re.M)
LINK = re.compile(r"\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    here = (ROOT / "docs" / page.file.src_uri).parent

    def outside(match):
        path = (here / match[1]).resolve()
        if not path.exists() or path.is_relative_to(ROOT / "docs"):
            return match[0]
        kind = "tree" if path.is_dir() else "blob"
        return f"]({config.repo_url}/{kind}/main/{path.relative_to(ROOT)}{match[2] or ''})"

    return LINK.sub(outside, BLOCK.sub(r"```\1", markdown))


def on_post_page(output, page, config):
    # the theme would ask the repository's host for its stars
    return output.replace(' data-md-component="source"', "")
