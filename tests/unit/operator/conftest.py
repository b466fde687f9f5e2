"""Values that the tests of this folder are made of."""

from datetime import UTC, datetime

import pytest

from memwarden_operator.answers import Answer, ObjectAnswer, Version, WorkspaceAnswer
from memwarden_operator.shapes import Allowed, Namespace, Picture, PolicyObject, Store, StoreKey
from memwarden_policy.digest import object_digest
from memwarden_policy.model import Problem, Resource, StoreDefaults

RULES = {"admission": [{"name": "r", "when": "candidate.confidence > 0.7", "action": "Accept"}]}
MAIN = StoreKey("system", "main")


class Make:
    """Makes objects, stores and answers; what a test does not say is ordinary."""

    now = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
    main = MAIN

    def object(self, name="p", namespace="team", kind="MemoryPolicy", *, status=None, generation=1, uid="", **spec):
        ref = {} if kind == "ClusterMemoryPolicy" else {"storeRef": {"namespace": "system", "name": "main"}}
        resource = Resource(
            kind=kind,
            namespace=namespace,
            name=name,
            uid=uid or f"uid-{name}",
            generation=generation,
            spec={**ref, **(spec or RULES)},
        )
        return PolicyObject(resource=resource, resource_version="1", status=status or {})

    def floor(self, name="f", **more):
        return self.object(name, "", "ClusterMemoryPolicy", **more)

    def store(self, namespace="system", name="main", source="All", **more):
        key = StoreKey(namespace, name)
        return Store(
            key=key,
            uid=f"uid-{name}",
            generation=1,
            resource_version="1",
            url="https://example.com",
            ca_bundle=None,
            allowed=Allowed(source=source, **more),
            defaults=StoreDefaults(namespace=namespace, name=name, uid=f"uid-{name}"),
            status={},
        )

    def namespace(self, name="team", **labels):
        return Namespace(name=name, uid=f"uid-{name}", labels=labels)

    def picture(self, *objects, stores=None, floor=(), namespaces=None):
        stores = [self.store()] if stores is None else stores
        namespaces = namespaces or [self.namespace()]
        by_name = {
            home.name: tuple(each for each in objects if each.resource.namespace == home.name) for home in namespaces
        }
        return Picture(
            stores={each.key: each for each in stores},
            floor=tuple(floor),
            namespaces={each.name: each for each in namespaces},
            objects=by_name,
        )

    def said(self, each, *, accepted=True, in_force="offered", problems=(), notes=()):
        resource = each.resource
        offered = Version(generation=resource.generation, digest=object_digest(resource))
        held = (
            Version(generation=offered.generation, digest=offered.digest, revision=4)
            if in_force == "offered"
            else in_force
        )
        return ObjectAnswer(
            key=resource.key,
            uid=resource.uid,
            accepted=accepted,
            offered=offered,
            in_force=held,
            problems=tuple(problems),
            notes=tuple(notes),
        )

    def answer(self, *said, uid="uid-team", drifted=False, store=None):
        seen = WorkspaceAnswer(name="team", uid=uid, revision=4, digest="sha256:x", drifted=drifted)
        return Answer(workspace=seen, objects={each.key: each for each in said}, store=store or self.store().defaults)

    def problem(self, path="spec.admission[0].when", reason="UnknownAttribute", message="unknown name"):
        return Problem(path=path, reason=reason, message=message)


@pytest.fixture
def make():
    return Make()
