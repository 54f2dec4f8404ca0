// Go to anything: what is typed is found at once, and the arrows and Enter are enough.
import { useLocation } from "preact-iso";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Dialog } from "../components/Dialog";
import { placeIn } from "../layout/entries";
import { mayLeave } from "../lib/drafts";
import { countedOf } from "../lib/words";
import { useItems } from "./items";
import { indexOf, type Item, search } from "./ranking";

const MOST = 20;

export function Palette({ close }: { close: () => void }) {
  const { path, route } = useLocation();
  const { items, isLoading, error } = useItems(placeIn(path));
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const index = useMemo(() => indexOf(items), [items]);
  const { items: found, total } = useMemo(() => search(index, text, MOST), [index, text]);
  const active = Math.min(chosen, found.length - 1);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active, found]);

  function go({ href }: Item): void {
    if (new URL(href, location.href).pathname !== path && !mayLeave()) return;
    close();
    route(href);
  }

  function pressed(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing || found.length === 0 || (!step && event.key !== "Enter")) return;
    event.preventDefault();
    if (step) setChosen((active + step + found.length) % found.length);
    else go(found[active]!);
  }

  return (
    <Dialog title="Go to" close={close}>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-label="Project, domain, resource or page"
          aria-autocomplete="list"
          aria-expanded={found.length > 0}
          {...(found.length > 0 ? { "aria-controls": id, "aria-activedescendant": `${id}-${active}` } : {})}
          placeholder="Name or ID of a project or domain, a resource, a page"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={pressed}
        />
        {found.length > 0 && (
          <ul id={id} role="listbox" aria-label="Found" ref={list}>
            {found.map((one, number) => (
              <li key={one.kind + one.href} id={`${id}-${number}`} role="option" aria-selected={number === active} onMouseMove={() => setChosen(number)} onClick={() => go(one)}>
                <span>{one.title}</span> <small>{one.hint}</small> <small class="kind">{one.kind}</small>
              </li>
            ))}
          </ul>
        )}
        <p class="muted" role="status">
          {countedOf(found.length, total, "result")}
          {isLoading && ". Projects are still loading…"}
        </p>
        {error && <p class="problem-note">Projects could not be loaded: {error.message}</p>}
      </div>
    </Dialog>
  );
}
