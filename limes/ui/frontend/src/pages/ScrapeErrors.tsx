// Scrapes that fail: one card for each service and message.
import { get } from "../api/client";
import type { ScrapeError, ScrapeErrorsAnswer } from "../api/schema";
import { Content } from "../components/Content";
import { Page } from "../components/Page";
import { useLoad } from "../lib/load";
import { pagePath } from "../lib/paths";
import { formatTime, relative } from "../lib/time";

export default function ScrapeErrors() {
  const found = useLoad((signal) => get<ScrapeErrorsAnswer>("/v1/admin/scrape-errors", { signal }), []);
  return (
    <Page title="Scrape errors" actions={<button onClick={found.reload}>Look again</button>}>
      <Content of={found}>
        {({ scrape_errors: errors }) =>
          errors.length === 0 ? (
            <p class="empty">All backends answer: no scrape fails.</p>
          ) : (
            <ul class="cards">
              {errors.map((one) => (
                <ErrorCard key={`${one.service_type} ${one.message}`} error={one} />
              ))}
            </ul>
          )
        }
      </Content>
    </Page>
  );
}

function ErrorCard({ error }: { error: ScrapeError }) {
  const { project } = error;
  const others = (error.affected_projects ?? 1) - 1;
  return (
    <li class="card error-card">
      <header>
        <span class="tag danger">{error.service_type}</span>
        <span class="muted" title={formatTime(error.checked_at)}>
          last tried {relative(error.checked_at)}
        </span>
      </header>
      <p class="mono">{error.message}</p>
      <p>
        <a href={pagePath({ domain: project.domain.id, project: project.id })}>{project.name}</a>
        <span class="muted"> in </span>
        <a href={pagePath({ domain: project.domain.id })}>{project.domain.name}</a>
        {others > 0 && ` and ${others.toLocaleString("en")} more project${others > 1 ? "s" : ""}`}
      </p>
    </li>
  );
}
