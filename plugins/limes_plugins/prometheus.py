"""The capacitor `prometheus`: capacity as the result of queries. docs/plugins/prometheus.md."""

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import requests
from pydantic import BeforeValidator, Field, SecretStr, model_validator

from limes import backends

Text = Annotated[str, Field(min_length=1)]


class ApiParams(backends.Params):
    """Where Prometheus (or what speaks as it does: Thanos, Mimir, VictoriaMetrics) is."""

    url: Text
    """As in a browser, without `/api/v1`."""
    ca_cert: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    """A client certificate; the key may be in the same file."""
    username: Text | None = None
    password: SecretStr | None = None
    token: SecretStr | None = None
    """A bearer token."""

    @model_validator(mode="after")
    def _complete(self) -> "ApiParams":
        if self.key is not None and self.cert is None:
            raise ValueError("a key goes with a cert only")
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password go together")
        if self.token is not None and self.username is not None:
            raise ValueError("give either a token or a username")
        return self


class QueryParams(backends.Params):
    """How much there is of one resource, in its unit; a mere string is the query."""

    query: Text
    usage_query: Text | None = None
    """How much of it is used, by whomever."""
    az_label: Text | None = None
    """The label that has the AZ. Without, a query gives one number, for AZ `any`."""


Query = Annotated[QueryParams, BeforeValidator(lambda value: {"query": value} if isinstance(value, str) else value)]


class PrometheusParams(backends.Params):
    """`queries`: service type -> resource -> query."""

    api: ApiParams
    queries: Annotated[dict[str, dict[backends.ResourceName, Query]], backends.NOT_EMPTY]


class PrometheusCapacity(backends.CapacityBackend):
    """One request for each query."""

    def __init__(self, params: PrometheusParams, context: backends.BackendContext) -> None:
        self._params, self._context = params, context
        self._url = f"{params.api.url.rstrip('/')}/api/v1/query"

    def report_capacity(self) -> backends.CapacityReport:
        """Returns the results of all queries. One without a result is an error: nothing is known then."""
        with self._session() as session:
            services = {
                service: {resource: self._capacity(session, query) for resource, query in resources.items()}
                for service, resources in self._params.queries.items()
            }
        return backends.CapacityReport(services)

    def resources(self) -> Collection[backends.Ref]:
        return [(service, name) for service, queries in self._params.queries.items() for name in queries]

    def _capacity(self, session: requests.Session, params: QueryParams) -> Mapping[str, backends.AZCapacity]:
        capacity = self._ask(session, params.query, params.az_label)
        usage: Mapping[str, int] = {}
        if params.usage_query is not None:
            usage = self._ask(session, params.usage_query, params.az_label)
        return {az: backends.AZCapacity(amount, usage.get(az)) for az, amount in capacity.items()}

    def _ask(self, session: requests.Session, query: str, az_label: str | None) -> dict[str, int]:
        """Returns amounts by AZ, rounded down."""
        answer = session.post(self._url, data={"query": query}, timeout=self._context.timeout)
        try:
            document = answer.json()
        except ValueError as error:
            raise backends.BackendError(
                f"Prometheus answered {query!r} with {answer.status_code}, and no JSON"
            ) from error
        if not isinstance(document, dict) or document.get("status") != "success":
            message = document.get("error") if isinstance(document, dict) else document
            raise backends.BackendError(f"Prometheus answered {query!r} with {answer.status_code}: {message}")
        amounts: dict[str, int] = {}
        for labels, value in _series(document.get("data"), query):
            az = backends.ANY_AZ if az_label is None else labels.get(az_label)
            if not az:
                raise backends.BackendError(f"{query!r}: a series of the result has no label {az_label!r}: {labels}")
            if az in amounts:
                hint = "sum it up, or set az_label" if az_label is None else f"sum it up by {az_label!r}"
                raise backends.BackendError(f"{query!r}: the result has more than one series for AZ {az!r}; {hint}")
            amounts[az] = _amount(value, query)
        if not amounts:
            raise backends.BackendError(f"{query!r}: the result is empty")
        return amounts

    def _session(self) -> requests.Session:
        api, session = self._params.api, self._context.plain_session()
        session.trust_env = False
        if api.ca_cert is not None:
            session.verify = str(api.ca_cert)
        if api.cert is not None:
            session.cert = (str(api.cert), str(api.key)) if api.key else str(api.cert)
        if api.username is not None and api.password is not None:
            session.auth = (api.username, api.password.get_secret_value())
        if api.token is not None:
            session.headers["Authorization"] = f"Bearer {api.token.get_secret_value()}"
        return session


def _series(data: Any, query: str) -> list[tuple[Mapping[str, str], Any]]:
    """Returns labels and value of each series of an instant vector, or of a scalar."""
    try:
        if data["resultType"] == "scalar":
            return [({}, data["result"][1])]
        if data["resultType"] == "vector":
            return [(series["metric"], series["value"][1]) for series in data["result"]]
    except (LookupError, TypeError) as error:
        raise backends.BackendError(f"{query!r}: Prometheus's answer has an unknown form") from error
    raise backends.BackendError(f"{query!r}: the result is a {data['resultType']}, expected one value for each series")


def _amount(value: Any, query: str) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise backends.BackendError(f"{query!r}: the result {value!r} is no number") from error
    if not math.isfinite(number) or number < 0:
        raise backends.BackendError(f"{query!r}: the result is {value}, expected a number from 0")
    return math.floor(number)


plugin = backends.Plugin(
    "Capacity as the result of Prometheus queries.", capacity=backends.Offer(PrometheusParams, PrometheusCapacity)
)
