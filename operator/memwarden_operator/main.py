"""The command `memwarden-operator`."""

import asyncio
import sys
from pathlib import Path

import click
import uvloop

from memwarden_operator import logs
from memwarden_operator.run import run
from memwarden_operator.settings import Settings

EXIT_FAILED = 1


@click.group(context_settings={"auto_envvar_prefix": "MEMWARDEN_OPERATOR"})
@click.version_option(package_name="memwarden")
def main() -> None:
    """Bring MemoryPolicies and MemoryAccessGrants into force in the memory services that enforce them."""


@main.command("run")
@click.option("--kubeconfig", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="inside a pod: none")
@click.option("--namespace", required=True, help="the operator's own, for its Lease and its account")
@click.option("--account", default="memwarden-operator", show_default=True, help="the operator's own ServiceAccount")
@click.option("--metrics-port", default=9091, show_default=True, type=click.IntRange(1, 65535))
def run_command(kubeconfig: Path | None, namespace: str, account: str, metrics_port: int) -> None:
    """Run the operator until it is told to stop. Ends with 1 when it lost its Lease or failed."""
    logs.set_up()
    settings = Settings(kubeconfig=kubeconfig, namespace=namespace, account=account, metrics_port=metrics_port)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.exit(0 if runner.run(run(settings)) else EXIT_FAILED)
