"""The child processes of the workbench: `python -m shoal.web.worker table|run`.

A child speaks JSON lines: questions or orders on standard input, answers on standard output. It ends when its input
ends, so none outlives the server. What libraries print goes nowhere, for it could quote the data.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from threading import Lock
from typing import Any, TextIO

from shoal.errors import InternalError, Problem, ShoalError
from shoal.web.files import plain


class Voice:
    """Writes JSON lines to where standard output went; everything else that is printed is lost."""

    def __init__(self) -> None:
        self._stream: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        self._lock = Lock()
        os.dup2(2, 1)

    def say(self, **message: Any) -> None:
        text = json.dumps(plain(message), ensure_ascii=False)
        with self._lock:
            self._stream.write(text + "\n")
            self._stream.flush()


def problems_of(error: BaseException) -> list[dict[str, Any]]:
    """What went wrong, in words for the page; of an unforeseen error only its kind and place."""
    if isinstance(error, ShoalError):
        return [problem.as_dict() for problem in error.problems]
    if os.environ.get("SHOAL_DEBUG"):
        traceback.print_exception(error)
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if "shoal" in frame.filename]
    where = f" in {places[-1].name}, line {places[-1].lineno}" if places else ""
    message = f"an unforeseen error ({type(error).__name__}{where})"
    return [problem.as_dict() for problem in InternalError(Problem("internal", message)).problems]


def answer_questions(voice: Voice, answers: dict[str, Callable[[dict[str, Any]], Any]]) -> None:
    """One answer per line of the input, in their order."""
    for line in sys.stdin:
        question = json.loads(line)
        try:
            value = answers[question["ask"]](question)
        except Exception as error:
            voice.say(number=question["number"], problems=problems_of(error))
        else:
            voice.say(number=question["number"], value=value)


def main() -> None:
    voice = Voice()
    if sys.argv[1] == "table":
        from shoal.web.table_answers import Table

        answer_questions(voice, Table().answers())
    else:
        from shoal.web.run_job import run_job

        run_job(voice)
    sys.stdout.flush()
    os._exit(0)  # threads that still wait for input need not end first


if __name__ == "__main__":
    main()
