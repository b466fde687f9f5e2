"""The bounds of everything a policy author or a caller may hand in; the CRDs and the service repeat these numbers."""

# Objects and rules.
OBJECTS_PER_WORKSPACE_MAX = 2_000
RULES_PER_WORKSPACE_MAX = 10_000
RULES_PER_POLICY_MAX = 64
# In units of EXPRESSION_COST_MAX: what all conditions and globs of a workspace cost if one decision asks them all.
COST_PER_WORKSPACE_MAX = 10_000_000
PRIORITY_MIN = -1_000_000
PRIORITY_MAX = 1_000_000
NAME_MAX = 253
RULE_NAME_MAX = 63

# Selectors.
SELECTOR_DOMAINS_MAX = 64
SELECTOR_MEMORY_TYPES_MAX = 8
SELECTOR_CATEGORIES_MAX = 64
SELECTOR_ROLES_MAX = 64

# Expressions (`when`).
EXPRESSION_LENGTH_MAX = 2_048
EXPRESSION_DEPTH_MAX = 24
EXPRESSION_COMPREHENSIONS_MAX = 4
# One unit is one simple operation, about 20 ns: an expression takes a few milliseconds at worst, microseconds mostly.
EXPRESSION_COST_MAX = 100_000
# What a comprehension over `actor.roles` is reckoned to cost; a caller rarely holds more than a few.
ROLES_EXPECTED = 64

# The structured form (`where`).
WHERE_ATTRIBUTES_MAX = 16
WHERE_VALUES_MAX = 64
WHERE_WORDS_MAX = 8
WHERE_LONG_TEXTS_MAX = 16
WHERE_LONG_TEXT_MAX = 1_024
TIME_LENGTH_MAX = 64

# What rules say to people, and for how long they let something wait.
QUESTION_LENGTH_MAX = 256
MESSAGE_LENGTH_MAX = 256
QUESTIONS_PER_DECISION_MAX = 8
DURATION_LENGTH_MAX = 16
DURATION_DAYS_MAX = 3_660

# Retention.
RETENTION_RULES_MAX = 32

# Provenance and the source of truth.
SOURCES_MAX = 64
SOURCE_GLOB_LENGTH_MAX = 1_024
PROTECTIONS_MAX = 8
SOURCE_KINDS_MAX = 8
TRUTH_CATEGORIES_MAX = 64
DETECTIONS_MAX = 32

# Domains and their systems of record.
WEBHOOK_TIMEOUT_SECONDS_MAX = 10
RECORD_ROWS_MAX = 256
RECORD_VALUE_LENGTH_MAX = 1_024
RECORD_ANSWER_BYTES_MAX = 4_096

# Grants.
GRANT_SUBJECTS_MAX = 64
GRANT_DOMAINS_MAX = 64
GRANT_MAY_CLAIM_MAX = 8
GRANT_ON_BEHALF_OF_MAX = 64
GRANT_REASON_MAX = 1_024
ROLE_NAME_MAX = 63

# Stores.
ENDPOINT_URL_MAX = 512
CA_BUNDLE_MAX = 65_536
NAMESPACE_MAX = 63
NAMESPACE_LABELS_MAX = 32
NAMESPACE_LABEL_VALUES_MAX = 64
LABEL_KEY_MAX = 317
LABEL_VALUE_MAX = 63

# Candidates, in characters.
CONTENT_LENGTH_MAX = 16_384
DOMAIN_LENGTH_MAX = 253
TOPIC_LENGTH_MAX = 253
CATEGORY_LENGTH_MAX = 63
SOURCE_URI_LENGTH_MAX = 2_048
PERSON_LENGTH_MAX = 253
SUBJECT_LENGTH_MAX = 253
VALUE_LENGTH_MAX = 4_096
VALUE_DEPTH_MAX = 8
REASON_LENGTH_MAX = 1_024
TAGS_MAX = 16
TAG_LENGTH_MAX = 63

# What one decision records; more matching rules are counted in its reason.
OUTCOMES_PER_DECISION_MAX = 64

# Problems and notes reported on one object.
PROBLEMS_PER_OBJECT_MAX = 64
NOTES_PER_OBJECT_MAX = 16

# YAML text given to the command line, in characters, nested values and nodes after aliases are expanded.
TEXT_LENGTH_MAX = 16 * 1024 * 1024
TEXT_DEPTH_MAX = 64
TEXT_NODES_MAX = 2_000_000
