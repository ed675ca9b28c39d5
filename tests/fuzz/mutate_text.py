"""Changes of XML, of tables and of pickles, in the units that their parsers see."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from fuzz.mutate_bytes import mutate_bytes
from fuzz.values import ENCODINGS, TEXTS


def mutate_xml(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Drop, repeat, swap and change tags and what is between them."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    tokens = [token for token in re.split(r"(<[^>]*>)", data.decode(encoding, "replace")) if token]
    if not tokens:
        return mutate_bytes(rng, data, others)
    at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    match rng.randrange(9):
        case 0:
            del tokens[at]
        case 1:
            tokens[at:at] = [tokens[at]] * rng.choice((1, 2, 50, 3000))
        case 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3:
            tokens[at] = re.sub(
                r'"[^"]*"', lambda _: f'"{rng.choice(TEXTS)}"', tokens[at], count=rng.choice((1, 2))
            )
        case 4:
            tokens.insert(at, rng.choice(TEXTS))
        case 5:
            depth = rng.choice((5, 500, 20_000))
            tokens.insert(at, "<a>" * depth + "</a>" * rng.choice((0, depth)))
        case 6:
            extra = rng.choice(
                (' id="n1"', ' directed="true"', ' weight="x"', f' a="{"b" * 100_000}"', " xmlns:q='u'")
            )
            tokens[at] = re.sub(r"(/?>)$", lambda end: extra + end.group(), tokens[at])
        case 7:
            tokens.insert(
                min(at, 1),
                rng.choice(
                    ('<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', "<![CDATA[x]]>", "<?x y?>", "<!-- -->",
                     '<?xml version="1.0" encoding="utf-7"?>', '<?xml version="1.1" encoding="big5"?>', "&#0;", "&lol;",
                     "<hyperedge/>", '<key id="d1" for="all" attr.name="weight"/>', '<edge source="n0" target="n9"/>',
                     '<graph edgedefault="directed"/>', "<default>1e999</default>", '<data key="d0">nan</data>')
                ),
            )  # fmt: skip
        case _:
            if tokens[at].startswith("<"):
                tokens[at] = re.sub(
                    r"\w+",
                    rng.choice(("node", "edge", "key", "data", "graph", "x:node", "default")),
                    tokens[at],
                    count=1,
                )
            else:
                tokens[at] = rng.choice(TEXTS)
    text = "".join(tokens)
    return text.encode(encoding if rng.random() < 0.9 else rng.choice(ENCODINGS), "replace")


def mutate_table(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change cells, rows, delimiters, quotes, line ends and the encoding of delimited text."""
    text = data.decode("utf-8", "surrogateescape")
    mark = next((mark for mark in ("\t", ";", ",", " ") if mark in text), ",")
    rows = [line.split(mark) for line in text.split("\n")]
    row = rows[rng.randrange(len(rows))]
    at = rng.randrange(len(row))
    match rng.randrange(12):
        case 0 | 1 | 2 | 3:
            row[at] = rng.choice(TEXTS)
        case 4:
            row[at] = rng.choice(('"{}"', '"{}', '{}"', '"{}\n{}"', '"a""{}"', "'{}'")).replace("{}", row[at])
        case 5:
            row[at:at] = [rng.choice((row[at], rng.choice(TEXTS)))] * rng.choice((1, 1, 30, 2000))
        case 6:
            del row[at]
        case 7:
            rows.insert(rng.randrange(len(rows)), list(row) if rng.random() < 0.5 else [rng.choice(TEXTS)])
        case 8:
            del rows[rng.randrange(len(rows))]
        case 9:
            column = rng.randrange(len(row))
            value = rng.choice(TEXTS)
            for line in rows[rng.randrange(2) :]:
                if column < len(line):
                    line[column] = value
        case 10:
            mark = rng.choice(("\t", ";", "|", ",", " ", "  ", "\x01", "é", ":", ", "))
        case _:
            whole = mark.join(row)
            row[:] = [whole.upper(), whole.strip(), whole * 200, "#" + whole, "\ufeff" + whole][
                rng.randrange(5)
            ].split(mark)
    text = rng.choice(("\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n")).join(mark.join(line) for line in rows)
    if rng.random() < 0.08:
        return text.encode(rng.choice(ENCODINGS), "replace")
    return text.encode(
        "utf-8", "surrogateescape" if "\udc80" <= max(text, default="") <= "\udcff" else "replace"
    )


_OPCODES = (
    b"]", b"}", b")", b"(", b"0", b"1", b"2", b"a", b"e", b"u", b"t", b"s", b"b", b"R", b"q\x05", b"h\x05",
    b"N", b"\x88",
    b"r\xff\xff\xff\x0f", b"r\xff\xff\xff\x7f", b"j\xff\xff\xff\xff", b"J\xff\xff\xff\x7f", b"\x8b\xff\xff\xff\x7f",
    b"\x8a\x08" + b"\xff" * 8, b"X\xff\xff\xff\x7f", b"T\xff\xff\xff\x7f", b"\x8e" + b"\xff" * 7 + b"\x7f",
    b"G" + b"\xff" * 8,
    b"cos\nsystem\n", b"c__builtin__\nlist\n", b"ccollections\ndefaultdict\n", b"cnumpy\ndtype\n", b"cnumpy\nndarray\n",
    b"\x95" + b"\xff" * 8, b"I999999999999999999999\n", b"F1e999\n", b"S'a'\n", b"p9999999\n", b"\x81",
    b"\x92", b"Q", b"\x94",
    b"\x82\x01", b"(" * 5000, b"](" * 3000, b".",
)  # fmt: skip


def mutate_pickle(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Insert instructions, drop them, or change their numbers."""
    import pickletools

    starts = [position for _, _, position in pickletools.genops(data) if position is not None]
    at = rng.choice(starts)
    end = min((start for start in starts if start > at), default=len(data))
    match rng.randrange(5):
        case 0 | 1:
            return data[:at] + rng.choice(_OPCODES) + data[at:]
        case 2:
            return data[:at] + data[end:]
        case 3:
            return data[:at] + data[at:end] * rng.choice((2, 3, 100)) + data[end:]
        case _:
            return data[:at] + mutate_bytes(rng, data[at:end], others) + data[end:]
