"""The parts of a running service, in one value that the routes share."""

from dataclasses import dataclass

from starlette.requests import Request

from memwarden_service import care, sealed
from memwarden_service.authenticate import Authenticator
from memwarden_service.cluster import Cluster
from memwarden_service.database import Database
from memwarden_service.migrate import sqlalchemy_url
from memwarden_service.pages import Cursors
from memwarden_service.picture import Subject
from memwarden_service.settings import Settings
from memwarden_service.tokens import Tokens
from memwarden_service.write import Writing


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Everything a route needs."""

    settings: Settings
    database: Database
    authenticator: Authenticator
    writing: Writing

    def cursors(self, request: Request, subject: Subject, *of: object) -> Cursors:
        """Return the cursors of this route's list, for this caller and filter."""
        caller = subject.caller
        who = (subject.workspace, caller.actor, caller.principal or "", subject.on_behalf_of or "")
        return Cursors(hash_key=self.settings.hash_key, of=(request.url.path, *who, *(str(each) for each in of)))


def assemble(settings: Settings, cluster: Cluster) -> Service:
    """Put the parts together; opens no connection yet. Raises KeysError."""
    care.prepare()
    sealed.start(settings.sealing_keys)
    database = Database(sqlalchemy_url(settings.database_url))
    authenticator = Authenticator(settings=settings, database=database, tokens=Tokens(cluster))
    writing = Writing(authenticator=authenticator, database=database, hash_key=settings.hash_key)
    return Service(settings=settings, database=database, authenticator=authenticator, writing=writing)


def of(request: Request) -> Service:
    """Return the service that answers this request."""
    found: Service = request.app.state.service
    return found
