"""What must hold of the schema and of the rows it shows; each check answers with what is wrong."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg

A, B = uuid.UUID(int=0xA), uuid.UUID(int=0xB)
OPEN_DOMAIN, CLOSED_DOMAIN = uuid.UUID(int=0xD1), uuid.UUID(int=0xD2)
EXEMPT_TABLES = {"alembic_version"}
EXEMPT_KEYS = {"workspace_pkey", "workspace_open_name", "fence_pkey"}
DEFINERS = {"mw_journal", "mw_registry", "mw_retention"}
RESTRICTED = {
    "memory": {"owner": "*", "domain_read": "r", "domain_insert": "a", "domain_delete": "d"},
    "memory_version": {"owner": "*", "domain_read": "r", "domain_insert": "a"},
    "feedback": {"owner": "*", "domain_read": "r", "domain_insert": "a"},
    "approval": {"review": "*"},
    "person_setting": {"own": "*"},
    "tombstone": {"owner": "*", "domain": "*"},
    "candidate": {"owner": "*", "review_read": "r", "review_delete": "d", "domain_insert": "a"},
    "decision": {"owner": "*", "domain_read": "r", "domain_insert": "a"},
    "intake": {"owner": "*", "domain_read": "r", "domain_insert": "a", "review_delete": "d"},
    "ruleset": {"operator_inserts": "a", "operator_updates": "w"},
    "policy_object": {"operator_inserts": "a", "operator_updates": "w", "operator_deletes": "d"},
}
PRIVILEGES = {
    "workspace": "SELECT",
    "ruleset": "INSERT SELECT UPDATE",
    "person_setting": "INSERT SELECT UPDATE",
    "policy_object": "DELETE INSERT SELECT UPDATE",
    "domain": "INSERT SELECT",
    "decision": "INSERT SELECT",
    "memory": "DELETE INSERT SELECT",
    "memory_version": "INSERT SELECT",
    "feedback": "INSERT SELECT",
    "approval": "INSERT SELECT",
    "tombstone": "DELETE INSERT SELECT",
    "candidate": "DELETE INSERT SELECT",
    "intake": "DELETE INSERT SELECT",
    "journal": "SELECT",
    "journal_head": "SELECT",
    "api_key": "DELETE INSERT SELECT",
    "idempotency": "DELETE INSERT SELECT",
    "alembic_version": "SELECT",
}


def catalogue(admin: psycopg.Connection) -> list[str]:
    """Read the catalogue and say what breaks the rules."""
    return [*_row_security(admin), *_policies(admin), *_keys(admin), *_functions(admin), *_roles(admin)]


def _rows(connection: psycopg.Connection, query: str, *values) -> list[tuple]:
    return connection.execute(query, values).fetchall()


def _row_security(admin) -> Iterator[str]:
    query = """select c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relkind, c.reloptions,
        c.relowner::regrole::text
      from pg_class c where c.relnamespace = 'memwarden'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')"""
    for name, enabled, forced, kind, options, owner in _rows(admin, query):
        if name in EXEMPT_TABLES:
            continue
        if kind != "r":
            yield f"{name} is no plain table: {kind} {options}"
        if not (enabled and forced):
            yield f"{name} has no forced row-level security"
        if owner != "mw_owner":
            yield f"{name} belongs to {owner}"


def _policies(admin) -> Iterator[str]:
    query = """select c.relname, p.polname, p.polcmd::text, p.polpermissive, p.polroles::regrole[]::text[],
        pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)
      from pg_policy p join pg_class c on c.oid = p.polrelid where c.relnamespace = 'memwarden'::regnamespace"""
    policies = _rows(admin, query)
    tables = {name for (name,) in _rows(admin, "select tablename from pg_tables where schemaname = 'memwarden'")}
    for table in sorted(tables - EXEMPT_TABLES - {"fence"}):
        column = "id" if table == "workspace" else "workspace_id"
        wanted = f"({column} = ( SELECT memwarden.current_workspace() AS current_workspace))"
        tenant = [row for row in policies if row[:2] == (table, "tenant")]
        if [row[2:] for row in tenant] != [("*", True, ["-"], wanted, wanted)]:
            yield f"{table} has no tenant policy that reads and checks: {tenant}"
    for policy in policies:
        yield from _policy(*policy)
    found = {(table, name) for table, name, _, permissive, *_ in policies if not permissive}
    for table, wanted_names in RESTRICTED.items():
        yield from (f"{table}.{name} is missing" for name in wanted_names if (table, name) not in found)


def _policy(table, name, command, permissive, roles, qual, check) -> Iterator[str]:
    if name != "tenant" and permissive and roles not in (["mw_registry"], ["mw_retention"]):
        yield f"{table}.{name} opens more than the tenant's rows"
    if not permissive and RESTRICTED.get(table, {}).get(name) != command:
        yield f"{table}.{name} is not expected"
    if not permissive and "true" in (qual, check):
        yield f"{table}.{name} restricts nothing"
    if command == "*" and (qual is None or check is None):
        yield f"{table}.{name} does not check what is written"


def _keys(admin) -> Iterator[str]:
    query = """select i.indexrelid::regclass::text, t.relname, (select a.attname from pg_attribute a
        where a.attrelid = i.indrelid and a.attnum = i.indkey[0])
      from pg_index i join pg_class t on t.oid = i.indrelid
      where t.relnamespace = 'memwarden'::regnamespace and i.indisunique"""
    for index, table, first in _rows(admin, query):
        if (
            index.removeprefix("memwarden.") not in EXEMPT_KEYS
            and table not in EXEMPT_TABLES
            and first != "workspace_id"
        ):
            yield f"{index} does not begin with workspace_id"
    query = """select conrelid::regclass::text, conname, (select a.attname from pg_attribute a
        where a.attrelid = c.conrelid and a.attnum = c.conkey[1])
      from pg_constraint c where connamespace = 'memwarden'::regnamespace and contype = 'f'"""
    for table, name, first in _rows(admin, query):
        if first != "workspace_id":
            yield f"{table}.{name} does not begin with workspace_id"
    for (name,) in _rows(
        admin, "select typname from pg_type where typnamespace = 'memwarden'::regnamespace and typtype = 'e'"
    ):
        yield f"{name} is an enum: its equality is not leakproof"


def _functions(admin) -> Iterator[str]:
    query = """select p.proname, p.prosecdef, p.proowner::regrole::text, coalesce(p.proconfig, '{}'),
        exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)
      from pg_proc p where p.pronamespace = 'memwarden'::regnamespace"""
    for name, is_definer, owner, config, is_public in _rows(admin, query):
        if is_public:
            yield f"{name}() is open to every role"
        if is_definer and not any(each.startswith("search_path=pg_catalog, pg_temp") for each in config):
            yield f"{name}() runs as {owner} without a fixed search path"
        if is_definer and owner not in DEFINERS:
            yield f"{name}() runs as {owner}"


def _roles(admin) -> Iterator[str]:
    query = """select rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb
      from pg_roles where rolname ~ '^mw_'"""
    roles = {row[0]: row[1:] for row in _rows(admin, query)}
    for name in ("mw_owner", "mw_journal", "mw_registry", "mw_retention"):
        if any(roles[name]):
            yield f"{name} may log in, or more"
    if roles["mw_app"] != (True, False, False, False, False):
        yield f"mw_app is {roles['mw_app']}"
    yield from (
        f"mw_app is a member of {name}"
        for (name,) in _rows(
            admin, "select roleid::regrole::text from pg_auth_members where member = 'mw_app'::regrole"
        )
    )
    owned = _rows(admin, "select relname from pg_class where relowner = 'mw_app'::regrole")
    yield from (f"mw_app owns {name}" for (name,) in owned)
    query = """select c.relname, string_agg(a.privilege_type, ' ' order by a.privilege_type) from pg_class c,
        aclexplode(c.relacl) a where c.relnamespace = 'memwarden'::regnamespace and c.relkind = 'r'
        and a.grantee in ('mw_app'::regrole, 0) group by 1"""
    granted = dict(_rows(admin, query))
    if granted != PRIVILEGES:
        yield f"mw_app holds {set(granted.items()) ^ set(PRIVILEGES.items())}"
    if _rows(admin, "select 1 where has_schema_privilege('mw_app', 'memwarden', 'create')"):
        yield "mw_app may create in the schema"


SEED = (Path(__file__).parent / "seed.sql").read_text()
TABLES = sorted(set(PRIVILEGES) - EXEMPT_TABLES)
STATED = """workspace_id, id, domain_id, owner, topic, memory_type, category, content, source, confidence, is_sensitive,
  tags, observed_at, proposed_by, proposed_by_person, proposed_at, decision_id, version"""
TEXT = """{w}, gen_random_uuid(), {d}, {o}, '', 'semantic', '', 'text', 'imported', 0.5, false, '{{}}', now(), 'x',
  false, now(), gen_random_uuid(), 1"""
INSERTS = {
    "memory": f"insert into memwarden.memory ({STATED}, in_force_from) select {TEXT}, now()",
    "memory_version": f"""insert into memwarden.memory_version ({STATED}, in_force_from, subject, reason, status, since,
      ended_as, ended_at, ended_by) select {TEXT}, now(), '', '', 'confirmed', now(), 'revoked', now(), 'x'""",
    "candidate": f"insert into memwarden.candidate ({STATED}, state) select {TEXT}, 'pending'",
    "decision": """insert into memwarden.decision
      select {w}, gen_random_uuid(), {d}, {o}, 'x', null, 'Accept', '[]', '', 1,
      sha256('x'), now()""",
    "intake": """insert into memwarden.intake
      select {w}, {d}, coalesce({o}, ''), 'content', sha256(random()::text::bytea),
      gen_random_uuid(), gen_random_uuid()""",
    "tombstone": """insert into memwarden.tombstone
      select {w}, {d}, coalesce({o}, ''), sha256(random()::text::bytea), gen_random_uuid(), 'x', now()""",
    "feedback": """insert into memwarden.feedback (workspace_id, memory_id, person, feedback_id, domain_id, owner, kind,
      request, actor, answer, at)
      select {w}, gen_random_uuid(), 'x', '1', {d}, {o}, 'confirm', sha256('x'), 'x', '{{}}', now()""",
}


def seed(admin: psycopg.Connection) -> None:
    """Put two workspaces with a row of each kind in place: two domains, and rows of nobody, of alice and of bob."""
    values = {"a": A, "b": B, "open": OPEN_DOMAIN, "closed": CLOSED_DOMAIN}
    psycopg.ClientCursor(admin).execute(SEED, values)
    admin.commit()


def behaviour(app: psycopg.Connection) -> list[str]:
    """Act as the application does and say what it can see or do that it should not, or cannot that it should."""
    return [
        *_nothing_without_context(app),
        *_only_own_rows(app),
        *_reads(app),
        *_settings(app),
        *_reviews(app),
        *_writes(app),
        *_changes(app),
        *_rules(app),
    ]


class Settings(dict):
    """What `acting_as` tells the database."""

    def __init__(self, *, workspace=A, principal="", person="", readable="", writable="", administered="", operator=""):
        super().__init__({key: str(value) for key, value in locals().items() if key not in ("self", "__class__")})


def _in(app, settings: Settings, query: str) -> list[tuple] | str:
    """Run one statement in a transaction that is rolled back; returns its rows, or the SQLSTATE."""
    try:
        with app.transaction(force_rollback=True):
            for name, value in settings.items():
                app.execute("select set_config(%s, %s, true)", (f"memwarden.{name}", value))
            cursor = app.execute(query)
            return cursor.fetchall() if cursor.description else [(cursor.rowcount,)]
    except psycopg.Error as error:
        return error.sqlstate or "?"


def _array(*ids) -> str:
    return "{" + ",".join(str(each) for each in ids) + "}"


def _nothing_without_context(app) -> Iterator[str]:
    for table in TABLES:
        for settings in (
            Settings(workspace=""),
            Settings(workspace="", readable="all", writable="all", administered="all"),
        ):
            if (rows := _in(app, settings, f"select * from memwarden.{table}")) != []:
                yield f"{table} shows {len(rows)} rows to nobody"
        if not isinstance(_in(app, Settings(workspace="no-uuid"), f"select * from memwarden.{table}"), str):
            yield f"{table} takes a workspace that is none"


def _only_own_rows(app) -> Iterator[str]:
    everything = Settings(readable="all", writable="all", administered="all", person="alice", principal="alice")
    for table in TABLES:
        column = "id" if table == "workspace" else "workspace_id"
        rows = _in(app, everything, f"select distinct {column} from memwarden.{table}")
        if rows != [(A,)]:
            yield f"{table} shows {rows}"


def _reads(app) -> Iterator[str]:
    for table in ("memory", "memory_version", "feedback", "decision"):
        query = f"select count(*), count(distinct domain_id), array_agg(distinct owner) from memwarden.{table}"
        for settings, wanted in (
            (Settings(readable="all"), (2, 2, [None])),
            (Settings(readable=_array(OPEN_DOMAIN)), (1, 1, [None])),
            (Settings(readable=_array(OPEN_DOMAIN), principal="alice"), (2, 1, ["alice", None])),
            (Settings(readable="", principal="alice", writable="all"), (0, 0, None)),
        ):
            if _in(app, settings, query) != [wanted]:
                yield f"{table} shows {_in(app, settings, query)} instead of {wanted} to {dict(settings)}"


def _settings(app) -> Iterator[str]:
    found = _in(app, Settings(principal="alice"), "select person from memwarden.person_setting")
    if found != [("alice",)]:
        yield f"person_setting shows {found} to alice"


def _reviews(app) -> Iterator[str]:
    query = "select count(*), array_agg(distinct owner) from memwarden.candidate"
    for settings, wanted in (
        (Settings(readable="all", writable="all"), (0, None)),
        (Settings(readable="all", administered="all", person="alice", principal="alice"), (4, ["alice", None])),
        (Settings(administered=_array(OPEN_DOMAIN), person="carol", principal="carol"), (1, [None])),
        (Settings(readable="all", person="alice", principal="alice"), (2, ["alice"])),
        (Settings(readable="all", principal="alice"), (0, None)),
    ):
        if _in(app, settings, query) != [wanted]:
            yield f"candidate shows {_in(app, settings, query)} instead of {wanted} to {dict(settings)}"
        approvals = _in(app, settings, "select count(*) from memwarden.approval")
        if approvals != [(wanted[0],)]:
            yield f"approval shows {approvals} to {dict(settings)}"
        deleted = _in(app, settings, "delete from memwarden.candidate")
        if deleted != [(wanted[0],)]:
            yield f"candidate lets {dict(settings)} delete {deleted}"


def _writes(app) -> Iterator[str]:
    refused = "42501"
    may = Settings(readable=_array(OPEN_DOMAIN), writable=_array(OPEN_DOMAIN), principal="alice")
    for table, insert in INSERTS.items():

        def tried(workspace, domain, owner, settings=may, insert=insert):
            return _in(app, settings, insert.format(w=f"'{workspace}'::uuid", d=f"'{domain}'::uuid", o=owner))

        # A foreign key that is not there (23503) means that row-level security let the row pass.
        if tried(A, OPEN_DOMAIN, "null") == refused:
            yield f"{table} refuses what is allowed"
        for case, answer in {
            "another workspace": tried(B, OPEN_DOMAIN, "null"),
            "a domain without the right": tried(A, CLOSED_DOMAIN, "null"),
            "another person's name": tried(A, OPEN_DOMAIN, "'bob'"),
            "a reader": tried(A, OPEN_DOMAIN, "null", Settings(readable="all")),
        }.items():
            if answer != refused:
                yield f"{table} takes a row of {case}: {answer}"
    if _in(app, Settings(), f"insert into memwarden.domain values ('{B}', gen_random_uuid(), 'x')") != refused:
        yield "domain takes a row of another workspace"


def _changes(app) -> Iterator[str]:
    reader = Settings(readable="all", principal="alice", person="alice")
    if _in(app, reader, "delete from memwarden.memory") != [(0,)]:
        yield "a reader may delete memories"
    if _in(app, Settings(readable="all"), "select count(*) from memwarden.tombstone") != [(0,)]:
        yield "a reader sees tombstones"


def _rules(app) -> Iterator[str]:
    for statement in (
        "insert into memwarden.ruleset (workspace_id, digest, store) values (gen_random_uuid(), '', '{}')",
        f"""insert into memwarden.policy_object (workspace_id, kind, namespace, name, uid, offered_uid,
          offered_generation, offered_digest, accepted)
          values ('{A}', 'MemoryPolicy', 'a', 'q', 'u', 'u', 1, 'd', false)""",
    ):
        if _in(app, Settings(), statement) != "42501":
            yield f"a caller who is not the operator may {statement[:40]}"
    for statement in ("update memwarden.ruleset set store = '{}'", "delete from memwarden.policy_object"):
        if _in(app, Settings(), statement) != [(0,)]:
            yield f"a caller who is not the operator may {statement}"
        if _in(app, Settings(operator="on"), statement) != [(1,)]:
            yield f"the operator's {statement} touches {_in(app, Settings(operator='on'), statement)}"
    for statement in (
        "update memwarden.memory set content = 'x'",
        "truncate memwarden.memory",
        "delete from memwarden.journal",
    ):
        if _in(app, Settings(readable="all", writable="all"), statement) != "42501":
            yield f"the application may {statement}"
