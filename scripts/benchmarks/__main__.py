"""Runs a benchmark by name and shows its figures beside their goals."""

import importlib
import json
import sys
from pathlib import Path

import click

from benchmarks import Figure

FOLDER = Path(__file__).parent


def names() -> dict[str, str]:
    """Return each benchmark with the first line of its module."""
    found = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
    return {name: _summary(name) for name in found}


def _summary(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text().split('"""')[1].strip().splitlines()[0]


def _shown(figure: Figure) -> str:
    sign = "<=" if figure["better"] == "lower" else ">="
    goal = figure["goal"]
    verdict = "" if goal is None else f"goal {sign} {goal:g}: {'met' if is_met(figure) else 'MISSED'}"
    return f"{figure['name']:<58} {figure['value']:>12.4g} {figure['unit']:<10} {verdict}"


def is_met(figure: Figure) -> bool:
    """Say whether a figure is as good as its goal; one without a goal always is."""
    goal = figure["goal"]
    if goal is None:
        return True
    return figure["value"] <= goal if figure["better"] == "lower" else figure["value"] >= goal


@click.command(help="Run the benchmark NAME, or list the benchmarks.")
@click.argument("name", required=False)
@click.option("--json", "target", type=click.Path(dir_okay=False, path_type=Path), help="write the figures to a file")
def main(name: str | None, target: Path | None) -> None:
    known = names()
    if name is None:
        for each, summary in known.items():
            click.echo(f"{each:<10} {summary}")
        return
    if name not in known:
        raise click.UsageError(f"There is no benchmark {name}; there are {', '.join(known)}")
    figures: list[Figure] = importlib.import_module(f"benchmarks.{name}").run()
    for figure in figures:
        click.echo(_shown(figure))
    if target:
        target.write_text(json.dumps({"bench": name, "figures": figures}, indent=2) + "\n")
    sys.exit(0 if all(is_met(figure) for figure in figures) else 1)


if __name__ == "__main__":
    main()
