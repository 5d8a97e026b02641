"""Files and numbers that are not what they should be: refused in words, in bounded time and memory.

`SHOAL_MALFORMED=1000 pytest tests/faults/test_malformed.py` changes files more often.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
COUNT = int(os.environ.get("SHOAL_MALFORMED", "140"))
SECONDS = 10  # of computing, for any of them


@pytest.mark.skipif(sys.platform != "linux", reason="the memory is limited with Linux' means")
def test_what_is_malformed_is_refused_in_words(tmp_path: Path) -> None:
    command = [sys.executable, HERE / "malformed.py", tmp_path, str(COUNT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) > COUNT + 60
    for answer in answers:
        what = f"{answer['kind']}, {answer['name']}: {answer['code']}, {answer['seconds']:.1f} s\n{answer['said']}"
        assert answer["code"] in (0, 2, 3), what
        assert answer["seconds"] < SECONDS, what
        if answer["code"] == 2:
            assert "error" in answer["said"], what
        assert "Traceback" not in answer["said"], what
    refused = Counter(answer["kind"] for answer in answers if answer["code"] == 2)
    assert len(refused) == 11, refused  # every kind of file, and numbers
