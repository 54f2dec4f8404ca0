// Which page is at which address. Each is loaded when it is first needed.
import { ErrorBoundary, LocationProvider, Route, Router, lazy, useLocation } from "preact-iso";
import { useEffect } from "preact/hooks";
import { Shell } from "./layout/Shell";
import { pagePath } from "./lib/paths";
import { NotFound } from "./pages/NotFound";
import { ScopePicker } from "./session/ScopePicker";
import { SignIn } from "./session/SignIn";
import { placeOf } from "./session/scope";
import { seesCloud, session } from "./session/store";

const Overview = lazy(() => import("./pages/Overview"));

function Home() {
  const { route } = useLocation();
  const scope = session.value?.scope;
  useEffect(() => {
    if (scope && seesCloud.value !== undefined) route(pagePath(seesCloud.value ? {} : placeOf(scope)), true);
  }, [scope, seesCloud.value]);
  return null;
}

export function App() {
  if (session.value === null) return <SignIn />;
  if (session.value.scope === null) return <ScopePicker />;
  return (
    <LocationProvider scope="/ui">
      <Shell>
        <ErrorBoundary>
          <Router>
            <Route path="/ui" component={Home} />
            <Route path="/ui/cloud" component={Overview} />
            <Route path="/ui/domains/:domain" component={Overview} />
            <Route path="/ui/domains/:domain/projects/:project" component={Overview} />
            <Route default component={NotFound} />
          </Router>
        </ErrorBoundary>
      </Shell>
    </LocationProvider>
  );
}
