"""Follows every link of a site: a page or a file that is not there, or has no such place, is an error,
as is a page that no other one leads to, or a script, style or picture from elsewhere.

Usage: links.py SITE
"""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

site = Path(sys.argv[1]).resolve()


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.fetched, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found.get("id"), found.get("name")}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("script", "img", "source") and found.get("src"):
            self.fetched.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preconnect", "preload"):
            self.fetched.append(found["href"])


pages = {file: Page(file.read_text()) for file in site.rglob("*.html")}
wrong, reached, followed = [], set(), 0


def target(file, link):
    """Returns the file that a link leads to, and the place in it."""
    path, place = urldefrag(link)
    path = unquote(urlsplit(path).path)
    found = file if not path else site / path.lstrip("/") if path.startswith("/") else file.parent / path
    found = found.resolve()
    return (found / "index.html" if found.is_dir() else found), unquote(place)


for file, page in pages.items():
    name = file.relative_to(site)
    for link in page.links + page.fetched:
        if urlsplit(link).scheme or link.startswith("//"):
            if link in page.fetched and not link.startswith("data:"):
                wrong.append(f"{name} fetches {link}")
            continue
        followed += 1
        found, place = target(file, link)
        if not found.is_relative_to(site) or not found.exists():
            wrong.append(f"{name} links to {link}, which is not there")
        elif place and found in pages and place not in pages[found].places and not place.startswith("__"):
            wrong.append(f"{name} links to {link}, which has no such place")
        if found != file and link in page.links:
            reached.add(found)
wrong += [f"nothing leads to {file.relative_to(site)}" for file in pages if file not in reached and file.name != "404.html"]
# what the search looks through
index = json.loads((site / "search/search_index.json").read_text())["docs"]
functions = {file.parent.name for file in pages if file.parent.parent.name == "reference"}
wrong += [f"the search does not know {name}" for name in functions - {entry["title"] for entry in index}]
for text in wrong:
    print(f"FAILED  site: {text}")
if not (followed > 1000 and len(functions) > 50):
    sys.exit("site: too little was found to be the site")
print(f"site: {len(pages)} pages, {followed} links, {len(wrong)} wrong; {len(index)} entries in the search")
sys.exit(bool(wrong))
