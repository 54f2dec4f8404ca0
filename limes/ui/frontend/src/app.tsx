// Which page is at which address. Each is loaded when it is first needed.
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { exec } from "preact-iso/router";
import { useEffect } from "preact/hooks";
import { Shell } from "./layout/Shell";
import { lazily } from "./lib/lazily";
import { pagePath } from "./lib/paths";
import { NotFound } from "./pages/NotFound";
import { ScopePicker } from "./session/ScopePicker";
import { SignIn } from "./session/SignIn";
import { placeOf } from "./session/scope";
import { seesCloud, session } from "./session/store";

const Overview = lazily(() => import("./pages/Overview"));
const Domains = lazily(() => import("./pages/Domains"));
const Changes = lazily(() => import("./pages/Changes"));
const History = lazily(() => import("./pages/History"));
const Inconsistencies = lazily(() => import("./pages/Inconsistencies"));
const Projects = lazily(() => import("./pages/Projects"));
const QuotaPage = lazily(() => import("./pages/QuotaPage"));
const Commitments = lazily(() => import("./pages/Commitments"));
const CommitmentProjects = lazily(() => import("./pages/CommitmentProjects"));
const ScrapeErrors = lazily(() => import("./pages/ScrapeErrors"));
const Alerts = lazily(() => import("./pages/Alerts"));
const Backends = lazily(() => import("./pages/Backends"));
const Expiring = lazily(() => import("./pages/Expiring"));
const Fullest = lazily(() => import("./pages/Fullest"));
const Notifications = lazily(() => import("./pages/Notifications"));
const NewRequest = lazily(() => import("./pages/NewRequest"));
const RequestPage = lazily(() => import("./pages/RequestPage"));
const Requests = lazily(() => import("./pages/Requests"));
const Usage = lazily(() => import("./pages/Usage"));
const UsageReport = lazily(() => import("./pages/UsageReport"));
const Utilisation = lazily(() => import("./pages/Utilisation"));

const DOMAIN = "/ui/domains/:domain";
const PROJECT = `${DOMAIN}/projects/:project`;

function Home() {
  const { route } = useLocation();
  const scope = session.value?.scope;
  useEffect(() => {
    if (!scope || seesCloud.value === undefined) return;
    // this page stays while the code of the next one loads: who has gone on already is not taken back
    if (/^\/ui\/?$/.test(window.location.pathname)) route(pagePath(seesCloud.value ? {} : placeOf(scope)), true);
  }, [scope, seesCloud.value]);
  return null;
}

const routes = () => [
  <Route path="/ui" component={Home} />,
  <Route path="/ui/cloud" component={Overview} />,
  <Route path="/ui/domains" component={Domains} />,
  <Route path="/ui/projects" component={Projects} />,
  <Route path="/ui/commitments" component={CommitmentProjects} />,
  <Route path="/ui/inconsistencies" component={Inconsistencies} />,
  <Route path="/ui/scrape-errors" component={ScrapeErrors} />,
  <Route path="/ui/full" component={Fullest} />,
  <Route path="/ui/expiring" component={Expiring} />,
  <Route path="/ui/usage" component={Usage} />,
  <Route path="/ui/usage-report" component={UsageReport} />,
  <Route path="/ui/alerts" component={Alerts} />,
  <Route path="/ui/notifications" component={Notifications} />,
  <Route path="/ui/requests" component={Requests} />,
  <Route path="/ui/changes" component={Changes} />,
  <Route path={DOMAIN} component={Overview} />,
  <Route path={`${DOMAIN}/full`} component={Fullest} />,
  <Route path={`${DOMAIN}/expiring`} component={Expiring} />,
  <Route path={`${DOMAIN}/usage`} component={Usage} />,
  <Route path={`${DOMAIN}/usage-report`} component={UsageReport} />,
  <Route path={`${DOMAIN}/backends`} component={Backends} />,
  <Route path={`${DOMAIN}/projects`} component={Projects} />,
  <Route path={`${DOMAIN}/quota`} component={QuotaPage} />,
  <Route path={`${DOMAIN}/history`} component={History} />,
  ...[DOMAIN, PROJECT].flatMap((at) => [
    <Route key={`${at} alerts`} path={`${at}/alerts`} component={Alerts} />,
    <Route key={`${at} changes`} path={`${at}/changes`} component={Changes} />,
    <Route key={`${at} requests`} path={`${at}/requests`} component={Requests} />,
    <Route key={`${at} new`} path={`${at}/requests/new`} component={NewRequest} />,
    <Route key={`${at} request`} path={`${at}/requests/:id`} component={RequestPage} />,
  ]),
  <Route path={PROJECT} component={Overview} />,
  <Route path={`${PROJECT}/quota`} component={QuotaPage} />,
  <Route path={`${PROJECT}/expiring`} component={Expiring} />,
  <Route path={`${PROJECT}/usage`} component={Usage} />,
  <Route path={`${PROJECT}/usage-report`} component={UsageReport} />,
  <Route path={`${PROJECT}/history`} component={History} />,
  <Route path={`${DOMAIN}/commitments`} component={CommitmentProjects} />,
  <Route path={`${PROJECT}/commitments`} component={Commitments} />,
  <Route path={`${PROJECT}/utilisation`} component={Utilisation} />,
  <Route default component={NotFound} />,
];

/** Has the page at an address loaded while it is not yet known who is there. */
export function preload(path: string): void {
  const route = routes().find((one) => exec(path, one.props.path ?? "", { params: {} } as never));
  (route?.props.component as { preload?: () => void } | undefined)?.preload?.();
}

export function App() {
  if (session.value === null) return <SignIn />;
  if (session.value.scope === null) return <ScopePicker />;
  return (
    <LocationProvider scope="/ui">
      <Shell>
        <ErrorBoundary>
          <Router>{routes()}</Router>
        </ErrorBoundary>
      </Shell>
    </LocationProvider>
  );
}
