// One request for more quota: what is asked for, the conversation, and what the reader may do with it.
import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import { ApiError } from "../api/client";
import { loadRequest, loadRequests, placeOf, type QuotaRequestWithConversation, type Step, take } from "../api/requests";
import type { Rights } from "../api/rights";
import { Content } from "../components/Content";
import { crumbsTo, Page } from "../components/Page";
import { useDraft } from "../lib/drafts";
import { useLoad } from "../lib/load";
import { nameOf } from "../lib/names";
import { notify } from "../lib/notices";
import { pagePath, type Place } from "../lib/paths";
import { inWords } from "../lib/submit";
import { formatTime } from "../lib/time";
import { readGrants } from "../requests/amounts";
import { loadRoom } from "../requests/bounds";
import { Conversation } from "../requests/Conversation";
import { Status } from "../requests/RequestTable";
import { Steps, type Verb } from "../requests/Steps";
import { useRecount } from "../requests/waiting";
import { listPath, requestPath } from "../requests/words";
import { Wanted } from "../requests/Wanted";
import { WhoDecides } from "../requests/WhoDecides";
import { useRights } from "../session/rights";
import { session } from "../session/store";

export default function RequestPage() {
  const { domain, project, id = "" } = useRoute().params as Place & { id?: string };
  const at = { domain, project };
  const request = useLoad((signal) => loadRequest(at, id, signal), [at, id]);
  const crumbs = [...crumbsTo(at, true), { title: "Requests for quota", href: listPath(at) }];
  return (
    <Page title={`Request ${id}`} kind={nameOf(project ?? domain ?? "")} crumbs={crumbs} actions={<button onClick={request.reload}>Reload</button>}>
      <Content of={request}>{(data) => <Request key={`${pagePath(at)} ${id}`} of={data} reload={request.reload} />}</Content>
    </Page>
  );
}

/** What the reader may do with it now. */
function verbsOf({ status, project, requester }: QuotaRequestWithConversation, rights: Rights | undefined): Verb[] {
  if (!rights) return [];
  const may = project ? rights.project : rights.domain;
  const isOpen = status === "open";
  const isProposed = status === "proposed";
  const isOwn = rights.project.propose_quota && requester.id === session.value?.user.id;
  const maySet = may.raise_quota || may.raise_lowpriv_quota || rights.project.limit_growth;
  const all: [Verb, boolean][] = [
    ["confirm", isProposed && may.request_quota],
    ["approve", isOpen && may.decide_requests && maySet],
    ["reject", (isOpen && may.decide_requests) || (isProposed && may.request_quota)],
    ["pass-on", isOpen && project !== undefined && may.decide_requests && rights.domain.request_quota],
    ["comments", may.request_quota || isOwn],
    ["withdraw", ((isOpen || isProposed) && may.request_quota) || (isProposed && isOwn)],
  ];
  return all.filter(([, isAllowed]) => isAllowed).map(([verb]) => verb);
}

const DONE: Record<Verb, string> = {
  confirm: "confirmed",
  approve: "approved",
  reject: "rejected",
  "pass-on": "passed on",
  withdraw: "withdrawn",
  comments: "answered",
};

function Request({ of, reload }: { of: QuotaRequestWithConversation; reload: () => void }) {
  const at = placeOf(of);
  const verbs = verbsOf(of, useRights(at));
  const recount = useRecount(at);
  const [chosen, choose] = useDraft<Verb | undefined>("verb", undefined, false);
  const [typed, setTyped] = useDraft<Readonly<Record<string, string>>>("grants", {});
  const [problem, setProblem] = useState("");
  const verb = verbs.find((one) => one === chosen) ?? verbs[0];
  const isApproving = verb === "approve";
  const room = useLoad((signal) => (isApproving ? loadRoom(of, signal) : Promise.resolve(undefined)), [at, of.id, of.conversation.length, isApproving]);
  const { lowered, problems } = readGrants(of.resources, typed);

  async function send(step: Step): Promise<boolean> {
    setProblem("");
    try {
      const { warnings = [] } = await take(at, of.id, step);
      if (step.verb !== "comments") setTyped({});
      notify([`Request ${of.id} was ${DONE[step.verb]}.`, ...warnings].join(" "), warnings.length > 0 ? "warning" : "good");
      return true;
    } catch (error) {
      setProblem(said(error as Error));
      return false;
    } finally {
      reload(); // also a decision by someone else in the meantime
      room.reload();
      recount();
    }
  }

  const grants = isApproving
    ? { typed, problems, room: room.data ?? new Map(), type: (key: string, text: string) => setTyped((before) => ({ ...before, [key]: text })) }
    : undefined;
  return (
    <>
      <Facts of={of} />
      <Wanted of={of} grants={grants} />
      <div role="alert">{problem && <p class="problem request-problem">{problem}</p>}</div>
      <h2>Conversation</h2>
      <Conversation of={of} />
      {verb && <Steps {...{ of, verbs, verb, choose, lowered }} hasProblems={problems.size > 0} take={send} />}
    </>
  );
}

/** A conflict is plain to see: the page shows what has become of the request, and this says what it was about. */
function said(error: Error): string {
  const isConflict = error instanceof ApiError && error.status === 409;
  return isConflict ? `Nothing was changed: ${error.message}` : inWords(error);
}

const WAITS_FOR: Partial<Record<QuotaRequestWithConversation["status"], string>> = {
  proposed: "Can be confirmed by",
  open: "Can be decided by",
};

function Facts({ of }: { of: QuotaRequestWithConversation }) {
  const { domain, project, requester, created_at: created, decided_at: decided, passed_on_from: below, passed_on_to: above } = of;
  return (
    <dl class="facts request-facts">
      <div>
        <dt>Status</dt>
        <dd>
          <Status of={of} />
        </dd>
      </div>
      <div>
        <dt>Quota of</dt>
        <dd>
          {project && (
            <>
              project <a href={pagePath({ domain: domain.id, project: project.id })}>{project.name}</a> in{" "}
            </>
          )}
          domain <a href={pagePath({ domain: domain.id })}>{domain.name}</a>
        </dd>
      </div>
      <div>
        <dt>Asked by</dt>
        <dd>
          {requester.name}, {formatTime(created)}
        </dd>
      </div>
      {WAITS_FOR[of.status] && (
        <div>
          <dt>{WAITS_FOR[of.status]}</dt>
          <dd>
            <WhoDecides at={placeOf(of)} id={of.id} version={of.conversation.length} />
          </dd>
        </div>
      )}
      {decided !== undefined && (
        <div>
          <dt>Closed</dt>
          <dd>{formatTime(decided)}</dd>
        </div>
      )}
      {above !== undefined && (
        <div>
          <dt>Passed on as</dt>
          <dd>
            <a href={listPath({ domain: domain.id }, `/${above}`)}>Request {above}</a> of the domain
          </dd>
        </div>
      )}
      {below !== undefined && (
        <div>
          <dt>Passed on from</dt>
          <dd>
            <Below domain={domain.id} id={below} />
          </dd>
        </div>
      )}
    </dl>
  );
}

/** The project's request that a domain's one was made for. Only the list says which project that is. */
function Below({ domain, id }: { domain: string; id: number }) {
  const found = useLoad((signal) => loadRequests({ domain }, { level: "project" }, 1, id + 1, signal), [domain, id]);
  const one = found.data?.quota_requests.find((each) => each.id === id);
  if (!one) return <>request {id}</>;
  return (
    <>
      <a href={requestPath(one)}>Request {id}</a> of {one.project?.name}
    </>
  );
}
