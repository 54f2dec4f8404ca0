// All quotas of a domain or project, to be set together.
import { useRoute } from "preact-iso";
import { crumbsTo, Page } from "../components/Page";
import { nameOf } from "../lib/names";
import { pagePath, type Place } from "../lib/paths";
import { WhoDecides } from "../requests/WhoDecides";
import { newRequestPath } from "../requests/words";
import { useAskingHelps, useMayOnlyAsk, useMaySetQuota, useRights } from "../session/rights";
import { QuotaForm } from "../quota/QuotaForm";

export default function QuotaPage() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const rights = useRights(at);
  const maySetQuota = useMaySetQuota(at);
  const askingHelps = useAskingHelps(at);
  const request = useMayOnlyAsk(at) && (
    <a class="button" href={newRequestPath(at, [])}>
      Request more
    </a>
  );
  return (
    <Page title="Set quota" kind={nameOf(project ?? domain ?? "")} crumbs={crumbsTo(at, true)} actions={request}>
      {maySetQuota && (
        <>
          <p class="lead">
            Write an amount such as <kbd>40</kbd>, <kbd>200 GiB</kbd> or <kbd>+10%</kbd>. What is typed is checked at once, and nothing
            changes until you save.
          </p>
          <QuotaForm place={at} saved={() => undefined} />
        </>
      )}
      {rights && !maySetQuota && (
        <p class="empty">
          Your role may look at these quotas, not change them. <a href={pagePath(at)}>Show them</a>
          {askingHelps && <> or <a href={newRequestPath(at, [])}>request more</a></>}. They are raised by <WhoDecides at={at} />.
        </p>
      )}
    </Page>
  );
}
