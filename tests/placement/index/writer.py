"""Writes providers the way the API does, as far as the index can see: rows, and the transaction's stamp with them."""

from collections.abc import Mapping

from limes.db.engine import Engine
from limes.placement.models import Provider
from limes.placement.objects.change import STAMP, leave_tombstone, stamp_vocabulary, take_stamp

NOW = 1.7e9


class Writer:
    """Each method belongs into a transaction. Providers, classes and traits go by their names."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def name(self, kind: str, name: str) -> None:
        """Creates a resource class or trait."""
        self.engine.execute(f"INSERT INTO placement_{kind} (name, updated) VALUES (%s, %s)", [name, NOW])
        stamp_vocabulary(self.engine, kind)

    def rename_class(self, name: str, new_name: str) -> None:
        self.engine.execute("UPDATE placement_resource_classes SET name = %s WHERE name = %s", [new_name, name])
        stamp_vocabulary(self.engine, "resource_classes")

    def remove_trait(self, name: str) -> None:
        self.engine.execute("DELETE FROM placement_traits WHERE name = %s", [name])
        stamp_vocabulary(self.engine, "traits")

    def provider(self, name: str, parent: str | None = None) -> None:
        parent_id = self.id(parent) if parent else None
        roots = self.engine.rows("SELECT root_id FROM placement_providers WHERE id = %s", [parent_id])
        take_stamp(self.engine)
        self.engine.write(
            Provider.insert(
                uuid=f"uuid-{name}",
                name=name,
                parent=parent_id,
                root=roots[0][0] if roots else 0,
                updated=NOW,
                changed=STAMP,
            )
        )
        if not roots:
            self.engine.execute("UPDATE placement_providers SET root_id = id WHERE name = %s", [name])

    def id(self, name: str) -> int:
        ((id_,),) = self.engine.rows("SELECT id FROM placement_providers WHERE name = %s", [name])
        return int(id_)

    def touch(self, name: str) -> int:
        take_stamp(self.engine)
        self.engine.write(
            Provider.update(changed=STAMP, generation=Provider.generation + 1).where(Provider.name == name)
        )
        return self.id(name)

    def _class(self, name: str) -> int:
        ((id_,),) = self.engine.rows("SELECT id FROM placement_resource_classes WHERE name = %s", [name])
        return int(id_)

    def inventory(self, name: str, totals: Mapping[str, int]) -> None:
        key = self.touch(name)
        for class_name, total in totals.items():
            self.engine.execute(
                "INSERT INTO placement_inventories (provider_id, class_id, total, reserved, min_unit, max_unit, "
                "step_size, allocation_ratio, updated) VALUES (%s, %s, %s, 0, 1, %s, 1, 1.0, %s) "
                "ON CONFLICT (provider_id, class_id) DO UPDATE SET total = EXCLUDED.total",
                [key, self._class(class_name), total, total, NOW],
            )

    def trait(self, name: str, *traits: str) -> None:
        key = self.touch(name)
        for trait in traits:
            self.engine.execute(
                "INSERT INTO placement_provider_traits (provider_id, trait_id) "
                "SELECT %s, id FROM placement_traits WHERE name = %s",
                [key, trait],
            )

    def aggregate(self, name: str, *uuids: str) -> None:
        key = self.touch(name)
        for uuid in uuids:
            self.engine.execute(
                "INSERT INTO placement_provider_aggregates (provider_id, aggregate_uuid) VALUES (%s, %s)", [key, uuid]
            )

    def use(self, name: str, class_name: str, used: int, consumer: str) -> None:
        key = self.touch(name)
        self.engine.execute(
            "INSERT INTO placement_consumers (uuid, generation, project_id, user_id, updated) "
            "VALUES (%s, 1, 'p', 'u', %s) ON CONFLICT (uuid) DO NOTHING",
            [consumer, NOW],
        )
        self.engine.execute(
            "INSERT INTO placement_allocations (consumer_id, provider_id, class_id, used, updated) "
            "SELECT id, %s, %s, %s, %s FROM placement_consumers WHERE uuid = %s",
            [key, self._class(class_name), used, NOW, consumer],
        )

    def move(self, name: str, parent: str) -> None:
        """Puts a root without children below another root."""
        self.touch(name)
        self.engine.execute(
            "UPDATE placement_providers SET parent_id = %s, root_id = %s WHERE name = %s",
            [self.id(parent), self.id(parent), name],
        )

    def remove(self, name: str) -> None:
        key = self.id(name)
        leave_tombstone(self.engine, key, NOW)
        self.engine.execute("DELETE FROM placement_providers WHERE id = %s", [key])
