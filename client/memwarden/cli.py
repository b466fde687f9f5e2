"""The `memwarden` command: what it can be asked, and its exit codes (0 in order, 1 problems found, 2 wrong usage)."""

import json
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from memwarden import callers, checking, importing, outlines, planning, reports, testing, workspaces
from memwarden.files import Found, NothingToReadError, Source, find, read_source, read_sources
from memwarden_policy import effective as effects

PATH = click.Path(path_type=Path, allow_dash=True)
EXISTING = click.Path(path_type=Path, exists=True, dir_okay=False)
FILES = click.argument("files", nargs=-1, required=True, type=PATH)


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


@main.command()
@FILES
@click.option("--as", "who", required=True, help=f"Who is asked about: {callers.FORM}.")
@click.option("--on-behalf-of", help="The person an agent acts for.")
@click.option("--group", "groups", multiple=True, help="A group of a user or key; may be given several times.")
@click.option("-n", "--namespace", help="The workspace; without it, the account's own namespace, or `default`.")
@click.option("--domain", help="Show only the policies that can speak in this domain.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="How to report.")
def effective(files: tuple[Path, ...], **asked: Any) -> None:
    """Show what holds for one caller, by the resources in FILES: its rights, and the rules in the order they speak."""
    try:
        caller = callers.read(asked["who"], asked["on_behalf_of"], asked["groups"])
    except callers.UnknownCallerError as error:
        raise click.UsageError(str(error)) from error
    workspace = asked["namespace"] or callers.home_of(caller) or checking.DEFAULT_NAMESPACE
    ruleset, faults = workspaces.ruled(workspaces.load(read_sources(_found(files)), workspace))
    shown = effects.explain(ruleset, caller, datetime.now(UTC), asked["domain"])
    click.echo(json.dumps(shown.as_json(), indent=2) if asked["output"] == "json" else outlines.effective(shown))
    _end(faults)


@main.command()
@click.option("-f", "--file", "files", multiple=True, required=True, type=PATH, help="The policies to apply.")
@click.option("--current", multiple=True, type=PATH, help="The resources in force: files or folders.")
@click.option("--against", type=EXISTING, help="An export of memories, one JSON object a line.")
@click.option("--url", help="The service to ask, instead of --against.")
@click.option("--token-file", type=EXISTING, help="The credential for --url.")
@click.option("--ca-file", type=EXISTING, help="The authorities that vouch for --url.")
@click.option("-n", "--namespace", default=checking.DEFAULT_NAMESPACE, show_default=True, help="The workspace.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="How to report.")
def plan(files: tuple[Path, ...], current: tuple[Path, ...], **asked: Any) -> None:
    """Show what policies would do to the memories that exist, before they are applied."""
    if (asked["against"] is None) == (asked["url"] is None) or (asked["url"] and not asked["token_file"]):
        raise click.UsageError("Give --against, or --url with --token-file")
    wanted = workspaces.load(read_sources(_found(files)), asked["namespace"])
    if asked["against"] is not None:
        held = workspaces.load(read_sources(_found(current)), asked["namespace"])
        planned = planning.offline(held, wanted, asked["against"])
    else:
        token = asked["token_file"].read_text(encoding="utf-8").strip()
        try:
            impact = planning.online(wanted, asked["url"], token, asked["ca_file"])
        except planning.PlanFailedError as error:
            raise click.ClickException(str(error)) from error
        planned = planning.Planned(impact=impact, faults=wanted.faults)
    if planned.impact:
        is_json = asked["output"] == "json"
        click.echo(json.dumps(planned.impact, indent=2) if is_json else outlines.impact(planned.impact))
    _end(planned.faults)


@main.command(name="import")
@click.argument("table", type=PATH)
@click.option("--map", "places", multiple=True, help="An organisation and its namespace, as ORG=NAMESPACE.")
def import_(table: Path, places: tuple[str, ...]) -> None:
    """Turn the rows of TABLE (JSON, YAML or CSV) into MemoryPolicies, on standard output.

    What a policy cannot say is told for each row; the rest is written all the same.
    """
    mapped = dict(place.split("=", 1) for place in places if "=" in place)
    if len(mapped) != len(places):
        raise click.UsageError("--map takes ORG=NAMESPACE")
    imported = importing.read(_table(table), mapped)
    click.echo(imported.text, nl=False)
    _end(imported.faults)


def _table(path: Path) -> Source:
    if not path.is_file():
        raise click.UsageError(f"There is no file {path}")
    return read_source(path)


def _end(faults: tuple[str, ...]) -> None:
    """Tell what is wrong on standard error, and end with the code for it."""
    for fault in faults:
        click.echo(f"{click.style('error', fg='red')}: {fault}", err=True)
    sys.exit(1 if faults else 0)


def _found(files: tuple[Path, ...]) -> list[Found]:
    try:
        return find(files)
    except NothingToReadError as error:
        raise click.UsageError(str(error)) from error


if __name__ == "__main__":
    main()
