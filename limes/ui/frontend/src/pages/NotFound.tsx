import { Page } from "../components/Page";

export function NotFound() {
  return (
    <Page title="No such page">
      <p>
        There is nothing at this address. <a href="/ui">Go to the start page</a>
      </p>
    </Page>
  );
}
