// Asks for more quota of a domain or a project. The address says of what, where one comes from a refusal.
import { useLocation, useRoute } from "preact-iso";
import { loadReport } from "../api/report";
import { Content } from "../components/Content";
import { crumbsTo, Page } from "../components/Page";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { levelOf, type Place } from "../lib/paths";
import { AskForm } from "../requests/AskForm";
import { WhoDecides } from "../requests/WhoDecides";
import { listPath, readAsk } from "../requests/words";
import { useMayAsk, useOnlyProposes, useRights } from "../session/rights";

export default function NewRequest() {
  const { domain, project } = useRoute().params as Place;
  const { query } = useLocation();
  const at = { domain, project };
  const report = useLoad((signal) => loadReport(at, signal), [at]);
  const rights = useRights(at);
  const mayAsk = useMayAsk(at);
  const onlyProposes = useOnlyProposes(at);
  const crumbs = [...crumbsTo(at, true), { title: "Requests for quota", href: listPath(at) }];
  return (
    <Page title="Request more quota" kind={nameOf(project ?? domain ?? "")} crumbs={crumbs}>
      {mayAsk && (
        <>
          <p class="lead">
            Write the quota that you want to have, such as <kbd>60</kbd>, <kbd>200 GiB</kbd> or <kbd>+20</kbd>, and why.{" "}
            {onlyProposes
              ? "An admin of the project has to confirm your request; then those who decide see it."
              : "Those who decide see your request at once."}
          </p>
          <Content of={report}>{(data) => <AskForm report={data} asked={readAsk(query.ask)} />}</Content>
        </>
      )}
      {rights && !mayAsk && (
        <p class="empty">
          Your role may not ask for quota here. Admins of the {levelOf(at)} may; it is raised by <WhoDecides at={at} />.
        </p>
      )}
    </Page>
  );
}
