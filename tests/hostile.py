"""Strings that attack a page which shows them: two hundred, by kind of attack.

Each would set `window.hit`, open a dialog, ask for a file or spoil the layout if it were taken for
anything but text. Tests of the page give them as ids, texts, names and notes.
"""

from __future__ import annotations

from itertools import product

CODE = "window.hit=1"

#: Closed or not, in the places where a page may put what it was given.
ESCAPES = [
    "",
    '"',
    "'",
    '">',
    "'>",
    "</title>",
    "</style>",
    "</script>",
    "</textarea>",
    "-->",
    "]]>",
    "</svg>",
]

ELEMENTS = [
    f"<script>{CODE}</script>", f"<img src=x onerror={CODE}>", f"<svg onload={CODE}>",
    f"<details open ontoggle={CODE}>", f"<iframe srcdoc='<script>parent.{CODE}</script>'>",
    f"<style>@import 'https://hit.example/'</style><b onclick={CODE}>",
]  # fmt: skip

ALONE = [
    # tags, written oddly
    "<SCRIPT SRC=https://hit.example/x.js></SCRIPT>", f"<scr<script>ipt>{CODE}</scr</script>ipt>",
    f"<script\x0c>{CODE}</script\x0c>", f"<<script>{CODE}//<</script>", f"<img/src=x/onerror={CODE}>",
    f"<img src=`x`onerror={CODE}>", f"<a href=javascript:{CODE} autofocus onfocus={CODE}>link</a>",
    f"<input autofocus onfocus={CODE}>", f"<body onpageshow={CODE}>", f"<math><mtext><mglyph><style><img src=x onerror={CODE}>",
    f"<svg><animate onbegin={CODE} attributeName=x dur=1s>", f"<svg><set href=#x attributeName=href to=javascript:{CODE}>",
    f"<noscript><p title='</noscript><img src=x onerror={CODE}>'>", f"<template><img src=x onerror={CODE}></template>",
    "<link rel=stylesheet href=https://hit.example/x.css>", "<meta http-equiv=refresh content='0;url=https://hit.example/'>",
    "<base href=https://hit.example/>", "<object data=https://hit.example/x></object>", "<embed src=https://hit.example/x>",
    "<form action=https://hit.example/><button>Send</button></form>", "<plaintext>", "<xmp>", "<!--", "<!-- <script>",
    "<!--><script>", "--!><b>", "<![CDATA[", "<?php echo 1 ?>", "<!DOCTYPE html>", "</body></html>", "</table></td></tr>",
    "</section></main>", "</pre></code>", "</details></summary>", '<div style="position:fixed;inset:0;background:red">',
    "<dialog open>hello</dialog>", f'<form id="query-1"><input name="hash" onfocus={CODE}>', '<img name="getElementById">',
    # entities
    "&lt;script&gt;", "&amp;lt;b&amp;gt;", "&#60;b&#62;", "&#x3C;b&#x3E;", "&#0;", "&bogus;", "&", "&amp", "&lt", "&NewLine;",
    f"&quot; onmouseover={CODE} x=&quot;", f'" onmouseover={CODE} x="', f"' onmouseover={CODE} x='", f"` onmouseover={CODE} x=`",
    # scripts and links
    f"javascript:{CODE}", f"JaVaScRiPt:{CODE}", f"java\tscript:{CODE}", f"data:text/html,<script>{CODE}</script>",
    f"vbscript:{CODE}", "//hit.example/x", "https://hit.example/x.png", "file:///etc/passwd", "#query-1", "#row-1", "query-1", "row-1",
    "idealist-data", "verdict", f"${{{CODE}}}", f"`${{{CODE}}}`", f"{{{{constructor.constructor('{CODE}')()}}}}",
    f"';{CODE};//", f'";{CODE};//', f"\\';{CODE};//", f"\\\";{CODE};//", f"*/{CODE}/*", "\\u003cscript\\u003e", "\\x3cscript\\x3e", "\\",
    "constructor", "__proto__", "toString", "hasOwnProperty", "undefined", "null", "NaN", "true", "0", "-0", "1e309", "[object Object]",
    # styles
    "}body{display:none}", "</style><style>*{display:none}", "expression(alert(1))", "url(https://hit.example/x)", "@import 'x'", "--win:red",
    # Markdown, LaTeX, spreadsheets, shells
    f"[link](javascript:{CODE})", "![image](https://hit.example/x.png)", f"<javascript:{CODE}>", "**bold** `code` | cell |", "# heading",
    "\\input{/etc/passwd}", "\\end{tabular}", "$x^2$ & % # _ ~", "=HYPERLINK(\"https://hit.example/\")", "=1+1", "+1", "-1", "@SUM(1)",
    "$(touch hit)", "`touch hit`", "; rm -rf hit", "%s %d {0} {name}", "../../etc/passwd", "%3Cscript%3E", "C:\\con\\aux",
    # letters that hide or turn what is around them
    "\u202edesrever\u202c", "\u202e", "\u2066isolated", "\u2067", "\u200bzero\u200bwidth", "\ufeffmark", "so\u00adft", "\u2028line", "\u2029paragraph",
    "a\u0300\u0301\u0302\u0303\u0304\u0305" * 8, "שלום עולם", "مرحبا بالعالم", "नमस्ते", "日本語の質問", "ﷺ", "🦄", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "ｆｕｌｌ", "＜script＞",
    "\x1b[31mred", "\x07bell", "\x7f", "\x01\x02", "\x85next", "\u0000nul", "tab\tand\nline", "  spaces  ", "\u00a0",
    # size
    "x" * 20_000, "<b>" * 3_000, "&" * 5_000, "word " * 4_000, "\U0001f984" * 2_000, "\u202e" * 500,
]  # fmt: skip

#: What no file in UTF-8 holds; readers refuse it with a sentence.
NOT_TEXT = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x00"]


def strings() -> list[str]:
    """Return the two hundred, each once."""
    mixed = [escape + element for element, escape in product(ELEMENTS, ESCAPES)]
    return list(dict.fromkeys(ALONE + mixed))[:200]


def as_id(text: str) -> str:
    """Make an id of it: the same attack, with what HTML reads as a blank in place of blanks."""
    return "/".join(text.split()) or "/"


def as_name(text: str) -> str:
    """Make the name of a file of it: without the separator, and short enough."""
    return "".join(text.replace("/", "\u2215").replace("\x00", "").split())[:60] or "x"
