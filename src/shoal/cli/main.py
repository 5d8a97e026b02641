"""`shoal`: one file per verb, put together here; errors become messages and exit codes in one place.

A verb imports what it needs when it runs, and only the verb that is called is put together, so that starting up stays
quick; the others are needed for help and for a verb that does not exist.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from importlib import import_module
from types import FrameType
from typing import Annotated, Any

import typer

import shoal
from shoal.cli.examples import epilog
from shoal.cli.output import print_error, print_note, print_text
from shoal.cli.quick import end_without_looking_for_garbage, look_for_garbage_seldom
from shoal.errors import InternalError, Problem, ShoalError

INTERRUPTED = 130

_PANELS = {  # of the help, with the file of each verb
    "Begin": {
        "demo": "demo",
        "inspect": "inspect",
        "init": "init",
        "import-arx": "import_arx",
        "hierarchies": "hierarchies",
        "serve": "serve",
    },
    "Release": {
        "anonymize": "anonymize",
        "cluster-release": "cluster_release",
        "publish-versions": "publish_versions",
        "m-invariant": "m_invariant",
    },
    "Judge": {
        "verify": "verify",
        "evaluate": "evaluate",
        "compare": "compare",
        "experiment": "experiment",
    },
    "Hand over": {"explain": "explain", "pack": "pack"},
    "Look up": {"algorithms": "lists", "models": "lists", "metrics": "lists", "man": "man", "doctor": "doctor"},
}
_FILES = {verb: file for verbs in _PANELS.values() for verb, file in verbs.items()}
_PANEL_OF = {verb: panel for panel, verbs in _PANELS.items() for verb in verbs}
FIRST_STEPS = "New here? 'shoal demo' shows it on an invented hospital; with a table: 'shoal init DATA', then \
'shoal anonymize --job job.yaml'. 'shoal VERB --help' ends with examples."


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"shoal {shoal.__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    pass


class App(typer.Typer):
    """Commands whose help ends with examples."""

    def command(self, name: str | None = None, **settings: Any) -> Any:
        panel = _PANEL_OF.get(name or "") if self.info.name == "shoal" else None
        return super().command(name, **{"epilog": epilog(name), "rich_help_panel": panel, **settings})


def put_together(arguments: list[str]) -> typer.Typer:
    """The verb that the arguments begin with, or all of them."""
    app = App(
        name="shoal",
        help="Publish tables about people so that nobody in them can be singled out.",
        epilog=FIRST_STEPS,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=not arguments or arguments[0].startswith("-"),  # it belongs to no verb
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    called = arguments[0] if arguments else ""
    for file in [_FILES[called]] if called in _FILES else dict.fromkeys(_FILES.values()):
        import_module(f"shoal.cli.{file}").register(app)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with 0 done, 1 our fault, 2 bad input, 3 the requirement does not hold."""
    signal.signal(signal.SIGTERM, _stop)
    if arguments is not None:
        sys.exit(_run(arguments))
    look_for_garbage_seldom()
    code = _run(sys.argv[1:])
    end_without_looking_for_garbage()
    sys.exit(code)


def _stop(number: int, frame: FrameType | None) -> None:
    """A polite kill cleans up the same way as Ctrl-C."""
    raise KeyboardInterrupt


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        code: Any = put_together(arguments)(args=arguments, standalone_mode=False)
    except ShoalError as error:
        print_error(error, as_json)
        return error.exit_code
    except typer.Exit as stop:
        code = stop.exit_code
    except typer.TyperException as error:
        show = getattr(error, "show", None)  # a usage error knows how to show itself
        if show is not None:
            show()
        else:
            print_note(str(error))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except Exception as error:
        _print_unforeseen(error, as_json)
        return 1
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of compiled code, which is no Exception
            raise
        _print_unforeseen(error, as_json)
        return 1
    if code == INTERRUPTED:  # typer turns Ctrl-C into this code
        print_note("stopped; nothing was written")
    return int(code) if isinstance(code, int) else 0


def _print_unforeseen(error: BaseException, as_json: bool) -> None:
    """Name the kind of error and the place in our code, never its text, which may quote the data."""
    if os.environ.get("SHOAL_DEBUG"):
        traceback.print_exc()
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if "shoal" in frame.filename]
    where = f" in {places[-1].name}, line {places[-1].lineno}" if places else ""
    message = f"an unforeseen error ({type(error).__name__}{where}); nothing was written"
    hint = "this is our fault; please report it. With SHOAL_DEBUG=1 the details are shown, which may quote your data"
    print_error(InternalError(Problem("internal", message, hint=hint)), as_json)


if __name__ == "__main__":
    main()
