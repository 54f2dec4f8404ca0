// What needs attention, as tiles: each leads to the list that it counts.
import { StateIcon } from "../components/StateMark";
import { useLoad } from "../lib/load";
import type { State } from "../lib/state";
import { type Known, type Tile, tilesFor, type TileSource } from "./tiles";

const SPOKEN: Record<State, string> = { ok: "all is well", high: "needs attention", critical: "urgent", over: "urgent" };

export function Tiles(known: Known) {
  return (
    <ul class="tiles" aria-label="What needs attention">
      {tilesFor(known).map((one) => (
        <li key={one.key}>{one.load ? <Loading source={one} load={one.load} known={known} /> : <Face source={one} tile={one.from?.(known)} error={known.error} />}</li>
      ))}
    </ul>
  );
}

function Loading({ source, load, known }: { source: TileSource; load: NonNullable<TileSource["load"]>; known: Known }) {
  const { data, error } = useLoad((signal) => load(known.at, signal), [known.at, source.key]);
  return <Face source={source} tile={data} error={error} />;
}

function Face({ source, tile, error }: { source: TileSource; tile: Tile | undefined; error?: Error | undefined }) {
  if (!tile) {
    return (
      <div class="tile" data-state="unknown">
        <span class="tile-title">{source.title}</span>
        <strong>–</strong>
        <span class="tile-text">{error ? "Not known: the request failed" : "Loading…"}</span>
      </div>
    );
  }
  return (
    <a class="tile" data-state={tile.state} href={tile.href}>
      <span class="tile-title">{source.title}</span>
      <strong>
        <StateIcon state={tile.state} /> {tile.count.toLocaleString("en")}
        <span class="visually-hidden">, {SPOKEN[tile.state]}</span>
      </strong>
      <span class="tile-text">{tile.text}</span>
    </a>
  );
}
