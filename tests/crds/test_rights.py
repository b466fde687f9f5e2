"""Who may apply what: the roles that are aggregated, and the admission policy on grants that reach far."""

import subprocess

import pytest
import yaml

from staging.stage import grant, policy, rule

# The controller manager fills aggregated roles elsewhere; here users are bound to the parts.
PARTS = {"viewer": ["viewer"], "editor": ["viewer", "editor"], "admin": ["viewer", "editor", "admin"]}
FAR = {
    "access Admin": {"access": "Admin", "domains": ["**"]},
    "acting for people": {"onBehalfOf": ["*"]},
    "claiming what users stated": {"mayClaim": ["user_stated"]},
    "a role": {"role": "lead"},
}
NEAR = {
    "access Write": {"access": "Write", "domains": ["**"]},
    "claiming imports": {"mayClaim": ["imported"]},
}


def binding(person, part):
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": f"{person}-{part}", "namespace": "team"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": f"memwarden-{part}"},
        "subjects": [{"kind": "User", "name": person, "apiGroup": group}],
    }


@pytest.fixture(scope="module")
def team(api):
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    bindings = [binding(person, part) for person, parts in PARTS.items() for part in parts]
    api.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all([home, *bindings]))
    return api


def applied(api, person, document, *more):
    return api.kubectl("apply", "--server-side", "-f", "-", f"--as={person}", *more, stdin=yaml.safe_dump(document))


@pytest.mark.parametrize("what", FAR)
def test_an_editor_may_not_grant_what_reaches_far_and_learns_whom_to_ask(team, what):
    document = grant("far", "team", **FAR[what])
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        applied(team, "editor", document)
    verb = "bind" if what == "a role" else "escalate"
    assert f"the verb {verb} on memoryaccessgrants in the namespace team" in refusal.value.stderr
    assert "which editor does not have; ask an administrator of the namespace" in refusal.value.stderr
    applied(team, "admin", document, "--dry-run=server")


@pytest.mark.parametrize("what", NEAR)
def test_an_editor_may_grant_the_ordinary(team, what):
    applied(team, "editor", grant("near", "team", **NEAR[what]), "--dry-run=server")


def test_an_editor_may_label_a_far_reaching_grant_and_not_widen_it(team):
    document = grant("labelled", "team", **FAR["access Admin"])
    applied(team, "admin", document)
    team.kubectl("label", "mgrant", "labelled", "-n", "team", "colour=red", "--as=editor")
    widened = '{"spec": {"subjects": [{"kind": "User", "name": "mallory"}]}}'
    with pytest.raises(subprocess.CalledProcessError):
        team.kubectl("patch", "mgrant", "labelled", "-n", "team", "--type=merge", "-p", widened, "--as=editor")


def test_an_editor_writes_policies_and_makes_no_store_and_a_viewer_looks(team):
    applied(team, "editor", policy("rules", "team", rule("r", "Reject")))
    team.kubectl("get", "mpol,mgrant,mstore", "-n", "team", "--as=viewer")
    for person, *question in (
        ("viewer", "create", "memorypolicies.memwarden.dev"),
        ("editor", "create", "memorystores.memwarden.dev"),
        ("editor", "patch", "memorypolicies.memwarden.dev", "--subresource=status"),
        ("admin", "create", "clustermemorypolicies.memwarden.dev"),
    ):
        with pytest.raises(subprocess.CalledProcessError):
            team.kubectl("auth", "can-i", *question, "-n", "team", f"--as={person}")


MAY = {
    "memwarden-operator": [
        ("patch", "memorypolicies.memwarden.dev", "--subresource=status", "-A"),
        ("watch", "memoryaccessgrants.memwarden.dev", "-A"),
        ("create", "events", "-A"),
        ("create", "serviceaccounts/memwarden-operator", "--subresource=token", "-n=memwarden-system"),
        ("update", "leases.coordination.k8s.io/memwarden-operator", "-n=memwarden-system"),
    ],
    "memwarden-service": [("create", "tokenreviews.authentication.k8s.io"), ("get", "/openid/v1/jwks")],
}
MAY_NOT = {
    "memwarden-operator": [
        ("patch", "memorypolicies.memwarden.dev", "-A"),
        ("get", "secrets", "-A"),
        ("create", "serviceaccounts/memwarden-service", "--subresource=token", "-n=memwarden-system"),
        ("create", "serviceaccounts/agent", "--subresource=token", "-n=team"),
        ("update", "leases.coordination.k8s.io/other", "-n=memwarden-system"),
        ("get", "pods", "-A"),
        ("delete", "events", "-A"),
    ],
    "memwarden-service": [
        ("get", "secrets", "-A"),
        ("list", "memorypolicies.memwarden.dev", "-A"),
        ("create", "events", "-A"),
    ],
}


@pytest.mark.parametrize(("account", "question"), [(name, each) for name, some in MAY.items() for each in some])
def test_an_account_may_do_what_it_needs(api, account, question):
    assert (
        api.kubectl("auth", "can-i", *question, f"--as=system:serviceaccount:memwarden-system:{account}").strip()
        == "yes"
    )


@pytest.mark.parametrize(("account", "question"), [(name, each) for name, some in MAY_NOT.items() for each in some])
def test_an_account_may_do_nothing_more(api, account, question):
    with pytest.raises(subprocess.CalledProcessError):
        api.kubectl("auth", "can-i", *question, f"--as=system:serviceaccount:memwarden-system:{account}")
