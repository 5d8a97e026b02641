"""Runs in a process of its own: files that are not what they should be, one after the other, with little memory.

    malformed.py FOLDER COUNT

Good files of every kind (CSV, packed too, Parquet, Arrow, Excel, jobs in YAML and JSON, hierarchies, certificates,
files of prices) are changed at random; some are made to be hard to read. Each is given to the command that reads it.
One JSON line is printed for each: what it was, the exit code, the seconds and what was said.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import run

MEMORY = 6_000_000_000  # of addresses, not of memory: threads reserve much of it
COLUMNS = ["--quasi", "age,sex", "--sensitive", "disease", "-k", "2", "--algorithm", "mondrian", "-q", "--drop-rest"]


def good_files(folder: Path) -> dict[str, bytes]:
    rows = [(20 + row % 7, "fm"[row % 2], ["flu", "gout"][row % 2], row / 4) for row in range(40)]
    frame = pl.DataFrame(rows, schema=["age", "sex", "disease", "weight"], orient="row")
    frame.write_parquet(folder / "t.parquet")
    frame.write_ipc(folder / "t.arrow")
    job = {
        "input": "good.csv",
        "output": "out.csv",
        "quasi": ["age", "sex"],
        "k": 2,
        "algorithm": "mondrian",
        "drop_rest": True,
    }
    job |= {"sensitive": ["disease"], "hierarchies": {"sex": {"*": ["f", "m"]}}, "priorities": {"age": 2.0}, "seed": 1}
    job |= {"models": ["distinct-l:disease:2"], "recodings": {"age": "range"}, "scales": {"age": "integer"}}
    job |= {"drop_rest": True}
    (folder / "good.csv").write_bytes(frame.write_csv().encode())
    arguments = ["anonymize", str(folder / "good.csv"), "-o", str(folder / "release.csv"), *COLUMNS]
    code, said = run([*arguments, "--certificate", str(folder / "certificate.json")])
    assert code == 0, said
    frame.write_excel(folder / "t.xlsx")
    search = ["anonymize", str(folder / "good.csv"), "-o", str(folder / "other.csv"), "--effort", "low"]
    code, said = run([*search, *COLUMNS, "--algorithm", "shoal", "--prices", str(folder / "prices.npz")])
    assert code == 0, said
    return {
        "csv": frame.write_csv().encode(),
        "parquet": (folder / "t.parquet").read_bytes(),
        "arrow": (folder / "t.arrow").read_bytes(),
        "yaml": "\n".join(f"{name}: {json.dumps(value)}" for name, value in job.items()).encode(),
        "json": json.dumps(job).encode(),
        "hierarchy": b"f;known;*\nm;known;*\nx;other;*\n",
        "certificate": (folder / "certificate.json").read_bytes(),
        "packed": gzip.compress(frame.write_csv().encode()),
        "excel": (folder / "t.xlsx").read_bytes(),
        "prices": (folder / "prices.npz").read_bytes(),
    }


def command(kind: str, path: Path, folder: Path) -> list[str]:
    """The command that reads a file of this kind."""
    if kind in ("csv", "parquet", "arrow", "packed", "excel"):
        return ["anonymize", str(path), "-o", str(folder / "out.csv"), *COLUMNS]
    if kind in ("yaml", "json"):
        return ["anonymize", "--job", str(path), "-q"]
    if kind == "hierarchy":
        (folder / "trees").mkdir(exist_ok=True)
        path.replace(folder / "trees" / "sex.csv")
        good = ["anonymize", str(folder / "good.csv"), "-o", str(folder / "out.csv"), *COLUMNS]
        return [*good, "--hierarchies", str(folder / "trees")]
    if kind == "prices":
        bound = ["--original", str(folder / "good.csv"), "--quasi", "age,sex", "-k", "2"]
        return ["verify", str(folder / "other.csv"), "--bound", str(path), *bound]
    return ["verify", str(folder / "release.csv"), "--certificate", str(path)]


SUFFIX = {"hierarchy": "csv", "certificate": "json", "packed": "csv.gz", "excel": "xlsx", "prices": "npz"}


def changed(content: bytes, draw: random.Random) -> bytes:
    """A file with something wrong somewhere."""
    data = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5])):
        place = draw.randrange(len(data) + 1)
        end = min(len(data), place + draw.choice([1, 2, 4, 8, 30]))
        what = draw.randrange(7)
        if what == 0:
            data[place:end] = bytes(draw.randrange(256) for _ in range(end - place))
        elif what == 1:
            del data[place:end]
        elif what == 2:
            data = data[:place]
        elif what == 3:
            data[place:place] = data[place:end] * draw.choice([1, 3, 200])
        elif what == 4:
            data[place:place] = draw.choice([b"\x00", b'"', b",", b"\n", b"\xff\xfe", b"{", b"[", b"]", b"&a ", b"*a"])
        elif what == 5:
            data[place:end] = b"\xff" * (end - place)
        else:
            data[place:place] = draw.choice([b"1e999", b"-1", b"99999999999999999999", b"null", b"nan", b"\xc3\x28"])
        if not data:
            break
    return bytes(data)


def hard_ones() -> Iterator[tuple[str, str, bytes]]:
    """Files that are made to be hard to read: kind, name and content."""
    yield "csv", "empty", b""
    yield "csv", "only zero bytes", b"\x00" * 1000
    yield "csv", "only a mark", b"\xef\xbb\xbf"
    yield (
        "csv",
        "10,000 columns",
        b"\n".join([",".join(f"c{n}" for n in range(10_000)).encode()] + [b"1," * 9999 + b"1"] * 3),
    )
    yield (
        "csv",
        "a cell of 1,000,000 letters",
        b"age,sex,disease\n" + b"1,f,a\n" * 9 + b"1,f," + b"x" * 1_000_000 + b"\n",
    )
    yield (
        "csv",
        "a quasi-identifier of 1,000,000 letters",
        b"age,sex,disease\n" + b"1,f,a\n" * 9 + b"1," + b"x" * 1_000_000,
    )
    yield "csv", "a row of 1,000,000 cells", b"age,sex,disease\n1,f,a\n" + b"," * 1_000_000
    yield "csv", "a quote that never ends", b'age,sex,disease\n1,f,"a\n' + b"2,m,b\n" * 100_000
    yield "csv", "one line of 20 MB", b"a" * 20_000_000
    yield "csv", "20 MB of line breaks", b"age,sex,disease\n" + b"\n" * 20_000_000
    yield "csv", "a header of 1,000,000 letters", b"x" * 1_000_000 + b",age,sex,disease\n" + b"1,2,f,a\n" * 9
    yield "csv", "a number of 100,000 digits", b"age,sex,disease\n" + b"1,f,a\n" * 9 + b"9" * 100_000 + b",f,a\n"
    yield "yaml", "an alias bomb", _alias_bomb()
    yield "yaml", "deep lists", b"models: " + b"[" * 5000 + b"]" * 5000
    yield "yaml", "deep maps", b"hierarchies: {sex: " + b"{a: " * 3000 + b"1" + b"}" * 3001
    yield "yaml", "a list in itself", b"models: &a [*a]"
    yield "yaml", "a hierarchy in itself", b"hierarchies: {sex: &a {x: *a}}"
    yield "yaml", "a Python object", b"quasi: !!python/object/apply:os.system ['exit 7']"
    yield "yaml", "a number of 10,000 digits", b"k: " + b"9" * 10_000
    yield "yaml", "a date as a name", b"2020-01-01: 1"
    yield "yaml", "a set as a name", b"? {a: b}\n: 1"
    yield "yaml", "1,000,000 quasi-identifiers", b"quasi: [" + b"a," * 1_000_000 + b"]"
    yield "json", "deep lists", b'{"models": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    yield "json", "a number of 10,000 digits", b'{"k": ' + b"9" * 10_000 + b"}"
    yield "json", "not a number", b'{"k": NaN, "suppression_limit": Infinity}'
    yield "json", "half a letter", b'{"quasi": ["\\ud800"]}'
    yield "certificate", "deep lists", b"[" * 100_000
    yield "certificate", "a number of 10,000 digits", b'{"k": ' + b"9" * 10_000 + b"}"
    yield "hierarchy", "200,000 levels", b";".join([b"f"] * 200_000) + b"\n" + b";".join([b"m"] * 200_000)
    yield "hierarchy", "a label of 1,000,000 letters", b"f;" + b"x" * 1_000_000 + b";*\nm;y;*\n"
    yield "hierarchy", "empty", b""
    yield "packed", "a bomb: 500 MB of line breaks", _packed(b"age,sex,disease\n", b"\n" * 1_000_000, 500)
    yield "packed", "a bomb: 500 MB of one letter", _packed(b"age,sex,disease\n", b"x" * 1_000_000, 500)
    yield "packed", "a bomb in a bomb", gzip.compress(_packed(b"", b"\x00" * 1_000_000, 300))
    yield "packed", "cut off", gzip.compress(b"age,sex,disease\n" + b"1,f,a\n" * 9999)[:-9]
    yield from (("excel", *one) for one in _workbooks())
    yield from (("prices", *one) for one in _arrays())


def _packed(first: bytes, block: bytes, times: int) -> bytes:
    """What begins and goes on like this, packed; never there as a whole."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([packer.compress(first), *(packer.compress(block) for _ in range(times)), packer.flush()])


def _archive(members: dict[str, bytes], filler: str = "", size: int = 0) -> bytes:
    """A zip archive; `filler` is a member of so many bytes that say nothing."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        if filler:
            with archive.open(filler, "w", force_zip64=True) as file:
                for _ in range(size // 1_000_000):
                    file.write(b" " * 1_000_000)
    return content.getvalue()


def _workbooks() -> Iterator[tuple[str, bytes]]:
    """A workbook with one thing wrong at a time: name and content."""
    book = io.BytesIO()
    pl.DataFrame({"age": [20, 30, 20, 30], "sex": ["f", "m", "f", "m"], "disease": ["a", "b", "a", "b"]}).write_excel(
        book
    )
    with zipfile.ZipFile(book) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    far = b'<c r="XFD1048576"><v>1</v></c>'
    others = {name: data for name, data in parts.items() if name != sheet}
    yield "a bomb: a sheet of 400 MB", _archive(others, sheet, 400_000_000)
    yield "a bomb: 400 MB beside the sheets", _archive(parts, "xl/media/image1.png", 400_000_000)
    row = b'<row r="1048576">' + far + b"</row></sheetData>"
    yield "a cell at the far end", _archive({**parts, sheet: parts[sheet].replace(b"</sheetData>", row)})
    size = parts[sheet].replace(b"</sheetData>", b"</sheetData>" + b"<x>" * 100_000)
    yield "deep nesting", _archive({**parts, sheet: size})
    texts = parts["xl/sharedStrings.xml"].replace(b"<t>f</t>", b"<t>" + b"x" * 1_000_000 + b"</t>")
    yield "a cell of 1,000,000 letters", _archive({**parts, "xl/sharedStrings.xml": texts})
    entities = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + b"".join(
        b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 10) for letter in range(ord("b"), ord("j"))
    )
    head, _, tail = parts["xl/sharedStrings.xml"].partition(b"?>")
    laughs = head + b"?>" + entities + b"]>" + tail.replace(b"<t>f</t>", b"<t>&i;</t>")
    yield "a thousand million laughs", _archive({**parts, "xl/sharedStrings.xml": laughs})
    yield "no sheets", _archive({name: data for name, data in parts.items() if "worksheets" not in name})
    yield "an empty archive", _archive({})


def _arrays() -> Iterator[tuple[str, bytes]]:
    """Files of prices with one thing wrong at a time."""
    about = io.BytesIO()
    np.save(about, np.array(json.dumps({"format": 1, "k": 2, "suppression": False, "rungs": {}, "input": ""})))
    deep = io.BytesIO()
    np.save(deep, np.array("[" * 100_000))
    few = io.BytesIO()
    np.save(few, np.ones(40))
    wide = few.getvalue().replace(b"(40,)", b"(9999999999999,)")
    wide = wide.replace(b" " * 12, b"", 1) if len(wide) > len(few.getvalue()) else wide
    objects = io.BytesIO()
    np.save(objects, np.array([{"a": 1}] * 40, dtype=object), allow_pickle=True)
    parts = {"about.npy": about.getvalue(), "prices.npy": few.getvalue()}
    yield "a bomb: 400 MB of prices", _archive({"about.npy": about.getvalue()}, "prices.npy", 400_000_000)
    yield "more prices than the file holds", _archive({**parts, "prices.npy": wide})
    yield "pickled objects", _archive({**parts, "prices.npy": objects.getvalue()})
    yield "deep lists", _archive({**parts, "about.npy": deep.getvalue()})
    yield "an empty archive", _archive({})


def _alias_bomb() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 9)]
    return "\n".join([*lines, "models: *a8"]).encode()


NUMBERS = [
    ["-k", "1"],
    ["-k", "-5"],
    ["-k", "2.5"],
    ["-k", "9" * 30],
    ["-k", "9" * 5000],
    ["--effort", "1e99"],
    ["--effort", "-1"],
    ["--effort", "nan"],
    ["--effort", "inf"],
    ["--effort", "0"],
    ["--effort", "9" * 400],
    ["--threads", "0"],
    ["--threads", "100000000"],
    ["--threads", "9" * 30],
    ["--seed", "-1"],
    ["--seed", "9" * 30],
    ["--round", "age=0"],
    ["--round", "age=nan"],
    ["--round", "age=1e400"],
    ["--round", "age=1e-400"],
    ["--round", "age=" + "9" * 5000],
    ["--round", "sex=month"],
    ["--date-format", "sex=" + "%" * 5000],
    ["--date-format", "sex=%Y"],
    ["--memory", "9" * 400 + "GB"],
    ["--memory", "-1"],
    ["--sign", "good.csv"],
    ["--public-certificate", "/nowhere/public.json"],
    ["--suppression-limit", "nan"],
    ["--suppression-limit", "2"],
    ["--suppression-limit", "-1e-300"],
    ["--priority", "age=nan"],
    ["--priority", "age=1e400"],
    ["--priority", "age=-1"],
    ["--model", "l-diversity:disease:1e400"],
    ["--model", "distinct-l:disease:" + "9" * 40],
    ["--model", "distinct-l:disease:" + "9" * 5000],
    ["--model", "recursive-cl:disease:nan,2"],
    ["--model", "t-closeness:disease:-1"],
    ["--model", "t-closeness:disease:nan"],
    ["--model", "beta-likeness:disease:inf"],
    ["--model", "delta-disclosure:disease:1e-320"],
    ["--model", "k-anonymity:" + "9" * 40],
    ["--model", "qid:age:" + "9" * 40],
    ["--model", "xy-anonymity:disease:" + "9" * 40],
]


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    good = good_files(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    draw = random.Random(11)

    def tell(kind: str, name: str, arguments: Callable[[], list[str]]) -> None:
        given = arguments()
        began = time.process_time()
        try:
            code, said = run(given)
        except BaseException as error:
            code, said = f"{type(error).__name__}", str(error)[-300:]
        seconds = time.process_time() - began
        print(
            json.dumps(
                {"kind": kind, "name": name, "code": code, "seconds": seconds, "said": said[:300] + said[-300:]}
            ),
            flush=True,
        )

    def file(kind: str, content: bytes) -> Callable[[], list[str]]:
        path = folder / f"bad.{SUFFIX.get(kind, kind)}"
        path.write_bytes(content)
        return lambda: command(kind, path, folder)

    for kind, name, content in hard_ones():
        tell(kind, name, file(kind, content))
    for numbers in NUMBERS:
        algorithm = ["--algorithm", "shoal"] if "--effort" in numbers else []
        base = ["anonymize", str(folder / "good.csv"), "-o", str(folder / "out.csv"), *COLUMNS, *algorithm]
        tell("number", " ".join(numbers)[:60], lambda base=base, numbers=numbers: [*base, *numbers])  # type: ignore[misc]
    for number in range(count):
        kind = list(good)[number % len(good)]
        tell(kind, f"change {number}", file(kind, changed(good[kind], draw)))


if __name__ == "__main__":
    main()
