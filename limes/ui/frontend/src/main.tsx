import { render } from "preact";
import { App, preload } from "./app";
import { guardPages } from "./lib/drafts";
import { startTheme } from "./lib/theme";
import { restore } from "./session/requests";

startTheme();
guardPages();
preload(location.pathname);
const root = document.getElementById("app")!;
restore().then(
  () => render(<App />, root),
  (error: Error) => render(<p class="boot-failure" role="alert">{error.message}</p>, root),
);
