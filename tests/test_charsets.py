"""The encodings of bodies: labels, declarations, evidence, and one decoding for all readers."""

from __future__ import annotations

from io import BytesIO

import pytest
import webencodings
from html5lib._inputstream import HTMLBinaryInputStream
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl import rdf
from semcrawl.links import extract_links
from semcrawl.links.trees import xml_tree
from semcrawl.rdf.embedded.page import read_embedded
from semcrawl.relevance import Label
from semcrawl.relevance.rules import body_wanted
from semcrawl.sources.catalogues import read_list
from semcrawl.web.bodies import charset_of, media_type
from semcrawl.web.charsets import Form, charset_named, find_encoding, is_utf8, to_utf8

URL = "http://a.org/dir/page"
#: texts that each encoding of the standard can hold, with signs that Python's codecs of similar
#: names lack or read otherwise
TEXTS = {
    "ibm866": "Приливы ░▒ №",
    "iso-8859-2": "Příliv łódź ş",
    "iso-8859-3": "Ħaġar ĉirkaŭ",
    "iso-8859-4": "Ģirts ķēniņš ŋ",
    "iso-8859-5": "Приливы №§",
    "iso-8859-6": "المد والجزر",
    "iso-8859-7": "Παλίρροια ‘€’",
    "iso-8859-8": "גאות ושפל",
    "iso-8859-8-i": "גאות ושפל",
    "iso-8859-10": "Sápmi ŋđ áŋgir",
    "iso-8859-13": "Potvynis „ąčę” ž",
    "iso-8859-14": "Llanw ŵŷ ḃċḋ",
    "iso-8859-15": "Marée œuvre Š €",
    "iso-8859-16": "Maree „ăîșț” €",
    "koi8-r": "Приливы и отливы ╬",
    "koi8-u": "Припливи їєґі ў",
    "macintosh": "Marée “œuvre” €ﬁ",
    "windows-874": "น้ำขึ้นน้ำลง “ก” €",
    "windows-1250": "Příliv „łódź” €",
    "windows-1251": "Приливы «и» €№",
    "windows-1252": "“café” € – Marée",
    "windows-1253": "Παλίρροια ΅Ά €",
    "windows-1254": "Gelgit ığşİ “€”",
    "windows-1255": "גאות ושפל ₪ שָׁלוֹם ֺ",
    "windows-1256": "المد گچپ €",
    "windows-1257": "Potvynis ąčęė „€”",
    "windows-1258": "Thủy triều €₫".replace("ủ", "u\u0309").replace("ề", "ê\u0300"),
    "x-mac-cyrillic": "Приливы ґєї €",
    "gbk": "朱镕基 数据 ①",
    "gb18030": "朱镕基 数据 😀 ḿ",
    "big5": "潮汐資料 堃 ～￥ ㄅ €",
    "euc-jp": "潮位データ ①～－ ㈱ 髙",
    "iso-2022-jp": "潮位データ ①～－",
    "shift_jis": "潮位データ ①ソ表 髙～",
    "euc-kr": "조석 자료 똠방각하 샾",
    "utf-8": "潮位 조석 Приливы",
}
#: further labels of them, as documents write them
LABELS = {
    "x-sjis": "shift_jis", "windows-31j": "shift_jis", "ms_kanji": "shift_jis",
    "cp932": "shift_jis", "gb2312": "gbk", "GB_2312-80": "gbk", "x-gbk": "gbk",
    "chinese": "gbk", "cp936": "gbk",
    "big5-hkscs": "big5", "x-x-big5": "big5", "cp950": "big5", "ks_c_5601-1987": "euc-kr",
    "windows-949": "euc-kr", "cp949": "euc-kr", "korean": "euc-kr", "x-euc-jp": "euc-jp",
    "iso-8859-1": "windows-1252", "ISO_8859-1:1987": "windows-1252", "latin1": "windows-1252",
    "us-ascii": "windows-1252", "l1": "windows-1252", "cp1252": "windows-1252",
    "iso-8859-9": "windows-1254", "latin5": "windows-1254", "iso-8859-11": "windows-874",
    "tis-620": "windows-874", "dos-874": "windows-874", "mac": "macintosh",
    "x-mac-roman": "macintosh", "x-mac-ukrainian": "x-mac-cyrillic", "koi": "koi8-r",
    "koi8-ru": "koi8-u", "cp866": "ibm866", "logical": "iso-8859-8-i",
    "unicode-1-1-utf-8": "utf-8", "utf8": "utf-8", "x-user-defined": "x-user-defined",
}  # fmt: skip


def encoded(text: str, name: str) -> bytes:
    """Encode a text with the decoder's tables turned round: Python's codecs lack some signs."""
    charset = charset_named(name)
    assert charset is not None
    if name in ("gbk", "gb18030", "iso-2022-jp", "utf-8"):
        extra = {"①": b"\x1b$B-!\x1b(B", "～": b"\x1b$B!A\x1b(B", "－": b"\x1b$B!]\x1b(B"}
        if name == "iso-2022-jp":
            return b"".join(extra.get(sign) or sign.encode("iso2022_jp") for sign in text)
        return text.encode("gb18030" if name != "utf-8" else name)
    signs = {
        charset.decode(code): code
        for code in [bytes([n]) for n in range(256)]
        + ([bytes([a, b]) for a in range(0x81, 0xFF) for b in range(0x40, 0xFF)] if name in
           ("big5", "euc-jp", "shift_jis", "euc-kr") else [])
    }  # fmt: skip
    return b"".join(signs[sign] for sign in text)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_every_encoding_of_the_standard(name: str) -> None:
    """Labels, pages, RDF/XML, JSON-LD and Turtle mean the same in each encoding."""
    text = TEXTS[name]
    label = f"text/html; charset={name}"
    ld = '<script type="application/ld+json">{"@id":"urn:s","urn:p":"%s"}</script>' % text  # noqa: UP031
    page = f'<p>{text}<a href="/x">{text}</a><b about="urn:s" property="urn:q">{text}</b>{ld}'
    wanted = {f'<urn:s> <urn:{p}> "{text}" <{URL}> .' for p in "pq"}
    for head, header in (
        ("", label),
        (f"<meta charset={name}>", "text/html"),
        (f'<META content="text/html; charset={name}" http-equiv=Content-Type>', None),
    ):
        body = head.encode() + encoded(page, name)
        [link] = extract_links(body, URL, header)
        assert link.anchor == link.before == text
        reading = read_embedded(body, URL, header)
        assert set(reading.nquads.decode().splitlines()) == wanted
        assert not reading.error_count
    xml = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">'
        f'<rdf:Description rdf:about="urn:s"><u:p>{text}</u:p></rdf:Description></rdf:RDF>'
    )
    statement = f'<urn:s> <urn:p> "{text}"'
    declaration = f'<?xml version="1.0" encoding="{name}"?>'
    documents = {
        "application/rdf+xml": encoded(declaration + xml, name),
        f"text/xml; charset={name}": encoded(xml, name),
        f"application/ld+json; charset={name}": encoded(
            f'{{"@id":"urn:s","urn:p":"{text}"}}', name
        ),
        f"text/turtle; charset={name}": encoded(statement + " .", name),
        f"application/n-triples; charset={name}": encoded(statement + " .\n", name),
    }
    for header, body in documents.items():
        for options in (rdf.ReadOptions(), rdf.ReadOptions(max_in_memory=16)):
            if options.max_in_memory == 16 and "json" in header:
                continue  # not read in pieces
            reading = rdf.read_stream(BytesIO(body), URL, header, options)
            assert reading.nquads.decode() == f"{statement} <{URL}> .\n", header
            assert not reading.error_count


@pytest.mark.parametrize(("label", "name"), LABELS.items())
def test_labels(label: str, name: str) -> None:
    """A label means what it means to browsers; what only Python knows means that."""
    charset = charset_named(f" {label.upper()}\n")
    assert charset is not None
    assert charset.name == name


@pytest.mark.parametrize(
    ("label", "data", "text"),
    [
        ("windows-1252", b"\x81\x8d a", "\x81\x8d a"),
        ("windows-1253", b"\xaa\xd2a", "\ufffd\ufffda"),
        ("windows-1255", b"\xca", "\u05ba"),
        ("koi8-u", b"\xae\xbe", "ўЎ"),
        ("shift_jis", b"\x83<b>", "\ufffd<b>"),  # an ASCII byte counts again, it may be markup
        ("shift_jis", b"\x81\xad\xfd<", "\ufffd\ufffd<"),
        ("euc-jp", b"\x8f\xa2\xb7\xad\xa1\xa1<", "～①\ufffd<".replace("～", "~")),
        ("euc-kr", b"\x81\x80\x81[", "\ufffd\ufffd["),
        ("gb2312", b"\x80\xff\x81", "€\ufffd\ufffd"),
        ("gb18030", b"\x84\x31\xa9\x30!", "\ufffd!"),
        ("gb18030", b"\x81\x30<", "\ufffd0<"),
        ("big5", b"\x87\x7a\xa3\xe1\x81<\x80", "㡵€\ufffd<\ufffd"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("utf-8", b"\xf0\x90\x80a\xc0\xaf", "\ufffda\ufffd\ufffd"),
        ("hz-gb-2312", b"~{VPND~}", "中文"),
        ("cp437", b"\x81", "ü"),
    ],
)
def test_odd_bytes(label: str, data: bytes, text: str) -> None:
    """Bytes that mean nothing, or something else than in Python, are as browsers show them."""
    charset = charset_named(label)
    assert charset is not None
    assert charset.decode(data) == text


@given(st.sampled_from(sorted(set(TEXTS) - {"gb18030", "gbk"})), st.binary(max_size=40), st.data())
def test_streams_of_any_bytes(name: str, body: bytes, data: st.DataObject) -> None:
    """Pieces of any size give what the whole gives."""
    charset = charset_named(name)
    assert charset is not None
    decoder, cut = charset.decoder(), data.draw(st.integers(0, len(body)))
    assert decoder.decode(body[:cut], False) + decoder.decode(body[cut:], True) == charset.decode(
        body
    )


# -- evidence
def page_in(body: bytes, header: str = "") -> str:
    """Return the name of a page's encoding."""
    return find_encoding(body, header, Form.PAGE).name


@pytest.mark.parametrize(
    ("body", "header", "name"),
    [
        # the header before the page, the page before its XML declaration
        (b"<meta charset=koi8-r>\xc1", "text/html; charset=windows-1251", "windows-1251"),
        (b"<meta charset=koi8-r>\xc1", "text/html", "koi8-r"),
        (b"<?xml version='1.0' encoding='big5'?><meta charset=koi8-r>\xc1", "", "koi8-r"),
        (b"<?xml version='1.0' encoding='big5'?><p>\xc1", "text/html", "big5"),
        (
            b"<?xml version='1.0' encoding='big5'?><meta charset=koi8-r />\xc1",
            "application/xhtml+xml", "big5",
        ),
        # what names no encoding is passed over
        (b"<meta charset=nonsense><meta charset=koi8-r>\xc1", "text/html; charset=x", "koi8-r"),
        (b"<meta charset=koi8-r>\xc1", "charset=big5", "koi8-r"),
        (b"<meta charset=koi8-r>\xc1", "text/html charset=big5", "koi8-r"),
        (b"<meta charset=koi8-r>\xc1", "text/html; x=\"; charset=big5\"", "koi8-r"),
        (b"<meta charset=koi8-r>\xc1", "text/html; charset='big5'", "big5"),
        # a declaration that can be read is not in UTF-16
        (b"<meta charset=utf-16>\xc1", "", "utf-8"),
        (b"<meta charset=utf-16le>\xc1\xe9", "text/html; charset=utf-16", "utf-8"),
        (b"<meta charset=x-user-defined>\xc1", "", "windows-1252"),
        # attributes, not words
        (b"<!-- <meta charset=big5> --><meta charset=koi8-r>\xc1", "", "koi8-r"),
        (b"<p title='<meta charset=big5>'><meta charset=koi8-r>\xc1", "", "koi8-r"),
        (b"<meta name=x content='text/html; charset=big5'>\xc1", "", "windows-1252"),
        (b"<meta data-charset=big5 charset = 'koi8-r' charset=big5>\xc1", "", "koi8-r"),
        (b"<meta/charset=koi8-r/>\xc1", "", "windows-1252"),
        (b"<META CHARSET=\"\tKOI8-R \"/>\xc1", "", "koi8-r"),
        (
            b"<meta http-equiv='content-type' content='charset; charset = \"koi8-r\"'>\xc1",
            "", "koi8-r",
        ),
        (b"<metadata charset=big5>\xc1", "", "windows-1252"),
        # later than the first kilobyte, in the head
        (b"<title>t</title>" + b" " * 5000 + b"<meta charset=koi8-r>\xc1", "", "koi8-r"),
        (b"<body>" + b" " * 500 + b"<meta charset=koi8-r>\xc1", "", "koi8-r"),
        (b"<p>" * 500 + b"</head><body><meta charset=koi8-r>\xc1", "", "windows-1252"),
        # marks before declarations
        (b"\xef\xbb\xbf<meta charset=koi8-r>", "text/html; charset=big5", "utf-8"),
        ("\ufeff<meta charset=koi8-r>".encode("utf-16-le"), "text/html; charset=big5", "utf-16-le"),
        ("<meta charset=koi8-r>".encode("utf-16-be"), "text/html; charset=big5", "utf-16-be"),
    ],
)  # fmt: skip
def test_declarations(body: bytes, header: str, name: str) -> None:
    """A mark, then the header, then the page's own word, read as browsers read it."""
    assert page_in(body, header) == name


@pytest.mark.parametrize(
    ("text", "declared", "name"),
    [
        ("größe", "iso-8859-1", "utf-8"),
        ("5 – 6", "windows-1252", "utf-8"),
        ("Ó", "iso-8859-1", "windows-1252"),
        ("Ні", "windows-1251", None),
        ("Приливы", "windows-1251", "utf-8"),
        ("潮位データの公開", "shift_jis", "utf-8"),
        ("中文", "gb2312", "gbk"),
        ("中文数据的公开发布平台", "gb2312", "utf-8"),
    ],
)
def test_utf8_against_its_declaration(text: str, declared: str, name: str | None) -> None:
    """Valid UTF-8 with too many characters for an accident is UTF-8, whatever is declared."""
    body = f"<meta charset={declared}><p>{text}".encode("utf-8" if name else declared)
    assert page_in(body) == (name or declared)
    assert find_encoding(body, f"text/html; charset={declared}", Form.PAGE).name == (
        name or declared
    )
    assert page_in(body, "text/html; charset=utf-8") == "utf-8"


def test_text_that_is_utf8_by_definition() -> None:
    """Turtle that is valid UTF-8 is UTF-8; XML with another declaration may be something else."""
    body = '<urn:s> <urn:p> "Ó" .'.encode()
    assert to_utf8(body, "text/turtle; charset=iso-8859-1").data == body
    xml = "<?xml version='1.0' encoding='iso-8859-1'?><a>Ó</a>".encode()
    assert "Ã“" in to_utf8(xml, None, Form.XML).data.decode()


_LABEL = st.sampled_from(["gbk", "Shift_JIS", "utf-16", "x", "koi8-r", "", "iso-8859-1"])
_QUOTE = st.sampled_from(["", "'", '"'])
#: not a slash, behind which html5lib takes no ``meta``
_SPACE = st.sampled_from([" ", "\n", "\t", "  "])


@st.composite
def _tags(draw: st.DrawFn) -> str:
    """Draw a tag, or what looks like one."""
    name = draw(st.sampled_from(["meta", "META", "p", "html", "!--", "?xml"]))
    attributes = []
    # html5lib goes on to the content where the charset is unknown, the standard does not
    kind = draw(st.sampled_from([["CHARSET", "title"], ["http-equiv", "Content", "title"]]))
    for key in draw(st.permutations(kind)):
        quote = draw(_QUOTE)
        value = draw(
            st.one_of(
                _LABEL,
                st.just("Content-Type"),
                _LABEL.map(lambda label: f"text/html;charset={label}"),
                st.just("<meta charset=big5>") if quote else _LABEL,
            )
        )
        attributes.append(f"{key}={quote}{value}{quote}")
    space = draw(_SPACE)
    return f"<{name}{space}{space.join(attributes)}{'-->' if name == '!--' else '>'}"


@settings(max_examples=50)
@given(st.lists(_tags(), max_size=4))
def test_the_prescan_is_html5libs(tags: list[str]) -> None:
    """The encoding that a page declares is the one that html5lib finds."""
    page = "".join(tags).encode()
    stream = HTMLBinaryInputStream(BytesIO(page), useChardet=False)
    wanted = stream.detectEncodingMeta()
    found = find_encoding(page + b"\xe9\xff", None, Form.PAGE)
    if wanted is None:
        assert found.name in ("windows-1252", "utf-8")
    else:
        assert found.name == wanted.name


@pytest.mark.parametrize("name", ["gb18030", "x-sjis", "iso-8859-1", "koi8-u", "utf-16"])
def test_lists_in_other_encodings(name: str) -> None:
    """XML, JSON and linksets are decoded like all else."""
    text = {
        "gb18030": "中文",
        "x-sjis": "潮①",
        "iso-8859-1": "“é”",
        "koi8-u": "їў",
        "utf-16": "潮",
    }[name]
    data = text.encode(name) if name == "utf-16" else encoded(text, charset_named(name).name)  # type: ignore[union-attr]
    xml = f'<?xml version="1.0" encoding="{name}"?><a>'
    if name == "utf-16":
        assert xml_tree(f"{xml}{text}</a>".encode(name)).text == text
        listed = '{"linkset":[{"anchor":"/","item":[{"href":"/x","title":"潮"}]}]}'.encode(name)
        assert [link.title for link in read_list(listed, "linkset", URL).links] == ["潮"]
    else:
        assert xml_tree(xml.encode() + data + b"</a>").text == text


# -- invalid bytes
def test_bytes_that_mean_nothing_are_recorded_where_they_are_data() -> None:
    """They become U+FFFD in literals; a statement with such an IRI is left out."""
    data = b'<script type="application/ld+json">{"@id":"urn:s","urn:p":"caf\xe9"}</script>'
    body = b"<meta charset=utf-8>" + data
    reading = read_embedded(body, URL, "text/html")
    assert reading.nquads.decode() == f'<urn:s> <urn:p> "caf\ufffd" <{URL}> .\n'
    assert [error.message for error in reading.errors] == [
        "bytes that mean nothing in utf-8 became U+FFFD"
    ]
    plain = b"<meta charset=utf-8>\xe9" + data.replace(b"\xe9", b"e")
    assert not read_embedded(plain, URL, "text/html").error_count


@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("text/turtle", b'<urn:s> <urn:p> <urn:caf\xe9> .\n<urn:s> <urn:p> "\xc3\xa9" .'),
        ("application/ld+json", b'{"@id":"urn:s","urn:p":[{"@id":"urn:caf\xe9"},"\xc3\xa9"]}'),
        (
            "application/rdf+xml",
            b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:u="urn:">'
            b'<rdf:Description rdf:about="urn:s"><u:p rdf:resource="urn:caf\xe9"/>'
            b"<u:p>\xc3\xa9</u:p></rdf:Description></rdf:RDF>",
        ),
    ],
)
def test_an_iri_with_bytes_that_mean_nothing(media: str, body: bytes) -> None:
    """Its statement is left out and recorded; the others stay."""
    reading = rdf.read(body, URL, f"{media}; charset=utf-8")
    assert reading.nquads.decode() == f'<urn:s> <urn:p> "é" <{URL}> .\n'
    assert reading.error_count


# -- media types
@pytest.mark.parametrize(
    ("header", "media", "charset"),
    [
        ("Text/HTML ; Charset=\"UTF-8\"", "text/html", "UTF-8"),
        ("text/html;; charset", "text/html", ""),
        ("text/html; charset=a; charset=b", "text/html", "a"),
        ('text/html; x="a\\";charset=c"; charset=b', "text/html", "b"),
        ("text/turtle, text/turtle;charset=utf-8", "text/turtle", "utf-8"),
        ("text/html, text/turtle", "", ""),
        ("*/*, text/turtle", "text/turtle", ""),
        *[(odd, "", "") for odd in (
            "", "application/rdf xml", "*/*", "text/*", "turtle", '"text/turtle"', "text/", "/x",
            "text/turtle charset=utf-8", "a/b/c", "charset=utf-8", "text//turtle", "téxt/turtle",
        )],
    ],
)  # fmt: skip
def test_media_types(header: str, media: str, charset: str) -> None:
    """A header that is none by the grammar of RFC 9110 says nothing."""
    assert (media_type(header), charset_of(header)) == (media, charset)


@pytest.mark.parametrize("header", ["application/rdf xml", "*/*", "turtle", '"text/turtle"', "x,y"])
def test_a_header_without_a_media_type_is_as_good_as_none(header: str) -> None:
    """The body is downloaded, and decides."""
    assert body_wanted(header, Label.H, ())
    assert not body_wanted("image/png", Label.H, ())
    body = b'<urn:s> <urn:p> "x" .'
    assert rdf.detect(body, header, URL) == rdf.detect(body, None, URL)


@given(st.text(max_size=60))
def test_any_header_is_read(header: str) -> None:
    """Nothing makes the reading fail, and a type that is found is one."""
    found = media_type(header)
    assert not found or found.count("/") == 1
    assert webencodings.lookup(charset_of(header)) or True


@settings(max_examples=20)
@given(st.integers(0, 5), st.sampled_from(["\u00e9", "\u20ac", "\U0001f600"]), st.integers(0, 4))
def test_utf8_is_proved_across_pieces(before: int, sign: str, cut: int) -> None:
    """A character that two pieces share counts as one, and a broken one is found in any piece."""
    text = b"x" * before + sign.encode() * (1 << 16)
    assert is_utf8(text, whole=True)
    damaged = bytearray(text)
    damaged[(len(text) // 5) * (cut + 1) - 1] = 0xFF
    assert not is_utf8(bytes(damaged), whole=True)
    assert not is_utf8(text[:-1], whole=True)
    assert is_utf8(text[:-1])
    assert to_utf8(text[:-1]).replaced == 1
