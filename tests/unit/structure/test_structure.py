"""The rules of the tree that no linter knows: sizes, source roots, the one door to the database, forbidden names."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCE_ROOTS = ("policy", "operator", "service", "client")
FILE_LINES_MAX = 350
FUNCTION_LINES_MAX = 50
NAMES_NOBODY_CAN_FIND = {"utils", "helpers", "common", "base", "manager", "misc", "core"}
DOORS = re.compile(r"(^|\.)(create_async_engine|create_engine|AsyncConnectionPool|ConnectionPool)$")
# A transaction of an engine, or a connection of the driver, whatever the variable before it is called.
OPENINGS = re.compile(r"(engine|psycopg|Connection)\w*\.(connect|begin|raw_connection)$", re.IGNORECASE)
DATABASE_LIBRARIES = {"sqlalchemy", "psycopg", "psycopg_pool"}
# Where a connection may be opened: the door of the service, and its migrations, which run as another role.
MAY_OPEN_A_CONNECTION = {
    "service/memwarden_service/database.py",
    "service/memwarden_service/migrate.py",
}
REGISTRIES = re.compile(r"pypi\.org|pythonhosted|proxy\.golang|npmjs|deb\.debian|crates\.io|repo\.maven", re.IGNORECASE)


def tracked(pattern: str) -> list[Path]:
    command = ["git", "ls-files", "-co", "--exclude-standard", pattern]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def product_modules() -> list[Path]:
    return [path for root in SOURCE_ROOTS for path in sorted((ROOT / root).rglob("*.py"))]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_a_source_root_holds_packages_and_no_python_of_its_own(root):
    assert not list((ROOT / root).glob("*.py"))


def test_no_test_folder_shadows_the_standard_library():
    assert not (ROOT / "tests/operator/__init__.py").exists()


def test_no_file_is_longer_than_a_person_reads():
    long = {
        shown(path): count for path in tracked("*.py") if (count := len(path.read_text().splitlines())) > FILE_LINES_MAX
    }
    tests = {path for path in long if path.startswith("tests/")}
    assert not {path: long[path] for path in long.keys() - tests}


def test_no_function_is_longer_than_a_screen():
    modules = [*product_modules(), *sorted((ROOT / "scripts").rglob("*.py"))]
    long = {
        f"{shown(path)}:{node.name}": size
        for path in modules
        for node in functions(path)
        if node.end_lineno and (size := node.end_lineno - node.lineno + 1) > FUNCTION_LINES_MAX
    }
    assert not long


def test_every_module_says_what_it_is_for():
    silent = [
        shown(path)
        for path in product_modules()
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not silent


def test_no_module_has_a_name_that_says_nothing():
    assert not [shown(path) for path in product_modules() if NAMES_NOBODY_CAN_FIND & {path.stem, path.parent.name}]


def opens_a_connection(path: Path) -> list[int]:
    """Return the lines that open a database connection; `# a door: <why>` on the line is the spelled-out escape."""
    text = path.read_text()
    if not any(library in text for library in DATABASE_LIBRARIES):
        return []
    lines = text.splitlines()
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if (DOORS.search(called) or OPENINGS.search(called)) and "# a door: " not in lines[node.lineno - 1]:
                found.append(node.lineno)
    return found


def test_only_the_door_opens_a_database_connection():
    opened = {shown(path) for path in product_modules() if opens_a_connection(path)}
    assert opened <= MAY_OPEN_A_CONNECTION


@pytest.mark.parametrize(
    "call",
    [
        "psycopg.connect('')",
        "psycopg.AsyncConnection.connect('')",
        "database.engine.begin()",
        "sqlalchemy.create_engine('')",
        "create_async_engine('')",
    ],
)
def test_the_door_check_can_see_a_door(call, tmp_path):
    module = tmp_path / "elsewhere.py"
    module.write_text(f"import psycopg, sqlalchemy\nconnection = {call}\n")
    assert opens_a_connection(module) == [2]


def test_no_exception_is_caught_wholesale_outside_main():
    caught = [
        f"{shown(path)}:{node.lineno}"
        for path in product_modules()
        if path.stem != "main"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in {"Exception", "BaseException"})
    ]
    assert not caught


def test_no_file_names_a_package_registry():
    here = Path(__file__)
    named = [
        shown(path)
        for path in tracked("*")
        if path != here and path.is_file() and REGISTRIES.search(path.read_text(errors="replace"))
    ]
    assert not named


def test_type_ignores_say_which_and_why():
    bare = [
        f"{shown(path)}:{number}"
        for path in product_modules()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if "type: ignore" in line and not re.search(r"type: ignore\[[a-z-]+\]\s+#\s*\S", line)
    ]
    assert not bare
