// Requests for more quota: of the cloud, of a domain with its projects, or of a project.
import { useRoute } from "preact-iso";
import { Failure, Skeleton } from "../components/Content";
import { crumbsTo, Page } from "../components/Page";
import { Select } from "../components/Select";
import { useChoice } from "../lib/address";
import { nameOf } from "../lib/names";
import type { Place } from "../lib/paths";
import { counted } from "../lib/words";
import { useRequests } from "../requests/list";
import { RequestTable } from "../requests/RequestTable";
import { listsOf } from "../requests/shown";
import { useMayDecide, useWaiting } from "../requests/waiting";
import { WhoAsks } from "../requests/WhoAsks";
import { listPath, newRequestPath } from "../requests/words";
import { useMayAsk, useRights } from "../session/rights";

export default function Requests() {
  const { domain, project } = useRoute().params as Place;
  const at = { domain, project };
  const rights = useRights(at);
  const lists = listsOf(at, useMayDecide(at));
  const [choice, choose] = useChoice("show", "");
  const key = choice in lists ? choice : project ? "all" : Object.keys(lists)[0]!;
  const shown = lists[key]!;
  const list = useRequests(at, rights ? shown.query : undefined);
  const id = project ?? domain;
  const mayAsk = useMayAsk(at);
  const waiting = useWaiting(at);
  return (
    <Page
      title="Requests for quota"
      kind={id && nameOf(id)}
      crumbs={crumbsTo(at, true)}
      actions={
        <>
          <button onClick={list.reload}>Reload</button>
          {mayAsk && (
            <a class="button primary" href={newRequestPath(at, [])}>
              Request more
            </a>
          )}
        </>
      }
    >
      <WhoAsks at={at} />
      {project && waiting > 0 && key !== "waiting" && (
        <p class="lead">
          <a href={listPath(at, "?show=waiting")}>
            {counted(waiting, "request")} of members {waiting === 1 ? "waits" : "wait"} for you to confirm
          </a>
        </p>
      )}
      <div class="tools">
        <Select label="Show" value={key} options={Object.entries(lists).map(([value, { title }]) => ({ value, title }))} choose={choose} />
        <p class="muted" role="status">
          {list.rows && (list.hasMore ? `${list.rows.length.toLocaleString("en")} of ${counted(list.total, "request")}` : counted(list.total, "request"))}
        </p>
      </div>
      {list.error ? (
        <Failure error={list.error} retry={list.reload} />
      ) : !list.rows ? (
        <Skeleton />
      ) : list.rows.length === 0 ? (
        <p class="empty">{shown.nothing}</p>
      ) : (
        <RequestTable at={at} rows={list.rows} isComplete={!list.hasMore} />
      )}
      {list.hasMore && (
        <p class="more-rows">
          <button disabled={list.isLoading} onClick={list.loadMore}>
            {list.isLoading ? "Loading…" : "Show older requests"}
          </button>
        </p>
      )}
    </Page>
  );
}
