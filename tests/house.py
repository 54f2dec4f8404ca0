"""`make house`: how large the product is, what it should be at most, and whether its packages form circles.

`python -m tests.house floors` prints the table of packages in docs/architecture.md.
"""

import ast
import re
import statistics
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import grimp

from limes.app.features import FEATURES
from limes.app.features import files as feature_files
from limes.web.call import Html

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "limes": ROOT / "limes",
    "limes_osc": ROOT / "plugins/limes_osc",
    "limes_plugins": ROOT / "plugins/limes_plugins",
}
SHORT = 40
"""Lines of a file that is hardly one."""
LONGEST_FILE = 350
LONGEST_FUNCTION = 50
MOST_IMPORTS = 6.5
"""In % of all lines."""
BESIDES = ("plugins/limes_osc", "limes/app/importer", "limes/db/migrations", "limes/placement/migrations")
"""The client's commands, and what runs once: not counted where the size of the server and its plugins is meant."""
FEWEST_FIELDS = 5
"""Of types that are compared."""
ALIKE = 0.8
"""Which part of its fields a type may share with another one."""

_RUNS_SQL = {"rows", "execute", "execute_sql"}
_SQL = re.compile(r"\s*((SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|RESET|PREPARE|PRAGMA|LOCK)\s|SET [a-z])")


@dataclass(frozen=True, slots=True)
class Size:
    """Something with its number of lines."""

    lines: int
    name: str

    def __str__(self) -> str:
        return f"{self.lines} {self.name}"


@cache
def files() -> dict[Path, str]:
    """The text of each Python file of the product."""
    return {path: path.read_text() for folder in PACKAGES.values() for path in sorted(folder.rglob("*.py"))}


def files_of_limes() -> list[Path]:
    """The files of the server, without what copies from the Go Limes."""
    importer = ROOT / "limes/app/importer"
    return [path for path in files() if path.is_relative_to(PACKAGES["limes"]) and not path.is_relative_to(importer)]


def lines_below(*folders: str) -> int:
    """How many lines the files in these folders have together."""
    places = [ROOT / folder for folder in folders]
    return sum(
        len(text.splitlines()) for path, text in files().items() if any(path.is_relative_to(place) for place in places)
    )


def file_sizes() -> list[Size]:
    """All files, the longest first."""
    sizes = [Size(len(text.splitlines()), str(path.relative_to(ROOT))) for path, text in files().items()]
    return sorted(sizes, key=lambda size: -size.lines)


@cache
def trees() -> dict[Path, ast.Module]:
    """The same, parsed."""
    return {path: ast.parse(text) for path, text in files().items() if "migrations" not in path.parts}


def function_sizes() -> list[Size]:
    """All functions with their docstrings, but those of migrations, the longest first."""
    sizes = [
        Size((node.end_lineno or 0) - node.lineno + 1, f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted(sizes, key=lambda size: -size.lines)


def import_lines() -> int:
    """How many lines import something, besides those of migrations."""
    return sum(
        (node.end_lineno or 0) - node.lineno + 1
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def similar_types() -> list[str]:
    """Pairs of classes of which one has most of its annotated fields in the other one as well, by their names."""
    types = [
        (fields, f"{path.relative_to(ROOT)}:{node.name}")
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and len(fields := _fields_of(node)) >= FEWEST_FIELDS
    ]
    return [
        f"{one} {other}"
        for (fields, one), (others, other) in combinations(types, 2)
        if len(fields & others) >= ALIKE * min(len(fields), len(others))
    ]


def _fields_of(node: ast.ClassDef) -> set[str]:
    return {
        line.target.id
        for line in node.body
        if isinstance(line, ast.AnnAssign)
        and isinstance(line.target, ast.Name)
        and not ast.unparse(line.annotation).startswith("ClassVar")
    }


@cache
def sql_texts() -> list[str]:
    """Where SQL stands as text, besides migrations: statements, and whatever is given to the database as text."""
    return [f"{path.relative_to(ROOT)}:{line}" for path, tree in trees().items() for line in sql_lines(tree)]


def sql_lines(tree: ast.Module) -> list[int]:
    """The lines of some Python on which SQL begins."""
    return sorted({sql.lineno for node in ast.walk(tree) for sql in _sql_in(node)})


def _sql_in(node: ast.AST) -> Iterator[ast.expr]:
    """The string if it is a statement, or is run where it stands, as in `engine.execute("PRAGMA ...")`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SQL.match(node.value):
        yield node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _RUNS_SQL:
        yield from (sql for sql in node.args[:1] if isinstance(sql, ast.JoinedStr | ast.Constant))


def floors() -> list[list[str]]:
    """The packages by layer, from the top."""
    (contract,) = [each for each in _contracts() if each["name"] == "floors"]
    return [[package.strip() for package in layer.split("|")] for layer in contract["layers"]]


def _contracts() -> list[Any]:
    contracts: list[Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return contracts


def floors_table() -> str:
    """The packages with their layers and what they say about themselves, for docs/architecture.md."""
    layers = floors()
    rows = [
        f"| {len(layers) - number} | `{_folder(package)}` | {_first_line(package)} |"
        for number, layer in enumerate(layers)
        for package in layer
    ]
    return "\n".join(["| layer | folder | contents |", "|---|---|---|", *rows])


def _folder(package: str) -> str:
    return ("" if package.startswith("limes.") else "plugins/") + package.replace(".", "/")


def _first_line(package: str) -> str:
    path = ROOT / _folder(package)
    text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].rstrip(".")


def is_open(module: str) -> bool:
    """Whether any feature may import it: tables, rules and the context (docs/adr/0056-a-folder-for-each-feature.md)."""
    (contract,) = [each for each in _contracts() if each["name"] == "floors"]
    patterns = [
        rule.partition(" -> ")[2].replace(".", r"\.").replace("*", r"\w+") for rule in contract["ignore_imports"]
    ]
    return any(re.fullmatch(pattern, module) for pattern in patterns)


def cycles() -> Iterator[str]:
    """Packages (or modules) beside each other of which each imports the other, if only by way of others, apart from
    what is open to all."""
    graph = grimp.build_graph(*PACKAGES)
    for module in filter(is_open, graph.modules):
        for importer in graph.find_modules_that_directly_import(module):
            graph.remove_import(importer=importer, imported=module)
    for parent in sorted(graph.modules):
        for one, other in combinations(sorted(graph.find_children(parent)), 2):
            if graph.chain_exists(one, other, as_packages=True) and graph.chain_exists(other, one, as_packages=True):
                yield f"{one} <-> {other}"


def folders_of_requests() -> int:
    """In how many folders the handlers, bodies and answers of one feature's requests are, at most."""
    return max(
        len(
            {
                part.__module__.split(".")[1]
                for table in file.SECTIONS.values()
                for operations in table.values()
                for operation in operations.values()
                for part in (operation.handler, operation.body, *operation.answers.values())
                if getattr(part, "__module__", "").startswith("limes.") and part is not Html
            }
        )
        for file in feature_files("routes")
    )


def shared_files(feature: str) -> list[str]:
    """The files outside of features that name this one: what a new one like it is added to."""
    graph, own = grimp.build_graph("limes", cache_dir=None), {f"limes.{each}" for each in FEATURES}
    naming = {
        importer
        for module in graph.modules
        if module.startswith(f"limes.{feature}.")
        for importer in graph.find_modules_that_directly_import(module)
    }
    others = [module for module in naming if ".".join(module.split(".")[:2]) not in own and "importer" not in module]
    return ["pyproject.toml", "limes/app/features.py", *(f"{module.replace('.', '/')}.py" for module in sorted(others))]


def main() -> None:
    """Prints the figures, each with its target if it has one (docs/adr/0060); with the argument `floors`, the table of
    packages."""
    if sys.argv[1:] == ["floors"]:
        print(floors_table())
        return
    sizes, functions, circles = file_sizes(), function_sizes(), list(cycles())
    lines = [size.lines for size in sizes]
    parsed = sum(len(files()[path].splitlines()) for path in trees())
    figures: list[tuple[str, object, object]] = [
        ("files", len(sizes), None),
        ("files in limes, without importer", len(files_of_limes()), 433),
        ("packages in limes", len([each for layer in floors() for each in layer if each.startswith("limes.")]) - 1, 25),
        ("lines", sum(lines), 70_750),
        ("lines without client, importer, migrations", sum(lines) - lines_below(*BESIDES), 64_200),
        ("lines of composition", lines_below("limes/app/composition"), 1_265),
        ("folders of one feature's requests", folders_of_requests(), 1),
        ("shared files that name a feature (metering)", len(shared_files("metering")), 3),
        ("imports in % of lines", f"{100 * import_lines() / parsed:.1f}", MOST_IMPORTS),
        ("median lines of a file", f"{statistics.median(lines):g}", None),
        (f"files of {SHORT} lines or less", sum(count <= SHORT for count in lines), None),
        ("longest file", sizes[0], LONGEST_FILE),
        ("longest function", functions[0], LONGEST_FUNCTION),
        (f"pairs of types that share {ALIKE:.0%} of their fields", len(similar_types()), 36),
        ("SQL texts", len(sql_texts()), None),
        ("package cycles", len(circles), 0),
        *(("", circle, None) for circle in circles),
    ]
    for name, figure, target in figures:
        print(f"{name:<48}{figure}{'' if target is None else f' (at most {target})'}")


if __name__ == "__main__":
    main()
