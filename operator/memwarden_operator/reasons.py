"""The reasons that conditions give: a closed set, described in docs/conditions.md."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a condition holds or does not, in one word for machines."""

    IN_FORCE = "InForce"
    ACCEPTED = "Accepted"
    AUDITED = "Audited"
    INACTIVE = "Inactive"
    NOT_YET_VALID = "NotYetValid"
    EXPIRED = "Expired"
    NO_WORKSPACES = "NoWorkspaces"
    NOT_ACCEPTED = "NotAccepted"
    LAST_GOOD_IN_FORCE = "LastGoodInForce"
    LAST_GOOD_LOST = "LastGoodLost"
    NOT_ENFORCED = "NotEnforced"
    NOT_IN_FORCE_EVERYWHERE = "NotInForceEverywhere"
    STORE_NOT_FOUND = "StoreNotFound"
    STORE_AMBIGUOUS = "StoreAmbiguous"
    STORE_NOT_ALLOWED = "StoreNotAllowed"
    TOO_MANY_OBJECTS = "TooManyObjects"
    SERVICE_UNAVAILABLE = "ServiceUnavailable"
    SERVICE_REFUSED = "ServiceRefused"
    FENCED_OUT = "FencedOut"
    SERVICE_READY = "ServiceReady"
    DRIFT_MENDED = "DriftMended"
