// The commitments of a project.
import { useRoute } from "preact-iso";
import { useEffect } from "preact/hooks";
import { useRights } from "../session/rights";
import { CommitmentList } from "../commitments/CommitmentList";
import { Dialogs } from "../commitments/Dialogs";
import { ZoneBars } from "../commitments/ZoneBars";
import { loadOverview, type Overview } from "../commitments/offers";
import { Content } from "../components/Content";
import { crumbsTo, Page } from "../components/Page";
import { useAddress } from "../lib/address";
import { useLoad } from "../lib/load";
import { nameOf, remember } from "../lib/names";
import type { Place } from "../lib/paths";

export default function Commitments() {
  const { domain, project = "" } = useRoute().params as Place;
  const at = { domain, project };
  const [, change] = useAddress();
  const overview = useLoad((signal) => loadOverview(at, signal), [at]);
  const rights = useRights(at)?.project;
  useEffect(() => {
    if (overview.data) remember([{ id: project, name: overview.data.name }]);
  }, [overview.data]);
  const actions = (
    <>
      {rights?.move_commitments && <button onClick={() => change({ do: "take" }, true)}>Accept transfer</button>}
      {rights?.buy_commitments && overview.data && overview.data.offers.length > 0 && (
        <button class="primary" onClick={() => change({ do: "buy" }, true)}>
          Buy
        </button>
      )}
    </>
  );

  function shown(data: Overview) {
    const buy = (of: string, az: string): void => change({ do: "buy", of, az }, true);
    return (
      <>
        {rights && !rights.buy_commitments && data.offers.length > 0 && <p class="lead">Your role may look at commitments here, not change them. Admins of the project may.</p>}
        {data.offers.length === 0 && <p class="lead">The cloud offers no commitments for this project's resources.</p>}
        <ZoneBars offers={data.offers} cloud={data.cloud} buy={rights?.buy_commitments ? (offer, zone) => buy(offer.key, zone) : undefined} />
        <CommitmentList commitments={data.commitments} mayEdit={rights?.change_commitments ?? false} />
        {rights && <Dialogs at={at} overview={data} rights={rights} reload={overview.reload} />}
      </>
    );
  }

  return (
    <Page title="Commitments" kind={nameOf(project)} crumbs={crumbsTo(at, true)} actions={actions}>
      <Content of={overview}>{shown}</Content>
    </Page>
  );
}
