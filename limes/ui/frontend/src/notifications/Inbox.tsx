// What others have decided on the user's requests, and said about them. What is shown was seen.
import { useEffect, useState } from "preact/hooks";
import { loadInbox, markSeen } from "../api/notifications";
import type { InboxAnswer, InboxItem } from "../api/schema";
import { Content } from "../components/Content";
import { useLoad } from "../lib/load";
import { formatTime, relative } from "../lib/time";
import { recountUnread } from "./inbox";
import { itemPath, itemText } from "./words";

const PAGE = 20;

export function Inbox() {
  const loaded = useLoad((signal) => loadInbox(PAGE, undefined, signal), []);
  return (
    <section class="card" aria-labelledby="inbox">
      <header class="card-head">
        <h2 id="inbox">Decisions on your requests</h2>
      </header>
      <Content of={loaded}>{(answer) => <Items first={answer} />}</Content>
    </section>
  );
}

function Items({ first }: { first: InboxAnswer }) {
  const [more, setMore] = useState<InboxAnswer[]>([]);
  const { unread } = first.inbox;
  const newest = first.inbox.items[0]?.at;
  useEffect(() => {
    if (unread > 0 && newest !== undefined) markSeen(newest).then(recountUnread, () => undefined); // unread again the next time
  }, [unread, newest]);

  const pages = [first, ...more];
  const items = pages.flatMap((one) => one.inbox.items);
  if (items.length === 0) return <p class="card-body">Nobody has decided on a request of yours, or commented on one.</p>;
  const hasMore = pages.at(-1)!.inbox_links.length > 0;
  const loadMore = async (): Promise<void> => {
    const next = await loadInbox(PAGE, items.at(-1)!.number);
    setMore((before) => [...before, next]);
  };
  return (
    <>
      <ul class="inbox">
        {items.map((one) => (
          <Item key={one.number} of={one} />
        ))}
      </ul>
      {hasMore && (
        <p class="more-rows">
          <button class="small" onClick={() => void loadMore().catch(() => undefined)}>
            Show older ones
          </button>
        </p>
      )}
    </>
  );
}

function Item({ of }: { of: InboxItem }) {
  return (
    <li data-unread={of.unread}>
      <p>
        {of.unread && <span class="tag">New</span>} <a href={itemPath(of)}>{itemText(of)}</a>
        <small>
          {of.author.type === "user" && ` by ${of.author.name || of.author.id}`}, <span title={formatTime(of.at)}>{relative(of.at)}</span>
        </small>
      </p>
      {of.text && <p class="said">{of.text}</p>}
    </li>
  );
}
