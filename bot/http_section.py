"""The section of `sayso.yml` that says where the requests of runbooks may go."""

from pydantic import field_validator

from bot.sections import Names, Section
from core.addresses import Reach, reach
from core.hosts import Allowed, each


class HttpSection(Section):
    """Where requests may go; without a line nothing is sent anywhere."""

    hosts: Names = ()
    """As `HOST` or `HOST:PORT`; without a port it is that of http and of https. Public addresses only."""
    private: Names = ()
    """The same, for hosts in a network of your own or on this machine."""

    @field_validator("hosts")
    @classmethod
    def _are_public(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for host in each(hosts):
            if host.address and reach(host.address) is not Reach.PUBLIC:
                raise ValueError(f"{host.name} is no public address; list it under `private`")
        return hosts

    @field_validator("private")
    @classmethod
    def _are_hosts(cls, private: tuple[str, ...]) -> tuple[str, ...]:
        each(private)
        return private

    @property
    def allowed(self) -> Allowed:
        """Return both lists, ready to be asked."""
        return Allowed(public=each(self.hosts), private=each(self.private))
