"""The job that has quota computed anew when the file of overrides has changed."""

from dataclasses import dataclass

from limes.actions.follow_overrides import FollowOverrides


@dataclass(frozen=True, slots=True)
class OverridesJob:
    """Looks at this machine's file. Each collector does, so that none works with an old one."""

    action: FollowOverrides
    name: str = "quota-overrides"
    workers: int = 1

    def step(self) -> bool:
        """Looks whether the overrides have changed. Returns whether they have."""
        return self.action.run()

    def close(self) -> None:
        """Nothing to give back."""
