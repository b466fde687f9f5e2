"""Kubernetes and etcd binaries: found where envtest keeps them, else built once from Go modules and cached.

`go install` refuses modules with replace lines, as Kubernetes' has, so the module that is built here repeats them with
the published version of each staging module.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from local import folders

KUBERNETES = "v1.36.3"
ETCD = "v3.6.16"
CONTROL_PLANE = ("kube-apiserver", "etcd", "kubectl")
ABOUT_SECONDS = {"kube-apiserver": 200, "etcd": 35, "kubectl": 20}
VERSION_PACKAGE = "k8s.io/component-base/version"


class BuildError(RuntimeError):
    """A binary could not be had; the message says what to install or set."""


def control_plane() -> dict[str, Path]:
    """Return the paths of kube-apiserver, etcd and kubectl, building what is missing (minutes, once)."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and all((Path(assets) / name).exists() for name in CONTROL_PLANE):
        return {name: Path(assets) / name for name in CONTROL_PLANE}
    cached = {name: _cached(name) for name in CONTROL_PLANE}
    missing = [name for name, path in cached.items() if not path.exists()]
    if missing:
        _build(missing)
    return cached


def _cached(name: str) -> Path:
    return folders.cache() / "bin" / f"{name}-{ETCD if name == 'etcd' else KUBERNETES}"


def _build(names: Sequence[str]) -> None:
    if not shutil.which("go"):
        raise BuildError(
            f"{', '.join(names)} must be built and there is no Go. Install Go 1.26 or newer, or set "
            "KUBEBUILDER_ASSETS to a folder of envtest binaries, or name a cluster with --context"
        )
    _cached(names[0]).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        kubernetes = [name for name in names if name != "etcd"]
        if kubernetes:
            module = Path(work) / "kubernetes"
            _say("Resolving the Kubernetes modules")
            _kubernetes_module(module, kubernetes)
            for name in kubernetes:
                _compile(name, module, f"k8s.io/kubernetes/cmd/{name}", _version_flags())
        if "etcd" in names:
            module = Path(work) / "etcd"
            _module(module, f"require go.etcd.io/etcd/server/v3 {ETCD}\n", ["go.etcd.io/etcd/server/v3"])
            _compile("etcd", module, "go.etcd.io/etcd/server/v3", "")


def _compile(name: str, module: Path, package: str, flags: str) -> None:
    _say(f"Building {name} (about {ABOUT_SECONDS[name]} s on two cores, once)")
    target, started = _cached(name), time.monotonic()
    part = target.with_suffix(f".{os.getpid()}")
    _go(["build", "-trimpath", "-ldflags", f"-s -w {flags}", "-o", str(part), package], module)
    part.rename(target)
    _say(f"Built {name} in {time.monotonic() - started:.0f} s")


def _kubernetes_module(module: Path, names: Sequence[str]) -> None:
    answer = _go(["mod", "download", "-json", f"k8s.io/kubernetes@{KUBERNETES}"], None)
    text = Path(json.loads(answer)["GoMod"]).read_text()
    staged = re.findall(r"^\s*(k8s\.io/[a-z0-9.-]+) => \./staging/", text, re.MULTILINE)
    replaces = "".join(f"replace {name} => {name} v0.{KUBERNETES.removeprefix('v1.')}\n" for name in staged)
    requires = f"godebug default=go1.26\n\nrequire k8s.io/kubernetes {KUBERNETES}\n\n{replaces}"
    _module(module, requires, [f"k8s.io/kubernetes/cmd/{name}" for name in names])


def _module(folder: Path, requires: str, packages: Sequence[str]) -> None:
    folder.mkdir()
    (folder / "go.mod").write_text(f"module build\n\ngo 1.26.0\n\n{requires}")
    imports = "".join(f'import _ "{package}"\n' for package in packages)
    (folder / "tools.go").write_text(f"//go:build tools\n\npackage tools\n\n{imports}")
    # Tidy complains of imports that only tests have; the commands build all the same.
    subprocess.run(["go", "mod", "tidy"], cwd=folder, capture_output=True, check=False)


def _version_flags() -> str:
    minor = KUBERNETES.split(".")[1]
    values = {"gitVersion": KUBERNETES, "gitMajor": "1", "gitMinor": minor}
    return " ".join(f"-X {VERSION_PACKAGE}.{name}={value}" for name, value in values.items())


def _go(arguments: Sequence[str], folder: Path | None) -> str:
    env = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"}
    done = subprocess.run(["go", *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"go {arguments[0]} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
