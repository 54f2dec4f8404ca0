"""Rules of automatic approval, from the configuration."""

import pytest
from pydantic import ValidationError

from limes.requests.settings import QuotaRequestSettings


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ([{"name": "a", "resource": ".*"}], "up_to or up_to_percent is needed"),
        ([{"name": "a", "resource": ".*", "up_to_percent": 100}], "greater than 100"),
        ([{"name": "a", "resource": ".*", "up_to": 1}] * 2, "name 'a' is given 2 times"),
        ([{"name": "a", "resource": ".*", "up_to": 1, "until": 1}], "until"),
    ],
)
def test_rules_that_are_refused(rules: list[dict[str, object]], text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        QuotaRequestSettings.model_validate({"auto_approval": rules})
    assert text in str(caught.value)
