"""The `memwarden` command: what it can be asked, and its exit codes (0 in order, 1 problems found, 2 wrong usage)."""

import sys
from importlib.metadata import version
from pathlib import Path

import click

from memwarden import checking, reports, testing
from memwarden.files import Found, NothingToReadError, find, read_sources

FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("memwarden"), prog_name="memwarden", message="%(prog)s %(version)s")
def main() -> None:
    """Judge and test memory policies before they reach a cluster."""


@main.command()
@FILES
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="How to report.")
def check(files: tuple[Path, ...], output: str) -> None:
    """Judge the Memwarden resources in FILES: YAML files, folders, or - for standard input.

    Resources of other groups and files of cases are skipped.
    """
    report = checking.check(read_sources(_found(files)))
    click.echo(reports.check_as_json(report) if output == "json" else reports.check_as_text(report))
    sys.exit(0 if report.is_in_order else 1)


@main.command()
@FILES
@click.option("-o", "--output", type=click.Choice(["text", "json", "junit"]), default="text", help="How to report.")
def test(files: tuple[Path, ...], output: str) -> None:
    """Run the cases in FILES: YAML files, folders, or - for standard input.

    A case says who proposes what, and what the policies must answer; docs/policies.md has the format.
    """
    report = testing.run(read_sources(_found(files)))
    render = {"text": reports.run_as_text, "json": reports.run_as_json, "junit": reports.run_as_junit}[output]
    click.echo(render(report))
    sys.exit(0 if report.is_in_order else 1)


def _found(files: tuple[Path, ...]) -> list[Found]:
    try:
        return find(files)
    except NothingToReadError as error:
        raise click.UsageError(str(error)) from error


if __name__ == "__main__":
    main()
