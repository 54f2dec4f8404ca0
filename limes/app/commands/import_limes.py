"""`limes import-limes`: moves here from the Go Limes, its configuration and its database."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limes.app.commands import terminal
from limes.kernel.errors import ConfigError

if TYPE_CHECKING:
    from limes.app.importer.run import Import

_URL_VARIABLE = "LIMES_IMPORT_DATABASE_URL"


def add_to(commands: terminal.Commands) -> None:
    terminal.add_command(
        commands,
        "import-limes",
        run,
        "move here from the Go Limes: convert its configuration, copy its database",
        _add_source,
        terminal.file_argument("--output", help="with --config-from: write there, and not over anything"),
        terminal.flag("--apply", "with --database: keep what was written"),
        terminal.flag("--skip-unknown", "with --database: leave resources behind that are not configured"),
        *(terminal.add_json_option, terminal.add_config_option),
        description="With --config-from, prints our configuration file for one of the Go Limes. With --database, copies"
        " its PostgreSQL database into the configured one, which has to be empty: everything is written, read again,"
        " compared, and without --apply taken back.",
        codes={
            0: "converted, or everything is here (or would be)",
            1: "the result cannot be used as it stands, or nothing was imported, or an error",
        },
    )


def _add_source(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    terminal.file_argument("--config-from", help="the YAML or JSON file of the Go Limes")(source)
    source.add_argument(
        "--database",
        metavar="URL",
        nargs="?",
        const="",
        help=f"postgresql://user@host/name of the Go Limes (default: ${_URL_VARIABLE}; the password from ~/.pgpass or"
        " $PGPASSWORD)",
    )


def run(options: argparse.Namespace) -> int:
    if options.config_from is None:
        others, wanted = ["output"], "--config-from"
    else:
        others, wanted = ["apply", "skip_unknown"], "--database"
    problems = [f"--{name.replace('_', '-')} goes with {wanted}" for name in others if getattr(options, name)]
    if problems:
        raise ConfigError(problems)
    return _database(options) if options.config_from is None else _configuration(options)


def _configuration(options: argparse.Namespace) -> int:
    import yaml

    from limes.app.composition.cluster import backend_problems
    from limes.app.importer.configuration import convert, read_original

    path = Path(options.config_from)
    converted = convert(read_original(path), path.parent, backend_problems)
    text = yaml.safe_dump(converted.document, sort_keys=False, allow_unicode=True, width=120)
    if options.output:
        try:
            with open(options.output, "x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise ConfigError([f"--output: cannot write {Path(options.output)}: {error.strerror}"]) from None
    if options.json:
        terminal.print_json(converted)
    else:
        if not options.output:
            print(text)
        console = terminal.result_console(stderr=not options.output)  # beside the document, or instead of it
        rows = [(note.kind.value, note.path, note.text) for note in converted.notes]
        terminal.print_table(console, "What is not the same", ("", "where", "what"), rows, empty="nothing")
        problems = [(problem,) for problem in converted.problems]
        title = "What is wrong with the result as it stands"
        terminal.print_table(console, title, ("problem",), problems, empty="nothing")
    return 1 if converted.problems else 0


def _database(options: argparse.Namespace) -> int:
    url = options.database or os.environ.get(_URL_VARIABLE)
    if not url:
        raise ConfigError([f"--database: give the URL, or ${_URL_VARIABLE}"])
    outcome = _open(url).run(apply=options.apply, skip_unknown=options.skip_unknown)
    if options.json:
        terminal.print_json(outcome)
        return 0 if outcome.is_good else 1
    console = terminal.result_console()
    counts: list[tuple[Any, ...]] = [(kind.replace("_", " "), count) for kind, count in outcome.counts.items()]
    terminal.print_table(console, f"In the source (schema version {outcome.version})", ("what", "rows>"), counts)
    dropped = [(name, count) for name, count in outcome.dropped.items()]
    terminal.print_table(console, "Has no place here", ("what", "rows>"), dropped, empty="nothing")
    for title, lines in (
        ("Worth knowing", outcome.notes),
        ("In the way", outcome.problems),
        ("Differences", outcome.differences),
    ):
        if lines:
            terminal.print_table(console, title, ("",), [(line,) for line in lines])
    if not outcome.is_good:
        verdict = "Nothing was changed."
    elif outcome.was_here:
        verdict = "Everything is here already. Nothing was changed."
    elif outcome.applied:
        verdict = "Everything was copied, read again and compared: no differences."
    else:
        verdict = (
            "This was a dry run: everything was copied, compared (no differences), and taken back. --apply keeps it."
        )
    console.print(verdict)
    return 0 if outcome.is_good else 1


def _open(url: str) -> "Import":
    """Opens the source, and our database without limits of time. Raises `ConfigError` and `StartupError`."""
    from limes.app.composition import cluster, common
    from limes.app.context import open_limes
    from limes.app.importer.run import Import
    from limes.app.importer.source import open_source

    settings = common.load_settings()
    unlimited = settings.database.model_copy(update={"statement_timeout": 0.0, "lock_timeout": 0.0})
    target = common.open_checked_engine(settings.model_copy(update={"database": unlimited}), "limes-import")
    limes = open_limes(cluster.build_cluster(settings), target, settings)
    return Import(open_source(url), target, limes.catalog, limes, limes.ids, terminal.progress, limes.overrides())
