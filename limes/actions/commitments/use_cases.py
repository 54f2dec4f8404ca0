"""All use cases of commitments that the API offers."""

from dataclasses import dataclass

from limes.actions.change_log import ChangeLog
from limes.actions.commitments.auto_renew import RenewAutomatically
from limes.actions.commitments.create import CreateCommitment, DeleteCommitment
from limes.actions.commitments.ledger import Ledger
from limes.actions.commitments.preview import PreviewCommitment
from limes.actions.commitments.reading import ReadCommitments
from limes.actions.commitments.reshape import ReshapeCommitments
from limes.actions.commitments.transfer import TransferCommitment
from limes.actions.commitments.utilisation import MeasureUtilisation
from limes.core.catalog import Catalog
from limes.core.commitments.rules import CommitmentRules
from limes.db.engine import Engine
from limes.system import Clock, IdSource


@dataclass(frozen=True, slots=True)
class CommitmentUseCases:
    """A field for each class of use cases."""

    create: CreateCommitment
    transfer: TransferCommitment
    delete: DeleteCommitment
    read: ReadCommitments
    reshape: ReshapeCommitments
    preview: PreviewCommitment
    utilisation: MeasureUtilisation
    auto_renew: RenewAutomatically

    @classmethod
    def build(
        cls,
        engine: Engine,
        catalog: Catalog,
        clock: Clock,
        ids: IdSource,
        rules: CommitmentRules,
        change_log: ChangeLog,
    ) -> "CommitmentUseCases":
        """Returns all of them on one ledger."""
        ledger = Ledger(engine, catalog, clock, ids, change_log)
        return cls(
            create=CreateCommitment(ledger),
            transfer=TransferCommitment(ledger),
            delete=DeleteCommitment(ledger, rules.self_delete_grace),
            read=ReadCommitments(ledger, rules),
            reshape=ReshapeCommitments(ledger, rules),
            preview=PreviewCommitment(ledger),
            utilisation=MeasureUtilisation(ledger, rules.use_days),
            auto_renew=RenewAutomatically(ledger, rules),
        )
